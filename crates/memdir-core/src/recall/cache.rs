//! The table of a space in the memory of a server, caught up by the sequence of the store's changes. A store on a disk has none: there
//! the stamps of all files are compared for every recall, and only changed files are read.

use super::table::RecallTable;
use crate::base::sort::SharedSort as _;
use crate::{
    base::error::Result,
    search::pool::{IndexPool, PoolMember, Unload},
    store::{self, ChangeSequence, Entry, MountInfo, SequencePosition, Store, mounts, stop::lock_or_stop},
};
use jiff::Timestamp;
use std::{
    path::Path,
    sync::{Arc, Mutex, Weak},
};

/// The last table of a space.
#[derive(Default)]
pub struct RecallCache {
    kept: Mutex<Option<KeptTable>>,
    /// What limits the memory of the table, together with others.
    pooled: Option<PoolMember>,
}

struct KeptTable {
    table: Arc<RecallTable>,
    /// The position of each mount.
    positions: Vec<SequencePosition>,
}

impl RecallCache {
    /// Creates a cache whose memory a pool limits.
    pub fn pooled(pool: &Arc<IndexPool>) -> Arc<Self> {
        Arc::new_cyclic(|weak: &Weak<RecallCache>| RecallCache {
            kept: Mutex::default(),
            pooled: Some(pool.join(weak.clone(), Path::new("recall"))),
        })
    }

    /// Returns the table of a store on a disk.
    pub(crate) fn listed(&self, store: &dyn Store, now: Timestamp) -> Result<Arc<RecallTable>> {
        let mut kept = lock_or_stop(&self.kept, || store.check_stopped())?;
        let old = kept.take().map(|kept| kept.table).unwrap_or_default();
        let table = old.refreshed(store, now)?;
        *kept = Some(KeptTable { table: table.clone(), positions: Vec::new() });
        Ok(table)
    }

    /// Returns the table with everything that is in the store now. Nothing is listed if nothing has changed.
    pub(crate) fn current(&self, store: &dyn Store, sequence: &dyn ChangeSequence, now: Timestamp) -> Result<Arc<RecallTable>> {
        let listed: Vec<&MountInfo> = store.mounts().iter().filter(|mount| !mount.apart).collect();
        let mut kept = lock_or_stop(&self.kept, || store.check_stopped())?;
        let position = |at: usize| kept.as_ref().and_then(|kept| kept.positions.get(at).copied());
        let known: Vec<_> = listed.iter().enumerate().map(|(at, mount)| (mount.prefix.as_str(), position(at))).collect();
        let changes = sequence.changed_since(&known)?;
        let is_same = changes.iter().zip(&known).all(|(changes, (_, known))| Some(changes.position) == *known);
        // Taken out: if this call fails, the next one lists the files.
        let before = kept.take();
        let current = match before {
            Some(before) if is_same => before,
            before => {
                let has_rows = before.is_some();
                let old = before.map(|before| before.table).unwrap_or_default();
                let (mut entries, mut positions) = (old.entries(), Vec::new());
                for (mount, changes) in listed.iter().zip(changes) {
                    match changes.files {
                        Some(files) if has_rows => {
                            store::apply_changes(&mut entries, files);
                            positions.push(changes.position);
                        }
                        _ => {
                            entries.retain(|entry| !is_in(store, mount, entry));
                            let (position, files) = sequence.list_mount(&mount.prefix)?;
                            entries.extend(files);
                            positions.push(position);
                        }
                    }
                }
                entries.shared_sort_by(|a, b| a.path.cmp(&b.path));
                KeptTable { table: Arc::new(old.with_entries(store, entries, now)?), positions }
            }
        };
        let table = current.table.clone();
        *kept = Some(current);
        drop(kept);
        if let Some(member) = &self.pooled {
            member.used(table.resident_bytes());
        }
        Ok(table)
    }
}

impl Unload for RecallCache {
    fn try_unload(&self) -> bool {
        self.kept.try_lock().map(|mut kept| *kept = None).is_ok()
    }
}

fn is_in(store: &dyn Store, mount: &MountInfo, entry: &Entry) -> bool {
    mounts::mount_of(store, &entry.path).is_some_and(|owner| owner.prefix == mount.prefix)
}
