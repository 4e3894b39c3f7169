//! Marks the lines of memories that others replace: `supersedes` is in the new memory, and the line to mark is that of the old one. Reads
//! through a view; writes nothing.

use super::{
    EntrypointFiles, LineChange,
    line::{self, marked},
    outdated,
};
use crate::{
    base::{path::MemoryPath, text},
    memory::{Memory, links, validity},
    store::{View, if_readable, mounts},
};

/// Whether a change of a memory's text changes which memories it replaces.
pub(super) fn changes_replaced(old: &[u8], new: &[u8]) -> bool {
    names(old) != names(new)
}

/// The names that a memory supersedes, as written.
fn names(bytes: &[u8]) -> Vec<String> {
    // Nearly every memory has none, which costs one search.
    match text::decode(bytes).0 {
        decoded if decoded.contains("supersedes") => Memory::parse(&decoded).0.validity().supersedes,
        _ => Vec::new(),
    }
}

/// Adds the changes that mark the lines of the memories that `path` replaces with these bytes. Only lines that memdir wrote change, and
/// no memory that changes itself: the view does not show its new text.
pub(super) fn with_replaced(
    mut changes: Vec<LineChange>,
    view: &dyn View,
    entrypoint: &EntrypointFiles,
    prefix: &str,
    path: &MemoryPath,
    bytes: &[u8],
) -> Vec<LineChange> {
    let touched = outdated::touched(&changes);
    let marks = of_replaced(view, entrypoint, prefix, path, bytes);
    let marks: Vec<LineChange> =
        marks.into_iter().filter(|mark| outdated::touched(std::slice::from_ref(mark)).is_disjoint(&touched)).collect();
    changes.extend(marks);
    changes
}

fn of_replaced(view: &dyn View, entrypoint: &EntrypointFiles, prefix: &str, path: &MemoryPath, bytes: &[u8]) -> Vec<LineChange> {
    let resolved = names(bytes).into_iter().filter_map(|written| replaced(view, path, &written));
    let own = resolved.filter(|old| old != path && mounts::mount_of(view, old).is_some_and(|mount| mount.prefix == prefix));
    own.filter_map(|old| {
        let rel = old.strip_prefix(prefix).unwrap_or_else(|| old.clone());
        entrypoint.line_of(rel.as_str())?;
        let stored = if_readable(view.get(&old)).ok().flatten()?;
        let (title, hook) = line::title_and_hook(rel.name(), &stored.bytes);
        let successor = path.strip_prefix(prefix).unwrap_or_else(|| path.clone());
        let hook = marked(&validity::superseded_mark(successor.name()), &hook);
        Some(LineChange::Set { path: rel.to_string(), title, hook })
    })
    .collect()
}

/// The hook of a memory that is written again: it keeps the mark of its line if the memory that replaces it still does.
pub(super) fn kept_mark(view: &dyn View, entrypoint: &EntrypointFiles, prefix: &str, rel: &str, hook: &str) -> Option<String> {
    let line = entrypoint.line_text(rel)?;
    let (_, rest) = line.split_once("(superseded by ")?;
    let (name, _) = rest.split_once(')')?;
    let successor = MemoryPath::parse(name).ok()?.prefixed(prefix);
    let stored = if_readable(view.get(&successor)).ok().flatten()?;
    let own = MemoryPath::parse(rel).ok()?.prefixed(prefix);
    let still = names(&stored.bytes).iter().any(|written| replaced(view, &stored.path, written).as_ref() == Some(&own));
    (still && !hook.starts_with('(')).then(|| marked(&validity::superseded_mark(name), hook))
}

/// The memory that a name in `supersedes` of `holder` means.
fn replaced(view: &dyn View, holder: &MemoryPath, written: &str) -> Option<MemoryPath> {
    links::wiki_names(written, holder).find_map(|name| {
        let path = MemoryPath::parse(&name).ok()?;
        if_readable(view.get(&path)).ok().flatten().map(|stored| stored.path)
    })
}
