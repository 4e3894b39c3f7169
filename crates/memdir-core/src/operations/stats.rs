//! How much there is, mount by mount.

use crate::{
    base::error::Result,
    store::{Access, JournalSize, Source, Store, mounts},
};
use serde::Serialize;
use std::path::PathBuf;

/// How much a space holds.
#[derive(Debug, Clone, Serialize)]
pub struct Stats {
    /// Memories.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Mount by mount.
    pub mounts: Vec<MountStats>,
    /// The journal.
    pub journal: JournalSize,
    /// Sources that are off: nothing of them is found.
    pub off: Vec<Source>,
}

/// How much a mount holds.
#[derive(Debug, Clone, Serialize)]
pub struct MountStats {
    /// Its prefix.
    pub prefix: String,
    /// Its directory.
    pub root: PathBuf,
    /// Whether it may be written.
    pub access: Access,
    /// Its source class.
    pub source: Source,
    /// Memories.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Lines of its entrypoint, of which at most 200 are loaded.
    pub entrypoint_lines: u64,
    /// Bytes of its entrypoint, of which at most 25,000 are loaded.
    pub entrypoint_bytes: u64,
    /// What could not be listed or read.
    pub problems: usize,
}

/// Counts.
pub fn stats(store: &dyn Store) -> Result<Stats> {
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
        let text = entrypoint.ok().flatten().map(|stored| String::from_utf8_lossy(&stored.bytes).into_owned());
        let loaded = text.as_deref().map(crate::entrypoint::load);
        mounts.push(MountStats {
            prefix: mount.prefix.clone(),
            root: mount.root.clone(),
            access: mount.access,
            source: mount.source,
            files: memories().count(),
            bytes: memories().map(|entry| entry.stamp.size).sum(),
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
