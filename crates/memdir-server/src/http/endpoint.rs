//! The MCP endpoint over HTTP: one service per caller and selected space. A caller cannot reach the sessions of another, and has
//! limits of its own: no number of requests, spaces or sessions of one caller locks out another.

use super::{
    CALLS_SECS,
    body::{BodyBudget, SMALL_BODY_BYTES},
    caller::{CallerDirectory, CallerId, HttpCaller},
    guarded::guarded,
    response::{retry_later, text},
    sessions::SessionTable,
    usage::{InUse, Usage},
};
use crate::{
    call::{CallFailure, CallKind, CallSlots, RunningCall, run_blocking},
    mcp::{MAX_MESSAGE_BYTES, McpServer, McpSession},
    workers::WorkerPool,
};
use axum::{
    body::{Body, HttpBody as _},
    http::{HeaderMap, Method, Request, StatusCode, header},
    response::Response,
};
use bytes::Bytes;
use http_body_util::Full;
use memdir_core::internal::store::stop::Stop;
use rmcp::transport::{
    StreamableHttpServerConfig, StreamableHttpService,
    streamable_http_server::{SessionId, SessionManager as _, session::local::LocalSessionManager},
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    sync::OnceCell,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

/// Maximum number of open spaces of callers.
const MAX_OPEN_SPACES: usize = 256;
/// Maximum number of open spaces of one caller: the projects and narrowed sessions it works with at a time.
const MAX_SPACES_PER_CALLER: usize = 16;
/// Seconds after which a session without requests ends.
const SESSION_SECS: u64 = 4 * 3600;
/// Milliseconds after which a client should open an interrupted event stream again.
const RETRY_MILLIS: u64 = 3_000;
const SESSION_HEADER: &str = "mcp-session-id";

/// What all requests of one caller share.
pub(super) struct CallerState {
    pub(super) slots: Arc<CallSlots>,
    pub(super) bodies: BodyBudget,
    sessions: SessionTable,
}

/// The services of all callers.
pub(super) struct HttpEndpoint {
    /// The service of the owner's whole space.
    own: Arc<McpService>,
    owner: Arc<CallerState>,
    server: Arc<McpServer>,
    directory: Option<Arc<dyn CallerDirectory>>,
    has_sessions: bool,
    open: Mutex<OpenServices>,
}

/// The services of callers.
#[derive(Default)]
struct OpenServices {
    /// The revision of the directory that outdated callers were last looked up at.
    revision: u64,
    /// Counts uses, to order spaces by their last one.
    clock: u64,
    spaces: HashMap<HttpCaller, CallerService>,
    callers: HashMap<CallerId, Arc<CallerState>>,
}

/// The space of a caller. Its cell is empty while it is being opened.
#[derive(Default)]
struct CallerService {
    cell: ServiceCell,
    usage: Usage,
}

/// A space that is open, and stays so as long as it is in use.
pub(super) struct OpenedSpace {
    pub(super) server: Arc<McpServer>,
    pub(super) in_use: Option<InUse>,
}

type ServiceCell = Arc<OnceCell<Arc<McpService>>>;

impl HttpEndpoint {
    pub(super) fn new(server: Arc<McpServer>, directory: Option<Arc<dyn CallerDirectory>>, has_sessions: bool) -> Self {
        let owner = CallerState { slots: server.slots.clone(), bodies: BodyBudget::default(), sessions: SessionTable::default() };
        let own = Arc::new(McpService::new(server.clone(), has_sessions));
        HttpEndpoint { own, owner: Arc::new(owner), server, directory, has_sessions, open: Mutex::default() }
    }

    /// Returns what the requests of a caller share.
    pub(super) fn caller(&self, id: Option<CallerId>) -> Arc<CallerState> {
        let Some(id) = id else { return self.owner.clone() };
        let state =
            || CallerState { slots: self.owner.slots.for_caller(), bodies: self.owner.bodies.sibling(), sessions: SessionTable::default() };
        self.open_services().callers.entry(id).or_insert_with(|| Arc::new(state())).clone()
    }

    /// Answers a request. The first one of a space opens it on a worker thread; concurrent requests of the same caller wait for it,
    /// those of others do not. `held` is dropped when the response has been sent.
    pub(super) async fn handle(
        &self,
        caller: &HttpCaller,
        state: &CallerState,
        request: Request<Full<Bytes>>,
        held: impl Send + Unpin + 'static,
    ) -> Result<Response, Response> {
        let (service, space) = self.service(caller, state).await?;
        let (method, session) = (request.method().clone(), session_id(request.headers()));
        let in_session = session.as_deref().and_then(|id| state.sessions.begin(id));
        let subscribes = request.headers().get("mcp-method").is_some_and(|method| method == "subscriptions/listen");
        if subscribes && request.body().size_hint().lower() > SMALL_BODY_BYTES as u64 {
            // It would stay in memory as long as the stream.
            let why = format!("a subscription request can be at most {SMALL_BODY_BYTES} bytes; subscribe to fewer resources");
            return Err(text(StatusCode::PAYLOAD_TOO_LARGE, why));
        }
        // `rmcp` asks for a subscription on the async thread, where listing the files would delay all requests.
        let _subscribed = if subscribes { service.server.subscribe().await } else { None };
        let response = service.service.handle(request).await;
        let is_event_stream = response.headers().get(header::CONTENT_TYPE).is_some_and(|value| value == "text/event-stream");
        let begun = session_id(response.headers()).filter(|_| session.is_none());
        match &session {
            None => begun.iter().for_each(|id| state.sessions.add(id, &service.sessions)),
            Some(id) if method == Method::DELETE || response.status() == StatusCode::NOT_FOUND => state.sessions.remove(id),
            Some(_) => {}
        }
        // Requests of sessions are answered by event streams too, which end with the answer; without sessions, only subscriptions
        // are.
        let waits_for_news = is_event_stream && (method == Method::GET || (session.is_none() && begun.is_none()));
        let uses = [space, in_session].map(|in_use| if waits_for_news { in_use.map(InUse::into_stream) } else { in_use });
        Ok(response.map(|body| guarded(Body::new(body), (uses, held))))
    }

    /// Returns the threads that blocking work runs on.
    pub(super) fn workers(&self) -> Arc<WorkerPool> {
        self.server.workers.clone()
    }

    /// Returns what is cancelled when the server ends.
    pub(super) fn shutdown(&self) -> CancellationToken {
        self.server.shutdown.clone()
    }

    /// Returns the budget for bodies of requests without a caller.
    pub(super) fn public_bodies(&self) -> BodyBudget {
        self.owner.bodies.sibling()
    }

    /// Returns the space of a caller, opened if necessary.
    pub(super) async fn space(&self, caller: &HttpCaller, state: &CallerState) -> Result<OpenedSpace, Response> {
        let (service, in_use) = self.service(caller, state).await?;
        Ok(OpenedSpace { server: service.server.clone(), in_use })
    }

    /// Returns a function that makes the next use of a caller's space look the caller up: what an event stream reads was not requested by
    /// a request whose token has just been checked.
    pub(super) fn rechecker(&self, id: Option<CallerId>) -> impl Fn() + Send + Sync + 'static {
        let directory = self.directory.clone();
        move || {
            if let (Some(directory), Some(id)) = (&directory, id) {
                directory.recheck(id);
            }
        }
    }

    /// Returns the service of a caller, and a guard that keeps its space open.
    async fn service(&self, caller: &HttpCaller, state: &CallerState) -> Result<(Arc<McpService>, Option<InUse>), Response> {
        if caller.is_unrestricted() {
            return Ok((self.own.clone(), None));
        }
        let Some(directory) = &self.directory else {
            return Err(text(StatusCode::FORBIDDEN, "this server does not support the headers Memdir-Only and Memdir-Project; omit them"));
        };
        self.close_outdated();
        let (cell, in_use) = self.open_services().space(caller)?;
        let opened = cell.get_or_try_init(|| self.open(directory, caller, state)).await.cloned();
        let mut open = self.open_services();
        let is_listed = open.spaces.get(caller).is_some_and(|listed| Arc::ptr_eq(&listed.cell, &cell));
        match opened {
            Ok(service) if is_listed => Ok((service, Some(in_use))),
            // The caller's permissions changed while its space was opened, and the service was dropped from the list.
            Ok(_) => Err(retry_later(StatusCode::SERVICE_UNAVAILABLE, "the caller's permissions changed during the request; try again")),
            Err(refused) => {
                // The last request that waits for this cell removes it: the list, and this function, hold it.
                if is_listed && Arc::strong_count(&cell) == 2 {
                    open.spaces.remove(caller);
                }
                Err(refused)
            }
        }
    }

    /// Returns the number of open spaces of callers.
    pub(super) fn open_spaces(&self) -> usize {
        self.open_services().spaces.len()
    }

    /// Returns the number of running calls.
    pub(super) fn running_calls(&self) -> usize {
        self.server.calls.total()
    }

    /// Counts a request as a running call until the returned guard is dropped.
    pub(super) fn begin_request(&self) -> RunningCall {
        self.server.calls.begin()
    }

    /// Closes the spaces of callers whose permissions have changed, with their sessions and event streams.
    pub(super) fn close_outdated(&self) {
        let Some(directory) = &self.directory else { return };
        let mut open = self.open_services();
        if open.spaces.is_empty() && open.callers.is_empty() {
            return;
        }
        let revision = directory.revision();
        if revision == open.revision {
            return;
        }
        open.revision = revision;
        open.callers.retain(|id, _| directory.is_current(*id));
        let is_outdated = |caller: &HttpCaller| caller.id.is_some_and(|id| !directory.is_current(id));
        open.spaces.extract_if(|caller, _| is_outdated(caller)).for_each(|(_, space)| close(&space.cell));
    }

    async fn open(
        &self,
        directory: &Arc<dyn CallerDirectory>,
        caller: &HttpCaller,
        state: &CallerState,
    ) -> Result<Arc<McpService>, Response> {
        let (opener, of) = (directory.clone(), caller.clone());
        let slots = (&*state.slots, CallKind::Read);
        let opened = run_blocking(&self.server.workers, slots, Stop::default(), std::future::pending(), move || opener.open(&of)).await;
        match opened {
            Ok(Ok(catalog)) => {
                let catalog = match caller.id {
                    None => catalog,
                    // A call that waited, and an event stream, must not see what was saved after the token was revoked.
                    Some(id) => {
                        let directory = directory.clone();
                        catalog.guarded(Arc::new(move || directory.check_caller(id)))
                    }
                };
                Ok(Arc::new(McpService::new(self.server.sibling(catalog, state.slots.clone()), self.has_sessions)))
            }
            Ok(Err(why)) => Err(text(StatusCode::FORBIDDEN, why)),
            Err(CallFailure::TimedOut | CallFailure::Cancelled) => {
                Err(retry_later(StatusCode::SERVICE_UNAVAILABLE, "cannot open the memories within the time limit; try again"))
            }
            Err(failure @ CallFailure::TooMany) => Err(retry_later(StatusCode::SERVICE_UNAVAILABLE, &failure.to_string())),
            Err(CallFailure::Panicked) => {
                Err(text(StatusCode::INTERNAL_SERVER_ERROR, "cannot open the memories: internal error; see the server's log"))
            }
        }
    }

    fn open_services(&self) -> MutexGuard<'_, OpenServices> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenServices {
    /// Returns the space of a caller, and adds it if necessary. Too many spaces close the one that has been idle longest.
    fn space(&mut self, caller: &HttpCaller) -> Result<(ServiceCell, InUse), Response> {
        if !self.spaces.contains_key(caller) {
            if self.spaces.keys().filter(|open| open.id == caller.id).count() >= MAX_SPACES_PER_CALLER && !self.close_oldest(caller.id) {
                let why = format!(
                    "too many combinations of Memdir-Project and Memdir-Only in use: the maximum is {MAX_SPACES_PER_CALLER} per caller; use fewer"
                );
                return Err(retry_later(StatusCode::SERVICE_UNAVAILABLE, &why));
            }
            if self.spaces.len() >= MAX_OPEN_SPACES && !self.close_oldest_of_most() {
                let why = format!("too many memory spaces in use: the maximum is {MAX_OPEN_SPACES} for all callers; try again later");
                return Err(retry_later(StatusCode::SERVICE_UNAVAILABLE, &why));
            }
        }
        self.clock += 1;
        let space = self.spaces.entry(caller.clone()).or_default();
        Ok((space.cell.clone(), space.usage.begin(self.clock)))
    }

    /// Closes the idle space that was used longest ago, of the caller that has the most idle ones.
    fn close_oldest_of_most(&mut self) -> bool {
        let mut idle: HashMap<Option<CallerId>, usize> = HashMap::new();
        let all = self.spaces.iter().filter(|(_, space)| space.usage.idle_rank().is_some());
        all.for_each(|(caller, _)| *idle.entry(caller.id).or_default() += 1);
        idle.into_iter().max_by_key(|(_, count)| *count).is_some_and(|(most, _)| self.close_oldest(most))
    }

    /// Closes the space of a caller that has been idle longest. Returns whether there was one.
    fn close_oldest(&mut self, id: Option<CallerId>) -> bool {
        let ranked = self.spaces.iter().filter(|(caller, _)| caller.id == id);
        let ranked = ranked.filter_map(|(caller, space)| Some((space.usage.idle_rank()?, caller)));
        let Some(oldest) = ranked.min_by_key(|(rank, _)| *rank).map(|(_, caller)| caller.clone()) else { return false };
        if let Some(space) = self.spaces.remove(&oldest) {
            close(&space.cell);
        }
        true
    }
}

fn session_id(headers: &HeaderMap) -> Option<String> {
    headers.get(SESSION_HEADER).and_then(|id| id.to_str().ok()).map(str::to_owned)
}

/// Closes a service that is no longer listed.
fn close(cell: &ServiceCell) {
    if let Some(service) = cell.get().cloned() {
        tokio::spawn(service.close());
    }
}

/// The MCP service of one space. Its requests have been authorized, and their bodies read.
struct McpService {
    server: Arc<McpServer>,
    sessions: Arc<LocalSessionManager>,
    service: StreamableHttpService<McpSession, LocalSessionManager>,
}

impl McpService {
    fn new(server: Arc<McpServer>, has_sessions: bool) -> Self {
        let retry = Some(Duration::from_millis(RETRY_MILLIS));
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(Duration::from_secs(SESSION_SECS));
        sessions.session_config.sse_retry = retry;
        let sessions = Arc::new(sessions);
        let config = StreamableHttpServerConfig::default()
            // The router has checked the host.
            .disable_allowed_hosts()
            .with_legacy_session_mode(has_sessions)
            .with_json_response(true)
            .with_sse_retry(retry)
            .with_max_request_body_bytes(MAX_MESSAGE_BYTES)
            .with_cancellation_token(server.shutdown.clone());
        let for_sessions = server.clone();
        let service = StreamableHttpService::new(
            move || Ok(McpSession::new(for_sessions.clone()).with_sessions(has_sessions)),
            sessions.clone(),
            config,
        );
        McpService { server, sessions, service }
    }

    /// Waits until requests in progress are answered, then ends all sessions and event streams, which closes the space.
    async fn close(self: Arc<Self>) {
        let answered = async {
            while Arc::strong_count(&self) > 1 || self.server.calls.own() > 0 {
                sleep(Duration::from_millis(5)).await;
            }
        };
        let _ = timeout(Duration::from_secs(CALLS_SECS), answered).await;
        self.server.shutdown.cancel();
        let sessions: Vec<SessionId> = self.sessions.sessions.read().await.keys().cloned().collect();
        for session in &sessions {
            // A session that has ended by itself needs no closing.
            let _ = self.sessions.close_session(session).await;
        }
    }
}
