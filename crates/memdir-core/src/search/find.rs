//! From a query to ranked candidates, over all mounts together.

use super::{
    Answer, Explain, Hit, Method, Search, SearchedCounts,
    analysis::Analyser,
    fuse::{self, Ranked},
    index::{Candidate, Counts, IndexQuery, IndexView, KnownFile, Since},
    meaning::Meaning,
    mount_views::SearchMount,
    query::{self, Query},
    ranking::{self, Scale},
};
use crate::{
    base::{day::Day, error::Result, path::MemoryPath, text::LineRange, time::Clock},
    memory::Kind,
    store::{Source, mounts::resolve_alias_among},
};
use jiff::{Timestamp, tz::TimeZone};
use std::sync::{Arc, Mutex, PoisonError};

/// A query's candidates, ranked.
pub(crate) struct RankedCandidates {
    pub(super) query: Query,
    /// The counts of memories and other documents, and those of chats.
    counts: [Counts; 2],
    pub(crate) ranked: Vec<Ranked>,
    method: Method,
    scale: Scale,
    searched: SearchedCounts,
    notes: Vec<String>,
}

/// Finds candidates in the views of some mounts.
pub(super) struct Finder<'a> {
    pub(super) mounts: &'a [SearchMount],
    /// Embeds queries.
    pub(super) meaning: Option<&'a Meaning>,
    pub(super) clock: &'a dyn Clock,
}

impl Finder<'_> {
    /// Parses the query of a search and ranks its candidates.
    pub(super) fn find(&self, views: &[Arc<dyn IndexView>], search: &Search, analyser: &Mutex<Analyser>) -> Result<RankedCandidates> {
        let mut analyser = analyser.lock().unwrap_or_else(PoisonError::into_inner);
        let query = Query::parse(&search.query, &mut analyser);
        let must: Vec<Vec<String>> =
            query.phrases.iter().map(|phrase| analyser.split_words(phrase).into_iter().map(|word| word.stem).collect()).collect();
        drop(analyser);
        self.find_query(views, search, query, &must)
    }

    /// Ranks candidates for a parsed query; `must` are the words of its phrases.
    pub(super) fn find_query(
        &self,
        views: &[Arc<dyn IndexView>],
        search: &Search,
        query: Query,
        must: &[Vec<String>],
    ) -> Result<RankedCandidates> {
        let mut notes = Vec::new();
        let vector = self.meaning.filter(|_| !query.text.is_empty()).and_then(|meaning| meaning.query_vector(&query.text, &mut notes));
        let filter = FileFilter::new(search, &query, |prefix| self.mounts.iter().any(|mount| mount.prefix == prefix));
        let since = search.since.and_then(earliest);
        // A filter per mount: names in a view do not have the mount's prefix.
        let filters: Vec<Box<dyn Fn(&str, &KnownFile) -> bool + Sync + '_>> = self
            .mounts
            .iter()
            .map(|mount| Box::new(|name: &str, known: &KnownFile| filter.allows(&mount.prefix, name, known)) as Box<_>)
            .collect();
        let queries: Vec<(usize, IndexQuery<'_>)> = (0..self.mounts.len())
            .filter(|at| filter.source.is_none_or(|source| source == self.mounts[*at].source) && views[*at].totals().units > 0)
            .map(|at| {
                let files = if filter.is_open() { None } else { Some(&*filters[at]) };
                let ask = IndexQuery {
                    terms: &query.terms,
                    codes: &query.codes,
                    pairs: &query.pairs,
                    without: &query.without,
                    must,
                    time: query.time,
                    vector: vector.as_ref(),
                    files,
                    since,
                };
                (at, ask)
            })
            .collect();
        let matches: Vec<(usize, _)> = queries.iter().map(|(at, ask)| Ok((*at, views[*at].ask(ask)?))).collect::<Result<_>>()?;
        // Chats are counted apart: however many there are, they do not change how rare a word is in memories.
        let pool = |at: usize| usize::from(self.mounts[at].source == Source::Chat);
        let mut counts = [Counts::default(), Counts::default()];
        matches.iter().for_each(|(at, matches)| counts[pool(*at)].add(matches.counts()));
        counts.iter_mut().for_each(|counts| counts.terms.resize(query.terms.len(), Default::default()));
        let mut candidates: [Vec<(usize, Source, Candidate)>; 2] = Default::default();
        for (at, matches) in &matches {
            let source = self.mounts[*at].source;
            candidates[pool(*at)].extend(matches.candidates(&counts[pool(*at)])?.into_iter().map(|candidate| (*at, source, candidate)));
        }
        drop(matches);
        let has_vectors = vector.is_some() && candidates.iter().flatten().any(|(_, _, candidate)| candidate.cosine.is_some());
        let scale = self.meaning.filter(|_| has_vectors).map_or(Scale::WORDS, |meaning| meaning.scale());
        let decay = search.decay.then(|| self.clock.now());
        let [curated, chats] = candidates;
        let ranked =
            fuse::share(fuse::fuse(curated, &counts[0], scale, decay), fuse::fuse(chats, &counts[1], scale, decay), search.min_score);
        let method = match (has_vectors, counts.iter().any(has_any_word)) {
            (true, true) => Method::Hybrid,
            (true, false) => Method::Vector,
            (false, _) => Method::Fts,
        };
        let searched = views.iter().map(|view| view.totals()).fold(SearchedCounts::default(), |sum, totals| SearchedCounts {
            files: sum.files + totals.counted_files,
            units: sum.units + totals.counted_units,
        });
        Ok(RankedCandidates { query, counts, ranked, method, scale, searched, notes })
    }
}

/// Whether any word of the query occurs anywhere.
fn has_any_word(counts: &Counts) -> bool {
    counts.terms.iter().any(|term| term.body + term.title + term.code > 0) || counts.codes.iter().any(|n| *n > 0)
}

impl RankedCandidates {
    /// The answer with these hits.
    pub(super) fn answer(&self, hits: Vec<Hit>, search: &Search) -> Answer {
        let ranked = self.ranked.iter().take_while(|ranked| ranked.score >= search.min_score).count();
        // Phrases are checked in the text itself: a candidate without them is not counted.
        let total = if hits.len() < search.max_results { hits.len() } else { ranked.max(hits.len()) };
        Answer { hits, total, method: self.method, searched: self.searched, notes: self.notes.clone() }
    }

    /// Whether these lines of a text contain every phrase of the query.
    pub(super) fn has_phrases(&self, decoded: &str, first: u64, last: u64) -> bool {
        if self.query.phrases.is_empty() {
            return true;
        }
        let unit = query::fold_phrase(LineRange { first, last: Some(last) }.slice(decoded));
        self.query.phrases.iter().all(|phrase| unit.contains(phrase.as_str()))
    }

    /// The counts by which the candidates of a source were ranked.
    pub(crate) fn counts(&self, source: Source) -> &Counts {
        &self.counts[usize::from(source == Source::Chat)]
    }

    /// Explains the rank of a candidate.
    pub(super) fn explain(&self, ranked: &Ranked) -> Explain {
        let (candidate, counts) = (&ranked.candidate, self.counts(ranked.source));
        let mass = ranking::mass(counts);
        let terms = self.query.terms.iter().zip(&counts.terms);
        Explain {
            unit: format!("{}-{}", candidate.first, candidate.last),
            parts: candidate.parts,
            assistant: candidate.assistant,
            mass,
            cosine: candidate.cosine,
            sum: ranking::sum(&candidate.parts, candidate.assistant, mass, candidate.cosine, self.scale),
            terms: terms.map(|(term, count)| (term.clone(), count.body.max(count.code))).collect(),
        }
    }
}

/// Which files may be hits.
struct FileFilter {
    source: Option<Source>,
    kind: Option<Kind>,
    under: Vec<String>,
}

impl FileFilter {
    fn new(search: &Search, query: &Query, has_mount: impl Fn(&str) -> bool) -> Self {
        let under = [search.under.as_deref(), query.under.as_deref()].into_iter().flatten();
        let resolved = |prefix: String| match MemoryPath::parse(&prefix).ok().and_then(|path| resolve_alias_among(&path, &has_mount)) {
            Some(path) => path.to_string(),
            None => prefix,
        };
        FileFilter {
            source: search.source.or(query.source),
            kind: search.kind.or(query.kind),
            under: under.map(|prefix| prefix.trim_matches('/').to_owned()).filter(|prefix| !prefix.is_empty()).map(resolved).collect(),
        }
    }

    /// Whether every file of a mount may be a hit.
    fn is_open(&self) -> bool {
        self.kind.is_none() && self.under.is_empty()
    }

    fn allows(&self, prefix: &str, name: &str, known: &KnownFile) -> bool {
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

fn earliest(time: Timestamp) -> Option<Since> {
    let date = time.to_zoned(TimeZone::UTC).date();
    // Days are of this century and the last; a time outside of them is before or after all days.
    let (year, month, day) = match date.year() {
        ..1900 => (1900, 1, 1),
        1900..2100 => (date.year() as u32, date.month() as u32, date.day() as u32),
        _ => (2099, 12, 31),
    };
    Some(Since { day: Day::new(year, month, day)?, ns: time.as_nanosecond() as i64 })
}
