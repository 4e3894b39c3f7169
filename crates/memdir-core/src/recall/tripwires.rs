//! The table of tripwires and pins: what a recall needs of every memory without reading them all. It is derived: every use compares
//! it with the stamps of the files, and if anything is wrong with it the files are read again.

use crate::{
    base::{
        disk::{self, Replace},
        error::Result,
        path::MemoryPath,
        text,
    },
    memory::Memory,
    recall::when::{self, Action, Tripwire, When},
    search::indexing::is_racy,
    store::{self, Stamp, Store},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::{collections::HashMap, fs, io::Write as _, path::Path};

/// The format of the table; a table of another format is ignored.
const FORMAT: &str = "memdir wires 1";

/// The tripwires and pins of a space.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tripwires {
    format: String,
    files: Vec<TripwireRow>,
}

/// The row of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct TripwireRow {
    path: MemoryPath,
    stamp: Stamp,
    seen_ns: i64,
    #[serde(default, skip_serializing_if = "is_empty")]
    when: When,
    #[serde(default, skip_serializing_if = "is_false")]
    pinned: bool,
}

fn is_empty(when: &When) -> bool {
    when.0.is_empty()
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl Tripwires {
    /// Returns the table of the files as they are now: rows of `cache` that are still current, and the rest read from the files. A
    /// changed table is written back to `cache` if possible.
    pub fn read(store: &dyn Store, cache: Option<&Path>, now: Timestamp) -> Result<Tripwires> {
        let old = cache.and_then(Tripwires::load).unwrap_or_default();
        let mut known: HashMap<&str, &TripwireRow> = old.files.iter().map(|row| (row.path.as_str(), row)).collect();
        let seen_ns = i64::try_from(now.as_nanosecond()).unwrap_or(i64::MAX);
        let mut changed = false;
        let mut files = Vec::new();
        for entry in store.list("")?.entries.into_iter().filter(|entry| entry.path.is_md()) {
            match known.remove(entry.path.as_str()) {
                Some(row) if row.stamp == entry.stamp && !is_racy(row.stamp, row.seen_ns) => files.push(row.clone()),
                _ => {
                    changed = true;
                    files.extend(read_row(store, &entry.path, seen_ns)?);
                }
            }
        }
        changed |= !known.is_empty();
        drop(known);
        let table = Tripwires { format: FORMAT.to_owned(), files };
        if let Some(cache) = cache.filter(|_| changed) {
            // If this fails, the next recall reads the files again.
            let _ = table.save(cache);
        }
        Ok(table)
    }

    /// The memories with a tripwire that an action touches, with that tripwire, in the order of their names.
    pub fn tripped<'a>(&'a self, action: &Action<'_>) -> Vec<(&'a MemoryPath, &'a Tripwire)> {
        self.files.iter().filter_map(|row| Some((&row.path, row.when.trips(action)?))).collect()
    }

    /// The memories that are always recalled.
    pub fn pinned(&self) -> impl Iterator<Item = &MemoryPath> {
        self.files.iter().filter(|row| row.pinned).map(|row| &row.path)
    }

    fn load(cache: &Path) -> Option<Tripwires> {
        let table: Tripwires = serde_json::from_slice(&fs::read(cache).ok()?).ok()?;
        (table.format == FORMAT).then_some(table)
    }

    fn save(&self, cache: &Path) -> std::io::Result<()> {
        // It names memories, which are their owner's alone.
        disk::create_private_dir(cache.parent().unwrap_or(cache))?;
        let bytes = serde_json::to_vec(self)?;
        disk::replace(cache, Replace::DERIVED, |file| file.write_all(&bytes))
    }
}

/// Reads the row of one file, or returns `None` if it is gone or unreadable.
fn read_row(store: &dyn Store, path: &MemoryPath, seen_ns: i64) -> Result<Option<TripwireRow>> {
    let Some(stored) = store::if_readable(store.get(path))? else { return Ok(None) };
    let (decoded, _) = text::decode(&stored.bytes);
    let (memory, _) = Memory::parse(&decoded);
    let pinned = memory.field("pinned").is_some_and(|text| matches!(text.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1"));
    Ok(Some(TripwireRow { path: stored.path, stamp: stored.stamp, seen_ns, when: when::parse_field(&memory).0, pinned }))
}
