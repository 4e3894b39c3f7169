//! [`Memdir`], the facade of the library: a space for one caller, with one method per operation. Decides nothing itself.

use crate::{
    base::{
        disk::LockWait,
        error::{Error, Result},
        path::MemoryPath,
        time::{Clock, SystemClock},
    },
    memory::phrase::Phrase,
    operations::{
        check, check_diff,
        context::Context,
        cues, decide, delete, diff, dream,
        dream_summary::DreamSummary,
        edit, forget, history, import, inbox,
        ledger::{MemoryUse, UseKind, UseLedger},
        list, log, memory_tests, read, recall, rename, repair, restore, review, rules, stats, undo, verify, write,
    },
    prompt,
    recall::{RecallCache, RecallExplanation, RecallTable, Recalled, when::Action},
    search::{
        Answer, IndexPool, Search, Searcher,
        chats::{CHATS_OFF, ChatSync, NoChats},
    },
    secrets,
    store::{
        Actor, Change, ChangeCursor, ChangeFilter, ChangePage, IdempotencyKey, Proposal, ProposalState, Source, Store, Stored, Verb, View,
        confirmation::Confirmation, mounts, stop::Stop,
    },
};
use jiff::Timestamp;
use std::{borrow::Cow, collections::BTreeSet, path::Path, sync::Arc};

/// A space of memories as one caller sees it. Cloning it is cheap: clones share the store, the indexes and the caches.
#[derive(Clone)]
pub struct Memdir {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) context: Context,
    pub(crate) searcher: Option<Arc<Searcher>>,
    pub(crate) chats: Option<Arc<dyn ChatSync>>,
    pub(crate) no_chats: Option<NoChats>,
    ledger: Option<UseLedger>,
    /// Whether searches and reads are counted in the ledger.
    counts_use: bool,
}

impl Memdir {
    /// Opens a space over a store for one actor, with the system's clock.
    pub fn new(store: Arc<dyn Store>, actor: Actor) -> Self {
        Memdir::with_clock(store, actor, Arc::new(SystemClock))
    }

    /// Opens a space whose time comes from `clock`.
    pub fn with_clock(store: Arc<dyn Store>, actor: Actor, clock: Arc<dyn Clock>) -> Self {
        Memdir { store, context: Context::new(actor, clock), searcher: None, chats: None, no_chats: None, ledger: None, counts_use: false }
    }

    /// Returns the same space for another actor.
    pub fn for_actor(&self, actor: Actor) -> Self {
        Memdir { context: Context { actor, ..self.context.clone() }, ..self.clone() }
    }

    /// Returns the same space for one call, which fails with `cancelled` once `stop` is set.
    pub fn with_stop(&self, stop: &Stop) -> Self {
        Memdir { store: self.store.with_stop(stop), ..self.clone() }
    }

    /// Returns the same space for one call whose first read checks the caller; see [`Store::confirming`].
    pub fn confirming(&self, confirmation: &Confirmation) -> Option<Self> {
        Some(Memdir { store: self.store.confirming(confirmation)?, ..self.clone() })
    }

    /// Adds search. Without it, every search fails with `unavailable`.
    pub fn with_searcher(self, searcher: Searcher) -> Self {
        Memdir { searcher: Some(Arc::new(searcher)), ..self }
    }

    /// Limits the memory of the table of recall by a pool, as [`Searcher::pooled`] does for indexes.
    pub fn with_recall_pool(self, pool: &Arc<IndexPool>) -> Self {
        Memdir { context: Context { recall_cache: RecallCache::pooled(pool), ..self.context }, ..self }
    }

    /// Adds the source of new conversations that [`Memdir::catch_up_chats`] reads.
    pub fn with_chats(self, chats: Arc<dyn ChatSync>) -> Self {
        Memdir { chats: Some(chats), ..self }
    }

    /// Records why this space has no chats although they are turned on.
    pub fn without_chats(self, why: NoChats) -> Self {
        Memdir { no_chats: Some(why), ..self }
    }

    /// Adds the ledger, in which renamed memories keep their counts.
    pub fn with_ledger(self, ledger: UseLedger) -> Self {
        Memdir { ledger: Some(ledger), ..self }
    }

    /// The ledger, unless uses are not counted.
    pub fn ledger(&self) -> Option<&UseLedger> {
        self.ledger.as_ref()
    }

    /// Returns the same space for an agent: what it finds and reads is counted in the ledger.
    pub fn counting_use(&self) -> Self {
        Memdir { counts_use: true, ..self.clone() }
    }

    /// Counts uses. Best effort: a count is not worth an error.
    fn count_uses(&self, uses: impl FnOnce() -> Vec<(MemoryPath, UseKind)>) {
        if let Some(ledger) = self.ledger.as_ref().filter(|_| self.counts_use) {
            let uses = uses();
            let uses: Vec<MemoryUse<'_>> = uses.iter().map(|(path, kind)| MemoryUse { name: path.as_str(), kind: kind.clone() }).collect();
            let _ = ledger.record(&*self.store, &uses, self.context.clock.now(), LockWait::BEST_EFFORT);
        }
    }

    /// Moves the counts of renamed memories. Best effort, like counting.
    fn move_counts(&self, renames: &[(MemoryPath, MemoryPath)]) {
        if let Some(ledger) = &self.ledger {
            let _ = ledger.record_renames(&*self.store, renames, self.context.clock.now(), LockWait::BEST_EFFORT);
        }
    }

    /// Moves the counts of memories that an undone or redone change renamed.
    fn with_counts_moved(&self, undone: undo::Undone) -> undo::Undone {
        if let Some(ledger) = &self.ledger {
            let _ = ledger.record_change(&*self.store, &undone.change, self.context.clock.now(), LockWait::BEST_EFFORT);
        }
        undone
    }

    /// Whether chats are turned off.
    pub fn are_chats_off(&self) -> bool {
        self.no_chats.is_none() && !self.has_chats()
    }

    /// Returns why this space has no chats, or `None` if it has them.
    pub fn why_no_chats(&self) -> Option<Cow<'static, str>> {
        (!self.has_chats()).then(|| self.no_chats.map_or(CHATS_OFF.into(), NoChats::reason))
    }

    /// Returns why a search did not find chats in this space, or `None` if the space has chats.
    pub fn why_chats_not_searched(&self) -> Option<Cow<'static, str>> {
        (!self.has_chats()).then(|| self.no_chats.map_or(CHATS_OFF.into(), NoChats::why_not_searched))
    }

    /// Returns a message if `source` asks for chats and this space has none, and the command that helps, if there is one.
    pub fn chats_notice(&self, source: Option<Source>) -> Option<(Cow<'static, str>, Option<&'static str>)> {
        let why = self.why_chats_not_searched().filter(|_| source == Some(Source::Chat))?;
        Some((why, self.no_chats.map_or(Some("memdir chats on"), NoChats::command)))
    }

    fn has_chats(&self) -> bool {
        self.store.mounts().iter().any(|mount| mount.source == Source::Chat)
    }

    /// Returns the same space with an allow list for the secret scanner, which only a user's own settings or command line may fill.
    pub fn with_allow_list(&self, allow: secrets::Allow) -> Self {
        Memdir { context: Context { allow: Arc::new(allow), ..self.context.clone() }, ..self.clone() }
    }

    /// Returns the same space for one request with an idempotency key: its change is made once. A repeated request fails with
    /// [`Error::Repeated`], or with the error of a plan that no longer fits; [`Memdir::made_for_key`] returns the change then.
    pub fn with_key(&self, key: IdempotencyKey) -> Self {
        Memdir { context: Context { key: Some(key), ..self.context.clone() }, ..self.clone() }
    }

    /// Returns the change that was made for the key of this space, or `error` if there is none. `path` is a name in the mount that the
    /// request concerns.
    pub fn made_for_key(&self, path: &MemoryPath, error: Error) -> Result<Change> {
        if self.context.key.is_none() {
            return Err(error);
        }
        let mut error = Some(error);
        // Under the lock, because the change may be in progress. The plan is only called if it was not made.
        let refuse = &mut |_: &dyn View| Err(error.take().unwrap_or_else(|| Error::no_change("the request was not carried out")));
        self.store.change(&self.context.intent(Verb::Write), &[self.name(path)], refuse)
    }

    /// Selects the mount that holds the log, by its prefix.
    pub fn with_log_prefix(self, prefix: &str) -> Self {
        Memdir { context: Context { log: Some(prefix.into()), ..self.context }, ..self }
    }

    /// Adds the report about dreams that status tools and prompts show.
    pub fn with_dreams(self, dreams: impl Fn(Timestamp) -> DreamSummary + Send + Sync + 'static) -> Self {
        Memdir { context: Context { dreams: Some(Arc::new(dreams)), ..self.context }, ..self }
    }

    /// The underlying store.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// The underlying store, shared.
    pub fn shared_store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    /// The actor, the clock and the caches of this space.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Resolves aliases in a name: `global/…` is `user/…` unless a mount is called `global`, and a `:` in an agent's name is a `-`.
    pub fn name(&self, path: &MemoryPath) -> MemoryPath {
        self.alias(path).unwrap_or_else(|| path.clone())
    }

    fn alias(&self, path: &MemoryPath) -> Option<MemoryPath> {
        mounts::resolve_alias(&*self.store, path)
    }

    /// Runs a request with its path resolved. The request is only copied if its path is an alias, which is rare.
    fn resolved<R: Clone, T>(&self, path: &MemoryPath, request: &R, set: fn(&mut R, MemoryPath), run: impl FnOnce(&R) -> T) -> T {
        match self.alias(path) {
            None => run(request),
            Some(path) => {
                let mut request = request.clone();
                set(&mut request, path);
                run(&request)
            }
        }
    }

    /// Reads the entrypoint of one mount, cut as it is loaded into a conversation.
    pub fn entrypoint(&self, prefix: &str) -> Result<read::EntrypointReading> {
        read::entrypoint(&*self.store, &self.context, prefix)
    }

    /// Reads one memory, or a range of its lines.
    pub fn read(&self, request: &read::Read) -> Result<read::Reading> {
        let reading = self.resolved(
            &request.path,
            request,
            |request, path| request.path = path,
            |request| read::read(&*self.store, &self.context, request),
        )?;
        self.count_uses(|| self.memories_among([&reading.path], &UseKind::Read));
        Ok(reading)
    }

    /// Reads a whole memory, byte for byte.
    pub fn get(&self, path: &MemoryPath) -> Result<Stored> {
        let path = self.name(path);
        let stored = self.store.get(&path)?.ok_or_else(|| read::not_found(&*self.store, &path))?;
        self.store.notice(&stored.path);
        self.count_uses(|| self.memories_among([&stored.path], &UseKind::Read));
        Ok(stored)
    }

    /// The memories among some files, each once, as uses of a kind. Entrypoints are not memories.
    fn memories_among<'a>(&self, paths: impl IntoIterator<Item = &'a MemoryPath>, kind: &UseKind) -> Vec<(MemoryPath, UseKind)> {
        let memories: BTreeSet<&MemoryPath> = paths.into_iter().filter(|path| mounts::file_kind(&*self.store, path).is_listed()).collect();
        memories.into_iter().map(|path| (path.clone(), kind.clone())).collect()
    }

    /// Lists memories.
    pub fn list(&self, query: &list::List) -> Result<list::Listing> {
        let topic = MemoryPath::parse(query.topic.trim_end_matches('/')).ok().and_then(|topic| self.alias(&topic));
        match topic {
            Some(topic) => list::list(&*self.store, &self.context, &list::List { topic: topic.to_string(), ..query.clone() }),
            None => list::list(&*self.store, &self.context, query),
        }
    }

    /// Reads conversations that were held since the last call, for at most 300 ms. Call it before a search over `source`, where
    /// `None` is every source; it does nothing if the search excludes chats. Returns a note for the answer if the conversations
    /// could not be read, or not all of them in time.
    pub fn catch_up_chats(&self, source: Option<Source>) -> Option<String> {
        let searches_chats = source.is_none_or(|source| source == Source::Chat);
        self.chats.as_ref().filter(|_| searches_chats)?.catch_up()
    }

    /// Returns the passages that answer a query. A request out of range is clamped, and a note says so. Reads no new conversations:
    /// see [`Memdir::catch_up_chats`].
    pub fn search(&self, search: &Search) -> Result<Answer> {
        let searcher = self.searcher()?;
        let (search, clamped) = search.clamped();
        let mut answer = searcher.search(&*self.store, &search)?;
        answer.notes.extend(clamped);
        searcher.work_after(&self.store);
        let why = self.why_chats_not_searched().filter(|_| search.source == Some(Source::Chat));
        answer.notes.extend(why.map(Cow::into_owned));
        self.count_uses(|| self.memories_among(answer.hits.iter().map(|hit| &hit.path), &UseKind::Searched));
        Ok(answer)
    }

    /// Writes what searches computed back to the index if it is enough to be worth a commit. Call it after the answer is out.
    pub fn settle(&self) -> Result<()> {
        self.searcher.as_deref().map_or(Ok(()), |searcher| searcher.settle(&*self.store))
    }

    /// The searcher of this space, or `unavailable` if it was opened without one.
    pub fn searcher(&self) -> Result<&Arc<Searcher>> {
        let none = || Error::unavailable("cannot search", "the memory was opened without a search index");
        self.searcher.as_ref().ok_or_else(none)
    }

    /// Creates, replaces or appends to a memory.
    pub fn write(&self, request: &write::Write) -> Result<write::Saved> {
        self.resolved(
            &request.path,
            request,
            |request, path| request.path = path,
            |request| write::write(&*self.store, &self.context, request),
        )
    }

    /// Appends an entry to today's log in the mount with this prefix.
    pub fn log(&self, prefix: &str, text: &str) -> Result<write::Saved> {
        let alias = MemoryPath::parse(prefix).ok().and_then(|prefix| self.alias(&prefix));
        log::log(&*self.store, &self.context, alias.as_ref().map_or(prefix, MemoryPath::as_str), text)
    }

    /// Replaces a part of a memory.
    pub fn edit(&self, request: &edit::Edit) -> Result<edit::EditedMemory> {
        self.resolved(
            &request.path,
            request,
            |request, path| request.path = path,
            |request| edit::edit(&*self.store, &self.context, request),
        )
    }

    /// Renames a memory and rewrites every reference to it.
    pub fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<rename::Renamed> {
        let renamed = rename::rename(&*self.store, &self.context, &self.name(from), &self.name(to))?;
        self.move_counts(&[(renamed.from.clone(), renamed.to.clone())]);
        Ok(renamed)
    }

    /// Renames memories in one change, each from its old name to its new one, and rewrites every reference to them.
    pub fn rename_all(&self, names: &[(MemoryPath, MemoryPath)]) -> Result<rename::RenamedMemories> {
        let names: Vec<_> = names.iter().map(|(from, to)| (self.name(from), self.name(to))).collect();
        let renamed = rename::rename_all(&*self.store, &self.context, &names)?;
        self.move_counts(&renamed.renamed.iter().map(|one| (one.from.clone(), one.to.clone())).collect::<Vec<_>>());
        Ok(renamed)
    }

    /// Deletes a memory. [`Memdir::undo`] restores it.
    pub fn delete(&self, request: &delete::Delete) -> Result<delete::Deleted> {
        self.resolved(
            &request.path,
            request,
            |request, path| request.path = path,
            |request| delete::delete(&*self.store, &self.context, request),
        )
    }

    /// Deletes memories in one change. [`Memdir::undo`] restores all of them.
    pub fn delete_all(&self, requests: &[delete::Delete]) -> Result<Vec<delete::Deleted>> {
        let resolved = |request: &delete::Delete| delete::Delete { path: self.name(&request.path), ..request.clone() };
        delete::delete_all(&*self.store, &self.context, &requests.iter().map(resolved).collect::<Vec<_>>())
    }

    /// Adds candidates to the inbox. One that a memory already says, that is in the inbox, or that was decided about is not added.
    /// `cache` is the file for the cached table of words.
    pub fn propose(&self, candidates: &[inbox::candidate::Candidate], cache: Option<&Path>) -> Result<inbox::Proposed> {
        inbox::propose(&*self.store, &self.context, candidates, cache)
    }

    /// Moves the candidates and decisions of one inbox of the space to another one, by their prefixes; returns how many open candidates
    /// moved.
    pub fn move_inbox(&self, from: &str, into: &str) -> Result<usize> {
        inbox::transfer(&*self.store, &self.context, from, into)
    }

    /// Returns the memory that already says what a candidate proposes, by a table that was read before.
    pub fn known_memory(&self, candidate: &inbox::candidate::Candidate, table: &RecallTable) -> Result<Option<inbox::KnownMemory>> {
        inbox::find_known(&*self.store, table, candidate)
    }

    /// Lists the candidates that wait for a decision.
    pub fn inbox(&self) -> Result<inbox::Inbox> {
        inbox::inbox(&*self.store)
    }

    /// Lists the rejected candidates whose files are kept.
    pub fn rejected_candidates(&self) -> Result<Vec<inbox::InboxEntry>> {
        inbox::rejected_candidates(&*self.store)
    }

    /// Returns a candidate by its name, with or without the prefix of the inbox.
    pub fn candidate(&self, name: &MemoryPath) -> Result<inbox::InboxEntry> {
        inbox::find_entry(&*self.store, name).map(|(_, entry)| entry)
    }

    /// Accepts a candidate, by its name with or without the prefix of the inbox: it becomes the memory that it proposes, or one with
    /// another name.
    pub fn accept(&self, name: &MemoryPath, new_name: Option<&MemoryPath>) -> Result<decide::DecidedCandidate> {
        decide::accept(&*self.store, &self.context, name, new_name.map(|name| self.name(name)).as_ref())
    }

    /// Adds the text of a candidate to a memory.
    pub fn merge(&self, name: &MemoryPath, into: &MemoryPath) -> Result<decide::DecidedCandidate> {
        decide::merge(&*self.store, &self.context, name, &self.name(into))
    }

    /// Rejects a candidate. It is never proposed again.
    pub fn reject(&self, name: &MemoryPath) -> Result<decide::DecidedCandidate> {
        decide::reject(&*self.store, &self.context, name)
    }

    /// Undoes a change.
    pub fn undo(&self, which: &undo::UndoTarget) -> Result<undo::Undone> {
        undo::undo(&*self.store, &self.context, which).map(|undone| self.with_counts_moved(undone))
    }

    /// Redoes a change that was undone.
    pub fn redo(&self, which: &undo::UndoTarget) -> Result<undo::Undone> {
        undo::redo(&*self.store, &self.context, which).map(|undone| self.with_counts_moved(undone))
    }

    /// Returns the proposed changes that the caller may see, newest first.
    pub fn proposals(&self, state: Option<ProposalState>, most: usize) -> Result<Vec<Proposal>> {
        review::proposals(&*self.store, &self.context, state, most)
    }

    /// Returns a proposed change with its diffs.
    pub fn proposal(&self, id: &str) -> Result<review::ProposalReading> {
        review::proposal(&*self.store, &self.context, id)
    }

    /// Accepts a proposed change: makes it, for its author. Fails if one of its memories was changed since.
    pub fn accept_proposal(&self, id: &str) -> Result<Change> {
        review::accept(&*self.store, &self.context, id)
    }

    /// Rejects a proposed change.
    pub fn reject_proposal(&self, id: &str, reason: Option<&str>) -> Result<Proposal> {
        review::reject(&*self.store, &self.context, id, reason)
    }

    /// Withdraws a proposed change of the caller.
    pub fn withdraw_proposal(&self, id: &str) -> Result<Proposal> {
        review::withdraw(&*self.store, &self.context, id)
    }

    /// Whether a mount of this space is under review, or has open proposals that the caller may see.
    pub fn has_reviews(&self) -> Result<bool> {
        self.store.proposals().map_or(Ok(false), |proposals| proposals.has_reviews(&self.context.actor))
    }

    /// Records what other programs did to the memories in the journal, so that the history shows it. A mount that another process is
    /// changing is skipped.
    pub fn record_outside_changes(&self) -> Result<()> {
        self.store.record_outside_changes(self.context.clock.now(), false)
    }

    /// Returns the changes that match a filter, newest first.
    pub fn history(&self, filter: &ChangeFilter) -> Result<Vec<Change>> {
        let path = filter.path.as_ref().map(|path| self.name(path));
        history::history(&*self.store, &ChangeFilter { path, ..filter.clone() })
    }

    /// Returns the versions of a memory, newest first, including those under its earlier names. `most` is the maximum number; 0 means all.
    pub fn versions(&self, path: &MemoryPath, most: usize) -> Result<Vec<history::MemoryVersion>> {
        history::versions(&*self.store, &self.name(path), most)
    }

    /// Returns the changes after a cursor, oldest first, with the cursor after the last of them.
    pub fn changes_since(&self, after: Option<&ChangeCursor>, most: usize) -> Result<ChangePage> {
        history::changes_since(&*self.store, after, most)
    }

    /// Compares two versions of a memory.
    pub fn diff(&self, request: &diff::Diff) -> Result<diff::VersionDiff> {
        self.resolved(&request.path, request, |request, path| request.path = path, |request| diff::diff(&*self.store, request))
    }

    /// Restores an earlier version of a memory.
    pub fn restore(&self, path: &MemoryPath, version: &str) -> Result<write::Saved> {
        restore::restore(&*self.store, &self.context, &self.name(path), version)
    }

    /// Counts memories and bytes, mount by mount.
    pub fn stats(&self) -> Result<stats::Stats> {
        let counted = stats::stats(&*self.store)?;
        Ok(stats::Stats { off: self.are_chats_off().then_some(Source::Chat).into_iter().collect(), ..counted })
    }

    /// Returns what an import would do, without changing anything.
    pub fn preview_import(&self, request: &import::Import) -> Result<import::Imported> {
        import::preview(&*self.store, &self.context, request)
    }

    /// Imports memories from another system, in one change.
    pub fn import(&self, request: &import::Import) -> Result<import::Imported> {
        import::import(&*self.store, &self.context, request)
    }

    /// Compares every entrypoint with its memories. With `fix`, adds the missing lines.
    pub fn repair(&self, fix: bool) -> Result<Vec<repair::Repaired>> {
        repair::repair(&*self.store, &self.context, fix)
    }

    /// Looks up what a memory mentions in the project and, if everything exists, records today as its verification date.
    pub fn verify(&self, request: &verify::Verify<'_>) -> Result<verify::Verified> {
        self.resolved(
            &request.path,
            request,
            |request, path| request.path = path,
            |request| verify::verify(&*self.store, &self.context, request),
        )
    }

    /// Lists the memories under a topic that have no cues. An empty topic is the whole space.
    pub fn without_cues(&self, topic: &str) -> Result<Vec<cues::UncuedMemory>> {
        cues::without_cues(&*self.store, &self.context, topic)
    }

    /// Sets the cues of memories in one change, as a whole or not at all.
    pub fn set_cues(&self, request: &cues::SetCues) -> Result<cues::CuesSet> {
        let named = |entry: &cues::CueEntry| cues::CueEntry { path: self.name(&entry.path), cues: entry.cues.clone() };
        let entries = request.entries.iter().map(named).collect();
        cues::set_cues(&*self.store, &self.context, &cues::SetCues { entries, ..request.clone() })
    }

    /// Checks all memories for errors and likely mistakes.
    pub fn check(&self, request: &check::Check<'_>) -> Result<check::Checked> {
        check::check(&*self.store, &self.context, request)
    }

    /// Compares a change of the project with the memories: which of them it makes doubtful, and which rules concern the changed files.
    pub fn check_diff(&self, request: &check_diff::CheckDiff<'_>, cache: Option<&Path>) -> Result<check_diff::DiffChecked> {
        check_diff::check_diff(&*self.store, &self.context, request, cache)
    }

    /// Finds the places of the space that have the words of a fact.
    pub fn find_forgettable(&self, phrase: &Phrase) -> Result<forget::ForgetFound> {
        forget::find_forgettable(&*self.store, phrase)
    }

    /// Forgets a fact: redacts its words in every writable file and removes the texts that had them from the history. This cannot be
    /// undone.
    pub fn forget(&self, phrase: &Phrase) -> Result<forget::ForgottenMemories> {
        forget::forget(&*self.store, &self.context, phrase)
    }

    /// Makes a plan to tidy the memory. Changes nothing.
    pub fn dream(&self, request: &dream::Dream<'_>) -> Result<dream::DreamPlan> {
        dream::dream(&*self.store, &self.context, request)
    }

    /// Applies a plan as one change, without the operations whose memories changed since it was made.
    pub fn apply_dream(&self, request: &dream::ApplyDream<'_>) -> Result<dream::DreamApplied> {
        dream::apply(&*self.store, &self.context, request)
    }

    /// Returns the instructions and the material with which a model proposes operations.
    pub fn dream_prompt(&self, request: &dream::Dream<'_>) -> Result<dream::DreamPrompt> {
        dream::dream_prompt(&*self.store, &self.context, request)
    }

    /// Makes a plan of the operations that a model returned, and lists those whose memories have another version.
    pub fn plan_from_operations(&self, text: &str) -> Result<(dream::DreamPlan, Vec<dream::LeftOut>)> {
        dream::plan_from_operations(&*self.store, &self.context, &dream::operation_list(text)?, &[])
    }

    /// Makes a plan of the operations that a model returned for a piece of the material. An operation on a memory that changed since the
    /// piece was made is left out.
    pub fn plan_from_answer(&self, text: &str, piece: &dream::DreamPiece) -> Result<(dream::DreamPlan, Vec<dream::LeftOut>)> {
        dream::plan_from_operations(&*self.store, &self.context, &dream::operation_list(text)?, &piece.read)
    }

    /// Builds the memory section of a system prompt.
    pub fn prompt(&self, request: &prompt::PromptRequest<'_>) -> Result<prompt::BuiltPrompt> {
        prompt::prompt(&*self.store, &self.context, request)
    }

    /// Selects the memories relevant to a message, or the tripwires of an action.
    pub fn recall(&self, request: &recall::Recall<'_>) -> Result<Recalled> {
        recall::recall(&*self.store, &self.context, request)
    }

    /// Reads the table that recalls are decided by, for many of them in a row. `cache` is the file for the cached table.
    pub fn recall_table(&self, cache: Option<&Path>) -> Result<Arc<RecallTable>> {
        self.context.recall_table(&*self.store, cache)
    }

    /// Like [`Memdir::recall`], by a table that was read before.
    pub fn recall_from(&self, request: &recall::Recall<'_>, table: &RecallTable) -> Result<Recalled> {
        recall::recall_from(&*self.store, &self.context, request, Some(table))
    }

    /// Lists the rules: the memories with tripwires. `cache` is the file for the cached table of tripwires.
    pub fn rules(&self, cache: Option<&Path>) -> Result<Vec<rules::Rule>> {
        rules::rules(&*self.store, &self.context, cache)
    }

    /// Lists the rules that an action touches.
    pub fn matched_rules(&self, action: &Action<'_>, cache: Option<&Path>) -> Result<Vec<rules::MatchedRule>> {
        rules::matched_rules(&*self.store, &self.context, action, cache)
    }

    /// Returns where the text of a rule came from.
    pub fn rule_origin(&self, path: &MemoryPath) -> Result<rules::RuleOrigin> {
        rules::rule_origin(&*self.store, path)
    }

    /// Explains what [`Memdir::recall`] decides about each memory that shares a word with the message, best first, and about `name`
    /// in any case.
    pub fn explain_recall(&self, request: &recall::Recall<'_>, name: Option<&MemoryPath>) -> Result<Vec<RecallExplanation>> {
        recall::explain(&*self.store, &self.context, request, name.map(|name| self.name(name)).as_ref())
    }

    /// Runs the memory tests of every mount.
    pub fn test(&self) -> Result<memory_tests::Tested> {
        memory_tests::run_memory_tests(&*self.store, self.searcher()?)
    }
}
