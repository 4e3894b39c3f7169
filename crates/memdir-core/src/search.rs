//! Search: the lines that answer, by words and by meaning, from files as they are now; or an honest nothing.

pub mod analysis;
mod background;
pub mod chats;
mod cite;
pub mod embed;
pub(crate) mod find;
mod fresh;
pub(crate) mod fuse;
mod hits;
pub mod index;
pub mod indexing;
mod meaning;
pub mod query;
pub mod ranking;
mod watch;
mod why;

pub use why::WhyNot;

use crate::{
    base::{
        error::{Error, Problem, Result},
        path::MemoryPath,
        stamp::Stamp,
        time::Clock,
    },
    memory::Kind,
    search::{
        analysis::Analyser,
        embed::Embedder,
        index::{Index, Parts, View},
        indexing::Indexer,
    },
    store::{Entry, Source, Store, mounts},
};
use background::Background;
use chats::{ChatLocator, ChatPlace};
use fresh::Fresh;
use jiff::Timestamp;
use meaning::Meaning;
use serde::Serialize;
use std::{
    borrow::Cow,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};
use watch::{News, Watch};

/// What to search for.
#[derive(Debug, Clone)]
pub struct Search {
    /// Any text; see [`crate::search::query::Query`].
    pub query: String,
    /// Answers at the most.
    pub max_results: usize,
    /// The least score of an answer.
    pub min_score: f32,
    /// Only this source.
    pub source: Option<Source>,
    /// Only memories of this type.
    pub kind: Option<Kind>,
    /// Only names under this prefix.
    pub under: Option<String>,
    /// Only what is not older than this.
    pub since: Option<Timestamp>,
    /// Whether dated logs lose weight with age.
    pub decay: bool,
    /// Whether every hit tells why it ranks where it does.
    pub explain: bool,
}

impl Search {
    /// A search with the usual settings.
    pub fn new(query: impl Into<String>) -> Self {
        Search {
            query: query.into(),
            max_results: 10,
            min_score: ranking::MIN_SCORE,
            source: None,
            kind: None,
            under: None,
            since: None,
            decay: false,
            explain: false,
        }
    }
}

/// What was found.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// Best first; empty when nothing is relevant.
    pub hits: Vec<Hit>,
    /// How many there are at or above the least score, shown or not.
    pub total: usize,
    /// How it was found.
    pub method: Method,
    /// What was searched.
    pub searched: Amount,
    /// What the reader should know about the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// How much was searched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Amount {
    /// Files.
    pub files: u64,
    /// Units of them that are ranked.
    pub units: u64,
}

/// What one mount holds for searches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MountCounts {
    /// Its prefix.
    pub prefix: String,
    /// Its source class.
    pub source: Source,
    /// Its files and units.
    #[serde(flatten)]
    pub counts: Amount,
}

/// How the index of a mount stands to its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IndexState {
    /// The mount's prefix.
    pub prefix: String,
    /// Its source class.
    pub source: Source,
    /// Files that are indexed.
    pub files: u64,
    /// Units of them that are ranked.
    pub units: u64,
    /// What it holds on disk.
    pub size: index::IndexSize,
    /// Files that are new or may have changed since: the next search brings them in.
    pub changed: usize,
    /// Files that are gone since.
    pub gone: usize,
    /// Files of which something has no vector yet.
    pub unembedded: u64,
    /// When a file was last brought in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_indexed: Option<Timestamp>,
}

/// How an answer was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// By words and meaning.
    Hybrid,
    /// By words alone.
    Fts,
    /// By meaning alone: none of the words occurs anywhere.
    Vector,
}

/// Some lines that answer.
#[derive(Debug, Clone, Serialize)]
pub struct Hit {
    /// The memory.
    pub path: MemoryPath,
    /// Its lines, 1-based and inclusive; `get` gives exactly `text` for them, unless something is masked.
    pub lines: String,
    /// Those lines, as they are in the file, but for secrets.
    pub text: String,
    /// Whether a secret in those lines is replaced by the name of its rule.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub masked: bool,
    /// Strength of the match, 0 to 1.
    pub score: f32,
    /// Where it comes from.
    pub source: Source,
    /// How long ago the memory was checked or changed.
    pub age: String,
    /// The headings above, from the outermost.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<String>,
    /// The memory's type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Which conversation it is from, if it is from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat: Option<ChatPlace>,
    /// Why it ranks here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explain: Option<Explain>,
}

/// Why a hit ranks where it does.
#[derive(Debug, Clone, Serialize)]
pub struct Explain {
    /// The whole unit that was ranked; the hit's lines are its best ones.
    pub unit: String,
    /// The signals of words, before they are weighed.
    pub parts: Parts,
    /// Whether an assistant speaks, whose turns weigh less.
    pub assistant: bool,
    /// What a perfect match of every word would bring.
    pub mass: f32,
    /// The cosine with the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cosine: Option<f32>,
    /// Words and meaning together, before they become a score.
    pub sum: f32,
    /// The query's words, and how many units have each.
    pub terms: Vec<(String, u64)>,
}

/// Files without vectors that are embedded after an answer.
const SETTLED_FILES: usize = 100;
/// Changed files that are looked at one by one rather than by listing all.
const RENEWED_FILES: usize = 32;
/// How often a search looks again at files that change under it.
const ATTEMPTS: usize = 5;

/// Searches the mounts of a space. Keep one: it remembers what it has opened.
pub struct Searcher {
    mounts: Vec<Searched>,
    meaning: Option<Meaning>,
    clock: Arc<dyn Clock>,
    analyser: Mutex<Analyser>,
    /// For a process that lives long: what is needed to know that nothing has changed.
    quiet: Option<Mutex<Quiet>>,
    background: Option<Background>,
    /// Finds the place of a line in a kept conversation.
    chats: Option<ChatLocator>,
}

/// The views of the last search, and how to tell that they are still true.
#[derive(Default)]
struct Quiet {
    watches: Vec<Watch>,
    marks: Vec<Option<Stamp>>,
    views: Vec<Arc<dyn View>>,
    /// The files the views show.
    entries: Vec<Entry>,
}

struct Searched {
    prefix: String,
    root: PathBuf,
    source: Source,
    fresh: Fresh,
}

impl mounts::Prefixed for Searched {
    fn prefix(&self) -> &str {
        &self.prefix
    }
}

impl Searcher {
    /// A searcher over the mounts of a store; `index` gives each its index.
    pub fn new(
        store: &dyn Store,
        embedder: Option<Arc<dyn Embedder>>,
        clock: Arc<dyn Clock>,
        index: impl Fn(&crate::store::MountInfo) -> Arc<dyn Index>,
    ) -> Self {
        let mount = |info: &crate::store::MountInfo| Searched {
            prefix: info.prefix.clone(),
            root: info.root.clone(),
            source: info.source,
            fresh: Fresh::new(index(info)),
        };
        let mounts = store.mounts().iter().map(mount).collect();
        Searcher {
            mounts,
            meaning: embedder.map(Meaning::new),
            clock,
            analyser: Mutex::default(),
            quiet: None,
            background: None,
            chats: None,
        }
    }

    /// The same searcher, whose hits in conversations tell where they are.
    pub fn with_chat_locator(mut self, locator: ChatLocator) -> Self {
        self.chats = Some(locator);
        self
    }

    /// For a process that lives long: it keeps its views as long as it is certain that no file has changed, instead of
    /// listing the files for every search.
    pub fn watching(mut self) -> Self {
        self.quiet = Some(Mutex::default());
        self.background = Some(Background::default());
        self
    }

    /// Searches the files as they are now.
    pub fn search(&self, store: &dyn Store, search: &Search) -> Result<Answer> {
        let mut last = None;
        // A file that changes between the look at it and the answer is looked at again.
        for attempt in 1..=ATTEMPTS {
            let found = self.find(store, search)?;
            let (hits, stale) = self.hits(store, &found, search, attempt == ATTEMPTS)?;
            last = Some(found.answer(hits, search));
            if !stale {
                break;
            }
        }
        last.ok_or_else(|| Error::Unavailable { what: "search".into(), why: "there was no answer".into() })
    }

    /// What each mount holds, as its files are now.
    pub fn counts(&self, store: &dyn Store) -> Result<Vec<MountCounts>> {
        let views = self.views(store)?;
        let count = |(mount, view): (&Searched, &Arc<dyn View>)| {
            let totals = view.totals();
            MountCounts {
                prefix: mount.prefix.clone(),
                source: mount.source,
                counts: Amount { files: totals.told_files, units: totals.told_units },
            }
        };
        Ok(self.mounts.iter().zip(&views).map(count).collect())
    }

    /// Who turns text into vectors, if anybody does.
    pub fn embedder(&self) -> Option<&dyn Embedder> {
        self.meaning.as_ref().map(Meaning::embedder)
    }

    /// Many searches on one look at the files.
    pub fn batch<'a>(
        &'a self,
        store: &'a dyn Store,
        searches: impl IntoIterator<Item = Search> + 'a,
    ) -> Result<impl Iterator<Item = Result<Answer>> + 'a> {
        let views = self.views(store)?;
        Ok(searches.into_iter().map(move |search| {
            let found = self.find_in(&views, &search)?;
            let (hits, _) = self.hits(store, &found, &search, true)?;
            Ok(found.answer(hits, &search))
        }))
    }

    /// Writes what searches had to overlay into the indexes, where it is enough to be worth it, and embeds a little of what
    /// has no vector if that costs next to nothing. For after the answer.
    pub fn settle(&self, store: &dyn Store) -> Result<()> {
        for mount in &self.mounts {
            let indexer = self.indexer(store, mount);
            mount.fresh.settle_if_worth(&indexer)?;
            if self.embedder().is_some_and(|embedder| embedder.is_instant()) {
                indexer.embed_missing(mount.fresh.index(), SETTLED_FILES)?;
            }
        }
        Ok(())
    }

    /// Brings every index in step with the files, or makes it anew; then embeds what has no vector yet.
    pub fn index(&self, store: &dyn Store, anew: bool, progress: &indexing::Progress<'_>) -> Result<Vec<indexing::Indexed>> {
        let entries = all_entries(store)?;
        let mut all = Vec::new();
        for mount in &self.mounts {
            let (indexer, entries) = (self.indexer(store, mount), self.entries_of(mount, &entries));
            let index = mount.fresh.index();
            if anew && !index.is_whole() {
                mount.fresh.forget()?;
            }
            let mut indexed = match anew {
                true => indexer.rebuild(index, &entries, progress)?,
                false => indexer.update(index, &entries, index::Wait::Yes, progress)?.unwrap_or_default(),
            };
            match indexer.embed_missing(index, usize::MAX) {
                Ok(files) => indexed.embedded = files,
                Err(error) => indexed.problems.push(Problem::whole(format!("not everything has a vector yet: {error}"))),
            }
            all.push(indexed);
        }
        Ok(all)
    }

    /// Embeds some of what has no vector yet, and tells how many files that were: for the background, in small steps.
    /// After an error the embedder is best left alone for a while.
    pub fn embed_missing(&self, store: &dyn Store, files: usize) -> Result<usize> {
        let mut done = 0;
        for mount in &self.mounts {
            done += self.indexer(store, mount).embed_missing(mount.fresh.index(), files - done)?;
        }
        Ok(done)
    }

    /// Opens every index, without a look at the files: what a first search would do by itself.
    pub fn open(&self) -> Result<()> {
        self.mounts.iter().try_for_each(|mount| mount.fresh.index().view().map(|_| ()))
    }

    /// How the indexes stand to the files.
    pub fn state(&self, store: &dyn Store) -> Result<Vec<IndexState>> {
        let entries = all_entries(store)?;
        let state = |mount: &Searched| -> Result<IndexState> {
            let view = mount.fresh.index().view()?;
            let (mut unembedded, mut last_ns) = (0, 0);
            view.each_file(&mut |_, known| {
                unembedded += u64::from(known.unembedded);
                last_ns = last_ns.max(known.seen_ns);
            });
            let entries = self.entries_of(mount, &entries);
            let difference = indexing::Difference::of(self.indexer(store, mount).files(&entries), &*view);
            let totals = view.totals();
            Ok(IndexState {
                prefix: mount.prefix.clone(),
                source: mount.source,
                files: totals.told_files,
                units: totals.told_units,
                size: mount.fresh.index().size(),
                changed: difference.changed.len(),
                gone: difference.gone.len(),
                unembedded: if self.meaning.is_some() { unembedded } else { 0 },
                last_indexed: Timestamp::from_nanosecond(i128::from(last_ns)).ok().filter(|_| totals.files > 0),
            })
        };
        self.mounts.iter().map(state).collect()
    }

    /// The prefix of a mount, by its number.
    pub(crate) fn prefix(&self, mount: usize) -> &str {
        &self.mounts[mount].prefix
    }

    /// Runs something with the analyser, which one caller uses at a time.
    pub(crate) fn with_analyser<T>(&self, run: impl FnOnce(&mut Analyser) -> T) -> T {
        run(&mut self.analyser.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn indexer<'a>(&'a self, store: &'a dyn Store, mount: &'a Searched) -> Indexer<'a> {
        Indexer { store, embedder: self.embedder(), clock: &*self.clock, prefix: &mount.prefix }
    }

    /// The files of one mount: those with its prefix and no longer one.
    fn entries_of<'e>(&self, mount: &Searched, entries: &'e [Entry]) -> Cow<'e, [Entry]> {
        if self.mounts.len() == 1 {
            return Cow::Borrowed(entries);
        }
        let belongs =
            |entry: &&Entry| mounts::locate(&self.mounts, entry.path.as_str()).is_some_and(|(owner, _)| owner.prefix == mount.prefix);
        entries.iter().filter(belongs).cloned().collect()
    }

    /// Views with everything that is on disk now.
    pub(crate) fn views(&self, store: &dyn Store) -> Result<Vec<Arc<dyn View>>> {
        let Some(quiet) = &self.quiet else { return self.look(store, &all_entries(store)?) };
        let mut quiet = quiet.lock().unwrap_or_else(PoisonError::into_inner);
        let marks = store.marks();
        // Every queue is asked, so that none keeps old events.
        let news: Vec<News> = quiet.watches.iter_mut().map(Watch::news).collect();
        let sure = news.len() == self.mounts.len() && !news.contains(&News::Unsure);
        if sure && marks == quiet.marks && news.iter().all(|news| *news == News::Quiet) {
            return Ok(quiet.views.clone());
        }
        let known = if sure { self.renewed(store, std::mem::take(&mut quiet.entries), &news) } else { None };
        // Watches first, then the files: what changes in between is seen by both.
        if !sure {
            quiet.watches = self.mounts.iter().map_while(|mount| Watch::new(&mount.root)).collect();
        }
        let entries = known.map_or_else(|| all_entries(store), Ok)?;
        quiet.views = self.look(store, &entries)?;
        quiet.entries = entries;
        quiet.marks = marks;
        if let Some(background) = &self.background {
            background.changed();
        }
        Ok(quiet.views.clone())
    }

    /// The files as they are now, if it is certain that only these of them have changed; nothing if they must be listed.
    fn renewed(&self, store: &dyn Store, mut entries: Vec<Entry>, news: &[News]) -> Option<Vec<Entry>> {
        let mut changed = 0;
        for (mount, news) in self.mounts.iter().zip(news) {
            let News::Files(names) = news else { continue };
            for name in names {
                let whole = if mount.prefix.is_empty() { name.clone() } else { format!("{}/{name}", mount.prefix) };
                let at = entries.iter().position(|entry| entry.path.as_str() == whole);
                changed += 1;
                match at {
                    _ if changed > RENEWED_FILES => return None,
                    Some(at) => match store.get(&entries[at].path) {
                        Ok(Some(stored)) if stored.path == entries[at].path => entries[at].stamp = stored.stamp,
                        Ok(None) => drop(entries.remove(at)),
                        _ => return None,
                    },
                    // What came and went leaves nothing to know.
                    None if mount.root.join(name).symlink_metadata().is_ok() => return None,
                    None => {}
                }
            }
        }
        Some(entries).filter(|entries| !entries.is_empty())
    }

    /// Forgets every index and every view of it.
    fn forget(&self) -> Result<()> {
        if let Some(quiet) = &self.quiet {
            *quiet.lock().unwrap_or_else(PoisonError::into_inner) = Quiet::default();
        }
        self.mounts.iter().try_for_each(|mount| mount.fresh.forget())
    }

    /// Brings the views in step with the files.
    fn look(&self, store: &dyn Store, entries: &[Entry]) -> Result<Vec<Arc<dyn View>>> {
        let view = |mount: &Searched| mount.fresh.view(&self.indexer(store, mount), &self.entries_of(mount, entries), &|_| {});
        self.mounts.iter().map(view).collect()
    }
}

/// Every file of the space, those of mounts that stay apart too.
fn all_entries(store: &dyn Store) -> Result<Vec<Entry>> {
    let mut entries = store.list("")?.entries;
    for mount in store.mounts().iter().filter(|mount| mount.apart) {
        entries.extend(store.list(&mount.prefix)?.entries);
    }
    // Questions that memories are tested with would answer themselves.
    entries.retain(|entry| mounts::file_kind(store, &entry.path).is_searched());
    Ok(entries)
}

impl From<Error> for Answer {
    fn from(error: Error) -> Self {
        Answer { hits: Vec::new(), total: 0, method: Method::Fts, searched: Amount::default(), notes: vec![error.to_string()] }
    }
}
