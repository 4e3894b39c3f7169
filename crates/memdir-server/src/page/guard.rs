//! What every request passes before it reaches a view, and what every response gets: the allowed hosts and origins, the session, the
//! form token, and headers that forbid everything a page does not need.

use super::{
    layout,
    params::Params,
    reply::{Reply, ViewContext, html_response},
    session::{Session, Sessions},
    space::PageSpace,
};
use crate::{
    call::{CallKind, CallLimits, CallSlots, CallerLimits, run_blocking},
    http::{AccessControl, BodyBudget, Connection, HttpOptions, read_body, retry_later, text},
    subscriptions::Subscriptions,
    workers::WorkerPool,
};
use axum::{
    Extension,
    body::Body,
    extract::{Request, State},
    http::{
        HeaderMap, HeaderName, HeaderValue, Method, StatusCode,
        header::{self, CACHE_CONTROL},
    },
    middleware::Next,
    response::Response,
};
use memdir_core::{Result, internal::store::stop::Stop};
use std::{net::SocketAddr, sync::Arc};
use tokio_util::sync::CancellationToken;

/// The limits on calls: a browser with a few tabs.
const LIMITS: CallLimits = CallLimits {
    owner: CallerLimits { running: 6, writes: 2, waiting: 64 },
    caller: CallerLimits { running: 4, writes: 2, waiting: 32 },
    reads: 6,
    writes: 2,
};

/// Own script and stylesheet, own requests and forms, and nothing else: no inline script, no images from elsewhere, no frames.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The headers of every response. With `no-referrer`, browsers would send forms with `Origin: null`; `same-origin` sends nothing to
/// other sites either.
const HEADERS: [(&str, &str); 7] = [
    ("content-security-policy", CONTENT_SECURITY_POLICY),
    ("referrer-policy", "same-origin"),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=()"),
];

/// The state that all routes share.
pub(super) struct PageState {
    space: PageSpace,
    pub(super) sessions: Sessions,
    access: AccessControl,
    slots: Arc<CallSlots>,
    workers: Arc<WorkerPool>,
    bodies: BodyBudget,
    pub(super) subscriptions: Arc<Subscriptions>,
    pub(super) shutdown: CancellationToken,
}

impl PageState {
    pub(super) fn new(space: PageSpace, sessions: Sessions, address: SocketAddr) -> Self {
        let watched = space.memdir.clone();
        PageState {
            space,
            sessions,
            access: AccessControl::new(&HttpOptions::new(address), address),
            slots: CallSlots::new(LIMITS),
            workers: WorkerPool::new(LIMITS.threads()),
            bodies: BodyBudget::default(),
            subscriptions: Subscriptions::new(Arc::new(move || Ok(watched.clone()))),
            shutdown: CancellationToken::new(),
        }
    }

    /// Renders a view on a worker, and answers with it.
    pub(super) async fn answer(
        self: &Arc<Self>,
        session: Session,
        kind: CallKind,
        view: impl FnOnce(&ViewContext<'_>) -> Result<Reply> + Send + 'static,
    ) -> Response {
        let stop = Stop::default();
        let (state, space) = (self.clone(), PageSpace { memdir: self.space.memdir.with_stop(&stop), ..self.space.clone() });
        let work = move || {
            let context =
                ViewContext { space: &space, base: state.sessions.base(), csrf: &session.csrf, is_answer: kind == CallKind::Write };
            let reply = view(&context).unwrap_or_else(|error| layout::error_reply(&context, &error));
            to_response(&context, reply)
        };
        match run_blocking(&self.workers, (&self.slots, kind), stop, std::future::pending(), work).await {
            Ok(response) => {
                let memdir = self.space.memdir.clone();
                // Writes what searches computed back to the index, after the answer is out. If it fails, the next search does it.
                drop(self.workers.run(move || memdir.settle()));
                response
            }
            Err(failure) => retry_later(StatusCode::SERVICE_UNAVAILABLE, &failure.to_string()),
        }
    }

    /// Reads a form, and refuses it without the token of its session.
    pub(super) async fn read_form(&self, session: &Session, headers: &HeaderMap, body: Body) -> Result<Params, Response> {
        let (bytes, _reserved) = read_body(headers, body, "application/x-www-form-urlencoded", &self.bodies).await?;
        let form = Params::parse(&bytes);
        if session.accepts(form.get("csrf")) {
            Ok(form)
        } else {
            Err(text(StatusCode::FORBIDDEN, "missing or wrong form token; open the page again and repeat the change"))
        }
    }
}

/// The layer of all routes: checks host and origin, exchanges the first token, and requires a session.
pub(super) async fn guard(
    State(state): State<Arc<PageState>>,
    Extension(connection): Extension<Connection>,
    mut request: Request,
    next: Next,
) -> Result<Response, Response> {
    state.access.check_host_and_origin(&request)?;
    let method = request.method().clone();
    if method != Method::GET && method != Method::POST && method != Method::HEAD {
        return Err(text(StatusCode::METHOD_NOT_ALLOWED, "method not allowed"));
    }
    let path = request.uri().path();
    let Some(place) = path.strip_prefix(state.sessions.base()).and_then(|rest| rest.strip_prefix('/')) else {
        return Err(layout::no_session(StatusCode::NOT_FOUND));
    };
    if let Some(asset) = super::assets::respond(place) {
        return Ok(asset);
    }
    if place == "start" && method == Method::GET {
        return start(&state, request.uri().query().unwrap_or_default());
    }
    // A browser sends the origin with every form. A request without one is not from a page of ours.
    if method == Method::POST && !request.headers().contains_key(header::ORIGIN) {
        return Err(text(StatusCode::FORBIDDEN, "missing Origin header"));
    }
    let cookies = request.headers().get(header::COOKIE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let Some(session) = state.sessions.authenticate(cookies) else { return Err(layout::no_session(StatusCode::UNAUTHORIZED)) };
    if !connection.assign(None) {
        return Err(retry_later(StatusCode::SERVICE_UNAVAILABLE, "too many concurrent requests"));
    }
    request.extensions_mut().insert(session);
    Ok(next.run(request).await)
}

/// Exchanges the token of the first URL for a cookie, and goes to the home page under a URL without it.
fn start(state: &PageState, query: &str) -> Result<Response, Response> {
    let unavailable = |_| retry_later(StatusCode::SERVICE_UNAVAILABLE, "no randomness for a session");
    let cookie = state.sessions.exchange(Params::parse(query.as_bytes()).get("token")).map_err(unavailable)?;
    let Some(cookie) = cookie.and_then(|cookie| HeaderValue::from_str(&cookie).ok()) else {
        return Err(layout::no_session(StatusCode::UNAUTHORIZED));
    };
    let mut response = redirect(&format!("{}/", state.sessions.base()));
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    Ok(response)
}

/// The outermost layer: sets the headers that every response has.
pub(super) async fn with_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    for (name, value) in HEADERS {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response.headers_mut().entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

fn to_response(context: &ViewContext<'_>, reply: Reply) -> Response {
    match reply {
        Reply::Page(page) => html_response(page.status, layout::shell(context, &page)),
        Reply::Part(markup) => html_response(StatusCode::OK, markup.into_string()),
        Reply::Redirect(place) => redirect(&place),
    }
}

fn redirect(place: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    if let Ok(place) = HeaderValue::from_str(place) {
        response.headers_mut().insert(header::LOCATION, place);
    }
    response
}
