//! Replaces a part of a text. Pure: old text in, new text out. Errors say why an edit does not apply; the time is bounded for every
//! pattern a model may send.

use super::pattern;
use crate::base::{
    error::{EditProblem, Error, Result},
    limits, steps,
    text::line_at,
};
use std::borrow::Cow;

/// What to replace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Needle {
    /// Exactly this text.
    Literal(String),
    /// What this regular expression matches, with the semantics of Python's `re` with MULTILINE and DOTALL. In the replacement `$!1`
    /// is its first group and `$!0` the whole match; everything else is literal.
    Regex(String),
}

/// The result of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedText {
    /// The new text.
    pub text: String,
    /// The number of replacements.
    pub count: usize,
}

/// Replaces the only match of the needle, or `all` of them.
pub fn edit(text: &str, needle: &Needle, with: &str, all: bool) -> Result<EditedText> {
    let with = with_line_endings_of(text, with);
    let spots = match needle {
        Needle::Literal(needle) => find_literal(text, needle)?,
        Needle::Regex(source) => find_regex(text, source, &with)?,
    };
    if spots.len() > 1 && !all {
        return Err(several(text, &spots, needle));
    }
    let new_size = spots.iter().fold(text.len(), |size, spot| (size - (spot.end - spot.start)).saturating_add(spot.with(&with).len()));
    // Bounds the work; the store knows the limit of the mount.
    if new_size > limits::DIALECT_FILE_BYTES && new_size > text.len() {
        return Err(Error::TooLarge { what: "the edited memory".into(), size: new_size as u64, limit: limits::DIALECT_FILE_BYTES as u64 });
    }
    let mut new = String::with_capacity(new_size);
    let mut done = 0;
    for spot in &spots {
        new.push_str(&text[done..spot.start]);
        new.push_str(spot.with(&with));
        done = spot.end;
    }
    new.push_str(&text[done..]);
    Ok(EditedText { text: new, count: spots.len() })
}

/// A range that is replaced.
struct Replacement {
    start: usize,
    end: usize,
    /// The new text with this match's groups, if it names any.
    filled: Option<String>,
}

impl Replacement {
    fn with<'a>(&'a self, with: &'a str) -> &'a str {
        self.filled.as_deref().unwrap_or(with)
    }
}

/// The maximum number of lines in an error.
const MAX_LINES: usize = 10;

fn several(text: &str, spots: &[Replacement], needle: &Needle) -> Error {
    let mut lines: Vec<String> = spots.iter().take(MAX_LINES).map(|spot| line_at(text, spot.start).to_string()).collect();
    lines.dedup();
    let more = if spots.len() > MAX_LINES { ", …" } else { "" };
    let word = if lines.len() == 1 && more.is_empty() { "line" } else { "lines" };
    let (count, places) = (spots.len(), format!("on {word} {}{more}", lines.join(", ")));
    let why = match needle {
        Needle::Literal(_) => format!("the text to replace occurs {count} times, {places}; add surrounding text so that it occurs once"),
        Needle::Regex(_) => {
            format!("the regular expression matches {count} times, {places}; make it more specific so that it matches once")
        }
    };
    Error::BadEdit { why, problem: EditProblem::SeveralMatches }
}

fn find_literal(text: &str, needle: &str) -> Result<Vec<Replacement>> {
    if needle.is_empty() {
        return Err(Error::bad_edit("the text to replace is empty; use text that occurs in the memory"));
    }
    let spots = |needle: &str| -> Vec<Replacement> {
        steps::count(text.len());
        text.match_indices(needle).map(|(start, _)| Replacement { start, end: start + needle.len(), filled: None }).collect()
    };
    let mut found = spots(needle);
    // A caller that read the memory without its carriage returns means the same lines.
    if found.is_empty() && text.contains("\r\n") && needle.contains('\n') {
        found = spots(&to_crlf(needle));
    }
    if found.is_empty() { Err(no_match(text, needle)) } else { Ok(found) }
}

/// Converts a replacement to `\r\n` if every line of the text ends in it.
pub fn with_line_endings_of<'a>(text: &str, with: &'a str) -> Cow<'a, str> {
    let ends = text.matches('\n').count();
    let all_crlf = ends > 0 && text.matches("\r\n").count() == ends;
    if all_crlf && with.contains('\n') { Cow::Owned(to_crlf(with)) } else { Cow::Borrowed(with) }
}

fn to_crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

/// The error for a text without a match, with the nearest line.
fn no_match(text: &str, needle: &str) -> Error {
    let none = "the text to replace does not occur in the memory";
    if let Some(at) = find_folded(text, needle, |c| (!c.is_whitespace()).then_some(c)) {
        return Error::bad_edit(format!("{none}; it occurs with different whitespace on line {}", line_at(text, at)));
    }
    if let Some(at) = find_folded(text, needle, |c| c.to_lowercase().next().filter(|c| !c.is_whitespace())) {
        return Error::bad_edit(format!("{none}; it occurs with different capitalization or whitespace on line {}", line_at(text, at)));
    }
    match nearest_line(text, needle) {
        Some((line, text)) => Error::bad_edit(format!("{none}; the most similar line is line {line}: {text:?}")),
        None => Error::bad_edit(none),
    }
}

/// The start of a needle in a text if both are mapped by `fold`, which drops and changes characters.
fn find_folded(text: &str, needle: &str, fold: impl Fn(char) -> Option<char>) -> Option<usize> {
    let needle: String = needle.chars().filter_map(&fold).collect();
    if needle.is_empty() || text.len() > FOLD_BYTES {
        return None;
    }
    steps::count(text.len());
    let mut folded = String::with_capacity(text.len());
    let mut places = Vec::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        if let Some(c) = fold(c) {
            folded.push(c);
            places.resize(folded.len(), at);
        }
    }
    folded.find(&needle).and_then(|at| places.get(at).copied())
}

/// The maximum size of a text that is searched for the nearest line: a hint must not cost more than the edit.
const FOLD_BYTES: usize = 1 << 20;
/// The number of lines, and of characters of each, that are compared for the nearest one.
const NEAR_LINES: usize = 2_000;
const NEAR_CHARS: usize = 200;

fn nearest_line(text: &str, needle: &str) -> Option<(usize, String)> {
    let short = |line: &str| line.trim().chars().take(NEAR_CHARS).collect::<String>();
    let wanted = needle.lines().map(short).find(|line| !line.is_empty())?;
    let lines = text.lines().take(NEAR_LINES).map(short).enumerate();
    let scored = lines
        .inspect(|(_, line)| steps::count(line.len() * wanted.len()))
        .map(|(n, line)| (strsim::normalized_levenshtein(&wanted, &line), n, line));
    let (score, n, line) = scored.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))?;
    (score >= 0.5).then_some((n + 1, line))
}

fn find_regex(text: &str, source: &str, with: &str) -> Result<Vec<Replacement>> {
    if source.is_empty() {
        return Err(Error::bad_expression("the regular expression is empty; use one that matches the text to replace"));
    }
    steps::count(text.len());
    let mut search = pattern::PatternSearch::new(source, text)?;
    let has_groups = with.contains("$!");
    let mut spots = Vec::new();
    let mut size = 0usize;
    while let Some(groups) = search.next_match()? {
        let whole = groups.get(0).ok_or_else(|| Error::bad_edit("the regular expression matches nothing in the memory"))?;
        let (start, end) = (whole.start(), whole.end());
        if start == end && search.matches_empty()? {
            return Err(Error::bad_expression("the regular expression matches the empty string; make it match at least one character"));
        }
        if text[start..end].contains('\n') && search.matches_again_inside(start, end)? {
            return Err(Error::bad_expression(format!(
                "the match that begins on line {} is ambiguous: the regular expression matches again inside it; make it more specific, for example with `.*?` instead of `.*`",
                line_at(text, start)
            )));
        }
        let filled = if has_groups { Some(fill_groups(with, &groups)?) } else { None };
        size = size.saturating_add(filled.as_ref().map_or(0, String::len));
        if size > limits::DIALECT_FILE_BYTES {
            return Err(Error::TooLarge { what: "the edited memory".into(), size: size as u64, limit: limits::DIALECT_FILE_BYTES as u64 });
        }
        spots.push(Replacement { start, end, filled });
    }
    if spots.is_empty() {
        let hint =
            if text.contains("\r\n") && source.contains(r"\n") { "; lines in this memory end with `\\r\\n`, so use `\\r?\\n`" } else { "" };
        return Err(Error::bad_edit(format!("the regular expression matches nothing in the memory{hint}")));
    }
    Ok(spots)
}

/// Replaces `$!1` and the like by the groups of a match.
fn fill_groups(with: &str, groups: &fancy_regex::Captures<'_, str>) -> Result<String> {
    let mut out = String::with_capacity(with.len());
    let mut rest = with;
    while let Some(at) = rest.find("$!") {
        let digits = rest[at + 2..].len() - rest[at + 2..].trim_start_matches(|c: char| c.is_ascii_digit()).len();
        out.push_str(&rest[..at]);
        let number = &rest[at + 2..at + 2 + digits];
        if number.is_empty() {
            out.push_str("$!");
        } else {
            let group = number.parse::<usize>().ok().filter(|&group| group < groups.len());
            let group = group.ok_or_else(|| {
                let has = match groups.len() - 1 {
                    0 => "no groups".to_owned(),
                    1 => "only 1 group".to_owned(),
                    count => format!("only {count} groups"),
                };
                Error::bad_expression(format!("the replacement refers to group $!{number}, but the regular expression has {has}"))
            })?;
            out.push_str(groups.get(group).map_or("", |group| group.as_str()));
        }
        rest = &rest[at + 2 + digits..];
    }
    out.push_str(rest);
    Ok(out)
}
