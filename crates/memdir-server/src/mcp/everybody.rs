//! The protocol over HTTP, for everybody who may call.

use super::{Handler, MESSAGE_BYTES, SESSION_SECS, SESSIONS, Server};
use crate::http::{self, Body, Door, Pass};
use bytes::Bytes;
use http_body_util::Full;
use hyper::http::{Request, Response, StatusCode};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService, streamable_http_server::session::local::LocalSessionManager};
use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex, PoisonError, atomic::Ordering},
    time::Duration,
};

/// Spaces of callers that are open at once.
const CALLERS: usize = 256;

/// Leads each request to the space of whoever sent it. What one caller has opened, no other can reach.
pub(super) struct Everybody {
    own: Mcp,
    server: Arc<Server>,
    door: Option<Arc<dyn Door>>,
    callers: Mutex<HashMap<Pass, Arc<Mcp>>>,
}

impl Everybody {
    pub(super) fn new(server: Arc<Server>, door: Option<Arc<dyn Door>>) -> Self {
        Everybody { own: Mcp::new(server.clone()), server, door, callers: Mutex::default() }
    }

    fn of(&self, pass: &Pass) -> Result<Arc<Mcp>, Response<Body>> {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = callers.get(pass) {
            return Ok(known.clone());
        }
        if callers.len() >= CALLERS {
            callers.retain(|_, mcp| mcp.server.sessions.load(Ordering::Relaxed) > 0);
        }
        if callers.len() >= CALLERS {
            return Err(http::say(StatusCode::SERVICE_UNAVAILABLE, "too many callers at once"));
        }
        let none = || Err("nothing here can be narrowed".to_owned());
        let offer = self.door.as_ref().map_or_else(none, |door| door.open(pass)).map_err(|why| http::say(StatusCode::FORBIDDEN, &why))?;
        let mcp = Arc::new(Mcp::new(self.server.beside(offer)));
        callers.insert(pass.clone(), mcp.clone());
        Ok(mcp)
    }
}

impl http::Endpoint for Everybody {
    async fn handle(&self, request: Request<Full<Bytes>>) -> Response<Body> {
        match request.extensions().get::<Pass>().cloned() {
            Some(pass) if pass.is_everything() => self.own.service.handle(request).await,
            Some(pass) => match self.of(&pass) {
                Ok(mcp) => mcp.service.handle(request).await,
                Err(refused) => refused,
            },
            None => http::say(StatusCode::UNAUTHORIZED, "nobody is known here"),
        }
    }
}

/// The protocol's end of an HTTP request whose body is whole and whose sender is allowed.
struct Mcp {
    server: Arc<Server>,
    service: StreamableHttpService<Handler, LocalSessionManager>,
}

impl Mcp {
    fn new(server: Arc<Server>) -> Self {
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(Duration::from_secs(SESSION_SECS));
        sessions.session_config.sse_retry = None;
        // Who may call is decided before a request comes here.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_json_response(true)
            .with_sse_retry(None)
            .with_max_request_body_bytes(MESSAGE_BYTES)
            .with_cancellation_token(server.gone.clone());
        let own = server.clone();
        let make = move || {
            if server.sessions.load(Ordering::Relaxed) >= SESSIONS {
                return Err(io::Error::other("too many sessions; end some, or wait for them to expire"));
            }
            Ok(Handler::new(server.clone()))
        };
        Mcp { server: own, service: StreamableHttpService::new(make, Arc::new(sessions), config) }
    }
}
