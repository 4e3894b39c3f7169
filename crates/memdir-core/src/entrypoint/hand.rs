//! What people wrote in the entrypoint themselves: which of their list items point to a memory, and what happens to those
//! when the memory goes or gets another name. Everything else of theirs is left as it is.

use super::sheet::Sheet;
use crate::{
    base::path::strip_md,
    memory::{
        lines::FenceScanner,
        links::{self, ReferenceKind},
    },
};
use std::{collections::HashMap, ops::Range};

/// The memories people point to, by path without `.md`, and the line of the first such item.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Pointers(HashMap<String, (String, u64)>);

impl Pointers {
    /// Those outside the marks.
    pub(super) fn of(sheet: &Sheet) -> Pointers {
        let mut found = HashMap::new();
        for (text, first) in [(&sheet.head, 1), (&sheet.tail, sheet.tail_line)] {
            for item in items(text) {
                for target in item.targets {
                    found.entry(strip_md(&target).to_owned()).or_insert((target, first + item.line));
                }
            }
        }
        Pointers(found)
    }

    /// The line on which somebody points to this path.
    pub(super) fn line_of(&self, path: &str) -> Option<u64> {
        self.0.get(strip_md(path)).map(|(_, line)| *line)
    }

    /// Every target, as written, with its line.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.values().map(|(target, line)| (target.as_str(), *line))
    }
}

/// A list item with a link.
struct Item {
    /// Lines before it.
    line: u64,
    range: Range<usize>,
    /// The files it links.
    targets: Vec<String>,
    /// It begins with its one link and has no further lines: nothing but a pointer.
    is_pointer: bool,
}

/// Takes away the items that are nothing but pointers to `path`. Whether there were any.
pub(super) fn remove_pointers(text: &mut String, path: &str) -> bool {
    let gone: Vec<Range<usize>> = items(text)
        .into_iter()
        .filter(|item| item.is_pointer && item.targets.iter().all(|target| strip_md(target) == strip_md(path)))
        .map(|item| item.range)
        .collect();
    for range in gone.iter().rev() {
        text.replace_range(range.clone(), "");
    }
    !gone.is_empty()
}

fn items(text: &str) -> Vec<Item> {
    let mut found: Vec<Item> = Vec::new();
    let mut fence = FenceScanner::default();
    let mut at = 0;
    for (number, line) in (0..).zip(text.split_inclusive('\n')) {
        let range = at..at + line.len();
        at = range.end;
        let indent = line.len() - line.trim_start().len();
        if let Some(last) = found.last_mut().filter(|last| last.line + 1 == number && !line.trim().is_empty()) {
            // A deeper line belongs to the item above it, which then is more than a pointer.
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
        found.push(Item { line: number, range, is_pointer: begins && spots.len() == 1, targets });
    }
    found
}

/// What a list item says; nothing if the line is none.
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
