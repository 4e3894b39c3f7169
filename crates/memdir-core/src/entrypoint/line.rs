//! One line of memdir's section: `- [Title](path.md) — hook`. Writes it within its limits and reads its path back.

use crate::{
    base::{limits, path::strip_md},
    memory::links::{self, ReferenceKind},
    store::mounts::is_page_name,
};

/// What a line of the section is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// A memory's line, with its path.
    Memory(String),
    /// Links to pages.
    Pages,
    /// Something else.
    Stray,
}

/// Reads a line of the section.
pub(super) fn read(line: &str) -> Row {
    if !line.starts_with("- ") {
        return Row::Stray;
    }
    match first_target(line) {
        Some(path) if is_page_name(&path) => Row::Pages,
        Some(path) if line.starts_with("- [") => Row::Memory(path),
        _ => Row::Stray,
    }
}

/// Writes a memory's line, at most [`limits::ENTRYPOINT_LINE_CHARS`] characters (unless the path alone is longer) and
/// `max_bytes` bytes; nothing if not even the shortest title fits into the bytes. What is too long ends in `…`.
pub(super) fn write(path: &str, title: &str, hook: &str, max_bytes: usize) -> Option<String> {
    let target = links::link_destination(path);
    let title = plain(title);
    let title = if title.is_empty() { plain(strip_md(path.rsplit('/').next().unwrap_or(path))) } else { title };
    let hook = plain(hook);
    let fixed = "- []()".len() + target.chars().count();
    let room = limits::ENTRYPOINT_LINE_CHARS.saturating_sub(fixed).max(1);
    let room_bytes = max_bytes.checked_sub("- []()".len() + target.len())?;
    // Half of the room is the title's; what the hook does not need it gets as well.
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
/// Fewer characters of a hook than this say nothing and are left out.
const LEAST_HOOK: usize = 8;

/// The path the first link of a line names.
fn first_target(line: &str) -> Option<String> {
    let spots = links::spots(line);
    let spot = spots.iter().find(|spot| spot.kind == ReferenceKind::Link)?;
    links::resolve(&line[spot.range.clone()], None)
}

/// On one line, without control characters.
fn plain(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Characters that would end the title or begin something else.
fn is_mark(c: char) -> bool {
    matches!(c, '[' | ']' | '`' | '\\' | '<')
}

fn escaped_chars(text: &str) -> usize {
    text.chars().map(|c| if is_mark(c) { 2 } else { 1 }).sum()
}

/// As much of a text as fits when escaped, with `…` where something is left out; nothing if not even that fits.
fn fit(text: &str, max_chars: usize, max_bytes: usize) -> Option<String> {
    let mut out = String::with_capacity(text.len() + 8);
    let mut chars = 0;
    // The last place at which `…` would still fit.
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
