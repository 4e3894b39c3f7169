//! The memories that a whole message is about.

use super::{
    RecallFeatures, opt_out,
    score::{ScoredRow, Scores},
    table::RecallTable,
};
use crate::{
    base::path::MemoryPath,
    search::analysis::{Analyser, pasted},
};
use serde::Serialize;

/// A memory that matches a message.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageMatch {
    /// The memory.
    pub path: MemoryPath,
    /// Why it matches.
    pub features: RecallFeatures,
    /// The words of the message that it has, as stems with their weights, the weightiest first.
    pub matched: Vec<(String, f32)>,
}

impl MessageMatch {
    /// Returns the first line, counted from 0, of the paragraph that has most of the matched words.
    pub(crate) fn best_line(&self, text: &str) -> usize {
        let mut analyser = Analyser::default();
        let (mut best, mut first, mut seen) = ((0.0, 0), 0, Vec::new());
        for (at, line) in text.lines().chain([""]).enumerate() {
            if line.trim().is_empty() {
                let weight: f32 = self.matched.iter().filter(|(stem, _)| seen.contains(stem)).map(|(_, weight)| weight).sum();
                if weight > best.0 {
                    best = (weight, first);
                }
                (first, seen) = (at + 1, Vec::new());
            } else {
                seen.extend(analyser.split_words(line).into_iter().map(|word| word.stem));
            }
        }
        best.1
    }
}

/// Returns the memories that a message is about, best first. Conversations, entrypoints and their pages do not count.
pub fn matching_memories(table: &RecallTable, message: &str) -> Vec<MessageMatch> {
    if opt_out::asks_for_none(message) {
        return Vec::new();
    }
    let scores = scores(table, message);
    scores.recalled().iter().filter_map(|one| to_match(table, &scores, one)).collect()
}

/// Why a memory is recalled for a message, or not.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecallExplanation {
    /// The name of the memory.
    pub name: String,
    /// What was decided.
    pub verdict: RecallVerdict,
    /// What the score is made of.
    #[serde(flatten)]
    pub features: RecallFeatures,
    /// What is missing to be recalled; 0 for a recalled memory.
    pub missing: f32,
    /// The words of the message that it has, as stems with their weights, the weightiest first.
    pub matched: Vec<(String, f32)>,
    /// Why another memory is shown in its place, or why it comes after the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validity: Option<String>,
}

/// What was decided about a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecallVerdict {
    /// It is recalled, if the budget allows.
    Recalled,
    /// Its score is below 0.
    BelowThreshold,
    /// Another memory fits so much better that this one is probably beside the point.
    FarBelowBest,
    /// It has no word of the message.
    NothingInCommon,
    /// The message asks to be answered without memories.
    MemoryIgnored,
    /// It is pinned: recalled with every message, if the budget allows.
    Pinned,
    /// It is archived, or not a memory.
    NeverRecalled,
}

/// Explains the decision for every memory that has a word of the message, best first, and for `name` in any case.
pub fn explain(table: &RecallTable, message: &str, name: Option<&MemoryPath>) -> Vec<RecallExplanation> {
    let scores = scores(table, message);
    let cutoff = scores.cutoff();
    let ignored = opt_out::asks_for_none(message);
    let matches = scores.all().iter().filter_map(|one| to_match(table, &scores, one));
    let mut explained: Vec<RecallExplanation> = matches.map(|found| explanation(found, cutoff, ignored)).collect();
    if let Some(name) = name.filter(|name| explained.iter().all(|one| one.name != name.name())) {
        let verdict = if ignored { RecallVerdict::MemoryIgnored } else { RecallVerdict::NothingInCommon };
        let features = RecallFeatures::default();
        explained.push(RecallExplanation {
            name: name.name().to_owned(),
            verdict,
            features,
            missing: cutoff,
            matched: Vec::new(),
            validity: None,
        });
    }
    explained
}

fn explanation(found: MessageMatch, cutoff: f32, ignored: bool) -> RecallExplanation {
    let missing = (cutoff - found.features.score).max(0.0);
    let verdict = match found.features.score {
        _ if ignored => RecallVerdict::MemoryIgnored,
        score if score < 0.0 => RecallVerdict::BelowThreshold,
        _ if missing > 0.0 => RecallVerdict::FarBelowBest,
        _ => RecallVerdict::Recalled,
    };
    RecallExplanation {
        name: found.path.name().to_owned(),
        verdict,
        features: found.features,
        missing,
        matched: found.matched,
        validity: None,
    }
}

impl RecallExplanation {
    /// The verdict in words.
    pub fn verdict_text(&self) -> String {
        let verdict = match self.verdict {
            RecallVerdict::Recalled => "recalled".to_owned(),
            RecallVerdict::BelowThreshold => format!("not recalled: {:.2} below the threshold", -self.features.score),
            RecallVerdict::FarBelowBest => format!("not recalled: {:.2} below the cutoff relative to the best memory", self.missing),
            RecallVerdict::NothingInCommon => "not recalled: shares no words with the message".to_owned(),
            RecallVerdict::MemoryIgnored => "not recalled: the message asks to ignore memory".to_owned(),
            RecallVerdict::Pinned => "recalled: pinned".to_owned(),
            RecallVerdict::NeverRecalled => "not recalled: archived memories and files that are not memories are never recalled".to_owned(),
        };
        match &self.validity {
            Some(validity) => format!("{verdict}; {validity}"),
            None => verdict,
        }
    }
}

fn scores<'a>(table: &'a RecallTable, message: &str) -> Scores<'a> {
    // Of a pasted log line each string is a sentence.
    let unfolded = pasted::unfold(message);
    Scores::new(table, unfolded.as_deref().unwrap_or(message))
}

fn to_match(table: &RecallTable, scores: &Scores<'_>, one: &ScoredRow) -> Option<MessageMatch> {
    Some(MessageMatch { path: table.path(one.row)?, features: one.features, matched: scores.matched(one) })
}
