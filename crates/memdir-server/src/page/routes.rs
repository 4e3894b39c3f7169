//! The routes of the pages. A `GET` never changes anything; every change is a form.

use super::{
    events,
    guard::{PageState, guard, with_headers},
    layout,
    params::Params,
    reply::{Reply, ViewContext},
    session::Session,
    views,
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
type View = fn(&ViewContext<'_>, &str, &Params) -> Result<Reply>;

/// The pages.
const PAGES: &[(&str, View)] = &[
    ("/", views::home::show),
    ("/memories", views::memories::show),
    ("/m/{*name}", views::memory::show),
    ("/near/{*name}", views::neighbours::show),
    ("/search", views::search::show),
    ("/new", views::edit::show_new),
    ("/edit/{*name}", views::edit::show),
    ("/inbox", views::inbox::show),
    ("/dream", views::dream::show),
    ("/dream/{*name}", views::plan::show),
    ("/timeline", views::timeline::show),
    ("/change/{*name}", views::timeline::show_change),
    ("/chats", views::chats::show),
    ("/chat/{*name}", views::chats::show_one),
    ("/rules", views::rules::show),
    ("/prompt", views::prompt::show),
    ("/hosts", views::hosts::show),
    ("/settings", views::settings::show),
    ("/help", views::help::show),
];

/// The changes.
const CHANGES: &[(&str, View)] = &[
    ("/save", views::edit::save),
    ("/delete", views::edit::delete),
    ("/decide", views::inbox::decide),
    ("/dream/make", views::dream::make),
    ("/dream/apply", views::plan::apply),
    ("/verify", views::memory::verify),
    ("/restore", views::timeline::restore),
    ("/undo", views::timeline::undo),
    ("/redo", views::timeline::redo),
    ("/hosts/check", views::hosts::check),
];

/// Builds the router. Everything is below the unguessable path of the sessions.
pub(super) fn router(state: Arc<PageState>) -> Router {
    let base = state.sessions.base().to_owned();
    let mut router = Router::new().route(&format!("{base}/events"), get(events::stream));
    for (path, view) in PAGES {
        router = router.route(&format!("{base}{path}"), page(*view));
    }
    for (path, view) in CHANGES {
        router = router.route(&format!("{base}{path}"), change(*view));
    }
    router
        .fallback(unknown)
        .layer(from_fn_with_state(state.clone(), guard))
        .layer(from_fn(limit_request))
        .layer(from_fn(with_headers))
        .with_state(state)
}

fn page(view: View) -> MethodRouter<Arc<PageState>> {
    let handler = move |State(state): State<Arc<PageState>>,
                        Extension(session): Extension<Session>,
                        name: Option<Path<String>>,
                        RawQuery(query): RawQuery| async move {
        let query = Params::parse(query.unwrap_or_default().as_bytes());
        let name = name.map(|Path(name)| name).unwrap_or_default();
        state.answer(session, CallKind::Read, move |context| view(context, &name, &query)).await
    };
    get(handler)
}

fn change(view: View) -> MethodRouter<Arc<PageState>> {
    let handler = move |State(state): State<Arc<PageState>>, Extension(session): Extension<Session>, request: Request| async move {
        let (parts, body) = request.into_parts();
        let form = state.read_form(&session, &parts.headers, body).await?;
        let checked = move |context: &ViewContext<'_>| match context.space.viewer.may_write {
            true => view(context, "", &form),
            false => Ok(layout::message_reply(StatusCode::FORBIDDEN, "Read-only", "You may read these memories but not change them.")),
        };
        Ok::<Response, Response>(state.answer(session, CallKind::Write, checked).await)
    };
    post(handler)
}

async fn unknown(State(state): State<Arc<PageState>>, Extension(session): Extension<Session>) -> Response {
    let page = |_: &ViewContext<'_>| Ok(layout::message_reply(StatusCode::NOT_FOUND, "Page not found", "This page does not exist."));
    state.answer(session, CallKind::Read, page).await
}
