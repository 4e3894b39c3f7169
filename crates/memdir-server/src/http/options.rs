//! The options of the HTTP server.

use super::{caller::CallerDirectory, request_log::RequestLog};
use crate::{error::ServeError, oauth::OAuthOptions};
use std::{fmt, net::SocketAddr, sync::Arc, time::Duration};
use subtle::ConstantTimeEq as _;

/// The options of the HTTP server.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// The address to listen on.
    pub address: SocketAddr,
    /// The bearer token of the owner. Required, or tokens of callers, to listen on anything but loopback.
    pub token: Option<BearerToken>,
    /// The callers with tokens and spaces of their own.
    pub callers: Option<Arc<dyn CallerDirectory>>,
    /// The identity provider whose access tokens are accepted beside those of the callers. It needs `callers`, which map its people.
    pub oauth: Option<OAuthOptions>,
    /// Whether to serve the pages for people below `/ui`. They need a token too.
    pub pages: bool,
    /// Allowed values of the `Host` header besides loopback and the address itself: `memory.example.org`, or with a port.
    pub hosts: Vec<String>,
    /// Allowed origins besides the server's own: `https://app.example.org`.
    pub origins: Vec<String>,
    /// Sustained number of requests per second and client address.
    pub per_second: u32,
    /// Number of requests that one address may send in a burst.
    pub burst: u32,
    /// Whether clients of the older MCP lifecycle get sessions, which live in this process. Without them, any replica of a server
    /// answers any request.
    pub sessions: bool,
    /// The log of requests.
    pub log: Option<RequestLog>,
    /// How long requests are still answered after the server was asked to end, while `/readyz` reports that it is not ready. A proxy needs
    /// this time to notice it and to use another replica.
    pub leave_after: Duration,
}

impl HttpOptions {
    /// Returns the default options for an address.
    pub fn new(address: SocketAddr) -> Self {
        HttpOptions {
            address,
            token: None,
            callers: None,
            oauth: None,
            pages: false,
            hosts: Vec::new(),
            origins: Vec::new(),
            per_second: 2_000,
            burst: 10_000,
            sessions: true,
            log: None,
            leave_after: Duration::ZERO,
        }
    }

    /// Fails if anyone on the network could call without a token, or a key or token would be sent in plain text.
    pub(super) fn validate(&self) -> Result<(), ServeError> {
        self.oauth.as_ref().map_or(Ok(()), OAuthOptions::validate)?;
        let requires_token =
            self.token.is_some() || self.oauth.is_some() || self.callers.as_ref().is_some_and(|callers| callers.requires_token());
        if !requires_token && self.pages {
            let why = "--page requires a token: without one, anyone who can reach this address could access the memories";
            return Err(ServeError::Unsafe(why.into()));
        }
        if !requires_token && !self.address.ip().is_loopback() {
            let why = format!(
                "{} is reachable from other machines and requires a token; to serve only this machine, listen on 127.0.0.1",
                self.address
            );
            return Err(ServeError::Unsafe(why));
        }
        Ok(())
    }
}

/// A bearer token. Compared in constant time, never printed.
#[derive(Clone)]
pub struct BearerToken(String);

impl BearerToken {
    /// Parses a token and rejects one that is short enough to be guessed.
    pub fn parse(text: &str) -> Result<Self, ServeError> {
        let text = text.trim();
        if text.len() < 16 || text.chars().any(|c| c.is_whitespace() || c.is_control() || !c.is_ascii()) {
            return Err(ServeError::Token);
        }
        Ok(BearerToken(text.to_owned()))
    }

    pub(super) fn matches(&self, presented: &[u8]) -> bool {
        // Hashes have the same length, so that the time does not reveal even the length of the token.
        let (own, presented) = (blake3::hash(self.0.as_bytes()), blake3::hash(presented));
        own.as_bytes().ct_eq(presented.as_bytes()).into()
    }
}

impl fmt::Debug for BearerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BearerToken(…)")
    }
}
