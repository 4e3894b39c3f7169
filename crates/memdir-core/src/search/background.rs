//! What a long-lived process does after its answers: writes what was overlaid, and embeds what has no vector yet. One
//! thread at a time, started when there is something to do and gone when it is done.

use super::Searcher;
use crate::{store::Store, time::Stopwatch};
use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// Files that are embedded before others get a turn at the index.
const STEP_FILES: usize = 64;
/// How long an embedder that failed is left alone.
const REST: Duration = Duration::from_secs(60);

/// What is known of the work that waits.
#[derive(Default)]
pub(super) struct Background {
    running: AtomicBool,
    /// Everything that was there at the last look has its vectors.
    embedded: AtomicBool,
    failed: Mutex<Option<Stopwatch>>,
}

impl Background {
    /// Files have changed: some may have no vectors.
    pub(super) fn changed(&self) {
        self.embedded.store(false, Ordering::SeqCst);
    }

    fn may_embed(&self) -> bool {
        let rested = self.failed.lock().unwrap_or_else(PoisonError::into_inner).is_none_or(|since| since.elapsed() > REST);
        rested && !self.embedded.load(Ordering::SeqCst)
    }
}

impl Searcher {
    /// Starts what waits to be done after an answer, on a thread of its own; nothing if nothing waits or it runs already.
    pub fn work_after(self: &Arc<Self>, store: &Arc<dyn Store>) {
        let Some(background) = &self.background else { return };
        let embeds = self.embedder().is_some() && background.may_embed();
        if !(embeds || self.mounts.iter().any(|mount| mount.fresh.is_worth_settling())) {
            return;
        }
        if background.running.swap(true, Ordering::SeqCst) {
            return;
        }
        let (searcher, store) = (self.clone(), store.clone());
        let started = std::thread::Builder::new().name("memdir-index".into()).spawn(move || searcher.work(&*store));
        if started.is_err() {
            background.running.store(false, Ordering::SeqCst);
        }
    }

    fn work(&self, store: &dyn Store) {
        let Some(background) = &self.background else { return };
        // A failure here costs time and nothing else: the next search overlays again.
        let _ = self.settle(store);
        while background.may_embed() {
            // Set first: a change that comes while we work sets it back.
            background.embedded.store(true, Ordering::SeqCst);
            match self.embed_missing(store, STEP_FILES) {
                Ok(0) => {}
                Ok(_) => background.embedded.store(false, Ordering::SeqCst),
                Err(_) => {
                    background.embedded.store(false, Ordering::SeqCst);
                    *background.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(Stopwatch::start());
                }
            }
        }
        background.running.store(false, Ordering::SeqCst);
    }
}
