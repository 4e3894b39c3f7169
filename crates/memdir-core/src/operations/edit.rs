//! Replaces a part of a memory, by a literal text or a regular expression.

use crate::{
    base::{error::Result, path::MemoryPath, version::Version},
    entrypoint::upkeep,
    memory::edit::{self as text_edit, Needle},
    operations::{
        context::Context,
        inbox,
        write::{self, Saved},
    },
    store::{Store, Verb, change_with},
};
use serde::Serialize;

/// The replacement to make.
#[derive(Debug, Clone)]
pub struct Edit {
    /// The memory.
    pub path: MemoryPath,
    /// The text or pattern to find.
    pub needle: Needle,
    /// The replacement.
    pub with: String,
    /// Replaces every occurrence instead of exactly one.
    pub all: bool,
    /// The version that the memory must have.
    pub expect: Option<Version>,
    /// Ends the memory with a line ending if the edit left it without one.
    pub final_newline: bool,
}

/// A memory that was edited.
#[derive(Debug, Clone, Serialize)]
pub struct EditedMemory {
    /// The memory after the edit.
    #[serde(flatten)]
    pub saved: Saved,
    /// Number of replacements.
    pub replaced: usize,
}

/// Edits a memory.
pub(crate) fn edit(store: &dyn Store, context: &Context, request: &Edit) -> Result<EditedMemory> {
    let touches = [request.path.clone()];
    let (change, (path, bytes, replaced, notes)) = change_with(store, &context.intent(Verb::Edit), &touches, |view| {
        let stored = write::to_change(store, view, &request.path, request.expect)?;
        let edited = text_edit::edit(write::utf8(&stored.path, &stored.bytes)?, &request.needle, &request.with, request.all)?;
        let bytes = edited.text.into_bytes();
        let bytes = if request.final_newline { write::with_final_newline(bytes) } else { bytes };
        inbox::check_evidence(view, &stored.path, Some(&stored.bytes), &bytes)?;
        let warnings = write::check_secrets(context, Some(&stored.bytes), &bytes)?;
        let kept = upkeep::save_with_line(view, &context.entrypoint_cache, &stored.path, &bytes)?;
        Ok((kept.edits, (stored.path, bytes, edited.count, [warnings, kept.notes].concat())))
    })?;
    Ok(EditedMemory { saved: write::saved_outcome(path, &bytes, false, &change, notes), replaced })
}
