//! Lines whose file another program removed or renamed: finds them and how they change. Reads through a view; writes nothing.

use super::{EntrypointFiles, LineChange, line};
use crate::{
    base::{
        error::Result,
        path::{MemoryPath, strip_md},
    },
    store::{Entry, Stored, View, Walk, if_readable, mounts},
};
use std::collections::{BTreeSet, HashSet};

/// Files without an entrypoint line that are read to find the new name of a removed one.
const MOVED_FILES: usize = 1_000;

/// Which lines are compared with the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ComparedLines {
    /// Those between the marks of the entrypoint: one `stat` each, which a save can afford.
    Entrypoint,
    /// Those of its pages and the user's own too. A dead line of the user stays, so that every save would search for its file again.
    All,
}

/// The paths, from the mount's root, that changes of lines set or remove: their files are about to change.
pub(super) fn touched(changes: &[LineChange]) -> HashSet<&str> {
    let paths = changes.iter().flat_map(|change| match change {
        LineChange::Set { path, .. }
        | LineChange::Remove { path }
        | LineChange::Gone { path }
        | LineChange::ToPage { path }
        | LineChange::ToFront { path, .. } => [path, path],
        LineChange::Rename { from, to, .. } | LineChange::Moved { from, to } => [from, to],
    });
    paths.map(String::as_str).collect()
}

/// Returns how the lines of removed and renamed files change. A file counts as removed only if the directory it was in can be listed.
pub(super) fn outdated(
    view: &dyn View,
    prefix: &str,
    entrypoint: &EntrypointFiles,
    lines: ComparedLines,
    skip: &HashSet<&str>,
) -> Result<Vec<LineChange>> {
    let missing = missing(view, prefix, entrypoint, lines, skip)?;
    if missing.is_empty() {
        return Ok(Vec::new());
    }
    let walk = view.list(prefix)?;
    let gone: Vec<&String> = missing.iter().filter(|rel| is_gone(&walk, prefix, rel)).collect();
    if gone.is_empty() {
        return Ok(Vec::new());
    }
    let mut unlisted = unlisted_files(view, prefix, entrypoint, &walk)?;
    let mut changes = Vec::new();
    for rel in gone {
        let path = MemoryPath::parse(rel)?.prefixed(prefix);
        let recorded = view.last_recorded(&path)?.map(|(version, _)| version);
        let new = unlisted.iter().position(|(_, stored)| Some(stored.version) == recorded);
        // A file that was renamed and then edited still has the title and the description of the line.
        let new = new.or_else(|| unlisted.iter().position(|(to, stored)| has_line_of(entrypoint, rel, to, stored)));
        if let Some((to, stored)) = new.map(|at| unlisted.remove(at)) {
            changes.push(moved(entrypoint, rel, to, &stored));
        } else if entrypoint.pointers.line_of(rel).is_none() {
            changes.push(LineChange::Gone { path: rel.clone() });
        }
    }
    Ok(changes)
}

/// Returns the paths of lines, from the mount's root, whose file was not found.
fn missing(
    view: &dyn View,
    prefix: &str,
    entrypoint: &EntrypointFiles,
    lines: ComparedLines,
    skip: &HashSet<&str>,
) -> Result<BTreeSet<String>> {
    let pages = entrypoint.pages.values().filter(|_| lines == ComparedLines::All).flat_map(|page| page.paths());
    let by_hand = entrypoint.pointers.iter().filter(|_| lines == ComparedLines::All).map(|(target, _)| target);
    let all = entrypoint.parsed.lines.keys().map(String::as_str).chain(pages).chain(by_hand);
    // Sorted, so that the store opens each directory once.
    let rels: BTreeSet<&str> = all.filter(|rel| !skip.contains(rel)).collect();
    let named: Vec<(&str, MemoryPath)> =
        rels.into_iter().filter_map(|rel| Some((rel, MemoryPath::parse(rel).ok()?.prefixed(prefix)))).collect();
    let paths: Vec<MemoryPath> = named.iter().map(|(_, path)| path.clone()).collect();
    // A directory that cannot be read fails all of them: nothing is known to be missing.
    let Ok(stamps) = view.stamps(&paths) else { return Ok(BTreeSet::new()) };
    let unseen = named.into_iter().zip(stamps).filter(|(_, stamp)| stamp.is_none());
    // Another spelling of the name, a link or a name without its extension.
    let missing = unseen.filter(|((_, path), _)| matches!(view.get(path), Ok(None)));
    Ok(missing.map(|((rel, _), _)| rel.to_owned()).collect())
}

/// Whether a listing shows that a file does not exist.
fn is_gone(walk: &Walk, prefix: &str, rel: &str) -> bool {
    let Ok(path) = MemoryPath::parse(rel).map(|path| path.prefixed(prefix)) else { return false };
    let is_hidden = walk.unlisted.iter().any(|dir| dir == prefix || path.is_under(dir));
    !is_hidden && walk.left_out == 0 && walk.entries.iter().all(|entry| entry.path.name() != path.name())
}

/// Returns the memories of a mount that need a line and have none, with their content.
fn unlisted_files(view: &dyn View, prefix: &str, entrypoint: &EntrypointFiles, walk: &Walk) -> Result<Vec<(String, Stored)>> {
    let needs_line = |entry: &&Entry| {
        let Some((mount, rel)) = mounts::locate(view.mounts(), entry.path.as_str()) else { return false };
        mount.prefix == prefix && entrypoint.line_of(rel).is_none() && mounts::has_entrypoint_line(view, &entry.path)
    };
    let mut files = Vec::new();
    for entry in walk.entries.iter().filter(needs_line).take(MOVED_FILES) {
        if let Some(stored) = if_readable(view.get(&entry.path))?.filter(|stored| stored.path == entry.path)
            && let Some((_, rel)) = mounts::locate(view.mounts(), entry.path.as_str())
        {
            files.push((rel.to_owned(), stored));
        }
    }
    Ok(files)
}

/// Whether the line of a removed file is the one that memdir would write for another file, apart from the name.
fn has_line_of(entrypoint: &EntrypointFiles, rel: &str, to: &str, stored: &Stored) -> bool {
    let (title, hook) = line::title_and_hook(strip_md(rel), &stored.bytes);
    let has_own_title = line::title_and_hook(strip_md(to), &stored.bytes).0 == title;
    let written = line::write(rel, &title, &hook, usize::MAX);
    has_own_title && written.is_some() && written.as_deref() == line_text(entrypoint, rel)
}

fn line_text<'a>(entrypoint: &'a EntrypointFiles, rel: &str) -> Option<&'a str> {
    let parsed_files = std::iter::once(&entrypoint.parsed).chain(entrypoint.pages.values().map(|page| &page.parsed));
    parsed_files.filter_map(|parsed| parsed.lines.get(rel)).next().map(String::as_str)
}

/// Returns how the line of a renamed file changes: a line that memdir wrote is written anew, any other keeps its text.
fn moved(entrypoint: &EntrypointFiles, rel: &str, to: String, stored: &Stored) -> LineChange {
    let (title, hook) = line::title_and_hook(strip_md(rel), &stored.bytes);
    if line::write(rel, &title, &hook, usize::MAX).as_deref() == line_text(entrypoint, rel) {
        let (title, hook) = line::title_and_hook(strip_md(&to), &stored.bytes);
        return LineChange::Rename { from: rel.to_owned(), to, title, hook };
    }
    LineChange::Moved { from: rel.to_owned(), to }
}
