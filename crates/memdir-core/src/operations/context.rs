//! [`Context`]: what every operation needs besides the store.

use crate::{
    base::{error::Result, time::Clock},
    entrypoint::upkeep::EntrypointCache,
    operations::dream_summary::DreamSummary,
    recall::{RecallCache, RecallTable},
    secrets,
    store::{Actor, IdempotencyKey, Intent, Store, Verb},
};
use jiff::Timestamp;
use std::{path::Path, sync::Arc};

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
    /// The table of recall, unless it is in a file.
    pub(crate) recall_cache: Arc<RecallCache>,
}

impl Context {
    /// Returns a context with empty caches.
    pub fn new(actor: Actor, clock: Arc<dyn Clock>) -> Self {
        Context {
            actor,
            clock,
            allow: Arc::default(),
            log: None,
            dreams: None,
            key: None,
            entrypoint_cache: Arc::default(),
            recall_cache: Arc::default(),
        }
    }

    /// Returns the table that recalls are decided by. `cache` is the file for the cached table of a store on a disk.
    pub(crate) fn recall_table(&self, store: &dyn Store, cache: Option<&Path>) -> Result<Arc<RecallTable>> {
        match (store.sequence(), cache) {
            (Some(sequence), _) => self.recall_cache.current(store, sequence, self.clock.now()),
            (None, Some(file)) => RecallTable::read(store, Some(file), self.clock.now()).map(Arc::new),
            (None, None) => self.recall_cache.listed(store, self.clock.now()),
        }
    }

    pub(crate) fn intent(&self, verb: Verb) -> Intent {
        Intent { verb, actor: self.actor.clone(), at: self.clock.now(), undoes: None, key: self.key.clone() }
    }
}
