//! Ids of requests, and the line that is logged for each. A line has no path, which names memories, no text and no token.

use axum::http::{HeaderMap, HeaderName};
use memdir_core::{Clock as _, SystemClock};
use serde::Serialize;
use std::{fmt, sync::Arc, time::Duration};

pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Maximum length of an id that a client or a proxy gives.
const MAX_ID_CHARS: usize = 128;

/// Writes one line of a log. Must not block: it is called between requests.
#[derive(Clone)]
pub struct RequestLog(Arc<dyn Fn(&str) + Send + Sync>);

impl RequestLog {
    /// Logs with this function.
    pub fn new(write: impl Fn(&str) + Send + Sync + 'static) -> Self {
        RequestLog(Arc::new(write))
    }

    /// Logs a request whose response is ready.
    pub(super) fn record(&self, request_id: &str, method: &str, route: &str, status: u16, took: Duration) {
        let line = LogLine {
            time: SystemClock.now().to_string(),
            request_id,
            method,
            route,
            status,
            duration_ms: (took.as_secs_f64() * 1e6).round() / 1e3,
        };
        if let Ok(line) = serde_json::to_string(&line) {
            (self.0)(&line);
        }
    }
}

impl fmt::Debug for RequestLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RequestLog(…)")
    }
}

#[derive(Serialize)]
struct LogLine<'a> {
    time: String,
    request_id: &'a str,
    method: &'a str,
    route: &'a str,
    status: u16,
    duration_ms: f64,
}

/// Returns the id of a request: the one that it has, unless it could confuse a log.
pub(super) fn request_id(headers: &HeaderMap) -> String {
    let given = headers.get(&REQUEST_ID).and_then(|value| value.to_str().ok());
    let is_plain = |id: &&str| {
        (1..=MAX_ID_CHARS).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
    };
    given.filter(is_plain).map_or_else(crate::mcp::random_id, str::to_owned)
}
