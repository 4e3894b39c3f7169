//! Markdown as one line of plain text, for titles and hooks. Drops marks on purpose; never used on text that is kept.

use super::lines::FenceScanner;

/// Returns the whole text on one line, without Markdown marks.
pub(super) fn one_line(text: &str) -> String {
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    without_marks(&joined)
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
        let text = one_line(without_lead(line));
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
    while let Some(c) = rest.chars().next() {
        if let Some((text, after)) = link(rest) {
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

/// The text of the link at the start of `text`, and what follows the link.
fn link(text: &str) -> Option<(&str, &str)> {
    if let Some(inner) = text.strip_prefix("[[") {
        let (target, after) = inner.split_once("]]")?;
        return Some((target.rsplit_once('|').map_or(target, |(_, alias)| alias), after)).filter(|(text, _)| !text.contains(['[', ']']));
    }
    let inner = text.strip_prefix("![").or_else(|| text.strip_prefix('['))?;
    let (shown, after) = inner.split_once("](")?;
    let (_, after) = after.split_once(')')?;
    Some((shown, after)).filter(|_| !shown.contains(['[', ']']))
}
