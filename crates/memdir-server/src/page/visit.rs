//! One request of a person: the space it is about, and how its view is rendered. Access is decided by `local` for the pages on
//! this machine, and by `server` for those of a server.

use super::{
    assets, layout,
    params::Params,
    reply::{ViewContext, ViewReply, html_response, redirect},
    space::PageSpace,
};
use crate::{
    call::{CallKind, CallSlots, run_blocking},
    http::{BodyBudget, InUse, read_body, retry_later, text},
    subscriptions::Subscriptions,
    workers::WorkerPool,
};
use axum::{
    body::Body,
    extract::Request,
    http::{
        HeaderMap, HeaderName, HeaderValue, Method, StatusCode,
        header::{self, CACHE_CONTROL},
    },
    middleware::Next,
    response::Response,
};
use memdir_core::{Result, internal::store::stop::Stop};
use std::sync::Arc;
use subtle::ConstantTimeEq as _;
use tokio_util::sync::CancellationToken;

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

/// What all requests share.
pub(super) struct PageState {
    /// The path prefix of every page, without a final slash.
    pub(super) base: String,
    pub(super) workers: Arc<WorkerPool>,
    pub(super) shutdown: CancellationToken,
}

/// Answers a request before anything is known about its person: with an asset, or by refusing a method, or a form of another site.
/// `place` is the path below the base.
pub(super) fn answer_early(request: &Request, place: &str) -> Option<Response> {
    let method = request.method();
    if method != Method::GET && method != Method::POST && method != Method::HEAD {
        return Some(text(StatusCode::METHOD_NOT_ALLOWED, "method not allowed; use GET, HEAD or POST"));
    }
    // A browser sends the origin with every form. A request without one is not from a page of ours.
    let is_form_of_another = method == Method::POST && !request.headers().contains_key(header::ORIGIN);
    assets::respond(place).or_else(|| is_form_of_another.then(|| text(StatusCode::FORBIDDEN, "missing Origin header")))
}

/// A request of a person that was let in.
#[derive(Clone)]
pub(super) struct Visit {
    pub(super) space: PageSpace,
    /// The token that every form repeats.
    pub(super) csrf: String,
    pub(super) subscriptions: Arc<Subscriptions>,
    pub(super) slots: Arc<CallSlots>,
    pub(super) bodies: BodyBudget,
    /// Ends event streams: cancelled when the server ends, or the person may no longer see the space.
    pub(super) shutdown: CancellationToken,
    /// Keeps the space open.
    pub(super) in_use: Option<InUse>,
}

impl Visit {
    /// Renders a view on a worker, and answers with it.
    pub(super) async fn answer(
        &self,
        state: &Arc<PageState>,
        kind: CallKind,
        view: impl FnOnce(&ViewContext<'_>) -> Result<ViewReply> + Send + 'static,
    ) -> Response {
        let stop = Stop::default();
        let space = PageSpace { memdir: self.space.memdir.with_stop(&stop), ..self.space.clone() };
        let (shared, csrf) = (state.clone(), self.csrf.clone());
        let work = move || {
            // Read before the view, so that a change which the view does not show counts as later.
            let cursor = space.cursor();
            let is_answer = kind == CallKind::Write;
            let context = ViewContext { space: &space, base: &shared.base, csrf: &csrf, is_answer, cursor };
            let reply = view(&context).unwrap_or_else(|error| layout::error_reply(&context, &error));
            to_response(&context, reply)
        };
        match run_blocking(&state.workers, (&self.slots, kind), stop, std::future::pending(), work).await {
            Ok(response) => {
                let memdir = self.space.memdir.clone();
                // Writes what searches computed back to the index, after the answer is out. If it fails, the next search does it.
                drop(state.workers.run(move || memdir.settle()));
                response
            }
            Err(failure) => retry_later(StatusCode::SERVICE_UNAVAILABLE, &failure.to_string()),
        }
    }

    /// Reads a form, and refuses it without the token of its session.
    pub(super) async fn read_form(&self, headers: &HeaderMap, body: Body) -> Result<Params, Response> {
        let (bytes, _reserved) = read_body(headers, body, "application/x-www-form-urlencoded", &self.bodies).await?;
        let form = Params::parse(&bytes);
        if is_equal(&self.csrf, form.get("csrf")) {
            Ok(form)
        } else {
            Err(text(StatusCode::FORBIDDEN, "missing or invalid form token; open the page again and repeat the change"))
        }
    }
}

/// Compares secrets in constant time.
pub(super) fn is_equal(own: &str, given: &str) -> bool {
    own.as_bytes().ct_eq(given.as_bytes()).into()
}

/// Returns the value of the cookie with this name, of a `Cookie` header.
pub(super) fn cookie_values<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    let cookies = headers.get(header::COOKIE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let pairs = cookies.split(';').filter_map(|cookie| cookie.trim().split_once('='));
    pairs.filter(move |(key, _)| *key == name).map(|(_, value)| value)
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

fn to_response(context: &ViewContext<'_>, reply: ViewReply) -> Response {
    match reply {
        ViewReply::Page(page) => html_response(page.status, layout::shell(context, &page)),
        ViewReply::Part(markup) => html_response(StatusCode::OK, markup.into_string()),
        ViewReply::Redirect(place) => redirect(&place),
    }
}
