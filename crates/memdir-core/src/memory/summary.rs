//! Markdown as one line of plain text, for titles and hooks. Drops marks on purpose; never used on text that is kept.

use super::lines::FenceScanner;
use crate::base::{steps, text::one_line};

/// Returns the whole text on one line, without Markdown marks.
pub(super) fn plain_line(text: &str) -> String {
    without_marks(&one_line(text))
}

/// Returns the first line with text other than `known`: a heading, a sentence or a list item. Skips code, comments and rules.
pub(super) fn first_line(body: &str, known: &str) -> String {
    let mut fences = FenceScanner::default();
    let mut comment = false;
    for line in body.lines().map(str::trim) {
        let is_code = !comment && fences.is_code(line);
        if comment || (!is_code && line.starts_with("<!--")) {
            comment = !line.ends_with("-->");
            continue;
        }
        if is_code {
            continue;
        }
        let text = plain_line(without_lead(line));
        if text.chars().any(char::is_alphanumeric) && !text.eq_ignore_ascii_case(known) {
            return text;
        }
    }
    String::new()
}

/// Strips the marks that make a line a heading, quote or list item.
fn without_lead(line: &str) -> &str {
    let line = line.trim_start_matches('>').trim_start();
    let heading = line.trim_start_matches('#');
    if heading.len() < line.len() && heading.starts_with([' ', '\t']) {
        return heading.trim().trim_end_matches('#').trim_end();
    }
    let item = line.strip_prefix(['-', '*', '+']).filter(|rest| rest.starts_with(' ')).map_or(line, str::trim_start);
    let digits = item.trim_start_matches(|c: char| c.is_ascii_digit());
    if digits.len() < item.len() { digits.strip_prefix(". ").or_else(|| digits.strip_prefix(") ")).unwrap_or(item) } else { item }
}

/// Replaces links by their text, and removes emphasis and code marks.
fn without_marks(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    let last_close = line.rfind(')').unwrap_or(0);
    while let Some(c) = rest.chars().next() {
        steps::count(1);
        if let Some((text, after)) = link(rest, line.len() - rest.len() < last_close) {
            out.push_str(&without_marks(text));
            rest = after;
            continue;
        }
        let doubled = ["**", "__", "~~"].into_iter().find(|mark| rest.starts_with(mark));
        match (c, doubled) {
            (_, Some(mark)) if mark != "__" || !out.ends_with(char::is_alphanumeric) || !rest[2..].starts_with(char::is_alphanumeric) => {
                rest = &rest[2..];
            }
            ('`', _) => rest = &rest[1..],
            _ => {
                out.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    out
}

/// The text of the link at the start of `text`, and what follows the link. Its text ends at the next bracket and its destination is
/// searched only if it `may_close`, so that many opening marks are not each searched to the end of the line.
fn link(text: &str, may_close: bool) -> Option<(&str, &str)> {
    let (inner, close) = match text.strip_prefix("[[") {
        Some(inner) => (inner, "]]"),
        None => (text.strip_prefix("![").or_else(|| text.strip_prefix('['))?, "]("),
    };
    let end = inner.find(['[', ']']);
    steps::count(end.unwrap_or(inner.len()));
    let (shown, after) = inner.split_at(end?);
    let after = after.strip_prefix(close)?;
    if close == "]]" {
        return Some((shown.rsplit_once('|').map_or(shown, |(_, alias)| alias), after));
    }
    let (destination, after) = if may_close { after.split_once(')')? } else { return None };
    steps::count(destination.len());
    Some((shown, after))
}
