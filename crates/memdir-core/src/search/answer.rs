//! The request and the answer of a search.

use super::{
    chats::ChatPlace,
    index::{IndexSize, Parts},
    ranking,
};
use crate::{
    base::{error::Error, limits, path::MemoryPath},
    memory::{Kind, validity::Outdated},
    store::Source,
};
use jiff::Timestamp;
use serde::Serialize;

/// A search request.
#[derive(Debug, Clone)]
pub struct Search {
    /// Any text; see [`crate::search::query::Query`] for its operators.
    pub query: String,
    /// The maximum number of hits, 1 to 100.
    pub max_results: usize,
    /// The minimum score of a hit, 0 to 1.
    pub min_score: f32,
    /// Only this source.
    pub source: Option<Source>,
    /// Only memories of this type.
    pub kind: Option<Kind>,
    /// Only names under this prefix.
    pub under: Option<String>,
    /// Only what is not older than this.
    pub since: Option<Timestamp>,
    /// Whether chats of other projects are searched too.
    pub all_projects: bool,
    /// Whether dated logs lose weight with age.
    pub decay: bool,
    /// Whether every hit explains its rank.
    pub explain: bool,
}

impl Search {
    /// A search with the default settings.
    pub fn new(query: impl Into<String>) -> Self {
        Search {
            query: query.into(),
            max_results: 10,
            min_score: ranking::MIN_SCORE,
            source: None,
            kind: None,
            under: None,
            since: None,
            all_projects: false,
            decay: false,
            explain: false,
        }
    }

    /// Moves `max_results` and `min_score` into their ranges. Returns a note for each that was outside.
    pub(crate) fn clamped(&self) -> (Search, Vec<String>) {
        let (max_results, first) = limits::clamp("max_results", self.max_results, &(1..=limits::SEARCH_RESULTS));
        let min_score = if self.min_score.is_nan() { ranking::MIN_SCORE } else { self.min_score };
        let (min_score, second) = limits::clamp("min_score", min_score, &(0.0..=1.0));
        (Search { max_results, min_score, ..self.clone() }, first.into_iter().chain(second).collect())
    }
}

/// The answer to a search.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// Best first; empty if nothing is relevant.
    pub hits: Vec<Hit>,
    /// The number of hits at or above the minimum score, returned or not.
    pub total: usize,
    /// How the hits were found.
    pub method: Method,
    /// What was searched.
    pub searched: SearchedCounts,
    /// What the reader should know about the answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl From<Error> for Answer {
    fn from(error: Error) -> Self {
        Answer { hits: Vec::new(), total: 0, method: Method::Fts, searched: SearchedCounts::default(), notes: vec![error.to_string()] }
    }
}

/// The number of files and units that were searched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct SearchedCounts {
    /// Files.
    pub files: u64,
    /// Units of these files, which is what is ranked.
    pub units: u64,
}

/// What one mount contributes to searches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MountCounts {
    /// The mount's prefix.
    pub prefix: String,
    /// Its source class.
    pub source: Source,
    /// Its files and units.
    #[serde(flatten)]
    pub counts: SearchedCounts,
    /// The vectors of these units.
    pub vectors: u64,
    /// When the index last changed, or `None` if nothing is indexed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<Timestamp>,
}

/// The state of a mount's index compared with its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IndexState {
    /// The mount's prefix.
    pub prefix: String,
    /// Its source class.
    pub source: Source,
    /// Indexed files.
    pub files: u64,
    /// Units of these files, which is what is ranked.
    pub units: u64,
    /// The size of the index on disk.
    pub size: IndexSize,
    /// Files that are new or may have changed since; the next search indexes them.
    pub changed: usize,
    /// Files that were removed since.
    pub gone: usize,
    /// Files with at least one unit that has no vector yet.
    pub unembedded: u64,
    /// When the index last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_indexed: Option<Timestamp>,
}

/// How the hits of an answer were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// By words and meaning.
    Hybrid,
    /// By words only.
    Fts,
    /// By meaning only: none of the words occurs anywhere.
    Vector,
}

/// Lines of a memory that answer a search.
#[derive(Debug, Clone, Serialize)]
pub struct Hit {
    /// The memory.
    pub path: MemoryPath,
    /// Its lines, 1-based and inclusive; `get` returns exactly `text` for them, unless a secret is redacted.
    pub lines: String,
    /// These lines as they are in the file, with secrets redacted.
    pub text: String,
    /// Whether a secret in these lines was replaced by the name of its rule.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub masked: bool,
    /// The strength of the match, 0 to 1.
    pub score: f32,
    /// The source class of its mount.
    pub source: Source,
    /// The time since the memory was verified or changed.
    pub age: String,
    /// The headings above the lines, from the outermost.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<String>,
    /// The memory's type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Why it ranks behind other memories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outdated: Option<Outdated>,
    /// The memory that matched and that this one supersedes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
    /// The conversation the lines are from, if they are from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat: Option<ChatPlace>,
    /// Why it has this rank.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explain: Option<Explain>,
}

/// Why a hit has its rank.
#[derive(Debug, Clone, Serialize)]
pub struct Explain {
    /// The lines of the whole unit that was ranked; the hit's lines are the best of them. For a hit that replaces another memory, lines
    /// of that memory.
    pub unit: String,
    /// The lexical signals, before they are weighted.
    pub parts: Parts,
    /// Whether it is an assistant's turn; these weigh less.
    pub assistant: bool,
    /// The score of a perfect match of every word.
    pub mass: f32,
    /// The cosine with the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cosine: Option<f32>,
    /// Whether only the cosine counts, because it shares no word with the query.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub by_meaning: bool,
    /// The sum of words and meaning, before it becomes a score: `sum / (sum + half)`.
    pub sum: f32,
    /// The sum at which the score is one half.
    pub half: f32,
    /// The factor by which the age of a log reduces the score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decay: Option<f32>,
    /// Its own score, if that is higher than the score of a memory above it, to which the hit is limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_score: Option<f32>,
    /// The query's words with the number of units that have each.
    pub terms: Vec<(String, u64)>,
}

impl Explain {
    /// Explains the rank in three lines: the signals, the score they add up to, and the words with how common they are.
    pub fn lines(&self) -> Vec<String> {
        let parts = &self.parts;
        let signals = [
            ("text", parts.body),
            ("title", parts.title),
            ("adjacent words", parts.pair),
            ("identifiers", parts.code),
            ("neighbour", parts.neighbour),
            ("whole file", parts.parent),
            ("entrypoint line", parts.pointer),
            ("cues", parts.cue),
            ("date", parts.date),
        ];
        let signals: Vec<String> =
            signals.iter().filter(|(_, value)| *value > 0.0).map(|(name, value)| format!("{name} {value:.2}")).collect();
        let terms: Vec<String> = self.terms.iter().map(|(term, units)| format!("{term} ({units})")).collect();
        let cosine = self.cosine.map_or(String::new(), |cosine| format!(", cosine {cosine:.2}"));
        let role = if self.assistant { ", assistant message" } else { "" };
        let signals = if self.by_meaning { "no shared words, similar in meaning".to_owned() } else { signals.join(", ") };
        let Explain { mass, sum, half, .. } = self;
        let mut score = format!("maximum {mass:.2}{cosine}; score {:.2} = {sum:.3} / ({sum:.3} + {half:.2})", sum / (sum + half));
        if let Some(decay) = self.decay {
            score.push_str(&format!(", times {decay:.2} for age"));
        }
        if let Some(own) = self.own_score {
            score.push_str(&format!("; lowered from {own:.2} to the score of a result that ranks higher"));
        }
        vec![format!("unit {}{role}: {signals}", self.unit), score, format!("terms (units): {}", terms.join(", "))]
    }
}
