//! `memdir ui`: serves the page on this machine and opens it in the browser.

mod source;

use crate::{
    args::UiArgs,
    config::Settings,
    dreams,
    exit::Failure,
    output::{CommandOutput, OutputOptions, visible},
    prompt_section,
    scope::Scope,
    serve::LIMITS_HINT,
    spaces,
};
use memdir_core::internal::base::raw;
use memdir_server::{PageDreams, PageOptions, PageSpace, PromptSection, ServeError, Viewer, serve_page};
use source::LocalSource;
use std::{
    io::{self, Write as _},
    process::{Command, Stdio},
    sync::Arc,
};

pub(crate) fn run(args: &UiArgs, settings: &Settings, scope: &Scope, output: OutputOptions) -> Result<CommandOutput, Failure> {
    raw::return_large_blocks();
    let opened = spaces::open(settings, scope)?;
    for note in &opened.notes {
        let _ = writeln!(io::stderr(), "memdir: {}", visible(note));
    }
    let memdir = spaces::with_search(opened.memdir, settings)?;
    let viewer = Viewer { name: settings.actor.value.clone(), may_write: true };
    let for_section = settings.clone();
    // Looking at the section is not a use of it, so it is not counted.
    let section: PromptSection = Arc::new(move |memdir| Ok(prompt_section::build_with(&for_section, memdir, false, &[], None)?.text));
    let mut space = PageSpace::new(memdir, viewer, Some(section));
    let shown = settings.dir.as_ref().map_or(scope.project.root.as_path(), |dir| dir.value.as_path());
    space.title = shown.file_name().map(|name| name.to_string_lossy().into_owned());
    space.machine = Some(Arc::new(LocalSource::new(settings)));
    space.project = Some(scope.project.clone());
    space.tripwires = Some(scope.tripwires_file(&settings.cache));
    let shelf = dreams::shelf_of(settings, space.memdir.store());
    space.dreams = Some(PageDreams { shelf, embedder: spaces::instant_embedder(settings) });
    let options = PageOptions { port: args.port, idle_minutes: args.idle };
    serve_page(space, options, |url| announce(url, args, output)).map_err(|error| to_failure(&error, args.port))?;
    // The URL is the whole output.
    Ok(CommandOutput::lines(Vec::<()>::new()))
}

/// Prints the URL at once, since the command ends only with the server, and opens it.
fn announce(url: &str, args: &UiArgs, output: OutputOptions) {
    let mut stdout = io::stdout().lock();
    // The server also works if nothing reads the URL.
    let _ = if output.json { writeln!(stdout, "{}", serde_json::json!({ "url": url })) } else { writeln!(stdout, "{url}") };
    let _ = stdout.flush();
    if !args.no_open
        && let Err(error) = open_browser(url)
    {
        let _ = writeln!(io::stderr(), "memdir: cannot open the browser: {error}; open the URL yourself within a minute");
    }
}

/// Starts the system's program for URLs, without waiting for it.
#[expect(clippy::disallowed_methods, reason = "the user asked for the page")]
fn open_browser(url: &str) -> io::Result<()> {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    Command::new(program).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map(drop)
}

fn to_failure(error: &ServeError, port: u16) -> Failure {
    let hint = match error {
        ServeError::Listen { .. } if port != 0 => "choose another port with --port, or omit --port to use a free port",
        _ => LIMITS_HINT,
    };
    Failure::Settings { message: error.to_string(), hint: hint.into() }
}
