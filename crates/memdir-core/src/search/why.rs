//! Why a memory is not among the answers, and what would change it.

use super::{Search, Searcher};
use crate::{
    base::{error::Result, path::MemoryPath},
    search::{query::Query, ranking},
    store::{Source, Store},
};
use serde::Serialize;
use std::sync::PoisonError;

/// Why a memory is not among the answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum WhyNot {
    /// It is among them, at this place from 1.
    Returned {
        /// Its place.
        rank: usize,
    },
    /// There is no such memory in the space.
    Missing,
    /// It is no Markdown file, or too large to be searched.
    NotSearched,
    /// A filter leaves it out.
    Filtered {
        /// Which.
        by: String,
    },
    /// Its best unit scores less than asked for.
    TooWeak {
        /// Its best unit.
        lines: String,
        /// That unit's score.
        score: f32,
        /// The score asked for.
        min_score: f32,
        /// Words of the query its best unit does not share.
        unshared: Vec<String>,
    },
    /// Others are better.
    Outranked {
        /// Its best unit.
        lines: String,
        /// That unit's score.
        score: f32,
        /// Its place from 1.
        rank: usize,
        /// How many answers were asked for.
        max_results: usize,
    },
    /// It shares nothing with the query, by words or by meaning.
    Unrelated,
}

impl WhyNot {
    /// In a sentence, with what would change it.
    pub fn say(&self) -> String {
        match self {
            WhyNot::Returned { rank } => format!("It is returned, at place {rank}."),
            WhyNot::Missing => "There is no such memory here. List the names that exist.".into(),
            WhyNot::NotSearched => "It is not searched: only text files such as Markdown, up to 64 MB, are.".into(),
            WhyNot::Filtered { by } => format!("{by} leaves it out. Search without it."),
            WhyNot::TooWeak { lines, score, min_score, unshared } => {
                let words = if unshared.is_empty() { String::new() } else { format!(" It lacks: {}.", unshared.join(", ")) };
                format!(
                    "Its best lines, {lines}, score {score:.2}, below {min_score:.2}.{words} Ask with its own words, or lower the minimum score."
                )
            }
            WhyNot::Outranked { lines, score, rank, max_results } => {
                format!(
                    "Its best lines, {lines}, score {score:.2} and are at place {rank}; {max_results} answers were asked for. Ask for more, or more precisely."
                )
            }
            WhyNot::Unrelated => "It shares no word with the query and means something else. Ask with its own words.".into(),
        }
    }
}

impl Searcher {
    /// Tells why a memory is not among the answers to a search.
    pub fn why_not(&self, store: &dyn Store, search: &Search, path: &MemoryPath) -> Result<WhyNot> {
        let Some(stored) = store.get(path)? else { return Ok(WhyNot::Missing) };
        let path = stored.path;
        if !crate::search::indexing::is_searched(&path) || stored.stamp.size > crate::base::limits::READ_FILE_BYTES {
            return Ok(WhyNot::NotSearched);
        }
        let answer = self.search(store, search)?;
        if let Some(at) = answer.hits.iter().position(|hit| hit.path == path) {
            return Ok(WhyNot::Returned { rank: at + 1 });
        }
        let open = Search { max_results: usize::MAX, min_score: 0.0, explain: true, ..search.clone() };
        let everything = self.search(store, &open)?;
        if let Some(at) = everything.hits.iter().position(|hit| hit.path == path) {
            let hit = &everything.hits[at];
            return Ok(match hit.score < search.min_score {
                true => WhyNot::TooWeak {
                    lines: hit.lines.clone(),
                    score: hit.score,
                    min_score: search.min_score,
                    unshared: self.unshared(search, &hit.text),
                },
                false => WhyNot::Outranked { lines: hit.lines.clone(), score: hit.score, rank: at + 1, max_results: search.max_results },
            });
        }
        // Not even among all candidates: alone it may still be one, or a filter leaves it out.
        let query = self.query(search);
        let alone =
            Search { query: query.text, under: Some(path.as_str().to_owned()), kind: None, source: None, since: None, ..open.clone() };
        let alone = self.search(store, &alone)?;
        let Some(hit) = alone.hits.first() else { return Ok(WhyNot::Unrelated) };
        if let Some(by) = self.filter_against(search, &path, hit.source) {
            return Ok(WhyNot::Filtered { by });
        }
        Ok(WhyNot::TooWeak {
            lines: hit.lines.clone(),
            score: hit.score,
            min_score: search.min_score.max(ranking::MIN_SCORE),
            unshared: self.unshared(search, &hit.text),
        })
    }

    fn query(&self, search: &Search) -> Query {
        Query::parse(&search.query, &mut self.analyser.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn filter_against(&self, search: &Search, path: &MemoryPath, source: Source) -> Option<String> {
        let query = self.query(search);
        let under = search.under.as_ref().or(query.under.as_ref()).filter(|under| !path.is_under(under));
        if let Some(under) = under {
            return Some(format!("The path {under}"));
        }
        if let Some(wanted) = search.source.or(query.source).filter(|wanted| *wanted != source) {
            return Some(format!("The source {wanted:?}").to_lowercase().replacen('t', "T", 1));
        }
        if let Some(kind) = search.kind.or(query.kind) {
            return Some(format!("The type {kind}"));
        }
        if search.since.is_some() {
            return Some("The earliest time".into());
        }
        (!query.without.is_empty() || !query.phrases.is_empty()).then(|| "A phrase it must have or a word it must not have".to_owned())
    }

    fn unshared(&self, search: &Search, text: &str) -> Vec<String> {
        let query = self.query(search);
        let mut analyser = self.analyser.lock().unwrap_or_else(PoisonError::into_inner);
        let words: Vec<String> = analyser.words(text).into_iter().map(|word| word.stem).collect();
        query.terms.into_iter().filter(|term| !words.contains(term)).collect()
    }
}
