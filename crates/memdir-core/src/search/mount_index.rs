//! One mount's index, kept in step with its files: a few changed files are overlaid in memory before the answer and written to the
//! index after it; many are written at once.

use crate::{
    base::{
        error::{Error, Result},
        path::MemoryPath,
        stamp::Stamp,
        version::Version,
    },
    search::{
        index::{Index, IndexView, Wait},
        indexing::{self, FileCheck, Indexer, StaleFiles, is_racy},
        pool::{PoolMember, Unload},
    },
    store::{self, ChangeSequence, Entry, MountChanges, SequencePosition, mounts, stop::lock_or_stop},
};
use jiff::Timestamp;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Changed files, and bytes of them, that are overlaid rather than written before the answer.
const OVERLAY_FILES: usize = 48;
const OVERLAY_BYTES: u64 = 512 << 10;
/// How often the index is written before an answer if other processes damage it meanwhile.
const ATTEMPTS: usize = 4;
/// Overlaid files that are worth writing after the answer: fewer cost the next search less than a write costs now.
const SETTLE_FILES: usize = 8;

/// An index and what is newer than it.
pub(crate) struct MountIndex {
    index: Arc<dyn Index>,
    overlay: Mutex<Overlay>,
    /// The files of a store whose changes are numbered.
    listed: Mutex<Option<ListedFiles>>,
    /// What limits the memory of this index, together with others.
    pooled: Option<PoolMember>,
}

/// The files of a mount at a position.
struct ListedFiles {
    position: SequencePosition,
    entries: Vec<Entry>,
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
        MountIndex { index, overlay: Mutex::default(), listed: Mutex::default(), pooled: None }
    }

    /// Makes an index whose memory a pool limits.
    pub(super) fn pooled(index: Arc<dyn Index>, member: PoolMember) -> Self {
        MountIndex { pooled: Some(member), ..MountIndex::new(index) }
    }

    pub(super) fn index(&self) -> &dyn Index {
        &*self.index
    }

    /// Discards the index: the next view is made from the files alone.
    pub(super) fn forget(&self) -> Result<()> {
        *self.listed.lock().unwrap_or_else(PoisonError::into_inner) = None;
        *self.overlay() = Overlay::default();
        self.index.forget()
    }

    /// The position of the files that the last view shows. Waits for a search that is catching up.
    pub(super) fn position(&self, indexer: &Indexer<'_>) -> Result<Option<SequencePosition>> {
        Ok(lock_or_stop(&self.listed, || indexer.store.check_stopped())?.as_ref().map(|listed| listed.position))
    }

    /// Returns a view with everything up to the position of `changes`, which are those since `known`. Searches that catch up together do
    /// so one after the other, and find the work of the first one done.
    pub(super) fn caught_up(
        &self,
        indexer: &Indexer<'_>,
        sequence: &dyn ChangeSequence,
        known: Option<SequencePosition>,
        changes: MountChanges,
    ) -> Result<Arc<dyn IndexView>> {
        let mut listed = lock_or_stop(&self.listed, || indexer.store.check_stopped())?;
        let is_searched = |path: &MemoryPath| mounts::file_kind(indexer.store, path).is_searched();
        // Taken out: if this call fails, the next one lists the files.
        let (files, is_unchanged) = match (listed.take(), known, changes.files) {
            (Some(files), ..) if files.position == changes.position => (files, true),
            // Another search has caught up meanwhile.
            (Some(files), known, _) if Some(files.position) != known && files.position.sequence >= changes.position.sequence => {
                (files, true)
            }
            // Changes since an earlier position are more than are needed, and their stamps are those of now.
            (Some(files), Some(known), Some(changed)) if known.sequence <= files.position.sequence => {
                let mut entries = files.entries;
                store::apply_changes(&mut entries, changed.into_iter().filter(|(path, _)| is_searched(path)).collect());
                (ListedFiles { position: changes.position, entries }, false)
            }
            _ => {
                let (position, mut entries) = sequence.list_mount(indexer.prefix)?;
                entries.retain(|entry| is_searched(&entry.path));
                (ListedFiles { position, entries }, false)
            }
        };
        let view = match self.unchanged_view(indexer, is_unchanged)? {
            Some(view) => view,
            None => self.view(indexer, &files.entries, &|progress| self.pooled.iter().for_each(|member| member.report(progress)))?,
        };
        let bytes: usize = files.entries.iter().map(|entry| size_of::<Entry>() + entry.path.as_str().len()).sum();
        *listed = Some(files);
        drop(listed);
        if let Some(member) = &self.pooled {
            member.used(bytes as u64 + view.resident_bytes());
        }
        Ok(view)
    }

    /// Returns the last view if the files are those it shows, and the index was not written since.
    fn unchanged_view(&self, indexer: &Indexer<'_>, same_files: bool) -> Result<Option<Arc<dyn IndexView>>> {
        let overlay = self.overlay_or_stop(indexer)?;
        let base = self.index.view()?;
        let same_base = overlay.base.as_ref().is_some_and(|before| Arc::ptr_eq(before, &base));
        Ok(overlay.view.clone().filter(|_| same_files && same_base))
    }

    fn overlay(&self) -> MutexGuard<'_, Overlay> {
        self.overlay.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Like [`MountIndex::overlay`], for a call that can be cancelled: another one may be waiting for another process's lock with it.
    fn overlay_or_stop(&self, indexer: &Indexer<'_>) -> Result<MutexGuard<'_, Overlay>> {
        lock_or_stop(&self.overlay, || indexer.store.check_stopped())
    }

    /// Returns a view with everything that was on disk when `entries` were listed.
    pub(super) fn view(&self, indexer: &Indexer<'_>, entries: &[Entry], progress: &indexing::Progress<'_>) -> Result<Arc<dyn IndexView>> {
        let mut overlay = self.overlay_or_stop(indexer)?;
        for written in 0..ATTEMPTS {
            let base = self.index.view()?;
            let stale = indexer.stale_files(entries, &*base);
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
        let to_check = unchecked(overlay, indexer, &stamps(indexer, entries, stale), stale);
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

impl Unload for MountIndex {
    fn try_unload(&self) -> bool {
        let (Ok(mut listed), Ok(mut overlay)) = (self.listed.try_lock(), self.overlay.try_lock()) else { return false };
        (*listed, *overlay) = (None, Overlay::default());
        self.index.close();
        true
    }
}

fn no_view() -> Error {
    Error::unavailable("cannot search", "the index is not open")
}

/// Whether so many files must be checked that they are written at once.
fn is_large(overlay: &mut Overlay, indexer: &Indexer<'_>, entries: &[Entry], stale: &StaleFiles) -> bool {
    let stamps = stamps(indexer, entries, stale);
    let to_check = unchecked(overlay, indexer, &stamps, stale);
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
fn unchecked(overlay: &mut Overlay, indexer: &Indexer<'_>, stamps: &BTreeMap<&str, Stamp>, stale: &StaleFiles) -> StaleFiles {
    let exact = indexer.has_exact_stamps();
    overlay.checks.retain(|name, check| is_current(check, stamps.get(name.as_str()).copied(), exact));
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
fn is_current(check: &FileCheck, stamp: Option<Stamp>, exact: bool) -> bool {
    match (check, stamp) {
        (FileCheck::New(file), Some(stamp)) => file.stamp == stamp && (exact || !is_racy(stamp, file.seen_ns)),
        (FileCheck::Same(seen, seen_ns), Some(stamp)) => *seen == stamp && (exact || !is_racy(stamp, *seen_ns)),
        (FileCheck::Gone, None) => true,
        _ => false,
    }
}
