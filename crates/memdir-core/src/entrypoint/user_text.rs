//! The user's own text in the entrypoint: which list items point to a memory, and how they change when the memory is removed or
//! renamed. Everything else is left unchanged.

use super::section::ParsedEntrypoint;
use crate::{
    base::{path::strip_md, steps},
    memory::{
        lines::FenceScanner,
        links::{self, ReferenceKind},
    },
};
use std::{collections::HashMap, ops::Range};

/// The memories to which the user's list items point, by path without `.md`, with the line of the first such item.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Pointers(HashMap<String, (String, u64)>);

impl Pointers {
    /// Parses the text outside the marks.
    pub(super) fn from_parsed(parsed: &ParsedEntrypoint) -> Pointers {
        let mut found = HashMap::new();
        for (text, first) in [(&parsed.head, 1), (&parsed.tail, parsed.tail_line)] {
            for item in items(text) {
                for target in item.targets {
                    found.entry(strip_md(&target).to_owned()).or_insert((target, first + item.line));
                }
            }
        }
        Pointers(found)
    }

    /// Returns the line of the item that points to this path.
    pub(super) fn line_of(&self, path: &str) -> Option<u64> {
        self.0.get(strip_md(path)).map(|(_, line)| *line)
    }

    /// Iterates over the targets, as written, with their lines.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.values().map(|(target, line)| (target.as_str(), *line))
    }
}

/// A list item with a link.
struct LinkItem {
    /// The number of lines before it.
    line: u64,
    range: Range<usize>,
    /// The linked files.
    targets: Vec<String>,
    /// Whether it begins with its only link and has no further lines.
    is_pointer: bool,
}

/// Removes the items that only point to `path`. Returns whether there were any.
pub(super) fn remove_pointers(text: &mut String, path: &str) -> bool {
    let gone: Vec<Range<usize>> = items(text)
        .into_iter()
        .filter(|item| item.is_pointer && item.targets.iter().all(|target| strip_md(target) == strip_md(path)))
        .map(|item| item.range)
        .collect();
    if gone.is_empty() {
        return false;
    }
    let mut left = String::with_capacity(text.len());
    let mut done = 0;
    for range in gone {
        left.push_str(&text[done..range.start]);
        done = range.end;
    }
    left.push_str(&text[done..]);
    *text = left;
    true
}

fn items(text: &str) -> Vec<LinkItem> {
    let mut found: Vec<LinkItem> = Vec::new();
    let mut fence = FenceScanner::default();
    let mut at = 0;
    for (number, line) in (0..).zip(text.split_inclusive('\n')) {
        steps::count(line.len());
        let range = at..at + line.len();
        at = range.end;
        let indent = line.len() - line.trim_start().len();
        if let Some(last) = found.last_mut().filter(|last| last.line + 1 == number && !line.trim().is_empty()) {
            // A more indented line belongs to the item above it, which then is more than a pointer.
            let above = &text[last.range.clone()];
            last.is_pointer &= indent <= above.len() - above.trim_start().len();
        }
        if fence.is_code(line) {
            continue;
        }
        let Some(body) = item_body(line) else { continue };
        let spots: Vec<_> = links::spots(line).into_iter().filter(|spot| spot.kind != ReferenceKind::Mem).collect();
        let targets: Vec<String> = spots.iter().filter_map(|spot| links::resolve(&line[spot.range.clone()], None)).collect();
        if targets.is_empty() {
            continue;
        }
        let begins = body.find('[').is_some_and(|link| !body[..link].contains(char::is_alphanumeric));
        found.push(LinkItem { line: number, range, is_pointer: begins && spots.len() == 1, targets });
    }
    found
}

/// Returns the text of a list item; `None` if the line is not one.
fn item_body(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let rest = match line.strip_prefix(['-', '*', '+']) {
        Some(rest) => rest,
        None => {
            let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
            digits.strip_prefix(['.', ')']).filter(|_| digits.len() < line.len())?
        }
    };
    let body = rest.strip_prefix([' ', '\t'])?;
    let unticked = ["[ ] ", "[x] ", "[X] "].into_iter().find_map(|tick| body.trim_start().strip_prefix(tick));
    Some(unticked.unwrap_or(body))
}
