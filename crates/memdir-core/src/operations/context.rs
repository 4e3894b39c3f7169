//! What every operation needs besides the store: who acts, when, and what is known of the entrypoints.

use crate::{
    base::time::Clock,
    entrypoint::upkeep::Books,
    secrets,
    store::{Actor, Intent, Verb},
};
use std::sync::Arc;

/// What every verb that changes something needs besides the store: who, when, and what is known of the entrypoints.
#[derive(Clone)]
pub struct Context {
    /// Who acts.
    pub actor: Actor,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// What a person has declared to be no secret.
    pub allow: Arc<secrets::Allow>,
    /// The prefix of the memory that keeps the log, where that is not the main one.
    pub log: Option<Arc<str>>,
    /// Parsed entrypoint pages, kept between saves.
    pub(crate) books: Arc<Books>,
}

impl Context {
    /// A context with nothing known yet.
    pub fn new(actor: Actor, clock: Arc<dyn Clock>) -> Self {
        Context { actor, clock, allow: Arc::default(), log: None, books: Arc::default() }
    }

    pub(crate) fn intent(&self, verb: Verb) -> Intent {
        Intent { verb, actor: self.actor.clone(), at: self.clock.now(), undoes: None }
    }
}
