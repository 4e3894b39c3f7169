//! Deletes memories and their entrypoint lines, in one change. The journal keeps the texts, so the change can be undone.

use crate::{
    base::{error::Result, path::MemoryPath, version::Version},
    entrypoint::upkeep,
    operations::{context::Context, inbox, read, write},
    store::{ChangeId, FileEdit, Store, Verb, change_with},
};
use serde::Serialize;
use std::collections::HashSet;

/// The memory to delete.
#[derive(Debug, Clone)]
pub struct Delete {
    /// The memory.
    pub path: MemoryPath,
    /// The version that the memory must have.
    pub expect: Option<Version>,
}

/// A deleted memory.
#[derive(Debug, Clone, Serialize)]
pub struct Deleted {
    /// Its name.
    pub name: String,
    /// Its path, with folder and extension.
    pub path: MemoryPath,
    /// The deleted version, for `restore`.
    pub version: Version,
    /// The change, for undo.
    pub change: ChangeId,
    /// Notes for the caller.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Deletes a memory.
pub(crate) fn delete(store: &dyn Store, context: &Context, request: &Delete) -> Result<Deleted> {
    let mut deleted = delete_all(store, context, std::slice::from_ref(request))?;
    deleted.pop().ok_or_else(|| read::not_found(store, &request.path))
}

/// Deletes memories in one change. If one of them cannot be deleted, none is. A memory that is named twice is deleted once. The first
/// one has the notes of the change.
pub(crate) fn delete_all(store: &dyn Store, context: &Context, requests: &[Delete]) -> Result<Vec<Deleted>> {
    let touches: Vec<MemoryPath> = requests.iter().map(|request| request.path.clone()).collect();
    inbox::record_decisions(store, touches.iter().map(|path| (path, None)))?;
    let (change, (mut deleted, notes)) = change_with(store, &context.intent(Verb::Delete), &touches, |view| {
        let mut edits: Vec<FileEdit> = Vec::new();
        let mut deleted: Vec<Deleted> = Vec::new();
        let mut seen = HashSet::new();
        for request in requests {
            let stored = write::to_change(store, view, &request.path, request.expect)?;
            if !seen.insert(stored.path.clone()) {
                continue;
            }
            edits.push(FileEdit::remove(stored.path.clone()));
            let name = stored.path.name().to_owned();
            let change = ChangeId(String::new());
            deleted.push(Deleted { name, path: stored.path, version: stored.version, change, notes: Vec::new() });
        }
        let kept = upkeep::set_lines(view, &context.entrypoint_cache, &edits)?;
        edits.extend(kept.edits);
        Ok((edits, (deleted, kept.notes)))
    })?;
    deleted.iter_mut().for_each(|one| one.change = change.id.clone());
    if let Some(first) = deleted.first_mut() {
        first.notes = notes;
    }
    Ok(deleted)
}
