//! Request bodies: reads JSON within limits of type, size, memory, time and nesting, and drains bodies that no route has read. Most
//! clients look at the response only after they have sent all of the body. Refuses with 408, 413, 415 and 503.

use super::response::{parse_error, retry_later, text, with_header};
use crate::mcp::MAX_MESSAGE_BYTES;
use axum::{
    body::{Body, HttpBody},
    http::{
        HeaderMap, StatusCode,
        header::{self, HeaderValue},
    },
    response::Response,
};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Frame, SizeHint};
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, oneshot},
    time::timeout,
};

/// Seconds in which a whole body must arrive.
const BODY_SECS: u64 = 30;
/// Number of bytes of an oversized body that are still read, so that its sender sees the response.
const MAX_DRAINED_BYTES: usize = 256 << 20;
/// Maximum nesting of arrays and objects; no MCP message comes near.
const MAX_DEPTH: usize = 100;

/// Number of bytes of a refused caller's body that are still read.
const MAX_DRAINED_REFUSED: usize = 1 << 20;
/// Seconds for which they are read.
const DRAIN_REFUSED_SECS: u64 = 5;
/// Bodies up to this size need no reservation: the number of connections bounds them.
pub(super) const SMALL_BODY_BYTES: usize = 64 << 10;
/// Bytes of larger bodies that one caller may have in memory: two of the largest messages.
const CALLER_BODY_BYTES: usize = 2 * MAX_MESSAGE_BYTES;
/// Bytes of larger bodies of all callers.
const ALL_BODY_BYTES: usize = 4 * MAX_MESSAGE_BYTES;
/// The unit of reservations.
const BODY_UNIT: usize = 1 << 10;

/// The memory for request bodies of one caller, and of all callers together. A body that has no room waits.
#[derive(Clone)]
pub(crate) struct BodyBudget {
    own: Arc<Semaphore>,
    all: Arc<Semaphore>,
}

impl Default for BodyBudget {
    fn default() -> Self {
        BodyBudget::with(Arc::new(Semaphore::new(ALL_BODY_BYTES / BODY_UNIT)))
    }
}

impl BodyBudget {
    /// Returns the budget of another caller.
    pub(super) fn sibling(&self) -> Self {
        BodyBudget::with(self.all.clone())
    }

    fn with(all: Arc<Semaphore>) -> Self {
        BodyBudget { own: Arc::new(Semaphore::new(CALLER_BODY_BYTES / BODY_UNIT)), all }
    }

    /// Waits until there is memory for a body of `bytes`.
    async fn reserve(&self, reserved: &mut ReservedBody, bytes: usize) {
        if bytes <= SMALL_BODY_BYTES.max(reserved.bytes) {
            return;
        }
        let units = u32::try_from((bytes - reserved.bytes).div_ceil(BODY_UNIT)).unwrap_or(u32::MAX);
        reserved.bytes += units as usize * BODY_UNIT;
        // The caller's own budget first: a caller over its limit does not wait in the queue of all.
        for semaphore in [&self.own, &self.all] {
            // The semaphores are never closed.
            reserved.permits.extend(semaphore.clone().acquire_many_owned(units).await);
        }
    }
}

/// Memory that is reserved for a body, until the request has been answered.
#[derive(Default)]
pub(crate) struct ReservedBody {
    bytes: usize,
    permits: Vec<OwnedSemaphorePermit>,
}

/// Reads a body and checks that it is JSON.
pub(super) async fn read_json(headers: &HeaderMap, body: Body, budget: &BodyBudget) -> Result<(Bytes, ReservedBody), Response> {
    let (bytes, reserved) = read_body(headers, body, "application/json", budget).await?;
    if depth(&bytes) > MAX_DEPTH {
        return Err(parse_error(&format!("nested deeper than {MAX_DEPTH} levels")));
    }
    if let Err(error) = serde_json::from_slice::<serde::de::IgnoredAny>(&bytes) {
        return Err(parse_error(&error.to_string()));
    }
    Ok((bytes, reserved))
}

/// Reads a body of this media type.
pub(crate) async fn read_body(
    headers: &HeaderMap,
    mut body: Body,
    media_type: &str,
    budget: &BodyBudget,
) -> Result<(Bytes, ReservedBody), Response> {
    let has_type = |value: &HeaderValue| {
        let given = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
        given.eq_ignore_ascii_case(media_type)
    };
    if !headers.get(header::CONTENT_TYPE).is_some_and(has_type) {
        return Err(text(StatusCode::UNSUPPORTED_MEDIA_TYPE, format!("Content-Type must be {media_type}")));
    }
    let announced =
        headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()).and_then(|length| length.parse::<usize>().ok());
    if announced.is_some_and(|length| length > MAX_MESSAGE_BYTES) && headers.contains_key(header::EXPECT) {
        return Err(too_large());
    }
    let mut reserved = ReservedBody::default();
    let announced = announced.filter(|length| *length <= MAX_MESSAGE_BYTES).unwrap_or_default();
    if timeout(Duration::from_secs(BODY_SECS), budget.reserve(&mut reserved, announced)).await.is_err() {
        return Err(closing(retry_later(StatusCode::SERVICE_UNAVAILABLE, "too many large requests at once")));
    }
    let bytes = match timeout(Duration::from_secs(BODY_SECS), collect(&mut body, budget, &mut reserved)).await {
        Ok(bytes) => bytes?,
        Err(_) => return Err(closing(text(StatusCode::REQUEST_TIMEOUT, format!("body not received within {BODY_SECS} seconds")))),
    };
    Ok((bytes, reserved))
}

async fn collect(body: &mut Body, budget: &BodyBudget, reserved: &mut ReservedBody) -> Result<Bytes, Response> {
    let mut all = BytesMut::new();
    let mut size = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| closing(text(StatusCode::BAD_REQUEST, "incomplete body")))?;
        let Ok(data) = frame.into_data() else { continue };
        size += data.len();
        if size > MAX_DRAINED_BYTES {
            break;
        }
        if size > MAX_MESSAGE_BYTES {
            // The rest is read and discarded.
            all = BytesMut::new();
            *reserved = ReservedBody::default();
            continue;
        }
        // Without a Content-Length, memory is reserved as the body grows.
        if size > SMALL_BODY_BYTES.max(reserved.bytes) {
            budget.reserve(reserved, (size * 2).min(MAX_MESSAGE_BYTES)).await;
        }
        all.extend_from_slice(&data);
    }
    if size > MAX_MESSAGE_BYTES { Err(too_large()) } else { Ok(all.freeze()) }
}

/// Splits a body: the first half is for the route, the second receives what the route has not read.
pub(super) fn recoverable(body: Body) -> (Body, oneshot::Receiver<Body>) {
    let (unread, receiver) = oneshot::channel();
    (Body::new(RecoverableBody { body: Some(body), unread: Some(unread) }), receiver)
}

/// A body that sends itself back when it is dropped before its end.
struct RecoverableBody {
    body: Option<Body>,
    unread: Option<oneshot::Sender<Body>>,
}

impl HttpBody for RecoverableBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(cx),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}

impl Drop for RecoverableBody {
    fn drop(&mut self) {
        if let (Some(body), Some(unread)) = (self.body.take().filter(|body| !body.is_end_stream()), self.unread.take()) {
            // Without a receiver, the rest of the body is not needed.
            let _ = unread.send(body);
        }
    }
}

/// Drains the rest of a body before its response is sent, so that the client sees the response and can use the connection again.
/// A client that waits for `100 Continue` has not sent a body and is not asked to.
pub(super) async fn drain_unread(response: Response, expects_continue: bool, mut unread: Body) -> Response {
    if response.headers().contains_key(header::CONNECTION) {
        return response;
    }
    let (seconds, bytes) = match response.status() {
        StatusCode::UNAUTHORIZED => (DRAIN_REFUSED_SECS, MAX_DRAINED_REFUSED),
        _ => (BODY_SECS, MAX_DRAINED_BYTES),
    };
    let is_drained = !expects_continue && timeout(Duration::from_secs(seconds), drain(&mut unread, bytes)).await.unwrap_or(false);
    if is_drained { response } else { closing(response) }
}

/// Reads a body to its end. Returns `false` if it is incomplete or larger than `max_bytes`.
async fn drain(body: &mut Body, max_bytes: usize) -> bool {
    let mut size = 0;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return false };
        size += frame.data_ref().map_or(0, Bytes::len);
        if size > max_bytes {
            return false;
        }
    }
    true
}

fn too_large() -> Response {
    closing(text(StatusCode::PAYLOAD_TOO_LARGE, format!("body too large: the maximum is {MAX_MESSAGE_BYTES} bytes")))
}

/// Closes the connection after the response: the rest of the body is not read.
fn closing(response: Response) -> Response {
    with_header(response, header::CONNECTION, "close")
}

/// Returns how deeply arrays and objects are nested, without recursion.
fn depth(json: &[u8]) -> usize {
    let (mut depth, mut deepest, mut in_string, mut is_escaped) = (0_usize, 0, false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}
