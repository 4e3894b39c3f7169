//! `memdir history`: the changes of memories, newest first.

use super::name;
use crate::{
    args::History as Typed,
    exit::Failure,
    output::{CommandOutput, Printer},
};
use jiff::tz::TimeZone;
use memdir_core::{Change, ChangeFilter, FileChange, Memdir, MemoryPath, Role, internal::operations::undo::describe};
use serde::Serialize;
use std::io;

#[derive(Serialize)]
struct HistoryOutput {
    changes: Vec<Change>,
    #[serde(skip)]
    path: Option<MemoryPath>,
    #[serde(skip)]
    zone: TimeZone,
}

pub(crate) fn run(args: &Typed, memdir: &Memdir) -> Result<CommandOutput, Failure> {
    let path = args.name.as_deref().map(name).transpose()?;
    let changes = memdir.history(&ChangeFilter { path: path.clone(), id: None, most: args.limit })?;
    if let Some(path) = &path
        && changes.is_empty()
        && memdir.store().get(path)?.is_none()
    {
        return Err(memdir_core::internal::operations::read::not_found(memdir.store(), path).into());
    }
    Ok(CommandOutput::new(HistoryOutput { changes, path, zone: memdir.context().clock.zone() }, show))
}

fn show(output: &HistoryOutput, printer: &mut Printer<'_>) -> io::Result<()> {
    let mut rows = vec![["change", "when", "actor", "what", "version"].map(str::to_owned).to_vec()];
    if output.path.is_none() {
        rows[0].pop();
    }
    rows.extend(output.changes.iter().map(|change| row(output, change)));
    if rows.len() > 1 {
        printer.table(&rows)?;
    } else {
        printer.note("no changes yet");
    }
    Ok(())
}

fn row(output: &HistoryOutput, change: &Change) -> Vec<String> {
    let when = change.at.to_zoned(output.zone.clone()).strftime("%Y-%m-%d %H:%M").to_string();
    let mut row = vec![change.id.to_string(), when, change.actor.name.clone(), describe(change)];
    if let Some(path) = &output.path {
        // Changes before a rename have the memory's old name.
        let memory = |file: &&FileChange| file.role == Role::Memory && file.after.is_some();
        let file = change.files.iter().find(|file| file.path.name() == path.name()).or_else(|| change.files.iter().find(memory));
        let version = file.and_then(|file| file.after).map_or_else(|| "-".to_owned(), |version| version.short());
        row.push(version);
    }
    row
}
