//! Combines the signals of a unit into one score from 0 to 1. Pure; every number has its reason, and none is for one kind of text.
//!
//! Words are weighted by BM25 in each field, summed, and divided by the query's idf mass, which is the score of a perfect match of
//! every word. Only after that can a cosine be added with one weight for all queries, and can the sum have a threshold.

use crate::search::index::{Counts, Parts, TermCount};

/// BM25's k1: how soon repetitions of a word stop to matter.
const K1: f32 = 1.2;
/// BM25's b: how much the length of a text matters.
const B: f32 = 0.75;
/// The maximum length of a text that counts, in multiples of the average: a longer text is a table or a listing, and its length says
/// nothing about how well its words match.
const MAX_LENGTH: f32 = 4.0;
/// The maximum contribution of one word, in units of its idf.
const MAX_TERM: f32 = K1 + 1.0;

/// The weights of the signals besides a unit's own words.
const PAIR: f32 = 0.3;
const TITLE: f32 = 0.3;
const CODE: f32 = 1.0;
const NEIGHBOUR: f32 = 0.25;
const PARENT: f32 = 0.7;
/// An entrypoint line describes the whole file that it names, as the file's own words do.
const POINTER: f32 = 0.7;
/// A cue says in which words the file is needed, so its words weigh as much as those of the text. Of 32 paraphrases, search finds 28
/// with 1.0, 26 with 0.8, and 18 without cues.
const CUE: f32 = 1.0;
const DATE: f32 = 2.5;
/// An assistant's turn says less about a person than the person's own turn.
const ASSISTANT: f32 = 0.6;
const ASSISTANT_COSINE: f32 = 0.7;

/// The default minimum score: below it nothing is relevant.
pub const MIN_SCORE: f32 = MIN_SCORE_F64 as f32;
/// [`MIN_SCORE`] for JSON, in which the `f32` would be 0.3499999940395355.
pub const MIN_SCORE_F64: f64 = 0.35;
/// The growth of the score with the cosine of a unit that shares no word with the query: it stays below nearly every hit that does.
const MEANING_SLOPE: f32 = 0.05;

/// How cosines enter the score, by the kind of embedder.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// The weight of a cosine.
    pub cosine: f32,
    /// The sum at which the score is one half; chosen so that [`MIN_SCORE`] keeps 97 of 100 correct first hits.
    pub half: f32,
    /// The minimum cosine of a hit that shares no word with the query.
    pub min_cosine: Option<f32>,
}

impl Scale {
    /// Without vectors.
    pub const WORDS: Scale = Scale { cosine: 0.0, half: 0.28, min_cosine: None };
    /// With the vectors of a static model.
    pub const STATIC: Scale = Scale { cosine: 0.3, half: 0.42, min_cosine: Some(0.26) };
    /// With the vectors of a sentence encoder.
    pub const ENCODER: Scale = Scale { cosine: 0.4, half: 0.69, min_cosine: None };
}

/// The inverse document frequency of a word that `holding` of `all` texts have.
pub fn idf(all: u64, holding: u64) -> f32 {
    let (all, holding) = (all.max(holding) as f32, holding as f32);
    (1.0 + (all - holding + 0.5) / (holding + 0.5)).ln()
}

/// The BM25 weight of a word in a field, by its frequency, the field's length and the average length.
#[derive(Debug, Clone, Copy)]
pub struct FieldWeight {
    per_word: f32,
    most: f32,
}

impl FieldWeight {
    /// Creates the weight of a field with `words` words in `all` texts.
    pub fn new(words: u64, all: u64) -> Self {
        let average = if words == 0 { 1.0 } else { words as f32 / all.max(1) as f32 };
        FieldWeight { per_word: K1 * B / average, most: K1 * B * MAX_LENGTH }
    }

    /// The contribution of a word that occurs `times` in a text of `length` words, in units of its idf.
    #[inline]
    pub fn term(self, times: u32, length: u32) -> f32 {
        let times = times as f32;
        times * MAX_TERM / (times + K1 * (1.0 - B) + (self.per_word * length as f32).min(self.most))
    }
}

/// Like [`FieldWeight::term`], without regard to length.
pub fn flat_term(times: u32) -> f32 {
    let times = times as f32;
    times * MAX_TERM / (times + K1)
}

/// The score of a perfect match of every word.
pub fn perfect_score(counts: &Counts) -> f32 {
    MAX_TERM * counts.terms.iter().map(|term| term_idf(counts.totals.units, term)).sum::<f32>()
}

/// The inverse document frequency of a word over all fields.
pub fn term_idf(units: u64, term: &TermCount) -> f32 {
    // A word that occurs only in titles or cues is not unknown.
    let holding = if term.body + term.code > 0 { term.body.max(term.code) } else { term.title.max(term.cue) };
    idf(units, holding)
}

/// The score of a perfect match of one word with this idf.
pub fn perfect_word_score(idf: f32) -> f32 {
    MAX_TERM * idf
}

/// The weighted sum of the lexical signals.
pub fn lexical_score(parts: &Parts, assistant: bool) -> f32 {
    let role = if assistant { ASSISTANT } else { 1.0 };
    role * (parts.body + PAIR * parts.pair + TITLE * parts.title + CODE * parts.code)
        + NEIGHBOUR * parts.neighbour
        + PARENT * parts.parent
        + POINTER * parts.pointer
        + CUE * parts.cue
        + DATE * parts.date
}

/// An upper bound of [`lexical_score`] for a unit whose body, title, pairs and codes contribute `own`, and whose file's words, pointers
/// and cues contribute `file`.
#[inline]
pub fn words_at_most(own: &[f32; 4], neighbour: f32, file: &[f32; 3], timed: bool) -> f32 {
    let [parent, pointer, cue] = file;
    let date = if timed { 2.0 * DATE } else { 0.0 };
    // Rounding may make the exact sum a little larger.
    1.0001 * (own[0] + own[1] + own[2] + own[3] + NEIGHBOUR * neighbour + PARENT * parent + POINTER * pointer + CUE * cue + date)
}

/// The sum of words and meaning, before it becomes a score. It is never negative.
pub fn sum(parts: &Parts, assistant: bool, mass: f32, cosine: Option<f32>, scale: Scale) -> f32 {
    let words = if mass > 0.0 { lexical_score(parts, assistant) / mass } else { 0.0 };
    let role = if assistant { ASSISTANT_COSINE } else { 1.0 };
    let sum = words + scale.cosine * role * cosine.unwrap_or(0.0);
    by_meaning(parts, cosine, scale).map_or(sum, |least| sum.max(least)).max(0.0)
}

/// The sum of a unit that shares no word with the query and is near enough in meaning to be a hit all the same.
pub fn by_meaning(parts: &Parts, cosine: Option<f32>, scale: Scale) -> Option<f32> {
    let above = cosine? - scale.min_cosine?;
    let score = MIN_SCORE + MEANING_SLOPE * above;
    // The inverse of the last step of `score`; a little more, so that rounding leaves the score above the minimum.
    (above >= 0.0 && !shares_words(parts)).then_some(1.0001 * scale.half * score / (1.0 - score))
}

/// The score from 0 to 1: the strength of the match, not the probability that it is right.
pub fn score(parts: &Parts, assistant: bool, mass: f32, cosine: Option<f32>, scale: Scale) -> f32 {
    let sum = sum(parts, assistant, mass, cosine, scale);
    sum / (sum + scale.half)
}

/// Whether the cues of a file count for one of its units: the first, or one with words of the query. Otherwise all units of a long file
/// would be hits of one cue, with the same score.
pub fn has_cues(is_first: bool, body: f32, code: f32) -> bool {
    is_first || body > 0.0 || code > 0.0
}

/// Whether a unit has a word of the query, of its own or in its title.
pub fn shares_words(parts: &Parts) -> bool {
    parts.body > 0.0 || parts.title > 0.0 || parts.code > 0.0
}
