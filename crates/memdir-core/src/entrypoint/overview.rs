//! An entrypoint as an agent with tools reads it: each memory by the name that a tool accepts, without memdir's marks. Pure.

use super::{
    line::{self, EntrypointRow},
    plan, section,
};
use crate::{
    base::{frame, path::strip_md, steps},
    memory::links::{self, ReferenceKind},
};

/// A line of an entrypoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OverviewLine {
    /// The text, which neither opens nor closes a frame: for a memory `- team/deploy — never on Fridays`.
    pub(crate) text: String,
    /// The number of the line in the entrypoint.
    pub(crate) number: u64,
    /// The name of the memory whose line this is.
    pub(crate) name: Option<String>,
}

impl OverviewLine {
    /// The lines of an entrypoint as they are.
    pub(crate) fn verbatim(text: &str) -> Vec<OverviewLine> {
        text.lines().zip(1..).map(|(line, number)| OverviewLine { text: line.to_owned(), number, name: None }).collect()
    }
}

/// Returns the lines of an entrypoint in the mount with this prefix. The text must be neutral, and trimmed like the loaded one.
pub(crate) fn overview(text: &str, prefix: &str) -> Vec<OverviewLine> {
    let mut lines: Vec<OverviewLine> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        steps::count(line.len());
        let content = line.trim_end();
        if section::is_mark(content) || plan::is_own_heading(content) {
            continue;
        }
        let row = match line::read(content) {
            EntrypointRow::Memory(path) => listed(content, &path, prefix),
            // The links of pages are relative, too.
            EntrypointRow::Pages if !prefix.is_empty() => Some((content.replace("](", &format!("]({prefix}/")), None)),
            _ => None,
        };
        // One blank line at most, and none at the beginning.
        if content.is_empty() && lines.last().is_none_or(|last| last.text.is_empty()) {
            continue;
        }
        let (text, name) = row.unwrap_or_else(|| (content.to_owned(), None));
        lines.push(OverviewLine { text, number, name });
    }
    while lines.last().is_some_and(|last| last.text.is_empty()) {
        lines.pop();
    }
    lines
}

/// The line of a memory, by its name. `None` if the line says more than a title and a hook, so that it stays as it is.
fn listed(line: &str, path: &str, prefix: &str) -> Option<(String, Option<String>)> {
    let spots = links::spots(line);
    let spot = spots.iter().find(|spot| spot.kind == ReferenceKind::Link)?;
    let title = line.get("- [".len()..spot.range.start)?.trim_end_matches('<').strip_suffix("](")?;
    let (_, hook) = line.get(spot.range.end..)?.split_once(')')?;
    if hook.contains("](") || !path.ends_with(".md") {
        return None;
    }
    let name = if prefix.is_empty() { strip_md(path).to_owned() } else { format!("{prefix}/{}", strip_md(path)) };
    let hook = hook.trim_start_matches([' ', '—', '–', '-', ':']).trim_end();
    let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    let last = name.rsplit('/').next().unwrap_or_default();
    let repeats_name = [strip_md(path), last].iter().any(|name| letters(name) == letters(title));
    let about = match (repeats_name, hook.is_empty()) {
        (true, true) => String::new(),
        (true, false) => format!(" — {hook}"),
        (false, true) => format!(" — {title}"),
        (false, false) => format!(" — {title}: {hook}"),
    };
    let text = format!("- {name}{}", unescaped(&about));
    Some((frame::neutral(&text).into_owned(), Some(name)))
}

/// Removes the backslashes that keep a title and a hook from being read as Markdown.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(&next) if c == '\\' && line::is_mark(next) => {
                out.push(next);
                chars.next();
            }
            _ => out.push(c),
        }
    }
    out
}
