//! Counts memories and bytes, mount by mount.

use crate::{
    base::{error::Result, path::MemoryPath},
    store::{Access, JournalSize, Source, Store, mounts},
};
use serde::Serialize;
use std::path::PathBuf;

/// The counts of a space.
#[derive(Debug, Clone, Serialize)]
pub struct Stats {
    /// Number of memories.
    pub files: usize,
    /// Their size in bytes.
    pub bytes: u64,
    /// The counts of each mount.
    pub mounts: Vec<MountStats>,
    /// The size of the journal.
    pub journal: JournalSize,
    /// Sources that are turned off, so that searches find nothing in them.
    pub off: Vec<Source>,
}

/// The counts of one mount.
#[derive(Debug, Clone, Serialize)]
pub struct MountStats {
    /// Its prefix.
    pub prefix: String,
    /// Its directory.
    pub root: PathBuf,
    /// Whether it is writable.
    pub access: Access,
    /// Its source class.
    pub source: Source,
    /// Number of memories.
    pub files: usize,
    /// Their size in bytes.
    pub bytes: u64,
    /// Its entrypoint, if it has one.
    #[serde(skip)]
    pub entrypoint: Option<MemoryPath>,
    /// Number of lines of its entrypoint, of which at most 200 are loaded.
    pub entrypoint_lines: u64,
    /// Size of its entrypoint, of which at most 25,000 bytes are loaded.
    pub entrypoint_bytes: u64,
    /// Number of files that could not be listed or read.
    pub problems: usize,
}

/// Counts the memories of a space.
pub(crate) fn stats(store: &dyn Store) -> Result<Stats> {
    let mut mounts = Vec::new();
    for mount in store.mounts() {
        let walk = store.list(&mount.prefix)?;
        let memories = || {
            walk.entries.iter().filter(|entry| {
                mounts::mount_of(store, &entry.path).is_some_and(|owner| owner.prefix == mount.prefix)
                    && mounts::file_kind(store, &entry.path).is_listed()
            })
        };
        let entrypoint = mounts::entrypoint_file(store, &mount.prefix);
        let unreadable = usize::from(entrypoint.is_err());
        let entrypoint = entrypoint.ok().flatten();
        let text = entrypoint.as_ref().map(|stored| String::from_utf8_lossy(&stored.bytes).into_owned());
        let loaded = text.as_deref().map(crate::entrypoint::load);
        if mount.source == Source::Inbox && memories().next().is_none() {
            continue;
        }
        mounts.push(MountStats {
            prefix: mount.prefix.clone(),
            root: mount.root.clone(),
            access: mount.access,
            source: mount.source,
            files: memories().count(),
            bytes: memories().map(|entry| entry.stamp.size).sum(),
            entrypoint: entrypoint.map(|stored| stored.path),
            entrypoint_lines: loaded.as_ref().map_or(0, |loaded| loaded.line_count),
            entrypoint_bytes: loaded.as_ref().map_or(0, |loaded| loaded.byte_count),
            problems: walk.problems.len() + unreadable,
        });
    }
    Ok(Stats {
        files: mounts.iter().map(|mount| mount.files).sum(),
        bytes: mounts.iter().map(|mount| mount.bytes).sum(),
        journal: store.journal_size()?,
        off: Vec::new(),
        mounts,
    })
}
