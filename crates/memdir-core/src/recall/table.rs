//! The table of a space: what a recall needs of every memory without reading them all. It has tripwires, pins, and the words of names,
//! descriptions, bodies and cues. It is derived: every use compares it with the stamps of the files, and if anything is wrong
//! with it the files are read again.

mod build;
mod data;
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
        validity::{MemoryStatus, Outdated, Validity, outdated_by_status},
    },
    recall::when::{self, Action, Strength, Tripwire, When},
    search::{analysis::Analyser, indexing::is_racy},
    store::{self, Source, Stamp, Store, Stored, mounts},
};
use build::{TableBuilder, unpack_stamp};
pub(super) use data::{Posting, RowDetails, TableView};
use data::{Section, TableBytes};
use fields::Fields;
pub(super) use fields::{ABOUT, BODY, LINE, NAME, PART, count_of, length_factor};
use jiff::{Timestamp, civil::Date};
use serde::{Deserialize, Serialize};
use std::{
    collections::{HashMap, VecDeque},
    io::Write as _,
    path::Path,
    sync::Arc,
};

/// The tripwires, pins and words of a space.
#[derive(Debug, Default)]
pub struct RecallTable {
    bytes: TableBytes,
    extras: Vec<RowExtra>,
    /// For each row: whether it is a memory. Entrypoints, their pages, tests and candidates are not.
    is_memory: Vec<bool>,
}

/// What only few memories have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct RowExtra {
    path: MemoryPath,
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
        let old = cache.and_then(RecallTable::open).unwrap_or_default();
        let (entries, is_memory) = to_rows(store, store.list("")?.entries);
        let view = old.bytes.view();
        // Both are sorted, so an unchanged space is seen without looking anything up.
        if view.rows() == entries.len() && entries.iter().enumerate().all(|(row, entry)| is_current(view, row, entry, false)) {
            return Ok(RecallTable { is_memory, ..old });
        }
        old.updated(store, cache, &entries, &is_memory, now)
    }

    /// Returns the table of a store on a disk as it is now: this one if no file has changed.
    pub(super) fn refreshed(self: &Arc<Self>, store: &dyn Store, now: Timestamp) -> Result<Arc<RecallTable>> {
        let (entries, is_memory) = to_rows(store, store.list("")?.entries);
        let view = self.bytes.view();
        let is_same = view.rows() == entries.len() && self.is_memory == is_memory;
        if is_same && entries.iter().enumerate().all(|(row, entry)| is_current(view, row, entry, false)) {
            return Ok(self.clone());
        }
        self.updated(store, None, &entries, &is_memory, now).map(Arc::new)
    }

    /// Returns the table of these files, sorted by path, of a store with exact stamps; rows of this one that are still current are
    /// copied.
    pub(super) fn with_entries(&self, store: &dyn Store, entries: Vec<store::Entry>, now: Timestamp) -> Result<RecallTable> {
        let (entries, is_memory) = to_rows(store, entries);
        self.updated(store, None, &entries, &is_memory, now)
    }

    /// The files of all rows.
    pub(super) fn entries(&self) -> Vec<store::Entry> {
        let view = self.view();
        let stamp = |row| unpack_stamp(view.stamp(row)).0;
        (0..view.rows()).filter_map(|row| Some(store::Entry { path: self.path(row)?, stamp: stamp(row) })).collect()
    }

    /// An upper estimate of the bytes of memory that it uses.
    pub(super) fn resident_bytes(&self) -> u64 {
        // The extras are a small part of the bytes, as JSON, and larger when they are parsed.
        let extras = self.bytes.section(Section::Extras).len() * 4;
        (self.bytes.all().len() + extras + self.is_memory.len()) as u64
    }

    /// Reads what has changed since.
    fn updated(
        &self,
        store: &dyn Store,
        cache: Option<&Path>,
        entries: &[store::Entry],
        is_memory: &[bool],
        now: Timestamp,
    ) -> Result<RecallTable> {
        let view = self.bytes.view();
        let known: HashMap<&str, usize> = (0..view.rows()).map(|row| (view.path(row), row)).collect();
        let seen_ns = i64::try_from(now.as_nanosecond()).unwrap_or(i64::MAX);
        let mut built = TableBuilder::new(view);
        let mut table = RecallTable::default();
        let mut analyser = Analyser::default();
        let exact = store.sequence().is_some();
        let current = |entry: &store::Entry| known.get(entry.path.as_str()).copied().filter(|row| is_current(view, *row, entry, exact));
        let stale: Vec<MemoryPath> = entries.iter().filter(|entry| current(entry).is_none()).map(|entry| entry.path.clone()).collect();
        let mut reader = RowReader { store, stale: stale.iter().collect(), read: VecDeque::new() };
        for (entry, is_memory) in entries.iter().zip(is_memory) {
            match current(entry) {
                Some(row) => {
                    built.copy(row);
                    table.extras.extend(self.extra(&entry.path).cloned());
                }
                None => {
                    let Some(stored) = reader.next()? else { continue };
                    let (extra, stamp, fields) = to_row(store, &entry.path, &stored, &mut analyser);
                    built.push(entry.path.as_str(), stamp, seen_ns, &fields);
                    table.extras.extend(extra);
                }
            }
            table.is_memory.push(*is_memory);
        }
        debug_assert_eq!(built.len(), table.is_memory.len());
        // A table that is too large for its file has no words: nothing is recalled then, and rules work.
        table.bytes = built.finish(&table.extras, &table.is_memory).unwrap_or_default();
        if let Some(cache) = cache {
            // If this fails, the next recall reads the files again.
            let _ = table.save(cache);
        }
        Ok(table)
    }

    fn open(file: &Path) -> Option<RecallTable> {
        let bytes = TableBytes::open(file)?;
        let extras = bytes.section(Section::Extras);
        let extras = if extras.is_empty() { Vec::new() } else { serde_json::from_slice(extras).ok()? };
        Some(RecallTable { bytes, extras, is_memory: Vec::new() })
    }

    /// The memories with a tripwire that an action touches, with that tripwire and its strength, in the order of their names.
    pub fn tripped<'a>(&'a self, action: &Action<'_>) -> Vec<(&'a MemoryPath, &'a Tripwire, Strength)> {
        let tripped = |row: &'a RowExtra| row.when.trips(action).map(|wire| (&row.path, wire, row.when.strength_of(wire)));
        self.extras.iter().filter_map(tripped).collect()
    }

    /// The memories with tripwires, in the order of their names.
    pub fn with_tripwires(&self) -> impl Iterator<Item = &MemoryPath> {
        self.extras.iter().filter(|row| !is_empty(&row.when)).map(|row| &row.path)
    }

    /// The memories that are always recalled.
    pub fn pinned(&self) -> impl Iterator<Item = &MemoryPath> {
        self.extras.iter().filter(|row| row.pinned).map(|row| &row.path)
    }

    /// Which memories are replaced by others of the same mount.
    pub fn successions(&self, store: &dyn Store) -> Successions {
        let fields: Vec<SuccessionFields> = self
            .extras
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
        let paths: Vec<MemoryPath> = (0..self.is_memory.len()).filter_map(|row| self.path(row)).collect();
        let mount_of = |path: &MemoryPath| mounts::mount_of(store, path).map(|mount| mount.prefix.as_str());
        Successions::among(&fields, paths.iter(), &mount_of)
    }

    /// Why a memory ranks behind others on a day, and the day after which it is stale. The day is asked for only if it matters.
    pub(crate) fn outdated(&self, path: &MemoryPath, today: impl FnOnce() -> Date) -> Option<(Outdated, Option<Date>)> {
        let validity = self.extra(path)?.validity.as_ref()?;
        let why = outdated_by_status(validity.deprecated, validity.stale_after, today)?;
        Some((why, validity.stale_after.filter(|_| why == Outdated::Stale)))
    }

    fn extra(&self, path: &MemoryPath) -> Option<&RowExtra> {
        self.extras.binary_search_by(|row| row.path.cmp(path)).ok().map(|at| &self.extras[at])
    }

    /// The words of all rows.
    pub(super) fn view(&self) -> TableView<'_> {
        self.bytes.view()
    }

    /// Whether the frequencies of stems are those of the memories of now. Settings decide what is a memory, too.
    pub(super) fn has_frequencies(&self) -> bool {
        self.view().counted_with(&self.is_memory)
    }

    /// Whether a row is a memory.
    pub(super) fn is_memory(&self, row: usize) -> bool {
        self.is_memory.get(row).copied().unwrap_or_default()
    }

    /// The file with a name.
    pub(crate) fn path_of(&self, name: &str) -> Option<MemoryPath> {
        (0..self.view().rows()).filter_map(|row| self.path(row)).find(|path| path.name() == name)
    }

    /// The file of a row.
    pub(super) fn path(&self, row: usize) -> Option<MemoryPath> {
        MemoryPath::parse(self.view().path(row)).ok()
    }

    fn save(&self, cache: &Path) -> std::io::Result<()> {
        // It has words of memories, which are their owner's alone.
        disk::create_private_dir(cache.parent().unwrap_or(cache))?;
        disk::replace(cache, Replace::DERIVED, |file| file.write_all(self.bytes.all()))
    }
}

/// Whether a row has the words of a file as it is now.
fn is_current(view: TableView<'_>, row: usize, entry: &store::Entry, exact: bool) -> bool {
    let (stamp, seen_ns) = unpack_stamp(view.stamp(row));
    stamp == entry.stamp && (exact || !is_racy(stamp, seen_ns)) && view.path(row) == entry.path.as_str()
}

/// Whether a file can be recalled: a memory or log of a mount with memories that is not archived.
pub(crate) fn is_recallable(store: &dyn Store, path: &MemoryPath) -> bool {
    path.is_md()
        && mounts::file_kind(store, path).is_listed()
        && mounts::mount_of(store, path).is_none_or(|mount| mount.source == Source::Memory)
}

/// The files that have a row, and whether each is a memory.
fn to_rows(store: &dyn Store, mut entries: Vec<store::Entry>) -> (Vec<store::Entry>, Vec<bool>) {
    let mut is_memory = Vec::with_capacity(entries.len());
    entries.retain(|entry| {
        let kind = entry.path.is_md().then(|| mounts::file_kind(store, &entry.path));
        let kind = kind.filter(|kind| *kind != mounts::FileKind::Archived);
        if let Some(kind) = kind {
            let of_memories = || mounts::mount_of(store, &entry.path).is_none_or(|mount| mount.source == Source::Memory);
            is_memory.push(kind.is_listed() && of_memories());
        }
        kind.is_some()
    });
    (entries, is_memory)
}

/// Reads the stale files in their order, several at a time where each read is a round trip.
struct RowReader<'a> {
    store: &'a dyn Store,
    stale: VecDeque<&'a MemoryPath>,
    read: VecDeque<Option<Stored>>,
}

impl RowReader<'_> {
    /// Returns the next file, or `None` if it is gone or unreadable.
    fn next(&mut self) -> Result<Option<Stored>> {
        if self.read.is_empty() {
            let step = store::read_ahead(self.store).min(self.stale.len());
            let some: Vec<MemoryPath> = self.stale.drain(..step).cloned().collect();
            self.read = match some.as_slice() {
                [one] => VecDeque::from([store::if_readable(self.store.get(one))?]),
                some => self.store.get_many(some)?.into(),
            };
        }
        Ok(self.read.pop_front().flatten())
    }
}

/// Returns the parts of a row: what few memories have, its stamp and its words.
fn to_row(store: &dyn Store, path: &MemoryPath, stored: &Stored, analyser: &mut Analyser) -> (Option<RowExtra>, Stamp, Fields) {
    let (decoded, _) = text::decode(&stored.bytes);
    let (memory, _) = Memory::parse(&decoded);
    let fields = if mounts::file_kind(store, path).is_maintained() {
        Fields::of_entrypoint(store, path, &memory, analyser)
    } else {
        Fields::of_memory(path, &memory, analyser)
    };
    let extra = RowExtra {
        path: path.clone(),
        when: when::parse_field(&memory).0,
        pinned: memory.is_pinned(),
        validity: RowValidity::new(memory.validity()),
    };
    let has_any = !is_empty(&extra.when) || extra.pinned || extra.validity.is_some();
    (has_any.then_some(extra), stored.stamp, fields)
}
