//! Restores an earlier version of a memory, including a deleted one.

use crate::{
    base::{error::Result, path::MemoryPath},
    entrypoint::upkeep,
    operations::{
        context::Context,
        diff,
        write::{self, Saved},
    },
    store::{ChangeFilter, Store, Verb, change_with},
};

/// Restores the version of a memory that starts with `version`.
pub(crate) fn restore(store: &dyn Store, context: &Context, path: &MemoryPath, version: &str) -> Result<Saved> {
    let path = recorded(store, path)?;
    let version = diff::resolve_version(store, &path, version)?;
    let bytes = diff::version_bytes(store, &path, version)?;
    let (change, (created, notes)) = change_with(store, &context.intent(Verb::Restore), std::slice::from_ref(&path), |view| {
        let created = view.get(&path)?.is_none();
        let kept = upkeep::save_with_line(view, &context.entrypoint_cache, &path, &bytes)?;
        Ok((kept.edits, (created, kept.notes)))
    })?;
    Ok(write::saved_outcome(path, &bytes, created, &change, notes))
}

/// Resolves a name to the existing file, else to the last one in the journal.
fn recorded(store: &dyn Store, path: &MemoryPath) -> Result<MemoryPath> {
    if let Some(stored) = store.get(path)? {
        return Ok(stored.path);
    }
    let changes = store.changes(&ChangeFilter { path: Some(path.clone()), most: 1, ..ChangeFilter::default() })?;
    let remembered = changes.iter().flat_map(|change| &change.files).find(|file| file.path.name() == path.name());
    Ok(remembered.map_or_else(|| path.clone(), |file| file.path.clone()))
}
