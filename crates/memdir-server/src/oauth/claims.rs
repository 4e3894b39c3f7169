//! The claims of a verified token: whether it is for this server and valid now, what it permits, and whose it is.

use super::{OAuthOptions, TokenRefusal};
use jiff::Timestamp;
use serde_json::{Map, Value};

/// Seconds by which the clocks of this machine and the provider may differ.
const LEEWAY_SECS: i64 = 30;
/// Maximum number of groups and of projects of a token.
const MAX_NAMES: usize = 1_000;

/// The claims that say who a caller is. A name with dots is also looked up as a path: `realm_access.roles`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimNames {
    /// The person's name. It must be one that people cannot choose for themselves.
    pub person: String,
    /// The groups, which the directory of callers maps to projects.
    pub groups: String,
    /// Ids of projects.
    pub projects: Option<String>,
    /// The tenant.
    pub tenant: Option<String>,
}

impl Default for ClaimNames {
    fn default() -> Self {
        ClaimNames { person: "sub".into(), groups: "groups".into(), projects: None, tenant: None }
    }
}

/// A caller that an identity provider vouches for. The directory of callers decides which memory it gets.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct VerifiedIdentity {
    /// The person's name.
    pub person: String,
    /// The tenant, if a claim names it.
    pub tenant: Option<String>,
    /// The person's groups.
    pub groups: Vec<String>,
    /// Ids of projects that the token names itself.
    pub projects: Vec<String>,
    /// Whether the token permits reading only.
    pub read_only: bool,
}

/// A verified access token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedToken {
    /// Whose token it is.
    pub identity: VerifiedIdentity,
    /// When it is no longer accepted.
    pub expires: Timestamp,
}

/// Fails if another issuer made the token.
pub(super) fn check_issuer(options: &OAuthOptions, claims: &Map<String, Value>) -> Result<(), TokenRefusal> {
    let is_issuer = claims.get("iss").and_then(Value::as_str) == Some(&options.issuer);
    is_issuer.then_some(()).ok_or_else(|| TokenRefusal::Invalid("the token's issuer is not accepted".into()))
}

/// Checks the claims of a token with a valid signature.
pub(super) fn verified(options: &OAuthOptions, claims: &Map<String, Value>, now: Timestamp) -> Result<VerifiedToken, TokenRefusal> {
    let invalid = |why: &str| Err(TokenRefusal::Invalid(why.to_owned()));
    check_issuer(options, claims)?;
    let now = now.as_second();
    let seconds = |name: &str| claims.get(name).and_then(Value::as_f64).map(|secs| secs as i64);
    let Some(expires) = seconds("exp") else { return invalid("the token has no expiry time") };
    if now >= expires.saturating_add(LEEWAY_SECS) {
        return invalid("the token has expired");
    }
    if claims.contains_key("nbf") && seconds("nbf").is_none_or(|from| now < from.saturating_sub(LEEWAY_SECS)) {
        return invalid("the token is not valid yet");
    }
    if !list(claims.get("aud")).iter().any(|audience| is_audience(options, audience)) {
        return invalid("the token's audience does not include this server");
    }
    let scopes = [list(claims.get("scope")), list(claims.get("scp"))].concat();
    let has = |scope: &String| scopes.contains(scope);
    if !has(&options.read_scope) && !has(&options.write_scope) {
        return Err(TokenRefusal::Scope { read: options.read_scope.clone(), write: options.write_scope.clone() });
    }
    let identity = VerifiedIdentity {
        person: person(options, claims)?,
        tenant: tenant(options, claims)?,
        groups: list(find(claims, &options.claims.groups)),
        projects: options.claims.projects.as_deref().map(|claim| list(find(claims, claim))).unwrap_or_default(),
        read_only: !has(&options.write_scope),
    };
    let expires = Timestamp::from_second(expires.saturating_add(LEEWAY_SECS)).unwrap_or(Timestamp::MAX);
    Ok(VerifiedToken { identity, expires })
}

/// A token without the claim that the settings name must not fall back to another tenant.
fn tenant(options: &OAuthOptions, claims: &Map<String, Value>) -> Result<Option<String>, TokenRefusal> {
    let Some(claim) = &options.claims.tenant else { return Ok(options.tenant.clone()) };
    match find(claims, claim).and_then(Value::as_str).filter(|tenant| !tenant.is_empty()) {
        Some(tenant) => Ok(Some(tenant.to_owned())),
        None => {
            Err(TokenRefusal::Identity(format!("the token does not name a tenant: the claim {claim:?} is missing, empty or not a string")))
        }
    }
}

fn person(options: &OAuthOptions, claims: &Map<String, Value>) -> Result<String, TokenRefusal> {
    let claim = &options.claims.person;
    // A provider may let people enter any address before it is confirmed.
    if claim == "email" && claims.get("email_verified").is_some_and(|verified| verified != true && verified != "true") {
        return Err(TokenRefusal::Identity("the identity provider has not verified your email address".into()));
    }
    let name = find(claims, claim).and_then(Value::as_str).filter(|name| !name.is_empty() && name.trim() == *name);
    name.map(str::to_owned).ok_or_else(|| {
        TokenRefusal::Identity(format!(
            "the token does not name a person: the claim {claim:?} is missing, not a string, empty, or has spaces around it"
        ))
    })
}

/// The audience is the server or its MCP endpoint, with or without a slash at the end, or one of the further ones.
fn is_audience(options: &OAuthOptions, audience: &str) -> bool {
    let resource = options.resource.trim_end_matches('/');
    let own = audience.trim_end_matches('/');
    own == resource || own.strip_suffix("/mcp") == Some(resource) || options.audiences.iter().any(|also| also == audience)
}

/// Returns a claim by its name, or by the path that its name is.
fn find<'a>(claims: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    claims.get(name).or_else(|| {
        let (first, rest) = name.split_once('.')?;
        rest.split('.').try_fold(claims.get(first)?, |value, part| value.get(part))
    })
}

/// Returns the texts of a claim, which is a list or one text with spaces.
fn list(claim: Option<&Value>) -> Vec<String> {
    let mut names: Vec<String> = match claim {
        Some(Value::String(text)) => text.split_whitespace().map(str::to_owned).collect(),
        Some(Value::Array(values)) => values.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    names.truncate(MAX_NAMES);
    names
}
