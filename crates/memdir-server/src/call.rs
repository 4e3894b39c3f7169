//! Runs blocking calls off the async thread: within the limits of their caller, with a time limit, stopped once the caller no
//! longer waits, and with a panic that fails one call only.

mod slots;

pub(crate) use slots::{CallKind, CallLimits, CallSlots, CallerLimits};

use crate::workers::WorkerPool;
use memdir_core::internal::{store::stop::Stop, tools::ToolResult};
use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

/// Seconds after which a call is answered in any case. Hosts give up after 60.
pub(crate) const CALL_SECS: u64 = 55;

/// Why a call has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CallFailure {
    #[error("the call was cancelled")]
    Cancelled,
    #[error("the call was stopped after {CALL_SECS} seconds without a result; check what was saved before you try again")]
    TimedOut,
    #[error("too many calls are waiting; try again after some of them have finished")]
    TooMany,
    #[error("internal error in memdir; check whether the call has saved its change before you try again, and report the error")]
    Panicked,
}

impl From<CallFailure> for ToolResult {
    fn from(failure: CallFailure) -> Self {
        ToolResult::failure(failure.to_string())
    }
}

/// Runs `work` on a thread of the pool once its caller has a free slot. If `cancelled` completes first, or time is up, `stop` ends
/// the work at its next step; it keeps its slot until it has ended.
pub(crate) async fn run_blocking<T: Send + 'static>(
    workers: &Arc<WorkerPool>,
    (slots, kind): (&CallSlots, CallKind),
    stop: Stop,
    cancelled: impl Future<Output = ()>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, CallFailure> {
    let _stop = StopOnDrop(stop);
    let running = async {
        let slot = slots.acquire(kind).await?;
        let job = move || {
            let _slot = slot;
            work()
        };
        match workers.run(job).await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(_)) | Err(_) => Err(CallFailure::Panicked),
        }
    };
    tokio::select! {
        result = running => result,
        () = cancelled => Err(CallFailure::Cancelled),
        () = tokio::time::sleep(Duration::from_secs(CALL_SECS)) => Err(CallFailure::TimedOut),
    }
}

/// Stops the work when the future that waits for it is dropped.
struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Counts the running tool calls of one space, and of all spaces of the process.
#[derive(Clone, Default)]
pub(crate) struct CallCounter {
    own: Arc<AtomicUsize>,
    total: Arc<AtomicUsize>,
}

impl CallCounter {
    /// Returns a counter for another space of the same process.
    pub(crate) fn sibling(&self) -> Self {
        CallCounter { own: Arc::default(), total: self.total.clone() }
    }

    /// Counts a call until the returned guard is dropped.
    pub(crate) fn begin(&self) -> RunningCall {
        self.own.fetch_add(1, Ordering::Relaxed);
        self.total.fetch_add(1, Ordering::Relaxed);
        RunningCall(self.clone())
    }

    /// Returns the number of running calls of this space.
    pub(crate) fn own(&self) -> usize {
        self.own.load(Ordering::Relaxed)
    }

    /// Returns the number of running calls of the process.
    pub(crate) fn total(&self) -> usize {
        self.total.load(Ordering::Relaxed)
    }
}

/// A running call.
pub(crate) struct RunningCall(CallCounter);

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.0.own.fetch_sub(1, Ordering::Relaxed);
        self.0.total.fetch_sub(1, Ordering::Relaxed);
    }
}
