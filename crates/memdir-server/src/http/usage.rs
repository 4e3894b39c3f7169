//! Which of a caller's spaces and sessions are in use, so that the one that has been idle longest is closed first.

use std::sync::Arc;

/// The use of a space or a session.
#[derive(Debug, Default)]
pub(super) struct Usage {
    /// Shared with the requests in progress.
    requests: Arc<()>,
    /// Shared with the open event streams.
    streams: Arc<()>,
    last_used: u64,
}

/// A use in progress.
#[derive(Debug, Clone)]
pub(crate) struct InUse {
    _request_or_stream: Arc<()>,
    streams: Arc<()>,
}

impl Usage {
    /// Begins a use by a request at the time `now`.
    pub(super) fn begin(&mut self, now: u64) -> InUse {
        self.last_used = now;
        InUse { _request_or_stream: self.requests.clone(), streams: self.streams.clone() }
    }

    /// Returns the position in the order of closing, or `None` if a request is in progress. Event streams are closed last: their
    /// clients wait for events, and reconnect.
    pub(super) fn idle_rank(&self) -> Option<(bool, u64)> {
        (Arc::strong_count(&self.requests) == 1).then(|| {
            // A use in progress holds the counter of streams too; without requests, only streams do.
            (Arc::strong_count(&self.streams) > 1, self.last_used)
        })
    }
}

impl InUse {
    /// Turns the use by a request into one by the event stream that is its response.
    pub(crate) fn into_stream(self) -> Self {
        InUse { _request_or_stream: self.streams.clone(), streams: self.streams }
    }
}
