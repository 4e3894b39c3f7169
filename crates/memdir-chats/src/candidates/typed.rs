//! What a person typed, in sentences: without quotes, code, pasted logs and slash commands. Pure.

use memchr::memmem::Finder;
use memdir_core::internal::{
    base::{
        day::starts_with_date,
        steps,
        text::{self, truncate_bytes},
    },
    memory::lines::FenceScanner,
};
use std::sync::LazyLock;

/// Bytes of a message that are looked at: more is pasted.
const MESSAGE_BYTES: usize = 16 << 10;

/// Returns the sentences of a message, each with the mark that ends it.
pub(super) fn sentences(message: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut fences = FenceScanner::default();
    for line in truncate_bytes(message, MESSAGE_BYTES).lines() {
        steps::count(line.len() + 1);
        let line = line.trim();
        if fences.is_code(line) || line.is_empty() || line.starts_with(['>', '|', '/', '!', '$', '`', '<', '{', '}']) || is_pasted(line) {
            continue;
        }
        found.extend(text::sentences(line.trim_start_matches(['-', '*', '•', '#', ' ']), ".!?"));
    }
    found
}

/// What only logs and traces contain.
static PASTED: LazyLock<[Finder<'static>; 12]> = LazyLock::new(|| {
    let marks = [
        " WARN ", " ERROR ", " INFO ", " DEBUG ", " panicked at ", "Traceback (most", "npm ERR!", "    at ", "error[E",
        "Exception in thread", ".rs:", ".py\", line",
    ];
    marks.map(Finder::new)
});

/// Whether a line was pasted: a log, a trace, code.
fn is_pasted(line: &str) -> bool {
    if is_error_line(line) {
        return true;
    }
    let is_stamped = line.len() > 10 && starts_with_date(line.as_bytes());
    if is_stamped || line.starts_with('[') || PASTED.iter().any(|mark| mark.find(line.as_bytes()).is_some()) {
        return true;
    }
    let is_symbol =
        |byte: u8| matches!(byte, b'{' | b'}' | b'=' | b';' | b'<' | b'>' | b'|' | b'\\' | b'_' | b'$' | b'*' | b'&' | b'[' | b']');
    line.bytes().filter(|byte| is_symbol(*byte)).count() * 8 > line.chars().count()
}

/// Whether a line begins as programs print errors: `TypeError: …`, `fatal: …`, `npm WARN …`.
fn is_error_line(line: &str) -> bool {
    const LEVELS: &[&str] =
        &["error", "fatal", "warning", "warn", "panic", "err!", "failed", "abort", "exception", "uncaught", "debug", "info"];
    line.split_whitespace().take(3).enumerate().any(|(at, word)| {
        let (name, is_label) = word.strip_suffix(':').map_or((word, false), |name| (name, true));
        let is_shouted = at == 1 && matches!(word, "WARN" | "ERR!" | "ERROR");
        let is_level = || LEVELS.iter().any(|level| name.eq_ignore_ascii_case(level));
        (is_label || is_shouted) && (is_level() || ["Error", "Exception", "Warning"].iter().any(|end| name.ends_with(end)))
    })
}

/// Whether a sentence is a question.
pub(super) fn is_question(sentence: &str) -> bool {
    let sentence = sentence.trim_end_matches(['"', '\'', ')', '”', ' ']);
    sentence.ends_with(['?', '？']) || sentence.starts_with('¿') || sentence.ends_with("か。") || sentence.ends_with("吗")
}

/// The forms of one character: lower case, one apostrophe, no vowel signs of Arabic.
pub(super) fn fold(c: char) -> impl Iterator<Item = char> {
    let folded = match c {
        '’' | '‘' => Some('\''),
        '\u{a0}' | '\u{202f}' | '\u{3000}' => Some(' '),
        _ => None,
    };
    let is_kept = !matches!(c, '\u{64b}'..='\u{652}' | '\u{640}');
    let lower = is_kept.then(|| c.to_lowercase()).into_iter().flatten();
    folded.into_iter().chain(lower.filter(move |_| folded.is_none()))
}

/// Adds the forms of one character to a text.
pub(super) fn push_folded(c: char, text: &mut String) {
    if c.is_ascii() { text.push(c.to_ascii_lowercase()) } else { text.extend(fold(c)) }
}

/// Whether a character is Chinese or Japanese. Not `text::is_unspaced`, which has Hangul too: there, words are compared, not pairs.
pub(super) fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

/// Returns the words of a text in lower case; of a script without spaces, pairs of characters.
pub(super) fn split_words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut before: Option<char> = None;
    for c in text.chars().flat_map(char::to_lowercase) {
        steps::count(1);
        if is_cjk(c) {
            if let Some(before) = before {
                found.push([before, c].iter().collect());
            }
            before = Some(c);
            continue;
        }
        before = None;
        if c.is_alphanumeric() || (c == '\'' && !word.is_empty()) || c == '’' {
            word.push(if c == '’' { '\'' } else { c });
        } else if !word.is_empty() {
            found.push(std::mem::take(&mut word));
        }
    }
    if !word.is_empty() {
        found.push(word);
    }
    found
}

/// Whether a text says enough: three words, or four characters of a script without spaces.
pub(super) fn says_something(text: &str) -> bool {
    split_words(text).len() >= 3
}
