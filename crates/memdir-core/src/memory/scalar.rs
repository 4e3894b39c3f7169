//! One frontmatter value: from YAML to text and back. Never fails: invalid YAML is read as plain text.

use crate::base::{limits, steps};
use serde::Deserialize;

/// A parsed value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// Empty, or `null`.
    Empty,
    /// A scalar.
    Text(String),
    /// A list or a mapping; only its source is kept.
    Nested,
    /// Invalid YAML, read as plain text.
    Broken(String),
    /// Lists and mappings of more levels than [`limits::FRONTMATTER_DEPTH`].
    TooDeep,
}

/// Parses the source of a value, which may span lines.
pub(super) fn parse(raw: &str) -> Value {
    if let Some(text) = simple(raw) {
        return if is_null(raw.trim()) { Value::Empty } else { Value::Text(text.to_owned()) };
    }
    if levels(raw) > limits::FRONTMATTER_DEPTH {
        return Value::TooDeep;
    }
    let document = format!("k: {raw}\n");
    steps::count(document.len());
    if let Ok(YamlField { k }) = from_yaml::<String>(&document) {
        let block = raw.trim_start().starts_with(['|', '>']);
        let text = if block { k.trim_end_matches('\n').to_owned() } else { k };
        return if text.is_empty() && quoted_end(raw.trim()).is_none() { Value::Empty } else { Value::Text(text) };
    }
    match from_yaml::<serde::de::IgnoredAny>(&document) {
        Ok(_) => Value::Nested,
        Err(()) => Value::Broken(plain_text(raw)),
    }
}

/// Formats a text as a value on one line: plain if YAML reads it back unchanged, else in double quotes.
pub(super) fn format(text: &str) -> String {
    if needs_quotes(text) { quoted(text) } else { text.to_owned() }
}

/// Formats a text in double quotes.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if unprintable(c) && (c as u32) > 0xffff => quoted.push_str(&format!("\\U{:08X}", c as u32)),
            c if unprintable(c) => quoted.push_str(&format!("\\u{:04X}", c as u32)),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// The position after the closing quote of a text that begins with a quote, if it is on the same line.
pub(super) fn quoted_end(text: &str) -> Option<usize> {
    let quote = *text.as_bytes().first().filter(|q| matches!(q, b'"' | b'\''))?;
    let mut bytes = text.bytes().enumerate().skip(1).peekable();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\n' => return None,
            b'\\' if quote == b'"' => drop(bytes.next()),
            b if b == quote && quote == b'\'' && bytes.peek().is_some_and(|&(_, next)| next == quote) => drop(bytes.next()),
            b if b == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The end of a plain value: before a comment, without trailing blanks. Only the first line is considered.
pub(super) fn plain_end(line: &str) -> usize {
    let comment = line.bytes().enumerate().position(|(at, b)| b == b'#' && at > 0 && matches!(line.as_bytes()[at - 1], b' ' | b'\t'));
    line[..comment.unwrap_or(line.len())].trim_end().len()
}

#[derive(Deserialize)]
struct YamlField<T> {
    k: T,
}

fn from_yaml<'a, T: Deserialize<'a>>(document: &'a str) -> Result<YamlField<T>, ()> {
    let options = serde_saphyr::options! { with_snippet: false };
    serde_saphyr::from_str_with_options(document, options).map_err(drop)
}

/// The text of a value that needs no YAML parser, which is nearly every one and a hundred times cheaper.
fn simple(raw: &str) -> Option<&str> {
    if raw.bytes().any(|byte| matches!(byte, b'\n' | b'\r')) {
        return None;
    }
    let raw = raw.trim();
    if quoted_end(raw) == Some(raw.len()) {
        let inner = &raw[1..raw.len() - 1];
        return (!inner.contains(['\\', '\''])).then_some(inner);
    }
    (!begins_specially(raw) && !has_special_inside(raw)).then_some(raw)
}

/// An upper bound of the levels of lists and mappings in a value: indentations, dashes before an item, brackets open at once.
fn levels(raw: &str) -> usize {
    // A block scalar is text, whatever is in it.
    if raw.trim_start().starts_with(['|', '>']) {
        return 0;
    }
    let (mut indents, mut open, mut most) = (Vec::new(), 0usize, 0);
    for line in raw.lines() {
        let body = line.trim_start();
        let indent = line.len() - body.len();
        while indents.pop_if(|above| *above >= indent).is_some() {}
        indents.push(indent);
        let dashes = body.split(' ').take_while(|part| *part == "-").count();
        most = most.max(indents.len() + dashes + open);
        for byte in body.bytes() {
            match byte {
                b'[' | b'{' => open += 1,
                b']' | b'}' => open = open.saturating_sub(1),
                _ => {}
            }
            most = most.max(open);
        }
    }
    most
}

/// The lines of an invalid value, joined and unquoted.
fn plain_text(raw: &str) -> String {
    let joined = raw.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    match quoted_end(&joined) {
        Some(end) if end == joined.len() => joined[1..end - 1].to_owned(),
        _ => joined,
    }
}

fn needs_quotes(text: &str) -> bool {
    text.is_empty()
        || text.trim() != text
        || text.chars().any(unprintable)
        || begins_specially(text)
        || has_special_inside(text)
        || is_null(text)
        || matches!(text.to_ascii_lowercase().as_str(), "true" | "false" | "yes" | "no" | "on" | "off")
        || text.parse::<f64>().is_ok()
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

fn begins_specially(text: &str) -> bool {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some('-' | '?' | ':'), next) => next.is_none_or(|c| c.is_whitespace()) || text.starts_with("---"),
        (Some(first), _) => "[]{},#&*!|>'\"%@`=".contains(first) || text.starts_with("..."),
        (None, _) => false,
    }
}

/// Whether a plain text would end early or become a mapping.
fn has_special_inside(text: &str) -> bool {
    text.ends_with(':') || text.as_bytes().windows(2).any(|two| matches!(two, [b':', b' ' | b'\t'] | [b' ' | b'\t', b'#']))
}

fn unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{a0}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || (c as u32 & 0xfffe) == 0xfffe
}
