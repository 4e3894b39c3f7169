//! Errors of the REST API as `application/problem+json` (RFC 9457). The one place that decides which error has which status. A response
//! never contains a path of the machine or the value of a secret.

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
    pub(crate) const PRECONDITION: &'static str = "memory_precondition_failed_error";

    pub(crate) fn new(status: StatusCode, kind: &str, detail: impl Into<String>) -> Self {
        let title = status.canonical_reason().unwrap_or("Error").to_owned();
        Problem { kind: kind.to_owned(), title, status: status.as_u16(), detail: detail.into(), hint: None, proposal: None }
    }

    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        Problem { hint: Some(hint.into()), ..self }
    }

    /// The error for a request that does not match the description of the API.
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Problem::new(StatusCode::BAD_REQUEST, "invalid_request_error", detail).with_hint("See /v1/openapi.json for valid requests.")
    }

    /// The error for a memory that does not have the required content. A condition in a header has a status of its own.
    pub(crate) fn precondition(detail: impl Into<String>, is_header: bool) -> Self {
        let status = if is_header { StatusCode::PRECONDITION_FAILED } else { StatusCode::CONFLICT };
        Problem::new(status, Self::PRECONDITION, detail).with_hint("Get the memory, then apply the change to its content.")
    }

    /// Returns the problem of a response of plain text, such as that of a layer before the route.
    pub(crate) fn from_status(status: StatusCode, detail: impl Into<String>) -> Self {
        let kind = match status {
            StatusCode::UNAUTHORIZED => "authentication_error",
            StatusCode::FORBIDDEN => "permission_error",
            StatusCode::NOT_FOUND => "not_found_error",
            StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
            StatusCode::SERVICE_UNAVAILABLE => "overloaded_error",
            StatusCode::PAYLOAD_TOO_LARGE => "request_too_large",
            status if status.is_server_error() => "api_error",
            _ => "invalid_request_error",
        };
        Problem::new(status, kind, detail)
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

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        if let Error::Proposed { id, is_repeated, .. } = &error {
            let problem = Problem::new(StatusCode::ACCEPTED, "proposed", error.to_string()).with_hint(error.hint());
            return Problem { proposal: Some((id.clone(), *is_repeated)), ..problem };
        }
        let (status, kind) = match &error {
            Error::NotFound { .. }
            | Error::NoCandidate { .. }
            | Error::NoChat { .. }
            | Error::NoProposal { .. }
            | Error::NotKept { .. } => (StatusCode::NOT_FOUND, "not_found_error"),
            Error::Changed { .. } | Error::OutdatedProposal { .. } => (StatusCode::CONFLICT, Problem::PRECONDITION),
            Error::Exists { .. } => (StatusCode::CONFLICT, "memory_path_conflict_error"),
            Error::Conflict { .. }
            | Error::NoChange { .. }
            | Error::AlreadyUndone { .. }
            | Error::AlreadyRejected { .. }
            | Error::Repeated { .. }
            | Error::Review { .. } => (StatusCode::CONFLICT, "conflict_error"),
            Error::BadPath { .. } | Error::BadEdit { .. } | Error::BadInput { .. } | Error::NoTeam { .. } => {
                (StatusCode::UNPROCESSABLE_ENTITY, "invalid_request_error")
            }
            Error::Secret { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "secret_error"),
            Error::TooLarge { .. } | Error::ReasonTooLong { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "request_too_large"),
            Error::QuotaExceeded { .. } => (StatusCode::INSUFFICIENT_STORAGE, "quota_error"),
            Error::ReadOnly { .. } | Error::NotReviewer | Error::Removed { .. } => (StatusCode::FORBIDDEN, "permission_error"),
            Error::Busy { .. } => {
                // The message names the directory.
                let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded_error", "the memory is locked by another change");
                return problem.with_hint(error.hint());
            }
            Error::Unavailable { .. } | Error::Uncertain { .. } => (StatusCode::SERVICE_UNAVAILABLE, "api_error"),
            Error::Io { doing, source, .. } => {
                // The message names the file.
                let detail = format!("cannot {doing} a memory file: {}", source.kind());
                return Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "api_error", detail).with_hint(error.hint());
            }
            _ => (StatusCode::INTERNAL_SERVER_ERROR, "api_error"),
        };
        Problem::new(status, kind, error.to_string()).with_hint(error.hint())
    }
}
