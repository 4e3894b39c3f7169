//! The routes of the pages. A `GET` never changes anything; every change is a form.

use super::{
    events, layout,
    local::{LocalPages, guard},
    params::Params,
    reply::{ViewContext, ViewReply},
    views,
    visit::{PageState, Visit, with_headers},
};
use crate::{call::CallKind, http::limit_request};
use axum::{
    Extension, Router,
    extract::{Path, RawQuery, Request, State},
    http::StatusCode,
    middleware::{from_fn, from_fn_with_state},
    response::Response,
    routing::{MethodRouter, get, post},
};
use memdir_core::Result;
use std::sync::Arc;

/// A view: renders a page for the name in the path, which is empty on pages without one, and the fields of the query or the form.
type View = fn(&ViewContext<'_>, &str, &Params) -> Result<ViewReply>;

/// Where a page can be served.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PageScope {
    /// On every server.
    Anywhere,
    /// Only on the machine that it is about: its conversations, hosts, settings, plans and decisions.
    Machine,
}

/// The pages.
const PAGES: &[(&str, View, PageScope)] = &[
    ("/", views::home::show, PageScope::Anywhere),
    ("/memories", views::memories::show, PageScope::Anywhere),
    ("/m/{*name}", views::memory::show, PageScope::Anywhere),
    ("/near/{*name}", views::neighbours::show, PageScope::Anywhere),
    ("/search", views::search::show, PageScope::Anywhere),
    ("/new", views::edit::show_new, PageScope::Anywhere),
    ("/edit/{*name}", views::edit::show, PageScope::Anywhere),
    ("/inbox", views::inbox::show, PageScope::Machine),
    ("/dream", views::dream::show, PageScope::Machine),
    ("/dream/{*name}", views::plan::show, PageScope::Machine),
    ("/timeline", views::timeline::show, PageScope::Anywhere),
    ("/change/{*name}", views::timeline::show_change, PageScope::Anywhere),
    ("/review", views::review::show, PageScope::Anywhere),
    ("/review/{*name}", views::review::show_one, PageScope::Anywhere),
    ("/chats", views::chats::show, PageScope::Machine),
    ("/chat/{*name}", views::chats::show_one, PageScope::Machine),
    ("/rules", views::rules::show, PageScope::Machine),
    ("/prompt", views::prompt::show, PageScope::Anywhere),
    ("/hosts", views::hosts::show, PageScope::Machine),
    ("/settings", views::settings::show, PageScope::Machine),
    ("/help", views::help::show, PageScope::Anywhere),
];

/// The changes.
const CHANGES: &[(&str, View, PageScope)] = &[
    ("/save", views::edit::save, PageScope::Anywhere),
    ("/delete", views::edit::delete, PageScope::Anywhere),
    ("/decide", views::inbox::decide, PageScope::Machine),
    ("/dream/make", views::dream::make, PageScope::Machine),
    ("/dream/apply", views::plan::apply, PageScope::Machine),
    ("/verify", views::memory::verify, PageScope::Anywhere),
    ("/restore", views::timeline::restore, PageScope::Anywhere),
    ("/undo", views::timeline::undo, PageScope::Anywhere),
    ("/redo", views::timeline::redo, PageScope::Anywhere),
    ("/review/decide", views::review::decide, PageScope::Anywhere),
    ("/hosts/check", views::hosts::check, PageScope::Machine),
];

/// Builds the routes of the pages. `machine` is whether they include those that are about this machine. A layer around them lets
/// people in: it adds a [`Visit`].
pub(super) fn routes(base: &str, machine: bool) -> Router<Arc<PageState>> {
    let mut router = Router::new().route(&format!("{base}/events"), get(events::stream));
    for (path, view, _) in PAGES.iter().filter(|(_, _, place)| machine || *place == PageScope::Anywhere) {
        router = router.route(&format!("{base}{path}"), page(*view));
    }
    for (path, view, _) in CHANGES.iter().filter(|(_, _, place)| machine || *place == PageScope::Anywhere) {
        router = router.route(&format!("{base}{path}"), change(*view));
    }
    router
}

/// Builds the router of the pages on this machine. Everything is below the unguessable path of the sessions.
pub(super) fn local_router(pages: Arc<LocalPages>) -> Router {
    routes(pages.sessions.base(), true)
        .fallback(unknown)
        .layer(from_fn_with_state(pages.clone(), guard))
        .layer(from_fn(limit_request))
        .layer(from_fn(with_headers))
        .with_state(pages.state.clone())
}

fn page(view: View) -> MethodRouter<Arc<PageState>> {
    let handler = move |State(state): State<Arc<PageState>>,
                        Extension(visit): Extension<Visit>,
                        name: Option<Path<String>>,
                        RawQuery(query): RawQuery| async move {
        let query = Params::parse(query.unwrap_or_default().as_bytes());
        let name = name.map(|Path(name)| name).unwrap_or_default();
        visit.answer(&state, CallKind::Read, move |context| view(context, &name, &query)).await
    };
    get(handler)
}

fn change(view: View) -> MethodRouter<Arc<PageState>> {
    let handler = move |State(state): State<Arc<PageState>>, Extension(visit): Extension<Visit>, request: Request| async move {
        let (parts, body) = request.into_parts();
        let form = visit.read_form(&parts.headers, body).await?;
        let checked = move |context: &ViewContext<'_>| match context.space.viewer.may_write {
            true => view(context, "", &form),
            false => Ok(layout::message_reply(StatusCode::FORBIDDEN, "Read-only", "You can read these memories but not change them.")),
        };
        Ok::<Response, Response>(visit.answer(&state, CallKind::Write, checked).await)
    };
    post(handler)
}

/// The answer to a path without a page.
pub(super) async fn unknown(State(state): State<Arc<PageState>>, Extension(visit): Extension<Visit>) -> Response {
    let page = |_: &ViewContext<'_>| Ok(layout::message_reply(StatusCode::NOT_FOUND, "Page not found", "This page does not exist."));
    visit.answer(&state, CallKind::Read, page).await
}
