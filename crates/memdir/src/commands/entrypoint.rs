//! `memdir entrypoint`: checks that the entrypoint lists every memory; `--repair` adds missing lines and removes those of missing files.

use crate::{
    args::Entrypoint as Typed,
    exit::{Exit, Failure},
    output::{CommandOutput, Printer},
};
use memdir_core::{Memdir, Repaired, internal::entrypoint::LinePlace};
use serde::Serialize;
use std::io;

#[derive(Serialize)]
struct Checked {
    entrypoints: Vec<Repaired>,
    /// Whether `--repair` was given.
    #[serde(skip)]
    repair: bool,
}

pub(crate) fn run(args: &Typed, memdir: &Memdir) -> Result<CommandOutput, Failure> {
    let entrypoints = memdir.repair(args.repair)?;
    let is_incomplete =
        |one: &Repaired| one.unreadable.is_some() || !one.dead.is_empty() || (!one.missing.is_empty() && one.change.is_none());
    let exit = if entrypoints.iter().any(is_incomplete) { Exit::Negative } else { Exit::Success };
    Ok(CommandOutput::new(Checked { entrypoints, repair: args.repair }, show).exit(exit))
}

fn show(checked: &Checked, printer: &mut Printer<'_>) -> io::Result<()> {
    for one in &checked.entrypoints {
        let file = &one.path;
        if let Some(why) = &one.unreadable {
            printer.line(format!("{file}: {why}"))?;
            if let Some(change) = &one.change {
                printer.line(format!("undo the repair with: memdir undo {change}"))?;
            }
            continue;
        }
        if one.missing.is_empty() && one.removed.is_empty() && one.dead.is_empty() && one.long.is_empty() {
            printer.line(format!("{file}: all memories are listed"))?;
        }
        for path in &one.missing {
            let state = if one.change.is_some() { "added" } else { "not listed:" };
            printer.line(format!("{file}: {state} {path}"))?;
        }
        for path in &one.removed {
            printer.line(format!("{file}: removed the line for {path}, which does not exist"))?;
        }
        for dead in &one.dead {
            let place = match &dead.place {
                LinePlace::Hand(line) => format!(" (line {line})"),
                LinePlace::Section => String::new(),
                LinePlace::Page(page) => format!(" ({page})"),
            };
            printer.line(format!("{file}{place}: links to {}, which does not exist", dead.path))?;
        }
        for long in &one.long {
            printer.line(format!(
                "{file} (line {}): the line has {} characters; shorten it and move details into the memory",
                long.line, long.chars
            ))?;
        }
        if let Some(change) = &one.change {
            printer.line(format!("undo the repair with: memdir undo {change}"))?;
        } else if !checked.repair && !one.missing.is_empty() {
            printer.note("add the missing lines with: memdir entrypoint --repair");
        } else if !checked.repair && one.dead.iter().any(|dead| !matches!(dead.place, LinePlace::Hand(_))) {
            printer.note("remove the lines for missing files with: memdir entrypoint --repair");
        }
        one.notes.iter().for_each(|note| printer.note(note));
    }
    Ok(())
}
