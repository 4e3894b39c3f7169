//! What a message asks. A message is not a question: scored by the mass of all its words, the one sentence that matters drowns
//! in the rest. So each sentence asks on its own, with the rarest of its words that any memory knows.

use super::is_small_number;
use crate::base::limits;

/// A word of a sentence, as the search index knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// What is looked up.
    pub stem: String,
    /// Whether it says nothing by itself.
    pub stop: bool,
    /// Whether people use it whatever they speak of.
    pub everyday: bool,
}

/// What one sentence asks.
#[derive(Debug, Clone, PartialEq)]
pub struct Question<'a> {
    /// The sentence.
    pub sentence: &'a str,
    /// Its rarest known stems, in the order of the sentence, each once.
    pub terms: Vec<String>,
    /// How much they say together: the sum of their rarity.
    pub weight: f32,
    /// Whether all its words are everyday ones, so that it asks with those.
    pub everyday: bool,
}

/// The questions of a message, those that say most first; a sentence whose words no memory knows asks nothing.
/// `words` splits a sentence as the index does, `df` tells in how many of the `units` a stem occurs.
pub fn questions<'a>(
    message: &'a str,
    units: u64,
    words: &mut dyn FnMut(&str) -> Vec<Word>,
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

/// A sentence asks with what it is about. One that has everyday words alone ("how do I run the tests") asks with those, if there
/// are two at least: "continue" is no question. A small number asks only beside a word that tells what it numbers.
fn ask<'a>(sentence: &'a str, units: u64, words: Vec<Word>, df: &mut dyn FnMut(&str) -> u64) -> Question<'a> {
    let everyday = words.iter().all(|word| word.stop || word.everyday || is_small_number(&word.stem));
    let asks = |word: &Word| !word.stop && if is_small_number(&word.stem) { !everyday } else { word.everyday == everyday };
    let mut known: Vec<(usize, String, f32)> = Vec::new();
    for (at, word) in words.into_iter().enumerate().filter(|(_, word)| asks(word)) {
        let found = df(&word.stem);
        if found > 0 && known.iter().all(|(_, stem, _)| *stem != word.stem) {
            known.push((at, word.stem, rarity(units, found)));
        }
    }
    let telling = known.iter().filter(|(_, stem, _)| !is_small_number(stem)).count();
    if telling < if everyday { 2 } else { 1 } {
        known.clear();
    }
    known.sort_by(|a, b| b.2.total_cmp(&a.2).then(a.0.cmp(&b.0)));
    known.truncate(limits::RECALL_TERMS);
    let weight = known.iter().map(|(_, _, rarity)| rarity).sum();
    known.sort_by_key(|(at, ..)| *at);
    Question { sentence, terms: known.into_iter().map(|(_, stem, _)| stem).collect(), weight, everyday }
}

/// The inverse document frequency that search ranks by.
fn rarity(units: u64, df: u64) -> f32 {
    let (units, df) = (units.max(df) as f32, df as f32);
    (1.0 + (units - df + 0.5) / (df + 0.5)).ln()
}

/// The sentences of a message: parted by sentence marks, line ends and list items. Names with dots in them stay whole.
pub fn sentences(message: &str) -> impl Iterator<Item = &str> {
    message.lines().flat_map(parts).map(str::trim).filter(|part| part.contains(char::is_alphanumeric))
}

fn parts(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.char_indices().find_map(|(at, c)| ends_here(rest, at, c)).unwrap_or(rest.len());
        let part = &rest[..end];
        rest = &rest[end..];
        Some(part)
    })
}

/// Where a sentence ends that has this mark at this place.
fn ends_here(text: &str, at: usize, c: char) -> Option<usize> {
    let end = at + c.len_utf8();
    match c {
        '。' | '！' | '？' => Some(end),
        '.' | '!' | '?' | ';' => (text[end..].is_empty() || text[end..].starts_with(char::is_whitespace)).then_some(end),
        _ => None,
    }
}
