//! The routes of the pages of a server, below `/ui`.

use super::{
    login,
    reply::redirect,
    routes::{routes, unknown},
    server::{BASE, ServerPages, enter, select_project, sign_out},
    visit::with_headers,
};
use crate::http::HttpState;
use axum::{
    Router,
    middleware::{from_fn, from_fn_with_state},
    routing::{any, get, post},
};
use std::sync::Arc;

/// Builds the routes.
pub(crate) fn server_routes(http: Arc<HttpState>) -> Router {
    let pages = Arc::new(ServerPages::new(http));
    let own = Router::new()
        .route(BASE, get(|| async { redirect(&format!("{BASE}/")) }))
        .route(&format!("{BASE}/login"), get(login::show).post(login::sign_in))
        .route(&format!("{BASE}/oauth"), get(login::begin))
        .route(&format!("{BASE}/callback"), get(login::finish))
        .route(&format!("{BASE}/project"), post(select_project))
        .route(&format!("{BASE}/logout"), post(sign_out))
        .with_state(pages.clone());
    let views = routes(BASE, false).route(&format!("{BASE}/{{*path}}"), any(unknown)).with_state(pages.state.clone());
    own.merge(views).layer(from_fn_with_state(pages, enter)).layer(from_fn(with_headers))
}
