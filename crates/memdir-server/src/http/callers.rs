//! Callers that are known by their tokens: each has a space of their own, which nothing in a request makes wider.

use hyper::HeaderMap;
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
    /// Who shows this token, in a text that changes when anything about them does; nothing for a stranger.
    fn know(&self, token: &str) -> Option<String>;
    /// What this caller is offered, or why not.
    fn open(&self, pass: &Pass) -> Result<crate::Offer, String>;
}

/// What a known caller's request says.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pass {
    /// The caller, as [`Door::know`] told.
    pub who: String,
    /// The project they name.
    pub project: Option<String>,
    /// What they narrow the session to.
    pub only: Vec<String>,
}

impl Pass {
    pub(super) fn new(who: String, headers: &HeaderMap) -> Self {
        let text = |name: &str| headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect::<Vec<_>>().join(",");
        let words = |text: String| text.split(',').map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect::<Vec<_>>();
        Pass { who, project: words(text(PROJECT)).into_iter().next(), only: words(text(ONLY)) }
    }
}

/// Who sent a request.
#[derive(Debug, Clone)]
pub(crate) enum Who {
    /// Whoever the server was started for.
    Owner,
    /// Somebody with a token of their own.
    Caller(Pass),
}
