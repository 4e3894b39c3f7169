//! Search: the lines that answer, by words and by meaning, from files as they are now; or an honest nothing.

mod cite;
mod fresh;
mod fuse;
mod watch;
mod why;

pub use why::WhyNot;

use crate::{
    analyse::Analyser,
    embed::{EmbedRole, Embedder, Vector},
    error::{Error, Result},
    index::{Ask, Candidate, Counts, Index, Known, Parts, Since, View},
    indexer::{self, Indexer},
    memory::{Kind, Memory},
    path::MemoryPath,
    query::Query,
    rank::{self, Scale},
    read,
    store::{Entry, Source, Stamp, Store, Stored},
    text,
    time::{self, Clock},
};
use cite::Weights;
use fresh::Fresh;
use fuse::Ranked;
use jiff::Timestamp;
use serde::Serialize;
use std::{
    borrow::Cow,
    collections::{HashMap, hash_map},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};
use watch::Watch;

/// What to search for.
#[derive(Debug, Clone)]
pub struct Search {
    /// Any text; see [`Query`].
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
            min_score: rank::MIN_SCORE,
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
    /// Its lines, 1-based and inclusive; `get` gives exactly `text` for them.
    pub lines: String,
    /// Those lines, as they are in the file.
    pub text: String,
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

/// Searches the mounts of a space. Keep one: it remembers what it has opened.
pub struct Searcher {
    mounts: Vec<Searched>,
    embedder: Option<Arc<dyn Embedder>>,
    clock: Arc<dyn Clock>,
    scale: Scale,
    analyser: Mutex<Analyser>,
    /// For a process that lives long: what is needed to know that nothing has changed.
    quiet: Option<Mutex<Quiet>>,
}

/// The views of the last search, and how to tell that they are still true.
#[derive(Default)]
struct Quiet {
    watches: Vec<Watch>,
    marks: Vec<Option<Stamp>>,
    views: Vec<Arc<dyn View>>,
}

struct Searched {
    prefix: String,
    root: PathBuf,
    source: Source,
    fresh: Fresh,
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
        let scale = match &embedder {
            None => Scale::WORDS,
            Some(embedder) if embedder.is_instant() => Scale::STATIC,
            Some(_) => Scale::ENCODER,
        };
        Searcher { mounts: store.mounts().iter().map(mount).collect(), embedder, clock, scale, analyser: Mutex::default(), quiet: None }
    }

    /// For a process that lives long: it keeps its views as long as it is certain that no file has changed, instead of
    /// listing the files for every search.
    pub fn watching(mut self) -> Self {
        self.quiet = Some(Mutex::default());
        self
    }

    /// Searches the files as they are now.
    pub fn search(&self, store: &dyn Store, search: &Search) -> Result<Answer> {
        let found = self.find(store, search)?;
        let mut notes = found.notes.clone();
        let (hits, stale) = self.hits(store, &found, search)?;
        if stale {
            // A file changed between the look at it and now: once more, on what is there.
            let found = self.find(store, search)?;
            let (hits, _) = self.hits(store, &found, search)?;
            notes.extend(found.notes.clone());
            notes.dedup();
            return Ok(found.answer(hits, search, notes));
        }
        Ok(found.answer(hits, search, notes))
    }

    /// What each mount holds, as its files are now.
    pub fn counts(&self, store: &dyn Store) -> Result<Vec<MountCounts>> {
        let views = self.views(store)?;
        let count = |(mount, view): (&Searched, &Arc<dyn View>)| {
            let totals = view.totals();
            MountCounts { prefix: mount.prefix.clone(), source: mount.source, counts: Amount { files: totals.files, units: totals.units } }
        };
        Ok(self.mounts.iter().zip(&views).map(count).collect())
    }

    /// Who turns text into vectors, if anybody does.
    pub fn embedder(&self) -> Option<&dyn Embedder> {
        self.embedder.as_deref()
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
            let (hits, _) = self.hits(store, &found, &search)?;
            let notes = found.notes.clone();
            Ok(found.answer(hits, &search, notes))
        }))
    }

    /// Writes what searches had to overlay into the indexes, where it is enough to be worth it. For after the answer.
    pub fn settle(&self, store: &dyn Store) -> Result<()> {
        for mount in &self.mounts {
            mount.fresh.settle_if_worth(&self.indexer(store, mount))?;
        }
        Ok(())
    }

    /// Brings every index in step with the files, or makes it anew.
    pub fn index(&self, store: &dyn Store, anew: bool, progress: &indexer::Progress<'_>) -> Result<Vec<indexer::Indexed>> {
        let entries = store.list("")?.entries;
        let mut all = Vec::new();
        for mount in &self.mounts {
            let (indexer, entries) = (self.indexer(store, mount), self.entries_of(mount, &entries));
            let index = mount.fresh.index();
            all.push(match anew {
                true => indexer.rebuild(index, &entries, progress)?,
                false => indexer.update(index, &entries, crate::index::Wait::Yes, progress)?.unwrap_or_default(),
            });
        }
        Ok(all)
    }

    fn indexer<'a>(&'a self, store: &'a dyn Store, mount: &'a Searched) -> Indexer<'a> {
        Indexer { store, embedder: self.embedder.as_deref(), clock: &*self.clock, prefix: &mount.prefix }
    }

    /// The files of one mount: those with its prefix and no longer one.
    fn entries_of<'e>(&self, mount: &Searched, entries: &'e [Entry]) -> Cow<'e, [Entry]> {
        if self.mounts.len() == 1 {
            return Cow::Borrowed(entries);
        }
        let belongs = |entry: &&Entry| {
            let longest = self.mounts.iter().filter(|m| entry.path.is_under(&m.prefix)).map(|m| m.prefix.len()).max();
            longest == Some(mount.prefix.len()) && entry.path.is_under(&mount.prefix)
        };
        entries.iter().filter(belongs).cloned().collect()
    }

    /// Views with everything that is on disk now.
    fn views(&self, store: &dyn Store) -> Result<Vec<Arc<dyn View>>> {
        let Some(quiet) = &self.quiet else { return self.look(store) };
        let mut quiet = quiet.lock().unwrap_or_else(PoisonError::into_inner);
        let marks = store.marks();
        // Every queue is asked, so that none keeps old events.
        let mut silent = true;
        for watch in &mut quiet.watches {
            silent &= watch.is_quiet();
        }
        if silent && quiet.watches.len() == self.mounts.len() && marks == quiet.marks {
            return Ok(quiet.views.clone());
        }
        // Watches first, then the files: what changes in between is seen by both.
        if !silent || quiet.watches.len() != self.mounts.len() {
            quiet.watches = self.mounts.iter().map_while(|mount| Watch::new(&mount.root)).collect();
        }
        quiet.marks = marks;
        quiet.views = self.look(store)?;
        Ok(quiet.views.clone())
    }

    /// Lists the files and brings the views in step.
    fn look(&self, store: &dyn Store) -> Result<Vec<Arc<dyn View>>> {
        let entries = store.list("")?.entries;
        let view = |mount: &Searched| mount.fresh.view(&self.indexer(store, mount), &self.entries_of(mount, &entries), &|_| {});
        self.mounts.iter().map(view).collect()
    }

    fn find(&self, store: &dyn Store, search: &Search) -> Result<Found> {
        self.find_in(&self.views(store)?, search)
    }

    fn find_in(&self, views: &[Arc<dyn View>], search: &Search) -> Result<Found> {
        let mut analyser = self.analyser.lock().unwrap_or_else(PoisonError::into_inner);
        let query = Query::parse(&search.query, &mut analyser);
        let must: Vec<Vec<String>> =
            query.phrases.iter().map(|phrase| analyser.words(phrase).into_iter().map(|word| word.stem).collect()).collect();
        drop(analyser);
        let mut notes = Vec::new();
        let vector = self.embed(&query, &mut notes);
        let filter = Filter::new(search, &query);
        let since = search.since.and_then(since);
        // A filter per mount: names in a view do not have the mount's prefix.
        let filters: Vec<Box<dyn Fn(&str, &Known) -> bool + Sync + '_>> = self
            .mounts
            .iter()
            .map(|mount| Box::new(|name: &str, known: &Known| filter.allows(&mount.prefix, name, known)) as Box<_>)
            .collect();
        let asks: Vec<(usize, Ask<'_>)> = (0..self.mounts.len())
            .filter(|at| filter.source.is_none_or(|source| source == self.mounts[*at].source) && views[*at].totals().units > 0)
            .map(|at| {
                let files = if filter.is_open() { None } else { Some(&*filters[at]) };
                let ask = Ask {
                    terms: &query.terms,
                    codes: &query.codes,
                    pairs: &query.pairs,
                    without: &query.without,
                    must: &must,
                    time: query.time,
                    vector: vector.as_ref(),
                    files,
                    since,
                };
                (at, ask)
            })
            .collect();
        let asked: Vec<(usize, _)> = asks.iter().map(|(at, ask)| Ok((*at, views[*at].ask(ask)?))).collect::<Result<_>>()?;
        let mut counts = Counts::default();
        asked.iter().for_each(|(_, asked)| counts.add(asked.counts()));
        counts.terms.resize(query.terms.len(), Default::default());
        let mut candidates: Vec<(usize, Source, Candidate)> = Vec::new();
        for (at, asked) in &asked {
            let source = self.mounts[*at].source;
            candidates.extend(asked.candidates(&counts)?.into_iter().map(|candidate| (*at, source, candidate)));
        }
        drop(asked);
        let has_vectors = vector.is_some() && candidates.iter().any(|(_, _, candidate)| candidate.cosine.is_some());
        let scale = if has_vectors { self.scale } else { Scale::WORDS };
        let decay = search.decay.then(|| self.clock.now());
        let ranked = fuse::fuse(candidates, &counts, scale, decay);
        let any_word = counts.terms.iter().any(|term| term.body + term.title + term.code > 0) || counts.codes.iter().any(|n| *n > 0);
        let method = match (has_vectors, any_word) {
            (true, true) => Method::Hybrid,
            (true, false) => Method::Vector,
            (false, _) => Method::Fts,
        };
        let searched = views
            .iter()
            .map(|view| view.totals())
            .fold(Amount::default(), |sum, totals| Amount { files: sum.files + totals.files, units: sum.units + totals.units });
        Ok(Found { query, counts, ranked, method, scale, searched, notes })
    }

    /// The query's vector, if it can be had without a wait.
    fn embed(&self, query: &Query, notes: &mut Vec<String>) -> Option<Vector> {
        let embedder = self.embedder.as_ref().filter(|_| !query.text.is_empty())?;
        if !embedder.is_instant() {
            notes.push("meaning was not searched: the embedder is not instant".to_owned());
            return None;
        }
        match embedder.embed(EmbedRole::Query, &[&query.text]) {
            Ok(vectors) => vectors.into_iter().next().filter(|vector| !vector.is_zero()),
            Err(error) => {
                notes.push(format!("meaning was not searched: {error}"));
                None
            }
        }
    }

    /// The first answers with their text. The second value tells whether a file is no longer what was ranked.
    fn hits(&self, store: &dyn Store, found: &Found, search: &Search) -> Result<(Vec<Hit>, bool)> {
        let weights = found.query.terms.iter().zip(&found.counts.terms);
        let weights = Weights::new(weights.map(|(term, count)| (term.as_str(), rank::idf(found.counts.totals.units, count.body))));
        let mut hits = Vec::with_capacity(search.max_results.min(50));
        let mut files: HashMap<(usize, &str), Option<Stored>> = HashMap::new();
        let mut stale = false;
        for ranked in found.ranked.iter().take_while(|ranked| ranked.score >= search.min_score) {
            if hits.len() == search.max_results {
                break;
            }
            let path = MemoryPath::parse(&ranked.candidate.path)?.prefixed(&self.mounts[ranked.mount].prefix);
            let key = (ranked.mount, ranked.candidate.path.as_str());
            let stored = match files.entry(key) {
                hash_map::Entry::Occupied(known) => known.into_mut(),
                hash_map::Entry::Vacant(new) => new.insert(store.get(&path)?),
            };
            match stored.as_ref() {
                Some(stored) if stored.version == ranked.candidate.version => {
                    let (decoded, _) = text::decode(&stored.bytes);
                    if found.holds_phrases(&decoded, ranked) {
                        hits.push(self.hit(path, stored, &decoded, ranked, found, search, &weights));
                    }
                }
                _ => stale = true,
            }
        }
        Ok((hits, stale))
    }

    #[expect(clippy::too_many_arguments, reason = "one call, and every one of them is needed")]
    fn hit(
        &self,
        path: MemoryPath,
        stored: &Stored,
        decoded: &str,
        ranked: &Ranked,
        found: &Found,
        search: &Search,
        weights: &Weights<'_>,
    ) -> Hit {
        let candidate = &ranked.candidate;
        let mut analyser = self.analyser.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = cite::lines(decoded, candidate.first.into(), candidate.last.into(), weights, &mut analyser);
        drop(analyser);
        let (memory, _) = Memory::parse(frontmatter(decoded));
        Hit {
            path,
            text: lines.of(decoded).to_owned(),
            score: ranked.score,
            source: ranked.source,
            age: time::age(self.clock.now(), read::memory_time(&memory, stored)),
            headings: cite::headings(decoded, lines.first),
            kind: candidate.kind,
            explain: search.explain.then(|| found.explain(candidate)),
            lines: format!("{}-{}", lines.first, lines.last.unwrap_or(lines.first)),
        }
    }
}

/// A query's candidates, ranked.
struct Found {
    query: Query,
    counts: Counts,
    ranked: Vec<Ranked>,
    method: Method,
    scale: Scale,
    searched: Amount,
    notes: Vec<String>,
}

impl Found {
    fn answer(&self, hits: Vec<Hit>, search: &Search, notes: Vec<String>) -> Answer {
        let ranked = self.ranked.iter().take_while(|ranked| ranked.score >= search.min_score).count();
        // A phrase is looked for in the text itself: where it was not there, the candidate does not count.
        let total = if hits.len() < search.max_results { hits.len() } else { ranked.max(hits.len()) };
        Answer { hits, total, method: self.method, searched: self.searched, notes }
    }

    fn holds_phrases(&self, decoded: &str, ranked: &Ranked) -> bool {
        if self.query.phrases.is_empty() {
            return true;
        }
        let lines = text::LineRange { first: ranked.candidate.first.into(), last: Some(ranked.candidate.last.into()) };
        let unit = crate::query::plain(lines.of(decoded));
        self.query.phrases.iter().all(|phrase| unit.contains(phrase.as_str()))
    }

    fn explain(&self, candidate: &Candidate) -> Explain {
        let mass = rank::mass(&self.counts);
        let terms = self.query.terms.iter().zip(&self.counts.terms);
        Explain {
            unit: format!("{}-{}", candidate.first, candidate.last),
            parts: candidate.parts,
            assistant: candidate.assistant,
            mass,
            cosine: candidate.cosine,
            sum: rank::sum(&candidate.parts, candidate.assistant, mass, candidate.cosine, self.scale),
            terms: terms.map(|(term, count)| (term.clone(), count.body.max(count.code))).collect(),
        }
    }
}

/// Which files may be answers.
struct Filter {
    source: Option<Source>,
    kind: Option<Kind>,
    under: Vec<String>,
}

impl Filter {
    fn new(search: &Search, query: &Query) -> Self {
        let under = [search.under.as_deref(), query.under.as_deref()].into_iter().flatten();
        Filter {
            source: search.source.or(query.source),
            kind: search.kind.or(query.kind),
            under: under.map(|prefix| prefix.trim_matches('/').to_owned()).filter(|prefix| !prefix.is_empty()).collect(),
        }
    }

    /// Whether every file of a mount may be an answer.
    fn is_open(&self) -> bool {
        self.kind.is_none() && self.under.is_empty()
    }

    fn allows(&self, prefix: &str, name: &str, known: &Known) -> bool {
        if self.kind.is_some() && known.kind != self.kind {
            return false;
        }
        self.under.iter().all(|under| {
            let whole = if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") };
            whole
                .strip_prefix(under.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || rest.eq_ignore_ascii_case(".md"))
        })
    }
}

/// The beginning of a memory up to the end of its frontmatter: all that is needed for its age.
fn frontmatter(text: &str) -> &str {
    let end =
        if text.starts_with("---") { text.match_indices("\n---").next().map_or(text.len(), |(at, _)| text.len().min(at + 5)) } else { 0 };
    text.get(..end).unwrap_or(text)
}

fn since(time: Timestamp) -> Option<Since> {
    let date = time.to_zoned(jiff::tz::TimeZone::UTC).date();
    // Days are of this century and the last; what lies beyond is before or after all of them.
    let (year, month, day) = match date.year() {
        ..1900 => (1900, 1, 1),
        1900..2100 => (date.year() as u32, date.month() as u32, date.day() as u32),
        _ => (2099, 12, 31),
    };
    Some(Since { day: crate::day::Day::new(year, month, day)?, ns: time.as_nanosecond() as i64 })
}

impl From<Error> for Answer {
    fn from(error: Error) -> Self {
        Answer { hits: Vec::new(), total: 0, method: Method::Fts, searched: Amount::default(), notes: vec![error.to_string()] }
    }
}
