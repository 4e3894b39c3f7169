//! The library's front door: opens a space, and one short method per verb. Decides nothing itself.

use crate::{
    base::{
        error::{Error, Result},
        path::MemoryPath,
        time::{Clock, SystemClock},
    },
    operations::{
        check, context::Context, delete, diff, edit, history, import, list, log, memory_tests, read, recall as recall_operation, rename,
        repair, restore, stats, undo, verify, write,
    },
    prompt, recall,
    search::{Answer, Search, Searcher, chats::ChatSync},
    secrets,
    store::{Actor, Change, ChangeFilter, Source, Store, mounts, stop::Stop},
};
use std::sync::Arc;

/// A space of memories, as one caller sees it.
#[derive(Clone)]
pub struct Memdir {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) context: Context,
    pub(crate) searcher: Option<Arc<Searcher>>,
    pub(crate) chats: Option<Arc<dyn ChatSync>>,
    pub(crate) no_chats: Option<Arc<str>>,
}

impl Memdir {
    /// A space over a store, for one actor.
    pub fn new(store: Arc<dyn Store>, actor: Actor) -> Self {
        Memdir::with_clock(store, actor, Arc::new(SystemClock))
    }

    /// A space whose time is told by `clock`.
    pub fn with_clock(store: Arc<dyn Store>, actor: Actor, clock: Arc<dyn Clock>) -> Self {
        Memdir { store, context: Context::new(actor, clock), searcher: None, chats: None, no_chats: None }
    }

    /// The same space for another actor.
    pub fn for_actor(&self, actor: Actor) -> Self {
        Memdir { context: Context { actor, ..self.context.clone() }, ..self.clone() }
    }

    /// The same space for one call that may be ended early.
    pub fn stoppable(&self, stop: &Stop) -> Self {
        Memdir { store: self.store.with_stop(stop), ..self.clone() }
    }

    /// The same space, which can be searched.
    pub fn with_searcher(self, searcher: Searcher) -> Self {
        Memdir { searcher: Some(Arc::new(searcher)), ..self }
    }

    /// The same space, in which searches first take in what was said since the last one.
    pub fn with_chats(self, chats: Arc<dyn ChatSync>) -> Self {
        Memdir { chats: Some(chats), ..self }
    }

    /// The same space, which has no chats although they are on, and why.
    pub fn without_chats(self, why: &str) -> Self {
        Memdir { no_chats: Some(why.into()), ..self }
    }

    /// Whether chats are off, so that no search can find any.
    pub fn chats_off(&self) -> bool {
        self.no_chats.is_none() && !self.has_chats()
    }

    /// Why no search finds chats here; nothing where searches do.
    pub fn why_no_chats(&self) -> Option<&str> {
        let why = self.no_chats.as_deref().unwrap_or("chats are off; a person can turn them on with: memdir chats on");
        (!self.has_chats()).then_some(why)
    }

    /// What a person is told, and what they can run, where a search for chats finds none because they are off.
    pub fn chats_notice(&self, asked: Option<Source>) -> Option<(&str, &'static str)> {
        let why = self.why_no_chats().filter(|_| asked == Some(Source::Chat))?;
        Some((why, if self.chats_off() { "memdir chats on" } else { "memdir chats sync" }))
    }

    fn has_chats(&self) -> bool {
        self.store.mounts().iter().any(|mount| mount.source == Source::Chat)
    }

    /// The same space, in which these are no secrets. Only ever from a person's own settings or command line.
    pub fn allowing(&self, allow: secrets::Allow) -> Self {
        Memdir { context: Context { allow: Arc::new(allow), ..self.context.clone() }, ..self.clone() }
    }

    /// The same space, which keeps its log in the memory with this prefix.
    pub fn logging_in(self, prefix: &str) -> Self {
        Memdir { context: Context { log: Some(prefix.into()), ..self.context }, ..self }
    }

    /// The store underneath.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Who acts, and when.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// What a name means here: `global/…` is another word for `user/…`, where no mount has that name itself, and an agent with a
    /// `:` in its name has a `-` there.
    pub fn name(&self, path: &MemoryPath) -> MemoryPath {
        self.alias(path).unwrap_or_else(|| path.clone())
    }

    fn alias(&self, path: &MemoryPath) -> Option<MemoryPath> {
        mounts::resolve_alias(&*self.store, path)
    }

    /// Runs a request with its name as it is meant; nearly always that is as it was given, and nothing is copied.
    fn meaning<R: Clone, T>(&self, path: &MemoryPath, request: &R, set: fn(&mut R, MemoryPath), run: impl FnOnce(&R) -> T) -> T {
        match self.alias(path) {
            None => run(request),
            Some(meant) => {
                let mut request = request.clone();
                set(&mut request, meant);
                run(&request)
            }
        }
    }

    /// The entrypoint of one mount, as it is loaded into a conversation.
    pub fn entrypoint(&self, prefix: &str) -> Result<read::EntrypointReading> {
        read::entrypoint(&*self.store, &self.context, prefix)
    }

    /// One memory, or a range of its lines.
    pub fn read(&self, request: &read::Read) -> Result<read::Reading> {
        self.meaning(
            &request.path,
            request,
            |request, path| request.path = path,
            |request| read::read(&*self.store, &self.context, request),
        )
    }

    /// The memories there are.
    pub fn list(&self, query: &list::List) -> Result<list::Listing> {
        let topic = MemoryPath::parse(query.topic.trim_end_matches('/')).ok().and_then(|topic| self.alias(&topic));
        match topic {
            Some(topic) => list::list(&*self.store, &self.context, &list::List { topic: topic.to_string(), ..query.clone() }),
            None => list::list(&*self.store, &self.context, query),
        }
    }

    /// The lines that answer a query.
    pub fn search(&self, search: &Search) -> Result<Answer> {
        let asks_chats = search.source.is_none_or(|source| source == Source::Chat);
        let news = self.chats.as_ref().filter(|_| asks_chats).and_then(|chats| chats.catch_up());
        let searcher = self.searcher()?;
        let mut answer = searcher.search(&*self.store, search)?;
        searcher.work_after(&self.store);
        answer.notes.extend(news);
        let why = self.why_no_chats().filter(|_| search.source == Some(Source::Chat));
        answer.notes.extend(why.map(str::to_owned));
        Ok(answer)
    }

    /// Writes what searches had to work out into the index, where it is enough to be worth it. For after an answer.
    pub fn settle(&self) -> Result<()> {
        self.searcher.as_deref().map_or(Ok(()), |searcher| searcher.settle(&*self.store))
    }

    /// What searches over this space.
    pub fn searcher(&self) -> Result<&Arc<Searcher>> {
        let none = || Error::Unavailable { what: "search".into(), why: "this space was opened without it".into() };
        self.searcher.as_ref().ok_or_else(none)
    }

    /// Creates, replaces or appends to a memory.
    pub fn write(&self, request: &write::Write) -> Result<write::Saved> {
        self.meaning(
            &request.path,
            request,
            |request, path| request.path = path,
            |request| write::write(&*self.store, &self.context, request),
        )
    }

    /// Appends an entry to the log of the day in the mount with this prefix.
    pub fn log(&self, prefix: &str, text: &str) -> Result<write::Saved> {
        let meant = MemoryPath::parse(prefix).ok().and_then(|prefix| self.alias(&prefix));
        log::log(&*self.store, &self.context, meant.as_ref().map_or(prefix, MemoryPath::as_str), text)
    }

    /// Replaces a part of a memory.
    pub fn edit(&self, request: &edit::Edit) -> Result<edit::Edited> {
        self.meaning(
            &request.path,
            request,
            |request, path| request.path = path,
            |request| edit::edit(&*self.store, &self.context, request),
        )
    }

    /// Gives a memory another name, everywhere.
    pub fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<rename::Renamed> {
        rename::rename(&*self.store, &self.context, &self.name(from), &self.name(to))
    }

    /// Removes a memory; undo brings it back.
    pub fn delete(&self, request: &delete::Delete) -> Result<delete::Deleted> {
        self.meaning(
            &request.path,
            request,
            |request, path| request.path = path,
            |request| delete::delete(&*self.store, &self.context, request),
        )
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
        let path = filter.path.as_ref().map(|path| self.name(path));
        history::history(&*self.store, &ChangeFilter { path, ..filter.clone() })
    }

    /// What differs between two versions of a memory.
    pub fn diff(&self, request: &diff::Diff) -> Result<diff::Difference> {
        self.meaning(&request.path, request, |request, path| request.path = path, |request| diff::diff(&*self.store, request))
    }

    /// Brings an earlier version of a memory back.
    pub fn restore(&self, path: &MemoryPath, version: &str) -> Result<write::Saved> {
        restore::restore(&*self.store, &self.context, &self.name(path), version)
    }

    /// How much there is.
    pub fn stats(&self) -> Result<stats::Stats> {
        let counted = stats::stats(&*self.store)?;
        Ok(stats::Stats { off: self.chats_off().then_some(Source::Chat).into_iter().collect(), ..counted })
    }

    /// Says what an import would do.
    pub fn preview_import(&self, request: &import::Import) -> Result<import::Imported> {
        import::preview(&*self.store, &self.context, request)
    }

    /// Takes in memories from elsewhere, in one change.
    pub fn import(&self, request: &import::Import) -> Result<import::Imported> {
        import::import(&*self.store, &self.context, request)
    }

    /// Looks whether the entrypoints tell the truth, and with `fix` adds the lines that are missing.
    pub fn repair(&self, fix: bool) -> Result<Vec<repair::Repaired>> {
        repair::repair(&*self.store, &self.context, fix)
    }

    /// Looks up what a memory names, and stamps it if all of it is there.
    pub fn verify(&self, request: &verify::Verify<'_>) -> Result<verify::Verified> {
        self.meaning(
            &request.path,
            request,
            |request, path| request.path = path,
            |request| verify::verify(&*self.store, &self.context, request),
        )
    }

    /// Looks over everything for what is wrong.
    pub fn check(&self, request: &check::Check<'_>) -> Result<check::Checked> {
        check::check(&*self.store, &self.context, request)
    }

    /// The memory section of a system prompt.
    pub fn prompt(&self, request: &prompt::Request<'_>) -> Result<prompt::Made> {
        prompt::of(&*self.store, &self.context, request)
    }

    /// The memories that matter for a message, or lie on the way of an action.
    pub fn recall(&self, request: &recall_operation::Request<'_>) -> Result<recall::Recalled> {
        recall_operation::of(&*self.store, &self.context, self.searcher.as_deref(), request)
    }

    /// Runs the memory tests.
    pub fn test(&self) -> Result<memory_tests::Tested> {
        memory_tests::run(&*self.store, self.searcher()?)
    }
}
