//! The questions of a message. Scored by all words of a message, the one sentence that matters would be lost in the rest; so each
//! sentence asks on its own, with the rarest of its words that occur in any memory.

use super::is_small_number;
use crate::{base::limits, search::ranking::idf};

/// A word of a sentence, as the search index has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionWord {
    /// The stem that is looked up.
    pub stem: String,
    /// Whether it is a stop word or a function word.
    pub stop: bool,
    /// Whether it is an everyday word.
    pub everyday: bool,
}

/// The question of one sentence.
#[derive(Debug, Clone, PartialEq)]
pub struct Question<'a> {
    /// The sentence.
    pub sentence: &'a str,
    /// Its rarest known stems, in the order of the sentence, each once.
    pub terms: Vec<String>,
    /// The sum of their inverse document frequencies.
    pub weight: f32,
    /// Whether all its words are everyday words, so that it asks with those.
    pub everyday: bool,
}

/// Returns the questions of a message, the heaviest first; a sentence without known words asks nothing. `words` splits a sentence
/// as the index does, `df` returns the number of the `units` in which a stem occurs.
pub fn questions<'a>(
    message: &'a str,
    units: u64,
    words: &mut dyn FnMut(&str) -> Vec<QuestionWord>,
    df: &mut dyn FnMut(&str) -> u64,
) -> Vec<Question<'a>> {
    let mut asked: Vec<Question<'a>> = Vec::new();
    for sentence in sentences(message) {
        let question = ask(sentence, units, words(sentence), df);
        if !question.terms.is_empty() && asked.iter().all(|other| other.terms != question.terms) {
            asked.push(question);
        }
    }
    asked.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    asked.truncate(limits::RECALL_SENTENCES);
    asked
}

/// The question of a sentence: its topical words. A sentence of everyday words only ("how do I run the tests") asks with those if
/// there are at least two: "continue" is not a question. A small number asks only beside a word that it may count.
fn ask<'a>(sentence: &'a str, units: u64, words: Vec<QuestionWord>, df: &mut dyn FnMut(&str) -> u64) -> Question<'a> {
    let everyday = words.iter().all(|word| word.stop || word.everyday || is_small_number(&word.stem));
    let asks = |word: &QuestionWord| !word.stop && if is_small_number(&word.stem) { !everyday } else { word.everyday == everyday };
    let mut known: Vec<(usize, String, f32)> = Vec::new();
    for (at, word) in words.into_iter().enumerate().filter(|(_, word)| asks(word)) {
        let found = df(&word.stem);
        if found > 0 && known.iter().all(|(_, stem, _)| *stem != word.stem) {
            known.push((at, word.stem, idf(units, found)));
        }
    }
    let content_words = known.iter().filter(|(_, stem, _)| !is_small_number(stem)).count();
    if content_words < if everyday { 2 } else { 1 } {
        known.clear();
    }
    known.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.0.cmp(&b.0)));
    known.truncate(limits::RECALL_TERMS);
    let weight = known.iter().map(|(_, _, rarity)| rarity).sum();
    known.sort_by_key(|(at, ..)| *at);
    Question { sentence, terms: known.into_iter().map(|(_, stem, _)| stem).collect(), weight, everyday }
}

/// Splits a message into sentences at sentence marks, line ends and list items. Names with dots in them stay whole.
pub fn sentences(message: &str) -> impl Iterator<Item = &str> {
    message.lines().flat_map(parts).map(str::trim).filter(|part| part.contains(char::is_alphanumeric))
}

fn parts(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.char_indices().find_map(|(at, c)| sentence_end(rest, at, c)).unwrap_or(rest.len());
        let part = &rest[..end];
        rest = &rest[end..];
        Some(part)
    })
}

/// The end of the sentence if the character at `at` ends it.
fn sentence_end(text: &str, at: usize, c: char) -> Option<usize> {
    let end = at + c.len_utf8();
    match c {
        '。' | '！' | '？' => Some(end),
        '.' | '!' | '?' | ';' => (text[end..].is_empty() || text[end..].starts_with(char::is_whitespace)).then_some(end),
        _ => None,
    }
}
