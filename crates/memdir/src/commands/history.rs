//! `memdir history`: what happened, by whom, newest first.

use super::name;
use crate::{
    args::History as Typed,
    exit::Failure,
    output::{Answer, Page},
};
use jiff::tz::TimeZone;
use memdir_core::{
    base::path::MemoryPath,
    memdir::Memdir,
    operations::undo::describe,
    store::{Change, ChangeFilter, FileChange, Role},
};
use serde::Serialize;
use std::io;

#[derive(Serialize)]
struct Told {
    changes: Vec<Change>,
    #[serde(skip)]
    of: Option<MemoryPath>,
    #[serde(skip)]
    zone: TimeZone,
}

pub(crate) fn run(args: &Typed, memdir: &Memdir) -> Result<Answer, Failure> {
    let path = args.name.as_deref().map(name).transpose()?;
    let changes = memdir.history(&ChangeFilter { path: path.clone(), id: None, most: args.most })?;
    if let Some(path) = &path
        && changes.is_empty()
        && memdir.store().get(path)?.is_none()
    {
        return Err(memdir_core::operations::read::not_found(memdir.store(), path).into());
    }
    Ok(Answer::new(Told { changes, of: path, zone: memdir.context().clock.zone() }, show))
}

fn show(told: &Told, page: &mut Page<'_>) -> io::Result<()> {
    let mut rows = vec![["change", "when", "who", "what", "version"].map(str::to_owned).to_vec()];
    if told.of.is_none() {
        rows[0].pop();
    }
    rows.extend(told.changes.iter().map(|change| row(told, change)));
    if rows.len() > 1 {
        page.table(&rows)?;
    } else {
        page.note("nothing has happened yet");
    }
    Ok(())
}

fn row(told: &Told, change: &Change) -> Vec<String> {
    let when = change.at.to_zoned(told.zone.clone()).strftime("%Y-%m-%d %H:%M").to_string();
    let mut row = vec![change.id.to_string(), when, change.actor.name.clone(), describe(change)];
    if let Some(of) = &told.of {
        // Before a rename it had another name.
        let memory = |file: &&FileChange| file.role == Role::Memory && file.after.is_some();
        let file = change.files.iter().find(|file| file.path.name() == of.name()).or_else(|| change.files.iter().find(memory));
        let version = file.and_then(|file| file.after).map_or_else(|| "-".to_owned(), |version| version.short());
        row.push(version);
    }
    row
}
