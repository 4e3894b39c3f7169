//! Python's regular expressions on the engine of Rust: the few notations that differ are translated, and the steps are bounded.

use crate::base::{
    error::{Error, Result},
    text::human_bytes,
};
use fancy_regex::{Captures, Regex, RegexBuilder};
use std::borrow::Cow;

/// Backtracking steps of a model's regular expression on one memory: a tenth of a second, at worst a second.
const REGEX_STEPS: usize = 1_000_000;

/// Iterates over the matches of a pattern in a text, in order, without overlap.
pub(super) struct PatternSearch<'t> {
    pattern: String,
    regex: Regex,
    text: &'t str,
    at: usize,
    matches: usize,
    /// Whether the pattern needs backtracking, so that the steps of each match and the number of matches are bounded.
    hard: bool,
    /// The bytes that all matches together may have looked at.
    looked_at: u64,
}

/// The maximum number of matches of a pattern that needs backtracking: bounded steps then mean bounded time.
const HARD_MATCHES: usize = 2_000;
/// The maximum number of bytes that all matches together may look at: each may look at the rest of the text. A text of 100 KB may have
/// a match at every character, one of 16 MB has five hundred.
const LOOKED_AT: u64 = 1 << 33;
/// The minimum number of steps that each of many matches may take.
const MIN_STEPS: usize = 50_000;
/// The maximum number of instructions and bytes of a compiled pattern.
const PROGRAM_SIZE: usize = 100_000;
const PROGRAM_BYTES: usize = 4 << 20;

impl<'t> PatternSearch<'t> {
    /// Compiles a Python pattern.
    pub(super) fn new(source: &str, text: &'t str) -> Result<Self> {
        let pattern = translate(source);
        let regex = build(&pattern, REGEX_STEPS).map_err(|error| Error::bad_input("regular expression", error.to_string()))?;
        // A pattern that the engine without backtracking accepts takes linear time.
        let hard = regex::RegexBuilder::new(&pattern).size_limit(PROGRAM_BYTES).build().is_err();
        Ok(PatternSearch { pattern, regex, text, at: 0, matches: 0, hard, looked_at: 0 })
    }

    /// The next match.
    pub(super) fn next_match(&mut self) -> Result<Option<Captures<'t, str>>> {
        if self.at > self.text.len() {
            return Ok(None);
        }
        let rest = self.text.len() - self.at;
        self.looked_at += rest as u64;
        if self.looked_at > LOOKED_AT {
            return Err(Error::bad_expression(format!(
                "the regular expression matches at least {} times in a text of {}, which takes too long; make it more specific",
                self.matches,
                human_bytes(self.text.len() as u64)
            )));
        }
        let Some(groups) = self.regex.captures_from_pos(self.text, self.at).map_err(limit_exceeded)? else {
            return Ok(None);
        };
        let Some(whole) = groups.get(0) else { return Ok(None) };
        let step = self.text[whole.end()..].chars().next().map_or(1, char::len_utf8);
        self.at = if whole.start() == whole.end() { whole.end() + step } else { whole.end() };
        self.matches += 1;
        self.bound()?;
        Ok(Some(groups))
    }

    /// Whether the pattern matches the empty string between any two characters.
    pub(super) fn matches_empty(&self) -> Result<bool> {
        let probe = "\u{e000}\u{e000}";
        let between = '\u{e000}'.len_utf8();
        let found = self.regex.find_from_pos(probe, between).map_err(limit_exceeded)?;
        Ok(found.is_some_and(|found| found.start() == between && found.end() == between))
    }

    /// Whether the pattern matches again within a match, after its first character.
    pub(super) fn matches_again_inside(&self, start: usize, end: usize) -> Result<bool> {
        let first = self.text[start..end].chars().next().map_or(0, char::len_utf8);
        self.regex.is_match(&self.text[start + first..end]).map_err(limit_exceeded)
    }

    /// Keeps the sum of all steps bounded: with twice as many matches, each has half the steps.
    fn bound(&mut self) -> Result<()> {
        if !self.hard {
            return Ok(());
        }
        if self.matches > HARD_MATCHES {
            let why = format!(
                "the regular expression needs backtracking, for example for look-around or a backreference, and matches more than {HARD_MATCHES} times; make it more specific"
            );
            return Err(Error::bad_expression(why));
        }
        let steps = (REGEX_STEPS >> self.matches.ilog2()).max(MIN_STEPS);
        if self.matches.is_power_of_two() && steps > MIN_STEPS {
            self.regex = build(&self.pattern, steps).map_err(|error| Error::bad_input("regular expression", error.to_string()))?;
        }
        Ok(())
    }
}

fn build(pattern: &str, steps: usize) -> Result<Regex, Box<fancy_regex::Error>> {
    RegexBuilder::new(pattern)
        .multi_line(true)
        .dot_matches_new_line(true)
        .backtrack_limit(steps)
        .max_prog_size(PROGRAM_SIZE)
        .delegate_size_limit(PROGRAM_BYTES)
        .build()
        .map_err(Box::new)
}

fn limit_exceeded(_: fancy_regex::Error) -> Error {
    let why =
        "the regular expression takes too many steps on this memory; make it more specific and avoid nested repetition such as `(a+)+`";
    Error::bad_expression(why)
}

/// Translates a Python pattern to the syntax of the engine.
fn translate(source: &str) -> String {
    let mut out = String::with_capacity(source.len() + 8);
    let mut rest = source;
    let mut class = SetPosition::Outside;
    while let Some(c) = rest.chars().next() {
        let (written, taken) = match (c, class) {
            ('\\', _) => escape(rest, class != SetPosition::Outside),
            ('[', SetPosition::Outside) => {
                class = SetPosition::First;
                ("[".into(), 1)
            }
            ('^', SetPosition::First) if out.ends_with('[') => ("^".into(), 1),
            (']', SetPosition::First) => (r"\]".into(), 1),
            (']', SetPosition::Inside) => {
                class = SetPosition::Outside;
                ("]".into(), 1)
            }
            // Python has no nested sets.
            ('[' | '&' | '~', SetPosition::First | SetPosition::Inside) => (format!("\\{c}").into(), 1),
            ('{', SetPosition::Outside) => repeat(rest),
            ('(', SetPosition::Outside) => flags(rest),
            _ => (Cow::Borrowed(&rest[..c.len_utf8()]), c.len_utf8()),
        };
        if class == SetPosition::First && !matches!(written.as_ref(), "[" | "^") {
            class = SetPosition::Inside;
        }
        out.push_str(&written);
        rest = &rest[taken..];
    }
    out
}

/// The position of the translator relative to a character set.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SetPosition {
    Outside,
    /// Where `]` is literal.
    First,
    Inside,
}

/// Translates the escape at the start of a text, and returns its length.
fn escape(text: &str, in_class: bool) -> (Cow<'_, str>, usize) {
    let Some(c) = text[1..].chars().next() else {
        return (Cow::Borrowed("\\"), 1);
    };
    let octal = text[1..].bytes().take(3).take_while(|b| matches!(b, b'0'..=b'7')).count();
    match c {
        'Z' if !in_class => (r"\z".into(), 2),
        'b' if in_class => (r"\x08".into(), 2),
        '<' | '>' if !in_class => (Cow::Borrowed(&text[1..2]), 2),
        '0' => octal_char(&text[1..1 + octal.max(1)]),
        '1'..='7' if in_class || octal == 3 => octal_char(&text[1..1 + octal]),
        c => (Cow::Borrowed(&text[..1 + c.len_utf8()]), 1 + c.len_utf8()),
    }
}

fn octal_char(digits: &str) -> (Cow<'static, str>, usize) {
    let code = u32::from_str_radix(digits, 8).unwrap_or(0);
    (format!("\\x{{{code:x}}}").into(), 1 + digits.len())
}

/// Translates the repeat count at the start of a text; any other brace is literal.
fn repeat(text: &str) -> (Cow<'_, str>, usize) {
    let counts = text[1..].split_once('}').map(|(counts, _)| counts);
    let is_number = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    match counts.map(|counts| (counts, counts.split_once(','))) {
        Some((counts, None)) if !counts.is_empty() && is_number(counts) => (Cow::Borrowed(&text[..counts.len() + 2]), counts.len() + 2),
        Some((counts, Some(("", most)))) if !most.is_empty() && is_number(most) => (format!("{{0,{most}}}").into(), counts.len() + 2),
        Some((counts, Some((least, most)))) if !least.is_empty() && is_number(least) && is_number(most) => {
            (Cow::Borrowed(&text[..counts.len() + 2]), counts.len() + 2)
        }
        _ => (r"\{".into(), 1),
    }
}

/// Translates the opening bracket at the start of a text: drops the flags that only Python has.
fn flags(text: &str) -> (Cow<'_, str>, usize) {
    let body = text.strip_prefix("(?").unwrap_or_default();
    let letters = body.len() - body.trim_start_matches(|c: char| "aiLmsux".contains(c)).len();
    let (set, end) = (&body[..letters], &body[letters..]);
    if set.contains(['a', 'L']) && end.starts_with([')', ':', '-']) {
        let kept: String = set.chars().filter(|c| !matches!(c, 'a' | 'L')).collect();
        // A group without flags is an empty match.
        let written = if kept.is_empty() && end.starts_with(')') { "(?:".to_owned() } else { format!("(?{kept}") };
        return (written.into(), 2 + letters);
    }
    (Cow::Borrowed("("), 1)
}
