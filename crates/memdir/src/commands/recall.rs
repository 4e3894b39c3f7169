//! `memdir recall`: the few memories that matter for a message, or lie on the way of an action.

use super::input_text;
use crate::{
    args::Recall as Typed,
    config::Settings,
    exit::Failure,
    output::{Answer, Page},
    scope::Scope,
    wire,
};
use memdir_core::{
    recall::{Recalled, Request, Room},
    when::Action,
};
use std::{
    io,
    path::{Path, PathBuf},
};

pub(crate) fn run(args: &Typed, settings: &Settings, scope: &Scope) -> Result<Answer, Failure> {
    if let Some(switch) = &scope.off {
        return Ok(Answer::new(Recalled::default(), show).with_notes(vec![format!("memory is off: {switch}")]));
    }
    let opened = wire::open(settings, scope)?;
    let text = match args.text.as_slice() {
        [only] if only == "-" => input_text(Path::new("-"))?,
        words => words.join(" "),
    };
    let paths: Vec<String> = args.path.iter().map(|path| in_project(path, settings, scope)).collect();
    let in_use: Vec<&str> = args.in_use.iter().map(String::as_str).collect();
    let cache = wires_file(settings, scope);
    let request = Request {
        message: if args.action { None } else { Some(&text) },
        action: args.action.then(|| Action {
            tool: args.tool.as_deref(),
            command: args.command.as_deref(),
            paths: paths.iter().map(String::as_str).collect(),
            text: Some(text.as_str()).filter(|text| !text.is_empty()),
        }),
        room: Room { memories: args.most, tokens: args.budget, ..Room::default() },
        shown: &args.shown,
        tools: &in_use,
        project: Some(&scope.project),
        cache: Some(&cache),
    };
    // An action is only compared with tripwires: no index is opened for it.
    let memdir = if args.action { opened.memdir } else { wire::with_search(opened.memdir, settings) };
    let recalled = memdir.recall(&request)?;
    Ok(Answer::new(recalled, show).with_notes(opened.notes))
}

/// A path as tripwires have it: from the project's root, if it lies in it.
fn in_project(path: &Path, settings: &Settings, scope: &Scope) -> String {
    let whole = settings.cwd.join(path);
    let top = &scope.project.checkout;
    let real = memdir_core::vault::real_path(&whole);
    real.strip_prefix(top).or_else(|_| whole.strip_prefix(top)).unwrap_or(&real).to_string_lossy().into_owned()
}

/// Where the table of tripwires of this space is kept.
fn wires_file(settings: &Settings, scope: &Scope) -> PathBuf {
    let roots: Vec<String> = scope.mounts.iter().map(|placed| format!("{}={}", placed.mount.prefix, placed.mount.root.display())).collect();
    let name = memdir_core::Version::of(roots.join("\n").as_bytes());
    settings.cache.join("wires").join(format!("{name}.json"))
}

fn show(recalled: &Recalled, page: &mut Page<'_>) -> io::Result<()> {
    page.content(&recalled.text)
}
