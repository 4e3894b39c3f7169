//! OAuth 2.1 resource server: verifies access tokens that an identity provider issued, and publishes where clients get one (RFC 9728).
//! Issues no tokens, stores none, and never logs one.

mod claims;
mod discovery;
mod fetch;
mod jwt;
mod keys;
mod metadata;

pub use claims::{ClaimNames, VerifiedIdentity, VerifiedToken};
pub(crate) use fetch::is_loopback;
pub use fetch::is_safe_url;
pub(crate) use metadata::WELL_KNOWN;

use crate::{error::ServeError, workers::WorkerPool};
use axum::http::Uri;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use discovery::IssuerMetadata;
use jwt::SignedToken;
use keys::{IssuerKeys, KeyFailure};
use memdir_core::{Clock, internal::base::time::SystemClock};
use std::{fmt, sync::Arc};

/// The settings of the resource server.
#[derive(Debug, Clone)]
pub struct OAuthOptions {
    /// The issuer: the URL of the identity provider, exactly as its tokens name it.
    pub issuer: String,
    /// The URL under which clients reach this server, without `/mcp`. Tokens must be issued for it.
    pub resource: String,
    /// Further audiences that are accepted, for providers whose tokens name the server by another id.
    pub audiences: Vec<String>,
    /// The scope that a caller needs to read.
    pub read_scope: String,
    /// The scope that a caller needs to write; it includes reading.
    pub write_scope: String,
    /// The claims that say who the caller is.
    pub claims: ClaimNames,
    /// The tenant of people whose tokens name none, on a server with a database.
    pub tenant: Option<String>,
    /// The client by which people sign in to the pages; `None` if they sign in with a token only.
    pub login: Option<LoginClient>,
}

/// The registration of this server's pages as a client of the identity provider.
#[derive(Clone)]
pub struct LoginClient {
    /// Its id.
    pub id: String,
    /// Its secret; `None` for a public client, which PKCE protects.
    pub secret: Option<String>,
}

impl fmt::Debug for LoginClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoginClient").field("id", &self.id).field("secret", &self.secret.as_ref().map(|_| "…")).finish()
    }
}

impl OAuthOptions {
    /// Fails if a URL is not valid, or would send keys or tokens in plain text over a network.
    pub(crate) fn validate(&self) -> Result<(), ServeError> {
        for (name, url) in [("oauth.issuer", &self.issuer), ("oauth.resource", &self.resource)] {
            if !is_safe_url(url) || url.parse::<Uri>().is_ok_and(|uri| uri.query().is_some()) {
                let why = format!(
                    "{name} {url:?} is not valid: use an https URL without credentials, query or fragment; http is allowed only for loopback addresses"
                );
                return Err(ServeError::OAuth(why));
            }
        }
        if [&self.read_scope, &self.write_scope].iter().any(|scope| !is_scope(scope)) {
            let why =
                "oauth.read_scope and oauth.write_scope must be non-empty printable ASCII without spaces, double quotes or backslashes";
            return Err(ServeError::OAuth(why.into()));
        }
        Ok(())
    }
}

/// Returns whether a text is a scope token of RFC 6749.
fn is_scope(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic() && b != b'"' && b != b'\\')
}

/// Why an access token is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TokenRefusal {
    /// The token is not valid, or not for this server.
    #[error("{0}")]
    Invalid(String),
    /// The token has none of the scopes.
    #[error("the token has neither the scope {read:?} nor {write:?}")]
    Scope { read: String, write: String },
    /// The caller is known to the provider and not to this server.
    #[error("{0}")]
    Identity(String),
    /// The provider's keys cannot be read at present.
    #[error("{0}")]
    Unavailable(String),
    /// The client's address has sent too many wrong tokens.
    #[error("too many requests from this address")]
    RateLimited,
}

/// Verifies access tokens.
pub(crate) struct ResourceServer {
    pub(crate) options: OAuthOptions,
    keys: IssuerKeys,
    clock: Arc<dyn Clock>,
}

impl ResourceServer {
    pub(crate) fn new(options: OAuthOptions) -> Self {
        let keys = IssuerKeys::new(&options.issuer);
        ResourceServer { options, keys, clock: Arc::new(SystemClock) }
    }

    /// Verifies a token: its signature by a key of the issuer, then issuer, audience, times and scopes.
    pub(crate) async fn verify(&self, token: &str) -> Result<VerifiedToken, TokenRefusal> {
        let token = SignedToken::parse(token).map_err(|why| TokenRefusal::Invalid(why.to_owned()))?;
        // Checked before the signature too, so that a token of another issuer does not cause a request to this one.
        claims::check_issuer(&self.options, &token.claims)?;
        let keys = self.keys.find(&token).await.map_err(|failure| match failure {
            KeyFailure::Unknown => TokenRefusal::Invalid("the token is signed with an unknown key".into()),
            KeyFailure::Unavailable(why) => TokenRefusal::Unavailable(why),
        })?;
        if !keys.iter().any(|key| token.is_signed_by(key)) {
            return Err(TokenRefusal::Invalid("the token has an invalid signature".into()));
        }
        claims::verified(&self.options, &token.claims, self.clock.now())
    }

    /// Returns the provider's endpoints.
    pub(crate) async fn provider(&self) -> Result<Arc<IssuerMetadata>, TokenRefusal> {
        self.keys.provider().await.map_err(|failure| match failure {
            KeyFailure::Unavailable(why) => TokenRefusal::Unavailable(why),
            KeyFailure::Unknown => TokenRefusal::Unavailable("the identity provider's metadata is not available".into()),
        })
    }

    /// Exchanges an authorization code at the provider's token endpoint for an access token.
    pub(crate) async fn exchange(&self, endpoint: String, mut form: String) -> Result<String, TokenRefusal> {
        let encode = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        let mut credentials = None;
        match self.options.login.as_ref().map(|client| (&client.id, &client.secret)) {
            Some((id, Some(secret))) => credentials = Some(STANDARD.encode(format!("{}:{}", encode(id), encode(secret)))),
            Some((id, None)) => form += &format!("&client_id={}", encode(id)),
            None => {}
        }
        let answer =
            self.keys.run(move || fetch::post_form(&endpoint, &form, credentials.as_deref())).await.map_err(TokenRefusal::Unavailable)?;
        let token = answer.get("access_token").and_then(|token| token.as_str()).map(str::to_owned);
        token.ok_or_else(|| TokenRefusal::Invalid("the identity provider did not return an access token".into()))
    }
}

/// Returns the threads that requests to the provider run on.
fn fetch_threads() -> Arc<WorkerPool> {
    WorkerPool::new(2)
}
