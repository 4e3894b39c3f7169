//! The blocks of a Markdown text, as runs of whole lines. Independent of units, speakers and words.

use crate::base::steps;
use crate::memory::lines::{Fence, heading, indent, underline_level};

/// A run of lines that belong together; both ends count from 0 and are inclusive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LineBlock {
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) kind: BlockKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BlockKind {
    Heading {
        level: u8,
        text: String,
    },
    Paragraph,
    Item,
    Table,
    Fence,
    /// A horizontal rule.
    Rule,
}

/// A list item with more lines is split at its nested items: it is too much to cite at once.
const ITEM_LINES: usize = 15;
/// The levels of nested items at which a long item is split. Every level looks at all lines below it.
const SPLIT_LEVELS: usize = 8;

/// Splits lines into blocks, in order. Together they contain every line that is not blank.
pub(super) fn blocks(lines: &[&str]) -> Vec<LineBlock> {
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        if is_blank(lines[at]) {
            at += 1;
            continue;
        }
        let block = block_at(lines, at);
        at = block.last + 1;
        match block.kind {
            BlockKind::Item => split_item(lines, block, SPLIT_LEVELS, &mut blocks),
            _ => blocks.push(block),
        }
    }
    blocks
}

pub(super) fn block_at(lines: &[&str], first: usize) -> LineBlock {
    let line = lines[first];
    steps::count(line.len());
    if let Some(heading) = heading(line) {
        let kind = BlockKind::Heading { level: heading.level, text: heading.text.to_owned() };
        return LineBlock { first, last: first, kind };
    }
    if let Some(fence) = Fence::parse(line) {
        return LineBlock { first, last: fence_end(lines, first, fence), kind: BlockKind::Fence };
    }
    if is_rule(line) {
        return LineBlock { first, last: first, kind: BlockKind::Rule };
    }
    if is_table(lines, first) {
        let last = first + lines[first..].iter().take_while(|l| l.contains('|')).count() - 1;
        return LineBlock { first, last, kind: BlockKind::Table };
    }
    if item_indent(line).is_some() {
        return LineBlock { first, last: item_end(lines, first), kind: BlockKind::Item };
    }
    paragraph(lines, first)
}

/// A paragraph, or a heading if its one line is underlined with `=` or `-`.
fn paragraph(lines: &[&str], first: usize) -> LineBlock {
    if let Some(level) = lines.get(first + 1).and_then(|l| underline_level(l)) {
        let text = lines[first].trim().to_owned();
        return LineBlock { first, last: first + 1, kind: BlockKind::Heading { level, text } };
    }
    let last = (first + 1..lines.len()).find(|&at| is_blank(lines[at]) || starts_block(lines, at)).unwrap_or(lines.len()) - 1;
    LineBlock { first, last, kind: BlockKind::Paragraph }
}

fn starts_block(lines: &[&str], at: usize) -> bool {
    let line = lines[at];
    steps::count(line.len());
    heading(line).is_some() || Fence::parse(line).is_some() || is_rule(line) || item_indent(line).is_some() || is_table(lines, at)
}

pub(super) fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

fn is_rule(line: &str) -> bool {
    let mut marks = line.chars().filter(|c| !c.is_whitespace());
    let Some(mark @ ('-' | '*' | '_')) = marks.next() else { return false };
    let mut count = 1;
    marks.all(|c| {
        count += 1;
        c == mark
    }) && count >= 3
}

/// The last line of the code block that `fence` opens on line `first`; a block that is never closed ends with the text.
fn fence_end(lines: &[&str], first: usize, fence: Fence<'_>) -> usize {
    let end = lines[first + 1..].iter().position(|line| fence.is_closed_by(line)).map_or(lines.len() - 1, |at| first + 1 + at);
    steps::count(lines[first..=end].iter().map(|line| line.len()).sum());
    end
}

fn is_table(lines: &[&str], at: usize) -> bool {
    let Some(next) = lines.get(at + 1).filter(|_| lines[at].contains('|')) else { return false };
    let next = next.trim();
    next.contains('|') && next.contains('-') && next.chars().all(|c| matches!(c, '|' | '-' | ':' | ' ' | '\t'))
}

/// The indentation of a list item's marker, if the line is one.
pub(super) fn item_indent(line: &str) -> Option<usize> {
    let text = line.trim_start();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = match digits {
        0 => text.strip_prefix(['-', '*', '+'])?,
        1..=9 => text[digits..].strip_prefix(['.', ')'])?,
        _ => return None,
    };
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| indent(line))
}

/// The last line of the item that begins at `first`: its own lines, what is indented below it, and lazy continuations.
fn item_end(lines: &[&str], first: usize) -> usize {
    let own = indent(lines[first]);
    let mut last = first;
    let mut at = first + 1;
    while at < lines.len() {
        let line = lines[at];
        if is_blank(line) {
            at += 1;
            continue;
        }
        let inside = indent(line) > own;
        let lazy = at == last + 1 && !starts_block(lines, at);
        if !(inside || lazy) {
            break;
        }
        last = Fence::parse(line).filter(|_| inside).map_or(at, |fence| fence_end(lines, at, fence));
        at = last + 1;
    }
    last
}

/// Keeps an item whole, or splits it at its outermost nested items if it is long.
fn split_item(lines: &[&str], item: LineBlock, levels: usize, into: &mut Vec<LineBlock>) {
    if levels == 0 || item.last - item.first < ITEM_LINES {
        into.push(item);
        return;
    }
    let nested = (item.first + 1..=item.last).filter_map(|at| Some((at, item_indent(lines[at])?)));
    let outermost = nested.clone().map(|(_, indent)| indent).min();
    let starts: Vec<usize> = nested.filter(|(_, indent)| Some(*indent) == outermost).map(|(at, _)| at).collect();
    steps::count(lines[item.first..=item.last].iter().map(|line| line.len()).sum());
    if starts.is_empty() {
        into.push(item);
        return;
    }
    into.push(trimmed(lines, item.first, starts[0] - 1));
    for (n, &first) in starts.iter().enumerate() {
        let last = starts.get(n + 1).map_or(item.last, |next| next - 1);
        let block = trimmed(lines, first, last);
        split_item(lines, block, levels - 1, into);
    }
}

fn trimmed(lines: &[&str], first: usize, last: usize) -> LineBlock {
    let last = (first..=last).rev().find(|&at| !is_blank(lines[at])).unwrap_or(first);
    LineBlock { first, last, kind: BlockKind::Item }
}
