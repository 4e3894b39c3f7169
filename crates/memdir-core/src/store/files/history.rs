//! Reads the history: recorded changes, earlier versions of files, and what other programs did to them.

mod since;

use super::{
    FileStore, Lock, Spot,
    journal::{FileDraft, Lookup, PlacedRecord, RecordState},
    recover::Settler,
};
use crate::base::sort::SharedSort as _;
use crate::{
    base::{
        error::{Error, Result},
        path::MemoryPath,
        version::Version,
    },
    store::{Change, ChangeCursor, ChangeFilter, ChangeId, FileChange, JournalSize, Role, Verb, mounts},
};
use jiff::Timestamp;
use std::{
    collections::{HashMap, HashSet, VecDeque},
    io,
    path::Path,
};

/// A journal that is damaged or cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalDamage {
    /// The prefix of its mount.
    pub prefix: String,
    /// Its directory.
    pub dir: std::path::PathBuf,
    /// The number of damaged records.
    pub records: u64,
    /// Why it cannot be read although it may be whole, for example for lack of permission.
    pub unread: Option<(io::ErrorKind, String)>,
}

/// A record of a mount's journal, as the history shows it.
struct HistoryItem {
    mount: usize,
    placed: PlacedRecord,
    after_damage: bool,
    /// Where the record lies in time, for the order among journals.
    time: i64,
}

/// The records of one mount, newest first.
struct MountRecords {
    items: VecDeque<HistoryItem>,
    /// Whether these are all records, so that one that is not here does not exist.
    is_complete: bool,
}

impl FileStore {
    pub(super) fn history(&self, filter: &ChangeFilter) -> Result<Vec<Change>> {
        self.settle_if_free();
        let mut changes = match &filter.path {
            Some(path) => self.file_history(path, filter)?,
            None => {
                let applied = self.applied_elsewhere()?;
                let lists = (0..self.mounts.len()).map(|mount| self.mount_history(mount, filter, None, &applied));
                merge(self, lists.collect::<Result<_>>()?, filter.most)
            }
        };
        if let Some(id) = &filter.id {
            changes.retain(|parts| parts.first().is_some_and(|item| item.placed.record.id.starts_with(id.as_str())));
        }
        let changes =
            changes.iter().map(|parts| self.to_change(parts)).filter(|change| !matches!(change, Ok(change) if change.files.is_empty()));
        if filter.most > 0 { changes.take(filter.most).collect() } else { changes.collect() }
    }

    /// Settles what a crash interrupted, if that takes no waiting, so that the history shows the change or does not.
    fn settle_if_free(&self) {
        for (mount, mounted) in self.mounts.iter().enumerate() {
            if mounted.info.access == crate::store::Access::ReadOnly {
                continue;
            }
            let is_open = {
                let mut journal = self.journal(mount);
                journal.ready_to_read().is_ok() && matches!(journal.unfinished(), Ok(Some(_)))
            };
            if is_open && let Some(_lock) = Lock::try_acquire(&mounted.lock) {
                // Best effort: otherwise the next writer does it.
                let _ = self.recover(&[mount].into(), Settler::Reader);
            }
        }
    }

    /// Returns the ids of changes that are marked as applied in one mount while another one is still being marked.
    fn applied_elsewhere(&self) -> Result<HashSet<String>> {
        let mut applied = HashSet::new();
        for mount in 0..self.mounts.len() {
            let open = {
                let mut journal = self.journal(mount);
                journal.ready_to_read()?;
                journal.unfinished()?
            };
            let Some(open) = open else { continue };
            for part in &open.record.parts {
                let Some(other) = self.mounts.iter().position(|mount| mount.root.path() == part.root) else { continue };
                let mut journal = self.journal(other);
                journal.ready_to_read()?;
                if let Lookup::Recorded(placed) = journal.find(&open.record.id, part.position.as_ref())?
                    && placed.state == RecordState::Done
                {
                    applied.insert(open.record.id.clone());
                }
            }
        }
        Ok(applied)
    }

    /// Returns the changes of one file, each with its parts in other mounts.
    fn file_history(&self, path: &MemoryPath, filter: &ChangeFilter) -> Result<Vec<Vec<HistoryItem>>> {
        let spot = self.recorded_spot(path)?;
        if self.mounts[spot.mount].hides(&spot.rel) {
            return Ok(Vec::new());
        }
        // Best effort: without the lock, the history is what is recorded.
        let _ = self.notice_change(path);
        let mut changes: Vec<Vec<HistoryItem>> = Vec::new();
        {
            let mut journal = self.journal(spot.mount);
            journal.ready_to_read()?;
            journal.for_each_of_file(&spot.rel, |placed, _| {
                changes.push(vec![HistoryItem { mount: spot.mount, placed: placed.clone(), after_damage: false, time: 0 }]);
                filter.most == 0 || changes.len() < filter.most || filter.id.is_some()
            })?;
        }
        for other in (0..self.mounts.len()).filter(|other| self.journal_owner(*other) != self.journal_owner(spot.mount)) {
            let root = self.mounts[other].root.path();
            let shared = changes.iter().enumerate().filter(|(_, parts)| parts[0].placed.record.roots().any(|part| part == root));
            let mut wanted: HashMap<String, usize> = shared.map(|(n, parts)| (parts[0].placed.record.id.clone(), n)).collect();
            if wanted.is_empty() {
                continue;
            }
            let mut journal = self.journal(other);
            journal.ready_to_read()?;
            journal.newest_first(&|_| true, |placed, after_damage| {
                if let Some(n) = wanted.remove(&placed.record.id) {
                    changes[n].push(HistoryItem { mount: other, placed: placed.clone(), after_damage, time: 0 });
                }
                !wanted.is_empty()
            })?;
        }
        Ok(changes)
    }

    /// Returns the records of a mount that match a filter, down to the change with the id `after`, which is not included.
    fn mount_history(&self, mount: usize, filter: &ChangeFilter, after: Option<&str>, applied: &HashSet<String>) -> Result<MountRecords> {
        let mut items = VecDeque::new();
        let mut is_complete = true;
        let mut is_reached = after.is_none();
        let mut journal = self.journal(mount);
        if journal.ready_to_read()? {
            let mut shown = 0;
            journal.newest_first(&|record| applied.contains(&record.id), |placed, after_damage| {
                is_reached |= after == Some(placed.record.id.as_str());
                if is_reached && after.is_some() {
                    return false;
                }
                let is_wanted = filter.id.as_ref().is_none_or(|id| placed.record.id.starts_with(id.as_str()));
                let is_shown = self.shows(mount, placed);
                // A hidden part shows that the rest of its change is not all of it.
                if is_wanted && (is_shown || placed.record.parts.len() > 1) {
                    shown += usize::from(is_shown);
                    items.push_back(HistoryItem { mount, placed: placed.clone(), after_damage, time: 0 });
                }
                is_complete = filter.most == 0 || shown < filter.most;
                is_complete
            })?;
        }
        if !is_reached {
            return Err(ChangeCursor::expired());
        }
        set_times(&mut items);
        Ok(MountRecords { items, is_complete })
    }

    pub(super) fn old_text(&self, path: &MemoryPath, version: Version) -> Result<Option<Vec<u8>>> {
        // A file of exactly this name may be deleted while another exists to which the name resolves now.
        let (exact, spot) = (self.spot(path)?, self.recorded_spot(path)?);
        if self.mounts[spot.mount].hides(&spot.rel) {
            return Ok(None);
        }
        let recorded = {
            let mut journal = self.journal(spot.mount);
            journal.ready_to_read()?;
            let now = |spot: &Spot| self.read_exact(spot).ok().flatten().map(|stored| stored.bytes);
            match journal.text(&exact.rel, version, &|| now(&exact))? {
                None if exact.rel != spot.rel => journal.text(&spot.rel, version, &|| now(&spot))?,
                found => found,
            }
        };
        match recorded {
            Some(text) => Ok(Some(text)),
            None => Ok(self.read(&spot)?.filter(|stored| stored.version == version).map(|stored| stored.bytes)),
        }
    }

    /// Records what another program did to a file that is in the journal.
    pub(super) fn notice_change(&self, path: &MemoryPath) -> Result<()> {
        let spot = self.recorded_spot(path)?;
        {
            let mut journal = self.journal(spot.mount);
            if !journal.ready_to_read()? {
                return Ok(());
            }
            let known = journal.latest(&spot.rel)?;
            drop(journal);
            let now = self.read_exact(&spot)?.map(|stored| stored.version);
            if known.is_none_or(|known| known == now) || self.mounts[spot.mount].info.access == crate::store::Access::ReadOnly {
                return Ok(());
            }
        }
        let Some(_lock) = Lock::try_acquire(&self.mounts[spot.mount].lock) else { return Ok(()) };
        // Read again under the lock: a change may have been in progress.
        self.recover(&[spot.mount].into(), Settler::Reader)?;
        let now = self.read_exact(&spot)?;
        let before = now.as_ref().map(|stored| (stored.bytes.as_slice(), stored.stamp.changed_ms()));
        self.journal(spot.mount).record_found(&FileDraft { path: &spot.rel, role: Role::Memory, before, after: None })
    }

    pub(super) fn size_of_journals(&self) -> Result<JournalSize> {
        let mut size = JournalSize::default();
        let mut shared = HashSet::new();
        for mount in 0..self.mounts.len() {
            let mut journal = self.journal(mount);
            match journal.ready_to_read() {
                Ok(true) => {}
                Ok(false) => continue,
                Err(_) => {
                    size.damaged += 1;
                    continue;
                }
            }
            let (mut seen, mut hidden) = (false, false);
            journal.newest_first(&|_| false, |placed, _| {
                let shown = self.shows(mount, placed);
                // A change of several mounts is in several journals.
                let is_new = placed.record.parts.is_empty() || shared.insert(placed.record.id.clone());
                size.changes += u64::from(shown && is_new);
                seen |= shown;
                hidden |= !shown;
                true
            })?;
            // The size of a journal that is only partly visible would reveal something about the rest.
            if seen && !hidden {
                size.bytes += journal.bytes();
                size.damaged += journal.damaged();
            }
        }
        Ok(size)
    }

    /// Reads all journals completely and returns those that are damaged or cannot be read.
    pub fn check_journals(&self) -> Vec<JournalDamage> {
        let mut damaged = Vec::new();
        for mount in (0..self.mounts.len()).filter(|mount| self.journal_owner(*mount) == *mount) {
            let mut journal = self.journal(mount);
            let counted = journal.ready_to_read().and_then(|exists| if exists { journal.count_damage() } else { Ok(0) });
            let (records, unread) = match counted {
                Ok(0) => continue,
                Ok(records) => (records, None),
                Err(Error::Io { doing, path, source }) => (0, Some((source.kind(), Error::Io { doing, path, source }.to_string()))),
                Err(_) => (1, None),
            };
            damaged.push(JournalDamage { prefix: self.infos[mount].prefix.clone(), dir: journal.dir().to_owned(), records, unread });
        }
        damaged
    }

    /// Keeps the damaged records of a mount's journal in a file beside it and removes them from it; returns their number.
    pub fn repair_journal(&self, prefix: &str) -> Result<u64> {
        let Some(mount) = self.infos.iter().position(|info| info.prefix == prefix) else { return Ok(0) };
        let _locked = self.lock(&[mount].into())?;
        self.journal(mount).repair()
    }

    /// Returns the file a name resolves to: an existing one, else the one in the journal.
    fn recorded_spot(&self, path: &MemoryPath) -> Result<Spot> {
        let spot = self.spot(path)?;
        if let Some(stored) = self.read(&spot)? {
            return self.spot(&stored.path);
        }
        let mut journal = self.journal(spot.mount);
        journal.ready_to_read()?;
        for rel in mounts::spellings(&spot.rel) {
            if journal.latest(&rel)?.is_some() {
                return Ok(Spot { rel, ..spot });
            }
        }
        Ok(spot)
    }

    /// Whether a change affected a file that is visible in this space.
    fn shows(&self, mount: usize, placed: &PlacedRecord) -> bool {
        placed.record.files.iter().any(|file| !self.mounts[mount].hides(&file.p))
    }

    /// Makes one change of its parts.
    fn to_change(&self, parts: &[HistoryItem]) -> Result<Change> {
        let first = parts.first().ok_or_else(|| Error::unavailable("the journal", "the record of a change is missing"))?;
        let record = &first.placed.record;
        let mut files: Vec<FileChange> = Vec::new();
        let mut hides_a_memory = false;
        for HistoryItem { mount, placed, .. } in parts {
            for file in &placed.record.files {
                if !self.mounts[*mount].hides(&file.p) {
                    let path = self.named(*mount, &file.p)?;
                    files.push(FileChange { path, role: file.role, before: file.before, after: file.after });
                } else if file.role == Role::Memory {
                    hides_a_memory |= !self.is_shown_by_another(*mount, &file.p);
                }
            }
        }
        files.shared_sort_by(|a, b| a.path.cmp(&b.path));
        // A mount that shows other files of the same directory has the same record. An import has thousands of files.
        files.dedup_by(|a, b| a.path == b.path);
        let is_here = |root: &Path| self.mounts.iter().any(|mount| mount.root.path() == root);
        let has_part = |root: &Path| parts.iter().any(|item| self.mounts[item.mount].root.path() == root);
        Ok(Change {
            id: ChangeId(record.id.clone()),
            at: Timestamp::from_millisecond(record.at).map_err(|e| Error::Corrupt {
                names_step: false,
                what: "the journal".into(),
                why: e.to_string(),
            })?,
            actor: record.by.clone(),
            verb: record.verb,
            undoes: record.undoes.clone().map(ChangeId),
            reviewer: None,
            files,
            elsewhere: record.roots().filter(|root| !is_here(root)).map(Path::to_owned).collect(),
            incomplete: hides_a_memory
                || parts.iter().any(|item| item.placed.record.cut)
                || record.roots().any(|root| is_here(root) && !has_part(root)),
            after_damage: parts.iter().any(|item| item.after_damage),
        })
    }

    /// Whether another mount of the same directory shows a file.
    fn is_shown_by_another(&self, mount: usize, rel: &str) -> bool {
        let root = self.mounts[mount].root.path();
        self.mounts.iter().any(|other| other.root.path() == root && !other.hides(rel))
    }
}

/// Sets where the records of one journal lie in time. The order of the journal rules: a time never lies before that of an older
/// record. What another program changed lies where it was noticed, at the next newer record, whatever the file's modification time.
fn set_times(items: &mut VecDeque<HistoryItem>) {
    let mut newest = i64::MIN;
    for item in items.iter_mut().rev() {
        let is_found = item.placed.record.verb == Verb::Found;
        if !is_found || newest == i64::MIN {
            newest = newest.max(item.placed.record.at);
        }
        item.time = newest;
    }
    let mut newer: Option<i64> = None;
    for item in items.iter_mut() {
        match newer {
            Some(newer) if item.placed.record.verb == Verb::Found => item.time = newer,
            _ => newer = Some(item.time),
        }
    }
}

/// Merges the records of all mounts, newest first, into changes with all of their parts. Keeps the order of each journal; a change
/// of several mounts comes after all that is newer in any of them. `most` is the number of changes that are needed; 0 means all.
fn merge(store: &FileStore, mut lists: Vec<MountRecords>, most: usize) -> Vec<Vec<HistoryItem>> {
    let mut left: HashMap<String, usize> = HashMap::new();
    for item in lists.iter().flat_map(|list| &list.items) {
        *left.entry(item.placed.record.id.clone()).or_default() += 1;
    }
    let mut out: Vec<Vec<HistoryItem>> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    loop {
        let heads = lists.iter().filter_map(|list| list.items.front()).map(|item| (item.placed.record.id.clone(), item.time));
        let mut best: Option<(bool, i64, String)> = None;
        for (id, time) in heads {
            let at_head = lists.iter().filter(|list| list.items.front().is_some_and(|item| item.placed.record.id == id)).count();
            let is_whole = places.contains_key(&id) || (left.get(&id) == Some(&at_head) && !waits_for_more(store, &lists, &id));
            // Orders that contradict each other exist only in damaged journals; then the time decides.
            if best.as_ref().is_none_or(|(whole, newest, _)| (is_whole, time) >= (*whole, *newest)) {
                best = Some((is_whole, time, id));
            }
        }
        let Some((_, _, id)) = best.filter(|_| most == 0 || out.len() < most) else { return out };
        let place = *places.entry(id.clone()).or_insert_with(|| {
            out.push(Vec::new());
            out.len() - 1
        });
        for list in &mut lists {
            let is_part = list.items.front().is_some_and(|item| item.placed.record.id == id);
            out[place].extend(if is_part { list.items.pop_front() } else { None });
        }
        left.insert(id, 0);
    }
}

/// Whether a mount of the change has older records that were not read: then all that was read there is newer than the change.
fn waits_for_more(store: &FileStore, lists: &[MountRecords], id: &str) -> bool {
    let item = lists.iter().filter_map(|list| list.items.front()).find(|item| item.placed.record.id == id);
    let Some(item) = item.filter(|item| item.placed.record.parts.len() > 1) else { return false };
    lists.iter().enumerate().any(|(mount, list)| {
        let front = list.items.front();
        !list.is_complete
            && front.is_some_and(|front| front.placed.record.id != id)
            && item.placed.record.roots().any(|root| root == store.mounts[mount].root.path())
    })
}
