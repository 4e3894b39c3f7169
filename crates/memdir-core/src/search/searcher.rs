//! [`Searcher`], the facade of search: one method per thing a caller may want. The work is done by the modules beside it, over
//! explicit inputs.

use super::{
    Answer, IndexState, MountCounts, Search, SearchedCounts, WhyNot,
    analysis::Analyser,
    background::{self, Background},
    chats::{ChatLocator, ChatSync},
    embed::Embedder,
    find::{Finder, RankedCandidates},
    hits::HitReader,
    index::{Index, IndexView, Wait},
    indexing::{Indexed, Progress},
    meaning::Meaning,
    mount_index::MountIndex,
    mount_views::{CurrentViews, IndexContext, MountViews, SearchMount, list_searched},
    outdated::SuccessionCache,
    pool::IndexPool,
    query::Query,
    why,
};
use crate::{
    base::{
        error::{Error, Problem, Result},
        path::MemoryPath,
        raw,
        time::Clock,
    },
    memory::succession::Successions,
    store::{EntrypointMode, MountInfo, Source, Store, Walk},
};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError, Weak},
};

/// Files without vectors that are embedded after an answer.
const SETTLED_FILES: usize = 100;
/// Files that are embedded in the background before other writers get the index.
const STEP_FILES: usize = 64;
/// How often a search starts again if files change under it.
const ATTEMPTS: usize = 5;
/// The note about an index that could not be read.
const REBUILT: &str = "the search index was damaged and has been rebuilt";

/// Searches the mounts of a space. Keep one: it remembers what it has opened.
pub struct Searcher {
    mounts: MountViews,
    /// The candidates, which are searched and indexed only on request: they must not cost other searches anything.
    inbox: MountViews,
    meaning: Option<Meaning>,
    clock: Arc<dyn Clock>,
    analyser: Mutex<Analyser>,
    /// Which memories name others that they replace.
    successions: SuccessionCache,
    /// `Some` in a long-lived process.
    background: Option<Background>,
    /// Locates a line of a kept conversation.
    chats: Option<ChatLocator>,
    /// Selects the kept conversations of a search.
    chat_sync: Option<Arc<dyn ChatSync>>,
}

impl Searcher {
    /// Creates a searcher over the mounts of a store; `index` opens the index of each.
    pub fn new(
        store: &dyn Store,
        embedder: Option<Arc<dyn Embedder>>,
        clock: Arc<dyn Clock>,
        index: impl Fn(&MountInfo) -> Arc<dyn Index>,
    ) -> Self {
        Searcher::with_indexes(store, embedder, clock, |info| Arc::new(MountIndex::new(index(info))))
    }

    /// Creates a searcher over the mounts of a store that shares the indexes with all searchers of a pool, which bounds their memory.
    /// `index` opens the index of a mount that is not in the pool.
    pub fn pooled(
        store: &dyn Store,
        embedder: Option<Arc<dyn Embedder>>,
        clock: Arc<dyn Clock>,
        pool: &Arc<IndexPool>,
        index: impl Fn(&MountInfo) -> Arc<dyn Index>,
    ) -> Self {
        let open = |info: &MountInfo| {
            let member = |weak: &Weak<MountIndex>| pool.join(weak.clone(), &info.root);
            Arc::new_cyclic(|weak| MountIndex::pooled(index(info), member(weak)))
        };
        Searcher::with_indexes(store, embedder, clock, |info| pool.shared(info, || open(info)))
    }

    fn with_indexes(
        store: &dyn Store,
        embedder: Option<Arc<dyn Embedder>>,
        clock: Arc<dyn Clock>,
        index: impl Fn(&MountInfo) -> Arc<MountIndex>,
    ) -> Self {
        let mount = |info: &MountInfo| SearchMount {
            prefix: info.prefix.clone(),
            root: info.root.clone(),
            source: info.source,
            keeps_archive: info.source == Source::Memory && info.entrypoint == EntrypointMode::Kept,
            index: index(info),
        };
        let (inbox, mounts) = store.mounts().iter().map(mount).partition(|mount| mount.source == Source::Inbox);
        Searcher {
            mounts: MountViews::new(mounts),
            inbox: MountViews::new(inbox),
            meaning: embedder.map(Meaning::new),
            clock,
            analyser: Mutex::default(),
            successions: SuccessionCache::default(),
            background: None,
            chats: None,
            chat_sync: None,
        }
    }

    /// Adds the place in its conversation to every hit in one.
    pub fn with_chat_locator(mut self, locator: ChatLocator) -> Self {
        self.chats = Some(locator);
        self
    }

    /// Limits searches to the conversations that [`ChatSync::filter`] selects.
    pub fn with_chat_filter(mut self, sync: Arc<dyn ChatSync>) -> Self {
        self.chat_sync = Some(sync);
        self
    }

    /// Prepares the searcher for a long-lived process: views are kept as long as it is certain that no file has changed, instead
    /// of listing the files for every search.
    pub fn watching(mut self) -> Self {
        self.mounts.watch();
        self.background = Some(Background::default());
        self
    }

    /// Searches the files as they are now.
    pub fn search(&self, store: &dyn Store, search: &Search) -> Result<Answer> {
        let operator = self.source_operator(search).map(|source| Search { source: Some(source), ..search.clone() });
        let search = operator.as_ref().unwrap_or(search);
        let mut last = None;
        let mut rebuilt = false;
        // A file that changed between ranking and reading is ranked again.
        for attempt in 1..=ATTEMPTS {
            let (candidates, was_rebuilt) = self.candidates(store, search)?;
            rebuilt |= was_rebuilt;
            let (hits, stale) = self.hit_reader(store, search).hits(&candidates, search, attempt == ATTEMPTS)?;
            last = Some(candidates.answer(hits, search));
            if !stale {
                break;
            }
        }
        let mut answer = last.ok_or_else(|| Error::unavailable("cannot search", "no result was produced"))?;
        if rebuilt {
            answer.notes.push(REBUILT.to_owned());
        }
        Ok(answer)
    }

    /// Explains why a memory is not among the hits of a search.
    pub fn why_not(&self, store: &dyn Store, search: &Search, path: &MemoryPath) -> Result<WhyNot> {
        why::why_not(store, search, path, &self.analyser, &|search| self.search(store, search))
    }

    /// Runs many searches on one state of the files.
    pub fn batch<'a>(
        &'a self,
        store: &'a dyn Store,
        searches: impl IntoIterator<Item = Search> + 'a,
    ) -> Result<impl Iterator<Item = Result<Answer>> + 'a> {
        let views = self.views(store)?;
        Ok(searches.into_iter().map(move |search| {
            if search.source == Some(Source::Inbox) {
                return self.search(store, &search);
            }
            let successions = self.successions.successions(store, self.mounts.mounts(), &views)?;
            let candidates = self.finder(&search, &successions).find(&views, &search, &self.analyser)?;
            let (hits, _) = self.hit_reader(store, &search).hits(&candidates, &search, true)?;
            Ok(candidates.answer(hits, &search))
        }))
    }

    /// Counts what each mount contributes, as its files are now.
    pub fn counts(&self, store: &dyn Store) -> Result<Vec<MountCounts>> {
        let views = self.views(store)?;
        let count = |(mount, view): (&SearchMount, &Arc<dyn IndexView>)| {
            let totals = view.totals();
            MountCounts {
                prefix: mount.prefix.clone(),
                source: mount.source,
                counts: SearchedCounts { files: totals.counted_files, units: totals.counted_units },
                vectors: if self.meaning.is_some() { view.vectors() } else { 0 },
                changed: mount.index.changed().filter(|_| totals.files > 0),
            }
        };
        Ok(self.mounts.mounts().iter().zip(&views).map(count).collect())
    }

    /// The embedder, if there is one.
    pub fn embedder(&self) -> Option<&dyn Embedder> {
        self.meaning.as_ref().map(Meaning::embedder)
    }

    /// Writes overlays into the indexes where they are large enough to be worth it, and embeds some of what has no vector if the
    /// embedder is instant. Call it after the answer.
    pub fn settle(&self, store: &dyn Store) -> Result<()> {
        for mount in self.mounts.mounts() {
            let indexer = self.context(store).indexer(mount);
            mount.index.settle(&indexer)?;
            if self.embedder().is_some_and(|embedder| embedder.is_instant()) {
                indexer.embed_missing(mount.index.index(), SETTLED_FILES)?;
            }
        }
        Ok(())
    }

    /// Brings every index in step with the files, or rebuilds it; then embeds what has no vector yet.
    pub fn index(&self, store: &dyn Store, rebuild: bool, progress: &Progress<'_>) -> Result<Vec<Indexed>> {
        let Walk { entries, mut problems, .. } = list_searched(store)?;
        let mut all = Vec::new();
        for mount in self.mounts.mounts() {
            let (indexer, entries) = (self.context(store).indexer(mount), self.mounts.entries_of(mount, &entries));
            let index = mount.index.index();
            if rebuild && !index.is_whole() {
                mount.index.forget()?;
            }
            let mut indexed = match rebuild {
                true => indexer.rebuild(index, &entries, progress)?,
                false => indexer.update(index, &entries, Wait::Yes, progress)?.unwrap_or_default(),
            };
            if index.damage_report().is_some() {
                indexed.problems.push(Problem::whole(REBUILT));
            }
            match indexer.embed_missing(index, usize::MAX) {
                Ok(files) => indexed.embedded = files,
                Err(error) => indexed.problems.push(Problem::whole(format!("some files cannot be searched by meaning yet: {error}"))),
            }
            // What could not be listed belongs to all mounts, and is reported once.
            indexed.problems.append(&mut problems);
            all.push(indexed);
        }
        Ok(all)
    }

    /// Returns why files could not be listed for the last search.
    pub fn problems(&self) -> Vec<Problem> {
        self.mounts.problems()
    }

    /// Embeds at most `files` files that have no vectors yet and returns their number; for small steps in the background.
    /// After an error the embedder should not be called for a while.
    pub fn embed_missing(&self, store: &dyn Store, files: usize) -> Result<usize> {
        let mut done = 0;
        for mount in self.mounts.mounts() {
            done += self.context(store).indexer(mount).embed_missing(mount.index.index(), files - done)?;
        }
        Ok(done)
    }

    /// Starts what is to be done after an answer in the background, unless there is nothing to do or it runs already.
    pub fn work_after(self: &Arc<Self>, store: &Arc<dyn Store>) {
        let Some(background) = &self.background else { return };
        let embeds = self.embedder().is_some() && background.may_embed();
        if !(embeds || self.mounts.mounts().iter().any(|mount| mount.index.is_worth_settling())) || !background.begin() {
            return;
        }
        let (searcher, store) = (self.clone(), store.clone());
        let queued = background::spawn(move || {
            // A panic must not keep later work from being done.
            let _ = catch_unwind(AssertUnwindSafe(|| searcher.work(&*store)));
            searcher.background.iter().for_each(Background::end);
        });
        if !queued {
            background.end();
        }
    }

    /// Opens every index without a look at the files, as a first search would do.
    pub fn open(&self) -> Result<()> {
        self.mounts.mounts().iter().try_for_each(|mount| mount.index.index().view().map(|_| ()))
    }

    /// Compares the indexes with the files.
    pub fn state(&self, store: &dyn Store) -> Result<Vec<IndexState>> {
        let entries = list_searched(store)?.entries;
        let state = |mount: &SearchMount| -> Result<IndexState> {
            let index = mount.index.index();
            let view = index.view()?;
            let mut unembedded = 0;
            view.each_file(&mut |_, known| unembedded += u64::from(known.unembedded));
            let entries = self.mounts.entries_of(mount, &entries);
            let stale = self.context(store).indexer(mount).stale_files(&entries, &*view);
            let totals = view.totals();
            Ok(IndexState {
                prefix: mount.prefix.clone(),
                source: mount.source,
                files: totals.counted_files,
                units: totals.counted_units,
                size: index.size(),
                changed: stale.changed.len(),
                gone: stale.gone.len(),
                unembedded: if self.meaning.is_some() { unembedded } else { 0 },
                last_indexed: mount.index.written().filter(|_| totals.files > 0),
            })
        };
        self.mounts.mounts().iter().map(state).collect()
    }

    /// Returns views with everything that is on disk now.
    pub(crate) fn views(&self, store: &dyn Store) -> Result<Vec<Arc<dyn IndexView>>> {
        self.views_of(&self.mounts, store)
    }

    fn views_of(&self, mounts: &MountViews, store: &dyn Store) -> Result<Vec<Arc<dyn IndexView>>> {
        let CurrentViews { views, changed } = mounts.current(self.context(store))?;
        if let Some(background) = self.background.as_ref().filter(|_| changed) {
            background.files_changed();
        }
        Ok(views)
    }

    /// Ranks candidates in the files as they are now, and returns whether an index was damaged.
    fn candidates(&self, store: &dyn Store, search: &Search) -> Result<(RankedCandidates, bool)> {
        let mounts = self.mounts_for(search);
        let (found, mut damaged) = self.with_views(mounts, store, |views| {
            let successions = self.successions.successions(store, mounts.mounts(), views)?;
            self.finder(search, &successions).find(views, search, &self.analyser)
        })?;
        for mount in mounts.mounts() {
            damaged |= mount.index.index().damage_report().is_some();
        }
        Ok((found, damaged))
    }

    /// Runs a lookup over views with everything that is on disk now, and returns whether an index was damaged. An index that
    /// answers impossibly is discarded and rebuilt, and the lookup is repeated.
    fn with_views<T>(
        &self,
        mounts: &MountViews,
        store: &dyn Store,
        find: impl Fn(&[Arc<dyn IndexView>]) -> Result<T>,
    ) -> Result<(T, bool)> {
        let lost = raw::lost_pages();
        let views = self.views_of(mounts, store)?;
        match catch_unwind(AssertUnwindSafe(|| find(&views))) {
            // Pages that were lost meanwhile were read as zeros.
            Ok(Ok(found)) if raw::lost_pages() == lost => Ok((found, false)),
            Ok(Err(error)) if !matches!(error, Error::Corrupt { .. } | Error::Io { .. }) => Err(error),
            _ => {
                mounts.forget()?;
                Ok((find(&self.views_of(mounts, store)?)?, true))
            }
        }
    }

    /// The background work: settles overlays, then embeds what has no vector.
    fn work(&self, store: &dyn Store) {
        let Some(background) = &self.background else { return };
        // A failure costs time and nothing else: the next search makes the overlay again.
        let _ = self.settle(store);
        background.embed_all(|| self.embed_missing(store, STEP_FILES));
    }

    fn context<'a>(&'a self, store: &'a dyn Store) -> IndexContext<'a> {
        IndexContext { store, embedder: self.embedder(), clock: &*self.clock }
    }

    /// The source of candidates, if an operator of the query asks for it.
    fn source_operator(&self, search: &Search) -> Option<Source> {
        if search.source.is_some() || !search.query.contains("source:inbox") {
            return None;
        }
        let mut analyser = self.analyser.lock().unwrap_or_else(PoisonError::into_inner);
        Query::parse(&search.query, &mut analyser).source.filter(|source| *source == Source::Inbox)
    }

    /// The mounts that a search covers: those of candidates if it asks for them, else all others.
    fn mounts_for(&self, search: &Search) -> &MountViews {
        if search.source == Some(Source::Inbox) { &self.inbox } else { &self.mounts }
    }

    fn finder<'a>(&'a self, search: &Search, successions: &'a Successions) -> Finder<'a> {
        let chats = self.chat_sync.as_ref().and_then(|sync| sync.filter(search.all_projects));
        let mounts = self.mounts_for(search).mounts();
        Finder { mounts, meaning: self.meaning.as_ref(), chats, clock: &*self.clock, successions }
    }

    fn hit_reader<'a>(&'a self, store: &'a dyn Store, search: &Search) -> HitReader<'a> {
        HitReader { store, mounts: self.mounts_for(search).mounts(), analyser: &self.analyser, chats: self.chats, clock: &*self.clock }
    }
}
