//! Reads the history: recorded changes, earlier versions of files, and what other programs did to them.

use super::{
    FileStore, Lock, Spot,
    journal::{Draft, Placed},
    spellings,
};
use crate::{
    base::{
        error::{Error, Result},
        path::MemoryPath,
        version::Version,
    },
    store::{Change, ChangeFilter, ChangeId, FileChange, JournalSize, Role},
};
use jiff::Timestamp;
use std::collections::VecDeque;

impl FileStore {
    pub(super) fn history(&self, filter: &ChangeFilter) -> Result<Vec<Change>> {
        let mut lists: Vec<Vec<Change>> = Vec::new();
        match &filter.path {
            Some(path) => {
                let spot = self.recorded_spot(path)?;
                if self.mounts[spot.mount].hides(&spot.rel) {
                    return Ok(Vec::new());
                }
                // Best effort: without the lock, the history is what is recorded.
                let _ = self.notice_change(path);
                let mut journal = self.journal(spot.mount);
                journal.ready_to_read()?;
                let mut found = Vec::new();
                journal.for_each_of_file(&spot.rel, |placed, _| {
                    found.push(placed.clone());
                    filter.most == 0 || found.len() < filter.most || filter.id.is_some()
                })?;
                drop(journal);
                lists.push(found.iter().map(|placed| self.to_change(spot.mount, placed)).collect::<Result<_>>()?);
            }
            None => {
                for mount in 0..self.mounts.len() {
                    lists.push(self.mount_history(mount, filter)?);
                }
            }
        }
        let mut all = merge(lists);
        if let Some(id) = &filter.id {
            all.retain(|change| change.id.0.starts_with(id.as_str()));
        }
        if filter.most > 0 {
            all.truncate(filter.most);
        }
        Ok(all)
    }

    fn mount_history(&self, mount: usize, filter: &ChangeFilter) -> Result<Vec<Change>> {
        let mut journal = self.journal(mount);
        if !journal.ready_to_read()? {
            return Ok(Vec::new());
        }
        let mut found: Vec<Placed> = Vec::new();
        journal.newest_first(|placed| {
            let wanted = filter.id.as_ref().is_none_or(|id| placed.record.id.starts_with(id.as_str()));
            if wanted && self.shows(mount, placed) {
                found.push(placed.clone());
            }
            filter.most == 0 || found.len() < filter.most
        })?;
        drop(journal);
        found.iter().map(|placed| self.to_change(mount, placed)).collect()
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
            match journal.text(&exact.rel, version)? {
                None if exact.rel != spot.rel => journal.text(&spot.rel, version)?,
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
        if !self.recover(&[spot.mount].into())?.is_empty() {
            return Ok(());
        }
        let now = self.read_exact(&spot)?;
        let before = now.as_ref().map(|stored| (stored.bytes.as_slice(), stored.stamp.mtime_ns / 1_000_000));
        self.journal(spot.mount).record_found(&Draft { path: &spot.rel, role: Role::Memory, before, after: None })
    }

    pub(super) fn size_of_journals(&self) -> Result<JournalSize> {
        let mut size = JournalSize::default();
        for mount in 0..self.mounts.len() {
            let mut journal = self.journal(mount);
            if journal.ready_to_read()? {
                let all = size.changes;
                let mut hidden = false;
                journal.newest_first(|placed| {
                    let shown = self.shows(mount, placed);
                    size.changes += u64::from(shown);
                    hidden |= !shown;
                    true
                })?;
                // The size of a journal that is only partly visible would reveal something about the rest.
                size.bytes += if hidden || size.changes == all { 0 } else { journal.bytes() };
            }
        }
        Ok(size)
    }

    /// Returns the file a name resolves to: an existing one, else the one in the journal.
    fn recorded_spot(&self, path: &MemoryPath) -> Result<Spot> {
        let spot = self.spot(path)?;
        if let Some(stored) = self.read(&spot)? {
            return self.spot(&stored.path);
        }
        let mut journal = self.journal(spot.mount);
        journal.ready_to_read()?;
        for rel in spellings(&spot.rel) {
            if journal.latest(&rel)?.is_some() {
                return Ok(Spot { rel, ..spot });
            }
        }
        Ok(spot)
    }

    /// Whether a change affected a file that is visible in this space.
    fn shows(&self, mount: usize, placed: &Placed) -> bool {
        placed.record.files.iter().any(|file| !self.mounts[mount].hides(&file.p))
    }

    fn to_change(&self, mount: usize, placed: &Placed) -> Result<Change> {
        let record = &placed.record;
        let files = record
            .files
            .iter()
            .filter(|file| !self.mounts[mount].hides(&file.p))
            .map(|file| Ok(FileChange { path: self.named(mount, &file.p)?, role: file.role, before: file.before, after: file.after }));
        Ok(Change {
            id: ChangeId(record.id.clone()),
            at: Timestamp::from_millisecond(record.at).map_err(|e| Error::Corrupt { what: "the journal".into(), why: e.to_string() })?,
            actor: record.by.clone(),
            verb: record.verb,
            undoes: record.undoes.clone().map(ChangeId),
            files: files.collect::<Result<_>>()?,
            elsewhere: record.peers.iter().filter(|peer| self.mounts.iter().all(|mount| mount.root.path() != *peer)).cloned().collect(),
        })
    }
}

/// Merges one list per mount, newest first, and keeps the order of each log. A change of several mounts is in several journals and
/// is returned once.
fn merge(lists: Vec<Vec<Change>>) -> Vec<Change> {
    let mut lists: Vec<VecDeque<Change>> = lists.into_iter().map(VecDeque::from).collect();
    let mounts = lists.len();
    let mut out: Vec<Change> = Vec::new();
    while let Some(change) = lists.iter_mut().max_by_key(|list| list.front().map(|change| change.at)).and_then(VecDeque::pop_front) {
        match out.iter_mut().rev().take(4 * mounts).find(|other| other.id == change.id) {
            Some(same) => same.files.extend(change.files),
            None => out.push(change),
        }
    }
    for change in &mut out {
        change.files.sort_by(|a, b| a.path.cmp(&b.path));
    }
    out
}
