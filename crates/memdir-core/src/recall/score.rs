//! How well a memory fits a message. A message is not a query: each of its sentences is scored alone, and the best one counts. The
//! coefficients were fitted to labelled prompts of developers; `docs/explanation` has the numbers.

use super::{
    message_words::{MessageWords, WordKind},
    store_words::{StemMatch, StoreWords},
    table::{ABOUT, BODY, LINE, NAME, PART, RecallTable, RowDetails},
};
use serde::Serialize;

/// The number of memories below which the threshold does not depend on the size of the store.
const SMALL_STORE: f32 = 60.0;
/// A memory this far below the best one is not shown beside it.
const BELOW_BEST: f32 = 3.0;
/// More sentences than this do not raise the threshold further: the question in a long message is no less a question.
const MANY_SENTENCES: f32 = 8.0;

/// The terms of a score, and what a memory needs to be recalled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct RecallFeatures {
    /// The share of the sentence's weight that the memory has.
    pub cover: f32,
    /// The weight of the matched words, at most 3.
    pub mass: f32,
    /// The share of the memory's name that the sentence has. In JSON the name itself is beside it.
    #[serde(rename = "name_share")]
    pub name: f32,
    /// The share of its best cue that the sentence has.
    pub cue: f32,
    /// The number of sentences that could ask for something.
    pub sentences: usize,
    /// The sum: a memory is recalled from 0 on.
    pub score: f32,
}

impl RecallFeatures {
    /// Adds up the terms, and takes off what the message asks of every memory.
    fn sum(mut self, has_cues: bool, asked: f32) -> Self {
        let terms = 5.5 * self.cover + 2.9 * self.mass + 2.8 * self.name + 2.0 * self.cue;
        let threshold = if has_cues { 5.8 } else { 5.35 };
        self.score = terms - asked - threshold;
        self
    }
}

/// What a message asks of every memory: more, the more sentences it has and the more memories there are.
fn asked_of_all(sentences: usize, memories: usize) -> f32 {
    let size = 0.15 * ((memories as f32).max(SMALL_STORE) / SMALL_STORE).ln();
    0.7 * (sentences as f32).min(MANY_SENTENCES).ln() + size
}

/// A memory with its score.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScoredRow {
    /// Its position in the table.
    pub(super) row: usize,
    pub(super) features: RecallFeatures,
    /// The sentence that it fits best.
    sentence: usize,
}

/// The memories that share a word with a message, with their scores.
pub(super) struct Scores<'a> {
    store: StoreWords<'a>,
    hits: Hits,
    /// Best first.
    rows: Vec<ScoredRow>,
}

impl<'a> Scores<'a> {
    /// Scores all memories that share a word with a message.
    pub(super) fn new(table: &'a RecallTable, message: &str) -> Scores<'a> {
        let store = StoreWords::read(table, MessageWords::read(message));
        let hits = Hits::find(&store);
        let mut rows = Scorer::new(&store).score(&hits);
        rows.sort_by(|a, b| b.features.score.total_cmp(&a.features.score).then(a.row.cmp(&b.row)));
        Scores { store, hits, rows }
    }

    /// All of them, best first.
    pub(super) fn all(&self) -> &[ScoredRow] {
        &self.rows
    }

    /// Those that are recalled.
    pub(super) fn recalled(&self) -> &[ScoredRow] {
        let cutoff = self.cutoff();
        &self.rows[..self.rows.iter().take_while(|one| one.features.score >= cutoff).count()]
    }

    /// The score that a memory needs beside the best one.
    pub(super) fn cutoff(&self) -> f32 {
        self.rows.first().map_or(0.0, |best| (best.features.score - BELOW_BEST).max(0.0))
    }

    /// The words of the message that a memory has, the weightiest first.
    pub(super) fn matched(&self, one: &ScoredRow) -> Vec<(String, f32)> {
        let words = &self.store.message.words;
        let of_sentence = |hit: &&Hit| words[hit.word].sentences & (1 << one.sentence) != 0 && words[hit.word].kind != WordKind::Number;
        let hits = self.hits.of_row(one.row).iter().filter(of_sentence);
        let mut matched: Vec<(String, f32)> = hits.map(|hit| (words[hit.word].stem.clone(), hit.value * hit.field)).collect();
        matched.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        matched
    }
}

/// A word of the message in a memory.
#[derive(Clone, Copy, Default)]
struct Hit {
    /// The stem.
    id: u32,
    /// The word of the message.
    word: usize,
    is_in_name: bool,
    /// What the word is worth.
    value: f32,
    /// How much the field counts that it is in.
    field: f32,
}

/// The words of the message in all memories: one list, by row and then by stem.
struct Hits {
    hits: Vec<Hit>,
    /// For each row: where its hits end.
    ends: Vec<usize>,
}

impl Hits {
    fn find(store: &StoreWords<'_>) -> Hits {
        let asked = asked(&store.matches);
        let mut next = vec![0; store.view.rows()];
        for posting in asked.iter().flat_map(|(id, _)| store.view.postings(*id)) {
            if store.body_factor(posting.row).is_some() {
                next[posting.row as usize] += 1;
            }
        }
        let mut total = 0;
        for count in &mut next {
            total += std::mem::replace(count, total);
        }
        let mut hits = vec![Hit::default(); total];
        for (id, word) in asked {
            let weight = store.weight(id) * script_factor(store, word);
            let certainty = store.matches[word].certainty();
            let (whole, part) = (certainty * weight, certainty.min(0.5) * weight);
            for posting in store.view.postings(id) {
                let Some(body) = store.body_factor(posting.row) else { continue };
                let field = match posting.places {
                    places if places & (NAME | ABOUT | LINE) != 0 => 1.0,
                    places if places & BODY != 0 => 0.9 * body,
                    _ => 0.8,
                };
                let value = if posting.places & PART != 0 { part } else { whole };
                let at = &mut next[posting.row as usize];
                hits[*at] = Hit { id, word, is_in_name: posting.places & NAME != 0, value, field };
                *at += 1;
            }
        }
        // What was the next place of each row is its end now.
        Hits { hits, ends: next }
    }

    fn of_row(&self, row: usize) -> &[Hit] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.hits[start..self.ends[row]]
    }
}

/// The stems that the message asks for, in their order, each with the word that means it most certainly.
fn asked(matches: &[StemMatch]) -> Vec<(u32, usize)> {
    let known = |(word, meaning): (usize, &StemMatch)| match meaning {
        StemMatch::Known { id, .. } => Some((*id, word)),
        StemMatch::Unknown | StemMatch::Ignored => None,
    };
    let mut asked: Vec<(u32, usize)> = matches.iter().enumerate().filter_map(known).collect();
    asked.sort_by(|a, b| a.0.cmp(&b.0).then(matches[b.1].certainty().total_cmp(&matches[a.1].certainty())).then(a.1.cmp(&b.1)));
    asked.dedup_by_key(|(id, _)| *id);
    asked
}

fn script_factor(store: &StoreWords<'_>, word: usize) -> f32 {
    if store.message.words[word].kind == WordKind::Pair { 0.35 } else { 1.0 }
}

/// Scores one memory after the other.
struct Scorer<'a> {
    store: &'a StoreWords<'a>,
    /// For each sentence: what a memory would have to match.
    weights: Vec<f32>,
    /// What the message asks of every memory.
    asked: f32,
    /// For each sentence: what the memory at hand matches. Only what it touched is valid.
    sums: Vec<SentenceSums>,
}

/// What a memory matches of a sentence.
#[derive(Clone, Copy, Default)]
struct SentenceSums {
    mass: f32,
    number: f32,
    in_name: f32,
    /// The best cue so far.
    cue: f32,
    /// Of the cue at hand: the weight and the number of matched words.
    of_cue: (f32, usize),
}

impl<'a> Scorer<'a> {
    fn new(store: &'a StoreWords<'a>) -> Self {
        let weights: Vec<f32> = store.message.sentences.iter().map(|ids| sentence_weight(store, ids)).collect();
        let sums = vec![SentenceSums::default(); weights.len()];
        Scorer { store, weights, asked: asked_of_all(store.message.count, store.memories), sums }
    }

    fn score(mut self, hits: &Hits) -> Vec<ScoredRow> {
        (0..hits.ends.len()).filter_map(|row| self.row(row, hits.of_row(row))).collect()
    }

    /// The score of a memory by the sentence it fits best; `None` if it has nothing in common with any.
    fn row(&mut self, row: usize, hits: &[Hit]) -> Option<ScoredRow> {
        let store = self.store;
        let touched = self.add(hits);
        if touched == 0 {
            return None;
        }
        let details = store.view.details(row);
        let name_weight = details.name.iter().map(|id| store.weight(*id)).sum::<f32>().max(0.5);
        self.match_cues(hits, details, touched);
        let has_cues = details.cues().len() > 0;
        let least = if store.message.count == 1 { 0.6 } else { 1.2 };
        let mut best: Option<ScoredRow> = None;
        for sentence in bits(touched) {
            let sums = self.sums[sentence];
            if sums.mass <= 0.0 {
                continue;
            }
            let mass = sums.mass + sums.number;
            let features = RecallFeatures {
                cover: (mass / self.weights[sentence].max(least)).min(1.0),
                mass: mass.min(3.0),
                name: (sums.in_name / name_weight).min(1.0),
                cue: sums.cue,
                sentences: store.message.count,
                score: 0.0,
            };
            let features = features.sum(has_cues, self.asked);
            if best.is_none_or(|best| features.score > best.features.score) {
                best = Some(ScoredRow { row, features, sentence });
            }
        }
        best
    }

    /// Adds up the hits of a memory by sentence. Returns the sentences that have any, a bit for each.
    fn add(&mut self, hits: &[Hit]) -> u64 {
        let mut touched = 0;
        for hit in hits {
            let word = &self.store.message.words[hit.word];
            for sentence in bits(word.sentences) {
                let sums = &mut self.sums[sentence];
                if touched & (1 << sentence) == 0 {
                    *sums = SentenceSums::default();
                }
                if word.kind == WordKind::Number {
                    sums.number += 0.5 * hit.value * hit.field;
                } else {
                    sums.mass += hit.value * hit.field;
                    sums.in_name += if hit.is_in_name { hit.value } else { 0.0 };
                }
            }
            touched |= word.sentences;
        }
        touched
    }

    /// Finds the share of its best cue that each sentence has. One word of several is chance.
    fn match_cues(&mut self, hits: &[Hit], details: RowDetails<'_>, touched: u64) {
        let words = &self.store.message.words;
        for cue in details.cues() {
            let found = cue.iter().filter_map(|id| hits.binary_search_by_key(id, |hit| hit.id).ok());
            let mut any = 0;
            for hit in found.map(|at| hits[at]).filter(|hit| words[hit.word].kind != WordKind::Number) {
                for sentence in bits(words[hit.word].sentences) {
                    let of_cue = &mut self.sums[sentence].of_cue;
                    *of_cue = (of_cue.0 + hit.value, of_cue.1 + 1);
                }
                any |= words[hit.word].sentences;
            }
            if any == 0 {
                continue;
            }
            let whole = cue.iter().map(|id| self.store.weight(*id)).sum::<f32>().max(0.5);
            for sentence in bits(any & touched) {
                let sums = &mut self.sums[sentence];
                let (matched, count) = std::mem::take(&mut sums.of_cue);
                if count > 1 || cue.len() == 1 {
                    sums.cue = sums.cue.max((matched / whole).min(1.0));
                }
            }
        }
    }
}

/// The weight of all words of a sentence: what a memory would have to match.
fn sentence_weight(store: &StoreWords<'_>, ids: &[usize]) -> f32 {
    let is_foreign = store.message.is_foreign;
    let (mut known, mut unknown) = (0.0, 0.0);
    for at in ids {
        let word = &store.message.words[*at];
        match (word.kind, store.matches[*at]) {
            (WordKind::Number | WordKind::Part, _) | (_, StemMatch::Ignored) => {}
            (_, StemMatch::Known { id, .. }) => known += store.weight(id) * script_factor(store, *at),
            (WordKind::Pair, StemMatch::Unknown) if is_foreign => unknown += 0.08,
            (_, StemMatch::Unknown) if is_foreign => unknown += 0.05,
            (_, StemMatch::Unknown) => unknown += store.unknown_weight(&word.stem),
        }
    }
    if is_foreign {
        unknown = unknown.min(0.6);
    }
    known + unknown
}

/// The positions of the bits that are set, in order.
fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(at)
    })
}
