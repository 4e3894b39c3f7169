//! MCP over HTTP: the accept loop, with its limits on connections, request heads and idle time. Requests are routed in `router`.
//!
//! The loop is not `axum::serve`, which has none of these limits.

mod access;
mod body;
mod caller;
mod endpoint;
mod options;
mod rate;
mod response;
mod router;

pub use caller::{CallerDirectory, CallerId, HttpCaller};
pub use options::{BearerToken, HttpOptions};

use crate::{
    catalog::ToolCatalog,
    error::ServeError,
    mcp::{McpServer, random_id, runtime},
};
use endpoint::HttpEndpoint;
use hyper::{Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use router::{Connection, HttpState, router};
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{MissedTickBehavior, interval, sleep, timeout},
};
use tower_service::Service as _;

/// Maximum number of concurrent calls of all clients.
const MAX_CALLS: usize = 32;
/// Maximum number of open connections; further ones wait in the backlog of the listener.
const MAX_CONNECTIONS: usize = 512;
/// Seconds in which a request head must arrive, and after which an idle connection is closed.
const HEAD_SECS: u64 = 75;
/// Maximum number of bytes of a request head.
const MAX_HEAD_BYTES: usize = 64 << 10;
/// Maximum number of header fields of a request.
const MAX_HEADERS: usize = 64;
/// Seconds for which a shutdown waits for running calls.
const CALLS_SECS: u64 = 10;
/// Seconds for which it then waits for connections to close.
const CLOSE_SECS: u64 = 3;
/// Seconds between checks for callers whose permissions have changed. Requests check too; this is for times without any.
const SWEEP_SECS: u64 = 10;

/// Serves many clients over HTTP, until a signal. Calls `ready` with the address once connections are accepted.
pub fn serve_http(catalog: ToolCatalog, options: HttpOptions, ready: impl FnOnce(SocketAddr)) -> Result<(), ServeError> {
    let runtime = runtime()?;
    let served = runtime.block_on(serve(McpServer::new(catalog, MAX_CALLS), options, ready));
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
    let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
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
        let Some((stream, peer, permit)) = accepted else { continue };
        let (router, connection) = (router.clone(), Connection { peer, id: random_id() });
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(connection.clone());
            router.clone().call(request)
        });
        let served = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(Duration::from_secs(HEAD_SECS))
            .max_buf_size(MAX_HEAD_BYTES)
            .max_headers(MAX_HEADERS)
            .serve_connection(TokioIo::new(stream), service);
        let served = graceful.watch(served);
        tokio::spawn(async move {
            // The client has disconnected, so an error can no longer be reported.
            let _ = served.await;
            drop(permit);
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

async fn accept(listener: &TcpListener, connections: &Arc<Semaphore>) -> Option<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
    let permit = connections.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, peer)) => {
            // Responses are small and written at once; Nagle's algorithm would only delay them.
            let _ = stream.set_nodelay(true);
            Some((stream, peer, permit))
        }
        Err(_) => {
            // Most likely out of file descriptors: connections must close before another attempt can succeed.
            sleep(Duration::from_millis(50)).await;
            None
        }
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
