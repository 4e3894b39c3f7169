//! The routes of the HTTP server, and the layers that every request passes before it reaches one.

use super::{
    access::{AccessControl, is_forwarded},
    body::{self, BodyBudget, ReservedBody},
    caller::{CallerId, HttpCaller},
    connections::Connection,
    ending::EndingState,
    endpoint::HttpEndpoint,
    layers::limit_request,
    metrics::{Gauges, HttpMetrics},
    options::HttpOptions,
    rate::{RateLimiter, WRONG_TOKEN_COST},
    ready::Readiness,
    request_log::{self, RequestLog},
    response::{json, retry_later, rpc_error, text, with_header, with_type},
    rest,
    visitor::Visitor,
};
use crate::{
    mcp::{ConnectionId, malformed_initialize, not_a_message},
    oauth::{ResourceServer, TokenRefusal, WELL_KNOWN},
    workers::WorkerPool,
};
use axum::{
    Extension, Router,
    extract::{Request, State},
    http::{
        HeaderMap, Method, StatusCode, Uri,
        header::{self, HeaderValue},
    },
    middleware::{Next, from_fn_with_state},
    response::Response,
    routing::{any, get},
};
use bytes::Bytes;
use http_body_util::Full;
use memdir_core::internal::base::time::Stopwatch;
use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};
use tokio_util::sync::CancellationToken;

/// The headers of responses that scripts of other origins may read.
const EXPOSED_HEADERS: &str = "mcp-session-id, etag, idempotency-replayed, retry-after, www-authenticate, x-request-id";

/// Builds the router.
///
/// Routes that need an authorized caller belong to `authorized`; they find the caller in [`AuthorizedCaller`]. Routes that
/// anyone may call, such as a login, belong next to `/healthz`.
pub(super) fn router(state: Arc<HttpState>, pages: Option<Router>) -> Router {
    let authorized = Router::new()
        .route("/mcp", any(mcp))
        .route("/v1/{*rest}", any(rest))
        .route("/metrics", any(metrics))
        // Part of the authorized routes: only authorized callers learn which paths exist.
        .fallback(not_found)
        .layer(from_fn_with_state(state.clone(), authorize));
    Router::new()
        .route("/healthz", any(healthz))
        .route("/readyz", any(readyz))
        .route(WELL_KNOWN, get(oauth_metadata))
        .route(&format!("{WELL_KNOWN}/{{*resource}}"), get(oauth_metadata))
        .merge(authorized)
        .with_state(state.clone())
        .merge(pages.unwrap_or_default())
        .layer(from_fn_with_state(state, finish))
}

/// The state that all routes share.
pub(crate) struct HttpState {
    access: AccessControl,
    rates: RateLimiter,
    endpoint: Arc<HttpEndpoint>,
    metrics: HttpMetrics,
    log: Option<RequestLog>,
    readiness: Readiness,
    ending: EndingState,
}

impl HttpState {
    pub(super) fn new(options: &HttpOptions, address: SocketAddr, endpoint: Arc<HttpEndpoint>, ending: EndingState) -> Self {
        HttpState {
            access: AccessControl::new(options, address),
            rates: RateLimiter::new(options.per_second, options.burst),
            endpoint,
            metrics: HttpMetrics::default(),
            log: options.log.clone(),
            readiness: Readiness::new(options.callers.clone()),
            ending,
        }
    }

    /// Takes requests from the rate limit of an address.
    pub(crate) fn spend(&self, address: IpAddr, cost: u32) -> Result<(), Response> {
        let is_within_limit = self.rates.try_spend(address, cost);
        let refused = || retry_later(StatusCode::TOO_MANY_REQUESTS, "too many requests from this address");
        is_within_limit.then_some(()).ok_or_else(refused)
    }

    async fn authenticate(&self, headers: &HeaderMap, path: &str, peer: SocketAddr) -> Result<Option<CallerId>, Response> {
        match self.access.authenticate(headers, path).await {
            Ok(caller) => Ok(caller),
            // The identity provider does not answer: no one has guessed.
            Err(refused) if refused.status() == StatusCode::SERVICE_UNAVAILABLE => Err(refused),
            Err(refused) => {
                // A request without a token guesses nothing; clients send one to learn how to authenticate.
                if headers.contains_key(header::AUTHORIZATION) {
                    self.spend(peer.ip(), WRONG_TOKEN_COST)?;
                }
                Err(refused)
            }
        }
    }
}

/// What the pages use.
impl HttpState {
    /// Refuses requests that come too late, for another host, or from another origin.
    pub(crate) fn check_request<B>(&self, request: &Request<B>) -> Result<(), Response> {
        if self.ending.draining.is_cancelled() {
            let refused = retry_later(StatusCode::SERVICE_UNAVAILABLE, "the server is shutting down");
            return Err(with_header(refused, header::CONNECTION, "close"));
        }
        self.access.check_host_and_origin(request)
    }

    /// Returns the caller with this token, or `None` for the owner of the server. A wrong token is expensive for its address.
    pub(crate) async fn identify(&self, token: &str, peer: SocketAddr) -> Result<Option<CallerId>, TokenRefusal> {
        let identified = self.access.identify(Some(token.as_bytes())).await;
        if identified.as_ref().is_err_and(|refusal| !matches!(refusal, TokenRefusal::Unavailable(_)))
            && !self.rates.try_spend(peer.ip(), WRONG_TOKEN_COST)
        {
            return Err(TokenRefusal::RateLimited);
        }
        identified
    }

    /// Opens the space of a caller.
    pub(crate) async fn visitor(&self, caller: &HttpCaller) -> Result<Visitor, Response> {
        Visitor::open(&self.endpoint, caller).await
    }

    /// Returns the identity provider, if there is one.
    pub(crate) fn oauth(&self) -> Option<&ResourceServer> {
        self.access.oauth.as_deref()
    }

    /// Returns the threads that blocking work runs on.
    pub(crate) fn workers(&self) -> Arc<WorkerPool> {
        self.endpoint.workers()
    }

    /// Returns what is cancelled when the server ends.
    pub(crate) fn shutdown(&self) -> CancellationToken {
        self.endpoint.shutdown()
    }

    /// Returns the budget for bodies of requests without a caller.
    pub(crate) fn public_bodies(&self) -> BodyBudget {
        self.endpoint.public_bodies()
    }
}

/// The caller of an authorized request, or `None` for the owner of the server.
#[derive(Clone, Copy)]
struct AuthorizedCaller(Option<CallerId>);

/// The outermost layer: limits the request, counts and logs it, and sets the headers that every response has.
async fn finish(State(state): State<Arc<HttpState>>, request: Request, next: Next) -> Response {
    let took = Stopwatch::start();
    let origin = request.headers().get(header::ORIGIN).cloned();
    let is_rest = request.uri().path() == "/v1" || request.uri().path().starts_with("/v1/");
    let (method, route) = (request.method().clone(), route_label(request.method(), request.uri().path()));
    let id = request_log::request_id(request.headers());
    let mut response = limit_request(request, next).await;
    if is_rest {
        response = rest::with_problem(response).await;
    }
    if let Some(origin) = origin.filter(|_| response.status() != StatusCode::FORBIDDEN) {
        response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        response.headers_mut().insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED_HEADERS));
    }
    let (status, took) = (response.status().as_u16(), took.elapsed());
    state.metrics.record(route, status, took);
    if let Some(log) = &state.log {
        log.record(&id, method.as_str(), route, status, took);
    }
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(request_log::REQUEST_ID, id);
    }
    response
}

/// Returns the name of a route in metrics and logs. A path that is not in the table could be anything.
fn route_label(method: &Method, path: &str) -> &'static str {
    match path {
        "/mcp" => "mcp",
        "/healthz" => "healthz",
        "/readyz" => "readyz",
        "/metrics" => "metrics",
        _ if path == "/ui" || path.starts_with("/ui/") => "page",
        _ if path.starts_with(WELL_KNOWN) => "oauth_metadata",
        _ => rest::route_id(method, path).unwrap_or("other"),
    }
}

/// The layer of all routes but the public ones: checks host, origin, rate and token, and limits the connections of a caller.
async fn authorize(
    State(state): State<Arc<HttpState>>,
    Extension(connection): Extension<Connection>,
    request: Request,
    next: Next,
) -> Result<Response, Response> {
    state.check_request(&request)?;
    if request.method() == Method::OPTIONS {
        return Ok(preflight());
    }
    state.spend(connection.peer().ip(), 1)?;
    let (parts, body) = request.into_parts();
    let answered = match state.access.presume(&parts) {
        Some(id) if connection.assign(Some(id)) => rest::handle_presumed(&state.endpoint, id, &parts).await,
        _ => None,
    };
    let response = match answered {
        Some(response) => response,
        None => answer_identified(&state, &connection, Request::from_parts(parts, body), next).await?,
    };
    let is_leaving = state.ending.leaving.is_cancelled();
    Ok(if is_leaving { with_header(response, header::CONNECTION, "close") } else { response })
}

/// Looks up the token of a request, and passes the request on.
async fn answer_identified(state: &HttpState, connection: &Connection, mut request: Request, next: Next) -> Result<Response, Response> {
    let caller = state.authenticate(request.headers(), request.uri().path(), connection.peer()).await?;
    if !connection.assign(caller) {
        return Err(retry_later(StatusCode::SERVICE_UNAVAILABLE, "too many concurrent requests"));
    }
    request.extensions_mut().insert(AuthorizedCaller(caller));
    Ok(next.run(request).await)
}

async fn healthz() -> Response {
    text(StatusCode::OK, "ok")
}

async fn readyz(State(state): State<Arc<HttpState>>, Extension(connection): Extension<Connection>) -> Result<Response, Response> {
    state.spend(connection.peer().ip(), 1)?;
    if state.ending.leaving.is_cancelled() {
        return Err(text(StatusCode::SERVICE_UNAVAILABLE, "not ready: shutting down"));
    }
    match state.readiness.check().await {
        Ok(()) => Ok(text(StatusCode::OK, "ready")),
        Err(why) => Err(text(StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {why}"))),
    }
}

/// The metadata by which clients find the identity provider (RFC 9728). Public: a client needs it before it has a token.
async fn oauth_metadata(State(state): State<Arc<HttpState>>, uri: Uri) -> Response {
    let suffix = uri.path().strip_prefix(WELL_KNOWN).unwrap_or_default();
    match state.access.oauth.as_ref().and_then(|oauth| oauth.metadata(suffix)) {
        Some(metadata) => json(StatusCode::OK, &metadata),
        None => text(StatusCode::NOT_FOUND, "not found"),
    }
}

async fn metrics(State(state): State<Arc<HttpState>>) -> Response {
    let gauges = Gauges {
        calls: state.endpoint.running_calls(),
        spaces: state.endpoint.open_spaces(),
        is_draining: state.ending.leaving.is_cancelled(),
    };
    with_type(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", state.metrics.to_text(&gauges))
}

async fn not_found() -> Response {
    text(StatusCode::NOT_FOUND, "not found; the MCP endpoint is /mcp, and the REST API is under /v1")
}

async fn rest(
    State(state): State<Arc<HttpState>>,
    Extension(AuthorizedCaller(id)): Extension<AuthorizedCaller>,
    request: Request,
) -> Result<Response, Response> {
    rest::handle(&state.endpoint, id, request).await
}

async fn mcp(
    State(state): State<Arc<HttpState>>,
    Extension(connection): Extension<Connection>,
    Extension(AuthorizedCaller(id)): Extension<AuthorizedCaller>,
    request: Request,
) -> Result<Response, Response> {
    let (mut parts, body) = request.into_parts();
    let caller = HttpCaller::from_headers(id, &parts.headers)?;
    let shared = state.endpoint.caller(id);
    let is_post = parts.method == Method::POST;
    let (body, reserved) = if is_post {
        body::read_json(&parts.headers, body, &shared.bodies).await?
    } else {
        // Only POST has a body in MCP.
        drop(body);
        (Bytes::new(), ReservedBody::default())
    };
    // The parts live as long as the call, and the connection may end before.
    parts.extensions.remove::<Connection>();
    if !is_forwarded(&parts.headers) {
        parts.extensions.insert(ConnectionId(connection.name().to_owned()));
    }
    // Kept to explain what is wrong with it; a large one is not worth the memory.
    let message = if body.len() > body::SMALL_BODY_BYTES { Bytes::new() } else { body.clone() };
    let response = state.endpoint.handle(&caller, &shared, Request::from_parts(parts, Full::new(body)), reserved).await?;
    if is_post && response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
        // The media type has been checked: this is JSON that is not a message.
        let (id, error) = not_a_message(&message);
        return Err(rpc_error(id, &error));
    }
    if is_post
        && response.status().is_client_error()
        && let Some((id, error)) = malformed_initialize(&message)
    {
        return Err(rpc_error(id, &error));
    }
    Ok(response)
}

/// Returns the response to a CORS preflight request.
fn preflight() -> Response {
    let response = with_header(text(StatusCode::NO_CONTENT, ""), header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, PUT, DELETE");
    with_header(
        response,
        header::ACCESS_CONTROL_ALLOW_HEADERS,
        "authorization, content-type, idempotency-key, if-match, if-none-match, last-event-id, memdir-only, memdir-project, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id, x-request-id",
    )
}
