//! The table of a space: what a recall needs of every memory without reading them all. It has tripwires, pins, and the words of names,
//! descriptions, bodies and cues. It is derived: every use compares it with the stamps of the files, and if anything is wrong
//! with it the files are read again.

mod encode;
mod fields;

use crate::{
    base::{
        disk::{self, Replace},
        error::Result,
        path::MemoryPath,
        text,
    },
    memory::{
        Memory,
        succession::{SuccessionFields, Successions},
        validity::{MemoryStatus, Outdated, Validity},
    },
    recall::when::{self, Action, Strength, Tripwire, When},
    search::{analysis::Analyser, indexing::is_racy},
    store::{self, Stamp, Store, mounts},
};
pub(super) use encode::RowWords;
use encode::WordTable;
use fields::Fields;
pub(super) use fields::{ABOUT, BODY, NAME, PART};
use jiff::{Timestamp, civil::Date};
use serde::{Deserialize, Serialize};
use std::{collections::HashMap, fs, io::Write as _, path::Path};

/// The tripwires, pins and words of a space.
#[derive(Debug, Default)]
pub struct RecallTable {
    rows: Vec<TableRow>,
    words: WordTable,
}

/// What is known of one file besides its words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TableRow {
    pub(super) path: MemoryPath,
    stamp: Stamp,
    seen_ns: i64,
    #[serde(default, skip_serializing_if = "is_empty")]
    when: When,
    #[serde(default, skip_serializing_if = "is_false")]
    pinned: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    validity: Option<Box<RowValidity>>,
}

/// How far a memory can be trusted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct RowValidity {
    #[serde(default, skip_serializing_if = "is_false")]
    deprecated: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stale_after: Option<Date>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    supersedes: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    superseded_by: Vec<String>,
}

impl RowValidity {
    fn new(validity: Validity) -> Option<Box<RowValidity>> {
        let row = RowValidity {
            deprecated: validity.status == Some(MemoryStatus::Deprecated),
            stale_after: validity.stale_after,
            supersedes: validity.supersedes,
            superseded_by: validity.superseded_by,
        };
        (row != RowValidity::default()).then(|| Box::new(row))
    }
}

fn is_empty(when: &When) -> bool {
    when.tripwires.is_empty()
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl RecallTable {
    /// Returns the table of the files as they are now: rows of `cache` that are still current, and the rest read from the files. A
    /// changed table is written back to `cache` if possible.
    pub fn read(store: &dyn Store, cache: Option<&Path>, now: Timestamp) -> Result<RecallTable> {
        let old = cache.and_then(|cache| encode::decode(fs::read(cache).ok()?)).unwrap_or_default();
        let is_archived = |path: &MemoryPath| mounts::file_kind(store, path) == mounts::FileKind::Archived;
        let entries: Vec<_> = store.list("")?.entries.into_iter().filter(|entry| entry.path.is_md() && !is_archived(&entry.path)).collect();
        let is_current =
            |row: &TableRow, entry: &store::Entry| row.path == entry.path && row.stamp == entry.stamp && !is_racy(row.stamp, row.seen_ns);
        // Both are sorted, so an unchanged space is seen without looking anything up.
        if old.rows.len() == entries.len() && old.rows.iter().zip(&entries).all(|(row, entry)| is_current(row, entry)) {
            return Ok(old);
        }
        let known: HashMap<&str, usize> = old.rows.iter().enumerate().map(|(at, row)| (row.path.as_str(), at)).collect();
        let seen_ns = i64::try_from(now.as_nanosecond()).unwrap_or(i64::MAX);
        let mut rows = Vec::new();
        let mut words = old.words.successor();
        let mut analyser = Analyser::default();
        for entry in &entries {
            match known.get(entry.path.as_str()).filter(|at| is_current(&old.rows[**at], entry)) {
                Some(at) => {
                    rows.push(old.rows[*at].clone());
                    words.copy(&old.words, *at);
                }
                None => {
                    if let Some((row, fields)) = read_row(store, &entry.path, seen_ns, &mut analyser)? {
                        rows.push(row);
                        words.push(&fields);
                    }
                }
            }
        }
        let table = RecallTable { rows, words: words.finish() };
        if let Some(cache) = cache {
            // If this fails, the next recall reads the files again.
            let _ = table.save(cache);
        }
        Ok(table)
    }

    /// The memories with a tripwire that an action touches, with that tripwire and its strength, in the order of their names.
    pub fn tripped<'a>(&'a self, action: &Action<'_>) -> Vec<(&'a MemoryPath, &'a Tripwire, Strength)> {
        let tripped = |row: &'a TableRow| row.when.trips(action).map(|wire| (&row.path, wire, row.when.strength_of(wire)));
        self.rows.iter().filter_map(tripped).collect()
    }

    /// The memories with tripwires, in the order of their names.
    pub fn with_tripwires(&self) -> impl Iterator<Item = &MemoryPath> {
        self.rows.iter().filter(|row| !is_empty(&row.when)).map(|row| &row.path)
    }

    /// The memories that are always recalled.
    pub fn pinned(&self) -> impl Iterator<Item = &MemoryPath> {
        self.rows.iter().filter(|row| row.pinned).map(|row| &row.path)
    }

    /// Which memories are replaced by others of the same mount.
    pub(crate) fn successions(&self, store: &dyn Store) -> Successions {
        let fields: Vec<SuccessionFields> = self
            .rows
            .iter()
            .filter_map(|row| {
                let RowValidity { supersedes, superseded_by, .. } = &**row.validity.as_ref()?;
                let path = row.path.clone();
                Some(SuccessionFields { path, supersedes: supersedes.clone(), superseded_by: superseded_by.clone() })
            })
            .filter(|fields| !fields.supersedes.is_empty() || !fields.superseded_by.is_empty())
            .collect();
        if fields.is_empty() {
            return Successions::default();
        }
        let names: HashMap<&str, &MemoryPath> = self.rows.iter().map(|row| (row.path.name(), &row.path)).collect();
        let mount = |path: &MemoryPath| mounts::mount_of(store, path).map(|mount| mount.prefix.clone());
        Successions::new(&fields, |holder, name| names.get(name).filter(|path| mount(path) == mount(holder)).map(|path| (*path).clone()))
    }

    /// Why a memory ranks behind others on this day, and the day after which it is stale.
    pub(crate) fn outdated(&self, path: &MemoryPath, today: Date) -> Option<(Outdated, Option<Date>)> {
        let at = self.rows.binary_search_by(|row| row.path.cmp(path)).ok()?;
        let validity = self.rows[at].validity.as_ref()?;
        if validity.deprecated {
            return Some((Outdated::Deprecated, None));
        }
        validity.stale_after.filter(|last| today > *last).map(|last| (Outdated::Stale, Some(last)))
    }

    /// The rows, in the order of their names, with their words.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&TableRow, RowWords<'_>)> {
        self.rows.iter().zip(self.words.rows())
    }

    /// The file of a row.
    pub(super) fn path(&self, row: usize) -> &MemoryPath {
        &self.rows[row].path
    }

    /// The stems by their ids.
    pub(super) fn stems(&self) -> impl Iterator<Item = &str> {
        self.words.stems()
    }

    fn save(&self, cache: &Path) -> std::io::Result<()> {
        // It has words of memories, which are their owner's alone.
        disk::create_private_dir(cache.parent().unwrap_or(cache))?;
        let bytes = encode::encode(self)?;
        disk::replace(cache, Replace::DERIVED, |file| file.write_all(&bytes))
    }
}

/// Reads the row of one file, or returns `None` if it is gone or unreadable.
fn read_row(store: &dyn Store, path: &MemoryPath, seen_ns: i64, analyser: &mut Analyser) -> Result<Option<(TableRow, Fields)>> {
    let Some(stored) = store::if_readable(store.get(path))? else { return Ok(None) };
    let (decoded, _) = text::decode(&stored.bytes);
    let (memory, _) = Memory::parse(&decoded);
    let pinned = memory.field("pinned").is_some_and(|text| matches!(text.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1"));
    let points = mounts::file_kind(store, &stored.path).is_maintained();
    let fields = if points {
        Fields::of_entrypoint(store, &stored.path, &memory, analyser)
    } else {
        Fields::of_memory(&stored.path, &memory, analyser)
    };
    let (when, validity) = (when::parse_field(&memory).0, RowValidity::new(memory.validity()));
    Ok(Some((TableRow { path: stored.path, stamp: stored.stamp, seen_ns, when, pinned, validity }, fields)))
}
