//! Callers that are identified by their tokens. Each has a space of its own, which a request can narrow and never widen.

use super::response;
use crate::{catalog::ToolCatalog, oauth::VerifiedToken};
use axum::{
    http::{HeaderMap, StatusCode},
    response::Response,
};
use std::{fmt, future::Future, pin::Pin};

/// The header that selects the project.
const PROJECT: &str = "Memdir-Project";
/// The header with the names, separated by commas, that the session is narrowed to.
const ONLY: &str = "Memdir-Only";

/// Identifies a caller and opens its space.
///
/// It is consulted for every request, so that a revoked token is rejected at once. What it opens depends on the token; the
/// request may only narrow it.
pub trait CallerDirectory: Send + Sync + fmt::Debug {
    /// Returns whether every request needs a token, which is so once there has been a caller since the server started.
    fn requires_token(&self) -> bool;

    /// Returns the message with which all callers are rejected at present, such as while the settings that list them are invalid.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// Returns why requests cannot be answered at present, such as because a database cannot be reached. Load balancers ask for it.
    /// Called on a worker thread; may block.
    fn ready(&self) -> Result<(), String> {
        self.check()
    }

    /// Returns the id of the caller with this token, or `None` if the token is unknown. The id changes whenever the caller's
    /// permissions change. Must not block.
    fn identify(&self, token: &str) -> Option<CallerId>;

    /// Returns the id that the caller with this token had when it was last looked up, if its space can check the caller in the transaction
    /// of a read. Must not block.
    fn presume(&self, _token: &str) -> Option<CallerId> {
        None
    }

    /// Like [`identify`](Self::identify), for a directory that must ask another machine. Returns the message with which the request is
    /// rejected while tokens cannot be checked.
    fn authenticate<'a>(&'a self, token: &'a str) -> Authentication<'a> {
        Box::pin(async move {
            self.check()?;
            Ok(self.identify(token))
        })
    }

    /// Returns the id of the caller that an identity provider vouches for, or the message with which it is refused. The id is
    /// current until the token expires; a newer token of the same caller keeps it. Fails while callers cannot be looked up.
    fn authenticate_verified<'a>(&'a self, _token: &'a VerifiedToken) -> VerifiedAuthentication<'a> {
        Box::pin(async { Ok(Err("this server does not accept tokens from an identity provider".into())) })
    }

    /// Returns whether this is the id of a caller with its present permissions, as far as is known without blocking.
    fn is_current(&self, id: CallerId) -> bool;

    /// Returns the message with which a call is refused if this is not the id of a caller with its present permissions. Called on a
    /// worker thread before each use of a space; may block.
    fn check_caller(&self, id: CallerId) -> Result<(), String> {
        self.check()?;
        if self.is_current(id) { Ok(()) } else { Err(REVOKED.into()) }
    }

    /// Makes the next [`check_caller`](Self::check_caller) of this id look the caller up, however recently that was done.
    fn recheck(&self, _id: CallerId) {}

    /// Returns a number that changes whenever [`is_current`](Self::is_current) may return something else.
    fn revision(&self) -> u64;

    /// Opens the space of a caller, or returns the message with which the request is rejected. Called on a worker thread; may
    /// block. For the owner of the server it is called only with a narrowed space.
    fn open(&self, caller: &HttpCaller) -> Result<ToolCatalog, String>;
}

/// The id of a caller, `None` for an unknown token, or the message with which the request is rejected.
pub type Authentication<'a> = Pin<Box<dyn Future<Output = Result<Option<CallerId>, String>> + Send + 'a>>;

/// The id of a caller or the message with which it is refused; or the message with which the request is rejected for now.
pub type VerifiedAuthentication<'a> = Pin<Box<dyn Future<Output = Result<Result<CallerId, String>, String>> + Send + 'a>>;

/// The message with which a call is refused whose token is not valid any more.
pub const REVOKED: &str = "the token was revoked, or its permissions have changed; connect again";

/// Identifies a caller and its permissions: a caller whose permissions change gets a new id. Ids are never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallerId(pub u64);

/// The caller of a request, and the part of its space that the request selects.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HttpCaller {
    /// The caller, or `None` for the owner of the server.
    pub id: Option<CallerId>,
    /// The selected project.
    pub project: Option<String>,
    /// The names that the session is narrowed to; empty for all.
    pub only: Vec<String>,
}

impl HttpCaller {
    /// Reads the selection from the headers. A header that is present and selects nothing is rejected: its sender intends to
    /// narrow the space, and must not get all of it by mistake.
    pub(super) fn from_headers(id: Option<CallerId>, headers: &HeaderMap) -> Result<Self, Response> {
        let reject = |why: &str| response::text(StatusCode::BAD_REQUEST, why);
        let project = match values(headers, PROJECT)?.as_slice() {
            [] => None,
            [one] if !one.trim().is_empty() => Some(one.trim().to_owned()),
            _ => {
                return Err(reject(
                    "header Memdir-Project is empty or occurs more than once; name exactly one project, or omit the header",
                ));
            }
        };
        let lists = values(headers, ONLY)?;
        let names = lists.iter().flat_map(|list| list.split(',')).map(str::trim).filter(|name| !name.is_empty());
        let only: Vec<String> = names.map(str::to_owned).collect();
        if only.is_empty() && !lists.is_empty() {
            return Err(reject("header Memdir-Only is empty; list the prefixes to include, or omit the header"));
        }
        Ok(HttpCaller { id, project, only })
    }

    /// Returns whether this is the owner, with the whole space of the server.
    pub(super) fn is_unrestricted(&self) -> bool {
        self.id.is_none() && self.project.is_none() && self.only.is_empty()
    }
}

fn values<'a>(headers: &'a HeaderMap, name: &str) -> Result<Vec<&'a str>, Response> {
    let invalid = |_| response::text(StatusCode::BAD_REQUEST, format!("header {name} is not valid UTF-8"));
    headers.get_all(name).iter().map(|value| std::str::from_utf8(value.as_bytes()).map_err(invalid)).collect()
}
