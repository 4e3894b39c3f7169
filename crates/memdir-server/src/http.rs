//! MCP over HTTP: the accept loop, with its limits on connections, request heads and idle time. Requests are routed in `router`.
//!
//! The loop is not `axum::serve`, which has none of these limits.

mod access;
mod body;
mod caller;
mod connections;
mod endpoint;
mod guarded;
mod options;
mod rate;
mod response;
mod router;
mod sessions;
mod usage;

pub use caller::{CallerDirectory, CallerId, HttpCaller};
pub use options::{BearerToken, HttpOptions};

use crate::{
    call::{CallLimits, CallerLimits},
    catalog::ToolCatalog,
    error::ServeError,
    mcp::{McpServer, random_id, runtime},
};
use connections::{Connection, ConnectionTable};
use endpoint::HttpEndpoint;
use guarded::guarded;
use hyper::{Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use router::{HttpState, router};
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    net::{TcpListener, TcpStream},
    time::{MissedTickBehavior, interval, sleep, timeout},
};
use tower_service::Service as _;

/// The limits on calls. A call that waits for the lock of a mount occupies a thread and nothing else.
const CALL_LIMITS: CallLimits = CallLimits {
    // As many may wait as there can be connections.
    owner: CallerLimits { running: 24, writes: 12, waiting: 512 },
    caller: CallerLimits { running: 8, writes: 4, waiting: 64 },
    reads: 32,
    writes: 32,
};
/// Seconds in which a request head must arrive, and after which an idle connection is closed.
const HEAD_SECS: u64 = 75;
/// Seconds after which a connection is closed that has not sent a request with an accepted token.
const UNAUTHENTICATED_SECS: u64 = 10;
/// Maximum number of bytes of a request head.
const MAX_HEAD_BYTES: usize = 64 << 10;
/// Maximum number of header fields of a request.
const MAX_HEADERS: usize = 64;
/// Seconds for which a shutdown waits for running calls.
const CALLS_SECS: u64 = 10;
/// Seconds for which it then waits for connections to close.
const CLOSE_SECS: u64 = 3;
/// Seconds between checks for callers whose permissions have changed. Requests check too; this is for times without any.
const SWEEP_SECS: u64 = 1;

/// Serves many clients over HTTP, until a signal. Calls `ready` with the address once connections are accepted.
pub fn serve_http(catalog: ToolCatalog, options: HttpOptions, ready: impl FnOnce(SocketAddr)) -> Result<(), ServeError> {
    let runtime = runtime()?;
    let served = runtime.block_on(serve(McpServer::new(catalog, CALL_LIMITS), options, ready));
    // Does not wait for threads: one may still finish a call whose client has gone.
    runtime.shutdown_background();
    served
}

async fn serve(server: Arc<McpServer>, options: HttpOptions, ready: impl FnOnce(SocketAddr)) -> Result<(), ServeError> {
    let io = |source| ServeError::Io { doing: format!("listen on {}", options.address), source };
    options.validate()?;
    let listener = TcpListener::bind(options.address).await.map_err(io)?;
    let address = listener.local_addr().map_err(io)?;
    let endpoint = Arc::new(HttpEndpoint::new(server.clone(), options.callers.clone()));
    let router = router(HttpState::new(&options, address, endpoint.clone()));
    let graceful = GracefulShutdown::new();
    let connections = Arc::new(ConnectionTable::default());
    let mut signal = std::pin::pin!(signal());
    let mut sweeps = interval(Duration::from_secs(SWEEP_SECS));
    sweeps.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ready(address);
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &connections) => accepted,
            _ = sweeps.tick() => {
                endpoint.close_outdated();
                continue;
            }
            () = &mut signal => break,
            () = server.shutdown.cancelled() => break,
        };
        let Some((stream, peer)) = accepted else { continue };
        let (router, connection) = (router.clone(), connections.open(peer, random_id()));
        let for_requests = connection.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            let in_use = for_requests.begin_request();
            request.extensions_mut().insert(for_requests.clone());
            let response = router.clone().call(request);
            async move { response.await.map(|response| response.map(|body| guarded(body, in_use))) }
        });
        let served = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(Duration::from_secs(HEAD_SECS))
            .max_buf_size(MAX_HEAD_BYTES)
            .max_headers(MAX_HEADERS)
            .serve_connection(TokioIo::new(stream), service);
        let served = graceful.watch(served);
        tokio::spawn(async move {
            tokio::select! {
                // The client has disconnected, so an error can no longer be reported.
                _ = served => {}
                () = connection.closed() => {}
                () = stays_unauthenticated(&connection) => {}
            }
        });
    }
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

async fn accept(listener: &TcpListener, connections: &ConnectionTable) -> Option<(TcpStream, SocketAddr)> {
    connections.room().await;
    match listener.accept().await {
        Ok((stream, peer)) => {
            // Responses are small and written at once; Nagle's algorithm would only delay them.
            let _ = stream.set_nodelay(true);
            Some((stream, peer))
        }
        Err(_) => {
            // Most likely out of file descriptors: connections must close before another attempt can succeed.
            sleep(Duration::from_millis(50)).await;
            None
        }
    }
}

/// Waits until a connection has been without an accepted request for too long.
async fn stays_unauthenticated(connection: &Connection) {
    sleep(Duration::from_secs(UNAUTHENTICATED_SECS)).await;
    if !connection.is_unauthenticated() {
        std::future::pending::<()>().await;
    }
}

async fn signal() {
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
