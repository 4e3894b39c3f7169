//! Who may call: the token, the host a request was sent to, and the page it was sent from. Never logs a token.

use super::{Body, callers::Door, say};
use crate::mcp::ServeError;
use hyper::{
    HeaderMap, Request, Response, StatusCode, Uri,
    header::{self, HeaderValue},
};
use std::{fmt, net::SocketAddr, sync::Arc};
use subtle::ConstantTimeEq as _;

/// How HTTP is served.
#[derive(Debug, Clone)]
pub struct Http {
    /// Where to listen.
    pub address: SocketAddr,
    /// What callers must show; required beyond loopback.
    pub token: Option<Token>,
    /// Callers with tokens and spaces of their own.
    pub door: Option<Arc<dyn Door>>,
    /// Hosts requests may be sent to, besides loopback and the address itself: `memory.example.org`, or with a port.
    pub hosts: Vec<String>,
    /// Pages that may call, besides the server's own: `https://app.example.org`.
    pub origins: Vec<String>,
    /// Requests a second that one address may send.
    pub per_second: u32,
    /// Requests it may send at once before that counts.
    pub burst: u32,
}

impl Http {
    /// The usual settings on an address.
    pub fn new(address: SocketAddr) -> Self {
        Http { address, token: None, door: None, hosts: Vec::new(), origins: Vec::new(), per_second: 2_000, burst: 10_000 }
    }

    pub(super) fn check(&self) -> Result<(), ServeError> {
        let is_guarded = self.token.is_some() || self.door.as_ref().is_some_and(|door| door.is_guarded());
        if !is_guarded && !self.address.ip().is_loopback() {
            let why = format!(
                "{} can be reached from other machines, so callers must show a token; set one, or listen on 127.0.0.1",
                self.address
            );
            return Err(ServeError::Unsafe(why));
        }
        Ok(())
    }
}

/// What a caller must show. Compared in constant time, never printed.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A token; long enough that nobody guesses it.
    pub fn new(text: &str) -> Result<Self, ServeError> {
        let text = text.trim();
        if text.len() < 16 || text.chars().any(|c| c.is_whitespace() || c.is_control() || !c.is_ascii()) {
            return Err(ServeError::Unsafe(
                "a token has at least 16 letters and digits, without blanks; make one with: openssl rand -hex 32".into(),
            ));
        }
        Ok(Token(text.to_owned()))
    }

    fn is(&self, shown: &[u8]) -> bool {
        // Hashes have one length, so that not even the token's length shows in the time.
        let (own, shown) = (blake3::hash(self.0.as_bytes()), blake3::hash(shown));
        own.as_bytes().ct_eq(shown.as_bytes()).into()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Checks requests.
pub(super) struct Guard {
    token: Option<Token>,
    door: Option<Arc<dyn Door>>,
    hosts: Vec<String>,
    origins: Vec<String>,
    port: u16,
}

impl Guard {
    pub(super) fn new(http: &Http, address: SocketAddr) -> Self {
        let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "[::1]"].map(ToOwned::to_owned).to_vec();
        if !address.ip().is_unspecified() {
            hosts.push(if address.is_ipv6() { format!("[{}]", address.ip()) } else { address.ip().to_string() });
        }
        hosts.extend(http.hosts.iter().map(|host| host.to_ascii_lowercase()));
        let origins = http.origins.iter().map(|origin| origin.trim_end_matches('/').to_ascii_lowercase()).collect();
        Guard { token: http.token.clone(), door: http.door.clone(), hosts, origins, port: address.port() }
    }

    /// A page anywhere can make a browser send requests to this machine, even under a name of its own: both must fit.
    pub(super) fn host_and_origin<B>(&self, request: &Request<B>) -> Result<(), Response<Body>> {
        let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).map(str::to_ascii_lowercase);
        let host = host.or_else(|| request.uri().authority().map(|authority| authority.as_str().to_ascii_lowercase()));
        let Some(host) = host else { return Err(say(StatusCode::BAD_REQUEST, "the request names no host")) };
        if !self.hosts.iter().any(|allowed| *allowed == host || *allowed == without_port(&host)) {
            return Err(say(StatusCode::FORBIDDEN, "this host name is not served here; --host NAME allows it"));
        }
        for origin in request.headers().get_all(header::ORIGIN) {
            if !origin.to_str().is_ok_and(|origin| self.is_allowed(&origin.to_ascii_lowercase())) {
                return Err(say(StatusCode::FORBIDDEN, "pages of this origin may not call; --origin URL allows one"));
            }
        }
        Ok(())
    }

    fn is_allowed(&self, origin: &str) -> bool {
        if self.origins.iter().any(|allowed| allowed == origin) {
            return true;
        }
        // The server's own pages, by any of its loopback names.
        let Ok(uri) = origin.parse::<Uri>() else { return false };
        let own = ["localhost", "127.0.0.1", "[::1]"];
        uri.scheme_str() == Some("http") && uri.port_u16() == Some(self.port) && uri.host().is_some_and(|host| own.contains(&host))
    }

    /// Who sent a request, by the token it shows: a caller, or else whoever the server was started for.
    pub(super) fn who<B>(&self, request: &Request<B>) -> Result<Option<String>, Response<Body>> {
        // Asked each time: the first caller may come while the server runs.
        if self.token.is_none() && !self.door.as_ref().is_some_and(|door| door.is_guarded()) {
            return Ok(None);
        }
        let shown = request.headers().get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
        let shown = shown.and_then(|value| value.split_at_checked(7)).filter(|(scheme, _)| scheme.eq_ignore_ascii_case(b"bearer "));
        if let Some((_, shown)) = shown {
            if self.token.as_ref().is_some_and(|token| token.is(shown)) {
                return Ok(None);
            }
            let known = self.door.as_ref().and_then(|door| door.know(std::str::from_utf8(shown).ok()?));
            if known.is_some() {
                return Ok(known);
            }
        }
        let mut response = say(StatusCode::UNAUTHORIZED, "show the token: Authorization: Bearer …");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        Err(response)
    }
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) && (!name.contains(':') || name.ends_with(']')) => name,
        _ => host,
    }
}

/// Whether a proxy says that it passes a request on.
pub(crate) fn is_forwarded(headers: &HeaderMap) -> bool {
    ["forwarded", "x-forwarded-for", "x-real-ip", "via"].iter().any(|name| headers.contains_key(*name))
}
