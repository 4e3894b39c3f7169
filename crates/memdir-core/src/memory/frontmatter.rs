//! The `key: value` block at the start of a memory, with the position of every value. Parsing never fails and changes nothing.

use super::scalar::{self, Value};
use crate::base::{error::Problem, text::line_at};
use std::ops::Range;

/// One field with its position in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    /// Its key, unquoted.
    pub(super) key: String,
    /// Its whole lines, with line ends, without comments and blank lines that follow.
    pub(super) lines: Range<usize>,
    /// The source of its value; an empty range directly behind the colon if there is none.
    pub(super) value: Range<usize>,
    /// Its value.
    pub(super) parsed: Value,
    /// The fields of a mapping, one level deep.
    pub(super) children: Vec<Field>,
}

/// The frontmatter of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frontmatter {
    /// Between the two `---` lines.
    pub(super) inner: Range<usize>,
    /// Behind the closing line.
    pub(super) end: usize,
    /// The fields, in order.
    pub(super) fields: Vec<Field>,
}

/// The keys that memdir uses; only for these a missing blank after the colon is accepted.
const KNOWN: [&str; 11] =
    ["name", "description", "type", "created", "modified", "updated", "last_verified", "source", "when", "metadata", "tags"];

/// Parses the frontmatter, if there is one. `start` is behind a byte order mark.
pub(super) fn parse(text: &str, start: usize) -> (Option<Frontmatter>, Vec<Problem>) {
    let mut lines = Lines { text, at: start };
    let Some(open) = lines.next().filter(|line| line.is("---")) else {
        return (None, Vec::new());
    };
    let inside: Vec<Line<'_>> = lines.by_ref().take_while(|line| !(line.is("---") || line.is("..."))).collect();
    let inner = open.range.end..inside.last().map_or(open.range.end, |line| line.range.end);
    let Some(close) = (Lines { text, at: inner.end }).next() else {
        return (None, vec![Problem::at(1, "the frontmatter is not closed by a line ---, so everything is read as the body")]);
    };
    let first = inside.iter().find(|line| !line.is_ignored());
    let key_words = |line: &Line<'_>| line_key(line.body()).map(|(key, _)| key.split_whitespace().count());
    // Prose between two rules may contain colons, but then every key would have several words.
    if first.is_some_and(|line| key_words(line).is_none() || !inside.iter().any(|line| key_words(line) == Some(1))) {
        return (None, vec![Problem::at(1, "the text begins with ---, but no key: value lines follow, so everything is read as the body")]);
    }
    let mut problems = Vec::new();
    let fields = fields(text, &inside, first.map_or(0, Line::indent), 1, &mut problems);
    (Some(Frontmatter { inner, end: close.range.end, fields }), problems)
}

/// A line with its position.
struct Line<'a> {
    /// With its line end.
    range: Range<usize>,
    /// Without its line end.
    text: &'a str,
}

impl Line<'_> {
    fn is(&self, mark: &str) -> bool {
        self.text.trim_end() == mark
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

struct Lines<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let end = rest.find('\n').map_or(rest.len(), |at| at + 1);
        let range = self.at..self.at + end;
        self.at = range.end;
        Some(Line { text: rest[..end].trim_end_matches(['\r', '\n']), range })
    }
}

/// The fields at this indentation, each with the deeper lines that follow it. Mappings are parsed `deeper` levels down; deeper ones
/// are kept as source.
fn fields(text: &str, lines: &[Line<'_>], indent: usize, deeper: u8, problems: &mut Vec<Problem>) -> Vec<Field> {
    let mut all: Vec<Field> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let line = &lines[at];
        at += 1;
        let Some((key, colon)) = line_key(line.body()).filter(|_| line.indent() == indent && !line.is_ignored()) else {
            if !line.is_ignored() {
                problems.push(Problem::at(line_at(text, line.range.start), "a line of the frontmatter is not of the form key: value"));
            }
            continue;
        };
        let block = line.body()[colon..].trim_start().starts_with(['|', '>']);
        let more = continuation(&lines[at..], indent, block);
        let field = field(text, line, key, &lines[at..at + more], line.indent() + colon, deeper, problems);
        at += more;
        if all.iter().any(|earlier| earlier.key == field.key) {
            problems.push(Problem::at(line_at(text, field.lines.start), format!("duplicate key {:?}; the first one is used", field.key)));
        }
        all.push(field);
    }
    all
}

/// The number of these lines that belong to the field above them. Comments at the end belong to no field, except in a `block` scalar.
fn continuation(lines: &[Line<'_>], indent: usize, block: bool) -> usize {
    let mut count = 0;
    for (n, line) in lines.iter().enumerate() {
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
fn field(text: &str, line: &Line<'_>, key: String, more: &[Line<'_>], colon: usize, deeper: u8, problems: &mut Vec<Problem>) -> Field {
    let mut value = one_line_value(text, line.range.start + colon..line.range.start + line.text.len());
    let own_line_empty = value.is_empty();
    let mut lines = line.range.clone();
    if let Some(last) = more.last() {
        value.end = last.range.start + last.text.len();
        lines.end = last.range.end;
    }
    let children = if own_line_empty && deeper > 0 { children(text, more, deeper - 1, problems) } else { Vec::new() };
    let parsed = if children.is_empty() { scalar::parse(&text[value.clone()]) } else { Value::Nested };
    let number = line_at(text, line.range.start);
    if matches!(parsed, Value::Broken(_)) {
        problems.push(Problem::at(number, format!("the value of {key} is not valid YAML and was read as plain text; put it in quotes")));
    }
    if more.iter().any(|line| line.text[..line.indent()].contains('\t')) {
        problems.push(Problem::at(number, format!("{key} is indented with a tab, which YAML does not allow")));
    }
    Field { key, lines, value, parsed, children }
}

/// The value on the line of the key, `behind` the colon.
fn one_line_value(text: &str, behind: Range<usize>) -> Range<usize> {
    let rest = &text[behind.clone()];
    let value = rest.trim_start_matches([' ', '\t']);
    let start = behind.start + rest.len() - value.len();
    if value.trim().is_empty() || value.starts_with('#') {
        return behind.start..behind.start;
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
fn children(text: &str, lines: &[Line<'_>], deeper: u8, problems: &mut Vec<Problem>) -> Vec<Field> {
    match lines.iter().find(|line| !line.is_ignored()) {
        Some(first) if first.indent() > 0 && line_key(first.body()).is_some() => fields(text, lines, first.indent(), deeper, problems),
        _ => Vec::new(),
    }
}

/// The unquoted key at the start of a line, and the position behind its colon.
fn line_key(line: &str) -> Option<(String, usize)> {
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
