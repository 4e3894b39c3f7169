//! The history: all changes by any actor, newest first.

use crate::{
    base::{
        error::{Error, Result},
        path::MemoryPath,
        version::Version,
    },
    operations::read,
    store::{Change, ChangeCursor, ChangeFilter, ChangePage, Role, Store, Verb},
};

/// Maximum number of renames that the history of one memory follows.
const NAMES: usize = 50;

/// Returns the changes that match a filter. The history of one memory includes its earlier names.
pub fn history(store: &dyn Store, filter: &ChangeFilter) -> Result<Vec<Change>> {
    let Some(path) = &filter.path else { return without_proposals(store, filter) };
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

/// One version of a memory, or its deletion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryVersion {
    /// The change that made it.
    pub change: Change,
    /// The memory, with the name that it had then.
    pub path: MemoryPath,
    /// The version before; `None` if the change created the memory.
    pub before: Option<Version>,
    /// The version after; `None` if the change deleted it.
    pub after: Option<Version>,
}

/// Returns the versions of a memory, newest first. Fails if there is no memory of this name and never was.
pub(crate) fn versions(store: &dyn Store, path: &MemoryPath, most: usize) -> Result<Vec<MemoryVersion>> {
    let mut name = store.get(path)?.map_or_else(|| path.clone(), |stored| stored.path);
    let changes = history(store, &ChangeFilter { path: Some(name.clone()), most, ..ChangeFilter::default() })?;
    if changes.is_empty() && store.get(path)?.is_none() {
        return Err(read::not_found(store, path));
    }
    let mut versions = Vec::with_capacity(changes.len());
    for change in changes {
        let earlier = came_from(std::slice::from_ref(&change), &name).map(|(earlier, _)| earlier);
        let entry_of = |name: &MemoryPath| change.files.iter().find(|file| file.path.name() == name.name());
        let before = earlier.as_ref().and_then(entry_of).and_then(|file| file.before);
        if let Some(file) = entry_of(&name) {
            let (path, before, after) = (file.path.clone(), file.before.or(before), file.after);
            versions.push(MemoryVersion { path, before, after, change });
        }
        name = earlier.unwrap_or(name);
    }
    Ok(versions)
}

/// Returns the changes of the whole space. Proposed candidates are omitted: they are memdir's own suggestions, not changes that a person or an agent made. A
/// change that is named by its id is always found.
fn without_proposals(store: &dyn Store, filter: &ChangeFilter) -> Result<Vec<Change>> {
    if filter.id.is_some() {
        return store.changes(filter);
    }
    let mut most = filter.most;
    loop {
        let mut changes = store.changes(&ChangeFilter { most, ..filter.clone() })?;
        let is_all = filter.most == 0 || changes.len() < most;
        changes.retain(|change| change.verb != Verb::Propose);
        if is_all || changes.len() >= filter.most {
            if filter.most > 0 {
                changes.truncate(filter.most);
            }
            return Ok(changes);
        }
        most *= 4;
    }
}

/// Returns the changes after a cursor, oldest first, without proposed candidates, like the history of a space.
pub(crate) fn changes_since(store: &dyn Store, after: Option<&ChangeCursor>, most: usize) -> Result<ChangePage> {
    let mut after = after.cloned();
    loop {
        let mut page = store.changes_since(after.as_ref(), most)?;
        let is_end = page.changes.is_empty();
        page.changes.retain(|(change, _)| change.verb != Verb::Propose);
        if is_end || !page.changes.is_empty() {
            return Ok(page);
        }
        after = Some(page.next);
    }
}

/// Returns the previous name of a memory, and the index of the change that renamed it.
fn came_from(changes: &[Change], path: &MemoryPath) -> Option<(MemoryPath, usize)> {
    changes.iter().enumerate().find_map(|(at, change)| {
        let memories = || change.files.iter().filter(|file| file.role == Role::Memory);
        memories().find(|file| file.path.name() == path.name() && file.before.is_none() && file.after.is_some())?;
        let old = memories().find(|file| file.before.is_some() && file.after.is_none())?;
        Some((old.path.clone(), at))
    })
}

/// Returns the only change whose id starts with `id`.
pub fn find_change(store: &dyn Store, id: &str) -> Result<Change> {
    if id.len() < 3 {
        let why = format!("{id:?} is too short; use at least three characters of the change id");
        return Err(Error::bad_input("change", why));
    }
    let filter = ChangeFilter { id: Some(id.to_ascii_lowercase()), ..ChangeFilter::default() };
    let mut found = store.changes(&filter)?;
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(Error::unknown_change(format!("change {id:?} not found"))),
        n => Err(Error::unknown_change(format!("change id {id:?} is ambiguous: {n} changes match; use more characters"))),
    }
}
