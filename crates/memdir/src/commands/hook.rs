//! `memdir hook`: what a host calls. Ends with 0 and silence whatever goes wrong; `--explain` says what did.

use crate::{
    args::{Global, Hook as Typed},
    config::Settings,
    exit::Failure,
    hook::{self, Input, Live},
    output::{Answer, Page},
};
use serde::Serialize;
use std::io;

#[derive(Serialize)]
#[serde(transparent)]
struct Said(String);

pub(crate) fn run(args: &Typed, global: &Global) -> Answer {
    let (said, troubles) = said(args, global).unwrap_or_else(|failure| (String::new(), vec![failure.words().message]));
    let notes = if args.explain { troubles } else { Vec::new() };
    Answer::new(Said(said), show).with_notes(notes)
}

fn said(args: &Typed, global: &Global) -> Result<(String, Vec<String>), Failure> {
    let text = String::from_utf8_lossy(&super::stdin()?).into_owned();
    let input = Input::parse(&text);
    let mut settings = Settings::load(global)?;
    if let Some(cwd) = input.cwd.as_ref().filter(|cwd| cwd.is_dir()) {
        settings.cwd.clone_from(cwd);
    }
    let live = Live::open(args.host.name, &settings, &input)?;
    let said = hook::hook(args.host.name, args.event, &text, &live);
    Ok((said, live.troubles()))
}

fn show(said: &Said, page: &mut Page<'_>) -> io::Result<()> {
    page.content(&said.0)
}
