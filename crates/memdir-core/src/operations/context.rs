//! [`Context`]: what every operation needs besides the store.

use crate::{
    base::time::Clock,
    entrypoint::upkeep::EntrypointCache,
    operations::dream_summary::DreamSummary,
    secrets,
    store::{Actor, IdempotencyKey, Intent, Verb},
};
use jiff::Timestamp;
use std::sync::Arc;

/// The actor, the clock, the allow list and the caches of a space.
#[derive(Clone)]
pub struct Context {
    /// The actor that changes are recorded for.
    pub actor: Actor,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The user's allow list for the secret scanner.
    pub allow: Arc<secrets::Allow>,
    /// The prefix of the mount that holds the log, if it is not the main one.
    pub log: Option<Arc<str>>,
    /// Reports when memories were last tidied, if the program keeps plans.
    pub dreams: Option<Arc<dyn Fn(Timestamp) -> DreamSummary + Send + Sync>>,
    /// The key of the request that the next change is made for.
    pub key: Option<IdempotencyKey>,
    /// Parsed entrypoint pages, kept between saves.
    pub(crate) entrypoint_cache: Arc<EntrypointCache>,
}

impl Context {
    /// Returns a context with empty caches.
    pub fn new(actor: Actor, clock: Arc<dyn Clock>) -> Self {
        Context { actor, clock, allow: Arc::default(), log: None, dreams: None, key: None, entrypoint_cache: Arc::default() }
    }

    pub(crate) fn intent(&self, verb: Verb) -> Intent {
        Intent { verb, actor: self.actor.clone(), at: self.clock.now(), undoes: None, key: self.key.clone() }
    }
}
