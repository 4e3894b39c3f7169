//! Chunking: a memory's text as units, the smallest runs of whole lines that a person would cite. Never changes, drops or invents a
//! line.
//!
//! A unit is a chat turn, a list item, a paragraph, a table or a code block. A heading belongs to the first unit below it and is
//! named by all units of its section; one with nothing below it belongs to the unit above it. A unit is a heading alone only if the
//! text has nothing else.

mod blocks;
mod turns;

use crate::base::{day::Day, limits, text::truncate_bytes};
use blocks::{BlockKind, LineBlock, blocks};
use turns::{Opener, openers};

/// The units of a text, in order, and the headings above them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Chunks {
    /// Disjoint, in the order of lines; together they contain every line of the body that is not blank.
    pub units: Vec<Unit>,
    /// Every section heading, in the order of lines.
    pub headings: Vec<Heading>,
}

/// A run of whole lines that is indexed, ranked and cited as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unit {
    /// Its first line, 1-based.
    pub first: u32,
    /// Its last line, inclusive.
    pub last: u32,
    /// The first line of its own text, below the headings and rules that belong to it.
    pub own: u32,
    /// Its kind.
    pub kind: UnitKind,
    /// The innermost heading above it, as an index into [`Chunks::headings`].
    pub heading: Option<usize>,
    /// The speaker, in a chat.
    pub speaker: Option<TurnSpeaker>,
    /// Its date: beside the speaker or in a heading of its section.
    pub day: Option<Day>,
}

/// The kind of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnitKind {
    /// A paragraph.
    Paragraph,
    /// A list item with its nested items.
    Item,
    /// A table.
    Table,
    /// A fenced code block.
    Fence,
    /// A turn of a chat, of any length.
    Turn,
    /// Headings or rules, in a text that has nothing else.
    Heading,
}

/// The speaker of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TurnSpeaker {
    /// As written.
    pub name: String,
    /// Whether it is an assistant, not a person.
    pub assistant: bool,
}

/// A heading of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heading {
    /// Its line, 1-based.
    pub line: u32,
    /// 1 to 6.
    pub level: u8,
    /// Its text without the marks.
    pub text: String,
    /// The heading of the section around it, as an index into [`Chunks::headings`].
    pub parent: Option<usize>,
}

impl Chunks {
    /// Splits `text`. Its lines before `body_line` (1-based) are frontmatter and belong to no unit.
    pub(crate) fn new(text: &str, body_line: u32) -> Self {
        let lines: Vec<&str> = text.lines().collect();
        let skip = (body_line.max(1) as usize - 1).min(lines.len());
        let body = &lines[skip..];
        let blocks = blocks(body);
        let openers = openers(body, &blocks);
        let mut builder = ChunkBuilder { skip: skip as u32, ..ChunkBuilder::default() };
        if openers.is_empty() {
            blocks.into_iter().for_each(|block| builder.block(block));
        } else {
            builder.chat(body, blocks, &openers);
        }
        builder.finish()
    }

    /// The texts of the headings around a unit, from the outermost.
    #[cfg(test)]
    pub(crate) fn heading_path(&self, unit: &Unit) -> Vec<&str> {
        let mut path: Vec<&str> =
            std::iter::successors(unit.heading, |&at| self.headings[at].parent).map(|at| self.headings[at].text.as_str()).collect();
        path.reverse();
        path
    }
}

/// Collects units.
#[derive(Default)]
struct ChunkBuilder {
    done: Chunks,
    /// Lines of frontmatter before the body.
    skip: u32,
    /// The first of the headings and rules that belong to the next unit.
    waiting: Option<u32>,
    last_waiting: u32,
    section: Option<usize>,
    /// The date of each heading's section: in the heading, or in the nearest one above it.
    days: Vec<Option<Day>>,
}

impl ChunkBuilder {
    fn line(&self, at: usize) -> u32 {
        self.skip + at as u32 + 1
    }

    fn block(&mut self, block: LineBlock) {
        let kind = match block.kind {
            BlockKind::Heading { level, text } => {
                self.heading(block.first, level, truncate_bytes(&text, limits::HEADING_BYTES).to_owned());
                return self.wait(block.first, block.last);
            }
            BlockKind::Rule => return self.wait(block.first, block.last),
            BlockKind::Paragraph => UnitKind::Paragraph,
            BlockKind::Item => UnitKind::Item,
            BlockKind::Table => UnitKind::Table,
            BlockKind::Fence => UnitKind::Fence,
        };
        self.unit(block.first, block.last, kind, None);
    }

    fn heading(&mut self, at: usize, level: u8, text: String) {
        let parent =
            std::iter::successors(self.section, |&at| self.done.headings[at].parent).find(|&at| self.done.headings[at].level < level);
        self.section = Some(self.done.headings.len());
        self.days.push(Day::find(&text).or_else(|| parent.and_then(|at| self.days[at])));
        self.done.headings.push(Heading { line: self.line(at), level, text, parent });
    }

    fn wait(&mut self, first: usize, last: usize) {
        self.waiting.get_or_insert(self.skip + first as u32 + 1);
        self.last_waiting = self.line(last);
    }

    fn unit(&mut self, first: usize, last: usize, kind: UnitKind, opener: Option<&Opener>) {
        let own = self.line(first);
        let day = opener.and_then(|o| o.day).or_else(|| self.section_day());
        let speaker = opener.map(|o| TurnSpeaker { name: o.name.clone(), assistant: o.assistant });
        let first = self.waiting.take().unwrap_or(own);
        self.done.units.push(Unit { first, last: self.line(last), own, kind, heading: self.section, speaker, day });
    }

    /// The date in the nearest heading that has one.
    fn section_day(&self) -> Option<Day> {
        self.section.and_then(|at| self.days[at])
    }

    /// Adds the units of a chat: what precedes the first turn, then one unit per turn.
    fn chat(&mut self, lines: &[&str], blocks: Vec<LineBlock>, openers: &[Opener]) {
        let starts: Vec<usize> = openers.iter().map(|o| turn_start(o.line, &blocks, openers)).collect();
        for mut block in blocks.iter().take_while(|b| b.first < starts[0]).cloned() {
            block.last = block.last.min(starts[0] - 1);
            self.block(block);
        }
        for (n, opener) in openers.iter().enumerate() {
            let end = starts.get(n + 1).copied().unwrap_or(lines.len());
            let heads = blocks.partition_point(|b| b.first < starts[n])..blocks.partition_point(|b| b.first < opener.line);
            for block in &blocks[heads] {
                self.block(block.clone());
            }
            let last = (opener.line..end).rev().find(|&at| !blocks::is_blank(lines[at])).unwrap_or(opener.line);
            self.unit(opener.line, last, UnitKind::Turn, Some(opener));
        }
    }

    /// Adds headings at the end of the text to the last unit: a heading alone answers nothing.
    fn finish(mut self) -> Chunks {
        if let (Some(_), Some(unit)) = (self.waiting, self.done.units.last_mut()) {
            unit.last = self.last_waiting;
            return self.done;
        }
        if let Some(first) = self.waiting.take() {
            let unit = Unit {
                first,
                last: self.last_waiting,
                own: first,
                kind: UnitKind::Heading,
                heading: self.section,
                speaker: None,
                day: self.section_day(),
            };
            self.done.units.push(unit);
        }
        self.done
    }
}

/// The number of lines at the start of a unit's text that are headings, rules or blank. Its own text begins below them.
pub(crate) fn head_lines(unit: &str) -> usize {
    let lines: Vec<&str> = unit.lines().collect();
    let mut at = 0;
    while at < lines.len() {
        if blocks::is_blank(lines[at]) {
            at += 1;
            continue;
        }
        let block = blocks::block_at(&lines, at);
        if !matches!(block.kind, BlockKind::Heading { .. } | BlockKind::Rule) {
            break;
        }
        at = block.last + 1;
    }
    at
}

/// The start of a turn: headings and rules directly before its opener belong to it; any other heading is part of the turn before.
fn turn_start(line: usize, blocks: &[LineBlock], openers: &[Opener]) -> usize {
    let before = &blocks[..blocks.partition_point(|b| b.first < line)];
    let opens = |at: usize| openers.binary_search_by_key(&at, |o| o.line).is_ok();
    let heads = |b: &&LineBlock| matches!(b.kind, BlockKind::Heading { .. } | BlockKind::Rule) && !opens(b.first);
    before.iter().rev().take_while(heads).last().map_or(line, |b| b.first)
}

#[cfg(test)]
mod tests;
