//! The accept loop of every HTTP server here, with its limits on connections, request heads and idle time.
//!
//! The loop is not `axum::serve`, which has none of these limits.

use super::{
    connections::{Connection, ConnectionTable},
    guarded::guarded,
};
use crate::mcp::random_id;
use axum::Router;
use hyper::{Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use std::{future::Future, net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    net::{TcpListener, TcpStream},
    time::{MissedTickBehavior, interval, sleep},
};
use tower_service::Service as _;

/// Maximum number of bytes of a request head.
pub(crate) const MAX_HEAD_BYTES: usize = 64 << 10;
/// Seconds in which a request head must arrive, and after which an idle connection is closed.
const HEAD_SECS: u64 = 75;
/// Seconds after which a connection is closed that has not sent an accepted request.
const UNAUTHENTICATED_SECS: u64 = 10;
/// Maximum number of header fields of a request.
pub(crate) const MAX_HEADERS: usize = 64;
/// Seconds between two calls of `tick`.
const TICK_SECS: u64 = 1;

/// Accepts connections and serves them with `router`, until `until` completes. Calls `tick` every second. Returns the open
/// connections, which the caller shuts down.
pub(crate) async fn serve_connections(
    listener: &TcpListener,
    router: &Router,
    mut tick: impl FnMut(),
    until: impl Future<Output = ()>,
) -> GracefulShutdown {
    let graceful = GracefulShutdown::new();
    let connections = Arc::new(ConnectionTable::default());
    let mut until = std::pin::pin!(until);
    let mut ticks = interval(Duration::from_secs(TICK_SECS));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let accepted = tokio::select! {
            accepted = accept(listener, &connections) => accepted,
            _ = ticks.tick() => {
                tick();
                continue;
            }
            () = &mut until => return graceful,
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
            // The layers refuse a head above the limits, with a reason. The parser answers only what is far above, and without one.
            .max_buf_size(2 * MAX_HEAD_BYTES)
            .max_headers(2 * MAX_HEADERS)
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
