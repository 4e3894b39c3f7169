//! Finds memories without content, and memories that no line and no link leads to. A file is never touched because it lacks frontmatter.

use super::{
    DreamAction, DreamChange, DreamOperation, DreamReason,
    material::{Material, MaterialFile, to_archive},
};
use crate::{
    base::{error::Result, path::MemoryPath},
    memory::lines,
    store::View,
};
use std::collections::HashSet;

/// Returns the proposed archives of empty memories.
pub(super) fn find(material: &Material) -> Vec<DreamOperation> {
    material.files.iter().filter(|file| is_empty(file)).map(archive).collect()
}

/// Whether a memory has neither a description, a tripwire nor any text but headings.
pub(super) fn is_empty(file: &MaterialFile) -> bool {
    let has_text = |line: &str| lines::heading(line).is_none() && line.chars().any(char::is_alphanumeric);
    file.memory.description().is_none() && file.memory.when().is_none() && !file.memory.body().lines().any(has_text)
}

fn archive(file: &MaterialFile) -> DreamOperation {
    let what = if file.memory.body().trim().is_empty() { "is empty" } else { "has no text except headings" };
    DreamOperation {
        action: DreamAction::Archive,
        reason: DreamReason::Empty,
        why: format!("{} {what}", file.name()),
        confidence: 95,
        sources: Vec::new(),
        changes: vec![to_archive(file)],
        diff: String::new(),
    }
}

/// Returns the proposed entrypoint lines of memories without one.
pub(super) fn unreachable(view: &dyn View, material: &Material, unlisted: &HashSet<MemoryPath>) -> Result<Vec<DreamOperation>> {
    let files = material.files.iter().filter(|file| unlisted.contains(&file.path) && view.check_writable(&file.path).is_ok());
    Ok(files
        .map(|file| DreamOperation {
            action: DreamAction::Update,
            reason: DreamReason::Unreachable,
            why: format!("{} is not listed in the entrypoint, so agents may not notice it", file.name()),
            confidence: 90,
            sources: Vec::new(),
            changes: vec![DreamChange::List { path: file.path.clone(), version: file.version }],
            diff: String::new(),
        })
        .collect())
}
