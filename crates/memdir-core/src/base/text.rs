//! Text as lines and bytes: ranges, truncation, sizes, decoding, similar names. Never splits a character.
//!
//! A line ends at `\n` (so `\r\n` ends one too); a final line end does not begin another line.

mod words;

use crate::base::sort::SharedSort as _;
use crate::base::{
    error::{Error, Problem, Result},
    path::strip_md,
    steps,
};
use std::{borrow::Cow, fmt, num::IntErrorKind, str::FromStr};

pub use words::{is_unspaced, lower_case_words, one_line, sentences};

/// A range of lines, 1-based and inclusive: `42-56`, `42-` (to the end), `42` (one line).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LineRange {
    /// The first line, at least 1.
    pub first: u64,
    /// The last line, at least `first`; `None` means to the end.
    pub last: Option<u64>,
}

impl LineRange {
    /// Returns these lines of `text`, with their line ends. Lines past the end are ignored.
    pub fn slice<'a>(&self, text: &'a str) -> &'a str {
        let start = line_start(text, self.first);
        let rest = &text[start..];
        match self.last {
            Some(last) => &rest[..line_start(rest, (last + 1).saturating_sub(self.first).saturating_add(1))],
            None => rest,
        }
    }
}

impl FromStr for LineRange {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bad = |why: &str| Error::bad_input("lines", format!("{text:?} {why}; use a line number or a range, such as 42, 42-56 or 42-"));
        let number = |digits: &str| match digits.parse::<u64>() {
            Ok(0) => Err(bad("includes line 0, but line numbers start at 1")),
            Ok(u64::MAX) => Err(bad("contains a line number that is too large")),
            Ok(line) if digits.bytes().all(|b| b.is_ascii_digit()) => Ok(line),
            Err(error) if *error.kind() == IntErrorKind::PosOverflow => Err(bad("contains a line number that is too large")),
            _ => Err(bad("is not a line range")),
        };
        let Some((first, last)) = text.trim().split_once('-') else {
            let line = number(text.trim())?;
            return Ok(LineRange { first: line, last: Some(line) });
        };
        let first = number(first.trim())?;
        let last = if last.trim().is_empty() { None } else { Some(number(last.trim())?) };
        if last.is_some_and(|last| last < first) {
            return Err(bad("ends before it begins"));
        }
        Ok(LineRange { first, last })
    }
}

impl fmt::Display for LineRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.last {
            Some(last) if last == self.first => write!(f, "{last}"),
            Some(last) => write!(f, "{}-{last}", self.first),
            None => write!(f, "{}-", self.first),
        }
    }
}

/// Counts the lines of a text. An empty text has none.
pub fn lines(text: &str) -> u64 {
    let ends = text.bytes().filter(|&b| b == b'\n').count() as u64;
    if text.is_empty() || text.ends_with('\n') { ends } else { ends + 1 }
}

/// Returns the 1-based line of the byte `at`. For many positions of one text, use a [`LineCounter`].
pub fn line_at(text: &str, at: usize) -> u64 {
    LineCounter::new(text).line_at(at)
}

/// Numbers the lines of ascending positions in a text, each of whose bytes is looked at once.
#[derive(Debug, Clone)]
pub struct LineCounter<'a> {
    text: &'a str,
    at: usize,
    line: u64,
}

impl<'a> LineCounter<'a> {
    /// Creates a counter at the beginning of a text.
    pub fn new(text: &'a str) -> LineCounter<'a> {
        LineCounter { text, at: 0, line: 1 }
    }

    /// Returns the 1-based line of the byte `at`. A position before the last one starts over.
    pub fn line_at(&mut self, at: usize) -> u64 {
        let at = at.min(self.text.len());
        if at < self.at {
            (self.at, self.line) = (0, 1);
        }
        steps::count(at - self.at);
        self.line += self.text.as_bytes()[self.at..at].iter().filter(|&&b| b == b'\n').count() as u64;
        self.at = at;
        self.line
    }
}

/// Returns the byte at which the 1-based `line` begins; the end of the text if it has fewer lines.
pub fn line_start(text: &str, line: u64) -> usize {
    let Some(ends) = usize::try_from(line).ok().and_then(|line| line.checked_sub(2)) else {
        return if line <= 1 { 0 } else { text.len() };
    };
    text.bytes().enumerate().filter(|&(_, b)| b == b'\n').nth(ends).map_or(text.len(), |(at, _)| at + 1)
}

/// A text truncated to a number of lines and bytes, with its original size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut<'a> {
    /// The truncated text.
    pub text: &'a str,
    /// Lines of the whole text, trimmed.
    pub lines: u64,
    /// Bytes of the whole text, trimmed.
    pub bytes: u64,
    /// Whether the whole text has too many lines.
    pub cut_by_lines: bool,
    /// Whether the whole text has too many bytes.
    pub cut_by_bytes: bool,
    /// Lines of the truncated text, the last perhaps in part.
    pub shown_lines: u64,
}

/// Trims a text and truncates it to `max_lines`, then to `max_bytes`: at the end of the last line that fits, or at the last
/// character if not even one line fits.
pub fn truncate(text: &str, max_lines: usize, max_bytes: usize) -> Cut<'_> {
    let whole = text.trim();
    let count = lines(whole);
    let mut shown = whole;
    let cut_by_lines = count > max_lines as u64;
    if cut_by_lines {
        shown = whole[..line_start(whole, max_lines as u64 + 1)].trim_end_matches(['\r', '\n']);
    }
    if shown.len() > max_bytes {
        let fits = &shown[..floor_char_boundary(shown, max_bytes)];
        // A line end right after the limit means that the last line fits completely.
        let end = if shown[fits.len()..].starts_with(['\n', '\r']) { fits.len() } else { fits.rfind('\n').unwrap_or(fits.len()) };
        shown = fits[..end].trim_end_matches(['\r', '\n']);
    }
    Cut {
        text: shown,
        lines: count,
        bytes: whole.len() as u64,
        cut_by_lines,
        cut_by_bytes: whole.len() > max_bytes,
        shown_lines: lines(shown),
    }
}

/// Returns the longest prefix of a text with at most `max_bytes` bytes that ends at a character boundary.
pub fn truncate_bytes(text: &str, max_bytes: usize) -> &str {
    &text[..floor_char_boundary(text, max_bytes)]
}

/// Returns the last character boundary at or before the byte `at`.
pub fn floor_char_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// The beginning of a text that was truncated to a number of characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextPart<'a> {
    /// The beginning: whole lines, unless [`TextPart::split`].
    pub text: &'a str,
    /// The line to continue at; `None` if no whole line is left.
    pub next_line: Option<u64>,
    /// The line that is too long by itself and was split.
    pub split: Option<u64>,
    /// The number of omitted characters.
    pub left_chars: u64,
}

/// Truncates a text, whose first line has the number `first_line`, to at most `max_chars` characters at the end of a line. A first
/// line that is longer is split, so that the result is never empty and continued reading always makes progress.
pub fn truncate_chars(text: &str, first_line: u64, max_chars: usize) -> TextPart<'_> {
    let Some((limit, _)) = text.char_indices().nth(max_chars) else {
        return TextPart { text, next_line: None, split: None, left_chars: 0 };
    };
    let left = |shown: usize| text[shown..].chars().count() as u64;
    if let Some(end) = text[..limit].rfind('\n').map(|at| at + 1) {
        return TextPart { text: &text[..end], next_line: Some(first_line + lines(&text[..end])), split: None, left_chars: left(end) };
    }
    let more = text[limit..].find('\n').is_some_and(|at| limit + at + 1 < text.len());
    TextPart { text: &text[..limit], next_line: more.then_some(first_line + 1), split: Some(first_line), left_chars: left(limit) }
}

/// The length of a character in JSON, in UTF-16 code units, which is how the strictest host counts.
pub fn json_units(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        c => c.len_utf16(),
    }
}

/// Truncates a text to at most `max_chars` characters; a truncated text ends in `…`.
pub fn ellipsis(text: &str, max_chars: usize) -> Cow<'_, str> {
    if text.chars().count() <= max_chars {
        return Cow::Borrowed(text);
    }
    let kept: String = text.chars().take(max_chars.saturating_sub(1)).collect();
    Cow::Owned(if max_chars == 0 { String::new() } else { format!("{}…", kept.trim_end()) })
}

/// Names the first of some things, as in `a and b` or `a and 2 more`; `none` if there are none.
pub(crate) fn first_names(names: &[&str], none: &str) -> String {
    match names {
        [] => none.to_owned(),
        [one] => (*one).to_owned(),
        [one, two] => format!("{one} and {two}"),
        [one, rest @ ..] => format!("{one} and {} more", rest.len()),
    }
}

/// Formats a count with its noun: `1 file`, `2 files`.
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Formats a size: `512 bytes`, `24.4 KB`, `3 MB`. A KB is 1,024 bytes.
pub fn human_bytes(bytes: u64) -> String {
    if bytes < 1024 {
        return counted(bytes, "byte", "bytes");
    }
    let mut tenths = bytes as f64 / 102.4;
    let mut unit = "KB";
    for larger in ["MB", "GB", "TB"] {
        if tenths.round() < 10_240.0 {
            break;
        }
        tenths /= 1024.0;
        unit = larger;
    }
    let tenths = tenths.round() as u64;
    match tenths % 10 {
        0 => format!("{} {unit}", tenths / 10),
        tenth => format!("{}.{tenth} {unit}", tenths / 10),
    }
}

/// Decodes bytes as UTF-8. Invalid bytes become U+FFFD, and the first of them is reported.
pub fn decode(bytes: &[u8]) -> (Cow<'_, str>, Vec<Problem>) {
    // Validation is several times faster than lossy decoding.
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return (Cow::Borrowed(text), Vec::new()),
        Err(error) => error,
    };
    let text = String::from_utf8_lossy(bytes);
    let at = error.valid_up_to();
    let line = bytes[..at].iter().filter(|&&b| b == b'\n').count() as u64 + 1;
    let what = format!("byte {} of the file is not valid UTF-8; invalid bytes are kept and shown as \u{fffd}", at + 1);
    (text, vec![Problem::at(line, what)])
}

/// Returns the names that are similar to the wanted one, best first: equal except for case, `_`, `-` and extension; equal in the
/// last part; one contains the other; a small edit distance.
pub fn near<'a>(wanted: &str, names: impl Iterator<Item = &'a str>, most: usize) -> Vec<String> {
    let wanted = FoldedName::new(wanted);
    let mut found: Vec<(f64, &str)> =
        names.map(|name| (wanted.similarity(&FoldedName::new(name)), name)).filter(|(score, _)| *score >= 0.6).collect();
    found.shared_sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    found.truncate(most);
    found.into_iter().map(|(_, name)| name.to_owned()).collect()
}

/// A name without case, separators and extension.
struct FoldedName {
    whole: String,
    last: String,
}

impl FoldedName {
    fn new(name: &str) -> FoldedName {
        let fold = |text: &str| text.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect::<String>();
        let name = strip_md(name);
        FoldedName { whole: fold(name), last: fold(name.rsplit('/').next().unwrap_or(name)) }
    }

    fn similarity(&self, other: &FoldedName) -> f64 {
        if self.whole == other.whole {
            return 1.0;
        }
        if !self.last.is_empty() && self.last == other.last {
            return 0.95;
        }
        let contains = |a: &str, b: &str| b.chars().count() >= 3 && a.contains(b);
        let part: f64 = if contains(&other.last, &self.last) || contains(&self.last, &other.last) || contains(&other.whole, &self.whole) {
            0.75
        } else {
            0.0
        };
        part.max(edit_similarity(&self.whole, &other.whole)).max(0.9 * edit_similarity(&self.last, &other.last))
    }
}

/// Returns the similarity by edit distance. Texts of very different length are not compared, which keeps ten thousand names cheap.
fn edit_similarity(a: &str, b: &str) -> f64 {
    let (short, long) = (a.len().min(b.len()), a.len().max(b.len()));
    if short * 2 < long { 0.0 } else { strsim::normalized_levenshtein(a, b) }
}
