//! The texts inside of pasted structures. A log line in JSON is one line of names, ids and one message; what it is about is in one or
//! two of its strings. Each string becomes a line of its own, without escapes. Text that has no structure stays as it is.

/// How deep strings are unfolded: the log line of a program, in the log line of its container, in a message.
const DEPTH: usize = 3;
/// Bytes of the name of a field.
const KEY_BYTES: usize = 80;
/// Fields of the form `name=value` that make a line a log line; a command may have one or two.
const LOG_FIELDS: usize = 3;
/// The shortest id or hash that is left out. Shorter ones, such as the seven characters that git prints of a hash, are kept: people write
/// them down and search for them.
const MIN_ID_CHARS: usize = 8;
/// The digits of a date without a time, the shortest time that is left out.
const MIN_TIME_DIGITS: usize = 8;

/// Returns the lines of a text that is pasted rather than asked: one that has structure, or several lines.
pub(crate) fn pasted_lines(text: &str) -> Option<Vec<String>> {
    let unfolded = unfold(text);
    let lines = unfolded.as_deref().unwrap_or(text).lines().map(str::trim).filter(|line| line.contains(char::is_alphanumeric));
    let lines: Vec<String> = lines.map(ToOwned::to_owned).collect();
    (unfolded.is_some() || lines.len() > 1).then_some(lines)
}

/// Returns a text with every string of its JSON, and every field of its log lines, on a line of its own. `None` if it has neither.
pub(crate) fn unfold(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let parts = parts(text);
    if parts.iter().any(|part| matches!(part, PastedPart::Key(_))) {
        write_parts(&parts, DEPTH, &mut out);
        return Some(out);
    }
    let mut is_log = false;
    for line in text.lines() {
        let fields = log_fields(line);
        let count = fields.iter().filter(|(name, _)| name.is_some()).count();
        if count < LOG_FIELDS {
            push_line(line, &mut out);
            continue;
        }
        is_log = true;
        fields.into_iter().for_each(|(name, value)| write_text(name, value, 0, &mut out));
    }
    is_log.then_some(out)
}

/// Splits a line into fields of the form `name=value` or `name="a value"`, and the text between them.
fn log_fields(line: &str) -> Vec<(Option<&str>, &str)> {
    let mut fields = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let name = rest[..end].split_once('=').map(|(name, _)| name).filter(|name| is_name(name));
        let Some(name) = name else {
            fields.push((None, &rest[..end]));
            rest = rest[end..].trim_start();
            continue;
        };
        let value = &rest[name.len() + 1..];
        let (value, after) = match value.strip_prefix('"').and_then(|inside| inside.split_once('"')) {
            Some((value, after)) => (value, after),
            None => (&rest[name.len() + 1..end], &rest[end..]),
        };
        fields.push((Some(name), value));
        rest = after.trim_start();
    }
    fields
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
}

/// A part of a text with strings.
enum PastedPart<'a> {
    /// What is outside of strings.
    Plain(&'a str),
    /// A string before a colon.
    Key(&'a str),
    /// Any other string, with its escapes.
    Text(&'a str),
}

/// Splits a text at its strings. A string ends with its line.
fn parts(text: &str) -> Vec<PastedPart<'_>> {
    let bytes = text.as_bytes();
    let mut parts = Vec::new();
    let (mut plain, mut at) = (0, 0);
    while at < bytes.len() {
        if bytes[at] != b'"' {
            at += 1;
            continue;
        }
        let start = at + 1;
        let mut end = start;
        while end < bytes.len() && !matches!(bytes[end], b'"' | b'\n') {
            end += if bytes[end] == b'\\' && end + 1 < bytes.len() { 2 } else { 1 };
        }
        // An escape may end inside of a character, or after the text.
        end = end.min(bytes.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        let after = &text[end..];
        let is_key = end - start <= KEY_BYTES && after.starts_with('"') && after[1..].trim_start_matches([' ', '\t']).starts_with(':');
        parts.push(PastedPart::Plain(&text[plain..at]));
        parts.push(if is_key { PastedPart::Key(&text[start..end]) } else { PastedPart::Text(&text[start..end]) });
        at = end + usize::from(after.starts_with('"'));
        plain = at;
    }
    parts.push(PastedPart::Plain(&text[plain..]));
    parts
}

fn write_parts(parts: &[PastedPart<'_>], depth: usize, out: &mut String) {
    let mut key: Option<&str> = None;
    for part in parts {
        match part {
            PastedPart::Key(name) => {
                end_key(&mut key, out);
                key = Some(name);
            }
            PastedPart::Text(escaped) => write_text(key.take(), escaped, depth, out),
            PastedPart::Plain(plain) => {
                let inside = plain.trim_matches(|c: char| c.is_whitespace() || matches!(c, '{' | '}' | '[' | ']' | ',' | ':'));
                if inside.is_empty() && !plain.contains(['{', '[']) {
                    continue;
                }
                match key.take() {
                    // A number, or the fields of an object below the name.
                    Some(name) if inside.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
                        push_line(&format!("{name} {inside}"), out);
                    }
                    Some(name) => push_line(name, out),
                    None => {}
                }
                if !inside.starts_with(|c: char| c.is_ascii_digit() || c == '-') && !matches!(inside, "" | "true" | "false" | "null") {
                    push_line(inside, out);
                }
            }
        }
    }
    end_key(&mut key, out);
}

fn end_key(key: &mut Option<&str>, out: &mut String) {
    if let Some(name) = key.take() {
        push_line(name, out);
    }
}

/// Writes the value of a field. A word is written beside its name, an id not at all.
fn write_text(key: Option<&str>, escaped: &str, depth: usize, out: &mut String) {
    let text = unescape(escaped);
    if is_id_hash_or_time(&text) {
        return;
    }
    if let (Some(key), false) = (key, text.contains(char::is_whitespace)) {
        return push_line(&format!("{key} {text}"), out);
    }
    let inner = if depth > 0 { parts(&text) } else { Vec::new() };
    if inner.iter().any(|part| matches!(part, PastedPart::Key(_))) {
        return write_parts(&inner, depth - 1, out);
    }
    push_line(&text, out);
}

fn push_line(text: &str, out: &mut String) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(text);
}

/// Whether a text is an id, a hash or a time: it says nothing about what happened.
pub(crate) fn is_id_hash_or_time(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let is_id = |b: u8| b.is_ascii_hexdigit() || b == b'-';
    let is_time = |b: u8| b.is_ascii_digit() || matches!(b, b'-' | b':' | b'T' | b'Z' | b'.' | b'+' | b' ' | b',' | b'/');
    digits > 0 && text.len() >= MIN_ID_CHARS && (text.bytes().all(is_id) || (digits >= MIN_TIME_DIGITS && text.bytes().all(is_time)))
}

/// The text of a JSON string. An escape that JSON does not have stays as it is.
fn unescape(escaped: &str) -> String {
    let mut out = String::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let mut after = rest[at + 1..].chars();
        match after.next() {
            Some('n' | 'r') => out.push('\n'),
            Some('t' | 'b' | 'f') => out.push(' '),
            Some(c @ ('"' | '\\' | '/')) => out.push(c),
            Some('u') => {
                let (decoded, length) = code_point(after.as_str());
                out.push(decoded.unwrap_or(' '));
                rest = &after.as_str()[length..];
                continue;
            }
            Some(other) => out.extend(['\\', other]),
            None => out.push('\\'),
        }
        rest = after.as_str();
    }
    out.push_str(rest);
    out
}

/// Decodes the digits after `\u`, with a second half of a surrogate pair. Returns the character and the length of its digits.
fn code_point(text: &str) -> (Option<char>, usize) {
    let half = |text: &str| text.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let Some(first) = half(text) else { return (None, 0) };
    let second = text.get(4..).and_then(|rest| rest.strip_prefix("\\u")).and_then(half);
    match (first, second) {
        (0xd800..0xdc00, Some(low @ 0xdc00..0xe000)) => (char::from_u32(0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00)), 10),
        _ => (char::from_u32(first), 4),
    }
}

#[cfg(test)]
mod tests {
    use super::{is_id_hash_or_time, pasted_lines, unfold};
    use proptest::prelude::*;

    #[test]
    fn every_string_is_a_line() {
        let log = r#"why? {"time":"2026-11-16T10:22:33.123Z","level":"error","msg":"refused by \"orders-db\"\n\tat Db.open","port":6543,"ok":false,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","tags":["a b","c d"],"ctx":{"user":"ann"}}"#;
        let lines = pasted_lines(log).unwrap();
        assert_eq!(
            lines,
            ["why?", "level error", "refused by \"orders-db\"", "at Db.open", "port 6543", "ok", "tags", "a b", "c d", "ctx", "user ann"]
        );
    }

    #[test]
    fn a_log_line_in_a_log_line_is_unfolded() {
        let log = r#"{"log":"{\"level\":\"warn\",\"msg\":\"disk is full on node \\u00e9\\ud83d\\ude00\"}\n","stream":"stderr"}"#;
        assert_eq!(unfold(log).unwrap(), "level warn\ndisk is full on node é😀\nstream stderr");
    }

    #[test]
    fn every_field_of_a_log_line_is_a_line() {
        let log =
            "why?\ntime=2026-11-16T10:22:33Z level=error msg=\"dial tcp: refused\" service=orders-db attempt=3 done\nFOO=1 BAR=2 make test";
        let expected = ["why?", "level error", "dial tcp: refused", "service orders-db", "attempt 3", "done", "FOO=1 BAR=2 make test"];
        assert_eq!(pasted_lines(log).unwrap(), expected);
        assert_eq!(unfold("FOO=1 BAR=2 make test"), None);
    }

    #[test]
    fn prose_is_not_unfolded() {
        for text in ["when do we deploy?", "the \"blue green\" rollout", "He said \"no\"", "", "\"", "a: \"b\""] {
            assert_eq!(unfold(text), None, "{text}");
        }
        assert_eq!(pasted_lines("one line"), None);
        assert_eq!(pasted_lines("Traceback:\n\n  File x").unwrap(), ["Traceback:", "File x"]);
    }

    #[test]
    fn ids_and_times_are_opaque() {
        for text in ["4bf92f3577b34da6", "0d1c5a6e-9f1f-4a53-9d9c-7a1f0f5f3a11", "2026-11-16T10:22:33.123Z", "1700000000000"] {
            assert!(is_id_hash_or_time(text), "{text}");
        }
        for text in ["orders-db", "deadbeef", "6543", "10.2.3.4", "v1.2.3", "facade"] {
            assert!(!is_id_hash_or_time(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_unfolded(text in "(.|[\\\\\"{}:,u0d8]|\n){0,200}") {
            if let Some(unfolded) = unfold(&text) {
                prop_assert!(unfolded.len() <= 2 * text.len());
            }
        }
    }
}
