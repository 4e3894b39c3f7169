//! What is wrong with an entrypoint: lines that lead nowhere, memories without a line, lines that became content.

use super::{Book, Place};
use crate::{base::limits, store::mounts::page_name};

/// A line whose memory is not there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct DeadLine {
    /// What it points to.
    pub path: String,
    /// Where it is.
    pub place: Place,
}

/// A line that is longer than a pointer should be.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct LongLine {
    /// The line, 1-based.
    pub line: u64,
    /// Its characters.
    pub chars: usize,
}

/// Lines, ours and people's list items, that point to nothing, sorted by path.
pub fn dead(book: &Book, exists: &dyn Fn(&str) -> bool) -> Vec<DeadLine> {
    let hand = book.pointers.iter().filter(|(target, _)| !exists(target) && !exists(&format!("{target}.md")));
    let hand = hand.map(|(target, line)| DeadLine { path: target.to_owned(), place: Place::Hand(line) });
    let section = book.sheet.lines.keys().map(|path| (path, Place::Section));
    let pages = book.pages.iter().flat_map(|(&number, page)| {
        let name = page_name(&book.name, number);
        page.sheet.lines.keys().map(move |path| (path, Place::Page(name.clone())))
    });
    let ours = section.chain(pages).filter(|(path, _)| !exists(path)).map(|(path, place)| DeadLine { path: path.clone(), place });
    let mut found: Vec<DeadLine> = hand.chain(ours).collect();
    found.sort();
    found
}

/// Lines of the entrypoint with more than [`limits::ENTRYPOINT_LONG_LINE_CHARS`] characters.
pub fn long_lines(book: &Book) -> Vec<LongLine> {
    let lines = book.text.as_deref().unwrap_or_default().lines();
    let counted = (1..).zip(lines).map(|(line, text)| LongLine { line, chars: text.chars().count() });
    counted.filter(|line| line.chars > limits::ENTRYPOINT_LONG_LINE_CHARS).collect()
}
