//! Reading a request's body: of the right type, not too large, not too slow, and JSON that is not too deep. What nobody
//! wants is read all the same and dropped: most clients look at the answer only after they have sent everything.

use super::{Body, rpc_error, say};
use crate::mcp::MESSAGE_BYTES;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::{
    HeaderMap, Response, StatusCode,
    body::{Body as _, Incoming},
    header::{self, HeaderValue},
};
use std::time::Duration;

/// Seconds a body may take as a whole.
const BODY_SECS: u64 = 30;
/// Bytes of a body that is too large that are still read, so that its sender gets to see why it is refused.
const DRAINED_BYTES: usize = 256 << 20;
/// Lists and objects inside one another; no message of the protocol comes near.
const DEPTH: usize = 100;

pub(super) async fn read(headers: &HeaderMap, body: &mut Incoming) -> Result<Bytes, Response<Body>> {
    let json = |value: &HeaderValue| {
        let kind = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
        kind.eq_ignore_ascii_case("application/json")
    };
    if !headers.get(header::CONTENT_TYPE).is_some_and(json) {
        return Err(say(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send application/json"));
    }
    let announced =
        headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()).and_then(|length| length.parse::<u64>().ok());
    if announced.is_some_and(|length| length > MESSAGE_BYTES as u64) && headers.contains_key(header::EXPECT) {
        return Err(too_large());
    }
    let body = match tokio::time::timeout(Duration::from_secs(BODY_SECS), collect(body)).await {
        Ok(body) => body?,
        Err(_) => return Err(closing(say(StatusCode::REQUEST_TIMEOUT, "the body came too slowly"))),
    };
    if depth(&body) > DEPTH {
        return Err(rpc_error(StatusCode::BAD_REQUEST, -32700, "this JSON is nested too deeply"));
    }
    if let Err(error) = serde_json::from_slice::<serde::de::IgnoredAny>(&body) {
        return Err(rpc_error(StatusCode::BAD_REQUEST, -32700, &format!("this is no JSON: {error}")));
    }
    Ok(body)
}

async fn collect(body: &mut Incoming) -> Result<Bytes, Response<Body>> {
    let mut all = BytesMut::new();
    let mut size = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| closing(say(StatusCode::BAD_REQUEST, "the body broke off")))?;
        let Ok(data) = frame.into_data() else { continue };
        size += data.len();
        if size > DRAINED_BYTES {
            break;
        }
        if size > MESSAGE_BYTES {
            // Read, and dropped.
            all = BytesMut::new();
            continue;
        }
        all.extend_from_slice(&data);
    }
    if size > MESSAGE_BYTES { Err(too_large()) } else { Ok(all.freeze()) }
}

/// An answer given before the body was read. The rest of the body is read first, so that the answer is seen and the
/// connection can be used again; a sender who waits to be invited is not.
pub(super) async fn finish(response: Response<Body>, expects: bool, body: &mut Incoming) -> Response<Body> {
    if body.is_end_stream() || response.headers().contains_key(header::CONNECTION) {
        return response;
    }
    let drained = !expects && tokio::time::timeout(Duration::from_secs(BODY_SECS), drain(body)).await.unwrap_or(false);
    if drained { response } else { closing(response) }
}

/// Whether all of a body came.
async fn drain(body: &mut Incoming) -> bool {
    let mut size = 0;
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return false };
        size += frame.data_ref().map_or(0, Bytes::len);
        if size > DRAINED_BYTES {
            return false;
        }
    }
    true
}

fn too_large() -> Response<Body> {
    closing(say(StatusCode::PAYLOAD_TOO_LARGE, &format!("a message has at most {MESSAGE_BYTES} bytes")))
}

/// What is left of the body is not read, so the connection cannot be used again.
fn closing(mut response: Response<Body>) -> Response<Body> {
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// How deeply lists and objects lie inside one another, without following them.
fn depth(json: &[u8]) -> usize {
    let (mut depth, mut deepest, mut in_text, mut escaped) = (0_usize, 0, false, false);
    for byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'[' | b'{' if !in_text => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}
