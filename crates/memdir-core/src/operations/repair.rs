//! Repairs entrypoints: adds missing lines, and removes memdir's own lines of files that no longer exist. Reports the user's own
//! dead lines and never removes one.

use crate::{
    base::{error::Result, path::MemoryPath},
    entrypoint::{self, DeadLine, LongLine, upkeep},
    operations::{context::Context, read},
    store::{Access, ChangeId, EntrypointMode, Store, Verb, change_with, mounts},
};
use serde::Serialize;

/// The state of the entrypoint of one mount.
#[derive(Debug, Clone, Serialize)]
pub struct Repaired {
    /// The mount's prefix.
    pub prefix: String,
    /// The entrypoint: `MEMORY.md`, or an existing `index.md`.
    #[serde(skip)]
    pub path: MemoryPath,
    /// Memories without a line. If `change` is set, the lines were added.
    pub missing: Vec<MemoryPath>,
    /// Lines whose memory does not exist. After a repair only the user's own, which are kept: the user decides.
    pub dead: Vec<DeadLine>,
    /// Files that no longer exist and whose lines were removed, or follow the file to its new name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// Lines that are too long for a pointer.
    pub long: Vec<LongLine>,
    /// The change that added and removed lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<ChangeId>,
    /// The error if the entrypoint could not be read or repaired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
    /// Notes for the caller.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Compares every entrypoint with its memories. With `fix`, adds missing lines and removes outdated ones.
pub(crate) fn repair(store: &dyn Store, context: &Context, fix: bool) -> Result<Vec<Repaired>> {
    let kept = store.mounts().iter().filter(|mount| mount.entrypoint == EntrypointMode::Kept);
    let mut done: Vec<Repaired> = Vec::new();
    let mut first_error = None;
    for mount in kept {
        let mut out = Repaired::new(&mount.prefix, mounts::entrypoint_path(&mount.prefix)?);
        if let Err(error) = repair_mount(store, context, &mut out, fix && mount.access == Access::ReadWrite) {
            // The error of one mount says that nothing was changed, which is true for that mount only.
            out.unreadable = Some(error.to_string());
            first_error.get_or_insert(error);
        }
        done.push(out);
    }
    match first_error {
        Some(error) if done.iter().all(|one| one.change.is_none()) => Err(error),
        _ => Ok(done),
    }
}

impl Repaired {
    fn new(prefix: &str, path: MemoryPath) -> Self {
        Repaired {
            prefix: prefix.to_owned(),
            path,
            missing: Vec::new(),
            dead: Vec::new(),
            removed: Vec::new(),
            long: Vec::new(),
            change: None,
            unreadable: None,
            notes: Vec::new(),
        }
    }
}

fn repair_mount(store: &dyn Store, context: &Context, out: &mut Repaired, fix: bool) -> Result<()> {
    let prefix = &*out.prefix.clone();
    match mounts::entrypoint_file(store, prefix) {
        Ok(Some(stored)) => out.path = stored.path,
        Ok(None) => {}
        // The entrypoint is a link or unreadable; the other mounts are still repaired.
        Err(error) => {
            out.unreadable = Some(error.to_string());
            return Ok(());
        }
    }
    out.missing = upkeep::unlisted(store, &context.entrypoint_cache, prefix)?;
    let has_outdated = || -> Result<bool> {
        let Some(entrypoint) = upkeep::open_entrypoint(store, &context.entrypoint_cache, prefix)? else { return Ok(false) };
        Ok(!upkeep::outdated_lines(store, prefix, &entrypoint)?.is_empty())
    };
    if fix && (!out.missing.is_empty() || has_outdated()?) {
        let touches = [mounts::entrypoint_path(prefix)?];
        let (change, (notes, removed)) = change_with(store, &context.intent(Verb::Repair), &touches, |view| {
            let mut missing = Vec::new();
            for path in upkeep::unlisted(view, &context.entrypoint_cache, prefix)? {
                if let Some(stored) = read::if_readable(view.get(&path))? {
                    missing.push((path, stored.bytes));
                }
            }
            let (kept, repaired) = upkeep::repair_lines(view, &context.entrypoint_cache, prefix, missing)?;
            Ok((kept.edits, (kept.notes, repaired.removed)))
        })?;
        (out.notes, out.removed) = (notes, removed);
        out.change = (!change.files.is_empty()).then_some(change.id);
    }
    if let Some(entrypoint) = upkeep::open_entrypoint(store, &context.entrypoint_cache, prefix)? {
        // What cannot be read may exist; a repair keeps its line, too.
        let exists = |rel: &str| MemoryPath::parse(rel).is_ok_and(|path| !matches!(store.get(&path.prefixed(prefix)), Ok(None)));
        out.dead = entrypoint::dead(&entrypoint, &exists);
        out.long = entrypoint::long_lines(&entrypoint);
    }
    Ok(())
}
