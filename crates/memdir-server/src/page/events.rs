//! Server-sent events: tells open pages that memories have changed, so that they can show it.

use super::visit::Visit;
use crate::{http::InUse, subscriptions::ResourceEvent};
use axum::{
    Extension,
    body::{Body, HttpBody},
    http::{HeaderValue, header},
    response::Response,
};
use bytes::Bytes;
use hyper::body::Frame;
use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};
use tokio::sync::{broadcast::error::RecvError, mpsc};

/// Seconds between comments on a quiet stream, by which a closed connection is noticed.
const KEEP_ALIVE_SECS: u64 = 20;
/// Milliseconds for which further changes are collected into one event.
const COLLECT_MILLIS: u64 = 100;

/// Streams an event for every change, until the browser goes or the server ends.
pub(super) async fn stream(Extension(visit): Extension<Visit>) -> Response {
    let mut changes = visit.subscriptions.subscribe().await;
    // The space may be closed if others need the room: the browser connects again.
    let (in_use, shutdown) = (visit.in_use.map(InUse::into_stream), visit.shutdown);
    let (sender, receiver) = mpsc::channel(8);
    tokio::spawn(async move {
        let _in_use = in_use;
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
                () = shutdown.cancelled() => {
                    let _ = sender.send(Bytes::from_static(b"event: end\ndata:\n\n")).await;
                    return;
                }
                () = tokio::time::sleep(Duration::from_secs(KEEP_ALIVE_SECS)) => Bytes::from_static(b": quiet\n\n"),
            };
        }
    });
    let mut response = Response::new(Body::new(EventBody(receiver)));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response
}

fn name(event: &ResourceEvent) -> String {
    match event {
        ResourceEvent::Updated(uri) => uri.strip_prefix("memory:///").unwrap_or(uri).to_owned(),
        ResourceEvent::ListChanged => String::new(),
    }
}

/// A body of messages as they come.
struct EventBody(mpsc::Receiver<Bytes>);

impl HttpBody for EventBody {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(cx).map(|message| message.map(|bytes| Ok(Frame::data(bytes))))
    }
}
