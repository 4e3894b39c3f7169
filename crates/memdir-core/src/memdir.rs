//! The library's front door: opens a space, and one short method per verb. Decides nothing itself.

use crate::{
    check, delete, diff, edit,
    error::{Error, Result},
    history,
    keep::Books,
    list, log,
    path::MemoryPath,
    prompt, read, rename, repair, restore,
    search::{Answer, Search, Searcher},
    secrets, stats,
    stop::{self, Stop},
    store::{Actor, Change, ChangeFilter, Intent, Store, Verb},
    time::{Clock, SystemClock},
    undo, verify, write,
};
use std::sync::Arc;

/// A space of memories, as one caller sees it.
#[derive(Clone)]
pub struct Memdir {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) context: Context,
    pub(crate) searcher: Option<Arc<Searcher>>,
}

/// What every verb that changes something needs besides the store: who, when, and what is known of the entrypoints.
#[derive(Clone)]
pub struct Context {
    /// Who acts.
    pub actor: Actor,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// What a person has declared to be no secret.
    pub allow: Arc<secrets::Allow>,
    /// Parsed entrypoint pages, kept between saves.
    pub(crate) books: Arc<Books>,
}

impl Context {
    /// A context with nothing known yet.
    pub fn new(actor: Actor, clock: Arc<dyn Clock>) -> Self {
        Context { actor, clock, allow: Arc::default(), books: Arc::default() }
    }

    pub(crate) fn intent(&self, verb: Verb) -> Intent {
        Intent { verb, actor: self.actor.clone(), at: self.clock.now(), undoes: None }
    }
}

impl Memdir {
    /// A space over a store, for one actor.
    pub fn new(store: Arc<dyn Store>, actor: Actor) -> Self {
        Memdir::with_clock(store, actor, Arc::new(SystemClock))
    }

    /// A space whose time is told by `clock`.
    pub fn with_clock(store: Arc<dyn Store>, actor: Actor, clock: Arc<dyn Clock>) -> Self {
        Memdir { store, context: Context::new(actor, clock), searcher: None }
    }

    /// The same space for another actor.
    pub fn for_actor(&self, actor: Actor) -> Self {
        Memdir { context: Context { actor, ..self.context.clone() }, ..self.clone() }
    }

    /// The same space for one call that may be ended early.
    pub fn stoppable(&self, stop: &Stop) -> Self {
        Memdir { store: stop::stoppable(self.store.clone(), stop.clone()), ..self.clone() }
    }

    /// The same space, which can be searched.
    pub fn with_searcher(self, searcher: Searcher) -> Self {
        Memdir { searcher: Some(Arc::new(searcher)), ..self }
    }

    /// The same space, in which these are no secrets. Only ever from a person's own settings or command line.
    pub fn allowing(&self, allow: secrets::Allow) -> Self {
        Memdir { context: Context { allow: Arc::new(allow), ..self.context.clone() }, ..self.clone() }
    }

    /// The store underneath.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Who acts, and when.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The entrypoint of one mount, as it is loaded into a conversation.
    pub fn entrypoint(&self, prefix: &str) -> Result<read::EntrypointReading> {
        read::entrypoint(&*self.store, &self.context, prefix)
    }

    /// One memory, or a range of its lines.
    pub fn read(&self, request: &read::Read) -> Result<read::Reading> {
        read::read(&*self.store, &self.context, request)
    }

    /// The memories there are.
    pub fn list(&self, query: &list::List) -> Result<list::Listing> {
        list::list(&*self.store, &self.context, query)
    }

    /// The lines that answer a query.
    pub fn search(&self, search: &Search) -> Result<Answer> {
        self.searcher()?.search(&*self.store, search)
    }

    /// Writes what searches had to work out into the index, where it is enough to be worth it. For after an answer.
    pub fn settle(&self) -> Result<()> {
        self.searcher.as_deref().map_or(Ok(()), |searcher| searcher.settle(&*self.store))
    }

    /// What searches over this space.
    pub fn searcher(&self) -> Result<&Searcher> {
        let none = || Error::Unavailable { what: "search".into(), why: "this space was opened without it".into() };
        self.searcher.as_deref().ok_or_else(none)
    }

    /// Creates, replaces or appends to a memory.
    pub fn write(&self, request: &write::Write) -> Result<write::Saved> {
        write::write(&*self.store, &self.context, request)
    }

    /// Appends an entry to the log of the day in the mount with this prefix.
    pub fn log(&self, prefix: &str, text: &str) -> Result<write::Saved> {
        log::log(&*self.store, &self.context, prefix, text)
    }

    /// Replaces a part of a memory.
    pub fn edit(&self, request: &edit::Edit) -> Result<edit::Edited> {
        edit::edit(&*self.store, &self.context, request)
    }

    /// Gives a memory another name, everywhere.
    pub fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<rename::Renamed> {
        rename::rename(&*self.store, &self.context, from, to)
    }

    /// Removes a memory; undo brings it back.
    pub fn delete(&self, request: &delete::Delete) -> Result<delete::Deleted> {
        delete::delete(&*self.store, &self.context, request)
    }

    /// Takes a change back.
    pub fn undo(&self, which: &undo::Which) -> Result<undo::Undone> {
        undo::undo(&*self.store, &self.context, which)
    }

    /// Makes a change again that was taken back.
    pub fn redo(&self, which: &undo::Which) -> Result<undo::Undone> {
        undo::redo(&*self.store, &self.context, which)
    }

    /// What happened, newest first.
    pub fn history(&self, filter: &ChangeFilter) -> Result<Vec<Change>> {
        history::history(&*self.store, filter)
    }

    /// What differs between two versions of a memory.
    pub fn diff(&self, request: &diff::Diff) -> Result<diff::Difference> {
        diff::diff(&*self.store, request)
    }

    /// Brings an earlier version of a memory back.
    pub fn restore(&self, path: &MemoryPath, version: &str) -> Result<write::Saved> {
        restore::restore(&*self.store, &self.context, path, version)
    }

    /// How much there is.
    pub fn stats(&self) -> Result<stats::Stats> {
        stats::stats(&*self.store)
    }

    /// Looks whether the entrypoints tell the truth, and with `fix` adds the lines that are missing.
    pub fn repair(&self, fix: bool) -> Result<Vec<repair::Repaired>> {
        repair::repair(&*self.store, &self.context, fix)
    }

    /// Looks up what a memory names, and stamps it if all of it is there.
    pub fn verify(&self, request: &verify::Verify<'_>) -> Result<verify::Verified> {
        verify::verify(&*self.store, &self.context, request)
    }

    /// Looks over everything for what is wrong.
    pub fn check(&self, request: &check::Check<'_>) -> Result<check::Checked> {
        check::check(&*self.store, &self.context, request)
    }

    /// The memory section of a system prompt.
    pub fn prompt(&self, request: &prompt::Request<'_>) -> Result<prompt::Made> {
        prompt::of(&*self.store, &self.context, request)
    }
}
