//! One MCP session: who calls, and the work on its space.

use super::{ConnectionId, McpServer, random_id};
use crate::{
    call::{CallKind, run_blocking},
    learned::FailedSearches,
    subscriptions::ResourceEvent,
};
use axum::http::request::Parts;
use memdir_core::{
    Actor, Error, Result as CoreResult,
    internal::{
        store::stop::Stop,
        tools::{Level, ToolContext, ToolResult},
    },
};
use rmcp::{ErrorData, Peer, RoleServer, model::ResourceUpdatedNotificationParam, service::RequestContext};
use std::{
    collections::{HashMap, VecDeque},
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio_util::sync::{CancellationToken, DropGuard};

/// Maximum number of characters of a client's name in the change history.
const MAX_ACTOR_CHARS: usize = 64;

/// The session of one client, or over HTTP without sessions, one request.
pub(crate) struct McpSession {
    pub(super) server: Arc<McpServer>,
    id: String,
    /// Whether clients have sessions, in which those of the older lifecycle are notified.
    pub(super) has_sessions: bool,
    /// The subscribed URIs: normalized, and as the client wrote them.
    subscribed: Arc<Mutex<HashMap<String, String>>>,
    /// Receivers of accepted subscriptions that have not started to listen.
    accepted: Mutex<VecDeque<Receiver<ResourceEvent>>>,
    is_notifying: AtomicBool,
    /// Searches of this session that found nothing.
    failed_searches: Arc<Mutex<FailedSearches>>,
    ended: CancellationToken,
    _end_on_drop: DropGuard,
}

impl McpSession {
    pub(crate) fn new(server: Arc<McpServer>) -> Self {
        let ended = server.shutdown.child_token();
        McpSession {
            server,
            id: random_id(),
            has_sessions: true,
            subscribed: Arc::default(),
            accepted: Mutex::default(),
            is_notifying: AtomicBool::new(false),
            failed_searches: Arc::default(),
            _end_on_drop: ended.clone().drop_guard(),
            ended,
        }
    }

    /// Answers requests without sessions if `has_sessions` is false.
    pub(crate) fn with_sessions(self, has_sessions: bool) -> Self {
        McpSession { has_sessions, ..self }
    }

    /// Returns the actor of a request, and whether it identifies a single conversation.
    pub(super) fn actor(&self, context: &RequestContext<RoleServer>) -> (Actor, bool) {
        if let Some(actor) = self.server.catalog.actor() {
            return (actor.clone(), true);
        }
        let name = context.client_info().map(|client| client.name).unwrap_or_default();
        let name: String = name.chars().filter(|c| !c.is_control()).take(MAX_ACTOR_CHARS).collect();
        let name = if name.is_empty() { "mcp".to_owned() } else { name };
        let session = match context.extensions.get::<Parts>() {
            None => Some(self.id.clone()),
            Some(parts) if parts.headers.contains_key("mcp-session-id") => Some(self.id.clone()),
            Some(parts) => parts.extensions.get::<ConnectionId>().map(|connection| connection.0.clone()),
        };
        let is_known = session.is_some();
        (Actor { name, session }, is_known)
    }

    /// Whether the client can be notified of changes outside of the answers to its requests, in the older lifecycle.
    pub(super) fn can_notify(context: &RequestContext<RoleServer>) -> bool {
        context.extensions.get::<Parts>().is_none_or(|parts| parts.headers.contains_key("mcp-session-id"))
    }

    /// Calls a tool on a worker thread.
    pub(super) async fn call(
        &self,
        served: &crate::catalog::ServedTool,
        context: &RequestContext<RoleServer>,
        arguments: serde_json::Map<String, serde_json::Value>,
    ) -> ToolResult {
        let _running = self.server.calls.begin();
        let stop = Stop::default();
        let (actor, session) = self.actor(context);
        let kind = if served.tool.level == Level::Safe { CallKind::Read } else { CallKind::Write };
        let (served, stop_call) = (served.clone(), stop.clone());
        // The space is resolved on the worker thread too: changed settings open it again.
        let failed_searches = self.failed_searches.clone();
        let call = move || match served.caller(actor, session, &stop_call) {
            Ok(caller) => {
                let result = served.tool.call(&caller, &arguments);
                if let Some(proposals) = served.proposals() {
                    let learned = failed_searches.lock().unwrap_or_else(PoisonError::into_inner).observe(served.tool.name, &result);
                    learned.iter().for_each(|(name, query)| proposals.add(name, query));
                }
                result
            }
            Err(why) => ToolResult::failure(why),
        };
        run_blocking(&self.server.workers, (&self.server.slots, kind), stop, context.ct.cancelled(), call).await.unwrap_or_else(Into::into)
    }

    /// Runs `work` on the space of resources and prompts, on a worker thread.
    pub(super) async fn with_space<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(&ToolContext) -> CoreResult<T> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let space = self
            .server
            .catalog
            .resources()
            .ok_or_else(|| ErrorData::invalid_request("this server provides only tools, not resources or prompts", None))?;
        let stop = Stop::default();
        let (actor, session) = self.actor(context);
        let stop_work = stop.clone();
        let run = move || {
            let memdir = space().map_err(|why| ErrorData::invalid_request(why, None))?;
            let caller =
                ToolContext { memdir: memdir.for_actor(actor).with_stop(&stop_work).counting_use(), session, root: PathBuf::new() };
            work(&caller).map_err(|error| to_error_data(&error))
        };
        let slots = (&*self.server.slots, CallKind::Read);
        let result = run_blocking(&self.server.workers, slots, stop, context.ct.cancelled(), run).await;
        result.unwrap_or_else(|failure| Err(ErrorData::internal_error(failure.to_string(), None)))
    }

    pub(super) fn subscribed(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.subscribed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn accepted(&self) -> MutexGuard<'_, VecDeque<Receiver<ResourceEvent>>> {
        self.accepted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notifies a client of the older lifecycle of changes from now on: of the list, and of the URIs it subscribed to.
    pub(super) async fn notify_changes(&self, peer: &Peer<RoleServer>) {
        let Some(subscriptions) = &self.server.subscriptions else { return };
        if self.is_notifying.swap(true, Ordering::Relaxed) {
            return;
        }
        let mut events = subscriptions.subscribe().await;
        let (peer, subscribed, ended) = (peer.clone(), self.subscribed.clone(), self.ended.clone());
        tokio::spawn(async move {
            loop {
                let event = tokio::select! {
                    event = events.recv() => event,
                    () = ended.cancelled() => return,
                };
                let sent = match event {
                    Ok(ResourceEvent::ListChanged) | Err(RecvError::Lagged(_)) => peer.notify_resource_list_changed().await,
                    // Proposals are not resources.
                    Ok(ResourceEvent::ProposalsChanged) => Ok(()),
                    Ok(ResourceEvent::Updated(uri)) => {
                        let wanted = subscribed.lock().unwrap_or_else(PoisonError::into_inner).get(&uri).cloned();
                        match wanted {
                            Some(uri) => peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await,
                            None => Ok(()),
                        }
                    }
                    Err(RecvError::Closed) => return,
                };
                if sent.is_err() {
                    return;
                }
            }
        });
    }
}

/// Converts an error to its JSON-RPC form.
pub(super) fn to_error_data(error: &Error) -> ErrorData {
    let message = format!("{error}. {}", error.hint());
    match error {
        Error::NotFound { .. } => ErrorData::resource_not_found(message, None),
        _ => ErrorData::invalid_params(message, None),
    }
}
