//! Access control: the bearer token, the `Host` header and the `Origin` of a request. Never logs a token.

use super::{
    caller::{CallerDirectory, CallerId},
    options::{BearerToken, HttpOptions},
    response::{retry_later, text, with_header},
};
use axum::{
    http::{
        HeaderMap, Request, StatusCode, Uri,
        header::{self, HeaderValue},
    },
    response::Response,
};
use std::{net::SocketAddr, sync::Arc};

const LOOPBACK_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Decides which requests are accepted, and whose they are.
pub(crate) struct AccessControl {
    token: Option<BearerToken>,
    callers: Option<Arc<dyn CallerDirectory>>,
    hosts: Vec<String>,
    origins: Vec<String>,
    port: u16,
}

impl AccessControl {
    pub(crate) fn new(options: &HttpOptions, address: SocketAddr) -> Self {
        let mut hosts: Vec<String> = LOOPBACK_HOSTS.map(ToOwned::to_owned).to_vec();
        if !address.ip().is_unspecified() {
            hosts.push(if address.is_ipv6() { format!("[{}]", address.ip()) } else { address.ip().to_string() });
        }
        hosts.extend(options.hosts.iter().map(|host| host.to_ascii_lowercase()));
        let origins = options.origins.iter().map(|origin| origin.trim_end_matches('/').to_ascii_lowercase()).collect();
        AccessControl { token: options.token.clone(), callers: options.callers.clone(), hosts, origins, port: address.port() }
    }

    /// Checks host and origin. Any web page can make a browser send requests to this machine, even to a host name of its own
    /// (DNS rebinding), so both must be allowed.
    pub(crate) fn check_host_and_origin<B>(&self, request: &Request<B>) -> Result<(), Response> {
        let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).map(str::to_ascii_lowercase);
        let host = host.or_else(|| request.uri().authority().map(|authority| authority.as_str().to_ascii_lowercase()));
        let Some(host) = host else { return Err(text(StatusCode::BAD_REQUEST, "missing Host header")) };
        if !self.hosts.iter().any(|allowed| *allowed == host || *allowed == without_port(&host)) {
            return Err(text(StatusCode::FORBIDDEN, "host not allowed; start the server with --host NAME to allow it"));
        }
        for origin in request.headers().get_all(header::ORIGIN) {
            if !origin.to_str().is_ok_and(|origin| self.is_allowed_origin(&origin.to_ascii_lowercase())) {
                return Err(text(StatusCode::FORBIDDEN, "origin not allowed; start the server with --origin URL to allow it"));
            }
        }
        Ok(())
    }

    fn is_allowed_origin(&self, origin: &str) -> bool {
        if self.origins.iter().any(|allowed| allowed == origin) {
            return true;
        }
        // The server's own pages, under any of its loopback names.
        let Ok(uri) = origin.parse::<Uri>() else { return false };
        uri.scheme_str() == Some("http")
            && uri.port_u16() == Some(self.port)
            && uri.host().is_some_and(|host| LOOPBACK_HOSTS.contains(&host))
    }

    /// Returns the caller with the request's bearer token, or `None` for the owner of the server.
    pub(super) async fn authenticate(&self, headers: &HeaderMap) -> Result<Option<CallerId>, Response> {
        let presented = bearer_token(headers);
        if let (Some(presented), Some(own)) = (presented, &self.token)
            && own.matches(presented)
        {
            return Ok(None);
        }
        let unavailable = |why: String| retry_later(StatusCode::SERVICE_UNAVAILABLE, &why);
        if let Some(callers) = &self.callers {
            callers.check().map_err(unavailable)?;
        }
        // Checked for each request: the first caller may be added while the server runs.
        if self.token.is_none() && !self.callers.as_ref().is_some_and(|callers| callers.requires_token()) {
            return Ok(None);
        }
        let token = presented.and_then(|presented| std::str::from_utf8(presented).ok());
        if let (Some(token), Some(callers)) = (token, &self.callers)
            && let Some(id) = callers.authenticate(token).await.map_err(unavailable)?
        {
            return Ok(Some(id));
        }
        let response = text(StatusCode::UNAUTHORIZED, "missing or unknown bearer token");
        Err(with_header(response, header::WWW_AUTHENTICATE, "Bearer"))
    }
}

fn bearer_token(headers: &HeaderMap) -> Option<&[u8]> {
    let value = headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes)?;
    let (scheme, token) = value.split_at_checked("bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"bearer ").then_some(token)
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) && (!name.contains(':') || name.ends_with(']')) => name,
        _ => host,
    }
}

/// Returns whether a proxy forwarded the request.
pub(super) fn is_forwarded(headers: &HeaderMap) -> bool {
    ["forwarded", "x-forwarded-for", "x-real-ip", "via"].iter().any(|name| headers.contains_key(*name))
}
