//! Server-sent events: notifies open pages that memories or proposals have changed, so that they can show it.

use super::visit::Visit;
use crate::{
    http::{CONNECTED, InUse, KEEP_ALIVE_SECS, QUIET, event_stream},
    subscriptions::ResourceEvent,
};
use axum::{Extension, extract::RawQuery, response::Response};
use bytes::Bytes;
use std::time::Duration;
use tokio::sync::{broadcast::error::RecvError, mpsc};

/// Milliseconds for which further changes are collected into one event.
const COLLECT_MILLIS: u64 = 100;

/// The event for changes whose names are unknown.
const CHANGED: &[u8] = b"event: change\ndata:\n\n";

/// Streams an event for every change, until the browser disconnects or the server ends. `since` is the cursor of the page that asks: what changed
/// between the page and this request is reported too.
pub(super) async fn stream(Extension(visit): Extension<Visit>, RawQuery(query): RawQuery) -> Response {
    let mut changes = visit.subscriptions.subscribe().await;
    let is_late = is_later(&visit, query.as_deref().and_then(|query| query.strip_prefix("since="))).await;
    // The space may be closed if others need the room: the browser connects again.
    let (in_use, shutdown) = (visit.in_use.map(InUse::into_stream), visit.shutdown);
    let (sender, receiver) = mpsc::channel(8);
    tokio::spawn(async move {
        let _in_use = in_use;
        // Reported at once to a page that is older than the last change.
        let mut message = if is_late { Bytes::from([CONNECTED, CHANGED].concat()) } else { Bytes::from_static(CONNECTED) };
        loop {
            if sender.send(message).await.is_err() {
                return;
            }
            message = tokio::select! {
                change = changes.recv() => match change {
                    Err(RecvError::Closed) => return,
                    // A page that fell behind reads everything again anyway.
                    Err(RecvError::Lagged(_)) => Bytes::from_static(CHANGED),
                    Ok(event) => {
                        tokio::time::sleep(Duration::from_millis(COLLECT_MILLIS)).await;
                        let mut names = vec![name(&event)];
                        while let Ok(event) = changes.try_recv() {
                            names.push(name(&event));
                        }
                        // More names than a page could use are not worth a longer message.
                        names.truncate(100);
                        Bytes::from(format!("event: change\ndata: {}\n\n", serde_json::json!(names)))
                    }
                },
                () = sender.closed() => return,
                () = shutdown.cancelled() => {
                    let _ = sender.send(Bytes::from_static(b"event: end\ndata:\n\n")).await;
                    return;
                }
                () = tokio::time::sleep(Duration::from_secs(KEEP_ALIVE_SECS)) => Bytes::from_static(QUIET),
            };
        }
    });
    event_stream(receiver)
}

/// Whether there is a change after a cursor.
async fn is_later(visit: &Visit, since: Option<&str>) -> bool {
    let Some(since) = since.map(str::to_owned).filter(|since| !since.is_empty()) else { return false };
    let space = visit.space.clone();
    let newest = tokio::task::spawn_blocking(move || space.cursor()).await;
    newest.is_ok_and(|newest| !newest.is_empty() && newest != since)
}

fn name(event: &ResourceEvent) -> String {
    match event {
        ResourceEvent::Updated(uri) => uri.strip_prefix("memory:///").unwrap_or(uri).to_owned(),
        ResourceEvent::ListChanged | ResourceEvent::ProposalsChanged => String::new(),
    }
}
