//! The `key: value` block at the start of a memory, with the position of every value. Parsing never fails and changes nothing.
//!
//! Anyone may have written the block, and every search, hook and read parses it: the time is linear in its size, and a block beyond
//! the limits is read as text.

use super::scalar::{self, Value};
use crate::base::{error::Problem, limits, steps, text::human_bytes};
use rustc_hash::FxHashSet;
use std::ops::Range;

/// Bytes of a frontmatter; a longer one is read as text. Real ones have a few hundred bytes, and every search, hook and read
/// parses them.
const FRONTMATTER_BYTES: usize = 64 << 10;
/// Bytes of one line of a frontmatter, as much as a long description needs.
const FRONTMATTER_LINE_BYTES: usize = 16 << 10;
/// Keys of a frontmatter, those of mappings included. A list of data is not metadata.
const FRONTMATTER_KEYS: usize = 1_000;

/// One field with its position in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FrontmatterField {
    /// Its key, unquoted.
    pub(super) key: String,
    /// Its whole lines, with line ends, without comments and blank lines that follow.
    pub(super) lines: Range<usize>,
    /// The source of its value; an empty range directly after the colon if there is none.
    pub(super) value: Range<usize>,
    /// Its value.
    pub(super) parsed: Value,
    /// The fields of a mapping, one level deep.
    pub(super) children: Vec<FrontmatterField>,
}

/// The frontmatter of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frontmatter {
    /// Between the two `---` lines.
    pub(super) inner: Range<usize>,
    /// After the closing line.
    pub(super) end: usize,
    /// The fields, in order.
    pub(super) fields: Vec<FrontmatterField>,
}

/// The keys that memdir uses; only for these a missing blank after the colon is accepted.
pub(super) const KNOWN: [&str; 19] = [
    "name", "description", "type", "created", "modified", "updated", "last_verified", "source", "when", "cues", "pinned", "metadata",
    "tags", "stale_after", "status", "supersedes", "superseded_by", "sources", "verified",
];

/// The keys that only a candidate has.
pub(crate) const CANDIDATE_FIELDS: [&str; 10] =
    ["candidate", "changes", "words", "turns", "conversations", "happened", "proposed", "weight", "key", "other_keys"];

/// Parses the frontmatter, if there is one. `start` is the position after a byte order mark.
pub(super) fn parse(text: &str, start: usize) -> (Option<Frontmatter>, Vec<Problem>) {
    let as_body = |line, why: String| (None, vec![Problem::at(line, format!("{why}, so the whole file is read as the body"))]);
    let mut lines = FrontmatterLines { text, at: start, number: 0 };
    let Some(open) = lines.next().filter(|line| line.is("---")) else {
        return (None, Vec::new());
    };
    let mut inside: Vec<FrontmatterLine<'_>> = Vec::new();
    let mut excess: Option<(u64, String)> = None;
    let close = loop {
        let Some(line) = lines.next() else { return as_body(1, "the frontmatter has no closing `---` line".into()) };
        if line.is("---") || line.is("...") {
            break line;
        }
        if excess.is_none() {
            excess = line.excess(&open);
            inside.push(line);
        }
    };
    let first = inside.iter().find(|line| !line.is_ignored());
    let key_words = |line: &FrontmatterLine<'_>| line_key(line.body()).map(|(key, _)| key.split_whitespace().count());
    // Prose between two rules may contain colons, but then every key would have several words.
    if first.is_some_and(|line| key_words(line).is_none() || !inside.iter().any(|line| key_words(line) == Some(1))) {
        return as_body(1, "the file begins with `---`, but no frontmatter in the form `key: value` follows".into());
    }
    if let Some((line, why)) = excess.or_else(|| too_many_keys(&inside)) {
        return as_body(line, why);
    }
    let mut found = Findings::default();
    let fields = fields(text, &inside, first.map_or(0, FrontmatterLine::indent), 1, &mut found);
    if let Some(line) = found.too_deep {
        return as_body(line, format!("the frontmatter is nested more than {} levels deep", limits::FRONTMATTER_DEPTH));
    }
    let inner = open.range.end..inside.last().map_or(open.range.end, |line| line.range.end);
    (Some(Frontmatter { inner, end: close.range.end, fields }), found.problems)
}

/// What is wrong in a frontmatter.
#[derive(Default)]
struct Findings {
    problems: Vec<Problem>,
    /// The line of a value with too many levels.
    too_deep: Option<u64>,
}

impl Findings {
    fn add(&mut self, line: u64, what: impl Into<String>) {
        self.problems.push(Problem::at(line, what));
    }
}

/// The line of the first key too many.
fn too_many_keys(inside: &[FrontmatterLine<'_>]) -> Option<(u64, String)> {
    if inside.len() <= FRONTMATTER_KEYS {
        return None;
    }
    let mut keys = inside.iter().filter(|line| !line.is_ignored() && line_key(line.body()).is_some());
    keys.nth(FRONTMATTER_KEYS).map(|line| (line.number, format!("the frontmatter has more than {} keys", FRONTMATTER_KEYS)))
}

/// A line with its position.
struct FrontmatterLine<'a> {
    /// Its number, 1-based.
    number: u64,
    /// With its line end.
    range: Range<usize>,
    /// Without its line end.
    text: &'a str,
}

impl FrontmatterLine<'_> {
    fn is(&self, mark: &str) -> bool {
        self.text.trim_end() == mark
    }

    /// Why a frontmatter with this line is too large, with the line's number.
    fn excess(&self, open: &FrontmatterLine<'_>) -> Option<(u64, String)> {
        let larger = |what: &str, limit: usize| Some((self.number, format!("{what} is larger than {}", human_bytes(limit as u64))));
        if self.text.len() > FRONTMATTER_LINE_BYTES {
            return larger("a frontmatter line", FRONTMATTER_LINE_BYTES);
        }
        if self.range.end - open.range.end > FRONTMATTER_BYTES {
            return larger("the frontmatter", FRONTMATTER_BYTES);
        }
        None
    }

    fn indent(&self) -> usize {
        self.text.len() - self.body().len()
    }

    fn body(&self) -> &str {
        self.text.trim_start_matches([' ', '\t'])
    }

    /// Whether the line is blank or a comment.
    fn is_ignored(&self) -> bool {
        self.body().trim().is_empty() || self.body().starts_with('#')
    }
}

struct FrontmatterLines<'a> {
    text: &'a str,
    at: usize,
    /// The number of the line before.
    number: u64,
}

impl<'a> Iterator for FrontmatterLines<'a> {
    type Item = FrontmatterLine<'a>;

    fn next(&mut self) -> Option<FrontmatterLine<'a>> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let end = rest.find('\n').map_or(rest.len(), |at| at + 1);
        let range = self.at..self.at + end;
        steps::count(end);
        self.at = range.end;
        self.number += 1;
        Some(FrontmatterLine { number: self.number, text: rest[..end].trim_end_matches(['\r', '\n']), range })
    }
}

/// The fields at this indentation, each with the deeper lines that follow it. Mappings are parsed `deeper` levels down; deeper ones
/// are kept as source.
fn fields(text: &str, lines: &[FrontmatterLine<'_>], indent: usize, deeper: u8, found: &mut Findings) -> Vec<FrontmatterField> {
    let mut all: Vec<FrontmatterField> = Vec::new();
    let mut at = 0;
    let mut numbers = Vec::new();
    while at < lines.len() {
        let line = &lines[at];
        at += 1;
        let Some((key, colon)) = line_key(line.body()).filter(|_| line.indent() == indent && !line.is_ignored()) else {
            if !line.is_ignored() {
                found.add(line.number, "a frontmatter line is not in the form `key: value`");
            }
            continue;
        };
        let block = line.body()[colon..].trim_start().starts_with(['|', '>']);
        let more = continuation(&lines[at..], indent, block);
        all.push(field(text, line, key, &lines[at..at + more], line.indent() + colon, deeper, found));
        numbers.push(line.number);
        at += more;
    }
    let mut seen = FxHashSet::default();
    for (field, number) in all.iter().zip(numbers) {
        if !seen.insert(field.key.as_str()) {
            found.add(number, format!("duplicate key {:?}; the first one is used", field.key));
        }
    }
    all
}

/// The number of these lines that belong to the field above them. Comments at the end belong to no field, except in a `block` scalar.
fn continuation(lines: &[FrontmatterLine<'_>], indent: usize, block: bool) -> usize {
    let mut count = 0;
    for (n, line) in lines.iter().enumerate() {
        steps::count(line.text.len());
        if line.body().trim().is_empty() || (line.body().starts_with('#') && (line.indent() <= indent || !block)) {
            continue;
        }
        let item = line.body().starts_with("- ") || line.body().trim_end() == "-";
        if line.indent() < indent || (line.indent() == indent && !item) {
            break;
        }
        count = n + 1;
    }
    count
}

/// The field with its key on `line`, its colon ending at `colon`, and the continuation lines `more`.
fn field(
    text: &str,
    line: &FrontmatterLine<'_>,
    key: String,
    more: &[FrontmatterLine<'_>],
    colon: usize,
    deeper: u8,
    found: &mut Findings,
) -> FrontmatterField {
    let mut value = one_line_value(text, line.range.start + colon..line.range.start + line.text.len());
    let own_line_empty = value.is_empty();
    let mut lines = line.range.clone();
    if let Some(last) = more.last() {
        value.end = last.range.start + last.text.len();
        lines.end = last.range.end;
    }
    let children = if own_line_empty && deeper > 0 { children(text, more, deeper - 1, found) } else { Vec::new() };
    let parsed = if children.is_empty() { scalar::parse(&text[value.clone()]) } else { Value::Nested };
    match parsed {
        Value::Broken(_) => {
            found.add(line.number, format!("the value of `{key}` is not valid YAML and was read as plain text; put it in quotes"));
        }
        Value::TooDeep => found.too_deep = found.too_deep.or(Some(line.number)),
        Value::Empty | Value::Text(_) | Value::Nested => {}
    }
    if more.iter().any(|line| line.text[..line.indent()].contains('\t')) {
        found.add(line.number, format!("a line of `{key}` is indented with a tab, which YAML does not allow"));
    }
    FrontmatterField { key, lines, value, parsed, children }
}

/// Returns the value on the line of the key, which is the range `after_colon`.
fn one_line_value(text: &str, after_colon: Range<usize>) -> Range<usize> {
    let rest = &text[after_colon.clone()];
    let value = rest.trim_start_matches([' ', '\t']);
    let start = after_colon.start + rest.len() - value.len();
    if value.trim().is_empty() || value.starts_with('#') {
        return after_colon.start..after_colon.start;
    }
    let end = match scalar::quoted_end(value) {
        Some(end) if value[end..].trim().is_empty() || value[end..].trim_start().starts_with('#') => end,
        Some(_) => value.trim_end().len(),
        None => {
            let end = scalar::plain_end(value);
            // Invalid YAML is read as plain text, so it has no comment.
            if matches!(scalar::parse(&value[..end]), Value::Broken(_)) && !value.starts_with(['|', '>']) {
                value.trim_end().len()
            } else {
                end
            }
        }
    };
    start..start + end
}

/// The fields of these lines, if they are a mapping.
fn children(text: &str, lines: &[FrontmatterLine<'_>], deeper: u8, found: &mut Findings) -> Vec<FrontmatterField> {
    match lines.iter().find(|line| !line.is_ignored()) {
        Some(first) if first.indent() > 0 && line_key(first.body()).is_some() => fields(text, lines, first.indent(), deeper, found),
        _ => Vec::new(),
    }
}

/// The unquoted key at the start of a line, and the position after its colon.
fn line_key(line: &str) -> Option<(String, usize)> {
    steps::count(line.len());
    if let Some(end) = scalar::quoted_end(line) {
        let blanks = line[end..].len() - line[end..].trim_start_matches([' ', '\t']).len();
        let colon = end + blanks;
        let key = match scalar::parse(&line[..end]) {
            Value::Text(key) => key,
            _ => line[1..end - 1].to_owned(),
        };
        return ends_key(line, colon).then_some((key, colon + 1));
    }
    if line.starts_with(['{', '[', '-', '#', '|', '>', '"', '\'', '&', '*', '!', '%', '@', '`', ',']) && !line.starts_with("--") {
        return None;
    }
    let colon = line.bytes().enumerate().filter(|&(_, b)| b == b':').map(|(at, _)| at).find(|&at| at > 0 && ends_key(line, at));
    if let Some(colon) = colon {
        return Some((line[..colon].trim_end().to_owned(), colon + 1)).filter(|(key, _)| !key.is_empty());
    }
    let colon = line.find(':')?;
    KNOWN.contains(&&line[..colon]).then(|| (line[..colon].to_owned(), colon + 1))
}

fn ends_key(line: &str, colon: usize) -> bool {
    line.as_bytes().get(colon) == Some(&b':') && line.as_bytes().get(colon + 1).is_none_or(|b| matches!(b, b' ' | b'\t'))
}
