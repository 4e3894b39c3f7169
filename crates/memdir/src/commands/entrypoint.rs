//! `memdir entrypoint`: whether every memory has its line, and with `--repair` the lines that are missing.

use crate::{
    args::Entrypoint as Typed,
    exit::{Exit, Failure},
    output::{Answer, Page},
};
use memdir_core::{entrypoint::Place, memdir::Memdir, operations::repair::Repaired};
use serde::Serialize;
use std::io;

#[derive(Serialize)]
struct Checked {
    entrypoints: Vec<Repaired>,
}

pub(crate) fn run(args: &Typed, memdir: &Memdir) -> Result<Answer, Failure> {
    let entrypoints = memdir.repair(args.repair)?;
    let open = |one: &Repaired| one.unreadable.is_some() || !one.dead.is_empty() || (!one.missing.is_empty() && one.change.is_none());
    let exit = if entrypoints.iter().any(open) { Exit::NotSo } else { Exit::Done };
    Ok(Answer::new(Checked { entrypoints }, show).exit(exit))
}

fn show(checked: &Checked, page: &mut Page<'_>) -> io::Result<()> {
    for one in &checked.entrypoints {
        let of = if one.prefix.is_empty() { "MEMORY.md".to_owned() } else { format!("{}/MEMORY.md", one.prefix) };
        if let Some(why) = &one.unreadable {
            page.line(format!("{of}: {why}"))?;
            continue;
        }
        if one.missing.is_empty() && one.dead.is_empty() && one.long.is_empty() {
            page.line(format!("{of}: every memory has its line"))?;
        }
        for path in &one.missing {
            let did = if one.change.is_some() { "added a line for" } else { "no line for" };
            page.line(format!("{of}: {did} {path}"))?;
        }
        for dead in &one.dead {
            let place = match &dead.place {
                Place::Hand(line) => format!(" (line {line})"),
                Place::Section => String::new(),
                Place::Page(file) => format!(" ({file})"),
            };
            page.line(format!("{of}{place}: leads to {}, which is not there", dead.path))?;
        }
        for long in &one.long {
            page.line(format!("{of} (line {}): {} characters; shorten it and move detail into the memory", long.line, long.chars))?;
        }
        if let Some(change) = &one.change {
            page.line(format!("memdir undo {change} takes the added lines back"))?;
        } else if !one.missing.is_empty() {
            page.note("memdir entrypoint --repair adds the missing lines");
        }
        one.notes.iter().for_each(|note| page.note(note));
    }
    Ok(())
}
