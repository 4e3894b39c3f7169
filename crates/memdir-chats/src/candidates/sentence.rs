//! A sentence as the detectors read it: its language, and its words in one form. Pure.

use super::lexicon::{Language, language};
use memdir_core::internal::base::steps;

/// Characters in which the end of a quote is looked for, so that reading stays linear.
const QUOTE_CHARS: usize = 400;

/// Marks that begin a quote, and that end it.
const QUOTES: &[(char, char)] =
    &[('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('「', '」'), ('『', '』'), ('`', '`'), ('‘', '’'), ('\'', '\'')];

/// A sentence with its words in one form: lower case, single spaces, ` , ` between clauses. Quotes are not the person's words and are
/// left out.
pub(super) struct Sentence<'t> {
    /// The sentence as it was typed.
    pub(super) text: &'t str,
    pub(super) language: &'static Language,
    /// The same without what introduces it, such as "please" and "Hey Claude,".
    pub(super) rest: &'t str,
    opening: String,
    form: String,
}

impl<'t> Sentence<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Sentence::in_language(text, language(&text.chars().flat_map(fold).collect::<String>()))
    }

    /// Reads a part of a sentence in the language of the whole.
    pub(super) fn in_language(text: &'t str, language: &'static Language) -> Self {
        steps::count(text.len());
        let rest = without_openers(text, language);
        let opening = &text[..text.len() - rest.len()];
        Sentence { text, language, rest, opening: form(opening, language), form: form(rest, language) }
    }

    /// Whether one of the phrases is in the sentence.
    pub(super) fn has(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| has_phrase(&self.form, phrase, self.language))
    }

    /// Whether the sentence begins with one of the phrases.
    pub(super) fn begins(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| begins_with(self.form.trim_start(), phrase, self.language))
    }

    /// Whether a clause begins with one of the phrases.
    pub(super) fn clause_begins(&self, phrases: &[&str]) -> bool {
        self.clauses().any(|clause| phrases.iter().any(|phrase| begins_with(clause, phrase, self.language)))
    }

    /// Whether one of the phrases introduces the sentence.
    pub(super) fn opens_with(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| has_phrase(&self.opening, phrase, self.language))
    }

    /// Whether the sentence begins as rules do: "never …", "don't …", "use …".
    pub(super) fn begins_as_rule(&self) -> bool {
        let first = self.form.trim_start().trim_start_matches([',', ' ']);
        self.is_rule_beginning(first)
    }

    /// Whether a clause of the sentence begins as rules do.
    pub(super) fn has_rule_clause(&self) -> bool {
        self.clauses().any(|clause| self.is_rule_beginning(clause))
    }

    /// Whether the sentence has more than one clause.
    pub(super) fn has_clauses(&self) -> bool {
        self.form.contains(" , ") || self.opening.contains(" , ")
    }

    /// The words of the sentence in one form.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.form.split(' ').filter(|word| !word.is_empty() && *word != ",")
    }

    fn is_rule_beginning(&self, clause: &str) -> bool {
        let language = self.language;
        let forbids = |(word, endings): &(&str, &[&str])| {
            let verb = clause.strip_prefix(word).and_then(|behind| behind.strip_prefix(' ')).and_then(|behind| behind.split(' ').next());
            verb.is_some_and(|verb| verb != "," && (endings.is_empty() || endings.iter().any(|ending| verb.ends_with(ending))))
        };
        language.imperatives.iter().any(|phrase| begins_with(clause, phrase, language)) || language.forbids.iter().any(forbids)
    }

    /// The clauses, without the words that introduce them.
    fn clauses(&self) -> impl Iterator<Item = &str> {
        self.form.split(" , ").map(move |clause| {
            let mut clause = clause.trim();
            while let Some(behind) = self.language.openers.iter().find_map(|opener| {
                let behind = clause.strip_prefix(opener)?;
                behind.strip_prefix(' ').or((self.language.is_unspaced && !behind.is_empty()).then_some(behind))
            }) {
                clause = behind;
            }
            clause
        })
    }
}

/// Whether a text begins with a quote.
pub(super) fn begins_with_quote(text: &str) -> bool {
    text.trim_start().starts_with(|c| QUOTES.iter().any(|(begin, _)| *begin == c) && c != '`')
}

/// The forms of one character: lower case, one apostrophe, no vowel signs of Arabic.
fn fold(c: char) -> impl Iterator<Item = char> {
    let folded = match c {
        '’' | '‘' => Some('\''),
        '\u{a0}' | '\u{202f}' | '\u{3000}' => Some(' '),
        _ => None,
    };
    let is_kept = !matches!(c, '\u{64b}'..='\u{652}' | '\u{640}');
    let lower = is_kept.then(|| c.to_lowercase()).into_iter().flatten();
    folded.into_iter().chain(lower.filter(move |_| folded.is_none()))
}

/// Returns what follows a phrase at the beginning of a text, whatever its case. A phrase ends with its word, unless words are not
/// separated.
pub(super) fn strip_phrase<'t>(text: &'t str, phrase: &str, language: &Language) -> Option<&'t str> {
    let mut wanted = phrase.chars().peekable();
    let mut end = 0;
    for (at, c) in text.char_indices() {
        if wanted.peek().is_none() {
            break;
        }
        for folded in fold(c) {
            if wanted.next() != Some(folded) {
                return None;
            }
        }
        end = at + c.len_utf8();
    }
    let rest = &text[end..];
    // `remember_token`, `remember-me`, `remember(x)` are names of things.
    let is_whole = language.is_unspaced
        || phrase.ends_with('\'')
        || !rest.starts_with(|c: char| c.is_alphanumeric() || is_sign(c) || matches!(c, '_' | '-' | '(' | '\'' | '’'));
    (wanted.peek().is_none() && is_whole).then_some(rest)
}

/// Returns what follows the first of the phrases that a text begins with, the longest first.
pub(super) fn strip_any<'t>(text: &'t str, phrases: &[&str], language: &Language) -> Option<&'t str> {
    phrases.iter().filter_map(|phrase| strip_phrase(text, phrase, language)).min_by_key(|rest| rest.len())
}

/// Names by which people address an agent.
const AGENTS: &[&str] =
    &["claude", "codex", "gemini", "copilot", "cursor", "chatgpt", "gpt", "opencode", "assistant", "agent", "ai", "bot", "buddy", "team"];

/// Returns a sentence without the words that introduce it.
fn without_openers<'t>(sentence: &'t str, language: &Language) -> &'t str {
    let trimmed = |text: &'t str| text.trim_start_matches(|c: char| c.is_whitespace() || ",:-，：、!.;~*".contains(c));
    let mut rest = trimmed(sentence);
    loop {
        let behind = strip_any(rest, language.openers, language).or_else(|| address(rest, language)).map(trimmed);
        match behind {
            Some(behind) if !behind.is_empty() => rest = behind,
            _ => return rest,
        }
    }
}

/// Returns what follows "Hey Claude," or "Claude,".
fn address<'t>(text: &'t str, language: &Language) -> Option<&'t str> {
    let named = |text: &'t str| {
        let behind = strip_any(text, AGENTS, language)?;
        behind.starts_with([',', ':', '，', '、', '!', ' ', ';']).then_some(behind)
    };
    match strip_any(text, language.greetings, language) {
        Some(behind) if behind.starts_with([' ', ',', '，', '、', '!']) => Some(named(behind.trim_start()).unwrap_or(behind)),
        Some(_) => None,
        None => named(text).filter(|behind| !behind.starts_with(' ')),
    }
}

fn is_sign(c: char) -> bool {
    matches!(c, '\u{900}'..='\u{97f}' | '\u{64b}'..='\u{652}')
}

/// Returns a text in one form, with a space at both ends.
fn form(text: &str, language: &Language) -> String {
    let mut form = String::with_capacity(text.len() + 8);
    form.push(' ');
    let chars: Vec<char> = text.chars().collect();
    let is_word = |at: usize| chars.get(at).is_some_and(|c| c.is_alphanumeric() || is_sign(*c));
    let mut at = 0;
    while at < chars.len() {
        let c = chars[at];
        let is_inside = at > 0 && is_word(at - 1) && is_word(at + 1);
        if let Some(end) = quote_end(&chars, at, is_inside) {
            form.push(' ');
            at = end + 1;
            continue;
        }
        if is_word(at) || (is_inside && matches!(c, '\'' | '’' | '-' | '_' | '/' | '.' | '@' | '+' | '#')) {
            form.extend(fold(c));
        } else if matches!(c, '，' | '、' | '：' | '；' | '—' | '–' | '(' | ')') || (matches!(c, ',' | ';' | ':') && !is_inside) {
            form.push_str(" , ");
        } else if !(language.is_unspaced && is_inside) {
            form.push(' ');
        }
        at += 1;
    }
    form.push(' ');
    let mut single = String::with_capacity(form.len());
    for c in form.chars() {
        if !(c == ' ' && single.ends_with(' ')) {
            single.push(c);
        }
    }
    single
}

/// Returns the place of the mark that ends the quote which begins here.
fn quote_end(chars: &[char], at: usize, is_inside: bool) -> Option<usize> {
    let (_, close) = QUOTES.iter().find(|(open, _)| *open == chars[at])?;
    if is_inside {
        return None;
    }
    let end = chars[at + 1..].iter().take(QUOTE_CHARS).position(|c| c == close)? + at + 1;
    // An apostrophe at the end of a word ends no quote if another word goes on with it.
    let is_apostrophe = *close == '\'' && chars.get(end + 1).is_some_and(|c| c.is_alphanumeric());
    (!is_apostrophe).then_some(end)
}

fn has_phrase(form: &str, phrase: &str, language: &Language) -> bool {
    if language.is_unspaced {
        return form.contains(phrase);
    }
    form.match_indices(phrase).any(|(at, _)| form[..at].ends_with(' ') && form[at + phrase.len()..].starts_with(' '))
}

fn begins_with(text: &str, phrase: &str, language: &Language) -> bool {
    text.strip_prefix(phrase).is_some_and(|rest| language.is_unspaced || rest.is_empty() || rest.starts_with(' '))
}
