//! Server-sent events: tells open pages that memories have changed, so that they can show it.

use super::guard::PageState;
use crate::{
    http::{KEEP_ALIVE_SECS, event_stream},
    subscriptions::ResourceEvent,
};
use axum::{extract::State, response::Response};
use bytes::Bytes;
use std::{sync::Arc, time::Duration};
use tokio::sync::{broadcast::error::RecvError, mpsc};

/// Milliseconds for which further changes are collected into one event.
const COLLECT_MILLIS: u64 = 100;

/// Streams an event for every change, until the browser goes or the server ends.
pub(super) async fn stream(State(state): State<Arc<PageState>>) -> Response {
    let mut changes = state.subscriptions.subscribe().await;
    let (sender, receiver) = mpsc::channel(8);
    tokio::spawn(async move {
        let mut message = Bytes::from_static(b"retry: 3000\n: connected\n\n");
        loop {
            if sender.send(message).await.is_err() {
                return;
            }
            message = tokio::select! {
                change = changes.recv() => match change {
                    Err(RecvError::Closed) => return,
                    // A page that fell behind reads everything again anyway.
                    Err(RecvError::Lagged(_)) => Bytes::from_static(b"event: change\ndata:\n\n"),
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
                () = state.shutdown.cancelled() => {
                    let _ = sender.send(Bytes::from_static(b"event: end\ndata:\n\n")).await;
                    return;
                }
                () = tokio::time::sleep(Duration::from_secs(KEEP_ALIVE_SECS)) => Bytes::from_static(b": quiet\n\n"),
            };
        }
    });
    event_stream(receiver)
}

fn name(event: &ResourceEvent) -> String {
    match event {
        ResourceEvent::Updated(uri) => uri.strip_prefix("memory:///").unwrap_or(uri).to_owned(),
        ResourceEvent::ListChanged => String::new(),
    }
}
