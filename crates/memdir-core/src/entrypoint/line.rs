//! One generated line: `- [Title](path.md) — hook`. Formats it within its limits and parses its path.

use crate::{
    base::{limits, path::strip_md, text},
    memory::{
        Memory,
        links::{self, ReferenceKind},
    },
    secrets,
    store::mounts::is_page_name,
};

/// The kind of a line between the marks.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum EntrypointRow {
    /// A memory's line, with its path.
    Memory(String),
    /// Links to pages.
    Pages,
    /// Something else.
    Stray,
}

/// Parses a line between the marks.
pub(super) fn read(line: &str) -> EntrypointRow {
    if !line.starts_with("- ") {
        return EntrypointRow::Stray;
    }
    match first_target(line) {
        Some(path) if is_page_name(&path) => EntrypointRow::Pages,
        Some(path) if line.starts_with("- [") => EntrypointRow::Memory(path),
        _ => EntrypointRow::Stray,
    }
}

/// Returns the title and the description in a memory's line.
pub(super) fn title_and_hook(name: &str, bytes: &[u8]) -> (String, String) {
    let (decoded, _) = text::decode(bytes);
    let (memory, _) = Memory::parse(&decoded);
    // A line is loaded into every conversation, so a secret that was allowed into a memory is masked in its line. The body is
    // masked before its first line is taken, because a truncated secret is not recognised any more.
    let hook = match memory.description() {
        Some(_) => secrets::redact(&memory.hook()).into_owned(),
        None => Memory::parse(&secrets::redact(&decoded)).0.hook(),
    };
    let hook = match memory.validity().mark() {
        Some(mark) => marked(&mark, &hook),
        None => hook,
    };
    (secrets::redact(memory.title(name)).into_owned(), hook)
}

/// A hook with a mark before it, where a truncated line still shows it.
pub(super) fn marked(mark: &str, hook: &str) -> String {
    if hook.is_empty() { mark.to_owned() } else { format!("{mark} {hook}") }
}

/// Formats a memory's line with at most [`limits::ENTRYPOINT_LINE_CHARS`] characters (unless the path alone is longer) and
/// `max_bytes` bytes; `None` if the shortest title does not fit. Truncated text ends in `…`.
pub(super) fn write(path: &str, title: &str, hook: &str, max_bytes: usize) -> Option<String> {
    let target = links::link_destination(path);
    let title = one_line(title);
    let title = if title.is_empty() { one_line(strip_md(path.rsplit('/').next().unwrap_or(path))) } else { title };
    let hook = one_line(hook);
    let fixed = "- []()".len() + target.chars().count();
    let room = limits::ENTRYPOINT_LINE_CHARS.saturating_sub(fixed).max(1);
    let room_bytes = max_bytes.checked_sub("- []()".len() + target.len())?;
    // The title gets half of the room, and what the hook does not need.
    let hook_needs = if hook.is_empty() { 0 } else { SEPARATOR.chars().count() + escaped_chars(&hook) };
    let title = fit(&title, room.saturating_sub(hook_needs).max(room / 2).max(1), room_bytes)?;
    let line = format!("- [{title}]({target})");
    let left = room.saturating_sub(title.chars().count() + SEPARATOR.chars().count());
    let left_bytes = (room_bytes - title.len()).checked_sub(SEPARATOR.len());
    let hook = left_bytes.filter(|_| left >= LEAST_HOOK.min(escaped_chars(&hook)) && left > 0).and_then(|bytes| fit(&hook, left, bytes));
    match hook.filter(|hook| !hook.is_empty()) {
        Some(hook) => Some(format!("{line}{SEPARATOR}{hook}")),
        None => Some(line),
    }
}

const SEPARATOR: &str = " — ";
/// A hook that would be truncated to fewer characters is omitted.
const LEAST_HOOK: usize = 8;

/// Returns the path of the first link of a line.
fn first_target(line: &str) -> Option<String> {
    let spots = links::spots(line);
    let spot = spots.iter().find(|spot| spot.kind == ReferenceKind::Link)?;
    links::resolve(&line[spot.range.clone()], None)
}

/// Joins a text into one line without control characters.
fn one_line(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c }).collect();
    text::one_line(&spaced)
}

/// Whether a character has to be escaped in a title.
pub(super) fn is_mark(c: char) -> bool {
    matches!(c, '[' | ']' | '`' | '\\' | '<')
}

fn escaped_chars(text: &str) -> usize {
    text.chars().map(|c| if is_mark(c) { 2 } else { 1 }).sum()
}

/// Escapes a text and truncates it with `…`; `None` if not even that fits.
fn fit(text: &str, max_chars: usize, max_bytes: usize) -> Option<String> {
    let mut out = String::with_capacity(text.len() + 8);
    let mut chars = 0;
    // The last position at which `…` still fits.
    let mut cut = ("…".len() <= max_bytes && max_chars > 0).then_some(0);
    for c in text.chars() {
        if is_mark(c) {
            out.push('\\');
            chars += 1;
        }
        out.push(c);
        chars += 1;
        if chars > max_chars || out.len() > max_bytes {
            out.truncate(cut?);
            out.truncate(out.trim_end().len());
            out.push('…');
            return Some(out);
        }
        if chars < max_chars && out.len() + "…".len() <= max_bytes {
            cut = Some(out.len());
        }
    }
    Some(out)
}
