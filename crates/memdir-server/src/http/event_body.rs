//! Responses that are streams of server-sent events.

use axum::{
    body::{Body, HttpBody},
    http::{HeaderValue, header},
    response::Response,
};
use bytes::Bytes;
use hyper::body::Frame;
use std::{
    pin::Pin,
    task::{Context, Poll},
};
use tokio::sync::mpsc;

/// Seconds between comments on a quiet stream, by which a closed connection is noticed.
pub(crate) const KEEP_ALIVE_SECS: u64 = 20;

/// The beginning of every stream: the client connects again after three seconds.
pub(crate) const CONNECTED: &[u8] = b"retry: 3000\n: connected\n\n";
/// The comment on a quiet stream.
pub(crate) const QUIET: &[u8] = b": quiet\n\n";

/// Returns a response that sends messages as they come.
pub(crate) fn event_stream(messages: mpsc::Receiver<Bytes>) -> Response {
    let mut response = Response::new(Body::new(EventBody(messages)));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response
}

struct EventBody(mpsc::Receiver<Bytes>);

impl HttpBody for EventBody {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(cx).map(|message| message.map(|bytes| Ok(Frame::data(bytes))))
    }
}
