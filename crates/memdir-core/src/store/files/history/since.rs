//! Reads the history forwards: the changes after a cursor, and the change that was made for an idempotency key.

use super::{HistoryItem, merge};
use crate::{
    base::error::Result,
    store::{Change, ChangeCursor, ChangeFilter, ChangePage, IdempotencyKey, files::FileStore},
};
use std::{os::unix::ffi::OsStrExt as _, path::Path};

/// Changes of a directory whose idempotency keys are remembered: a client that retries does so within seconds. Reading them takes a
/// few milliseconds, and only a change with a key does.
const KEYED_CHANGES: usize = 1_000;

impl FileStore {
    /// Returns the changes after a cursor. A position is the id of the last change of a directory.
    pub(in crate::store::files) fn history_since(&self, after: Option<&ChangeCursor>, most: usize) -> Result<ChangePage> {
        self.settle_if_free();
        let mut torn = None;
        loop {
            let (page, found) = self.read_since(after, most, torn.as_deref())?;
            match found {
                // Its other parts are recorded by now. If they are not, their records are damaged.
                Some(id) if page.changes.is_empty() && torn.as_ref() != Some(&id) => torn = Some(id),
                _ => return Ok(page),
            }
        }
    }

    /// Reads one journal after the other, so that a change of several mounts may be in one list and not yet in another. The page ends
    /// before such a change, unless it has the id `torn`; its id is returned too.
    fn read_since(&self, after: Option<&ChangeCursor>, most: usize, torn: Option<&str>) -> Result<(ChangePage, Option<String>)> {
        let applied = self.applied_elsewhere()?;
        let mut next = after.cloned().unwrap_or_default();
        let mut lists = Vec::new();
        for mount in 0..self.mounts.len() {
            let position = next.position(self.place(mount));
            lists.push(self.mount_history(mount, &ChangeFilter::default(), position, &applied)?);
        }
        let mut changes = Vec::new();
        for parts in merge(self, lists, 0).iter().rev() {
            if changes.len() >= most.max(1) {
                break;
            }
            if let Some(id) = self.id_of_torn(parts).filter(|id| Some(*id) != torn) {
                return Ok((ChangePage { changes, next }, Some(id.to_owned())));
            }
            for HistoryItem { mount, placed, .. } in parts {
                next.set_position(self.place(*mount), placed.record.id.clone());
            }
            let change = self.to_change(parts)?;
            // Of a change whose memories are hidden here, only the place is used.
            if !change.files.is_empty() {
                changes.push((change, next.clone()));
            }
        }
        Ok((ChangePage { changes, next }, None))
    }

    /// Returns the id of a change that has a part in a mount of this space which is not among these.
    fn id_of_torn<'a>(&self, parts: &'a [HistoryItem]) -> Option<&'a str> {
        let record = &parts.first()?.placed.record;
        let has_part = |root: &Path| parts.iter().any(|item| self.mounts[item.mount].root.path() == root);
        let is_missing = |root: &Path| self.mounts.iter().any(|mount| mount.root.path() == root) && !has_part(root);
        record.roots().any(is_missing).then_some(record.id.as_str())
    }

    /// Returns the place after the newest change of each directory that is visible here.
    pub(in crate::store::files) fn newest_place(&self) -> Result<ChangeCursor> {
        self.settle_if_free();
        let mut cursor = ChangeCursor::default();
        for mount in 0..self.mounts.len() {
            let mut newest = None;
            let mut journal = self.journal(mount);
            if journal.ready_to_read()? {
                journal.newest_first(&|_| false, |placed, _| {
                    newest = self.shows(mount, placed).then(|| placed.record.id.clone());
                    newest.is_none()
                })?;
            }
            drop(journal);
            if let Some(id) = newest {
                cursor.set_position(self.place(mount), id);
            }
        }
        Ok(cursor)
    }

    /// Returns the change that was made for a key, if it is among the newest ones. Called under the lock of the mounts that the
    /// request concerns, so that a change in progress has ended.
    pub(in crate::store::files) fn made_for(&self, key: &IdempotencyKey) -> Result<Option<Change>> {
        let (hash, request) = (key.hash(), key.request_hash());
        for mount in (0..self.mounts.len()).filter(|mount| self.journal_owner(*mount) == *mount) {
            let (mut found, mut left) = (None, KEYED_CHANGES);
            let mut journal = self.journal(mount);
            if journal.ready_to_read()? {
                journal.newest_first(&|_| false, |placed, _| {
                    if let Some((_, of)) = placed.record.key.as_ref().filter(|(recorded, _)| *recorded == hash) {
                        found = Some((placed.record.id.clone(), *of == request));
                    }
                    left -= 1;
                    found.is_none() && left > 0
                })?;
            }
            drop(journal);
            match found {
                Some((_, false)) => return Err(IdempotencyKey::reused()),
                Some((id, true)) => return Ok(self.history(&ChangeFilter { id: Some(id), ..ChangeFilter::default() })?.pop()),
                None => {}
            }
        }
        Ok(None)
    }

    /// The name by which a cursor knows the directory of a mount.
    fn place(&self, mount: usize) -> &[u8] {
        self.mounts[mount].root.path().as_os_str().as_bytes()
    }
}
