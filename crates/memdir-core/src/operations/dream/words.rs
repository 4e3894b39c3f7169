//! The words of a text as the detectors compare them: stems, facts (numbers, paths, identifiers), names and polarity. Pure.

use crate::base::sort::SharedSort as _;
use crate::{
    base::steps,
    memory::lines::{self, FenceScanner, LineKind},
};
use rustc_hash::{FxHashMap, FxHasher};
use std::{
    hash::{Hash, Hasher as _},
    sync::OnceLock,
};

/// One sentence of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ComparedSentence {
    /// The line of the body it is on, 0-based.
    pub(super) line: usize,
    /// Its source.
    pub(super) source: String,
    /// Its tokens, in order.
    pub(super) tokens: Vec<ComparedWord>,
}

/// A word of a sentence, in lower case and without its plural ending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ComparedWord {
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

impl ComparedWord {
    /// Whether the token has content that two texts share or not.
    pub(super) fn is_content(&self) -> bool {
        matches!(self.class, TokenClass::Fact | TokenClass::Name | TokenClass::Word)
    }
}

/// Splits a body into sentences, outside of code blocks and without headings.
pub(super) fn sentences(body: &str) -> Vec<ComparedSentence> {
    let parsed = sources(body).map(|(line, source)| ComparedSentence { line, source: source.to_owned(), tokens: tokens(source) });
    parsed.filter(|sentence| sentence.tokens.iter().any(ComparedWord::is_content)).collect()
}

/// The sources of the sentences of a body, each with its line.
pub(super) fn sources(body: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fences = FenceScanner::default();
    let texts = body.lines().enumerate().filter(move |(_, content)| {
        steps::count(content.len());
        fences.classify(content) == LineKind::Text && lines::heading(content).is_none()
    });
    texts.flat_map(|(line, content)| {
        let content = content.trim().trim_start_matches(['-', '*', '+', '>', '|']).trim();
        split_sentences(content).map(move |source| (line, source))
    })
}

/// The words in the code blocks of a body.
pub(super) fn code_words(body: &str) -> impl Iterator<Item = &str> {
    let mut fences = FenceScanner::default();
    body.lines().filter(move |line| fences.classify(line) == LineKind::Code).flat_map(str::split_whitespace)
}

/// Splits a line at full stops that are followed by a blank. Not `text::sentences`: a plan rewrites whole sentences, so those without words
/// stay, and full-width marks end none.
fn split_sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        // One look at each byte, however many sentences a line has.
        let is_end = |pair: &[u8]| matches!(pair, [b'.' | b'!' | b'?', b' ']);
        let end = rest.as_bytes().windows(2).position(is_end).map_or(rest.len(), |at| at + 1);
        steps::count(end);
        let (sentence, left) = rest.split_at(end);
        rest = left.trim_start();
        Some(sentence.trim())
    })
    .filter(|sentence| !sentence.is_empty())
}

/// The content words of a title, sorted and without duplicates.
pub(super) fn title_words(title: &str) -> Vec<String> {
    let separated = title.replace(['/', '_', '-'], " ");
    let is_distinctive = |token: &ComparedWord| token.is_content() && !GENERIC.contains(&token.text.as_str());
    let mut words: Vec<String> = tokens(&separated).into_iter().filter(is_distinctive).map(|token| token.text).collect();
    words.shared_sort();
    words.dedup();
    words
}

/// The tokens of a sentence.
pub(super) fn tokens(sentence: &str) -> Vec<ComparedWord> {
    let mut out: Vec<ComparedWord> = Vec::new();
    let mut code = false;
    for raw in sentence.split_whitespace() {
        let opens = raw.bytes().filter(|byte| *byte == b'`').count();
        let is_code = code || opens > 0;
        code ^= opens % 2 == 1;
        let is_value_mark = raw == "=" || raw == "→" || raw == "->";
        let word = trim(raw);
        if is_value_mark {
            out.push(ComparedWord { text: "=".into(), class: TokenClass::Copula });
            continue;
        }
        if word.is_empty() {
            continue;
        }
        out.push(classify(word, is_code, out.is_empty()));
        if raw.ends_with(':') {
            out.push(ComparedWord { text: "=".into(), class: TokenClass::Copula });
        }
    }
    numbers_in_words(&mut out);
    out
}

/// Cuts punctuation off a word.
fn trim(raw: &str) -> &str {
    // Most words have none, and a look at two bytes is much cheaper than one at each character from both sides.
    if let ([first, .., last], true) = (raw.as_bytes(), raw.is_ascii())
        && first.is_ascii_alphanumeric()
        && last.is_ascii_alphanumeric()
    {
        return raw;
    }
    let word = raw.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '~' | '_' | '#' | '$' | '.' | '-'));
    word.trim_end_matches(['.', ',']).trim_matches('-')
}

/// Makes numbers in words facts like those in digits. "One" is a number before a noun only, as in "one approval".
fn numbers_in_words(tokens: &mut [ComparedWord]) {
    for at in 0..tokens.len() {
        let is_counted = tokens.get(at + 1).is_some_and(|next| next.class == TokenClass::Word);
        // Before the texts are compared: this is done for every word of every memory.
        if !is_counted || !matches!(tokens[at].class, TokenClass::Word | TokenClass::Name | TokenClass::Stop) || tokens[at].text.len() > 6 {
            continue;
        }
        let is_pronoun = at > 0 && matches!(tokens[at - 1].text.as_str(), "no" | "this" | "that" | "each" | "every" | "any" | "the");
        let number = NUMBERS.iter().position(|word| *word == tokens[at].text);
        if let Some(number) = number.filter(|number| !(*number == 0 && is_pronoun)) {
            tokens[at] = ComparedWord { text: (number + 1).to_string(), class: TokenClass::Fact };
        }
    }
}

const NUMBERS: [&str; 12] = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

fn classify(word: &str, is_code: bool, is_first: bool) -> ComparedWord {
    let lower = if word.is_ascii() { word.to_ascii_lowercase() } else { word.to_lowercase().replace('’', "'") };
    let is_mark = |byte: u8| matches!(byte, b'/' | b'_' | b'\\' | b'@' | b'#' | b'$' | b'.' | b':');
    let is_identifier = word.bytes().any(is_mark)
        && (word.contains(['/', '_', '\\', '@', '#', '$']) || word.trim_matches('.').contains('.') || word.contains("::"));
    let known = function_words().get(lower.as_str()).copied();
    let class = if known == Some(TokenClass::Negation) || lower.ends_with("n't") {
        TokenClass::Negation
    } else if is_identifier || is_code || lower.bytes().any(|byte| byte.is_ascii_digit()) {
        TokenClass::Fact
    } else if let Some(known) = known {
        known
    } else if word.starts_with(char::is_uppercase) && (!is_first || word.chars().skip(1).any(char::is_uppercase)) {
        TokenClass::Name
    } else {
        TokenClass::Word
    };
    let text = if matches!(class, TokenClass::Word | TokenClass::Name) { stem(&lower) } else { lower };
    ComparedWord { text, class }
}

/// The classes of words without content of their own. A table: every word of every memory is looked up in it.
fn function_words() -> &'static FxHashMap<&'static str, TokenClass> {
    static WORDS: OnceLock<FxHashMap<&str, TokenClass>> = OnceLock::new();
    let with_class = |words: &[&'static str], class| words.iter().map(|word| (*word, class)).collect::<Vec<_>>();
    WORDS.get_or_init(|| {
        let lists = [
            with_class(&STOP, TokenClass::Stop),
            with_class(&COPULAS, TokenClass::Copula),
            with_class(&AFFIRMATIONS, TokenClass::Affirmation),
            with_class(&NEGATIONS, TokenClass::Negation),
        ];
        lists.into_iter().flatten().collect()
    })
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

/// Spreads the bits of a hash. Inlined: the minhash of a text calls it 63 times for each pair of words.
#[inline(always)]
pub(super) fn mix(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

/// Words of titles that do not show what a memory is about.
const GENERIC: [&str; 15] =
    ["copy", "copi", "again", "bak", "old", "new", "final", "draft", "duplicate", "update", "updat", "note", "memory", "memori", "misc"];
const NEGATIONS: [&str; 8] = ["not", "never", "no", "cannot", "without", "avoid", "stop", "nor"];
const AFFIRMATIONS: [&str; 4] = ["always", "must", "do", "does"];
const COPULAS: [&str; 6] = ["is", "are", "was", "were", "equals", "became"];

/// Words without content.
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
    fn a_sentence_has_facts_names_and_polarity() {
        let classes =
            |text: &str| tokens(text).iter().map(|token| format!("{}:{:?}", token.text, token.class)).collect::<Vec<_>>().join(" ");
        assert_eq!(
            classes("The gateway never listens on port 8080, says Ada."),
            "the:Stop gateway:Word never:Negation listen:Word on:Stop port:Word 8080:Fact say:Word ada:Name"
        );
        assert_eq!(classes("Owner: `ops/team.md`"), "owner:Word =:Copula ops/team.md:Fact");
        assert_eq!(
            classes("One approval, two reviews, one of them late"),
            "1:Fact approval:Word 2:Fact review:Word one:Stop of:Stop them:Stop late:Word"
        );
    }
}
