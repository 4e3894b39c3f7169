//! The REST API under `/v1`: finds the route of a request, runs it on the caller's space, and answers. The routes are declared in
//! `routes`; they have no rules about memories of their own.

mod changes;
mod conditions;
mod expectation;
mod list;
mod memories;
mod model;
mod openapi;
mod problem;
mod proposal_object;
mod proposals;
mod query;
mod route;
mod routes;
mod search;
mod stream;
mod types;
mod versions;

use super::{
    body::read_body,
    caller::{CallerId, HttpCaller},
    endpoint::{CallerState, HttpEndpoint},
    guarded::guarded,
    response::with_type,
};
use crate::{
    call::{CallFailure, CallKind, run_blocking},
    catalog::CurrentSpace,
    mcp::McpServer,
};
use axum::{
    body::Body,
    extract::Request,
    http::{
        HeaderMap, HeaderName, HeaderValue, StatusCode,
        header::{self},
        request::Parts,
    },
    response::Response,
};
use bytes::Bytes;
use conditions::Conditions;
use http_body_util::BodyExt as _;
use memdir_core::{
    ChangeCursor, IdempotencyKey,
    internal::store::{confirmation::Confirmation, stop::Stop},
};
use percent_encoding::percent_decode_str;
use problem::Problem;
pub(crate) use problem::error_status;
pub use problem::{ProblemKind, problem_kinds};
use route::{RestCall, RestReply, Route};
use routes::ROUTES;
use sha2::{Digest as _, Sha256};
use std::sync::Arc;

/// The path of the description of the API.
const OPENAPI_PATH: &str = "/v1/openapi.json";
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Maximum length of an idempotency key.
const MAX_KEY_CHARS: usize = 255;

/// Returns the description of the REST API in OpenAPI 3.1.
pub fn rest_description() -> serde_json::Value {
    openapi::document(ROUTES)
}

/// Returns the name of the route of a request, for logs and metrics.
pub(super) fn route_id(method: &axum::http::Method, path: &str) -> Option<&'static str> {
    if path == OPENAPI_PATH {
        return Some("openapi");
    }
    ROUTES.iter().find(|route| route.info.method == *method && route.matches(path).is_some()).map(|route| route.info.id)
}

/// Answers a request of an authorized caller.
pub(super) async fn handle(endpoint: &HttpEndpoint, id: Option<CallerId>, request: Request) -> Result<Response, Response> {
    let (parts, body) = request.into_parts();
    if parts.uri.path() == OPENAPI_PATH && parts.method == axum::http::Method::GET {
        drop(body);
        return Ok(with_type(StatusCode::OK, "application/json", rest_description().to_string()));
    }
    let (route, parameter) = find_route(&parts)?;
    // From here on a shutdown waits for the answer.
    let _begun = endpoint.begin_request();
    let caller = HttpCaller::from_headers(id, &parts.headers)?;
    let state = endpoint.caller(id);
    let (body, reserved) = if route.has_body() {
        read_body(&parts.headers, body, "application/json", &state.bodies).await?
    } else {
        drop(body);
        Default::default()
    };
    let opened = endpoint.space(&caller, &state).await?;
    let request = RestRequest::new(route, parameter, &parts, body).map_err(Problem::into_response)?;
    let (server, in_use) = (opened.server.clone(), opened.in_use);
    // A caller whose token may only read has no tools that write.
    if server.catalog().find(route.info.tool).is_none() {
        let why = format!("this route requires the tool {:?}, which is not available to you on this server", route.info.tool);
        return Err(Problem::from_status(StatusCode::FORBIDDEN, why).into_response());
    }
    // Before the cursor is read: a change in between is then in the stream.
    let hints = if route.is_stream() { server.subscribe().await } else { None };
    let space = server.catalog().resources();
    let space = space
        .ok_or_else(|| Problem::from_status(StatusCode::FORBIDDEN, "this server provides only tools, not the REST API").into_response())?;
    let reply = run(&server, &state, request, space).await.map_err(Problem::into_response)?;
    match hints {
        Some(hints) => {
            let cursor = reply.value.as_deref().and_then(|cursor| serde_json::from_str::<String>(cursor).ok());
            let cursor = cursor.and_then(|cursor| ChangeCursor::parse(&cursor).ok()).unwrap_or_default();
            let shutdown = server.shutdown.clone();
            let recheck = endpoint.rechecker(id);
            let read = move |cursor| {
                recheck();
                read_events(server.clone(), state.clone(), cursor)
            };
            let response = stream::start(cursor, hints, shutdown, read);
            let in_use = in_use.map(super::usage::InUse::into_stream);
            Ok(response.map(|body| guarded(body, in_use)))
        }
        None => Ok(to_response(reply).map(|body| guarded(body, (in_use, reserved)))),
    }
}

/// Answers a request without a body that only reads, for the caller that its token had when it was last looked up. The first read checks
/// the token in its own transaction, so the request takes one round trip to the database instead of two. Returns `None` if the caller was
/// not confirmed: then the token must be looked up, and the request handled as any other.
pub(super) async fn handle_presumed(endpoint: &HttpEndpoint, id: CallerId, parts: &Parts) -> Option<Response> {
    let (route, parameter) = find_route(parts).ok()?;
    if route.info.kind != CallKind::Read || route.has_body() || route.is_stream() {
        return None;
    }
    let _begun = endpoint.begin_request();
    let caller = HttpCaller::from_headers(Some(id), &parts.headers).ok()?;
    let state = endpoint.caller(Some(id));
    let opened = endpoint.space(&caller, &state).await.ok()?;
    let (server, confirmation) = (&opened.server, Confirmation::default());
    server.catalog().find(route.info.tool)?;
    let memdir = server.catalog().confirming_space(&confirmation)?;
    let request = RestRequest::new(route, parameter, parts, Bytes::new()).ok()?;
    let reply = run(server, &state, request, Arc::new(move || Ok(memdir.clone()))).await;
    let response = reply.map_or_else(Problem::into_response, to_response);
    // A lookup would fail like the read if the database cannot be reached.
    let is_unavailable = confirmation.get().is_none() && response.status() == StatusCode::SERVICE_UNAVAILABLE;
    let is_answer = confirmation.get() == Some(true) || is_unavailable;
    is_answer.then(|| response.map(|body| guarded(body, opened.in_use)))
}

/// Finds the route of a request, and the rest of its path.
fn find_route(parts: &Parts) -> Result<(&'static Route, String), Response> {
    let path = parts.uri.path();
    let mut allowed = Vec::new();
    for route in ROUTES {
        let Some(rest) = route.matches(path) else { continue };
        if route.info.method == parts.method {
            let decoded = percent_decode_str(rest)
                .decode_utf8()
                .map_err(|_| Problem::invalid("the path is not valid UTF-8 after percent-decoding").into_response())?;
            return Ok((route, decoded.into_owned()));
        }
        allowed.push(route.info.method.as_str());
    }
    if path == OPENAPI_PATH {
        allowed.push("GET");
    }
    if allowed.is_empty() {
        let problem = Problem::from_status(StatusCode::NOT_FOUND, "route not found").with_hint("See /v1/openapi.json for the routes.");
        return Err(problem.into_response());
    }
    let allowed = allowed.join(", ");
    let why = format!("method not allowed; use {allowed}");
    let mut response = Problem::from_status(StatusCode::METHOD_NOT_ALLOWED, why).into_response();
    if let Ok(allowed) = HeaderValue::from_str(&allowed) {
        response.headers_mut().insert(header::ALLOW, allowed);
    }
    Err(response)
}

/// A request with everything that its route reads.
struct RestRequest {
    route: &'static Route,
    parameter: String,
    query: String,
    body: Bytes,
    conditions: Conditions,
    last_event_id: Option<String>,
    key: Option<(String, [u8; 32])>,
}

impl RestRequest {
    fn new(route: &'static Route, parameter: String, parts: &Parts, body: Bytes) -> Result<Self, Problem> {
        let query = parts.uri.query().unwrap_or_default().to_owned();
        let key = match text_header(&parts.headers, &IDEMPOTENCY_KEY)? {
            Some(key) => {
                if !(1..=MAX_KEY_CHARS).contains(&key.len()) || !key.bytes().all(|b| b.is_ascii_graphic()) {
                    let why = format!("header {IDEMPOTENCY_KEY} must be 1 to {MAX_KEY_CHARS} printable ASCII characters without spaces");
                    return Err(Problem::invalid(why));
                }
                Some((key, request_hash(parts, &body)))
            }
            None => None,
        };
        let conditions = Conditions::from_headers(&parts.headers)?;
        let last_event_id = text_header(&parts.headers, &LAST_EVENT_ID)?;
        Ok(RestRequest { route, parameter, query, body, conditions, last_event_id, key })
    }
}

/// Returns a header of visible ASCII characters and spaces.
fn text_header(headers: &HeaderMap, name: &HeaderName) -> Result<Option<String>, Problem> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let text = value.to_str().ok().filter(|_| values.next().is_none());
    let text =
        text.ok_or_else(|| Problem::invalid(format!("header {name} must occur at most once and contain only printable ASCII characters")))?;
    Ok(Some(text.to_owned()))
}

/// The hash of what a request asks for.
fn request_hash(parts: &Parts, body: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    let conditions = [header::IF_MATCH, header::IF_NONE_MATCH].map(|name| {
        parts.headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect::<Vec<_>>().join(",")
    });
    let selection = ["memdir-project", "memdir-only"].map(|name| parts.headers.get(name).map_or(&b""[..], HeaderValue::as_bytes));
    let target = parts.uri.path_and_query().map_or("", |target| target.as_str());
    let fields = [parts.method.as_str().as_bytes(), target.as_bytes(), conditions[0].as_bytes(), conditions[1].as_bytes()];
    for field in fields.iter().chain(&selection).chain([&body]) {
        hash.update((field.len() as u64).to_le_bytes());
        hash.update(field);
    }
    hash.finalize().into()
}

/// Runs a request on a worker thread, within the limits of its caller.
async fn run(
    server: &Arc<McpServer>,
    state: &CallerState,
    request: RestRequest,
    space: CurrentSpace,
) -> Result<RestReply<String>, Problem> {
    let section = server.catalog().section().cloned();
    let projects = server.catalog().projects().to_vec();
    let stop = Stop::default();
    let (kind, stop_work) = (request.route.info.kind, stop.clone());
    let work = move || {
        let memdir = space().map_err(|why| Problem::from_status(StatusCode::FORBIDDEN, why))?.with_stop(&stop_work).counting_use();
        let memdir = match request.key {
            Some((key, request)) => memdir.with_key(IdempotencyKey { caller: memdir.context().actor.name.clone(), key, request }),
            None => memdir,
        };
        let RestRequest { route, parameter, query, body, conditions, last_event_id, .. } = request;
        let call = RestCall { memdir, section, projects, parameter, conditions, last_event_id };
        (route.run)(&call, &query, &body)
    };
    let ran = run_blocking(&server.workers, (&*state.slots, kind), stop, std::future::pending(), work).await;
    ran.unwrap_or_else(|failure| Err(to_problem(failure)))
}

fn to_problem(failure: CallFailure) -> Problem {
    let status = match failure {
        CallFailure::Panicked => StatusCode::INTERNAL_SERVER_ERROR,
        CallFailure::Cancelled | CallFailure::TimedOut | CallFailure::TooMany => StatusCode::SERVICE_UNAVAILABLE,
    };
    Problem::from_status(status, failure.to_string())
}

/// Reads the events after a cursor, on a worker thread.
async fn read_events(server: Arc<McpServer>, state: Arc<CallerState>, cursor: ChangeCursor) -> Option<(String, ChangeCursor)> {
    let space = server.catalog().resources()?;
    let stop = Stop::default();
    let stop_work = stop.clone();
    let work = move || {
        let memdir = space().ok()?.with_stop(&stop_work);
        stream::events_since(&memdir, &cursor).ok()
    };
    let slots = (&*state.slots, CallKind::Read);
    run_blocking(&server.workers, slots, stop, server.shutdown.cancelled(), work).await.ok().flatten()
}

/// Turns an error of plain text, from a layer before the route, into a problem.
pub(super) async fn with_problem(response: Response) -> Response {
    let is_text = |value: &HeaderValue| value.as_bytes().starts_with(b"text/plain");
    let status = response.status();
    if !(status.is_client_error() || status.is_server_error()) || !response.headers().get(header::CONTENT_TYPE).is_some_and(is_text) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let text = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let problem = Problem::from_status(status, String::from_utf8_lossy(&text)).into_response();
    let (problem, body) = problem.into_parts();
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.extend(problem.headers);
    Response::from_parts(parts, body)
}

fn to_response(reply: RestReply<String>) -> Response {
    let mut response = match reply.value {
        Some(value) => with_type(reply.status, "application/json", value),
        None => Response::new(Body::empty()),
    };
    *response.status_mut() = reply.status;
    let etag = reply.etag.and_then(|version| HeaderValue::from_str(&format!("\"{version}\"")).ok());
    etag.into_iter().for_each(|etag| drop(response.headers_mut().insert(header::ETAG, etag)));
    if reply.is_replayed {
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    }
    response
}
