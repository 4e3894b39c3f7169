//! Small responses.

use axum::{
    body::Body,
    http::{
        StatusCode,
        header::{self, HeaderName, HeaderValue},
    },
    response::Response,
};
use rmcp::{ErrorData, model::RequestId};

/// Returns a response with a line of plain text.
pub(crate) fn text(status: StatusCode, text: impl Into<String>) -> Response {
    with_type(status, "text/plain; charset=utf-8", text.into())
}

/// Returns a plain-text response that asks the client to try again in a second.
pub(crate) fn retry_later(status: StatusCode, message: &str) -> Response {
    with_header(text(status, message), header::RETRY_AFTER, "1")
}

/// Returns a JSON-RPC parse error.
pub(super) fn parse_error(why: &str) -> Response {
    rpc_error(None, &ErrorData::parse_error(format!("invalid JSON: {why}"), None))
}

/// Returns a JSON-RPC error in response to the request with this id, if it is known.
pub(super) fn rpc_error(id: Option<RequestId>, error: &ErrorData) -> Response {
    let error = serde_json::json!({ "jsonrpc": "2.0", "id": id, "error": error });
    with_type(StatusCode::BAD_REQUEST, "application/json", error.to_string())
}

/// Returns a response with a JSON document.
pub(super) fn json(status: StatusCode, document: &serde_json::Value) -> Response {
    with_type(status, "application/json", document.to_string())
}

/// Returns the response with a header set.
pub(super) fn with_header(mut response: Response, name: HeaderName, value: &'static str) -> Response {
    response.headers_mut().insert(name, HeaderValue::from_static(value));
    response
}

pub(super) fn with_type(status: StatusCode, media_type: &'static str, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    with_header(response, header::CONTENT_TYPE, media_type)
}
