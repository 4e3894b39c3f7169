//! The entrypoint: one line per memory, loaded into every conversation. All functions but those in `upkeep`, `outdated` and `line_age` are
//! pure; the store writes the files.
//!
//! memdir maintains its lines between two marks, sorted by path. Everything outside the marks belongs to the user and is never
//! dropped, reordered or reformatted. Lines that do not fit any more move, oldest first, to overflow pages that the entrypoint links.

mod audit;
mod line;
mod line_age;
mod marks;
mod outdated;
mod overview;
mod plan;
mod section;
pub(crate) mod upkeep;
mod user_text;

pub use audit::{DeadLine, LongLine, dead, long_lines};
pub(crate) use overview::{OverviewLine, overview};
pub use plan::{EntrypointPlan, LineChange, plan, plan_many};

use crate::{
    base::{
        limits,
        text::{human_bytes, truncate},
    },
    store::mounts::{page_name, page_number},
};
use section::ParsedEntrypoint;
use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};
use user_text::Pointers;

/// Returns the path, from the mount's root, of the memory to which a line of an entrypoint or page points.
pub(crate) fn pointer(line: &str) -> Option<String> {
    match line::read(line.trim_end()) {
        line::EntrypointRow::Memory(path) => Some(path),
        _ => None,
    }
}

/// Whether a line of an entrypoint or page is generated and has no content: a mark, a generated heading, links to pages.
pub(crate) fn is_frame(line: &str) -> bool {
    let line = line.trim_end();
    line.is_empty() || section::is_mark(line) || plan::is_own_heading(line) || line::read(line) == line::EntrypointRow::Pages
}

/// A parsed overflow page. Immutable, so that it can be cached and shared until its file changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    parsed: ParsedEntrypoint,
    lines: usize,
    bytes: usize,
}

impl Page {
    /// Parses a page.
    pub fn parse(text: &str) -> Page {
        Page::from_parsed(ParsedEntrypoint::parse(text))
    }

    /// The paths of the memories it lists, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.parsed.lines.keys().map(String::as_str)
    }

    fn from_parsed(parsed: ParsedEntrypoint) -> Page {
        let (lines, bytes) = parsed.size(&[]);
        Page { parsed, lines, bytes }
    }
}

/// A parsed entrypoint with its pages.
#[derive(Debug, Clone)]
pub struct EntrypointFiles {
    name: String,
    text: Option<String>,
    parsed: ParsedEntrypoint,
    pointers: Pointers,
    pages: BTreeMap<u32, Arc<Page>>,
}

/// The place of a memory's line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LinePlace {
    /// In the user's own text, on this line of the entrypoint.
    Hand(u64),
    /// Between memdir's marks.
    Section,
    /// In the page of this file name.
    Page(String),
}

impl EntrypointFiles {
    /// Parses the entrypoint `name` with its text, if the file exists, and its pages by file name. Files that are not pages of this
    /// entrypoint are ignored.
    pub fn new<'a>(name: &str, text: Option<&str>, pages: impl IntoIterator<Item = (&'a str, Arc<Page>)>) -> EntrypointFiles {
        let parsed = ParsedEntrypoint::parse(text.unwrap_or_default());
        EntrypointFiles {
            name: name.to_owned(),
            text: text.map(str::to_owned),
            pointers: Pointers::from_parsed(&parsed),
            parsed,
            pages: pages.into_iter().filter_map(|(file, page)| Some((page_number(name, file)?, page))).collect(),
        }
    }

    /// The entrypoint's file name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the place of the line of the memory at this path, from the mount's root and with its extension.
    pub fn line_of(&self, path: &str) -> Option<LinePlace> {
        if let Some(line) = self.pointers.line_of(path) {
            return Some(LinePlace::Hand(line));
        }
        if self.parsed.lines.contains_key(path) {
            return Some(LinePlace::Section);
        }
        let page = self.pages.iter().find(|(_, page)| page.parsed.lines.contains_key(path));
        page.map(|(&number, _)| LinePlace::Page(page_name(&self.name, number)))
    }

    /// Returns whether a memory has a line, for many memories: the pages are searched once.
    pub(crate) fn listed(&self) -> impl Fn(&str) -> bool {
        let in_pages: HashSet<&str> = self.pages.values().flat_map(|page| page.paths()).collect();
        move |path| self.pointers.line_of(path).is_some() || self.parsed.lines.contains_key(path) || in_pages.contains(path)
    }

    /// The generated line of a memory, in the entrypoint or on a page.
    pub(crate) fn line_text(&self, path: &str) -> Option<&str> {
        let in_pages = || self.pages.values().find_map(|page| page.parsed.lines.get(path));
        self.parsed.lines.get(path).or_else(in_pages).map(String::as_str)
    }

    /// The generated lines of the entrypoint itself, with the paths of their memories.
    pub(crate) fn section_lines(&self) -> impl Iterator<Item = (&str, &str)> {
        self.parsed.lines.iter().map(|(path, line)| (path.as_str(), line.as_str()))
    }

    /// The paths of the memories whose lines are on pages.
    pub(crate) fn paged(&self) -> impl Iterator<Item = &str> {
        self.pages.values().flat_map(|page| page.paths())
    }

    /// The number of lines and bytes of the entrypoint itself.
    pub(crate) fn size(&self) -> (usize, usize) {
        let text = self.text.as_deref().unwrap_or_default();
        (crate::base::text::lines(text) as usize, text.len())
    }

    /// The file names of its pages, in order.
    pub fn page_names(&self) -> impl Iterator<Item = String> + '_ {
        self.pages.keys().map(|&number| page_name(&self.name, number))
    }
}

/// The part of an entrypoint that is loaded into a conversation.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct LoadedEntrypoint<'a> {
    /// The part within the limits, trimmed.
    pub content: &'a str,
    /// The number of lines of the whole, trimmed.
    pub line_count: u64,
    /// The number of bytes of the whole, trimmed.
    pub byte_count: u64,
    /// Whether the whole has too many lines.
    pub cut_by_lines: bool,
    /// Whether the whole has too many bytes.
    pub cut_by_bytes: bool,
    /// The warning after content that was truncated: one quoted line.
    pub warning: Option<String>,
}

impl LoadedEntrypoint<'_> {
    /// Returns the content, followed by the warning.
    pub fn with_warning(&self) -> String {
        match &self.warning {
            Some(warning) => format!("{}\n\n{warning}", self.content),
            None => self.content.to_owned(),
        }
    }
}

/// Truncates an entrypoint to the limits, with a warning about what was omitted.
pub fn load(text: &str) -> LoadedEntrypoint<'_> {
    let cut = truncate(text, limits::ENTRYPOINT_LINES, limits::ENTRYPOINT_BYTES);
    let lines = format!("{} lines (limit {})", cut.lines, limits::ENTRYPOINT_LINES);
    let bytes = format!("{} (limit {})", human_bytes(cut.bytes), human_bytes(limits::ENTRYPOINT_BYTES as u64));
    let what = match (cut.cut_by_lines, cut.cut_by_bytes) {
        (false, false) => None,
        (true, false) => Some(format!("has {lines}")),
        (false, true) => Some(format!("is {bytes} because its lines are too long")),
        (true, true) => Some(format!("has {lines} and {bytes}, so it exceeds both limits")),
    };
    let is_split = text.trim().strip_prefix(cut.text).is_some_and(|rest| !rest.starts_with(['\n', '\r']));
    let warning = what.map(|what| {
        let loaded = match cut.shown_lines {
            1 if is_split => "Only the beginning of its first line was loaded".to_owned(),
            1 => "Only its first line was loaded".to_owned(),
            lines => format!("Only the first {lines} of {} lines were loaded", cut.lines),
        };
        format!("> WARNING: this entrypoint {what}. {loaded}. Keep one short line per memory and move details into the memories.")
    });
    LoadedEntrypoint {
        content: cut.text,
        line_count: cut.lines,
        byte_count: cut.bytes,
        cut_by_lines: cut.cut_by_lines,
        cut_by_bytes: cut.cut_by_bytes,
        warning,
    }
}
