//! `memdir` without a command: the mounts, the number of memories, the last change, and the next steps.

use super::counted;
use crate::{
    exit::Failure,
    output::{CommandOutput, Printer},
};
use memdir_core::{
    Change, ChangeFilter, List, Memdir,
    internal::{base::time, operations::undo::describe, store::mounts},
};
use serde::Serialize;
use std::{io, path::PathBuf};

#[derive(Serialize)]
struct Status {
    version: &'static str,
    mounts: Vec<Mounted>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_change: Option<Change>,
    #[serde(skip)]
    last_age: String,
}

#[derive(Serialize)]
struct Mounted {
    prefix: String,
    root: PathBuf,
    memories: usize,
}

pub(crate) fn run(memdir: &Memdir) -> Result<CommandOutput, Failure> {
    let names = memdir.list(&List::default())?.memories;
    let owner = |path| mounts::mount_of(memdir.store(), path);
    let count = |prefix: &str| names.iter().filter(|memory| owner(&memory.path).is_some_and(|mount| mount.prefix == prefix)).count();
    let mounted =
        |mount: &memdir_core::MountInfo| Mounted { prefix: mount.prefix.clone(), root: mount.root.clone(), memories: count(&mount.prefix) };
    let last_change = memdir.history(&ChangeFilter { most: 1, ..ChangeFilter::default() })?.into_iter().next();
    let now = memdir.context().clock.now();
    Ok(CommandOutput::new(
        Status {
            version: env!("CARGO_PKG_VERSION"),
            mounts: memdir.store().mounts().iter().map(mounted).collect(),
            last_age: last_change.as_ref().map_or_else(String::new, |change| time::age(now, change.at)),
            last_change,
        },
        show,
    ))
}

fn show(status: &Status, printer: &mut Printer<'_>) -> io::Result<()> {
    for mount in &status.mounts {
        let memories = counted(mount.memories as u64, "memory", "memories");
        let prefix = if mount.prefix.is_empty() { String::new() } else { format!("{}/  ", mount.prefix) };
        let line = format!("{prefix}{} in {}", printer.strong(&memories), mount.root.display());
        printer.line(line)?;
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
