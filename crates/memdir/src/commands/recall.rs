//! `memdir recall`: selects the memories relevant to a message, or the tripwires of an action.

use crate::{
    args::Recall as Typed,
    config::Settings,
    exit::Failure,
    output::{CommandOutput, Printer},
    scope::Scope,
    spaces,
};
use memdir_core::{Action, Recall, RecallBudget, Recalled};
use std::io;

pub(crate) fn run(args: &Typed, settings: &Settings, scope: &Scope) -> Result<CommandOutput, Failure> {
    if scope.off.is_some() {
        return Ok(CommandOutput::new(Recalled::default(), show).with_notes(scope.off_note()));
    }
    let opened = spaces::open_lazy(settings, scope)?;
    let text = args.text.join(" ");
    let paths: Vec<String> = args.path.iter().map(|path| scope.in_project(&settings.cwd, path)).collect();
    let in_use: Vec<&str> = args.in_use.iter().map(String::as_str).collect();
    let cache = scope.tripwires_file(&settings.cache);
    let request = Recall {
        message: if args.action { None } else { Some(&text) },
        action: args.action.then(|| Action {
            tool: args.tool.as_deref(),
            command: args.command.as_deref(),
            paths: paths.iter().map(String::as_str).collect(),
            text: Some(text.as_str()).filter(|text| !text.is_empty()),
        }),
        room: RecallBudget { memories: args.limit, tokens: args.budget, ..RecallBudget::default() },
        shown: &args.shown,
        tools: &in_use,
        project: Some(&scope.project),
        cache: Some(&cache),
    };
    // An action is only matched against tripwires, which needs no index.
    let memdir = if args.action { opened.memdir } else { spaces::with_search_once(opened.memdir, settings, None)? };
    let recalled = memdir.recall(&request)?;
    Ok(CommandOutput::new(recalled, show).with_notes(opened.notes))
}

fn show(recalled: &Recalled, printer: &mut Printer<'_>) -> io::Result<()> {
    printer.content(&recalled.text)
}
