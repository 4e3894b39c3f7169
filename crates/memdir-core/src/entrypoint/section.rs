//! A file with memdir's section: the text before, between and after the marks. Parsing and rendering keep every byte outside the
//! marks.

use super::line::{self, EntrypointRow};
use crate::{
    base::{limits, steps},
    memory::{
        Memory,
        lines::{FenceScanner, heading},
    },
};
use std::collections::BTreeMap;

/// The line that opens the section.
pub(super) const BEGIN: &str = "<!-- memdir: one line per memory, sorted; write outside these two marks -->";
/// The line that closes it.
pub(super) const END: &str = "<!-- /memdir -->";

const BOM: char = '\u{feff}';

/// A parsed entrypoint or page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ParsedEntrypoint {
    /// The user's text before the section; the whole file if there is no section.
    pub(super) head: String,
    /// The user's text after the section.
    pub(super) tail: String,
    /// The line on which `tail` begins, 1-based.
    pub(super) tail_line: u64,
    /// The generated lines by path, without line ends.
    pub(super) lines: BTreeMap<String, String>,
    /// Other lines between the marks: kept there, after the generated lines.
    pub(super) strays: Vec<String>,
    /// Whether there is a section.
    pub(super) marked: bool,
    /// Whether lines end in `\r\n`.
    crlf: bool,
}

impl ParsedEntrypoint {
    /// Parses a file. Several sections, as a merge may leave them, become one; a section without an end mark ends with its last line
    /// that can be a generated one.
    pub(super) fn parse(text: &str) -> ParsedEntrypoint {
        let crlf = text.find('\n').is_some_and(|at| text[..at].ends_with('\r'));
        let (bom, text) = text.split_at(if text.starts_with(BOM) { BOM.len_utf8() } else { 0 });
        let mut parsed = ParsedEntrypoint { crlf, head: bom.to_owned(), ..ParsedEntrypoint::default() };
        let mut fence = FenceScanner::default();
        let mut inside = Inside::No;
        let mut blanks = String::new();
        let mut at = 0;
        for (number, line) in (1..).zip(text.split_inclusive('\n')) {
            steps::count(line.len());
            at += line.len();
            let content = line.trim_end_matches(['\r', '\n']);
            if inside == Inside::No {
                if !fence.is_code(line) && is_begin(content) {
                    parsed.marked = true;
                    inside = if closes(&text[at..]) { Inside::Closed } else { Inside::Open };
                } else {
                    parsed.push_outside(line, number);
                }
                continue;
            }
            match line::read(content) {
                _ if content.trim() == END => inside = Inside::No,
                _ if is_begin(content) => {}
                EntrypointRow::Memory(path) => drop(parsed.lines.entry(path).or_insert_with(|| content.to_owned())),
                EntrypointRow::Pages => {}
                EntrypointRow::Stray if content.trim().is_empty() => blanks.push_str(line),
                EntrypointRow::Stray if inside == Inside::Open => {
                    inside = Inside::No;
                    fence.is_code(line);
                    parsed.push_outside(&std::mem::take(&mut blanks), number);
                    parsed.push_outside(line, number);
                }
                EntrypointRow::Stray => parsed.strays.push(content.to_owned()),
            }
        }
        parsed
    }

    /// Renders the file, with links to these pages.
    pub(super) fn render(&self, pages: &[String]) -> String {
        if !self.marked {
            return self.head.clone();
        }
        let (_, bytes) = self.size(pages);
        let mut out = String::with_capacity(bytes);
        out.push_str(&self.head);
        if !self.head.ends_with(['\n', BOM]) && !self.head.is_empty() {
            out.push_str(self.line_end());
        }
        let links = link_lines(pages);
        let rows = [BEGIN].into_iter().chain(links.iter().map(String::as_str)).chain(self.lines.values().map(String::as_str));
        for row in rows.chain(self.strays.iter().map(String::as_str)).chain([END]) {
            out.push_str(row);
            out.push_str(self.line_end());
        }
        out.push_str(&self.tail);
        out
    }

    /// Returns an upper bound of the lines and bytes of [`ParsedEntrypoint::render`].
    pub(super) fn size(&self, pages: &[String]) -> (usize, usize) {
        let outside = count_lines(&self.head) + count_lines(&self.tail);
        if !self.marked {
            return (outside, self.head.len());
        }
        let end = self.line_end().len();
        let links = link_lines(pages);
        let rows = links.iter().chain(self.lines.values()).chain(&self.strays);
        let (lines, bytes) = rows.fold((2, BEGIN.len() + END.len() + 3 * end), |(lines, bytes), row| (lines + 1, bytes + row.len() + end));
        (outside + lines, self.head.len() + self.tail.len() + bytes)
    }

    /// The size of a generated line in bytes.
    pub(super) fn cost(&self, line: &str) -> usize {
        line.len() + self.line_end().len()
    }

    /// Adds a section if there is none: after the first heading, else at the top, so that truncation of a long file never affects the
    /// generated lines.
    pub(super) fn mark(&mut self, new_heading: &str) {
        if self.marked {
            return;
        }
        self.marked = true;
        let end = self.line_end();
        if self.head.trim_start_matches(BOM).is_empty() {
            self.head.push_str(&format!("{new_heading}{end}{end}"));
            return;
        }
        let at = section_place(&self.head);
        self.tail = self.head.split_off(at);
        if !self.head.trim_start_matches(BOM).is_empty() {
            if !self.head.ends_with('\n') {
                self.head.push_str(end);
            }
            self.head.push_str(end);
        }
        if !self.tail.is_empty() && !self.tail.starts_with(['\r', '\n']) {
            self.tail.insert_str(0, end);
        }
    }

    /// Whether nothing is left but headings.
    pub(super) fn is_empty(&self) -> bool {
        let outside = [&self.head, &self.tail];
        self.lines.is_empty()
            && self.strays.is_empty()
            && outside.iter().all(|text| text.lines().all(|line| line.trim().is_empty() || is_title(line)))
    }

    fn line_end(&self) -> &'static str {
        if self.crlf { "\r\n" } else { "\n" }
    }

    fn push_outside(&mut self, line: &str, number: u64) {
        if !self.marked {
            self.head.push_str(line);
            return;
        }
        if self.tail.is_empty() {
            self.tail_line = number;
        }
        self.tail.push_str(line);
    }
}

#[derive(PartialEq, Eq)]
enum Inside {
    No,
    /// A section with an end mark.
    Closed,
    /// A section without an end mark.
    Open,
}

/// Whether a line opens or closes the section.
pub(super) fn is_mark(line: &str) -> bool {
    is_begin(line) || line.trim() == END
}

fn is_begin(line: &str) -> bool {
    line.trim().starts_with("<!-- memdir:") && line.trim().ends_with("-->")
}

/// Whether an end mark comes before the next begin mark.
fn closes(rest: &str) -> bool {
    let mark = rest.lines().inspect(|line| steps::count(line.len())).find(|line| is_mark(line));
    mark.is_some_and(|line| line.trim() == END)
}

/// Returns lines with links to the pages, several per line, so that hundreds of pages fit.
fn link_lines(pages: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for page in pages {
        let number = page.rsplit_once("-").map_or("", |(_, number)| number).trim_end_matches(".md").trim_start_matches('0');
        let link = format!(" [{number}]({page})");
        match lines.last_mut().filter(|line| line.chars().count() + link.len() <= limits::ENTRYPOINT_LINE_CHARS) {
            Some(line) => line.push_str(&link),
            None => lines.push(format!("- Older memories, page{link}")),
        }
    }
    lines
}

fn is_title(line: &str) -> bool {
    heading(line).is_some_and(|heading| heading.level == 1)
}

fn count_lines(text: &str) -> usize {
    crate::base::text::lines(text) as usize
}

/// Returns the byte at which a section is inserted into a text without one.
fn section_place(text: &str) -> usize {
    let body = Memory::parse(text).0.body().len();
    let mut at = text.len() - body;
    let top = at;
    let mut before = "";
    for line in text[at..].split_inclusive('\n').take(HEADING_WITHIN_LINES) {
        at += line.len();
        let quiet = before.is_empty() || before.starts_with("<!--");
        let underline = !quiet && line.starts_with('=') && line.trim_end().trim_end_matches('=').is_empty();
        if underline || (quiet && is_title(line)) {
            return at;
        }
        if !quiet {
            break;
        }
        before = line.trim();
    }
    top
}

/// The lines in which the first heading is searched.
const HEADING_WITHIN_LINES: usize = 10;
