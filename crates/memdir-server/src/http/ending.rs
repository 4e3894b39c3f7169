//! How far the end of the server is. A proxy must notice it before requests are refused: a request that is sent on a connection which the
//! server just closed is lost to its client.

use tokio_util::sync::CancellationToken;

/// The stages of the server's end. A handle: clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct EndingState {
    /// Cancelled when the server has been asked to end. Requests are still answered, `/readyz` reports that it is not ready, and each
    /// response closes its connection.
    pub(super) leaving: CancellationToken,
    /// Cancelled when the server ends: requests that have begun are finished, others are refused.
    pub(super) draining: CancellationToken,
}
