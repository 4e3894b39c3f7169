//! Finds problems of an entrypoint: dead lines, and lines that are too long for a pointer.

use super::{EntrypointFiles, LinePlace};
use crate::base::sort::SharedSort as _;
use crate::store::mounts::page_name;
use std::fmt;

/// Entrypoint lines longer than this, in characters, are reported: a pointer has become content.
const ENTRYPOINT_LONG_LINE_CHARS: usize = 200;
/// The length that is recommended for such a line, in characters.
const RECOMMENDED_CHARS: usize = 150;

/// A line that points to a missing memory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct DeadLine {
    /// The missing memory.
    pub path: String,
    /// The place of the line.
    pub place: LinePlace,
}

/// A line that is too long for a pointer.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct LongLine {
    /// The line, 1-based.
    pub line: u64,
    /// The number of characters.
    pub chars: usize,
}

/// What is wrong with the line, and what to do about it.
impl fmt::Display for LongLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the line has {} characters; shorten it to at most {RECOMMENDED_CHARS}, and move details into a memory", self.chars)
    }
}

/// Returns the lines, generated ones and the user's list items, that point to missing memories, sorted by path.
pub fn dead(entrypoint: &EntrypointFiles, exists: &dyn Fn(&str) -> bool) -> Vec<DeadLine> {
    let hand = entrypoint.pointers.iter().filter(|(target, _)| !exists(target) && !exists(&format!("{target}.md")));
    let hand = hand.map(|(target, line)| DeadLine { path: target.to_owned(), place: LinePlace::Hand(line) });
    let section = entrypoint.parsed.lines.keys().map(|path| (path, LinePlace::Section));
    let pages = entrypoint.pages.iter().flat_map(|(&number, page)| {
        let name = page_name(&entrypoint.name, number);
        page.parsed.lines.keys().map(move |path| (path, LinePlace::Page(name.clone())))
    });
    let ours = section.chain(pages).filter(|(path, _)| !exists(path)).map(|(path, place)| DeadLine { path: path.clone(), place });
    let mut found: Vec<DeadLine> = hand.chain(ours).collect();
    found.shared_sort();
    found
}

/// Returns the lines of the entrypoint with more than `ENTRYPOINT_LONG_LINE_CHARS` characters.
pub fn long_lines(entrypoint: &EntrypointFiles) -> Vec<LongLine> {
    let lines = entrypoint.text.as_deref().unwrap_or_default().lines();
    let counted = (1..).zip(lines).map(|(line, text)| LongLine { line, chars: text.chars().count() });
    counted.filter(|line| line.chars > ENTRYPOINT_LONG_LINE_CHARS).collect()
}
