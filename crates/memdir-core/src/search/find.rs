//! From a query to ranked candidates, over all mounts together.

use super::{
    Answer, Explain, Hit, Method, Search, SearchedCounts,
    analysis::{Analyser, Word, asks_by_parts, pasted, rarity},
    chats::ChatFilter,
    file_filter::{Coverage, FileFilter},
    fuse::{self, RankedCandidate},
    index::{Counts, IndexQuery, IndexView, KnownFile, Since, UnitCandidate},
    meaning::Meaning,
    mount_views::SearchMount,
    outdated::OutdatedStatuses,
    query::{self, Query},
    ranking::{self, Scale},
};
use crate::{
    base::{
        day::{Day, NamedTime},
        error::Result,
        text::LineRange,
        time::Clock,
    },
    memory::{Kind, succession::Successions},
    store::Source,
};
use jiff::{Timestamp, tz::TimeZone};
use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
};

/// Lines of a pasted text that are searched for, those with the rarest words first.
const PASTED_LINES: usize = 12;
/// Known words of one such line that are searched for, rarest first.
const PASTED_TERMS: usize = 8;
/// Words of a pasted text that are looked up to choose the lines.
const PASTED_WORDS: usize = 1_000;
/// How much a word that no memory has counts against a pasted line, relative to a known word, as in recall: most words of a stack
/// trace are the names of libraries.
const PASTED_UNKNOWN: f32 = 0.5;

/// The evidence that a hit of a pasted text needs: the words that it shares with one of the lines, each counted by its rarity here and
/// in English, and a name in code twice. Two words that one memory has are 2; any two common words of a line are in some memory.
const PASTED_EVIDENCE: f32 = 1.2;
/// The further evidence for each factor of e of lines that ask: of many lines some match by chance.
const EVIDENCE_PER_LINES: f32 = 0.1;
/// The maximum length of a number that is not evidence: lines are full of them.
const SHORT_NUMBER: usize = 3;
/// The maximum number of words of a question; a longer text is near in meaning to some unit by chance.
const QUESTION_TERMS: usize = 24;

/// A query's candidates, ranked.
pub(crate) struct RankedCandidates {
    /// The query; for a pasted text also those of its lines.
    asked: Vec<AskedQuery>,
    /// Whether the query is a pasted text.
    is_pasted: bool,
    pub(crate) ranked: Vec<RankedCandidate>,
    method: Method,
    searched: SearchedCounts,
    notes: Vec<String>,
}

/// A query that was looked up.
struct AskedQuery {
    query: Query,
    /// The counts of memories and other documents, and those of chats.
    counts: [Counts; 2],
    scale: Scale,
}

impl AskedQuery {
    fn counts(&self, source: Source) -> &Counts {
        &self.counts[usize::from(source == Source::Chat)]
    }
}

/// By how much more a line must match for each factor of e of lines that ask: of many lines some match by chance.
const PASTED_CHANCE: f32 = 0.2;

/// The score of a perfect match of a query, with what its unknown words count against a match.
fn perfect_score(query: &Query, counts: &Counts) -> f32 {
    let chance = 1.0 + PASTED_CHANCE * (query.lines.max(1) as f32).ln();
    let known = ranking::perfect_score(counts);
    chance * (known + query.unknown as f32 * PASTED_UNKNOWN * ranking::perfect_word_score(ranking::idf(counts.totals.units, 0)))
}

/// Counts the units of all views in which each term occurs, with one look-up for all terms.
pub(crate) fn frequencies(views: &[Arc<dyn IndexView>], mut terms: Vec<String>) -> Result<HashMap<String, u64>> {
    terms.sort_unstable();
    terms.dedup();
    let ask = IndexQuery {
        terms: &terms,
        codes: &[],
        pairs: &[],
        without: &[],
        must: &[],
        time: NamedTime::default(),
        vector: None,
        files: None,
        since: None,
    };
    let mut counted: HashMap<String, u64> = HashMap::new();
    for view in views.iter().filter(|view| view.totals().units > 0) {
        for (term, count) in terms.iter().zip(&view.ask(&ask)?.counts().terms) {
            *counted.entry(term.clone()).or_default() += count.body.max(count.title).max(count.code).max(count.cue);
        }
    }
    Ok(counted)
}

/// Finds candidates in the views of some mounts.
pub(super) struct Finder<'a> {
    pub(super) mounts: &'a [SearchMount],
    /// Embeds queries.
    pub(super) meaning: Option<&'a Meaning>,
    /// The chats that are searched.
    pub(super) chats: Option<ChatFilter>,
    pub(super) clock: &'a dyn Clock,
    /// Which memories are replaced by others.
    pub(super) successions: &'a Successions,
}

impl Finder<'_> {
    /// Parses the query of a search and ranks its candidates.
    pub(super) fn find(&self, views: &[Arc<dyn IndexView>], search: &Search, analyser: &Mutex<Analyser>) -> Result<RankedCandidates> {
        let mut analyser = analyser.lock().unwrap_or_else(PoisonError::into_inner);
        let mut query = Query::parse(&search.query, &mut analyser);
        let must: Vec<Vec<String>> =
            query.phrases.iter().map(|phrase| analyser.split_words(phrase).into_iter().map(|word| word.stem).collect()).collect();
        let lines: Vec<PastedLine> =
            pasted::pasted_lines(&search.query).into_iter().flatten().map(|line| PastedLine::new(&line, &mut analyser)).collect();
        drop(analyser);
        if !query.parts.is_empty() {
            let terms = query.parts.iter().flat_map(|(at, parts)| parts.iter().chain([&query.terms[*at]])).cloned().collect();
            let df = frequencies(views, terms)?;
            query.split_unknown(|term| df.get(term).is_some_and(|n| *n > 0));
        }
        let mut found = self.find_query(views, search, query, &must)?;
        if !lines.is_empty() {
            self.add_lines(views, search, lines, &mut found)?;
        }
        Ok(found)
    }

    /// Adds the candidates of the lines of a pasted text. Of all its words too few are in any memory; one line may be the message of
    /// an error, or name a file, of which there is one.
    fn add_lines(&self, views: &[Arc<dyn IndexView>], search: &Search, lines: Vec<PastedLine>, found: &mut RankedCandidates) -> Result<()> {
        let mut seen = HashSet::new();
        let words = lines.iter().flat_map(PastedLine::stems).filter(|stem| seen.insert(stem.as_str())).take(PASTED_WORDS);
        let df = frequencies(views, words.cloned().collect())?;
        let units = views.iter().map(|view| view.totals().units).sum();
        let mut seen = HashSet::new();
        let queries = lines.iter().filter_map(|line| line.query(units, &df));
        let mut queries: Vec<(f32, Query)> = queries.filter(|(_, query)| seen.insert(query.terms.clone())).collect();
        queries.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        found.is_pasted = true;
        let mut ranked = std::mem::take(&mut found.ranked);
        let lines = queries.len();
        for (_, query) in queries.into_iter().take(PASTED_LINES) {
            let line = self.find_query(views, search, Query { lines, ..query }, &[])?;
            ranked.extend(line.ranked.into_iter().map(|one| RankedCandidate { asked: found.asked.len(), ..one }));
            found.asked.extend(line.asked);
        }
        found.ranked = fuse::merge(ranked, search.min_score);
        Ok(())
    }

    /// Ranks candidates for a parsed query; `must` are the words of its phrases.
    pub(super) fn find_query(
        &self,
        views: &[Arc<dyn IndexView>],
        search: &Search,
        query: Query,
        must: &[Vec<String>],
    ) -> Result<RankedCandidates> {
        let mut notes: Vec<String> = query.unknown_type.iter().map(|value| unknown_type_note(value)).collect();
        let vector = self.meaning.filter(|_| !query.text.is_empty()).and_then(|meaning| meaning.query_vector(&query.text, &mut notes));
        let filter = FileFilter::new(search, &query, self.mounts, self.chats.as_ref());
        let since = search.since.and_then(|since| earliest(since, self.clock.zone()));
        // A filter per mount: names in a view do not have the mount's prefix.
        let filters: Vec<Box<dyn Fn(&str, &KnownFile) -> bool + Sync + '_>> = (0..self.mounts.len())
            .map(|at| {
                let filter = &filter;
                Box::new(move |name: &str, known: &KnownFile| filter.allows(at, name, known)) as Box<_>
            })
            .collect();
        let queries: Vec<(usize, IndexQuery<'_>)> = (0..self.mounts.len())
            .map(|at| (at, filter.coverage(at)))
            .filter(|(at, coverage)| *coverage != Coverage::Nothing && views[*at].totals().units > 0)
            .map(|(at, coverage)| {
                let files = if coverage == Coverage::Everything { None } else { Some(&*filters[at]) };
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
        let mut candidates: [Vec<(usize, Source, UnitCandidate)>; 2] = Default::default();
        for (at, matches) in &matches {
            let source = self.mounts[*at].source;
            candidates[pool(*at)].extend(matches.candidates(&counts[pool(*at)])?.into_iter().map(|candidate| (*at, source, candidate)));
        }
        drop(matches);
        let has_vectors = vector.is_some() && candidates.iter().flatten().any(|(_, _, candidate)| candidate.cosine.is_some());
        let scale = self.meaning.filter(|_| has_vectors).map_or(Scale::WORDS, |meaning| meaning.scale());
        let scale = Scale { min_cosine: scale.min_cosine.filter(|_| query.terms.len() <= QUESTION_TERMS), ..scale };
        let decay = search.decay.then(|| self.clock.now());
        let [curated, chats] = candidates;
        let statuses = OutdatedStatuses {
            mounts: self.mounts,
            views,
            successions: self.successions,
            clock: self.clock,
            // The successor need not have the words of a phrase, lack an excluded word, or be as new as asked.
            may_replace: must.is_empty() && query.without.is_empty() && search.since.is_none(),
            is_allowed: &|at, name, known| filter.allows(at, name, known),
        };
        let fuse =
            |candidates, counts| fuse::fuse(candidates, perfect_score(&query, counts), scale, decay, &|at, name| statuses.status(at, name));
        let ranked = fuse::share(fuse(curated, &counts[0]), fuse(chats, &counts[1]), search.min_score);
        let method = match (has_vectors, counts.iter().any(has_any_word)) {
            (true, true) => Method::Hybrid,
            (true, false) => Method::Vector,
            (false, _) => Method::Fts,
        };
        let searched = views.iter().map(|view| view.totals()).fold(SearchedCounts::default(), |sum, totals| SearchedCounts {
            files: sum.files + totals.counted_files,
            units: sum.units + totals.counted_units,
        });
        Ok(RankedCandidates { asked: vec![AskedQuery { query, counts, scale }], is_pasted: false, ranked, method, searched, notes })
    }
}

/// The note about a `type:` that does not filter.
fn unknown_type_note(value: &str) -> String {
    let types: Vec<&str> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
    format!("type:{value} was searched as words: {value:?} is not one of {}", types.join(", "))
}

/// Whether any word of the query occurs anywhere.
fn has_any_word(counts: &Counts) -> bool {
    counts.terms.iter().any(|term| term.body + term.title + term.code + term.cue > 0) || counts.codes.iter().any(|n| *n > 0)
}

impl RankedCandidates {
    /// The answer with these hits.
    pub(super) fn answer(&self, hits: Vec<Hit>, search: &Search) -> Answer {
        let ranked = self.ranked.iter().take_while(|ranked| ranked.score >= search.min_score).count();
        // Phrases are checked in the text itself: a candidate without them is not counted.
        let total = if hits.len() < search.max_results { hits.len() } else { ranked.max(hits.len()) };
        let replaced = hits.iter().filter_map(|hit| Some((hit.replaces.as_ref()?, hit.path.name())));
        let replaced = replaced.map(|(old, new)| format!("{old} is superseded by {new}, which is shown instead"));
        let notes = self.notes.iter().cloned().chain(replaced).collect();
        Answer { hits, total, method: self.method, searched: self.searched, notes }
    }

    /// Whether these lines of a text contain every phrase of the query.
    pub(super) fn has_phrases(&self, decoded: &str, first: u64, last: u64) -> bool {
        let phrases = || self.asked.iter().flat_map(|asked| &asked.query.phrases);
        if phrases().next().is_none() {
            return true;
        }
        let unit = query::fold_phrase(LineRange { first, last: Some(last) }.slice(decoded));
        phrases().all(|phrase| unit.contains(phrase.as_str()))
    }

    /// For each query, its terms with their weights in a source.
    pub(super) fn terms(&self, source: Source) -> impl Iterator<Item = impl Iterator<Item = (&str, f32)>> {
        self.asked.iter().map(move |asked| {
            let counts = asked.counts(source);
            let terms = asked.query.terms.iter().zip(&counts.terms);
            terms.map(|(term, count)| (term.as_str(), ranking::idf(counts.totals.units, count.body)))
        })
    }

    /// The evidence that a hit of a pasted text needs.
    pub(super) fn min_evidence(&self) -> f32 {
        let lines = self.asked.iter().map(|asked| asked.query.lines).max().unwrap_or_default();
        PASTED_EVIDENCE + EVIDENCE_PER_LINES * (lines.max(1) as f32).ln()
    }

    /// For each query of a pasted text, its terms and codes with what a match of each proves; `None` if the query is not pasted.
    pub(super) fn evidence(&self, source: Source) -> Option<impl Iterator<Item = impl Iterator<Item = (&str, f32)>>> {
        let weights = self.asked.iter().map(move |asked| {
            let (counts, query) = (asked.counts(source), &asked.query);
            let is_short_number = |term: &str| term.len() <= SHORT_NUMBER && term.bytes().all(|b| b.is_ascii_digit());
            let weight = move |term: &str, holding: u64| match is_short_number(term) {
                true => 0.0,
                false => rarity::evidence(counts.totals.units, holding, term),
            };
            let terms = query.terms.iter().zip(&counts.terms).enumerate().map(move |(at, (term, count))| {
                let times = if query.names.contains(&at) { 2.0 } else { 1.0 };
                (term.as_str(), times * weight(term, count.body.max(count.title).max(count.code)))
            });
            terms.chain(query.codes.iter().zip(&counts.codes).map(move |(code, holding)| (code.as_str(), weight(code, *holding))))
        });
        self.is_pasted.then_some(weights)
    }

    /// Explains the rank of a candidate.
    pub(super) fn explain(&self, ranked: &RankedCandidate) -> Explain {
        let asked = &self.asked[ranked.asked];
        let (candidate, counts) = (&ranked.candidate, asked.counts(ranked.source));
        let mass = perfect_score(&asked.query, counts);
        let terms = asked.query.terms.iter().zip(&counts.terms);
        Explain {
            unit: format!("{}-{}", candidate.first, candidate.last),
            parts: candidate.parts,
            assistant: candidate.assistant,
            mass,
            cosine: candidate.cosine,
            by_meaning: ranking::by_meaning(&candidate.parts, candidate.cosine, asked.scale).is_some(),
            sum: ranking::sum(&candidate.parts, candidate.assistant, mass, candidate.cosine, asked.scale),
            half: asked.scale.half,
            decay: ranked.decay,
            own_score: Some(ranked.own_score).filter(|own| *own > ranked.score),
            terms: terms.map(|(term, count)| (term.clone(), count.body.max(count.code).max(count.cue))).collect(),
        }
    }
}

/// A line of a pasted text.
struct PastedLine {
    words: Vec<(Word, Vec<String>)>,
    codes: Vec<String>,
}

impl PastedLine {
    fn new(line: &str, analyser: &mut Analyser) -> Self {
        PastedLine { words: analyser.words_with_parts(line), codes: analyser.words_and_codes(line).1 }
    }

    fn stems(&self) -> impl Iterator<Item = &String> {
        self.words.iter().filter(|(word, _)| !word.stop).flat_map(|(word, parts)| parts.iter().chain([&word.stem]))
    }

    /// The query of the line with its weight: the rarest of its words that a memory has, or the parts of a word that none has.
    /// `None` if only one word is known, which may be any word, unless it is the name of something in code.
    fn query(&self, units: u64, df: &HashMap<String, u64>) -> Option<(f32, Query)> {
        let idf = |stem: &str| df.get(stem).filter(|n| **n > 0).map(|n| ranking::idf(units, *n));
        let mut known: Vec<(usize, &String, f32)> = Vec::new();
        let (mut seen, mut unknown, mut names) = (HashSet::new(), 0, HashSet::new());
        for (at, (word, parts)) in self.words.iter().filter(|(word, _)| !word.stop).enumerate() {
            let split = asks_by_parts(&word.stem, parts, |stem| idf(stem).is_some());
            if !parts.is_empty() && idf(&word.stem).is_some() {
                names.insert(&word.stem);
            }
            let stems = if split { parts.as_slice() } else { std::slice::from_ref(&word.stem) };
            for stem in stems.iter().filter(|stem| seen.insert(stem.as_str())) {
                match idf(stem) {
                    Some(rarity) => known.push((at, stem, rarity)),
                    None => unknown += usize::from(!stem.bytes().all(|b| b.is_ascii_digit()) && !pasted::is_id_hash_or_time(stem)),
                }
            }
        }
        if known.len() < 2 && names.is_empty() {
            return None;
        }
        known.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.0.cmp(&b.0)));
        known.truncate(PASTED_TERMS);
        let weight = known.iter().map(|(_, _, rarity)| rarity).sum();
        known.sort_by_key(|(at, ..)| *at);
        let adjacent = known.windows(2).enumerate().filter(|(_, two)| two[0].0 + 1 == two[1].0);
        let pairs = adjacent.map(|(at, _)| (at, at + 1)).collect();
        let terms: Vec<String> = known.iter().map(|(_, stem, _)| (*stem).clone()).collect();
        let names = (0..terms.len()).filter(|at| names.contains(&terms[*at])).collect();
        let codes = self.codes.iter().filter(|code| !terms.contains(code)).take(PASTED_TERMS).cloned().collect();
        Some((weight, Query { terms, codes, pairs, names, unknown, ..Query::default() }))
    }
}

/// The day is that of `zone`, in which the date was given: in UTC, midnight east of Greenwich is on the day before.
fn earliest(time: Timestamp, zone: TimeZone) -> Option<Since> {
    let date = time.to_zoned(zone).date();
    // Days are of this century and the last; a time outside of them is before or after all days.
    let (year, month, day) = match date.year() {
        ..1900 => (1900, 1, 1),
        1900..2100 => (date.year() as u32, date.month() as u32, date.day() as u32),
        _ => (2099, 12, 31),
    };
    Some(Since { day: Day::new(year, month, day)?, ns: time.as_nanosecond() as i64 })
}
