//! Whether the server can answer requests, for load balancers. The answer is kept for a second: anyone may ask.

use super::caller::CallerDirectory;
use memdir_core::internal::base::time::Stopwatch;
use std::{sync::Arc, time::Duration};
use tokio::{sync::Mutex, time::timeout};

/// For how long an answer is kept.
const KEPT: Duration = Duration::from_secs(1);
/// Seconds after which a check counts as failed.
const CHECK_SECS: u64 = 5;

#[derive(Default)]
pub(super) struct Readiness {
    directory: Option<Arc<dyn CallerDirectory>>,
    /// The last answer. Locked during a check, so that concurrent requests share one.
    last: Mutex<Option<(Stopwatch, Result<(), String>)>>,
}

impl Readiness {
    pub(super) fn new(directory: Option<Arc<dyn CallerDirectory>>) -> Self {
        Readiness { directory, last: Mutex::default() }
    }

    /// Returns why the server is not ready, if it is not.
    pub(super) async fn check(&self) -> Result<(), String> {
        let Some(directory) = &self.directory else { return Ok(()) };
        let mut last = self.last.lock().await;
        if let Some((_, answer)) = last.as_ref().filter(|(since, _)| since.elapsed() < KEPT) {
            return answer.clone();
        }
        let directory = directory.clone();
        let check = tokio::task::spawn_blocking(move || directory.ready());
        let answer = match timeout(Duration::from_secs(CHECK_SECS), check).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err("internal error in the readiness check".into()),
            Err(_) => Err(format!("the readiness check did not finish within {CHECK_SECS} seconds")),
        };
        *last = Some((Stopwatch::start(), answer.clone()));
        answer
    }
}
