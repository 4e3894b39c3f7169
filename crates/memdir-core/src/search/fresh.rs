//! Keeps one mount's view of the index in step with its files: a handful of changed files is overlaid in memory before
//! the answer and written to the index after it; many are written at once.

use crate::{
    base::{error::Result, stamp::Stamp, version::Version},
    search::{
        index::{Index, View, Wait},
        indexing::{self, Difference, Indexer, Look, is_racy},
    },
    store::Entry,
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

/// Changed files, and bytes of them, that are overlaid rather than written before the answer.
const OVERLAY_FILES: usize = 48;
const OVERLAY_BYTES: u64 = 512 << 10;
/// How often the index is written before an answer, where others damage it meanwhile.
const ATTEMPTS: usize = 4;
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
    /// What the view shows that its base does not.
    shows: Vec<(String, Option<Version>)>,
}

impl Fresh {
    pub(super) fn new(index: Arc<dyn Index>) -> Self {
        Fresh { index, kept: Mutex::default() }
    }

    pub(super) fn index(&self) -> &dyn Index {
        &*self.index
    }

    /// Gives the index up: the next view is made from the files alone.
    pub(super) fn forget(&self) -> Result<()> {
        *self.kept() = Kept::default();
        self.index.forget()
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A view with everything that was on disk when the files were listed.
    pub(super) fn view(&self, indexer: &Indexer<'_>, entries: &[Entry], progress: &indexing::Progress<'_>) -> Result<Arc<dyn View>> {
        let mut kept = self.kept();
        for written in 0..ATTEMPTS {
            let base = self.index.view()?;
            let difference = Difference::of(indexer.files(entries), &*base);
            // What was just written is what the files are, but for times that are too near to be believed. Not if the index
            // was damaged meanwhile: then it is written again.
            if written > 0 && difference.changed.len() + difference.gone.len() <= OVERLAY_FILES {
                *kept = Kept { base: Some(base.clone()), view: Some(base.clone()), ..Kept::default() };
                if difference.changed.is_empty() && difference.gone.is_empty() {
                    return Ok(base);
                }
                return self.overlaid(&mut kept, indexer, entries, base, &Difference { doubtful: Vec::new(), ..difference });
            }
            if !is_much(&mut kept, indexer, entries, &difference)
                || written + 1 == ATTEMPTS
                || !matches!(indexer.update(&*self.index, entries, Wait::Yes, progress), Ok(Some(_)))
            {
                return self.overlaid(&mut kept, indexer, entries, base, &difference);
            }
        }
        Err(crate::base::error::Error::Unavailable { what: "search".into(), why: "there is no view".into() })
    }

    /// A view of the index with what differs laid over it.
    fn overlaid(
        &self,
        kept: &mut Kept,
        indexer: &Indexer<'_>,
        entries: &[Entry],
        base: Arc<dyn View>,
        difference: &Difference,
    ) -> Result<Arc<dyn View>> {
        let to_look = still(kept, &stamps(indexer, entries, difference), difference);
        if !to_look.is_empty() {
            let looks = indexer.look_at(&to_look, &*base, &mut indexer.preparer());
            kept.looks.extend(looks);
        }
        kept.looks.retain(|name, _| differs(difference, name));
        let shows = shown(&kept.looks);
        let same_base = kept.base.as_ref().is_some_and(|before| Arc::ptr_eq(before, &base));
        if !same_base || kept.view.is_none() || kept.shows != shows {
            let changes = indexing::changes(&kept.looks);
            kept.view = Some(if changes.is_empty() { base.clone() } else { self.index.overlay(&base, &changes)? });
            kept.base = Some(base);
            kept.shows = shows;
        }
        kept.view.clone().ok_or_else(|| crate::base::error::Error::Unavailable { what: "search".into(), why: "there is no view".into() })
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

    /// Whether enough is overlaid to be worth writing.
    pub(super) fn is_worth_settling(&self) -> bool {
        self.kept().looks.len() >= SETTLE_FILES
    }

    /// As [`Fresh::settle`], with the usual measure of enough.
    pub(super) fn settle_if_worth(&self, indexer: &Indexer<'_>) -> Result<bool> {
        self.settle(indexer, SETTLE_FILES)
    }
}

/// Whether so much has to be looked at that it is written at once.
fn is_much(kept: &mut Kept, indexer: &Indexer<'_>, entries: &[Entry], difference: &Difference) -> bool {
    let stamps = stamps(indexer, entries, difference);
    let to_look = still(kept, &stamps, difference);
    let bytes: u64 = to_look.changed.iter().chain(&to_look.doubtful).filter_map(|name| stamps.get(name.as_str())).map(|s| s.size).sum();
    to_look.len() > OVERLAY_FILES || bytes > OVERLAY_BYTES
}

/// The stamps of the files that differ.
fn stamps<'a>(indexer: &'a Indexer<'_>, entries: &'a [Entry], difference: &Difference) -> BTreeMap<&'a str, Stamp> {
    if difference.is_empty() {
        return BTreeMap::new();
    }
    indexer.files(entries).filter(|(name, _)| differs(difference, name)).collect()
}

fn differs(difference: &Difference, name: &str) -> bool {
    let named = |names: &Vec<String>| names.binary_search_by(|other| other.as_str().cmp(name)).is_ok();
    [&difference.changed, &difference.doubtful, &difference.gone].into_iter().any(named)
}

/// What has to be looked at, those left out that were and are still the same.
fn still(kept: &mut Kept, stamps: &BTreeMap<&str, Stamp>, difference: &Difference) -> Difference {
    kept.looks.retain(|name, look| is_good(look, stamps.get(name.as_str()).copied()));
    without(difference, &kept.looks)
}

/// The changes of an overlay, as far as two overlays can differ.
fn shown(looks: &BTreeMap<String, Look>) -> Vec<(String, Option<Version>)> {
    let shown = |(name, look): (&String, &Look)| match look {
        Look::New(file) => Some((name.clone(), Some(file.version))),
        Look::Gone => Some((name.clone(), None)),
        Look::Same(..) => None,
    };
    looks.iter().filter_map(shown).collect()
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
