//! Compares two versions of a memory.

use crate::base::sort::SharedSort as _;
use crate::{
    base::{
        error::{Error, Result},
        line_diff,
        path::MemoryPath,
        version::Version,
    },
    operations::read,
    store::{ChangeFilter, FileChange, Store},
};
use serde::Serialize;

/// The versions to compare.
#[derive(Debug, Clone)]
pub struct Diff {
    /// The memory.
    pub path: MemoryPath,
    /// The older version, or a prefix of it. The default is the one before the last change.
    pub from: Option<String>,
    /// The newer version, or a prefix of it. The default is the current one.
    pub to: Option<String>,
}

/// The differences between two versions.
#[derive(Debug, Clone, Serialize)]
pub struct VersionDiff {
    /// The memory.
    pub path: MemoryPath,
    /// The older version; `None` if the memory did not exist.
    pub from: Option<Version>,
    /// The newer version; `None` if the memory does not exist.
    pub to: Option<Version>,
    /// The unified diff; empty if the versions are equal.
    pub diff: String,
}

/// Compares two versions of a memory.
pub fn diff(store: &dyn Store, request: &Diff) -> Result<VersionDiff> {
    let now = store.get(&request.path)?;
    let path = now.as_ref().map_or_else(|| request.path.clone(), |stored| stored.path.clone());
    let changes = store.changes(&ChangeFilter { path: Some(path.clone()), ..ChangeFilter::default() })?;
    if changes.is_empty() && now.is_none() {
        return Err(read::not_found(store, &request.path));
    }
    let path = changes
        .first()
        .and_then(|change| change.files.iter().find(|file| file.path.name() == path.name()))
        .map_or(path, |file| file.path.clone());
    let newest = now.as_ref().map(|stored| stored.version);
    let to = match &request.to {
        Some(to) => Some(resolve_version(store, &path, to)?),
        None => newest,
    };
    let from = match &request.from {
        Some(from) => Some(resolve_version(store, &path, from)?),
        None => {
            changes.iter().flat_map(|change| &change.files).find(|file| file.path == path && file.after == to).and_then(|file| file.before)
        }
    };
    let text = |version: Option<Version>| match version {
        Some(version) => version_bytes(store, &path, version),
        None => Ok(Vec::new()),
    };
    Ok(VersionDiff { diff: unified(&path, text(from)?, text(to)?), path, from, to })
}

/// Returns the only version of a memory that starts with `text`.
pub fn resolve_version(store: &dyn Store, path: &MemoryPath, text: &str) -> Result<Version> {
    let changes = store.changes(&ChangeFilter { path: Some(path.clone()), ..ChangeFilter::default() })?;
    let files = changes.iter().flat_map(|change| &change.files).filter(|file| file.path.name() == path.name());
    let mut versions: Vec<Version> = files.flat_map(|file| [file.after, file.before]).flatten().collect();
    versions.extend(store.get(path)?.map(|stored| stored.version));
    versions.retain(|version| version.starts_with(text));
    versions.shared_sort();
    versions.dedup();
    match versions.as_slice() {
        [version] => Ok(*version),
        [] => Err(Error::unknown_change(format!("version {text:?} of memory {:?} not found", path.name()))),
        several => Err(Error::unknown_change(format!(
            "version {text:?} of memory {:?} is ambiguous: {} versions match; use more characters",
            path.name(),
            several.len()
        ))),
    }
}

/// Returns the content of a version.
pub(crate) fn version_bytes(store: &dyn Store, path: &MemoryPath, version: Version) -> Result<Vec<u8>> {
    store.text_at(path, version)?.ok_or_else(|| Error::NotKept { what: format!("version {} of {}", version.short(), path.name()) })
}

/// Returns the unified diff of what a change did to one file.
pub fn file_diff(store: &dyn Store, file: &FileChange) -> Result<String> {
    let text = |version: Option<Version>| version.map_or(Ok(Vec::new()), |version| version_bytes(store, &file.path, version));
    Ok(unified(&file.path, text(file.before)?, text(file.after)?))
}

/// Returns the unified diff of two texts; empty only if they are equal.
pub fn unified(path: &MemoryPath, from: impl AsRef<[u8]>, to: impl AsRef<[u8]>) -> String {
    line_diff::unified(&format!("a/{path}"), &format!("b/{path}"), from, to)
}
