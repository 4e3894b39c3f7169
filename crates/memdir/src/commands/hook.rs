//! `memdir hook`: what a host runs at an event. Always exits with 0, and prints nothing after an error; `--explain` prints the errors.

use crate::{
    args::{GlobalArgs, HookArgs},
    config::Settings,
    exit::Failure,
    hook::{self, HookCall, HookInput},
    output::{CommandOutput, Printer},
};
use memdir_core::internal::base::time::Deadline;
use serde::Serialize;
use std::{io, time::Duration};

/// Milliseconds that all waits of a hook may take together: some hosts give a hook 1.5 s.
const HOOK_WAIT_MS: u64 = 1_000;

#[derive(Serialize)]
#[serde(transparent)]
struct HookOutput(String);

pub(crate) fn run(args: &HookArgs, global: &GlobalArgs) -> CommandOutput {
    let (output, errors) = call(args, global).unwrap_or_else(|failure| (String::new(), vec![failure.text().message]));
    let notes = if args.explain { errors } else { Vec::new() };
    CommandOutput::new(HookOutput(output), show).with_notes(notes)
}

fn call(args: &HookArgs, global: &GlobalArgs) -> Result<(String, Vec<String>), Failure> {
    // A model that memdir started to tidy memories gets none of them, and starts nothing.
    if crate::config::is_in_dream() {
        return Ok((String::new(), Vec::new()));
    }
    let deadline = Deadline::after(Duration::from_millis(HOOK_WAIT_MS));
    // A call that is not read is not checked against the rules, so no size is too large.
    let input = HookInput::parse(args.host, &String::from_utf8_lossy(&crate::args::stdin::read(u64::MAX)?));
    let mut settings = Settings::load(global)?;
    if let Some(cwd) = input.cwd.as_ref().filter(|cwd| cwd.is_dir()) {
        settings.cwd.clone_from(cwd);
    }
    let call = HookCall::open(args.host, &settings, &input, deadline)?;
    let text = call.handle(args.event).unwrap_or_default();
    Ok((hook::render(args.host, args.event, &input, &text), call.into_errors()))
}

fn show(output: &HookOutput, page: &mut Printer<'_>) -> io::Result<()> {
    page.content(&output.0)
}
