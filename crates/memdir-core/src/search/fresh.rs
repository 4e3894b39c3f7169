//! Keeps one mount's view of the index in step with its files: a handful of changed files is overlaid in memory before
//! the answer and written to the index after it; many are written at once.

use crate::{
    error::Result,
    index::{Index, View, Wait},
    indexer::{self, Difference, Indexer, Look, Preparer, is_racy},
    store::{Entry, Stamp},
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

/// Changed files, and bytes of them, that are overlaid rather than written before the answer.
const OVERLAY_FILES: usize = 48;
const OVERLAY_BYTES: u64 = 512 << 10;
/// Overlaid files that are worth writing after the answer: fewer cost the next search less than a write costs now.
const SETTLE_FILES: usize = 8;

/// One mount's index and what is newer than it.
pub(super) struct Fresh {
    index: Arc<dyn Index>,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    base: Option<Arc<dyn View>>,
    view: Option<Arc<dyn View>>,
    looks: BTreeMap<String, Look>,
}

impl Fresh {
    pub(super) fn new(index: Arc<dyn Index>) -> Self {
        Fresh { index, kept: Mutex::default() }
    }

    pub(super) fn index(&self) -> &dyn Index {
        &*self.index
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A view with everything that was on disk when the files were listed.
    pub(super) fn view(&self, indexer: &Indexer<'_>, entries: &[Entry], progress: &indexer::Progress<'_>) -> Result<Arc<dyn View>> {
        let mut kept = self.kept();
        let base = self.index.view()?;
        let difference = Difference::of(indexer.files(entries), &*base);
        let stamps: BTreeMap<&str, Stamp> = match difference.is_empty() {
            true => BTreeMap::new(),
            false => indexer.files(entries).collect(),
        };
        kept.looks.retain(|name, look| is_good(look, stamps.get(name.as_str()).copied()));
        let to_look = without(&difference, &kept.looks);
        let bytes: u64 = to_look.changed.iter().chain(&to_look.doubtful).filter_map(|name| stamps.get(name.as_str())).map(|s| s.size).sum();
        if (to_look.len() > OVERLAY_FILES || bytes > OVERLAY_BYTES)
            && let Ok(Some(_)) = indexer.update(&*self.index, entries, Wait::Yes, progress)
        {
            let view = self.index.view()?;
            *kept = Kept { base: Some(view.clone()), view: Some(view.clone()), looks: BTreeMap::new() };
            return Ok(view);
        }
        let mut preparer: Option<Preparer<'_>> = None;
        let mut changed = !kept.base.as_ref().is_some_and(|before| Arc::ptr_eq(before, &base)) || kept.view.is_none();
        if !to_look.is_empty() {
            let looks = indexer.look_at(&to_look, &*base, preparer.get_or_insert_with(|| indexer.preparer()));
            changed |= looks.values().any(|look| !matches!(look, Look::Same(..)));
            kept.looks.extend(looks);
        }
        let needed = |name: &String| {
            difference.changed.binary_search(name).is_ok()
                || difference.doubtful.binary_search(name).is_ok()
                || difference.gone.binary_search(name).is_ok()
        };
        let before = kept.looks.len();
        kept.looks.retain(|name, _| needed(name));
        changed |= kept.looks.len() != before;
        if changed {
            let changes = indexer::changes(&kept.looks);
            kept.view = Some(if changes.is_empty() { base.clone() } else { self.index.overlay(&base, &changes)? });
            kept.base = Some(base);
        }
        kept.view.clone().ok_or_else(|| crate::Error::Unavailable { what: "search".into(), why: "there is no view".into() })
    }

    /// Writes what is overlaid into the index, when it is enough to be worth it and nobody else is writing.
    pub(super) fn settle(&self, indexer: &Indexer<'_>, least: usize) -> Result<bool> {
        let looks = {
            let kept = self.kept();
            if kept.looks.len() < least.max(1) {
                return Ok(false);
            }
            kept.looks.clone()
        };
        indexer.settle(&*self.index, &looks)
    }

    /// As [`Fresh::settle`], with the usual measure of enough.
    pub(super) fn settle_if_worth(&self, indexer: &Indexer<'_>) -> Result<bool> {
        self.settle(indexer, SETTLE_FILES)
    }
}

/// Whether what was looked at is still what the file is.
fn is_good(look: &Look, stamp: Option<Stamp>) -> bool {
    match (look, stamp) {
        (Look::New(file), Some(stamp)) => file.stamp == stamp && !is_racy(stamp, file.seen_ns),
        (Look::Same(seen, seen_ns), Some(stamp)) => *seen == stamp && !is_racy(stamp, *seen_ns),
        (Look::Gone, None) => true,
        _ => false,
    }
}

/// What still has to be looked at.
fn without(difference: &Difference, looks: &BTreeMap<String, Look>) -> Difference {
    let rest = |names: &[String]| names.iter().filter(|name| !looks.contains_key(*name)).cloned().collect();
    Difference { changed: rest(&difference.changed), doubtful: rest(&difference.doubtful), gone: rest(&difference.gone) }
}
