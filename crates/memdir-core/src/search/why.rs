//! Why a memory is not among the hits of a search, and what would change that.

use super::{
    Answer, Hit, Search,
    analysis::Analyser,
    indexing::is_searched,
    query::{Condition, Query},
    ranking,
};
use crate::{
    base::{error::Result, limits, path::MemoryPath},
    memory::validity::Outdated,
    store::{
        Source, Store,
        mounts::{self, ARCHIVE_FOLDER, FileKind},
    },
};
use serde::Serialize;
use std::{
    fmt,
    sync::{Mutex, PoisonError},
};

/// Why a memory is not among the hits of a search.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum WhyNot {
    /// It is among them.
    Returned {
        /// Its rank from 1.
        rank: usize,
    },
    /// The space has no such memory.
    Missing,
    /// It is not a text file, or too large to be searched.
    NotSearched,
    /// A filter excludes it.
    Filtered {
        /// Which.
        by: String,
    },
    /// Its best unit scores less than the minimum.
    TooWeak {
        /// The lines of its best unit.
        lines: String,
        /// That unit's score.
        score: f32,
        /// The minimum score.
        min_score: f32,
        /// Words of the query that its best unit does not have.
        unshared: Vec<String>,
    },
    /// Other memories rank above it.
    Outranked {
        /// The lines of its best unit.
        lines: String,
        /// That unit's score.
        score: f32,
        /// Its rank from 1.
        rank: usize,
        /// The maximum number of hits.
        max_results: usize,
    },
    /// Its score suffices, but so many units match as well that an index did not return it.
    Crowded {
        /// The lines of its best unit.
        lines: String,
        /// That unit's score.
        score: f32,
    },
    /// It is searched only on request.
    OnRequest {
        /// What it is: an archived memory or a candidate.
        what: String,
        /// The filter or option that includes it.
        with: String,
    },
    /// Results have the memory that supersedes it instead.
    Superseded,
    /// It shares neither words nor meaning with the query.
    Unrelated,
}

/// The filter of chats, which has an option of its own to search without it.
const PROJECT_FILTER: &str = "The project filter";

/// One sentence, followed by what would change it.
impl fmt::Display for WhyNot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WhyNot::Returned { rank } => write!(f, "The memory is among the results, at rank {rank}."),
            WhyNot::Missing => f.write_str("Memory not found. List the names with `memdir list`."),
            WhyNot::NotSearched => {
                f.write_str("The file is not searched: only text files, such as Markdown, of at most 64 MB are searched.")
            }
            WhyNot::Filtered { by } if by == PROJECT_FILTER => write!(f, "{by} excludes the memory. Search with --all-projects."),
            WhyNot::Filtered { by } => write!(f, "{by} excludes the memory. Search without that condition."),
            WhyNot::TooWeak { lines, score, min_score, unshared } => {
                let (best, lacking) = best_lines(lines);
                // Rounded down where the two numbers would look equal.
                let is_close = format!("{score:.2}") == format!("{min_score:.2}");
                let score = if is_close { min_score - 0.01 } else { *score };
                write!(f, "The memory's best {best} {score:.2}, below the minimum of {min_score:.2}.")?;
                if !unshared.is_empty() {
                    write!(f, " {lacking}: {}.", unshared.join(", "))?;
                }
                f.write_str(" Search with words that the memory contains, or with a lower --min-score.")
            }
            WhyNot::Outranked { lines, score, rank, max_results } => {
                let (best, _) = best_lines(lines);
                let returned = if *max_results == 1 { "result was".to_owned() } else { format!("{max_results} results were") };
                write!(
                    f,
                    "The memory's best {best} {score:.2}, which is rank {rank}; only the best {returned} returned. Search with a higher --max-results or with more specific words."
                )
            }
            WhyNot::Crowded { lines, score } => {
                let (best, _) = best_lines(lines);
                write!(f, "The memory's best {best} {score:.2}, but too many others match as well. Search with more specific words.")
            }
            WhyNot::OnRequest { what, with } => write!(f, "The memory is {what}, which is searched only with {with}."),
            WhyNot::Superseded => f.write_str("The memory is superseded: results show the memory that supersedes it instead."),
            WhyNot::Unrelated => {
                f.write_str("The memory shares neither words nor meaning with the query. Search with words that it contains.")
            }
        }
    }
}

/// The subject of a sentence about the score of these lines, and the beginning of one about the words that they lack.
fn best_lines(lines: &str) -> (String, &'static str) {
    match lines.split_once('-') {
        Some((first, last)) if first != last => (format!("lines ({lines}) score"), "The lines do not contain"),
        _ => (format!("line ({}) scores", lines.split('-').next().unwrap_or(lines)), "The line does not contain"),
    }
}

/// Explains why a memory is not among the hits of a search; `run` runs a search on the same space.
pub(super) fn why_not(
    store: &dyn Store,
    search: &Search,
    path: &MemoryPath,
    analyser: &Mutex<Analyser>,
    run: &dyn Fn(&Search) -> Result<Answer>,
) -> Result<WhyNot> {
    let Some(stored) = store.get(path)? else { return Ok(WhyNot::Missing) };
    let path = stored.path;
    if !is_searched(&path) || stored.stamp.size > limits::READ_FILE_BYTES {
        return Ok(WhyNot::NotSearched);
    }
    let answer = run(search)?;
    if let Some(at) = answer.hits.iter().position(|hit| hit.path == path) {
        return Ok(WhyNot::Returned { rank: at + 1 });
    }
    let query = Query::parse(&search.query, &mut analyser.lock().unwrap_or_else(PoisonError::into_inner));
    let mount = mounts::mount_of(store, &path);
    if mount.is_some_and(|mount| mount.source == Source::Inbox) && search.source.or(query.source) != Some(Source::Inbox) {
        return Ok(WhyNot::OnRequest { what: "a candidate".into(), with: "--source inbox".into() });
    }
    let unshared = |text: &str| {
        let words = analyser.lock().unwrap_or_else(PoisonError::into_inner).split_words(text);
        let has = |term: &&String| words.iter().any(|word| word.stem == **term);
        query.terms.iter().filter(|term| !has(term)).cloned().collect()
    };
    let open = Search { max_results: usize::MAX, min_score: 0.0, explain: true, ..search.clone() };
    let everything = run(&open)?;
    if let Some(at) = everything.hits.iter().position(|hit| hit.path == path) {
        let hit = &everything.hits[at];
        let (lines, score) = (hit.lines.clone(), hit.score);
        return Ok(match score < search.min_score {
            true => WhyNot::TooWeak { lines, score, min_score: search.min_score, unshared: unshared(&hit.text) },
            false => WhyNot::Outranked { lines, score, rank: at + 1, max_results: search.max_results },
        });
    }
    // It is not a candidate among all memories. Alone it may be one, or a filter excludes it.
    let under = Some(path.as_str().to_owned());
    let alone = Search { query: query.text.clone(), under, kind: None, source: None, since: None, all_projects: true, ..open };
    let answer = run(&alone)?;
    let Some(hit) = answer.hits.first() else { return Ok(WhyNot::Unrelated) };
    let is_found = |search: &Search| -> Result<bool> { Ok(!run(search)?.hits.is_empty()) };
    if let Some(by) = excluding_filter(search, &query, &path, hit, &alone, &is_found)? {
        return Ok(WhyNot::Filtered { by });
    }
    let min_score = search.min_score.max(ranking::MIN_SCORE);
    // Its name as a filter includes it.
    if mounts::file_kind(store, &path) == FileKind::Archived && hit.score >= min_score {
        let prefix = mount.map_or("", |mount| mount.prefix.as_str());
        let folder = if prefix.is_empty() { ARCHIVE_FOLDER.to_owned() } else { format!("{prefix}/{ARCHIVE_FOLDER}") };
        return Ok(WhyNot::OnRequest { what: "an archived memory".into(), with: format!("path:{folder}/") });
    }
    let conditions = query.conditions(&search.query, &mut analyser.lock().unwrap_or_else(PoisonError::into_inner));
    if let Some(by) = excluding_condition(&search.query, &conditions, &alone, &is_found)? {
        return Ok(WhyNot::Filtered { by });
    }
    // Alone, it is not replaced by its successor, which is not under its name.
    if hit.outdated == Some(Outdated::Superseded) && hit.score >= min_score {
        return Ok(WhyNot::Superseded);
    }
    let (lines, score) = (hit.lines.clone(), hit.score);
    Ok(match score < min_score {
        true => WhyNot::TooWeak { lines, score, min_score, unshared: unshared(&hit.text) },
        false => WhyNot::Crowded { lines, score },
    })
}

/// The filter of a search that excludes a memory, which `alone` finds without filters.
fn excluding_filter(
    search: &Search,
    query: &Query,
    path: &MemoryPath,
    hit: &Hit,
    alone: &Search,
    is_found: &dyn Fn(&Search) -> Result<bool>,
) -> Result<Option<String>> {
    let mut under = search.under.iter().chain(&query.under);
    if let Some(under) = under.find(|under| !path.is_under(under)) {
        return Ok(Some(format!("The filter path:{under}")));
    }
    if let Some(wanted) = search.source.or(query.source).filter(|wanted| *wanted != hit.source) {
        return Ok(Some(format!("The filter source:{}", format!("{wanted:?}").to_lowercase())));
    }
    if let Some(kind) = search.kind.or(query.kind).filter(|kind| hit.kind != Some(*kind)) {
        return Ok(Some(format!("The filter type:{kind}")));
    }
    if hit.source == Source::Chat && !search.all_projects && !is_found(&Search { all_projects: false, ..alone.clone() })? {
        return Ok(Some(PROJECT_FILTER.into()));
    }
    if search.since.is_some() && !is_found(&Search { since: search.since, ..alone.clone() })? {
        return Ok(Some("The date filter (--since)".into()));
    }
    Ok(None)
}

/// The phrase or excluded word of a query that excludes a memory, which `alone` finds without them.
fn excluding_condition(
    query: &str,
    conditions: &[Condition<'_>],
    alone: &Search,
    is_found: &dyn Fn(&Search) -> Result<bool>,
) -> Result<Option<String>> {
    let is_found = |query: String| is_found(&Search { query, ..alone.clone() });
    for condition in conditions {
        // Beside other words, a phrase may be a title in a sentence, which does not filter.
        let (only, by) = match condition {
            Condition::Phrase(phrase) if phrase.contains('"') => (format!("“{phrase}”"), format!("The phrase “{phrase}”")),
            Condition::Phrase(phrase) => (format!("\"{phrase}\""), format!("The phrase \"{phrase}\"")),
            Condition::Without(word) => (format!("{} {word}", alone.query), format!("The excluded word {word}")),
        };
        if !is_found(only)? {
            return Ok(Some(by));
        }
    }
    // Some lines fulfil each of them, but no lines fulfil all of them.
    let is_excluded = conditions.len() > 1 && !is_found(query.to_owned())?;
    Ok(is_excluded.then(|| "The combination of phrases and excluded words".into()))
}
