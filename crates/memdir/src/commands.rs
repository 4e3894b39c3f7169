//! One file per command. Each takes what was typed, calls the library, and returns an answer; none prints.

mod adopt;
mod bench;
mod chats;
mod check;
mod completions;
mod config;
mod delete;
mod demo;
mod dialects;
mod diff;
mod doctor;
mod edit;
mod entrypoint;
mod export;
mod get;
mod history;
mod hook;
mod import;
mod index;
mod init;
mod install;
mod list;
mod locate;
mod log;
mod man;
mod mcp;
mod projects;
pub(crate) mod prompt;
mod read;
mod recall;
mod rename;
mod restore;
mod resume;
mod search;
mod stats;
mod status;
mod test;
mod token;
mod undo;
mod uninstall;
mod verify;
mod write;

use crate::{
    args::{Args, Command, SearchEmbedder},
    config::Settings,
    exit::Failure,
    known,
    output::{Answer, Look},
    scope::Scope,
    wire,
};
use memdir_core::{
    base::{error::Error, path::MemoryPath, version::Version},
    memdir::Memdir,
};

/// Runs what was typed.
pub(crate) fn run(args: &Args, look: Look) -> Result<Answer, Failure> {
    match &args.command {
        Some(Command::Completions(args)) => return Ok(completions::run(args)),
        Some(Command::Demo(_)) => return demo::run(look),
        Some(Command::Man(args)) => return man::run(args),
        Some(Command::Hook(hook)) => return Ok(hook::run(hook, &args.global)),
        Some(Command::Dialects(_)) => return Ok(dialects::run()),
        Some(Command::Bench(bench)) => return bench::run(bench, args.global.dir.as_deref(), look),
        _ => {}
    }
    let settings = Settings::load(&args.global.for_command(args.command.as_ref()))?;
    let scope = Scope::of(&settings)?;
    match &args.command {
        Some(Command::Config(_)) => return Ok(config::run(&settings, &scope)),
        Some(Command::Init(args)) => return init::run(args, &settings, &scope),
        Some(Command::Mcp(mcp)) => return mcp::run(mcp, &args.global, &settings, &scope),
        Some(Command::Where(_)) => return Ok(locate::run(&settings, &scope)),
        Some(Command::Projects(args)) => return projects::run(args, &settings, &scope),
        Some(Command::Prompt(args)) => return prompt::run(args, &settings, &scope),
        Some(Command::Token(args)) => return token::run(args, &settings),
        Some(Command::Recall(args)) => return recall::run(args, &settings, &scope),
        Some(Command::Test(_)) => return test::run(&settings, &scope),
        Some(Command::Stats(args)) if args.loads => return stats::loads(&settings, &scope),
        Some(Command::Chats(chats)) => return chats::run(chats, args.global.project.as_deref(), &settings, &scope, look),
        Some(Command::Resume(args)) => return resume::run(args, &settings, &scope),
        Some(Command::Install(args)) => return install::run(args, &settings, look),
        Some(Command::Uninstall(args)) => return uninstall::run(args, &settings),
        Some(Command::Doctor(args)) => return doctor::run(args, &settings, &scope),
        Some(Command::Adopt(args)) => return adopt::run(args, &settings, &scope),
        _ => {}
    }
    if args.command.as_ref().is_some_and(writes) {
        survive_size_limit();
    }
    let is_new = !settings.home.value.is_dir();
    let mut opened = wire::open_late(&settings, &scope)?;
    if let Some(embedder) = searches(args.command.as_ref()) {
        opened.memdir = wire::with_search_once(opened.memdir, &settings, embedder)?;
    }
    let answer = match &args.command {
        None => status::run(&opened.memdir),
        Some(Command::Verify(args)) => verify::run(args, &opened.memdir, &scope),
        Some(Command::Check(args)) => check::run(args, &opened.memdir, &scope),
        Some(Command::Undo(args)) => match undo::wider(args.id.as_deref(), false, &opened.memdir, &settings, &scope)? {
            Some((memdir, id)) => undo::undo(&crate::args::Undo { id: Some(id) }, &memdir),
            None => undo::undo(args, &opened.memdir),
        },
        Some(Command::Redo(args)) => match undo::wider(args.id.as_deref(), true, &opened.memdir, &settings, &scope)? {
            Some((memdir, id)) => undo::redo(&crate::args::Redo { id: Some(id) }, &memdir),
            None => undo::redo(args, &opened.memdir),
        },
        Some(command) => in_space(command, &opened.memdir, look),
    };
    if is_new && settings.dir.is_none() {
        // The home this command has made did not remember the project when it was opened.
        known::note(&settings.home.value, &scope.project);
    }
    Ok(answer?.with_notes(opened.notes))
}

/// Runs a command that works on the memories of a space.
pub(crate) fn in_space(command: &Command, memdir: &Memdir, look: Look) -> Result<Answer, Failure> {
    match command {
        Command::Read(args) => read::run(args, memdir),
        Command::Search(args) => search::run(args, memdir),
        Command::Get(args) => get::run(args, memdir),
        Command::Index(args) => index::run(args, memdir, look),
        Command::Watch(_) => index::watch(memdir, look),
        Command::List(args) => list::run(args, memdir, look),
        Command::Write(args) => write::run(args, memdir),
        Command::Edit(args) => edit::run(args, memdir),
        Command::Rename(args) => rename::run(args, memdir),
        Command::Delete(args) => delete::run(args, memdir),
        Command::Undo(args) => undo::undo(args, memdir),
        Command::Redo(args) => undo::redo(args, memdir),
        Command::History(args) => history::run(args, memdir),
        Command::Diff(args) => diff::run(args, memdir),
        Command::Restore(args) => restore::run(args, memdir),
        Command::Entrypoint(args) => entrypoint::run(args, memdir),
        Command::Log(args) => log::run(args, memdir),
        Command::Export(args) => export::run(args, memdir),
        Command::Import(args) => import::run(args, memdir),
        Command::Stats(_) => stats::run(memdir),
        Command::Verify(_) | Command::Check(_) | Command::Where(_) | Command::Projects(_) | Command::Prompt(_) => Err(not_inside()),
        Command::Recall(_) | Command::Test(_) | Command::Token(_) => Err(not_inside()),
        Command::Mcp(_) | Command::Dialects(_) | Command::Chats(_) | Command::Install(_) | Command::Uninstall(_) => Err(not_inside()),
        Command::Hook(_) | Command::Doctor(_) | Command::Adopt(_) | Command::Man(_) | Command::Resume(_) => Err(not_inside()),
        Command::Init(_) | Command::Config(_) | Command::Completions(_) | Command::Demo(_) | Command::Bench(_) => Err(not_inside()),
    }
}

/// Whether a command needs the search index, and with which embedder if that was typed.
fn searches(command: Option<&Command>) -> Option<Option<SearchEmbedder>> {
    match command? {
        Command::Search(args) => Some(args.embedder),
        Command::Index(_) | Command::Watch(_) => Some(None),
        Command::Stats(args) if !args.loads => Some(None),
        _ => None,
    }
}

fn not_inside() -> Failure {
    Failure::Usage { message: "this command does not work inside a space".into(), hint: "Run it from the shell.".into() }
}

fn writes(command: &Command) -> bool {
    match command {
        Command::Write(_) | Command::Edit(_) | Command::Rename(_) | Command::Delete(_) | Command::Undo(_) | Command::Redo(_) => true,
        Command::Restore(_) | Command::Init(_) | Command::Bench(_) | Command::Demo(_) | Command::Mcp(_) => true,
        Command::Log(_) | Command::Verify(_) | Command::Projects(_) | Command::Token(_) => true,
        Command::Entrypoint(args) => args.repair,
        Command::Check(args) => args.fix,
        Command::Prompt(_) | Command::Where(_) | Command::Chats(_) | Command::Resume(_) | Command::Recall(_) | Command::Test(_) => false,
        Command::Read(_) | Command::List(_) | Command::History(_) | Command::Diff(_) => false,
        Command::Search(_) | Command::Get(_) | Command::Index(_) | Command::Watch(_) => false,
        Command::Stats(_) | Command::Dialects(_) | Command::Config(_) | Command::Completions(_) => false,
        Command::Install(_) | Command::Uninstall(_) | Command::Hook(_) | Command::Doctor(_) | Command::Adopt(_) | Command::Import(_) => {
            true
        }
        Command::Export(_) | Command::Man(_) => false,
    }
}

/// A file-size limit (`ulimit -f`) kills by default, and then nobody reads why. With the signal caught, the write fails
/// with words and the change is taken back.
pub(crate) fn survive_size_limit() {
    let seen = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    // Where the signal cannot be caught, the limit kills as it always does.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, seen);
}

/// The space in which these rules see no secret: a person said so on the command line.
fn allowing(memdir: &Memdir, rules: &[String]) -> Result<Memdir, Failure> {
    if rules.is_empty() {
        return Ok(memdir.clone());
    }
    let allow = memdir.context().allow.with_rules(rules).map_err(|why| Failure::Usage {
        message: format!("--allow-secret: {why}"),
        hint: "Give the rule's name, as the refusal says it.".into(),
    })?;
    Ok(memdir.allowing(allow))
}

/// A name that was typed.
fn name(text: &str) -> Result<MemoryPath, Failure> {
    Ok(MemoryPath::parse(text)?)
}

/// The version meant by `--if-version`: a whole one, or the beginning of one the memory has or had.
fn expected(memdir: &Memdir, path: &MemoryPath, text: Option<&str>) -> Result<Option<Version>, Failure> {
    let Some(text) = text else { return Ok(None) };
    if let Ok(version) = text.parse() {
        return Ok(Some(version));
    }
    if let Some(stored) = memdir.store().get(path)?
        && stored.version.starts_with(text)
    {
        return Ok(Some(stored.version));
    }
    Ok(Some(memdir_core::operations::diff::version(memdir.store(), path, text)?))
}

/// The text of a file that was named on the command line; `-` is standard input.
fn input(path: &std::path::Path) -> Result<Vec<u8>, Failure> {
    if path.as_os_str() == "-" {
        stdin()
    } else {
        std::fs::read(path).map_err(|source| Failure::File { doing: "read", path: path.to_owned(), source })
    }
}

fn stdin() -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes).map_err(|source| Failure::File {
        doing: "read",
        path: "standard input".into(),
        source,
    })?;
    Ok(bytes)
}

/// The same as text.
fn input_text(path: &std::path::Path) -> Result<String, Failure> {
    as_text(path, input(path)?)
}

fn as_text(path: &std::path::Path, bytes: Vec<u8>) -> Result<String, Failure> {
    String::from_utf8(bytes)
        .map_err(|_| Failure::from(Error::bad_input(path.display().to_string(), "it is not UTF-8, and only text can be looked for")))
}
