//! Errors of the REST API as `application/problem+json` (RFC 9457). The one place that decides which error has which status, also on the
//! page; the table of the reference page comes from it. A response never contains a path of the machine or the value of a secret.

use crate::http::response::with_type;
use axum::{
    http::{
        StatusCode,
        header::{self, HeaderValue},
    },
    response::Response,
};
use memdir_core::Error;
use schemars::JsonSchema;
use serde::Serialize;

/// The media type of every error.
pub(crate) const PROBLEM_TYPE: &str = "application/problem+json";

/// A kind of error of the REST API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProblemKind {
    /// The HTTP status.
    pub status: u16,
    /// The `type` of the error.
    pub name: &'static str,
    /// What it means, for the reference page.
    pub meaning: &'static str,
}

/// Declares the kinds of errors and the list of all of them, so that the list has every one.
macro_rules! problem_kinds {
    ($($kind:ident: $status:ident, $name:literal, $meaning:literal;)*) => {
        $(const $kind: ProblemKind = ProblemKind { status: StatusCode::$status.as_u16(), name: $name, meaning: $meaning };)*
        const PROBLEM_KINDS: &[ProblemKind] = &[$($kind),*];
    };
}

// In the order of the reference page, where kinds with one meaning share a row. The first kind of a status is that of a response of plain
// text.
problem_kinds! {
    INVALID_REQUEST: BAD_REQUEST, "invalid_request_error", "the request does not match the description of the route";
    NOT_AUTHENTICATED: UNAUTHORIZED, "authentication_error", "the token is missing, unknown, invalid or expired";
    NOT_ALLOWED: FORBIDDEN, "permission_error", "the caller is not allowed to do this, or the server does not offer it";
    NOT_FOUND: NOT_FOUND, "not_found_error", "the memory, version or route does not exist";
    WRONG_METHOD: METHOD_NOT_ALLOWED, "invalid_request_error", "the method is not allowed, or the body is not `application/json`";
    WRONG_MEDIA_TYPE: UNSUPPORTED_MEDIA_TYPE, "invalid_request_error", "the method is not allowed, or the body is not `application/json`";
    BODY_PRECONDITION: CONFLICT, "memory_precondition_failed_error", "the `precondition` in the body or `expected_content_sha256` does not hold, or the memory has changed since the proposal was made";
    PATH_CONFLICT: CONFLICT, "memory_path_conflict_error", "a memory with the new name already exists";
    CHANGE_CONFLICT: CONFLICT, "conflict_error", "there is nothing to undo, newer changes would be lost, the proposal cannot be decided, or the request was already carried out";
    HEADER_PRECONDITION: PRECONDITION_FAILED, "memory_precondition_failed_error", "`If-Match` or `If-None-Match` does not hold";
    TOO_LARGE: PAYLOAD_TOO_LARGE, "request_too_large", "the body or the memory is too large";
    INVALID_VALUE: UNPROCESSABLE_ENTITY, "invalid_request_error", "a value is not allowed; the `detail` says which one";
    SECRET: UNPROCESSABLE_ENTITY, "secret_error", "the text looks like a secret";
    RATE_LIMIT: TOO_MANY_REQUESTS, "rate_limit_error", "too many requests from this address";
    INTERNAL: INTERNAL_SERVER_ERROR, "api_error", "an internal error; the `hint` says what to do";
    OVERLOADED: SERVICE_UNAVAILABLE, "overloaded_error", "the server cannot answer now, for example because it is overloaded or shutting down, or the memory is locked by another change; try again later";
    UNAVAILABLE: SERVICE_UNAVAILABLE, "api_error", "the storage is unavailable, or it is unknown whether the change was made; follow the `hint`";
    QUOTA: INSUFFICIENT_STORAGE, "quota_error", "the change exceeds the quota of the tenant";
}

/// Returns all kinds of errors of the REST API, in the order of the reference page.
pub fn problem_kinds() -> &'static [ProblemKind] {
    PROBLEM_KINDS
}

/// An error: what went wrong, and what to do next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Problem {
    /// The kind of error, for programs: `memory_precondition_failed_error`, `not_found_error`, …
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The name of the HTTP status.
    pub(crate) title: String,
    /// The HTTP status.
    pub(crate) status: u16,
    /// A description of what went wrong.
    pub(crate) detail: String,
    /// The suggested next step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
    /// Not a problem: the change is waiting for review as this proposal, with which the request is answered; and whether an earlier request
    /// with the same key proposed it.
    #[serde(skip)]
    pub(crate) proposal: Option<(String, bool)>,
}

impl Problem {
    /// The kind of a failed precondition.
    pub(crate) const PRECONDITION: &'static str = BODY_PRECONDITION.name;

    fn of_kind(kind: ProblemKind, detail: impl Into<String>) -> Self {
        Problem::new(StatusCode::from_u16(kind.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), kind.name, detail)
    }

    fn new(status: StatusCode, kind: &str, detail: impl Into<String>) -> Self {
        let title = status.canonical_reason().unwrap_or("Error").to_owned();
        Problem { kind: kind.to_owned(), title, status: status.as_u16(), detail: detail.into(), hint: None, proposal: None }
    }

    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        Problem { hint: Some(hint.into()), ..self }
    }

    /// The error for a request that does not match the description of the API.
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Problem::of_kind(INVALID_REQUEST, detail).with_hint("See /v1/openapi.json for valid requests.")
    }

    /// The error for a memory that does not have the required content. A condition in a header has a status of its own.
    pub(crate) fn precondition(detail: impl Into<String>, is_header: bool) -> Self {
        let kind = if is_header { HEADER_PRECONDITION } else { BODY_PRECONDITION };
        Problem::of_kind(kind, detail).with_hint("Get the memory, then apply the change to its content.")
    }

    /// Returns the problem of a response of plain text, such as that of a layer before the route.
    pub(crate) fn from_status(status: StatusCode, detail: impl Into<String>) -> Self {
        let kind = PROBLEM_KINDS.iter().find(|kind| kind.status == status.as_u16());
        let other = if status.is_server_error() { INTERNAL } else { INVALID_REQUEST };
        Problem::new(status, kind.unwrap_or(&other).name, detail)
    }

    pub(crate) fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_string(&self).unwrap_or_default();
        let mut response = with_type(status, PROBLEM_TYPE, body);
        if status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

/// The kind of a change that is waiting for review, which is not an error and so not in the list.
const PROPOSED: ProblemKind = ProblemKind { status: StatusCode::ACCEPTED.as_u16(), name: "proposed", meaning: "" };

/// Returns the HTTP status of an error.
pub(crate) fn error_status(error: &Error) -> StatusCode {
    StatusCode::from_u16(error_kind(error).status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

fn error_kind(error: &Error) -> ProblemKind {
    match error {
        Error::Proposed { .. } => PROPOSED,
        Error::NotFound { .. } | Error::NoCandidate { .. } | Error::NoChat { .. } | Error::NoProposal { .. } | Error::NotKept { .. } => {
            NOT_FOUND
        }
        Error::Changed { .. } | Error::OutdatedProposal { .. } => BODY_PRECONDITION,
        Error::Exists { .. } => PATH_CONFLICT,
        Error::Conflict { .. }
        | Error::NoChange { .. }
        | Error::AlreadyUndone { .. }
        | Error::AlreadyRejected { .. }
        | Error::Repeated { .. }
        | Error::Review { .. } => CHANGE_CONFLICT,
        Error::BadPath { .. } | Error::BadEdit { .. } | Error::BadInput { .. } | Error::NoTeam { .. } => INVALID_VALUE,
        Error::Secret { .. } => SECRET,
        Error::TooLarge { .. } | Error::ReasonTooLong { .. } => TOO_LARGE,
        Error::QuotaExceeded { .. } => QUOTA,
        Error::ReadOnly { .. } | Error::NotReviewer | Error::Removed { .. } => NOT_ALLOWED,
        Error::Busy { .. } => OVERLOADED,
        Error::Unavailable { .. } | Error::Uncertain { .. } => UNAVAILABLE,
        _ => INTERNAL,
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let detail = match &error {
            // The message names the directory.
            Error::Busy { .. } => "the memory is locked by another change".to_owned(),
            // The message names the file.
            Error::Io { doing, source, .. } => format!("cannot {doing} a memory file: {}", source.kind()),
            _ => error.to_string(),
        };
        let problem = Problem::of_kind(error_kind(&error), detail).with_hint(error.hint());
        match error {
            Error::Proposed { id, is_repeated, .. } => Problem { proposal: Some((id, is_repeated)), ..problem },
            _ => problem,
        }
    }
}
