//! How a unit's signals become one score from 0 to 1. Pure; every number has its reason, and none is for one kind of text.
//!
//! Words are weighed by BM25 in each field, summed, and divided by the query's idf mass: what a perfect match of every
//! word would bring. Only then can a cosine be added with one weight for all, and only then is the sum a score with a cut.

use crate::search::index::{Counts, Parts, TermCount};

/// How soon repeating a word stops to matter.
const K1: f32 = 1.2;
/// How much a long text must repeat a word to match as well as a short one.
const B: f32 = 0.75;
/// How many times the average a text's length can count: beyond that it is a table or a listing, and how long it is says
/// nothing about how well its words fit.
const LONGEST: f32 = 4.0;
/// The most one word can bring, in units of its idf.
const MOST: f32 = K1 + 1.0;

/// Weights of the signals beside a unit's own words.
const PAIR: f32 = 0.3;
const TITLE: f32 = 0.3;
const CODE: f32 = 1.0;
const NEIGHBOUR: f32 = 0.25;
const PARENT: f32 = 0.7;
/// An entrypoint line speaks for the whole file it names, as the file's own words do.
const POINTER: f32 = 0.7;
const DATE: f32 = 2.5;
/// An assistant's turn says less about a person than their own.
const ASSISTANT: f32 = 0.6;
const ASSISTANT_COSINE: f32 = 0.7;

/// The default minimum score: below it nothing is relevant.
pub const MIN_SCORE: f32 = MIN_SCORE_F64 as f32;
/// [`MIN_SCORE`] for JSON, in which the `f32` would be 0.3499999940395355.
pub const MIN_SCORE_F64: f64 = 0.35;
/// How much such an answer's score grows with its cosine: it stays below nearly every answer that shares words.
const DOOR_SLOPE: f32 = 0.05;

/// How cosines enter the score, by the kind of embedder.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// The weight of a cosine.
    pub cosine: f32,
    /// The sum at which the score is one half; chosen so that [`MIN_SCORE`] keeps 97 of 100 right first answers.
    pub half: f32,
    /// The cosine from which a unit that shares no word with the query is an answer nevertheless.
    pub door: Option<f32>,
}

impl Scale {
    /// Without vectors.
    pub const WORDS: Scale = Scale { cosine: 0.0, half: 0.28, door: None };
    /// With the vectors of a static model.
    pub const STATIC: Scale = Scale { cosine: 0.3, half: 0.42, door: Some(0.26) };
    /// With the vectors of a sentence encoder.
    pub const ENCODER: Scale = Scale { cosine: 0.4, half: 0.69, door: None };
}

/// How rare a word is: `holding` of `all` have it.
pub fn idf(all: u64, holding: u64) -> f32 {
    let (all, holding) = (all.max(holding) as f32, holding as f32);
    (1.0 + (all - holding + 0.5) / (holding + 0.5)).ln()
}

/// A field's share of BM25: how often a word stands in it, against its length and the average length.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    per_word: f32,
    most: f32,
}

impl Field {
    /// A field that has `words` in `all` texts.
    pub fn new(words: u64, all: u64) -> Self {
        let average = if words == 0 { 1.0 } else { words as f32 / all.max(1) as f32 };
        Field { per_word: K1 * B / average, most: K1 * B * LONGEST }
    }

    /// What a word that occurs `times` in a text of `length` words brings, in units of its idf.
    #[inline]
    pub fn term(self, times: u32, length: u32) -> f32 {
        let times = times as f32;
        times * MOST / (times + K1 * (1.0 - B) + (self.per_word * length as f32).min(self.most))
    }
}

/// As [`Field::term`] where length says nothing.
pub fn flat_term(times: u32) -> f32 {
    let times = times as f32;
    times * MOST / (times + K1)
}

/// What a perfect match of every word would bring.
pub fn mass(counts: &Counts) -> f32 {
    // A word that stands in titles only is not unknown.
    let holding = |term: &TermCount| if term.body + term.code > 0 { term.body.max(term.code) } else { term.title };
    let idf_of = |term: &TermCount| idf(counts.totals.units, holding(term));
    MOST * counts.terms.iter().map(idf_of).sum::<f32>()
}

/// What a perfect match of one word of this rarity brings to a unit's own words.
pub fn perfect(idf: f32) -> f32 {
    MOST * idf
}

/// All signals of words, weighed.
pub fn words(parts: &Parts, assistant: bool) -> f32 {
    let role = if assistant { ASSISTANT } else { 1.0 };
    role * (parts.body + PAIR * parts.pair + TITLE * parts.title + CODE * parts.code)
        + NEIGHBOUR * parts.neighbour
        + PARENT * parts.parent
        + POINTER * parts.pointer
        + DATE * parts.date
}

/// What [`words`] cannot exceed: of a unit whose body, title, pairs and codes bring `own`.
#[inline]
pub fn words_at_most(own: &[f32; 4], neighbour: f32, parent: f32, pointer: f32, timed: bool) -> f32 {
    let date = if timed { 2.0 * DATE } else { 0.0 };
    // Rounding may put the exact sum a little higher.
    1.0001 * (own[0] + own[1] + own[2] + own[3] + NEIGHBOUR * neighbour + PARENT * parent + POINTER * pointer + date)
}

/// The sum of words and meaning, before it becomes a score.
pub fn sum(parts: &Parts, assistant: bool, mass: f32, cosine: Option<f32>, scale: Scale) -> f32 {
    let words = if mass > 0.0 { words(parts, assistant) / mass } else { 0.0 };
    let role = if assistant { ASSISTANT_COSINE } else { 1.0 };
    words + scale.cosine * role * cosine.unwrap_or(0.0)
}

/// The score, 0 to 1: how strong the match is. Not how likely it is right.
pub fn score(parts: &Parts, assistant: bool, mass: f32, cosine: Option<f32>, scale: Scale) -> f32 {
    let sum = sum(parts, assistant, mass, cosine, scale).max(0.0);
    let score = sum / (sum + scale.half);
    match (cosine, scale.door) {
        (Some(cosine), Some(door)) if cosine >= door && !shares_words(parts) => score.max(MIN_SCORE + DOOR_SLOPE * (cosine - door)),
        _ => score,
    }
}

/// Whether a unit has a word of the query, of its own or in its title.
pub fn shares_words(parts: &Parts) -> bool {
    parts.body > 0.0 || parts.title > 0.0 || parts.code > 0.0
}
