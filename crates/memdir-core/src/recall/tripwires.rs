//! The table of tripwires and pins: what a recall needs to know of every memory without reading them all. Derived: it is
//! compared with the files' stamps at every use, and whatever is wrong with it costs reading the files again.

use crate::{
    base::{
        disk::{self, Replace},
        error::Result,
        path::MemoryPath,
        text,
    },
    memory::Memory,
    operations::read,
    recall::when::{self, Action, When, Wire},
    store::{Stamp, Store},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::{collections::HashMap, fs, io::Write as _, path::Path};

/// What the table looks like; another word, another table.
const FORMAT: &str = "memdir wires 1";
/// A file's times must be so much older than the moment it was read to be believed.
const RACY_NS: i64 = 2_000_000_000;

/// The table of a space.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wires {
    format: String,
    files: Vec<Row>,
}

/// What is known of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Row {
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

impl Wires {
    /// The table of the files as they are now: what `cache` holds of it, and the rest read anew. Written back where it
    /// changed, as well as that can be done.
    pub fn of(store: &dyn Store, cache: Option<&Path>, now: Timestamp) -> Result<Wires> {
        let old = cache.and_then(Wires::load).unwrap_or_default();
        let mut known: HashMap<&str, &Row> = old.files.iter().map(|row| (row.path.as_str(), row)).collect();
        let seen_ns = i64::try_from(now.as_nanosecond()).unwrap_or(i64::MAX);
        let mut changed = false;
        let mut files = Vec::new();
        for entry in store.list("")?.entries.into_iter().filter(|entry| entry.path.is_md()) {
            match known.remove(entry.path.as_str()) {
                Some(row) if row.stamp == entry.stamp && !is_racy(row) => files.push(row.clone()),
                _ => {
                    changed = true;
                    files.extend(read(store, &entry.path, seen_ns)?);
                }
            }
        }
        changed |= !known.is_empty();
        drop(known);
        let table = Wires { format: FORMAT.to_owned(), files };
        if let Some(cache) = cache.filter(|_| changed) {
            // Without it the next recall reads the files again, and nothing else.
            let _ = table.save(cache);
        }
        Ok(table)
    }

    /// The memories whose wires an action touches, with the wire, in the order of their names.
    pub fn tripped<'a>(&'a self, action: &Action<'_>) -> Vec<(&'a MemoryPath, &'a Wire)> {
        self.files.iter().filter_map(|row| Some((&row.path, row.when.trips(action)?))).collect()
    }

    /// The memories that are always brought.
    pub fn pinned(&self) -> impl Iterator<Item = &MemoryPath> {
        self.files.iter().filter(|row| row.pinned).map(|row| &row.path)
    }

    fn load(cache: &Path) -> Option<Wires> {
        let table: Wires = serde_json::from_slice(&fs::read(cache).ok()?).ok()?;
        (table.format == FORMAT).then_some(table)
    }

    fn save(&self, cache: &Path) -> std::io::Result<()> {
        // It names memories, which are their owner's alone.
        disk::create_private_dir(cache.parent().unwrap_or(cache))?;
        let bytes = serde_json::to_vec(self)?;
        disk::replace(cache, Replace::DERIVED, |file| file.write_all(&bytes))
    }
}

/// As in git: a file that changed at about the time it was read may have changed since without its times telling.
fn is_racy(row: &Row) -> bool {
    row.stamp.mtime_ns.max(row.stamp.ctime_ns) > row.seen_ns - RACY_NS
}

fn read(store: &dyn Store, path: &MemoryPath, seen_ns: i64) -> Result<Option<Row>> {
    let Some(stored) = read::if_readable(store.get(path))? else { return Ok(None) };
    let (decoded, _) = text::decode(&stored.bytes);
    let (memory, _) = Memory::parse(&decoded);
    let pinned = memory.field("pinned").is_some_and(|text| matches!(text.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1"));
    Ok(Some(Row { path: stored.path, stamp: stored.stamp, seen_ns, when: when::of(&memory).0, pinned }))
}
