//! Access control: the bearer token, the `Host` header and the `Origin` of a request, and the answer (401, `WWW-Authenticate`) if it is
//! refused. Never logs a token.

use super::{
    caller::{CallerDirectory, CallerId},
    options::{BearerToken, HttpOptions},
    response::{retry_later, text},
};
use crate::oauth::{ResourceServer, TokenRefusal, is_loopback};
use axum::{
    http::{
        HeaderMap, Method, Request, StatusCode, Uri,
        header::{self, HeaderValue},
        request::Parts,
    },
    response::Response,
};
use std::{net::SocketAddr, sync::Arc};

/// Decides which requests are accepted, and whose they are.
pub(crate) struct AccessControl {
    token: Option<BearerToken>,
    callers: Option<Arc<dyn CallerDirectory>>,
    /// Verifies access tokens of an identity provider.
    pub(crate) oauth: Option<Arc<ResourceServer>>,
    hosts: Vec<String>,
    origins: Vec<String>,
    port: u16,
    /// Whether this is the page of `memdir ui`, which has no options for hosts and origins.
    is_own_page: bool,
}

impl AccessControl {
    /// Creates the access control of the page of `memdir ui`.
    pub(crate) fn for_own_page(address: SocketAddr) -> Self {
        AccessControl { is_own_page: true, ..AccessControl::new(&HttpOptions::new(address), address) }
    }

    pub(crate) fn new(options: &HttpOptions, address: SocketAddr) -> Self {
        let mut hosts = Vec::new();
        if !address.ip().is_unspecified() {
            hosts.push(if address.is_ipv6() { format!("[{}]", address.ip()) } else { address.ip().to_string() });
        }
        hosts.extend(options.hosts.iter().map(|host| host.to_ascii_lowercase()));
        let origins = options.origins.iter().map(|origin| origin.trim_end_matches('/').to_ascii_lowercase()).collect();
        AccessControl {
            token: options.token.clone(),
            callers: options.callers.clone(),
            oauth: options.oauth.clone().map(|oauth| Arc::new(ResourceServer::new(oauth))),
            hosts,
            origins,
            port: address.port(),
            is_own_page: false,
        }
    }

    /// Checks host and origin. Any web page can make a browser send requests to this machine, even to a host name of its own
    /// (DNS rebinding), so both must be allowed.
    pub(crate) fn check_host_and_origin<B>(&self, request: &Request<B>) -> Result<(), Response> {
        let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).map(str::to_ascii_lowercase);
        let host = host.or_else(|| request.uri().authority().map(|authority| authority.as_str().to_ascii_lowercase()));
        let Some(host) = host else { return Err(text(StatusCode::BAD_REQUEST, "missing or invalid Host header")) };
        let name = without_port(&host);
        if !is_loopback(name) && !self.hosts.iter().any(|allowed| *allowed == host || *allowed == name) {
            return Err(text(StatusCode::FORBIDDEN, format!("host not allowed; {}", self.remedy("--host NAME"))));
        }
        for origin in request.headers().get_all(header::ORIGIN) {
            // A page of this server, under the allowed name that the browser used.
            let is_own = |origin: &str| origin.strip_prefix("https://") == Some(&*host);
            if !origin.to_str().is_ok_and(|origin| is_own(origin) || self.is_allowed_origin(&origin.to_ascii_lowercase())) {
                return Err(text(StatusCode::FORBIDDEN, format!("origin not allowed; {}", self.remedy("--origin URL"))));
            }
        }
        Ok(())
    }

    /// Returns what a person can do about a host or origin that is not allowed.
    fn remedy(&self, option: &str) -> String {
        if self.is_own_page { "open the page again with: memdir ui".into() } else { format!("start the server with {option} to allow it") }
    }

    fn is_allowed_origin(&self, origin: &str) -> bool {
        if self.origins.iter().any(|allowed| allowed == origin) {
            return true;
        }
        // The server's own pages, under any loopback name or address.
        let Ok(uri) = origin.parse::<Uri>() else { return false };
        uri.scheme_str() == Some("http") && uri.port_u16() == Some(self.port) && uri.host().is_some_and(is_loopback)
    }

    /// Returns the caller with the bearer token of a request to this path, or `None` for the owner of the server.
    pub(super) async fn authenticate(&self, headers: &HeaderMap, path: &str) -> Result<Option<CallerId>, Response> {
        let presented = bearer_token(headers);
        self.identify(presented).await.map_err(|refusal| self.refuse(path, presented.is_some(), refusal))
    }

    /// Returns the caller that the bearer token of a request had when it was last looked up, if its space can check the caller itself.
    /// Only reads of the REST API can do without a lookup.
    pub(super) fn presume(&self, request: &Parts) -> Option<CallerId> {
        if request.method != Method::GET || !request.uri.path().starts_with("/v1/") {
            return None;
        }
        let presented = bearer_token(&request.headers)?;
        if self.token.as_ref().is_some_and(|own| own.matches(presented)) {
            return None;
        }
        self.callers.as_ref()?.presume(std::str::from_utf8(presented).ok()?)
    }

    /// Returns the caller with this token, or `None` for the owner of the server.
    pub(super) async fn identify(&self, presented: Option<&[u8]>) -> Result<Option<CallerId>, TokenRefusal> {
        if let (Some(presented), Some(own)) = (presented, &self.token)
            && own.matches(presented)
        {
            return Ok(None);
        }
        if let Some(callers) = &self.callers {
            callers.check().map_err(TokenRefusal::Unavailable)?;
        }
        // Checked for each request: the first caller may be added while the server runs.
        let requires_token = self.callers.as_ref().is_some_and(|callers| callers.requires_token());
        if self.token.is_none() && self.oauth.is_none() && !requires_token {
            return Ok(None);
        }
        let unknown = || TokenRefusal::Invalid("missing or unknown bearer token".into());
        let token = presented.and_then(|presented| std::str::from_utf8(presented).ok()).ok_or_else(unknown)?;
        let callers = self.callers.as_ref().ok_or_else(unknown)?;
        if let Some(id) = callers.authenticate(token).await.map_err(TokenRefusal::Unavailable)? {
            return Ok(Some(id));
        }
        // Tokens of this server have no dots, so that a wrong one is not sent through the verification.
        let oauth = self.oauth.as_ref().filter(|_| token.contains('.')).ok_or_else(unknown)?;
        let verified = oauth.verify(token).await?;
        match callers.authenticate_verified(&verified).await.map_err(TokenRefusal::Unavailable)? {
            Ok(id) => Ok(Some(id)),
            Err(why) => Err(TokenRefusal::Identity(why)),
        }
    }

    /// Returns the response to a request whose token is not accepted, with what a client needs to get another one.
    fn refuse(&self, path: &str, has_token: bool, refusal: TokenRefusal) -> Response {
        let status = match &refusal {
            TokenRefusal::Invalid(_) => StatusCode::UNAUTHORIZED,
            TokenRefusal::Scope { .. } => StatusCode::FORBIDDEN,
            TokenRefusal::Identity(why) => return text(StatusCode::FORBIDDEN, why),
            TokenRefusal::Unavailable(why) => return retry_later(StatusCode::SERVICE_UNAVAILABLE, why),
            TokenRefusal::RateLimited => return retry_later(StatusCode::TOO_MANY_REQUESTS, &refusal.to_string()),
        };
        let challenge = match &self.oauth {
            None => HeaderValue::from_static("Bearer"),
            Some(oauth) => oauth.challenge(path, Some(&refusal).filter(|_| has_token)),
        };
        let mut response = text(status, refusal.to_string());
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        response
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
