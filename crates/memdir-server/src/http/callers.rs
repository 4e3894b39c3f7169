//! Callers that are known by their tokens: each has a space of their own, which nothing in a request makes wider.

use super::{Body, say};
use hyper::{HeaderMap, Response, StatusCode};
use std::fmt;

/// The header that names the project.
const PROJECT: &str = "memdir-project";
/// The header that names what a session is narrowed to, parted by commas.
const ONLY: &str = "memdir-only";

/// Knows the callers and opens their spaces.
///
/// The contract: it is asked for every request, so that a token that was taken back is refused at once; what it opens follows
/// from the token, and from what the request names only where that makes it smaller.
pub trait Door: Send + Sync + fmt::Debug {
    /// Whether there are callers, or were since the server began: from then on nobody is served without a token.
    fn is_guarded(&self) -> bool;
    /// Who shows this token, in a text that changes when anything about them does; nothing for a stranger.
    fn know(&self, token: &str) -> Option<String>;
    /// What this caller is offered, or why not. Whoever the server was started for comes here only to have less.
    fn open(&self, pass: &Pass) -> Result<crate::Offer, String>;
}

/// Who sent a request, and what it says of the space that is meant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pass {
    /// The caller, as [`Door::know`] told; nothing for whoever the server was started for.
    pub who: Option<String>,
    /// The project they name.
    pub project: Option<String>,
    /// What they narrow the session to.
    pub only: Vec<String>,
}

impl Pass {
    /// Refuses headers that name nothing or cannot be read: whoever sends them means to have less than everything.
    pub(super) fn new(who: Option<String>, headers: &HeaderMap) -> Result<Self, Response<Body>> {
        let refuse = |why: &str| say(StatusCode::BAD_REQUEST, why);
        let project = match texts(headers, PROJECT)?.as_slice() {
            [] => None,
            [one] if !one.trim().is_empty() => Some(one.trim().to_owned()),
            _ => return Err(refuse("Memdir-Project names one project; leave it out to name none")),
        };
        let named = texts(headers, ONLY)?;
        let words = named.iter().flat_map(|text| text.split(',')).map(str::trim).filter(|word| !word.is_empty());
        let only: Vec<String> = words.map(str::to_owned).collect();
        if only.is_empty() && !named.is_empty() {
            return Err(refuse("Memdir-Only names nothing; name what the session is narrowed to, or leave it out"));
        }
        Ok(Pass { who, project, only })
    }

    /// Whether the server's own space is meant, whole.
    pub(crate) fn is_everything(&self) -> bool {
        self.who.is_none() && self.project.is_none() && self.only.is_empty()
    }
}

fn texts<'a>(headers: &'a HeaderMap, name: &str) -> Result<Vec<&'a str>, Response<Body>> {
    let unreadable = |_| say(StatusCode::BAD_REQUEST, &format!("the header {name} is not UTF-8"));
    headers.get_all(name).iter().map(|value| std::str::from_utf8(value.as_bytes()).map_err(unreadable)).collect()
}
