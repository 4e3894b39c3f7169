//! A caller's space as the pages need it. Opening it is limited like every other call of the caller.

use super::{
    body::BodyBudget,
    caller::HttpCaller,
    endpoint::HttpEndpoint,
    response::{retry_later, text},
    usage::InUse,
};
use crate::{
    call::{CallKind, CallSlots, run_blocking},
    catalog::PromptSection,
    subscriptions::Subscriptions,
};
use axum::{http::StatusCode, response::Response};
use memdir_core::{Access, Memdir, internal::store::stop::Stop};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// A caller's space for the pages, and the limits of the caller.
pub(crate) struct Visitor {
    pub(crate) memdir: Memdir,
    pub(crate) may_write: bool,
    pub(crate) section: Option<PromptSection>,
    pub(crate) subscriptions: Arc<Subscriptions>,
    pub(crate) slots: Arc<CallSlots>,
    pub(crate) bodies: BodyBudget,
    /// Cancelled when the caller may no longer see the space.
    pub(crate) shutdown: CancellationToken,
    /// Keeps the space open.
    pub(crate) in_use: Option<InUse>,
}

impl Visitor {
    /// Opens the space of a caller. Fails if it has no memories, only tools of another system.
    pub(super) async fn open(endpoint: &HttpEndpoint, caller: &HttpCaller) -> Result<Self, Response> {
        let state = endpoint.caller(caller.id);
        let opened = endpoint.space(caller, &state).await?;
        let server = &opened.server;
        let (Some(space), Some(subscriptions)) = (server.catalog().resources(), server.subscriptions()) else {
            return Err(text(StatusCode::NOT_FOUND, "this server has no web pages: it serves another memory system's tools"));
        };
        // The space may be opened again.
        let slots = (&*state.slots, CallKind::Read);
        let memdir = match run_blocking(&server.workers, slots, Stop::default(), std::future::pending(), move || space()).await {
            Ok(Ok(memdir)) => memdir,
            Ok(Err(why)) => return Err(text(StatusCode::FORBIDDEN, why)),
            Err(failure) => return Err(retry_later(StatusCode::SERVICE_UNAVAILABLE, &failure.to_string())),
        };
        let is_writable = memdir.store().mounts().iter().any(|mount| mount.access == Access::ReadWrite);
        Ok(Visitor {
            memdir,
            may_write: is_writable && server.catalog().can_write(),
            section: server.catalog().section().cloned(),
            subscriptions: subscriptions.clone(),
            slots: state.slots.clone(),
            bodies: state.bodies.clone(),
            shutdown: server.shutdown.clone(),
            in_use: opened.in_use,
        })
    }
}
