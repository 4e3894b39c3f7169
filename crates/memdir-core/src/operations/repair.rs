//! Bringing entrypoints in step with the files: adds lines that are missing, and tells which lead nowhere. Never drops
//! a line a person wrote.

use crate::{
    base::{error::Result, path::MemoryPath},
    entrypoint::{self, DeadLine, LongLine, upkeep},
    operations::{context::Context, read},
    store::{Access, ChangeId, Entrypoint, FileEdit, Role, Store, Verb, change_with, mounts},
};
use serde::Serialize;

/// How the entrypoint of one mount stands.
#[derive(Debug, Clone, Serialize)]
pub struct Repaired {
    /// The mount's prefix.
    pub prefix: String,
    /// Memories that had no line; with a change, they have one now.
    pub missing: Vec<MemoryPath>,
    /// Lines that lead to no memory. They stay: a person decides.
    pub dead: Vec<DeadLine>,
    /// Lines that are too long to be pointers.
    pub long: Vec<LongLine>,
    /// The change that added lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<ChangeId>,
    /// Why the entrypoint itself could not be read, if it could not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
    /// What the caller should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Looks at every entrypoint, and with `fix` adds the lines that are missing.
pub fn repair(store: &dyn Store, context: &Context, fix: bool) -> Result<Vec<Repaired>> {
    let kept = store.mounts().iter().filter(|mount| mount.entrypoint == Entrypoint::Kept);
    kept.map(|mount| one(store, context, &mount.prefix, fix && mount.access == Access::ReadWrite)).collect()
}

fn one(store: &dyn Store, context: &Context, prefix: &str, fix: bool) -> Result<Repaired> {
    let mut out = Repaired {
        prefix: prefix.to_owned(),
        missing: Vec::new(),
        dead: Vec::new(),
        long: Vec::new(),
        change: None,
        unreadable: None,
        notes: Vec::new(),
    };
    if let Err(error) = mounts::entrypoint_file(store, prefix) {
        // One mount whose entrypoint is a link or cannot be read is no reason to say nothing of the others.
        out.unreadable = Some(error.to_string());
        return Ok(out);
    }
    out.missing = upkeep::unlisted(store, &context.books, prefix)?;
    if fix && !out.missing.is_empty() {
        let touches = [mounts::entrypoint_path(prefix)?];
        let (change, notes) = change_with(store, &context.intent(Verb::Repair), &touches, |view| {
            let mut lines = Vec::new();
            for path in upkeep::unlisted(view, &context.books, prefix)? {
                if let Some(stored) = read::if_readable(view.get(&path))? {
                    lines.push(FileEdit { path, bytes: Some(stored.bytes), role: Role::Memory });
                }
            }
            let kept = upkeep::lines_for(view, &context.books, &lines)?;
            Ok((kept.edits, kept.notes))
        })?;
        out.notes = notes;
        out.change = (!change.files.is_empty()).then_some(change.id);
    }
    if let Some(book) = upkeep::open_book(store, &context.books, prefix)? {
        let exists =
            |rel: &str| MemoryPath::parse(rel).is_ok_and(|path| store.get(&path.prefixed(prefix)).is_ok_and(|stored| stored.is_some()));
        out.dead = entrypoint::dead(&book, &exists);
        out.long = entrypoint::long_lines(&book);
    }
    Ok(out)
}
