//! What happened: every change, whoever made it, newest first.

use crate::{
    base::{
        error::{Error, Result},
        path::MemoryPath,
    },
    store::{Change, ChangeFilter, Role, Store},
};

/// Names of one memory that are followed back.
const NAMES: usize = 50;

/// The changes that fit a filter; those of a memory under the names it had before too.
pub fn history(store: &dyn Store, filter: &ChangeFilter) -> Result<Vec<Change>> {
    let Some(path) = &filter.path else { return store.changes(filter) };
    let mut changes = store.changes(&ChangeFilter { most: 0, ..filter.clone() })?;
    let mut path = path.clone();
    for _ in 0..NAMES {
        let Some((before, at)) = came_from(&changes, &path) else { break };
        changes.truncate(at + 1);
        let renamed = changes[at].id.clone();
        let older = store.changes(&ChangeFilter { path: Some(before.clone()), most: 0, id: filter.id.clone() })?;
        changes.extend(older.into_iter().skip_while(|change| change.id != renamed).skip(1));
        path = before;
    }
    if filter.most > 0 {
        changes.truncate(filter.most);
    }
    Ok(changes)
}

/// The name a memory had before it got this one, and the place of the change that gave it.
fn came_from(changes: &[Change], path: &MemoryPath) -> Option<(MemoryPath, usize)> {
    changes.iter().enumerate().find_map(|(at, change)| {
        let memories = || change.files.iter().filter(|file| file.role == Role::Memory);
        memories().find(|file| file.path.name() == path.name() && file.before.is_none() && file.after.is_some())?;
        let old = memories().find(|file| file.before.is_some() && file.after.is_none())?;
        Some((old.path.clone(), at))
    })
}

/// The one change whose id begins so.
pub fn change(store: &dyn Store, id: &str) -> Result<Change> {
    if id.len() < 3 {
        return Err(Error::bad_input("change", "give at least three letters of its id, as memdir history shows it"));
    }
    let filter = ChangeFilter { id: Some(id.to_ascii_lowercase()), ..ChangeFilter::default() };
    let mut found = store.changes(&filter)?;
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(Error::no_change(format!("there is no change {id}"))),
        n => Err(Error::no_change(format!("{n} changes begin with {id}; give more of the id"))),
    }
}
