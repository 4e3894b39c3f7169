//! One frontmatter value: from YAML to text and back. Never fails: what YAML cannot read is read as it stands.

use serde::Deserialize;

/// A value as read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// Nothing, or `null`.
    Empty,
    /// One text.
    Text(String),
    /// A list or a mapping; only its source is kept.
    Nested,
    /// Not YAML; read as plain text.
    Broken(String),
}

/// Reads the source of a value, which may span lines.
pub(super) fn read(raw: &str) -> Value {
    if let Some(text) = simple(raw) {
        return if is_null(raw.trim()) { Value::Empty } else { Value::Text(text.to_owned()) };
    }
    let document = format!("k: {raw}\n");
    if let Ok(One { k }) = parse::<String>(&document) {
        let block = raw.trim_start().starts_with(['|', '>']);
        let text = if block { k.trim_end_matches('\n').to_owned() } else { k };
        return if text.is_empty() && quoted_end(raw.trim()).is_none() { Value::Empty } else { Value::Text(text) };
    }
    match parse::<serde::de::IgnoredAny>(&document) {
        Ok(_) => Value::Nested,
        Err(()) => Value::Broken(as_it_stands(raw)),
    }
}

/// Writes a text as a value on one line: plain where YAML reads it back the same, else in double quotes.
pub(super) fn write(text: &str) -> String {
    if !needs_quotes(text) {
        return text.to_owned();
    }
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

/// The byte behind the closing quote of a text that begins with a quote, on the same line.
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

/// Where a plain value ends: before a comment, without trailing blanks. Only the first line is looked at.
pub(super) fn plain_end(line: &str) -> usize {
    let comment = line.bytes().enumerate().position(|(at, b)| b == b'#' && at > 0 && matches!(line.as_bytes()[at - 1], b' ' | b'\t'));
    line[..comment.unwrap_or(line.len())].trim_end().len()
}

#[derive(Deserialize)]
struct One<T> {
    k: T,
}

fn parse<'a, T: Deserialize<'a>>(document: &'a str) -> Result<One<T>, ()> {
    let options = serde_saphyr::options! { with_snippet: false };
    serde_saphyr::from_str_with_options(document, options).map_err(drop)
}

/// The text of a value that needs no YAML reader: nearly all of them, and a hundred times cheaper.
fn simple(raw: &str) -> Option<&str> {
    if raw.contains(['\n', '\r']) {
        return None;
    }
    let raw = raw.trim();
    if quoted_end(raw) == Some(raw.len()) {
        let inner = &raw[1..raw.len() - 1];
        return (!inner.contains(['\\', '\''])).then_some(inner);
    }
    (!begins_specially(raw) && !has_mark_inside(raw)).then_some(raw)
}

/// What the lines of a value say when YAML cannot read them: joined, unquoted.
fn as_it_stands(raw: &str) -> String {
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
        || has_mark_inside(text)
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
fn has_mark_inside(text: &str) -> bool {
    text.ends_with(':') || text.as_bytes().windows(2).any(|two| matches!(two, [b':', b' ' | b'\t'] | [b' ' | b'\t', b'#']))
}

fn unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{a0}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || (c as u32 & 0xfffe) == 0xfffe
}
