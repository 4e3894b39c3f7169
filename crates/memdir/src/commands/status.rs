//! `memdir` without a command: the mounts, the number of memories, the last change, and the next steps.

use super::{OpenSpace, counted, list};
use crate::{
    exit::Failure,
    moved::{self, MovedProject},
    output::{CommandOutput, Printer},
};
use memdir_core::{
    Change, ChangeFilter, List, Memdir, Source,
    internal::{
        base::time,
        operations::undo::{describe, newest},
        store::mounts,
    },
};
use serde::Serialize;
use std::{io, path::PathBuf};

/// Maximum number of changes that are searched for the newest one: other programs may have made many since memdir last looked.
const LOOK_BACK: usize = 20;

#[derive(Serialize)]
struct StatusReport {
    version: &'static str,
    mounts: Vec<Mounted>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_change: Option<Change>,
    /// The project that was moved here, if its memories are not used.
    #[serde(skip_serializing_if = "Option::is_none")]
    moved: Option<MovedProject>,
    /// The number of candidates that wait for a decision.
    #[serde(skip_serializing_if = "is_zero")]
    candidates: usize,
    #[serde(skip)]
    last_age: String,
}

#[derive(Serialize)]
struct Mounted {
    prefix: String,
    root: PathBuf,
    memories: usize,
}

pub(super) fn run(space: &OpenSpace<'_>) -> Result<CommandOutput, Failure> {
    let memdir: &Memdir = space.memdir;
    let listing = memdir.list(&List::default())?;
    let notes = list::notes(&listing.problems, listing.left_out);
    let names = listing.memories;
    let owner = |path| mounts::mount_of(memdir.store(), path);
    let count = |prefix: &str| names.iter().filter(|memory| owner(&memory.path).is_some_and(|mount| mount.prefix == prefix)).count();
    let mounted =
        |mount: &memdir_core::MountInfo| Mounted { prefix: mount.prefix.clone(), root: mount.root.clone(), memories: count(&mount.prefix) };
    memdir.record_outside_changes()?;
    let last_change = newest(&memdir.history(&ChangeFilter { most: LOOK_BACK, ..ChangeFilter::default() })?).cloned();
    let now = memdir.context().clock.now();
    Ok(CommandOutput::new(
        StatusReport {
            version: env!("CARGO_PKG_VERSION"),
            mounts: memdir.store().mounts().iter().filter(|mount| mount.source != Source::Inbox).map(mounted).collect(),
            // A space without an inbox has no candidates.
            candidates: memdir.inbox().map_or(0, |inbox| inbox.open.len()),
            moved: space.origin.and_then(|(settings, scope)| moved::moved_from(settings, scope)),
            last_age: last_change.as_ref().map_or_else(String::new, |change| time::relative(now, change.at)),
            last_change,
        },
        show,
    )
    .with_notes(notes))
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

fn show(status: &StatusReport, printer: &mut Printer<'_>) -> io::Result<()> {
    for mount in &status.mounts {
        let memories = counted(mount.memories as u64, "memory", "memories");
        let prefix = if mount.prefix.is_empty() { String::new() } else { format!("{}/  ", mount.prefix) };
        let line = format!("{prefix}{} in {}", printer.strong(&memories), mount.root.display());
        printer.line(line)?;
    }
    if let Some(moved) = &status.moved {
        printer.line(format!("this project was moved: {moved}"))?;
    }
    if status.candidates > 0 {
        let waiting = counted(status.candidates as u64, "candidate", "candidates");
        printer.line(format!("{waiting} in the inbox; review with: memdir inbox"))?;
    }
    match &status.last_change {
        Some(change) => {
            let what = printer.strong(&describe(change));
            printer.line(format!("last change: {what}, by {}, {} ({})", change.actor.name, status.last_age, change.id))?;
            printer.line("next: memdir read, memdir list, memdir history, memdir --help")
        }
        None => printer.line("next: memdir write NAME TEXT, memdir demo, memdir --help"),
    }
}
