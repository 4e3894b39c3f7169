//! How old the line of a memory is: of a full entrypoint, `plan` moves the oldest lines to pages. Reads through a view; writes nothing.
//!
//! A dream has another rule for an entrypoint that is nearly full (`operations/dream/entrypoint.rs`): it moves the lines that are used
//! least for their size, and looks at the date only of equal ones. A save decides by the date alone: it must not depend on how memories
//! were used (only operations can read that), and it has no time to read every memory.

use crate::{
    base::{path::MemoryPath, text},
    memory::Memory,
    store::{View, if_readable},
};
use jiff::Timestamp;
use std::collections::HashMap;

/// The dates of the memories of lines.
#[derive(Default)]
pub(super) struct LineAges {
    /// The dates of the memories that this change writes, in nanoseconds since 1970; `i64::MAX` for one without a date.
    written: HashMap<MemoryPath, i64>,
}

impl LineAges {
    /// Dates that are known from elsewhere; they count instead of those in the memories that are written.
    pub(super) fn dated(dates: &HashMap<MemoryPath, Timestamp>) -> Self {
        let nanoseconds = |at: &Timestamp| i64::try_from(at.as_nanosecond()).unwrap_or(i64::MAX);
        LineAges { written: dates.iter().map(|(path, at)| (path.clone(), nanoseconds(at))).collect() }
    }

    /// Notes the date of a memory that is about to be written.
    pub(super) fn note_written(&mut self, path: &MemoryPath, bytes: &[u8]) {
        self.written.entry(path.clone()).or_insert_with(|| own_date(bytes).unwrap_or(i64::MAX));
    }

    /// Notes the date of a memory that exists and is not written, if it has one.
    pub(super) fn note_existing(&mut self, path: &MemoryPath, bytes: &[u8]) {
        if let Some(date) = own_date(bytes) {
            self.written.insert(path.clone(), date);
        }
    }

    /// Returns the date of a line's memory: that of its frontmatter, else the time of the last change of its file.
    pub(super) fn date(&self, view: &dyn View, prefix: &str, rel: &str) -> i64 {
        let Ok(path) = MemoryPath::parse(rel).map(|path| path.prefixed(prefix)) else { return i64::MIN };
        if let Some(date) = self.written.get(&path) {
            return *date;
        }
        match if_readable(view.get(&path)) {
            Ok(Some(stored)) => own_date(&stored.bytes).unwrap_or(stored.stamp.mtime_ns),
            // A line whose memory does not exist is the first to move.
            _ => i64::MIN,
        }
    }
}

/// Returns the date in a memory's frontmatter, in nanoseconds since 1970.
fn own_date(bytes: &[u8]) -> Option<i64> {
    let (decoded, _) = text::decode(bytes);
    let (memory, _) = Memory::parse(&decoded);
    i64::try_from(memory.own_date()?.as_nanosecond()).ok()
}
