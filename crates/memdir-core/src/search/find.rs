//! From a query to ranked candidates, over all mounts together.

use super::{Amount, Answer, Explain, Hit, Method, Search, Searcher, fuse, fuse::Ranked};
use crate::{
    base::{
        error::{Error, Result},
        path::MemoryPath,
        text,
    },
    memory::Kind,
    search::{
        index::{Ask, Candidate, Counts, Known, Since, View},
        query::Query,
        ranking::{self, Scale},
    },
    store::{Source, Store, mounts::resolve_alias_among},
};
use jiff::Timestamp;
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, PoisonError},
};

/// A query's candidates, ranked.
pub(crate) struct Found {
    pub(super) query: Query,
    /// Of memories and other documents, and of chats.
    counts: [Counts; 2],
    pub(crate) ranked: Vec<Ranked>,
    method: Method,
    pub(super) scale: Scale,
    searched: Amount,
    notes: Vec<String>,
}

impl Searcher {
    /// Finds candidates in the files as they are now. An index that gives impossible answers is forgotten and made again.
    pub(super) fn find(&self, store: &dyn Store, search: &Search) -> Result<Found> {
        let views = self.views(store)?;
        match catch_unwind(AssertUnwindSafe(|| self.find_in(&views, search))) {
            Ok(Ok(found)) => Ok(found),
            Ok(Err(error)) if !matches!(error, Error::Corrupt { .. } | Error::Io { .. }) => Err(error),
            _ => {
                self.forget()?;
                self.find_in(&self.views(store)?, search)
            }
        }
    }

    pub(super) fn find_in(&self, views: &[Arc<dyn View>], search: &Search) -> Result<Found> {
        let mut analyser = self.analyser.lock().unwrap_or_else(PoisonError::into_inner);
        let query = Query::parse(&search.query, &mut analyser);
        let must: Vec<Vec<String>> =
            query.phrases.iter().map(|phrase| analyser.words(phrase).into_iter().map(|word| word.stem).collect()).collect();
        drop(analyser);
        self.find_query(views, search, query, &must)
    }

    /// Finds candidates for a query that is taken apart already; `must` are the words of its phrases.
    pub(crate) fn find_query(&self, views: &[Arc<dyn View>], search: &Search, query: Query, must: &[Vec<String>]) -> Result<Found> {
        let mut notes = Vec::new();
        let vector = self.meaning.as_ref().filter(|_| !query.text.is_empty()).and_then(|meaning| meaning.of_query(&query.text, &mut notes));
        let filter = Filter::new(search, &query, |prefix| self.mounts.iter().any(|mount| mount.prefix == prefix));
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
                    must,
                    time: query.time,
                    vector: vector.as_ref(),
                    files,
                    since,
                };
                (at, ask)
            })
            .collect();
        let asked: Vec<(usize, _)> = asks.iter().map(|(at, ask)| Ok((*at, views[*at].ask(ask)?))).collect::<Result<_>>()?;
        // Chats are a pool of their own: however many there are, they change nothing about how rare a word is in memories.
        let pool = |at: usize| usize::from(self.mounts[at].source == Source::Chat);
        let mut counts = [Counts::default(), Counts::default()];
        asked.iter().for_each(|(at, asked)| counts[pool(*at)].add(asked.counts()));
        counts.iter_mut().for_each(|counts| counts.terms.resize(query.terms.len(), Default::default()));
        let mut candidates: [Vec<(usize, Source, Candidate)>; 2] = Default::default();
        for (at, asked) in &asked {
            let source = self.mounts[*at].source;
            candidates[pool(*at)].extend(asked.candidates(&counts[pool(*at)])?.into_iter().map(|candidate| (*at, source, candidate)));
        }
        drop(asked);
        let has_vectors = vector.is_some() && candidates.iter().flatten().any(|(_, _, candidate)| candidate.cosine.is_some());
        let scale = self.meaning.as_ref().filter(|_| has_vectors).map_or(Scale::WORDS, |meaning| meaning.scale());
        let decay = search.decay.then(|| self.clock.now());
        let [curated, chats] = candidates;
        let ranked =
            fuse::share(fuse::fuse(curated, &counts[0], scale, decay), fuse::fuse(chats, &counts[1], scale, decay), search.min_score);
        let method = match (has_vectors, counts.iter().any(any_word)) {
            (true, true) => Method::Hybrid,
            (true, false) => Method::Vector,
            (false, _) => Method::Fts,
        };
        let searched = views
            .iter()
            .map(|view| view.totals())
            .fold(Amount::default(), |sum, totals| Amount { files: sum.files + totals.told_files, units: sum.units + totals.told_units });
        Ok(Found { query, counts, ranked, method, scale, searched, notes })
    }
}

/// Whether any of the words occurs anywhere.
fn any_word(counts: &Counts) -> bool {
    counts.terms.iter().any(|term| term.body + term.title + term.code > 0) || counts.codes.iter().any(|n| *n > 0)
}

impl Found {
    pub(super) fn answer(&self, hits: Vec<Hit>, search: &Search) -> Answer {
        let ranked = self.ranked.iter().take_while(|ranked| ranked.score >= search.min_score).count();
        // A phrase is looked for in the text itself: where it was not there, the candidate does not count.
        let total = if hits.len() < search.max_results { hits.len() } else { ranked.max(hits.len()) };
        Answer { hits, total, method: self.method, searched: self.searched, notes: self.notes.clone() }
    }

    /// Whether lines of a text hold every phrase that is asked for.
    pub(super) fn holds_phrases(&self, decoded: &str, first: u64, last: u64) -> bool {
        if self.query.phrases.is_empty() {
            return true;
        }
        let unit = crate::search::query::plain(text::LineRange { first, last: Some(last) }.of(decoded));
        self.query.phrases.iter().all(|phrase| unit.contains(phrase.as_str()))
    }

    /// What was counted where a source's candidates were ranked.
    pub(crate) fn counts(&self, source: Source) -> &Counts {
        &self.counts[usize::from(source == Source::Chat)]
    }

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

/// Which files may be answers.
struct Filter {
    source: Option<Source>,
    kind: Option<Kind>,
    under: Vec<String>,
}

impl Filter {
    fn new(search: &Search, query: &Query, has_mount: impl Fn(&str) -> bool) -> Self {
        let under = [search.under.as_deref(), query.under.as_deref()].into_iter().flatten();
        let as_meant = |prefix: String| match MemoryPath::parse(&prefix).ok().and_then(|path| resolve_alias_among(&path, &has_mount)) {
            Some(path) => path.to_string(),
            None => prefix,
        };
        Filter {
            source: search.source.or(query.source),
            kind: search.kind.or(query.kind),
            under: under.map(|prefix| prefix.trim_matches('/').to_owned()).filter(|prefix| !prefix.is_empty()).map(as_meant).collect(),
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

fn since(time: Timestamp) -> Option<Since> {
    let date = time.to_zoned(jiff::tz::TimeZone::UTC).date();
    // Days are of this century and the last; what lies beyond is before or after all of them.
    let (year, month, day) = match date.year() {
        ..1900 => (1900, 1, 1),
        1900..2100 => (date.year() as u32, date.month() as u32, date.day() as u32),
        _ => (2099, 12, 31),
    };
    Some(Since { day: crate::base::day::Day::new(year, month, day)?, ns: time.as_nanosecond() as i64 })
}
