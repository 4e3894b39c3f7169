//! `memdir history`: the changes of memories, newest first, with those of other programs.

use super::name;
use crate::{
    args::HistoryArgs,
    exit::Failure,
    output::{CommandOutput, Printer},
};
use jiff::Timestamp;
use memdir_core::{
    Change, ChangeFilter, FileChange, Memdir, MemoryPath, Role,
    internal::{base::time, operations::undo::describe},
};
use serde::Serialize;
use std::io;

#[derive(Serialize)]
struct HistoryOutput {
    changes: Vec<Change>,
    #[serde(skip)]
    path: Option<MemoryPath>,
    #[serde(skip)]
    now: Timestamp,
}

pub(crate) fn run(args: &HistoryArgs, memdir: &Memdir) -> Result<CommandOutput, Failure> {
    let path = args.name.as_deref().map(name).transpose()?;
    if path.is_none() {
        memdir.record_outside_changes()?;
    }
    let changes = memdir.history(&ChangeFilter { path: path.clone(), id: None, most: args.limit })?;
    if let Some(path) = &path
        && changes.is_empty()
        && memdir.store().get(path)?.is_none()
    {
        return Err(memdir_core::internal::operations::read::not_found(memdir.store(), path).into());
    }
    Ok(CommandOutput::new(HistoryOutput { changes, path, now: memdir.context().clock.now() }, show))
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
    let when = time::relative(output.now, change.at);
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
