//! The work that a long-lived process does after its answers: writing overlays into the index and embedding what has no vector
//! yet. All of it runs on one thread that is never stopped, because an allocator keeps memory for every thread there ever was.

use crate::base::{error::Result, time::Stopwatch};
use std::{
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Sender},
    },
    time::Duration,
};

/// The time for which an embedder is not called after it failed.
const REST: Duration = Duration::from_secs(60);

/// The state of the background work of one searcher.
#[derive(Default)]
pub(super) struct Background {
    running: AtomicBool,
    /// Everything that was there at the last check has its vectors.
    embedded: AtomicBool,
    failed: Mutex<Option<Stopwatch>>,
}

impl Background {
    /// Records that files have changed, so that some may have no vectors.
    pub(super) fn files_changed(&self) {
        self.embedded.store(false, Ordering::SeqCst);
    }

    /// Whether there may be something to embed, and the embedder did not fail just now.
    pub(super) fn may_embed(&self) -> bool {
        let rested = self.failed.lock().unwrap_or_else(PoisonError::into_inner).is_none_or(|since| since.elapsed() > REST);
        rested && !self.embedded.load(Ordering::SeqCst)
    }

    /// Marks the work as running. Returns `false` if it runs already.
    pub(super) fn begin(&self) -> bool {
        !self.running.swap(true, Ordering::SeqCst)
    }

    /// Marks the work as finished.
    pub(super) fn end(&self) {
        self.running.store(false, Ordering::SeqCst);
    }

    /// Embeds in steps until nothing is left or a step fails; `step` returns the number of files it embedded.
    pub(super) fn embed_all(&self, step: impl Fn() -> Result<usize>) {
        while self.may_embed() {
            // Set first: a change that arrives meanwhile resets it.
            self.embedded.store(true, Ordering::SeqCst);
            match step() {
                Ok(0) => {}
                Ok(_) => self.embedded.store(false, Ordering::SeqCst),
                Err(_) => {
                    self.embedded.store(false, Ordering::SeqCst);
                    *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(Stopwatch::start());
                }
            }
        }
    }
}

type BackgroundJob = Box<dyn FnOnce() + Send>;

/// Queues a job for the background thread. Returns `false` if the thread cannot be started.
pub(super) fn spawn(job: impl FnOnce() + Send + 'static) -> bool {
    thread().is_some_and(|jobs| jobs.send(Box::new(job)).is_ok())
}

/// The queue of the thread, which is started when it is first needed.
fn thread() -> Option<&'static Sender<BackgroundJob>> {
    static THREAD: OnceLock<Option<Sender<BackgroundJob>>> = OnceLock::new();
    let start = || {
        let (send, jobs) = mpsc::channel::<BackgroundJob>();
        let work = move || jobs.into_iter().for_each(|job| job());
        std::thread::Builder::new().name("memdir-index".into()).spawn(work).ok().map(|_| send)
    };
    THREAD.get_or_init(start).as_ref()
}
