//! Runs blocking work off the async thread: within a bounded time, ended when nobody waits for it any more, and with a
//! panic as a failure of that call alone.

use crate::workers::Workers;
use memdir_core::{store::stop::Stop, tools::ToolResult};
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

/// Why a call gave no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Failed {
    #[error("the call was cancelled")]
    Cancelled,
    #[error("no answer within {CALL_SECS} seconds; the call was ended. Read what is there before you try again")]
    Late,
    #[error("memdir failed inside this call, and only in it. Nothing is half done; try another way, and report it")]
    Panicked,
}

impl From<Failed> for ToolResult {
    fn from(failed: Failed) -> Self {
        ToolResult::failure(failed.to_string())
    }
}

/// Runs `work` on one of these threads. When `gone` is ready first, or time is up, `stop` ends it at its next step.
pub(crate) async fn off_thread<T: Send + 'static>(
    workers: &Arc<Workers>,
    stop: Stop,
    gone: impl Future<Output = ()>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failed> {
    let _ended = StopOnDrop(stop);
    let running = workers.run(work);
    tokio::select! {
        done = running => match done {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(_)) | Err(_) => Err(Failed::Panicked),
        },
        () = gone => Err(Failed::Cancelled),
        () = tokio::time::sleep(Duration::from_secs(CALL_SECS)) => Err(Failed::Late),
    }
}

/// Whoever stops waiting, in whichever way, ends the work.
struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Counts a running call.
pub(crate) struct Busy(Arc<AtomicUsize>);

impl Busy {
    pub(crate) fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Busy(count.clone())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
