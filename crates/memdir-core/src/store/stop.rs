//! Ending a call early. A store that asks, before each step, whether the call it works for is still wanted; a change
//! whose plan was stopped is not made at all.

use crate::{
    base::{
        error::{Error, Result},
        path::MemoryPath,
        version::Version,
    },
    store::{Change, ChangeFilter, FileEdit, Intent, JournalSize, MountInfo, Plan, Stamp, Store, Stored, View, Walk},
};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// A word that can be said once, from any thread: stop.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Says it.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was said.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Fails if it was said.
    pub fn check(&self) -> Result<()> {
        if self.is_stopped() {
            return Err(Error::Unavailable { what: "this call".into(), why: "it was cancelled, or took too long, and was ended".into() });
        }
        Ok(())
    }
}

/// The same store, which ends at its next step after `stop`.
pub fn stoppable(store: Arc<dyn Store>, stop: Stop) -> Arc<dyn Store> {
    Arc::new(Stoppable { store, stop })
}

struct Stoppable {
    store: Arc<dyn Store>,
    stop: Stop,
}

/// What a plan sees: the same word ends it.
struct Seen<'a> {
    view: &'a dyn View,
    stop: &'a Stop,
}

impl View for Seen<'_> {
    fn mounts(&self) -> &[MountInfo] {
        self.view.mounts()
    }

    fn get(&self, path: &MemoryPath) -> Result<Option<Stored>> {
        self.stop.check()?;
        self.view.get(path)
    }

    fn list(&self, under: &str) -> Result<Walk> {
        self.stop.check()?;
        self.view.list(under)
    }

    fn stamps(&self, paths: &[MemoryPath]) -> Result<Vec<Option<Stamp>>> {
        self.stop.check()?;
        self.view.stamps(paths)
    }

    fn check_writable(&self, path: &MemoryPath) -> Result<()> {
        self.view.check_writable(path)
    }
}

impl View for Stoppable {
    fn mounts(&self) -> &[MountInfo] {
        self.store.mounts()
    }

    fn get(&self, path: &MemoryPath) -> Result<Option<Stored>> {
        self.stop.check()?;
        self.store.get(path)
    }

    fn list(&self, under: &str) -> Result<Walk> {
        self.stop.check()?;
        self.store.list(under)
    }

    fn stamps(&self, paths: &[MemoryPath]) -> Result<Vec<Option<Stamp>>> {
        self.stop.check()?;
        self.store.stamps(paths)
    }

    fn check_writable(&self, path: &MemoryPath) -> Result<()> {
        self.store.check_writable(path)
    }
}

impl Store for Stoppable {
    fn change(&self, intent: &Intent, touches: &[MemoryPath], plan: &mut Plan<'_>) -> Result<Change> {
        self.stop.check()?;
        self.store.change(intent, touches, &mut |view| {
            let edits: Vec<FileEdit> = plan(&Seen { view, stop: &self.stop })?;
            // The last moment at which nothing has happened yet.
            self.stop.check()?;
            Ok(edits)
        })
    }

    fn changes(&self, filter: &ChangeFilter) -> Result<Vec<Change>> {
        self.stop.check()?;
        self.store.changes(filter)
    }

    fn text_at(&self, path: &MemoryPath, version: Version) -> Result<Option<Vec<u8>>> {
        self.stop.check()?;
        self.store.text_at(path, version)
    }

    fn notice(&self, path: &MemoryPath) {
        self.store.notice(path);
    }

    fn marks(&self) -> Vec<Option<Stamp>> {
        self.store.marks()
    }

    fn journal_size(&self) -> Result<JournalSize> {
        self.store.journal_size()
    }
}
