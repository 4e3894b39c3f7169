//! `memdir recall`: the few memories that matter for a message, or lie on the way of an action.

use super::input;
use crate::{
    args::Recall as Typed,
    config::Settings,
    exit::Failure,
    output::{Answer, Page},
    scope::Scope,
    wire,
};
use memdir_core::{
    operations::recall::Request,
    recall::{Recalled, Room, when::Action},
};
use std::{io, path::Path};

pub(crate) fn run(args: &Typed, settings: &Settings, scope: &Scope) -> Result<Answer, Failure> {
    if scope.off.is_some() {
        return Ok(Answer::new(Recalled::default(), show).with_notes(scope.off_note()));
    }
    let opened = wire::open_late(settings, scope)?;
    let text = match args.text.as_slice() {
        // What a host passes on may hold anything; what is text in it is looked for.
        [only] if only == "-" => String::from_utf8_lossy(&input(Path::new("-"))?).into_owned(),
        words => words.join(" "),
    };
    let paths: Vec<String> = args.path.iter().map(|path| scope.in_project(&settings.cwd, path)).collect();
    let in_use: Vec<&str> = args.in_use.iter().map(String::as_str).collect();
    let cache = scope.wires_file(&settings.cache);
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
    let memdir = if args.action { opened.memdir } else { wire::with_search_once(opened.memdir, settings, None)? };
    let recalled = memdir.recall(&request)?;
    Ok(Answer::new(recalled, show).with_notes(opened.notes))
}

fn show(recalled: &Recalled, page: &mut Page<'_>) -> io::Result<()> {
    page.content(&recalled.text)
}
