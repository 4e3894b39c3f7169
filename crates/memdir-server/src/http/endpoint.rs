//! The MCP endpoint over HTTP: one service per caller and selected space. A caller cannot reach the sessions of another.

use super::{
    CALLS_SECS,
    caller::{CallerDirectory, HttpCaller},
    response::{retry_later, text},
};
use crate::{
    call::{CallFailure, run_blocking},
    mcp::{MAX_MESSAGE_BYTES, McpServer, McpSession},
};
use axum::{
    http::{Request, Response, StatusCode},
    response::Response as AxumResponse,
};
use bytes::Bytes;
use http_body_util::{Full, combinators::BoxBody};
use memdir_core::internal::store::stop::Stop;
use rmcp::transport::{
    StreamableHttpServerConfig, StreamableHttpService,
    streamable_http_server::{SessionId, SessionManager as _, session::local::LocalSessionManager},
};
use std::{
    collections::HashMap,
    convert::Infallible,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    sync::OnceCell,
    time::{sleep, timeout},
};

/// Maximum number of open spaces of callers.
const MAX_OPEN_SPACES: usize = 256;
/// Maximum number of sessions on one space.
const MAX_SESSIONS: usize = 1_000;
/// Seconds after which a session without requests ends.
const SESSION_SECS: u64 = 4 * 3600;

/// The services of all callers.
pub(super) struct HttpEndpoint {
    /// The service of the owner's whole space.
    own: Arc<McpService>,
    server: Arc<McpServer>,
    directory: Option<Arc<dyn CallerDirectory>>,
    open: Mutex<OpenServices>,
}

/// The services of callers. A cell is empty while the space is being opened.
#[derive(Default)]
struct OpenServices {
    /// The revision of the directory that outdated callers were last looked up at.
    revision: u64,
    cells: HashMap<HttpCaller, ServiceCell>,
}

type ServiceCell = Arc<OnceCell<Arc<McpService>>>;

impl HttpEndpoint {
    pub(super) fn new(server: Arc<McpServer>, directory: Option<Arc<dyn CallerDirectory>>) -> Self {
        HttpEndpoint { own: Arc::new(McpService::new(server.clone())), server, directory, open: Mutex::default() }
    }

    /// Returns the service of a caller. The first request opens the space on a worker thread; concurrent requests of the same
    /// caller wait for it, those of others do not.
    pub(super) async fn service(&self, caller: &HttpCaller) -> Result<Arc<McpService>, AxumResponse> {
        if caller.is_unrestricted() {
            return Ok(self.own.clone());
        }
        let Some(directory) = &self.directory else {
            return Err(text(StatusCode::FORBIDDEN, "this server has a single space; omit Memdir-Only and Memdir-Project"));
        };
        self.close_outdated();
        let cell = self.cell(caller)?;
        let opened = cell.get_or_try_init(|| self.open(directory, caller)).await.cloned();
        let mut open = self.open_services();
        let is_listed = open.cells.get(caller).is_some_and(|listed| Arc::ptr_eq(listed, &cell));
        match opened {
            Ok(service) if is_listed => Ok(service),
            // The caller's permissions changed while its space was opened, and the service was dropped from the list.
            Ok(_) => Err(retry_later(StatusCode::SERVICE_UNAVAILABLE, "permissions changed during the request")),
            Err(refused) => {
                // The last request that waits for this cell removes it: the list, and this function, hold it.
                if is_listed && Arc::strong_count(&cell) == 2 {
                    open.cells.remove(caller);
                }
                Err(refused)
            }
        }
    }

    /// Closes the spaces of callers whose permissions have changed, with their sessions and event streams.
    pub(super) fn close_outdated(&self) {
        let Some(directory) = &self.directory else { return };
        let mut open = self.open_services();
        if open.cells.is_empty() {
            return;
        }
        let revision = directory.revision();
        if revision == open.revision {
            return;
        }
        open.revision = revision;
        let is_outdated = |caller: &HttpCaller| caller.id.is_some_and(|id| !directory.is_current(id));
        open.cells.extract_if(|caller, _| is_outdated(caller)).for_each(|(_, cell)| close(&cell));
    }

    fn cell(&self, caller: &HttpCaller) -> Result<ServiceCell, AxumResponse> {
        let mut open = self.open_services();
        if let Some(cell) = open.cells.get(caller) {
            return Ok(cell.clone());
        }
        if open.cells.len() >= MAX_OPEN_SPACES {
            open.cells.extract_if(|_, cell| is_idle(cell)).for_each(|(_, cell)| close(&cell));
        }
        if open.cells.len() >= MAX_OPEN_SPACES {
            return Err(retry_later(StatusCode::SERVICE_UNAVAILABLE, "too many callers at once"));
        }
        Ok(open.cells.entry(caller.clone()).or_default().clone())
    }

    async fn open(&self, directory: &Arc<dyn CallerDirectory>, caller: &HttpCaller) -> Result<Arc<McpService>, AxumResponse> {
        let (directory, caller) = (directory.clone(), caller.clone());
        let opened = run_blocking(&self.server.workers, Stop::default(), std::future::pending(), move || directory.open(&caller)).await;
        match opened {
            Ok(Ok(catalog)) => Ok(Arc::new(McpService::new(self.server.sibling(catalog)))),
            Ok(Err(why)) => Err(text(StatusCode::FORBIDDEN, why)),
            Err(CallFailure::TimedOut | CallFailure::Cancelled) => {
                Err(retry_later(StatusCode::SERVICE_UNAVAILABLE, "opening the memory took too long"))
            }
            Err(CallFailure::Panicked) => Err(text(StatusCode::INTERNAL_SERVER_ERROR, "cannot open the memory: internal error")),
        }
    }

    fn open_services(&self) -> MutexGuard<'_, OpenServices> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether no request and no session uses a service.
fn is_idle(cell: &ServiceCell) -> bool {
    let is_unused = |service: &Arc<McpService>| service.server.session_count() == 0 && Arc::strong_count(service) == 1;
    Arc::strong_count(cell) == 1 && cell.get().is_none_or(is_unused)
}

/// Closes a service that is no longer listed.
fn close(cell: &ServiceCell) {
    if let Some(service) = cell.get().cloned() {
        tokio::spawn(service.close());
    }
}

/// The MCP service of one space. Its requests have been authorized, and their bodies read.
pub(super) struct McpService {
    server: Arc<McpServer>,
    sessions: Arc<LocalSessionManager>,
    service: StreamableHttpService<McpSession, LocalSessionManager>,
}

impl McpService {
    fn new(server: Arc<McpServer>) -> Self {
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(Duration::from_secs(SESSION_SECS));
        sessions.session_config.sse_retry = None;
        let sessions = Arc::new(sessions);
        let config = StreamableHttpServerConfig::default()
            // The router has checked the host.
            .disable_allowed_hosts()
            .with_json_response(true)
            .with_sse_retry(None)
            .with_max_request_body_bytes(MAX_MESSAGE_BYTES)
            .with_cancellation_token(server.shutdown.clone());
        let for_sessions = server.clone();
        let new_session = move || {
            if for_sessions.session_count() >= MAX_SESSIONS {
                return Err(io::Error::other("too many sessions; end some, or wait for them to expire"));
            }
            Ok(McpSession::new(for_sessions.clone()))
        };
        let service = StreamableHttpService::new(new_session, sessions.clone(), config);
        McpService { server, sessions, service }
    }

    pub(super) async fn handle(&self, request: Request<Full<Bytes>>) -> Response<BoxBody<Bytes, Infallible>> {
        self.service.handle(request).await
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
