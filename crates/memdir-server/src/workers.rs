//! A lazily grown LIFO thread pool for blocking work; threads are never stopped.
//!
//! What a call leaves in the allocator stays with its thread. Sequential calls therefore stay on one thread; otherwise a long
//! session would slowly fill the arenas of every thread in the pool.

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

/// The return value of a job, or the payload of its panic.
pub(crate) type JobResult<T> = Result<T, Box<dyn Any + Send>>;

/// A job runs and returns the closure that delivers its result.
type Job = Box<dyn FnOnce() -> Deliver + Send>;
type Deliver = Box<dyn FnOnce() + Send>;

pub(crate) struct WorkerPool {
    max_threads: usize,
    state: Mutex<PoolState>,
}

#[derive(Default)]
struct PoolState {
    started: usize,
    /// The idle threads; the one that became idle last is at the end.
    idle: Vec<Sender<Job>>,
    queue: VecDeque<Job>,
}

impl WorkerPool {
    /// Creates a pool of at most `max_threads` threads. None is started before the first job.
    pub(crate) fn new(max_threads: usize) -> Arc<Self> {
        Arc::new(WorkerPool { max_threads, state: Mutex::default() })
    }

    /// Runs `work` as soon as a thread is free. The channel closes without a result only if no thread can be started.
    pub(crate) fn run<T: Send + 'static>(self: &Arc<Self>, work: impl FnOnce() -> T + Send + 'static) -> oneshot::Receiver<JobResult<T>> {
        let (sender, receiver) = oneshot::channel();
        self.submit(Box::new(move || {
            let result = catch_unwind(AssertUnwindSafe(work));
            Box::new(move || {
                // The receiver may have been dropped.
                let _ = sender.send(result);
            })
        }));
        receiver
    }

    fn submit(self: &Arc<Self>, job: Job) {
        let mut state = self.state();
        let job = match state.idle.pop() {
            None => job,
            Some(worker) => match worker.send(job) {
                Ok(()) => return,
                Err(unsent) => unsent.0,
            },
        };
        state.queue.push_back(job);
        if state.started < self.max_threads {
            let pool = self.clone();
            let spawned = thread::Builder::new().name("memdir-call".into()).spawn(move || pool.work());
            match spawned {
                Ok(_) => state.started += 1,
                // A running thread takes the job from the queue; without one it would wait forever.
                Err(_) if state.started > 0 => {}
                Err(_) => drop(state.queue.pop_back()),
            }
        }
    }

    fn work(self: Arc<Self>) {
        let (own, jobs) = mpsc::channel();
        let mut next = self.next_or_idle(&own);
        loop {
            let Some(job) = next.take().or_else(|| jobs.recv().ok()) else { return };
            let deliver = job();
            // The thread is idle before its result is delivered, so that the call that follows gets this thread again.
            next = self.next_or_idle(&own);
            deliver();
        }
    }

    /// Returns the next job of the queue. If the queue is empty, returns `None` and registers the thread as idle.
    fn next_or_idle(&self, own: &Sender<Job>) -> Option<Job> {
        let mut state = self.state();
        let job = state.queue.pop_front();
        if job.is_none() {
            state.idle.push(own.clone());
        }
        job
    }

    fn state(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeSet, sync::Barrier};

    #[test]
    fn sequential_jobs_stay_on_one_thread() {
        let pool = WorkerPool::new(8);
        let threads: BTreeSet<String> =
            (0..1_000).map(|_| pool.run(|| format!("{:?}", thread::current().id())).blocking_recv().unwrap().unwrap()).collect();
        assert_eq!(threads.len(), 1);
    }

    #[test]
    fn concurrent_jobs_get_their_own_threads_up_to_the_maximum() {
        let pool = WorkerPool::new(4);
        let together = Arc::new(Barrier::new(4));
        let all: Vec<_> = (0..40)
            .map(|n| {
                let together = together.clone();
                pool.run(move || {
                    together.wait();
                    n
                })
            })
            .collect();
        let results: Vec<i32> = all.into_iter().map(|receiver| receiver.blocking_recv().unwrap().unwrap()).collect();
        assert_eq!(results, (0..40).collect::<Vec<_>>());
        assert_eq!(pool.state().started, 4);
    }

    #[test]
    fn a_panic_is_returned_and_its_thread_keeps_working() {
        let pool = WorkerPool::new(1);
        let failed: JobResult<()> = pool.run(|| std::panic::resume_unwind(Box::new("no"))).blocking_recv().unwrap();
        assert!(failed.is_err());
        assert_eq!(pool.run(|| 1).blocking_recv().unwrap().unwrap(), 1);
    }
}
