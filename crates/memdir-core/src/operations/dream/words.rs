//! The words of a text as the detectors compare them: stems, facts (numbers, paths, identifiers), names and polarity. Pure.

use crate::{
    base::steps,
    memory::lines::{self, FenceScanner, LineKind},
};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher as _};

/// One sentence of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sentence {
    /// The line of the body it is on, 0-based.
    pub(super) line: usize,
    /// Its source.
    pub(super) source: String,
    /// Its tokens, in order.
    pub(super) tokens: Vec<Token>,
}

/// A word of a sentence, in lower case and without its plural ending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) text: String,
    pub(super) class: TokenClass,
}

/// What a word is for the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenClass {
    /// A number, path, version, address or identifier.
    Fact,
    /// A name: capitalised within a sentence.
    Name,
    /// Reverses or confirms what the sentence says.
    Negation,
    /// Reinforces the sentence; no content.
    Affirmation,
    /// Separates a subject from its value.
    Copula,
    /// A word without content.
    Stop,
    /// Everything else.
    Word,
}

impl Token {
    /// Whether the token has content that two texts share or not.
    pub(super) fn is_content(&self) -> bool {
        matches!(self.class, TokenClass::Fact | TokenClass::Name | TokenClass::Word)
    }
}

/// Splits a body into sentences, outside of code blocks and without headings.
pub(super) fn sentences(body: &str) -> Vec<Sentence> {
    let mut out = Vec::new();
    let mut fences = FenceScanner::default();
    for (line, content) in body.lines().enumerate() {
        steps::count(content.len());
        match fences.classify(content) {
            LineKind::Text if lines::heading(content).is_none() => {}
            _ => continue,
        }
        let content = content.trim().trim_start_matches(['-', '*', '+', '>', '|']).trim();
        for source in split_sentences(content) {
            let tokens = tokens(source);
            if tokens.iter().any(Token::is_content) {
                out.push(Sentence { line, source: source.to_owned(), tokens });
            }
        }
    }
    out
}

/// The words in the code blocks of a body.
pub(super) fn code_words(body: &str) -> impl Iterator<Item = &str> {
    let mut fences = FenceScanner::default();
    body.lines().filter(move |line| fences.classify(line) == LineKind::Code).flat_map(str::split_whitespace)
}

/// Splits a line at full stops that are followed by a blank.
fn split_sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = [". ", "! ", "? "].iter().filter_map(|mark| rest.find(mark)).min().map_or(rest.len(), |at| at + 1);
        let (sentence, left) = rest.split_at(end);
        rest = left.trim_start();
        Some(sentence.trim())
    })
    .filter(|sentence| !sentence.is_empty())
}

/// The content words of a title, sorted and without duplicates.
pub(super) fn title_words(title: &str) -> Vec<String> {
    let separated = title.replace(['/', '_', '-'], " ");
    let tells_apart = |token: &Token| token.is_content() && !GENERIC.contains(&token.text.as_str());
    let mut words: Vec<String> = tokens(&separated).into_iter().filter(tells_apart).map(|token| token.text).collect();
    words.sort();
    words.dedup();
    words
}

/// The tokens of a sentence.
pub(super) fn tokens(sentence: &str) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::new();
    let mut code = false;
    for raw in sentence.split_whitespace() {
        let opens = raw.matches('`').count();
        let is_code = code || opens > 0;
        code ^= opens % 2 == 1;
        let is_value_mark = raw == "=" || raw == "→" || raw == "->";
        let word = raw.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '~' | '_' | '#' | '$' | '.' | '-'));
        let word = word.trim_end_matches(['.', ',']).trim_matches('-');
        if is_value_mark {
            out.push(Token { text: "=".into(), class: TokenClass::Copula });
            continue;
        }
        if word.is_empty() {
            continue;
        }
        out.push(classify(word, is_code, out.is_empty()));
        if raw.ends_with(':') {
            out.push(Token { text: "=".into(), class: TokenClass::Copula });
        }
    }
    out
}

fn classify(word: &str, is_code: bool, is_first: bool) -> Token {
    let lower = word.to_lowercase().replace('’', "'");
    let is_identifier = word.contains(['/', '_', '\\', '@', '#', '$']) || word.trim_matches('.').contains('.') || word.contains("::");
    let class = if NEGATIONS.contains(&lower.as_str()) || lower.ends_with("n't") {
        TokenClass::Negation
    } else if lower.chars().any(|c| c.is_ascii_digit()) || is_identifier || is_code {
        TokenClass::Fact
    } else if AFFIRMATIONS.contains(&lower.as_str()) {
        TokenClass::Affirmation
    } else if COPULAS.contains(&lower.as_str()) {
        TokenClass::Copula
    } else if STOP.binary_search(&lower.as_str()).is_ok() {
        TokenClass::Stop
    } else if word.starts_with(char::is_uppercase) && (!is_first || word.chars().skip(1).any(char::is_uppercase)) {
        TokenClass::Name
    } else {
        TokenClass::Word
    };
    let text = if matches!(class, TokenClass::Word | TokenClass::Name) { stem(&lower) } else { lower };
    Token { text, class }
}

/// Cuts the usual endings of English words: enough to compare, not to search.
fn stem(word: &str) -> String {
    for (ending, least) in [("'s", 1), ("ies", 3), ("ing", 4), ("ed", 4), ("es", 4), ("s", 3)] {
        if let Some(short) = word.strip_suffix(ending)
            && short.chars().count() >= least
            && !short.ends_with('s')
        {
            return short.to_owned();
        }
    }
    word.to_owned()
}

/// Hashes parts in order. Not stored anywhere, so the function may change.
pub(super) fn hash_of<'a>(parts: impl IntoIterator<Item = &'a str>) -> u64 {
    let mut hasher = FxHasher::default();
    for part in parts {
        part.hash(&mut hasher);
    }
    mix(hasher.finish())
}

/// Spreads the bits of a hash.
pub(super) fn mix(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// Words of titles that do not tell what a memory is about.
const GENERIC: [&str; 15] =
    ["copy", "copi", "again", "bak", "old", "new", "final", "draft", "duplicate", "update", "updat", "note", "memory", "memori", "misc"];
const NEGATIONS: [&str; 8] = ["not", "never", "no", "cannot", "without", "avoid", "stop", "nor"];
const AFFIRMATIONS: [&str; 4] = ["always", "must", "do", "does"];
const COPULAS: [&str; 6] = ["is", "are", "was", "were", "equals", "became"];

/// Words without content, sorted.
const STOP: [&str; 66] = [
    "a", "about", "after", "all", "also", "an", "and", "any", "as", "at", "be", "because", "been", "but", "by", "can", "for", "from",
    "get", "had", "has", "have", "he", "her", "his", "how", "i", "if", "in", "into", "it", "its", "just", "may", "me", "my", "now", "of",
    "on", "one", "only", "or", "our", "out", "she", "should", "since", "so", "still", "than", "that", "the", "their", "them", "then",
    "there", "they", "this", "to", "up", "we", "when", "will", "with", "you", "your",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP.is_sorted());
    }

    #[test]
    fn a_sentence_has_facts_names_and_polarity() {
        let classes =
            |text: &str| tokens(text).iter().map(|token| format!("{}:{:?}", token.text, token.class)).collect::<Vec<_>>().join(" ");
        assert_eq!(
            classes("The gateway never listens on port 8080, says Ada."),
            "the:Stop gateway:Word never:Negation listen:Word on:Stop port:Word 8080:Fact say:Word ada:Name"
        );
        assert_eq!(classes("Owner: `ops/team.md`"), "owner:Word =:Copula ops/team.md:Fact");
    }
}
