//! Parses a query from any text. Parsing never fails: what is not an operator is words.
//!
//! `"exact phrase"`, `type:feedback`, `path:team/`, `source:chat` and `-word` filter the hits. In a sentence (with stop words outside
//! of the quotes) quotes are a title rather than a filter: there a phrase only ranks. A pasted log or stack trace has no operators.

use crate::{
    base::{day::NamedTime, stamp::Source, steps},
    memory::Kind,
    search::analysis::{Analyser, Word, asks_by_parts, pasted},
};

/// The maximum number of words that are looked up. A longer text is not a question; its first words are as good as all.
pub const MAX_TERMS: usize = 64;
/// The maximum number of codes that are looked up.
const MAX_CODES: usize = 32;

/// A parsed query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Query {
    /// The stems to look up, each once, in the order of the text; without stop words unless there are no others.
    pub terms: Vec<String>,
    /// Identifiers and paths as written, and parts of them.
    pub codes: Vec<String>,
    /// Adjacent terms, as indexes into `terms`.
    pub pairs: Vec<(usize, usize)>,
    /// Phrases that a hit must contain, folded: see [`fold_phrase`].
    pub phrases: Vec<String>,
    /// Words and codes that a hit must not contain.
    pub without: Vec<String>,
    /// Only memories of this type.
    pub kind: Option<Kind>,
    /// The value of a `type:` that is not a type; its word is searched like any other.
    pub unknown_type: Option<String>,
    /// Only memories under this prefix.
    pub under: Option<String>,
    /// Only this source.
    pub source: Option<Source>,
    /// The month and year it names.
    pub time: NamedTime,
    /// The text without its operators, which is embedded.
    pub text: String,
    /// The parts of terms that are `camelCase`, with the index of each.
    pub parts: Vec<(usize, Vec<String>)>,
    /// The terms that are names in code, as indexes into `terms`; only of a line of a pasted text.
    pub names: Vec<usize>,
    /// The number of its words that are left out because no memory has them; they count against a match.
    pub unknown: usize,
    /// The number of lines of the pasted text that ask, if this is one of them: of many lines some match by chance.
    pub lines: usize,
}

/// What the lines of a hit must contain or must not contain, as it is written in a query.
pub(super) enum Condition<'t> {
    /// A phrase, without its quotes.
    Phrase(&'t str),
    /// An excluded word, with its minus sign.
    Without(&'t str),
}

impl Query {
    /// Parses a query. Any text is valid.
    pub fn parse(text: &str, analyser: &mut Analyser) -> Query {
        let mut query = Query::default();
        if let Some(lines) = pasted::pasted_lines(text) {
            query.text = lines.join("\n");
            query.look_up(analyser);
            return query;
        }
        let mut quoted = Vec::new();
        let mut outside = String::new();
        for token in tokens(text) {
            match token {
                QueryToken::Phrase(phrase) => {
                    quoted.push(phrase);
                    push(&mut query.text, phrase);
                }
                QueryToken::Plain(word) if query.operator(word, analyser) => {}
                QueryToken::Plain(word) => {
                    push(&mut query.text, word);
                    push(&mut outside, word);
                }
            }
        }
        query.time = NamedTime::find(&query.text);
        let is_sentence = analyser.split_words(&outside).iter().any(|word| word.stop);
        if !is_sentence {
            query.phrases = quoted.into_iter().map(fold_phrase).filter(|phrase| !phrase.is_empty()).collect();
        }
        query.look_up(analyser);
        query
    }

    /// The phrases and excluded words of its text, as they are written, if they filter the hits.
    pub(super) fn conditions<'t>(&self, text: &'t str, analyser: &mut Analyser) -> Vec<Condition<'t>> {
        // A pasted text has none.
        if self.phrases.is_empty() && self.without.is_empty() {
            return Vec::new();
        }
        let condition = |token: QueryToken<'t>| match token {
            QueryToken::Phrase(phrase) => {
                (!self.phrases.is_empty() && !fold_phrase(phrase).is_empty()).then_some(Condition::Phrase(phrase))
            }
            QueryToken::Plain(word) => {
                let mut alone = Query::default();
                (alone.operator(word, analyser) && !alone.without.is_empty()).then_some(Condition::Without(word))
            }
        };
        tokens(text).into_iter().filter_map(condition).collect()
    }

    /// Whether it has neither words nor codes.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.codes.is_empty()
    }

    /// Applies a word if it is an operator. Returns whether it is one.
    fn operator(&mut self, word: &str, analyser: &mut Analyser) -> bool {
        if let Some(rest) = word.strip_prefix('-')
            && rest.starts_with(char::is_alphabetic)
        {
            let (words, codes) = analyser.words_and_codes(rest);
            self.without.extend(if words.len() == 1 { vec![words[0].stem.clone()] } else { codes.into_iter().take(1).collect() });
            return words.len() == 1 || !self.without.is_empty();
        }
        let Some((name, value)) = word.split_once(':').filter(|(_, value)| !value.is_empty()) else { return false };
        match name {
            "type" => match value.parse() {
                Ok(kind) => {
                    self.kind = Some(kind);
                    true
                }
                Err(_) => {
                    self.unknown_type = Some(value.to_owned());
                    false
                }
            },
            "path" => {
                self.under = Some(value.trim_matches('/').to_owned());
                true
            }
            "source" => {
                let source = match value {
                    "memory" => Source::Memory,
                    "custom" => Source::Custom,
                    "chat" => Source::Chat,
                    "inbox" => Source::Inbox,
                    _ => return false,
                };
                self.source = Some(source);
                true
            }
            _ => false,
        }
    }

    /// Asks for the parts of each name that no memory has, if memories have its parts.
    pub fn split_unknown(&mut self, is_known: impl Fn(&str) -> bool) {
        for (at, parts) in std::mem::take(&mut self.parts) {
            if !asks_by_parts(&self.terms[at], &parts, &is_known) {
                continue;
            }
            let mut parts = parts.into_iter().filter(|part| is_known(part));
            if let Some(first) = parts.next() {
                self.terms[at] = first;
            }
            for part in parts {
                if self.terms.len() < MAX_TERMS && !self.terms.contains(&part) {
                    self.terms.push(part);
                }
            }
        }
    }

    fn look_up(&mut self, analyser: &mut Analyser) {
        let codes = analyser.words_and_codes(&self.text).1;
        let words = analyser.words_with_parts(&self.text);
        let kept: Vec<&(Word, Vec<String>)> = words.iter().filter(|(word, _)| !word.stop).collect();
        let kept = if kept.is_empty() { words.iter().collect() } else { kept };
        let mut last = None;
        for (word, parts) in kept {
            let at = match self.terms.iter().position(|term| *term == word.stem) {
                Some(at) => at,
                None if self.terms.len() == MAX_TERMS => break,
                None => {
                    self.terms.push(word.stem.clone());
                    if !parts.is_empty() {
                        self.parts.push((self.terms.len() - 1, parts.clone()));
                    }
                    self.terms.len() - 1
                }
            };
            if let Some(before) = last.replace(at)
                && before != at
                && !self.pairs.contains(&(before, at))
            {
                self.pairs.push((before, at));
            }
        }
        // A single character of a longer run would match everywhere; alone it is a term.
        let is_single = |code: &str| !code.is_ascii() && code.chars().nth(1).is_none();
        for code in codes.into_iter().filter(|code| !is_single(code)) {
            if self.codes.len() < MAX_CODES && !self.codes.contains(&code) && !self.terms.contains(&code) {
                self.codes.push(code);
            }
        }
    }
}

/// Folds a text for the comparison of phrases: lower case, white space as single blanks.
pub fn fold_phrase(text: &str) -> String {
    text.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// Returns the ranges of the words of a query in a text, in order.
pub fn highlights(text: &str, query: &Query, analyser: &mut Analyser) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        steps::count(1);
        let inside = !c.is_whitespace() && !c.is_ascii_punctuation();
        match (inside, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                let (words, codes) = analyser.words_and_codes(&text[from..at]);
                let asked = |stem: &String| query.terms.contains(stem) || query.codes.contains(stem);
                if words.iter().map(|word| &word.stem).chain(&codes).any(asked) {
                    found.push(from..at);
                }
                start = None;
            }
            _ => {}
        }
    }
    found
}

enum QueryToken<'a> {
    Phrase(&'a str),
    Plain(&'a str),
}

/// Splits a text into words and quoted phrases.
fn tokens(text: &str) -> Vec<QueryToken<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    // A quote after the last closing one of its kind is not searched for, however many there are.
    let last = |close: char| text.rfind(close).unwrap_or(0);
    let (straight, curly, angled) = (last('"'), last('”'), last('»'));
    while let Some(first) = rest.chars().next() {
        let at = text.len() - rest.len();
        let close = match first {
            '"' if at < straight => Some('"'),
            '“' if at < curly => Some('”'),
            '«' if at < angled => Some('»'),
            _ => None,
        };
        let inside = &rest[first.len_utf8()..];
        steps::count(1);
        if let Some((phrase, after)) = close.and_then(|close| inside.split_once(close)) {
            steps::count(phrase.len());
            tokens.push(QueryToken::Phrase(phrase));
            rest = after.trim_start();
            continue;
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        steps::count(end);
        tokens.push(QueryToken::Plain(&rest[..end]));
        rest = rest[end..].trim_start();
    }
    tokens
}

fn push(text: &mut String, word: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(word);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Query {
        Query::parse(text, &mut Analyser::default())
    }

    #[test]
    fn a_question_is_its_distinct_words() {
        let query = parse("When did the deploys of deploy keys fail in May 2023?");
        assert_eq!(query.terms, ["deploy", "key", "fail", "may", "2023"]);
        assert_eq!(query.pairs, [(0, 1), (1, 2), (2, 3), (3, 4)]);
        assert_eq!(query.time, NamedTime { month: Some(5), year: Some(2023) });
        assert_eq!(parse("what is it").terms, ["what", "is", "it"]);
    }

    #[test]
    fn operators_filter_and_are_not_words() {
        let query = parse("deploy type:feedback path:team/ source:chat -friday");
        assert_eq!((query.kind, query.under.as_deref(), query.source), (Some(Kind::Feedback), Some("team"), Some(Source::Chat)));
        assert_eq!((query.terms, query.without, query.text), (vec!["deploy".to_owned()], vec!["friday".to_owned()], "deploy".to_owned()));
    }

    #[test]
    fn text_that_is_not_an_operator_is_searched() {
        let query = parse("type:nonsense path: a:b --dry-run -5 - \"open");
        assert_eq!(query.kind, None);
        assert_eq!(query.terms, ["type", "nonsens", "path", "b", "dri", "run", "5", "open"]);
        assert_eq!(query.codes, ["--dry-run"]);
        assert!(query.without.is_empty() && query.phrases.is_empty());
    }

    #[test]
    fn a_phrase_is_a_filter_unless_it_is_in_a_sentence() {
        assert_eq!(parse("deploy \"Blue  Green\"").phrases, ["blue green"]);
        assert_eq!(parse("“to be or”").phrases, ["to be or"]);
        assert!(parse("When did she read \"The Lean Startup\"?").phrases.is_empty());
    }

    #[test]
    fn words_of_the_query_are_highlighted() {
        let text = "We deployed getUserName, never the users.";
        let marked = |query: &str| {
            highlights(text, &parse(query), &mut Analyser::default()).into_iter().map(|range| &text[range]).collect::<Vec<_>>()
        };
        assert_eq!(marked("how to deploy"), ["deployed"]);
        assert_eq!(marked("user"), ["getUserName", "users"]);
        assert_eq!(marked("nothing"), [""; 0]);
    }

    proptest! {
        #[test]
        fn any_text_is_a_query(text in "(.|\n){0,200}") {
            let query = parse(&text);
            prop_assert!(query.terms.len() <= MAX_TERMS);
            prop_assert!(query.pairs.iter().all(|(a, b)| *a < query.terms.len() && *b < query.terms.len()));
        }
    }

    #[test]
    fn ten_kilobytes_are_a_query() {
        assert_eq!(parse(&"word another thing 🚀 ".repeat(500)).terms.len(), 4);
    }
}
