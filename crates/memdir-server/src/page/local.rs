//! Access to the pages on this machine: only the browser that opened the first URL has it. Checks the allowed hosts and origins, the session
//! and the form token.

use super::{
    layout,
    params::Params,
    reply::redirect,
    session::PageSessions,
    space::PageSpace,
    visit::{PageState, Visit, answer_early, cookie_values},
};
use crate::{
    call::{CallLimits, CallSlots, CallerLimits},
    http::{AccessControl, BodyBudget, Connection, retry_later},
    subscriptions::Subscriptions,
    workers::WorkerPool,
};
use axum::{
    Extension,
    extract::{Request, State},
    http::{HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::Response,
};
use std::{net::SocketAddr, sync::Arc};
use tokio_util::sync::CancellationToken;

/// The limits on calls: a browser with a few tabs.
const LIMITS: CallLimits = CallLimits {
    owner: CallerLimits { running: 6, writes: 2, waiting: 64 },
    caller: CallerLimits { running: 4, writes: 2, waiting: 32 },
    reads: 6,
    writes: 2,
};

/// The sessions of this machine's pages, and the space that all of them see.
pub(super) struct LocalPages {
    pub(super) sessions: PageSessions,
    pub(super) state: Arc<PageState>,
    space: PageSpace,
    access: AccessControl,
    slots: Arc<CallSlots>,
    bodies: BodyBudget,
    subscriptions: Arc<Subscriptions>,
}

impl LocalPages {
    pub(super) fn new(space: PageSpace, sessions: PageSessions, address: SocketAddr) -> Self {
        let watched = space.memdir.clone();
        let workers = WorkerPool::new(LIMITS.threads());
        LocalPages {
            state: Arc::new(PageState { base: sessions.base().to_owned(), workers, shutdown: CancellationToken::new() }),
            sessions,
            space,
            access: AccessControl::for_own_page(address),
            slots: CallSlots::new(LIMITS),
            bodies: BodyBudget::default(),
            subscriptions: Subscriptions::new(Arc::new(move || Ok(watched.clone()))),
        }
    }

    fn visit(&self, csrf: String) -> Visit {
        Visit {
            space: self.space.clone(),
            csrf,
            subscriptions: self.subscriptions.clone(),
            slots: self.slots.clone(),
            bodies: self.bodies.clone(),
            shutdown: self.state.shutdown.clone(),
            in_use: None,
        }
    }
}

/// The layer of all routes: checks host and origin, exchanges the first token, and requires a session.
pub(super) async fn guard(
    State(local): State<Arc<LocalPages>>,
    Extension(connection): Extension<Connection>,
    mut request: Request,
    next: Next,
) -> Result<Response, Response> {
    local.access.check_host_and_origin(&request)?;
    let path = request.uri().path();
    let Some(place) = path.strip_prefix(local.sessions.base()).and_then(|rest| rest.strip_prefix('/')) else {
        return Err(layout::no_session(StatusCode::NOT_FOUND, None));
    };
    if let Some(response) = answer_early(&request, place) {
        return Ok(response);
    }
    if place == "start" && request.method() == Method::GET {
        return start(&local, request.uri().query().unwrap_or_default());
    }
    let secrets = cookie_values(request.headers(), local.sessions.cookie()).collect::<Vec<_>>();
    let refused = || layout::no_session(StatusCode::UNAUTHORIZED, Some(local.sessions.base()));
    let session = local.sessions.authenticate(&secrets).ok_or_else(refused)?;
    if !connection.assign(None) {
        return Err(retry_later(StatusCode::SERVICE_UNAVAILABLE, "too many concurrent requests"));
    }
    request.extensions_mut().insert(local.visit(session.csrf));
    Ok(next.run(request).await)
}

/// Exchanges the token of the first URL for a cookie, and goes to the home page under a URL without it.
fn start(local: &LocalPages, query: &str) -> Result<Response, Response> {
    let unavailable = |_| retry_later(StatusCode::SERVICE_UNAVAILABLE, "cannot generate a session secret");
    let cookie = local.sessions.exchange(Params::parse(query.as_bytes()).get("token")).map_err(unavailable)?;
    let Some(cookie) = cookie.and_then(|cookie| HeaderValue::from_str(&cookie).ok()) else {
        return Err(layout::no_session(StatusCode::UNAUTHORIZED, Some(local.sessions.base())));
    };
    let mut response = redirect(&format!("{}/", local.sessions.base()));
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    Ok(response)
}
