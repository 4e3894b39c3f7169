//! The outermost layer of every HTTP server here: limits the head of a request, and drains a body that no route has read.

use super::{
    body,
    listen::{MAX_HEAD_BYTES, MAX_HEADERS},
    response::text,
};
use axum::{
    body::HttpBody as _,
    extract::Request,
    http::{StatusCode, header},
    middleware::Next,
    response::Response,
};

/// Answers a request within the limits.
pub(crate) async fn limit_request(request: Request, next: Next) -> Response {
    let expects_continue = request.headers().contains_key(header::EXPECT);
    let (request, unread) = if request.body().is_end_stream() {
        (request, None)
    } else {
        let (parts, body) = request.into_parts();
        let (body, unread) = body::recoverable(body);
        (Request::from_parts(parts, body), Some(unread))
    };
    let head: usize = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    let response = if head > MAX_HEAD_BYTES || request.headers().len() > MAX_HEADERS {
        drop(request);
        let why = format!("header fields too large: the maximum is {MAX_HEAD_BYTES} bytes and {MAX_HEADERS} fields");
        text(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, why)
    } else {
        next.run(request).await
    };
    match unread.and_then(|mut unread| unread.try_recv().ok()) {
        Some(body) => body::drain_unread(response, expects_continue, body).await,
        None => response,
    }
}
