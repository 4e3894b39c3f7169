//! Threads for blocking work: as few as there is work at one time, and whoever worked last is asked first. Never ends one.
//!
//! What a call leaves in an allocator stays with its thread. Calls that follow one another therefore stay on one thread,
//! or a long session would slowly fill every thread it may use.

use std::{
    any::Any,
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{self, Sender},
    },
    thread,
};
use tokio::sync::oneshot;

/// What came of some work: its answer, or its panic.
pub(crate) type Done<T> = Result<T, Box<dyn Any + Send>>;

/// Work that, once done, hands back how to tell about it.
type Job = Box<dyn FnOnce() -> Tell + Send>;
type Tell = Box<dyn FnOnce() + Send>;

pub(crate) struct Workers {
    most: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    started: usize,
    /// The last one has worked last.
    idle: Vec<Sender<Job>>,
    waiting: VecDeque<Job>,
}

impl Workers {
    /// At most so many threads; none is started before there is work.
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Workers { most, state: Mutex::default() })
    }

    /// Does some work as soon as a thread is free. The channel closes without an answer only if no thread can be had.
    pub(crate) fn run<T: Send + 'static>(self: &Arc<Self>, work: impl FnOnce() -> T + Send + 'static) -> oneshot::Receiver<Done<T>> {
        let (told, tells) = oneshot::channel();
        self.begin(Box::new(move || {
            let done = catch_unwind(AssertUnwindSafe(work));
            Box::new(move || {
                // Whoever asked may have gone.
                let _ = told.send(done);
            })
        }));
        tells
    }

    fn begin(self: &Arc<Self>, job: Job) {
        let mut state = self.state();
        let job = match state.idle.pop() {
            None => job,
            Some(worker) => match worker.send(job) {
                Ok(()) => return,
                Err(unsent) => unsent.0,
            },
        };
        state.waiting.push_back(job);
        if state.started < self.most {
            let workers = self.clone();
            let started = thread::Builder::new().name("memdir-call".into()).spawn(move || workers.work());
            match started {
                Ok(_) => state.started += 1,
                // Others will come to it; without any, nobody would.
                Err(_) if state.started > 0 => {}
                Err(_) => drop(state.waiting.pop_back()),
            }
        }
    }

    fn work(self: Arc<Self>) {
        let (own, jobs) = mpsc::channel();
        let mut next = self.next(&own);
        loop {
            let Some(job) = next.take().or_else(|| jobs.recv().ok()) else { return };
            let tell = job();
            // Free before the answer is known: the call that follows from it finds this thread again.
            next = self.next(&own);
            tell();
        }
    }

    /// What waits, or else nothing, and the thread is known to be free.
    fn next(&self, own: &Sender<Job>) -> Option<Job> {
        let mut state = self.state();
        let job = state.waiting.pop_front();
        if job.is_none() {
            state.idle.push(own.clone());
        }
        job
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeSet, sync::Barrier};

    #[test]
    fn work_that_follows_work_stays_on_one_thread() {
        let workers = Workers::new(8);
        let threads: BTreeSet<String> =
            (0..1_000).map(|_| workers.run(|| format!("{:?}", thread::current().id())).blocking_recv().unwrap().unwrap()).collect();
        assert_eq!(threads.len(), 1);
    }

    #[test]
    fn work_at_one_time_has_threads_of_its_own_up_to_the_most() {
        let workers = Workers::new(4);
        let together = Arc::new(Barrier::new(4));
        let all: Vec<_> = (0..40)
            .map(|n| {
                let together = together.clone();
                workers.run(move || {
                    together.wait();
                    n
                })
            })
            .collect();
        let done: Vec<i32> = all.into_iter().map(|told| told.blocking_recv().unwrap().unwrap()).collect();
        assert_eq!(done, (0..40).collect::<Vec<_>>());
        assert_eq!(workers.state().started, 4);
    }

    #[test]
    fn a_panic_is_told_and_its_thread_works_on() {
        let workers = Workers::new(1);
        let failed: Done<()> = workers.run(|| std::panic::resume_unwind(Box::new("no"))).blocking_recv().unwrap();
        assert!(failed.is_err());
        assert_eq!(workers.run(|| 1).blocking_recv().unwrap().unwrap(), 1);
    }
}
