//! A limit on the memory of everything that a server keeps open between calls: indexes of namespaces and tables of recall. Beyond it,
//! what was used longest ago is freed, and opened again when it is needed.

use super::indexing::IndexProgress;
use crate::store::MountInfo;
use std::{
    any::Any,
    collections::HashMap,
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

/// Indexes that many searchers share, with a limit on the memory of all of them.
pub struct IndexPool {
    limit: u64,
    report: Box<ReportProgress>,
    open: Mutex<OpenMembers>,
}

/// A callback for the progress of indexing the mount with this root.
type ReportProgress = dyn Fn(&Path, IndexProgress) + Send + Sync;

#[derive(Default)]
struct OpenMembers {
    /// Counts uses, to order members by their last one.
    clock: u64,
    last_id: u64,
    /// The bytes of all members.
    total: u64,
    members: HashMap<u64, Member>,
    indexes: HashMap<IndexKey, Weak<dyn Any + Send + Sync>>,
}

impl OpenMembers {
    /// Records the bytes of a member.
    fn resize(&mut self, id: u64, bytes: u64) {
        if let Some(member) = self.members.get_mut(&id) {
            self.total = self.total - member.bytes + bytes;
            member.bytes = bytes;
        }
    }

    fn shared<T: Any + Send + Sync>(&self, key: &IndexKey) -> Option<Arc<T>> {
        self.indexes.get(key)?.upgrade()?.downcast().ok()
    }
}

struct Member {
    of: Weak<dyn Unload>,
    used: u64,
    bytes: u64,
}

/// Two mounts with the same key have the same files under the same names.
#[derive(PartialEq, Eq, Hash)]
struct IndexKey {
    root: PathBuf,
    rules: String,
    prefix: String,
}

/// Something that can be freed and rebuilt.
pub(crate) trait Unload: Send + Sync {
    /// Frees the memory unless it is in use. Returns whether it did. Never waits.
    fn try_unload(&self) -> bool;
}

impl fmt::Debug for IndexPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexPool").field("limit", &self.limit).field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

impl IndexPool {
    /// Creates a pool with a limit in bytes. `report` is called with the progress of namespaces that are indexed.
    pub fn new(limit: u64, report: impl Fn(&Path, IndexProgress) + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(IndexPool { limit, report: Box::new(report), open: Mutex::default() })
    }

    /// Returns an estimate of the bytes in use.
    pub fn bytes(&self) -> u64 {
        self.open().total
    }

    /// Returns the number of indexes and tables that are in memory.
    pub fn loaded(&self) -> usize {
        self.open().members.values().filter(|member| member.bytes > 0).count()
    }

    /// Returns the index of a mount, which all searchers share, or makes it.
    pub(super) fn shared<T: Any + Send + Sync>(&self, info: &MountInfo, make: impl FnOnce() -> Arc<T>) -> Arc<T> {
        let key = IndexKey { root: info.root.clone(), rules: info.rules.clone(), prefix: info.prefix.clone() };
        if let Some(index) = self.open().shared(&key) {
            return index;
        }
        let made = make();
        let mut open = self.open();
        // Another caller may have opened the same namespace meanwhile.
        if let Some(index) = open.shared(&key) {
            drop(open);
            return index;
        }
        open.indexes.retain(|_, index| index.strong_count() > 0);
        let shared: Arc<dyn Any + Send + Sync> = made.clone();
        open.indexes.insert(key, Arc::downgrade(&shared));
        made
    }

    /// Adds a member.
    pub(crate) fn join(self: &Arc<Self>, of: Weak<dyn Unload>, root: &Path) -> PoolMember {
        let mut open = self.open();
        open.last_id += 1;
        let id = open.last_id;
        open.members.insert(id, Member { of, used: 0, bytes: 0 });
        PoolMember { pool: self.clone(), id, root: root.to_owned() }
    }

    fn open(&self) -> MutexGuard<'_, OpenMembers> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the use of a member, then frees others until the limit is met.
    fn used(&self, id: u64, bytes: u64) {
        let mut open = self.open();
        open.clock += 1;
        let now = open.clock;
        let Some(member) = open.members.get_mut(&id) else { return };
        member.used = now;
        open.resize(id, bytes);
        if open.total <= self.limit {
            return;
        }
        let mut excess = open.total - self.limit;
        let mut oldest: Vec<(u64, u64, u64, Weak<dyn Unload>)> = open
            .members
            .iter()
            .filter(|(other, member)| **other != id && member.bytes > 0)
            .map(|(id, member)| (member.used, *id, member.bytes, member.of.clone()))
            .collect();
        drop(open);
        oldest.sort_unstable_by_key(|(used, ..)| *used);
        for (used, id, bytes, of) in oldest {
            if excess == 0 {
                break;
            }
            // The lock of the pool is not held: a member that is dropped here leaves the pool.
            if of.upgrade().is_none_or(|member| member.try_unload()) {
                excess = excess.saturating_sub(bytes);
                let mut open = self.open();
                if open.members.get(&id).is_some_and(|member| member.used == used) {
                    open.resize(id, 0);
                }
            }
        }
    }
}

/// The place of an index or a table in a pool, which it leaves when this is dropped.
pub(crate) struct PoolMember {
    pool: Arc<IndexPool>,
    id: u64,
    root: PathBuf,
}

impl PoolMember {
    /// Records a use, and how many bytes are in memory now.
    pub(crate) fn used(&self, bytes: u64) {
        self.pool.used(self.id, bytes);
    }

    /// Reports the progress of indexing.
    pub(crate) fn report(&self, progress: IndexProgress) {
        (self.pool.report)(&self.root, progress);
    }
}

impl Drop for PoolMember {
    fn drop(&mut self) {
        let mut open = self.pool.open();
        open.resize(self.id, 0);
        let removed = open.members.remove(&self.id);
        drop(open);
        drop(removed);
    }
}
