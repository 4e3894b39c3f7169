//! HTTP: connections within limits, and requests that are allowed, whole and readable before the protocol sees them.
//! Loopback by default; beyond it only with a token.

mod body;
mod callers;
mod guard;
mod rate;

pub use callers::{Door, Pass};
pub(crate) use guard::is_forwarded;
pub use guard::{Http, Token};

use crate::mcp::{ServeError, random_name};
use bytes::Bytes;
use guard::Guard;
use http_body_util::{BodyExt as _, Full, combinators::BoxBody};
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{self, HeaderValue},
    http::request::Parts,
    server::conn::http1,
    service::service_fn,
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use rate::Rates;
use std::{
    convert::Infallible,
    future::Future,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_util::sync::CancellationToken;

/// What a response's body is.
pub(crate) type Body = BoxBody<Bytes, Infallible>;

/// Connections at once; more wait to be accepted.
const CONNECTIONS: usize = 512;
/// Requests worked on at once; more are told to come back.
const REQUESTS: usize = 256;
/// Seconds a request's head may take, and a connection may idle.
const HEAD_SECS: u64 = 75;
/// Bytes of a request's head.
const HEAD_BYTES: usize = 64 << 10;
/// Fields of a request's head.
const HEAD_FIELDS: usize = 64;
/// Seconds running calls are waited for at the end.
const CALLS_SECS: u64 = 10;
/// Seconds connections are waited for after that.
const CLOSE_SECS: u64 = 3;

/// Answers requests that passed every check.
pub(crate) trait Endpoint: Send + Sync + 'static {
    fn handle(&self, request: Request<Full<Bytes>>) -> impl Future<Output = Response<Body>> + Send;
}

/// The name of the connection a request came over.
#[derive(Clone)]
pub(crate) struct Connection(pub(crate) String);

/// Serves until a signal, or until `end` is said.
pub(crate) async fn serve<E: Endpoint>(
    http: Http,
    endpoint: Arc<E>,
    end: CancellationToken,
    busy: Arc<AtomicUsize>,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    let doing = format!("listen on {}", http.address);
    let io = |source| ServeError::Io { doing: doing.clone(), source };
    http.check()?;
    let listener = TcpListener::bind(http.address).await.map_err(io)?;
    let address = listener.local_addr().map_err(io)?;
    let site = Arc::new(Site {
        guard: Guard::new(&http, address),
        rates: Rates::new(http.per_second, http.burst),
        room: Semaphore::new(REQUESTS),
        endpoint,
    });
    let graceful = GracefulShutdown::new();
    let connections = Arc::new(Semaphore::new(CONNECTIONS));
    let mut signal = std::pin::pin!(signal());
    ready(address);
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &connections) => accepted,
            () = &mut signal => break,
            () = end.cancelled() => break,
        };
        let Some((stream, peer, permit)) = accepted else { continue };
        let (site, connection) = (site.clone(), Connection(random_name()));
        let service = service_fn(move |request| {
            let (site, connection) = (site.clone(), connection.clone());
            async move { Ok::<_, Infallible>(site.answer(request, peer, connection).await) }
        });
        let served = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(Duration::from_secs(HEAD_SECS))
            .max_buf_size(HEAD_BYTES)
            .max_headers(HEAD_FIELDS)
            .serve_connection(TokioIo::new(stream), service);
        let served = graceful.watch(served);
        tokio::spawn(async move {
            // A client that breaks off has nobody who could be told.
            let _ = served.await;
            drop(permit);
        });
    }
    drop(listener);
    let calls = async {
        while busy.load(Ordering::Relaxed) > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let _ = tokio::time::timeout(Duration::from_secs(CALLS_SECS), calls).await;
    // Streams that stay open for news end now; answers that are written are still read.
    end.cancel();
    let _ = tokio::time::timeout(Duration::from_secs(CLOSE_SECS), graceful.shutdown()).await;
    Ok(())
}

async fn accept(listener: &TcpListener, room: &Arc<Semaphore>) -> Option<(TcpStream, SocketAddr, tokio::sync::OwnedSemaphorePermit)> {
    let permit = room.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, peer)) => {
            // Answers are small and written at once; waiting to fill a packet only delays them.
            let _ = stream.set_nodelay(true);
            Some((stream, peer, permit))
        }
        Err(_) => {
            // Out of descriptors, most likely: others must end before it is worth trying again.
            tokio::time::sleep(Duration::from_millis(50)).await;
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
        // Signals then do what they do by themselves.
        _ => std::future::pending().await,
    }
}

/// What all connections share.
struct Site<E> {
    guard: Guard,
    rates: Rates,
    room: Semaphore,
    endpoint: Arc<E>,
}

impl<E: Endpoint> Site<E> {
    async fn answer(&self, request: Request<Incoming>, peer: SocketAddr, connection: Connection) -> Response<Body> {
        let origin = request.headers().get(header::ORIGIN).cloned();
        let (parts, mut body) = request.into_parts();
        let expects = parts.headers.contains_key(header::EXPECT);
        let mut response = match self.checked(parts, &mut body, peer, connection).await {
            Ok(response) => response,
            Err(refused) => body::finish(refused, expects, &mut body).await,
        };
        if let Some(origin) = origin.filter(|_| response.status() != StatusCode::FORBIDDEN) {
            let headers = response.headers_mut();
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("mcp-session-id"));
        }
        response
    }

    async fn checked(
        &self,
        parts: Parts,
        body: &mut Incoming,
        peer: SocketAddr,
        connection: Connection,
    ) -> Result<Response<Body>, Response<Body>> {
        let request = Request::from_parts(parts, ());
        let pass = self.allowed(&request, peer)?;
        let Ok(_room) = self.room.try_acquire() else { return Err(later(StatusCode::SERVICE_UNAVAILABLE, "too many requests at once")) };
        let (mut parts, ()) = request.into_parts();
        let posted = parts.method == Method::POST;
        let body = if posted { body::read(&parts.headers, body).await? } else { Bytes::new() };
        parts.extensions.insert(connection);
        parts.extensions.insert(pass);
        let response = self.endpoint.handle(Request::from_parts(parts, Full::new(body))).await;
        if posted && response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            // The type was checked already: it is JSON, and not a message.
            return Err(rpc_error(StatusCode::BAD_REQUEST, -32600, "this is no message of the protocol"));
        }
        // Nothing but a posted body is read by the endpoint.
        if posted { Ok(response) } else { Err(response) }
    }

    /// Who sent it. Answers what needs no body: refusals, and what everybody may ask.
    fn allowed(&self, request: &Request<()>, peer: SocketAddr) -> Result<Pass, Response<Body>> {
        // What reads the head looks at its size only between two reads.
        let fields: usize = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
        if fields > HEAD_BYTES {
            return Err(say(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, &format!("a head has at most {HEAD_BYTES} bytes")));
        }
        if request.uri().path() == "/healthz" {
            return Err(say(StatusCode::OK, "ok"));
        }
        self.guard.host_and_origin(request)?;
        if request.method() == Method::OPTIONS {
            return Err(preflight());
        }
        self.rates.take(peer.ip(), 1)?;
        let who = match self.guard.who(request) {
            Ok(who) => who,
            Err(refused) => {
                self.rates.take(peer.ip(), rate::WRONG_TOKEN)?;
                return Err(refused);
            }
        };
        if request.uri().path() != "/mcp" {
            return Err(say(StatusCode::NOT_FOUND, "there is nothing here; the endpoint is /mcp"));
        }
        Pass::new(who, request.headers())
    }
}

fn preflight() -> Response<Body> {
    let mut response = say(StatusCode::NO_CONTENT, "");
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_HEADERS,
        HeaderValue::from_static("authorization, content-type, last-event-id, memdir-only, memdir-project, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id"),
    );
    response
}

/// A response of a few words.
pub(crate) fn say(status: StatusCode, text: &str) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from(text.to_owned())).boxed());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

/// The same, with the advice to try again.
fn later(status: StatusCode, text: &str) -> Response<Body> {
    let mut response = say(status, text);
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

/// An error as the protocol writes it.
fn rpc_error(status: StatusCode, code: i64, message: &str) -> Response<Body> {
    let error = serde_json::json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": message } });
    let mut response = say(status, &error.to_string());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
