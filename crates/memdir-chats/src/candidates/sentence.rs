//! A sentence as the detectors read it: its language, and its words in one form. Pure.

use super::{
    lexicon::{KindSet, Language, PhraseKind, language},
    typed::{fold, push_folded},
};
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
    /// The kinds of phrases with which `rest` may begin.
    may_begin: KindSet,
    phrases: PhrasesFound,
}

/// The kinds of phrases that a sentence has.
#[derive(Default)]
struct PhrasesFound {
    anywhere: KindSet,
    /// At its beginning.
    first: KindSet,
    /// At the beginning of a clause, after the words that introduce it.
    in_clauses: KindSet,
    /// Whether it begins as rules do, and whether a clause does.
    begins_as_rule: bool,
    has_rule_clause: bool,
}

impl<'t> Sentence<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Sentence::in_language(text, language(text))
    }

    /// Reads a part of a sentence in the language of the whole.
    pub(super) fn in_language(text: &'t str, language: &'static Language) -> Self {
        steps::count(text.len());
        let rest = without_openers(text, language);
        let opening = &text[..text.len() - rest.len()];
        let opening = if opening.is_empty() { String::new() } else { form(opening, language) };
        let form = form(rest, language);
        let phrases = PhrasesFound::new(&form, language);
        Sentence { text, language, rest, opening, form, may_begin: language.may_begin(rest), phrases }
    }

    /// Whether a phrase of this kind is in the sentence.
    pub(super) fn has(&self, kind: PhraseKind) -> bool {
        self.phrases.anywhere.contains(kind)
    }

    /// Whether the sentence begins with a phrase of this kind.
    pub(super) fn begins(&self, kind: PhraseKind) -> bool {
        self.phrases.first.contains(kind)
    }

    /// Whether a clause begins with a phrase of this kind.
    pub(super) fn clause_begins(&self, kind: PhraseKind) -> bool {
        self.phrases.in_clauses.contains(kind)
    }

    /// Whether a phrase of this kind introduces the sentence.
    pub(super) fn opens_with(&self, kind: PhraseKind) -> bool {
        !self.opening.is_empty() && PhrasesFound::new(&self.opening, self.language).anywhere.contains(kind)
    }

    /// Returns what follows a phrase of this kind at the beginning, as it was typed.
    pub(super) fn strip(&self, kind: PhraseKind) -> Option<&'t str> {
        self.may_begin.contains(kind).then(|| strip_any(self.rest, self.language.phrases(kind), self.language)).flatten()
    }

    /// Whether the sentence begins as rules do: "never …", "don't …", "use …".
    pub(super) fn begins_as_rule(&self) -> bool {
        self.phrases.begins_as_rule
    }

    /// Whether a clause of the sentence begins as rules do.
    pub(super) fn has_rule_clause(&self) -> bool {
        self.phrases.has_rule_clause
    }

    /// Whether the sentence has more than one clause.
    pub(super) fn has_clauses(&self) -> bool {
        self.form.contains(" , ") || self.opening.contains(" , ")
    }

    /// The words of the sentence in one form.
    pub(super) fn iter_words(&self) -> impl Iterator<Item = &str> {
        self.form.split(' ').filter(|word| !word.is_empty() && *word != ",")
    }
}

impl PhrasesFound {
    /// Finds the phrases of a form in one pass.
    fn new(form: &str, language: &'static Language) -> Self {
        let mut found = PhrasesFound::default();
        let begin = form.len() - form.trim_start().len();
        let rule_begin = form.len() - form.trim_start_matches([' ', ',']).len();
        let mut clause = begin;
        let mut next = Some(begin);
        while let Some(at) = next.filter(|at| *at < form.len()) {
            let rest = &form[at..];
            next = next_start(form, at, language);
            let (mut kinds, mut after_opener) = (KindSet::default(), None);
            language.each_phrase_at(rest, |kind, phrase| {
                kinds.insert(kind);
                if kind == PhraseKind::Openers && after_opener.is_none() {
                    after_opener = clause_after(&rest[phrase.len()..], language).map(|after| form.len() - after.len());
                }
            });
            found.anywhere.extend(kinds);
            let is_rule = || kinds.contains(PhraseKind::Imperatives) || forbids(rest, language);
            if at == begin {
                found.first = kinds;
            }
            found.begins_as_rule |= at == rule_begin && is_rule();
            if at == clause {
                match after_opener {
                    Some(after) => clause = after,
                    None => {
                        found.in_clauses.extend(kinds);
                        found.has_rule_clause |= is_rule();
                    }
                }
            }
            if rest.starts_with(", ") && form[..at].ends_with(' ') {
                clause = at + 2;
            }
        }
        found
    }
}

/// Returns where the next word of a form begins, or the next character if words are not separated.
fn next_start(form: &str, at: usize, language: &Language) -> Option<usize> {
    let rest = &form[at..];
    let end = if language.is_unspaced { rest.chars().next().map_or(0, char::len_utf8) } else { rest.find(' ')? };
    let after = &rest[end..];
    Some(at + end + (after.len() - after.trim_start_matches(' ').len()))
}

/// Returns the clause after the word that introduces it, if it goes on.
fn clause_after<'f>(after: &'f str, language: &Language) -> Option<&'f str> {
    let next = after.strip_prefix(' ').or((language.is_unspaced && !after.is_empty()).then_some(after))?;
    (!next.trim_start().is_empty() && !next.starts_with(", ")).then_some(next)
}

/// Whether a clause begins with a negation that forbids, and a verb.
fn forbids(clause: &str, language: &Language) -> bool {
    language.forbids.iter().any(|(word, endings)| {
        let verb = clause.strip_prefix(word).and_then(|after| after.strip_prefix(' ')).and_then(|after| after.split(' ').next());
        let is_verb = |verb: &str| !verb.is_empty() && verb != ",";
        verb.is_some_and(|verb| is_verb(verb) && (endings.is_empty() || endings.iter().any(|ending| verb.ends_with(ending))))
    })
}

/// Whether a text begins with a quote.
pub(super) fn begins_with_quote(text: &str) -> bool {
    text.trim_start().starts_with(|c| QUOTES.iter().any(|(begin, _)| *begin == c) && c != '`')
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
    // Most phrases differ in their first character.
    let first = text.chars().find_map(|c| fold(c).next())?.encode_utf8(&mut [0; 4]).bytes().next();
    let likely = phrases.iter().filter(|phrase| phrase.bytes().next() == first);
    likely.filter_map(|phrase| strip_phrase(text, phrase, language)).min_by_key(|rest| rest.len())
}

/// Names by which people address an agent.
const AGENTS: &[&str] =
    &["claude", "codex", "gemini", "copilot", "cursor", "chatgpt", "gpt", "opencode", "assistant", "agent", "ai", "bot", "buddy", "team"];

/// Returns a sentence without the words that introduce it.
fn without_openers<'t>(sentence: &'t str, language: &Language) -> &'t str {
    let trimmed = |text: &'t str| text.trim_start_matches(|c: char| c.is_whitespace() || ",:-，：、!.;~*".contains(c));
    let mut rest = trimmed(sentence);
    loop {
        let opener = language.may_begin(rest).contains(PhraseKind::Openers).then(|| strip_any(rest, language.openers, language)).flatten();
        let after = opener.or_else(|| address(rest, language)).map(trimmed);
        match after {
            Some(after) if !after.is_empty() => rest = after,
            _ => return rest,
        }
    }
}

/// Returns what follows "Hey Claude," or "Claude,".
fn address<'t>(text: &'t str, language: &Language) -> Option<&'t str> {
    let named = |text: &'t str| {
        let after = strip_any(text, AGENTS, language)?;
        after.starts_with([',', ':', '，', '、', '!', ' ', ';']).then_some(after)
    };
    let greeted = language.may_begin(text).contains(PhraseKind::Greetings).then(|| strip_any(text, language.greetings, language)).flatten();
    match greeted {
        Some(after) if after.starts_with([' ', ',', '，', '、', '!']) => Some(named(after.trim_start()).unwrap_or(after)),
        Some(_) => None,
        None => named(text).filter(|after| !after.starts_with(' ')),
    }
}

fn is_sign(c: char) -> bool {
    matches!(c, '\u{900}'..='\u{97f}' | '\u{64b}'..='\u{652}')
}

fn is_word(c: Option<char>) -> bool {
    c.is_some_and(|c| c.is_alphanumeric() || is_sign(c))
}

/// Returns a text in one form, with a space at both ends.
fn form(text: &str, language: &Language) -> String {
    let mut form = String::with_capacity(text.len() + 8);
    form.push(' ');
    let mut before = None;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if is_word(Some(c)) {
            push_folded(c, &mut form);
            before = Some(c);
            continue;
        }
        let next = rest.clone().next();
        let is_inside = is_word(before) && is_word(next);
        before = Some(c);
        if let Some((close, after)) = quote_end(c, rest.as_str(), is_inside) {
            push_space(&mut form);
            (before, rest) = (Some(close), after.chars());
        } else if is_inside && matches!(c, '\'' | '’' | '-' | '_' | '/' | '.' | '@' | '+' | '#') {
            push_folded(c, &mut form);
        } else if matches!(c, '，' | '、' | '：' | '；' | '—' | '–' | '(' | ')') || (matches!(c, ',' | ';' | ':') && !is_inside) {
            push_space(&mut form);
            form.push_str(", ");
        } else if !(language.is_unspaced && is_inside) {
            push_space(&mut form);
        }
    }
    push_space(&mut form);
    form
}

/// Adds a space, unless there is one.
fn push_space(form: &mut String) {
    if form.as_bytes().last() != Some(&b' ') {
        form.push(' ');
    }
}

/// Returns the mark that ends the quote which `open` begins, and what follows it.
fn quote_end(open: char, rest: &str, is_inside: bool) -> Option<(char, &str)> {
    let (_, close) = *QUOTES.iter().find(|(begin, _)| *begin == open)?;
    if is_inside {
        return None;
    }
    let (at, _) = rest.char_indices().take(QUOTE_CHARS).find(|(_, c)| *c == close)?;
    let after = &rest[at + close.len_utf8()..];
    // An apostrophe does not end a quote if a letter follows it.
    let is_apostrophe = close == '\'' && after.starts_with(char::is_alphanumeric);
    (!is_apostrophe).then_some((close, after))
}
