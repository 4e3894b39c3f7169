//! MCP over HTTP. Connections are accepted in `listen`, requests are routed in `router`.

mod access;
mod body;
mod caller;
mod connections;
mod ending;
mod endpoint;
mod event_body;
mod guarded;
mod layers;
mod listen;
mod metrics;
mod options;
mod rate;
mod ready;
mod request_log;
mod response;
mod rest;
mod router;
mod sessions;
mod usage;
mod visitor;

pub(crate) use access::AccessControl;
pub(crate) use body::{BodyBudget, read_body};
pub use caller::{Authentication, CallerDirectory, CallerId, HttpCaller, REVOKED, VerifiedAuthentication};
pub(crate) use connections::Connection;
pub(crate) use event_body::{CONNECTED, KEEP_ALIVE_SECS, QUIET, event_stream};
pub(crate) use layers::limit_request;
pub(crate) use listen::serve_connections;
pub use options::{BearerToken, HttpOptions};
pub use request_log::RequestLog;
pub(crate) use response::{retry_later, text};
pub(crate) use rest::error_status;
pub use rest::{ProblemKind, problem_kinds, rest_description};
pub(crate) use router::HttpState;
pub(crate) use usage::InUse;

use crate::{
    call::{CallLimits, CallerLimits},
    catalog::ToolCatalog,
    error::ServeError,
    mcp::{McpServer, runtime},
};
use axum::Router;
use ending::EndingState;
use endpoint::HttpEndpoint;
use router::router;
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    net::TcpListener,
    time::{sleep, timeout},
};

/// The limits on calls. A call that waits for the lock of a mount occupies a thread and nothing else.
const CALL_LIMITS: CallLimits = CallLimits {
    // As many may wait as there can be connections.
    owner: CallerLimits { running: 24, writes: 12, waiting: 512 },
    caller: CallerLimits { running: 8, writes: 4, waiting: 64 },
    reads: 32,
    writes: 32,
};
/// Seconds for which a shutdown waits for running calls.
const CALLS_SECS: u64 = 10;
/// Seconds for which it then waits for connections to close.
const CLOSE_SECS: u64 = 3;

/// Serves many clients over HTTP, until a signal. Calls `ready` with the address once connections are accepted. `pages` makes the
/// routes for people.
pub(crate) fn serve_http(
    catalog: ToolCatalog,
    options: HttpOptions,
    pages: impl FnOnce(Arc<HttpState>) -> Router,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    let runtime = runtime()?;
    let served = runtime.block_on(serve(McpServer::new(catalog, CALL_LIMITS), options, pages, ready));
    // Does not wait for threads: one may still finish a call whose client has gone.
    runtime.shutdown_background();
    served
}

async fn serve(
    server: Arc<McpServer>,
    options: HttpOptions,
    pages: impl FnOnce(Arc<HttpState>) -> Router,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    let io = |source| ServeError::Listen { address: options.address, source };
    options.validate()?;
    let listener = TcpListener::bind(options.address).await.map_err(io)?;
    let address = listener.local_addr().map_err(io)?;
    let endpoint = Arc::new(HttpEndpoint::new(server.clone(), options.callers.clone(), options.sessions));
    let ending = EndingState::default();
    let state = Arc::new(HttpState::new(&options, address, endpoint.clone(), ending.clone()));
    let pages = options.pages.then(|| pages(state.clone()));
    let router = router(state, pages);
    ready(address);
    let until = async {
        tokio::select! {
            () = signal() => {}
            () = server.shutdown.cancelled() => {}
        }
    };
    let until = async {
        until.await;
        ending.leaving.cancel();
        // A second signal ends it at once.
        let _ = timeout(options.leave_after, signal()).await;
    };
    let graceful = serve_connections(&listener, &router, || endpoint.close_outdated(), until).await;
    ending.leaving.cancel();
    ending.draining.cancel();
    drop(listener);
    let calls = async {
        while server.calls.total() > 0 {
            sleep(Duration::from_millis(5)).await;
        }
    };
    let _ = timeout(Duration::from_secs(CALLS_SECS), calls).await;
    // Ends the event streams; responses that are already written are still delivered.
    server.shutdown.cancel();
    let _ = timeout(Duration::from_secs(CLOSE_SECS), graceful.shutdown()).await;
    Ok(())
}

/// Completes when the process is asked to end.
pub(crate) async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    match (signal(SignalKind::terminate()), signal(SignalKind::interrupt())) {
        (Ok(mut terminate), Ok(mut interrupt)) => {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        }
        // Without handlers, signals have their default action.
        _ => std::future::pending().await,
    }
}
