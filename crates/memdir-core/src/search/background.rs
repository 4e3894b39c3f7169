//! What a long-lived process does after its answers: writes what was overlaid, and embeds what has no vector yet. All of it on
//! one thread that stays: what an allocator keeps for a thread would otherwise be kept for each new one.

use super::Searcher;
use crate::{base::time::Stopwatch, store::Store};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Sender},
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
        let job = Box::new(move || {
            // Work that breaks off must not keep later work from being done.
            let _ = catch_unwind(AssertUnwindSafe(|| searcher.work(&*store)));
            searcher.background.iter().for_each(|background| background.running.store(false, Ordering::SeqCst));
        });
        if thread().is_none_or(|jobs| jobs.send(job).is_err()) {
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
    }
}

type Job = Box<dyn FnOnce() + Send>;

/// The thread, started when it is first needed; nothing if none can be had.
fn thread() -> Option<&'static Sender<Job>> {
    static THREAD: OnceLock<Option<Sender<Job>>> = OnceLock::new();
    let start = || {
        let (send, jobs) = mpsc::channel::<Job>();
        let work = move || jobs.into_iter().for_each(|job| job());
        std::thread::Builder::new().name("memdir-index".into()).spawn(work).ok().map(|_| send)
    };
    THREAD.get_or_init(start).as_ref()
}
