//! `memdir entrypoint`: checks that the entrypoint lists every memory; `--repair` adds missing lines and removes those of missing files.

use crate::{
    args::EntrypointArgs,
    exit::{Exit, Failure},
    output::{CommandOutput, Printer},
};
use memdir_core::{Access, Memdir, Repaired, internal::entrypoint::LinePlace};
use serde::Serialize;
use std::io;

#[derive(Serialize)]
struct Checked {
    entrypoints: Vec<Repaired>,
    /// Whether `--repair` was given.
    #[serde(skip)]
    repair: bool,
    /// The prefixes of read-only mounts, whose entrypoints `--repair` does not change.
    #[serde(skip)]
    read_only: Vec<String>,
}

pub(crate) fn run(args: &EntrypointArgs, memdir: &Memdir) -> Result<CommandOutput, Failure> {
    let entrypoints = memdir.repair(args.repair)?;
    let is_incomplete =
        |one: &Repaired| one.unreadable.is_some() || !one.dead.is_empty() || (!one.missing.is_empty() && one.change.is_none());
    let exit = if entrypoints.iter().any(is_incomplete) { Exit::Negative } else { Exit::Success };
    let read_only = memdir.store().mounts().iter().filter(|mount| mount.access == Access::ReadOnly);
    let read_only = read_only.map(|mount| mount.prefix.clone()).collect();
    Ok(CommandOutput::new(Checked { entrypoints, repair: args.repair, read_only }, show).exit(exit))
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
            printer.line(format!("{file} (line {}): {long}", long.line))?;
        }
        let is_repairable = !one.missing.is_empty() || one.dead.iter().any(|dead| !matches!(dead.place, LinePlace::Hand(_)));
        if let Some(change) = &one.change {
            printer.line(format!("undo the repair with: memdir undo {change}"))?;
        } else if is_repairable && checked.read_only.contains(&one.prefix) {
            printer.note(format!("{file} is in a read-only mount, so --repair does not change it"));
        } else if !checked.repair && !one.missing.is_empty() {
            printer.note("add the missing lines with: memdir entrypoint --repair");
        } else if !checked.repair && is_repairable {
            printer.note("remove the lines for missing files with: memdir entrypoint --repair");
        }
        one.notes.iter().for_each(|note| printer.note(note));
    }
    Ok(())
}
