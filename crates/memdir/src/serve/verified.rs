//! The callers that an identity provider vouches for. A caller has an id while one of its tokens is valid; tokens are not stored.

use crate::config::{OAuthGroup, TokenSetting};
use jiff::Timestamp;
use memdir_core::internal::base::sort::SharedSort as _;
use memdir_core::internal::store::space;
use memdir_server::{CallerId, VerifiedIdentity, VerifiedToken};
use std::collections::HashMap;

/// What a caller has access to, whichever kind of token it has.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CallerGrant {
    pub(super) person: String,
    pub(super) agent: Option<String>,
    pub(super) projects: Vec<String>,
    /// Whether the caller may only read.
    pub(super) read_only: bool,
}

impl From<&TokenSetting> for CallerGrant {
    fn from(token: &TokenSetting) -> Self {
        CallerGrant { person: token.person.clone(), agent: token.agent.clone(), projects: token.projects.clone(), read_only: false }
    }
}

/// Maximum number of callers with valid tokens. Beyond it, the one whose token expires first gets a new id at its next request.
const MAX_CALLERS: usize = 20_000;

/// The callers with valid tokens.
#[derive(Debug, Default)]
pub(super) struct VerifiedCallers {
    ids: HashMap<VerifiedIdentity, CallerId>,
    callers: HashMap<CallerId, VerifiedCaller>,
    /// No token expires before this time.
    next_expiry: Option<Timestamp>,
}

#[derive(Debug)]
struct VerifiedCaller {
    identity: VerifiedIdentity,
    /// When the last of its tokens expires.
    expires: Timestamp,
}

impl VerifiedCallers {
    /// Returns the id of a caller, which is `new_id` if it has none.
    pub(super) fn add(&mut self, token: &VerifiedToken, new_id: impl FnOnce() -> CallerId) -> CallerId {
        if let Some(id) = self.ids.get(&token.identity).copied() {
            if let Some(caller) = self.callers.get_mut(&id) {
                caller.expires = caller.expires.max(token.expires);
            }
            return id;
        }
        if self.callers.len() >= MAX_CALLERS
            && let Some(first) = self.callers.iter().min_by_key(|(_, caller)| caller.expires).map(|(id, _)| *id)
        {
            self.remove(first);
        }
        let id = new_id();
        self.ids.insert(token.identity.clone(), id);
        self.callers.insert(id, VerifiedCaller { identity: token.identity.clone(), expires: token.expires });
        self.next_expiry = Some(self.next_expiry.map_or(token.expires, |next| next.min(token.expires)));
        id
    }

    /// Removes callers whose tokens have expired. Returns whether there was one.
    pub(super) fn remove_expired(&mut self, now: Timestamp) -> bool {
        if self.next_expiry.is_none_or(|next| now < next) {
            return false;
        }
        let expired: Vec<CallerId> = self.callers.iter().filter(|(_, caller)| caller.expires <= now).map(|(id, _)| *id).collect();
        expired.iter().for_each(|id| self.remove(*id));
        self.next_expiry = self.callers.values().map(|caller| caller.expires).min();
        !expired.is_empty()
    }

    pub(super) fn identity(&self, id: CallerId) -> Option<&VerifiedIdentity> {
        self.callers.get(&id).map(|caller| &caller.identity)
    }

    fn remove(&mut self, id: CallerId) {
        if let Some(caller) = self.callers.remove(&id) {
            self.ids.remove(&caller.identity);
        }
    }
}

/// Fails if the name of a person cannot be that of a directory. Only the operator can choose another name.
pub(super) fn check_person(name: &str) -> Result<(), String> {
    let why = |_| {
        format!("{name:?} is not a valid name for a person; ask the operator of this server to choose another claim for oauth.person_claim")
    };
    space::person(name).map(drop).map_err(why)
}

/// Returns what an identity gives access to, with the projects of its groups. Fails if its name cannot be that of a directory.
pub(super) fn grant(identity: &VerifiedIdentity, groups: &[OAuthGroup]) -> Result<CallerGrant, String> {
    check_person(&identity.person)?;
    let mapped = groups.iter().filter(|group| identity.groups.contains(&group.name)).flat_map(|group| &group.projects);
    let mut projects: Vec<String> = identity.projects.iter().chain(mapped).cloned().collect();
    projects.shared_sort();
    projects.dedup();
    Ok(CallerGrant { person: identity.person.clone(), agent: None, projects, read_only: identity.read_only })
}
