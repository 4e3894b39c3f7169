//! The statements of a sentence that another memory may contradict. What names the memory itself, entries of changelogs, introductions of
//! lists and destinations of links are not statements. Pure.

use super::words::{self, ComparedSentence, ComparedWord, TokenClass};

/// A statement that another memory may contradict: equal keys with different values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) key: u64,
    pub(super) value: u64,
    /// The index of its sentence.
    pub(super) sentence: u32,
    /// The sentence alone does not say what it is about, so the titles must be equal, too.
    pub(super) is_weak: bool,
    /// Both statements may be true.
    pub(super) is_guess: bool,
}

/// Maximum number of facts of a sentence of which one may differ. Longer lists are tables.
const MOST_FACTS: usize = 4;
/// Maximum number of other words.
const MOST_WORDS: usize = 24;

/// The statements of a sentence: each of its facts as the value of the rest, its polarity, and the value after `is` or a colon. A value
/// that is among the `own_words` of the memory, its title and name, says what the memory is about.
pub(super) fn claims(at: u32, sentence: &ComparedSentence, own_words: &str) -> Vec<Claim> {
    let texts = |class: TokenClass| sentence.tokens.iter().filter(move |token| token.class == class).map(|token| token.text.as_str());
    let mut skeleton: Vec<&str> = texts(TokenClass::Word).chain(texts(TokenClass::Name)).collect();
    skeleton.sort_unstable();
    let facts: Vec<&str> = texts(TokenClass::Fact).map(without_destination).collect();
    let negative = texts(TokenClass::Negation).count() % 2 == 1;
    let mut out = Vec::new();
    if skeleton.is_empty() || facts.len() > MOST_FACTS || skeleton.len() > MOST_WORDS || !is_statement(sentence) {
        return out;
    }
    let is_weak = has_vague_subject(sentence) || count_telling(&skeleton) < 2;
    let keyed = |kind: &'static str, other: &[&str]| {
        words::hash_of([kind].into_iter().chain(skeleton.iter().copied()).chain(["|"]).chain(other.iter().copied()))
    };
    for (n, fact) in facts.iter().enumerate().filter(|(_, fact)| !is_time(fact) && !is_named(fact, own_words)) {
        let others: Vec<&str> = facts.iter().enumerate().filter(|(other, _)| *other != n).map(|(_, other)| *other).collect();
        let polarity = if negative { "not" } else { "" };
        let key = words::mix(keyed("fact", &others) ^ words::hash_of([polarity]));
        out.push(Claim { key, value: words::hash_of([*fact]), sentence: at, is_weak, is_guess: false });
    }
    if skeleton.len() >= 3 {
        out.push(Claim { key: keyed("polarity", &facts), value: u64::from(negative), sentence: at, is_weak, is_guess: false });
    }
    out.extend(value_claim(at, sentence, own_words));
    out.extend(name_claim(at, sentence, own_words));
    out
}

/// The claim of a sentence with a name in one role, which has one value at a time: `Deploys are on Tuesday`, `CI runs on Buildkite`,
/// `Ada owns the importer`.
fn name_claim(at: u32, sentence: &ComparedSentence, own_words: &str) -> Option<Claim> {
    let tokens = &sentence.tokens;
    let is_role = |n: usize| n > 0 && ROLES.contains(&tokens[n - 1].text.as_str()) && tokens[n].class == TokenClass::Name;
    let is_owner = tokens.len() > 2 && OWNING.contains(&tokens[1].text.as_str()) && tokens[0].class != TokenClass::Stop;
    let start = if is_owner { 0 } else { (0..tokens.len()).find(|n| is_role(*n))? };
    let length = if is_owner { 1 } else { tokens[start..].iter().take_while(|token| token.class == TokenClass::Name).count() };
    let text =
        |tokens: &[ComparedWord]| tokens.iter().filter(|token| token.is_content()).map(|token| token.text.clone()).collect::<Vec<_>>();
    let value = text(&tokens[start..start + length]);
    let mut rest = [text(&tokens[..start]), text(&tokens[start + length..])].concat();
    let negations = tokens.iter().filter(|token| token.class == TokenClass::Negation).count();
    if rest.len() < 2 || is_named(&value.join(" "), own_words) {
        return None;
    }
    rest.sort_unstable();
    let role = if is_owner { "owner" } else { tokens[start - 1].text.as_str() };
    let polarity = if negations % 2 == 1 { "not" } else { "" };
    let key = words::hash_of(["name", role, polarity].into_iter().chain(rest.iter().map(String::as_str)));
    let is_weak = has_vague_subject(sentence) || count_telling(&rest.iter().map(String::as_str).collect::<Vec<_>>()) < 2;
    Some(Claim { key, value: words::hash_of(value.iter().map(String::as_str)), sentence: at, is_weak, is_guess: !is_owner })
}

/// Prepositions before a place or a time, of which there is one.
const ROLES: [&str; 4] = ["on", "in", "at", "by"];
/// Verbs, without their endings, of those who are responsible.
const OWNING: [&str; 2] = ["own", "maintain"];

/// The claim of `SUBJECT is VALUE` with a short value of names and words.
fn value_claim(at: u32, sentence: &ComparedSentence, own_words: &str) -> Option<Claim> {
    let copula = sentence.tokens.iter().position(|token| token.class == TokenClass::Copula)?;
    let (subject, value) = sentence.tokens.split_at(copula);
    let content =
        |tokens: &[ComparedWord]| tokens.iter().filter(|token| token.is_content()).map(|token| token.text.clone()).collect::<Vec<_>>();
    let (mut subject, value_words) = (content(subject), content(value));
    let is_name = value.iter().any(|token| token.class == TokenClass::Name);
    let has_facts = value.iter().any(|token| token.class == TokenClass::Fact || token.class == TokenClass::Negation);
    let is_own = || is_named(&value_words.join(" "), own_words);
    let telling = count_telling(&subject.iter().map(String::as_str).collect::<Vec<_>>());
    // One word may be a name in lower case, such as `pnpm`, or describe how something is.
    let is_word = !is_name && value_words.len() == 1 && value.len() == 2 && telling >= 3;
    if !(is_name || is_word) || has_facts || subject.is_empty() || !(1..=3).contains(&value_words.len()) || is_own() {
        return None;
    }
    subject.sort_unstable();
    let key = words::hash_of(["value"].into_iter().chain(subject.iter().map(String::as_str)));
    let value = words::hash_of(value_words.iter().map(String::as_str));
    Some(Claim { key, value, sentence: at, is_weak: has_vague_subject(sentence) || telling < 2, is_guess: is_word })
}

/// Whether a sentence states something by itself: it is neither an entry of a changelog, a row of a table, a copyright nor the introduction
/// of a list. What begins with a bracket is a link, its definition, or an entry with a mark such as `[Fix]`.
fn is_statement(sentence: &ComparedSentence) -> bool {
    let source = sentence.source.as_str();
    let first = |text: &str| text.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty()).unwrap_or_default().to_lowercase();
    let is_entry = |text: &str| ENTRIES.contains(&first(text).as_str());
    // The entries of some changelogs begin with a mark such as `perf:`.
    let is_marked_entry = source.split_once(": ").is_some_and(|(mark, rest)| !mark.contains(' ') && is_entry(rest));
    !source.starts_with('[') && !source.contains('|') && !source.ends_with(':') && !is_entry(source) && !is_marked_entry
}

/// First words of the entries of changelogs, and of copyrights.
const ENTRIES: [&str; 32] = [
    "add", "added", "adds", "bump", "bumped", "copyright", "deprecate", "deprecated", "deps", "drop", "dropped", "fix", "fixed", "fixes",
    "implement", "implemented", "improve", "improved", "merge", "merged", "migrate", "migrated", "remove", "removed", "removes", "rename",
    "renamed", "revert", "reverted", "thanks", "update", "updated",
];

/// Whether a sentence begins with a word for something in the text before it: `It is 300 per minute`.
fn has_vague_subject(sentence: &ComparedSentence) -> bool {
    sentence.tokens.first().is_some_and(|token| VAGUE.contains(&token.text.as_str()))
}

const VAGUE: [&str; 12] = ["this", "that", "these", "those", "it", "its", "he", "she", "they", "their", "here", "there"];

/// The number of words that identify the subject of a sentence.
fn count_telling(words: &[&str]) -> usize {
    words.iter().filter(|word| !UNSPECIFIC.contains(word)).count()
}

/// Words, without their endings, of sentences about any option of any program.
const UNSPECIFIC: [&str; 16] = [
    "default", "value", "option", "sett", "setting", "parameter", "argument", "field", "flag", "set", "millisecond", "second", "minute",
    "hour", "day", "byte",
];

/// The text of a link without its destination, and without the marks around a fact.
fn without_destination(fact: &str) -> &str {
    let text = fact.split("](").next().unwrap_or(fact);
    text.trim_end_matches(['>', ')', ']', '"', '\'', '`', '.', ','])
}

/// Whether a value is in the title or the name of its own memory. A short number is there by chance.
fn is_named(value: &str, own_words: &str) -> bool {
    let is_short_number = value.len() < 3 && value.bytes().all(|byte| byte.is_ascii_digit());
    let value = spaced(value);
    !is_short_number && value.len() > 2 && own_words.contains(&value)
}

/// The words of a text in lower case, with a blank before and after each of them.
pub(super) fn spaced(text: &str) -> String {
    let mut out = String::from(" ");
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        out.push_str(&word.to_lowercase());
        out.push(' ');
    }
    out
}

/// Whether a fact is a date or a time of day: two events at two times do not contradict each other.
fn is_time(fact: &str) -> bool {
    let digits = fact.bytes().filter(u8::is_ascii_digit).count();
    let marks = fact.bytes().filter(|byte| matches!(byte, b'-' | b'/' | b':' | b'.')).count();
    (digits + marks == fact.len() && marks == 2 && digits >= 6) || (fact.contains(':') && digits >= 3 && digits + 1 == fact.len())
}
