//! One mount's index, kept in step with its files: a few changed files are overlaid in memory before the answer and written to the
//! index after it; many are written at once.

use crate::{
    base::{
        error::{Error, Result},
        stamp::Stamp,
        version::Version,
    },
    search::{
        index::{Index, IndexView, Wait},
        indexing::{self, FileCheck, Indexer, StaleFiles, is_racy},
    },
    store::Entry,
};
use jiff::Timestamp;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError},
    time::Duration,
};

/// Changed files, and bytes of them, that are overlaid rather than written before the answer.
const OVERLAY_FILES: usize = 48;
const OVERLAY_BYTES: u64 = 512 << 10;
/// How often the index is written before an answer if other processes damage it meanwhile.
const ATTEMPTS: usize = 4;
/// Overlaid files that are worth writing after the answer: fewer cost the next search less than a write costs now.
const SETTLE_FILES: usize = 8;
/// How often a search that waits for another one looks whether it was cancelled.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// An index and what is newer than it.
pub(crate) struct MountIndex {
    index: Arc<dyn Index>,
    overlay: Mutex<Overlay>,
}

/// The view of the last search.
#[derive(Default)]
struct Overlay {
    base: Option<Arc<dyn IndexView>>,
    view: Option<Arc<dyn IndexView>>,
    checks: BTreeMap<String, FileCheck>,
    /// What the view shows that its base does not.
    content: Vec<(String, Option<Version>)>,
    /// When `content` last changed.
    changed: Option<Timestamp>,
}

impl MountIndex {
    pub(super) fn new(index: Arc<dyn Index>) -> Self {
        MountIndex { index, overlay: Mutex::default() }
    }

    pub(super) fn index(&self) -> &dyn Index {
        &*self.index
    }

    /// Discards the index: the next view is made from the files alone.
    pub(super) fn forget(&self) -> Result<()> {
        *self.overlay() = Overlay::default();
        self.index.forget()
    }

    fn overlay(&self) -> MutexGuard<'_, Overlay> {
        self.overlay.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Like [`MountIndex::overlay`], for a call that can be cancelled: another one may be waiting for another process's lock with it.
    fn overlay_or_stop(&self, indexer: &Indexer<'_>) -> Result<MutexGuard<'_, Overlay>> {
        loop {
            match self.overlay.try_lock() {
                Ok(overlay) => return Ok(overlay),
                Err(TryLockError::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => {
                    indexer.store.check_stopped()?;
                    std::thread::sleep(LOOK_EVERY);
                }
            }
        }
    }

    /// Returns a view with everything that was on disk when `entries` were listed.
    pub(super) fn view(&self, indexer: &Indexer<'_>, entries: &[Entry], progress: &indexing::Progress<'_>) -> Result<Arc<dyn IndexView>> {
        let mut overlay = self.overlay_or_stop(indexer)?;
        for written in 0..ATTEMPTS {
            let base = self.index.view()?;
            let stale = StaleFiles::compare(indexer.files(entries), &*base);
            // What was just written equals the files, except for stamps that are too recent to be trusted. If the index was damaged
            // meanwhile, it is written again.
            if written > 0 && stale.changed.len() + stale.gone.len() <= OVERLAY_FILES {
                *overlay = Overlay { base: Some(base.clone()), view: Some(base.clone()), ..Overlay::default() };
                if stale.changed.is_empty() && stale.gone.is_empty() {
                    return Ok(base);
                }
                return self.overlaid(&mut overlay, indexer, entries, base, &StaleFiles { doubtful: Vec::new(), ..stale });
            }
            if !is_large(&mut overlay, indexer, entries, &stale)
                || written + 1 == ATTEMPTS
                || !matches!(indexer.update(&*self.index, entries, Wait::Yes, progress), Ok(Some(_)))
            {
                return self.overlaid(&mut overlay, indexer, entries, base, &stale);
            }
        }
        Err(no_view())
    }

    /// Lays the stale files over a view of the index.
    fn overlaid(
        &self,
        overlay: &mut Overlay,
        indexer: &Indexer<'_>,
        entries: &[Entry],
        base: Arc<dyn IndexView>,
        stale: &StaleFiles,
    ) -> Result<Arc<dyn IndexView>> {
        let to_check = unchecked(overlay, &stamps(indexer, entries, stale), stale);
        if !to_check.is_empty() {
            let checks = indexer.check_all(&to_check, &*base, &mut indexer.preparer())?;
            overlay.checks.extend(checks);
        }
        overlay.checks.retain(|name, _| is_stale(stale, name));
        let content = overlay_content(&overlay.checks);
        let same_base = overlay.base.as_ref().is_some_and(|before| Arc::ptr_eq(before, &base));
        if !same_base || overlay.view.is_none() || overlay.content != content {
            let changes = indexing::changes(&overlay.checks);
            overlay.view = Some(if changes.is_empty() { base.clone() } else { self.index.overlay(&base, &changes)? });
            overlay.base = Some(base);
            if overlay.content != content {
                overlay.changed = Some(indexer.clock.now());
            }
            overlay.content = content;
        }
        overlay.view.clone().ok_or_else(no_view)
    }

    /// Writes the overlay into the index if it is worth it and no other process is writing. Returns whether it was written.
    pub(super) fn settle(&self, indexer: &Indexer<'_>) -> Result<bool> {
        let checks = {
            let overlay = self.overlay();
            if overlay.checks.len() < SETTLE_FILES {
                return Ok(false);
            }
            overlay.checks.clone()
        };
        indexer.settle(&*self.index, &checks)
    }

    /// When what searches see last changed: in the index, or in the files laid over it.
    pub(super) fn changed(&self) -> Option<Timestamp> {
        let overlay = self.overlay();
        let laid_over = overlay.changed.filter(|_| !overlay.content.is_empty());
        laid_over.max(self.written())
    }

    /// When the index on disk last changed.
    pub(super) fn written(&self) -> Option<Timestamp> {
        self.index.changed().and_then(|time| Timestamp::try_from(time).ok())
    }

    /// Whether the overlay is large enough to be worth writing.
    pub(super) fn is_worth_settling(&self) -> bool {
        self.overlay().checks.len() >= SETTLE_FILES
    }
}

fn no_view() -> Error {
    Error::Unavailable { what: "search".into(), why: "the index is not open".into() }
}

/// Whether so many files must be checked that they are written at once.
fn is_large(overlay: &mut Overlay, indexer: &Indexer<'_>, entries: &[Entry], stale: &StaleFiles) -> bool {
    let stamps = stamps(indexer, entries, stale);
    let to_check = unchecked(overlay, &stamps, stale);
    let bytes: u64 = to_check.changed.iter().chain(&to_check.doubtful).filter_map(|name| stamps.get(name.as_str())).map(|s| s.size).sum();
    to_check.len() > OVERLAY_FILES || bytes > OVERLAY_BYTES
}

/// The stamps of the stale files.
fn stamps<'a>(indexer: &'a Indexer<'_>, entries: &'a [Entry], stale: &StaleFiles) -> BTreeMap<&'a str, Stamp> {
    if stale.is_empty() {
        return BTreeMap::new();
    }
    indexer.files(entries).filter(|(name, _)| is_stale(stale, name)).collect()
}

fn is_stale(stale: &StaleFiles, name: &str) -> bool {
    let has = |names: &Vec<String>| names.binary_search_by(|other| other.as_str().cmp(name)).is_ok();
    [&stale.changed, &stale.doubtful, &stale.gone].into_iter().any(has)
}

/// The stale files without those whose earlier check is still current. Forgets the other checks.
fn unchecked(overlay: &mut Overlay, stamps: &BTreeMap<&str, Stamp>, stale: &StaleFiles) -> StaleFiles {
    overlay.checks.retain(|name, check| is_current(check, stamps.get(name.as_str()).copied()));
    let rest = |names: &[String]| names.iter().filter(|name| !overlay.checks.contains_key(*name)).cloned().collect();
    StaleFiles { changed: rest(&stale.changed), doubtful: rest(&stale.doubtful), gone: rest(&stale.gone) }
}

/// The changes of an overlay, by which two overlays are compared.
fn overlay_content(checks: &BTreeMap<String, FileCheck>) -> Vec<(String, Option<Version>)> {
    let content = |(name, check): (&String, &FileCheck)| match check {
        FileCheck::New(file) => Some((name.clone(), Some(file.version))),
        FileCheck::Gone => Some((name.clone(), None)),
        FileCheck::Same(..) => None,
    };
    checks.iter().filter_map(content).collect()
}

/// Whether a check still describes the file with this stamp.
fn is_current(check: &FileCheck, stamp: Option<Stamp>) -> bool {
    match (check, stamp) {
        (FileCheck::New(file), Some(stamp)) => file.stamp == stamp && !is_racy(stamp, file.seen_ns),
        (FileCheck::Same(seen, seen_ns), Some(stamp)) => *seen == stamp && !is_racy(stamp, *seen_ns),
        (FileCheck::Gone, None) => true,
        _ => false,
    }
}
