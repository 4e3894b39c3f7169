//! Deletes a memory and its entrypoint line. The journal keeps the text, so the change can be undone.

use crate::{
    base::{error::Result, path::MemoryPath, version::Version},
    entrypoint::upkeep,
    operations::{context::Context, read},
    store::{ChangeId, Expect, FileEdit, Role, Store, Verb, change_with},
};
use serde::Serialize;

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
    let touches = std::slice::from_ref(&request.path);
    let (change, (path, version, notes)) = change_with(store, &context.intent(Verb::Delete), touches, |view| {
        let stored = view.get(&request.path)?.ok_or_else(|| read::not_found(store, &request.path))?;
        request.expect.map_or(Expect::Any, Expect::Is).check(&stored.path, Some(stored.version))?;
        upkeep::refuse_pages(view, &stored.path)?;
        let kept = upkeep::remove_line(view, &context.entrypoint_cache, &stored.path)?;
        let mut edits = vec![FileEdit { path: stored.path.clone(), bytes: None, role: Role::Memory }];
        edits.extend(kept.edits);
        Ok((edits, (stored.path, stored.version, kept.notes)))
    })?;
    Ok(Deleted { name: path.name().to_owned(), path, version, change: change.id, notes })
}
