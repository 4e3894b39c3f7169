//! Which mount a name belongs to, and what each file of a mount is: a memory, a log, the entrypoint, an overflow page or the
//! tests file. The only place that knows the names of files with a meaning of their own.

use crate::{
    base::{
        error::Result,
        path::{MemoryPath, strip_md},
    },
    store::{EntrypointMode, MountInfo, Source, Stored, View},
};
use std::path::PathBuf;

/// The entrypoint at a mount's root.
pub const ENTRYPOINT_FILE: &str = "MEMORY.md";
/// The entrypoint of a mount that has this file and no [`ENTRYPOINT_FILE`].
pub const FALLBACK_ENTRYPOINT_FILE: &str = "index.md";
/// The memory tests at a mount's root.
pub const TESTS_FILE: &str = "memory.tests.md";
/// The folder at a mount's root that holds logs.
pub const LOGS_FOLDER: &str = "logs";

/// The folder at the root of a mount that keeps an entrypoint, for memories that a dream archived.
pub const ARCHIVE_FOLDER: &str = "archive";

/// What a file of a mount is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A memory.
    Memory,
    /// A log: listed and searched like a memory, but without an entrypoint line and a type.
    Log,
    /// An archived memory: read by its name, and listed and searched only if the caller names the folder. It has no entrypoint line and
    /// is not recalled.
    Archived,
    /// The entrypoint of a mount that keeps one.
    Entrypoint,
    /// An overflow page of the entrypoint.
    Page,
    /// The memory tests.
    Tests,
}

impl FileKind {
    /// Whether lists and counts include the file.
    pub fn is_listed(self) -> bool {
        matches!(self, FileKind::Memory | FileKind::Log)
    }

    /// Whether searches include the file. The questions of memory tests would answer themselves, and the lines of overflow pages
    /// repeat what the memories say.
    pub fn is_searched(self) -> bool {
        self.is_listed() || matches!(self, FileKind::Entrypoint | FileKind::Archived)
    }

    /// Whether memdir maintains lines that point to memories in the file.
    pub fn is_maintained(self) -> bool {
        matches!(self, FileKind::Entrypoint | FileKind::Page)
    }
}

/// Returns the kind of the file with this path, with its extension, whether or not the file exists.
pub fn file_kind(view: &dyn View, path: &MemoryPath) -> FileKind {
    let Some((mount, rel)) = locate(view.mounts(), path.as_str()) else { return FileKind::Memory };
    if rel == TESTS_FILE {
        return FileKind::Tests;
    }
    if is_below(rel, LOGS_FOLDER) {
        return FileKind::Log;
    }
    match mount.entrypoint {
        EntrypointMode::Off => FileKind::Memory,
        EntrypointMode::Kept if mount.source == Source::Memory && is_below(rel, ARCHIVE_FOLDER) => FileKind::Archived,
        EntrypointMode::Kept if is_page_name(rel) => FileKind::Page,
        EntrypointMode::Kept if is_entrypoint_of(view, &mount.prefix, rel) => FileKind::Entrypoint,
        EntrypointMode::Kept => FileKind::Memory,
    }
}

/// Whether a path from a mount's root is a folder or lies below it.
pub(crate) fn is_below(rel: &str, folder: &str) -> bool {
    rel.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether the entrypoint has a line for the memory: the mount keeps an entrypoint, and the file is neither a log nor special.
pub fn has_entrypoint_line(view: &dyn View, path: &MemoryPath) -> bool {
    let is_kept = mount_of(view, path).is_some_and(|mount| mount.entrypoint == EntrypointMode::Kept);
    is_kept && file_kind(view, path) == FileKind::Memory
}

/// Whether the file `rel` is the entrypoint of the mount with this prefix.
fn is_entrypoint_of(view: &dyn View, prefix: &str, rel: &str) -> bool {
    let is_fallback = || entrypoint_file(view, prefix).is_ok_and(|stored| stored.is_some_and(|stored| stored.path.file_name() == rel));
    // An `index.md` beside a `MEMORY.md` is a memory like any other.
    rel == ENTRYPOINT_FILE || (rel == FALLBACK_ENTRYPOINT_FILE && is_fallback())
}

/// Whether a file that does not exist yet would become the entrypoint of its mount.
pub fn would_be_entrypoint(view: &dyn View, path: &MemoryPath) -> bool {
    let Some((mount, rel)) = locate(view.mounts(), path.as_str()) else { return false };
    mount.entrypoint == EntrypointMode::Kept
        && rel == FALLBACK_ENTRYPOINT_FILE
        && entrypoint_file(view, &mount.prefix).is_ok_and(|stored| stored.is_none())
}

/// Reads the entrypoint of a mount: `MEMORY.md`, else `index.md`; `None` if neither exists.
pub fn entrypoint_file(view: &dyn View, prefix: &str) -> Result<Option<Stored>> {
    for name in [ENTRYPOINT_FILE, FALLBACK_ENTRYPOINT_FILE] {
        let path = MemoryPath::parse(name)?.prefixed(prefix);
        if let Some(stored) = view.get(&path)?.filter(|stored| stored.path == path) {
            return Ok(Some(stored));
        }
    }
    Ok(None)
}

/// Returns the path at which a mount's entrypoint is created.
pub fn entrypoint_path(prefix: &str) -> Result<MemoryPath> {
    Ok(MemoryPath::parse(ENTRYPOINT_FILE)?.prefixed(prefix))
}

/// Returns which of the two entrypoint files a mount uses, given which of them exist.
pub fn choose_entrypoint(exists: impl Fn(&str) -> bool) -> &'static str {
    if !exists(ENTRYPOINT_FILE) && exists(FALLBACK_ENTRYPOINT_FILE) { FALLBACK_ENTRYPOINT_FILE } else { ENTRYPOINT_FILE }
}

/// Whether a file at a mount's root has the name of an entrypoint or an overflow page, so that its lines may point to memories.
pub fn is_pointer_file_name(name: &str) -> bool {
    name == ENTRYPOINT_FILE || name == FALLBACK_ENTRYPOINT_FILE || is_page_name(name)
}

/// Whether a file at a mount's root has the name of an overflow page: `MEMORY.page-001.md`, `index.page-002.md`.
pub fn is_page_name(name: &str) -> bool {
    page_number(ENTRYPOINT_FILE, name).or_else(|| page_number(FALLBACK_ENTRYPOINT_FILE, name)).is_some()
}

/// Returns the file name of an entrypoint's overflow page.
pub fn page_name(entrypoint: &str, number: u32) -> String {
    format!("{}.page-{number:03}.md", strip_md(entrypoint))
}

/// Returns the number of an entrypoint's overflow page, or `None` if the name is not one of its pages.
pub fn page_number(entrypoint: &str, name: &str) -> Option<u32> {
    let number = name.strip_prefix(strip_md(entrypoint))?.strip_prefix(".page-")?.strip_suffix(".md")?.parse().ok()?;
    (number > 0 && page_name(entrypoint, number) == name).then_some(number)
}

/// Anything that has a mount's prefix.
pub trait Prefixed {
    /// What the names of the mount begin with; empty for the unprefixed mount.
    fn prefix(&self) -> &str;
}

impl Prefixed for MountInfo {
    fn prefix(&self) -> &str {
        &self.prefix
    }
}

/// Finds the mount that owns a path: the one with the longest prefix the path lies under. Returns it with the path below it.
pub fn locate<'m, 'p, M: Prefixed>(mounts: &'m [M], path: &'p str) -> Option<(&'m M, &'p str)> {
    let (at, rel) = locate_index(mounts, path)?;
    Some((&mounts[at], rel))
}

/// Finds the mount that owns a path, as its position in the slice.
pub fn locate_index<'p, M: Prefixed>(mounts: &[M], path: &'p str) -> Option<(usize, &'p str)> {
    let below = |prefix: &str| if prefix.is_empty() { Some(path) } else { path.strip_prefix(prefix)?.strip_prefix('/') };
    let owners = mounts.iter().enumerate().filter_map(|(at, mount)| Some((at, below(mount.prefix()).filter(|rel| !rel.is_empty())?)));
    owners.min_by_key(|(_, rel)| rel.len())
}

/// Returns the part of `under` below the mount with this prefix; `None` if the mount has nothing under it.
pub fn below_prefix<'a>(under: &'a str, prefix: &str) -> Option<&'a str> {
    if under.is_empty()
        || prefix == under
        || (prefix.len() > under.len() && prefix.starts_with(under) && prefix.as_bytes()[under.len()] == b'/')
    {
        return Some("");
    }
    if prefix.is_empty() {
        return Some(under);
    }
    under.strip_prefix(prefix)?.strip_prefix('/')
}

/// Returns the mount that owns a path.
pub fn mount_of<'v>(view: &'v dyn View, path: &MemoryPath) -> Option<&'v MountInfo> {
    locate(view.mounts(), path.as_str()).map(|(mount, _)| mount)
}

/// The absolute path of a file, for programs that read it without memdir.
pub fn absolute_path(view: &dyn View, path: &MemoryPath) -> Option<PathBuf> {
    locate(view.mounts(), path.as_str()).map(|(mount, rest)| mount.root.join(rest))
}

/// Resolves an alias of a mount: `global/…` is `user/…` unless a mount has that prefix, and the `:` of an agent's name is the `-`
/// of its mount. Returns `None` if the path uses no alias.
pub fn resolve_alias(view: &dyn View, path: &MemoryPath) -> Option<MemoryPath> {
    resolve_alias_among(path, |prefix| view.mounts().iter().any(|mount| mount.prefix == prefix))
}

/// Returns the folder of an agent's memory. A `:` in its name, as in the names of plugins, becomes `-`.
pub fn agent_folder(name: &str) -> String {
    name.replace(':', "-")
}

/// Like [`resolve_alias`], for mounts of any type.
pub fn resolve_alias_among(path: &MemoryPath, has_mount: impl Fn(&str) -> bool) -> Option<MemoryPath> {
    if let Some((name, rest)) = path.as_str().strip_prefix("agent/").map(|own| own.split_once('/').unwrap_or((own, "")))
        && name.contains(':')
    {
        let own = MemoryPath::parse(&format!("agent/{}", agent_folder(name))).ok().filter(|own| has_mount(own.as_str()))?;
        return if rest.is_empty() { Some(own) } else { MemoryPath::parse(&format!("{own}/{rest}")).ok() };
    }
    if !path.is_under("global") || has_mount("global") || !has_mount("user") {
        return None;
    }
    match path.strip_prefix("global") {
        Some(rest) => Some(rest.prefixed("user")),
        None => MemoryPath::parse("user").ok(),
    }
}
