//! The keys of candidates that were accepted or rejected, so that they are never proposed again, in one file beside the inbox.
//!
//! A key is recorded before the candidate's file is moved or removed. After a crash in between, the candidate is still in the inbox
//! and can be decided about; the other order would let it come back.

use super::{InboxEntry, REJECTED, is_in_inbox};
use crate::base::sort::SharedSort as _;
use crate::{
    base::{
        disk::{self, FileLock, LockWait, Replace},
        error::{Error, Result},
        path::MemoryPath,
    },
    store::{Store, mounts},
};
use std::{
    collections::HashSet,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// The number of keys that are remembered; beyond it the oldest are dropped. A year of ten decisions a day.
const MAX_KEYS: usize = 4_000;

/// The keys that were decided about.
pub(super) fn decided_keys(root: &Path) -> HashSet<String> {
    read_keys(&file(root)).into_iter().collect()
}

/// Records the keys of the candidates that a change decides about: those that leave the inbox or are moved to its rejected ones. Each
/// has its old name, and its new one unless it is removed.
pub(crate) fn record_decisions<'a>(
    store: &dyn Store,
    names: impl IntoIterator<Item = (&'a MemoryPath, Option<&'a MemoryPath>)>,
) -> Result<()> {
    for (from, to) in names {
        let Some((mount, _)) = mounts::locate(store.mounts(), from.as_str()).filter(|_| is_in_inbox(store, from)) else { continue };
        let is_rejected = |to: &MemoryPath| to.is_under(&format!("{}/{REJECTED}", mount.prefix));
        if to.is_some_and(|to| is_in_inbox(store, to) && !is_rejected(to)) {
            continue;
        }
        let Some(stored) = store.get(from)? else { continue };
        let InboxEntry { key, other_keys, .. } = InboxEntry::parse(&mount.prefix, &stored);
        let keys: Vec<String> = other_keys.into_iter().chain([key]).filter(|key| !key.is_empty()).collect();
        if !keys.is_empty() {
            let path = file(&mount.root);
            add(&path, &keys).map_err(|source| Error::Io { doing: "record the decision in", path, source })?;
        }
    }
    Ok(())
}

/// The directory of an inbox, which contains the mount and what memdir records about it.
pub(super) fn directory(root: &Path) -> &Path {
    root.parent().unwrap_or(root)
}

fn file(root: &Path) -> PathBuf {
    directory(root).join("decided")
}

fn read_keys(file: &Path) -> Vec<String> {
    let bytes = fs::read(file).unwrap_or_default();
    String::from_utf8_lossy(&bytes).lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// Adds the keys of decisions that were made in another inbox.
pub(super) fn add_decided(root: &Path, keys: HashSet<String>) -> Result<()> {
    let mut keys: Vec<String> = keys.into_iter().collect();
    keys.shared_sort();
    let path = file(root);
    add(&path, &keys).map_err(|source| Error::Io { doing: "record the decisions in", path, source })
}

fn add(file: &Path, new: &[String]) -> io::Result<()> {
    let _lock = FileLock::for_update(file, LockWait::COMMAND)?;
    let mut keys = read_keys(file);
    let known: HashSet<String> = keys.iter().cloned().collect();
    let count = keys.len();
    keys.extend(new.iter().filter(|key| !known.contains(*key)).cloned());
    if keys.len() == count {
        return Ok(());
    }
    let excess = keys.len().saturating_sub(MAX_KEYS);
    let text: String = keys[excess..].iter().map(|key| format!("{key}\n")).collect();
    disk::replace(file, Replace::DURABLE, |file| file.write_all(text.as_bytes()))
}
