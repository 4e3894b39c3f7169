//! Forgetting in the histories of a store's mounts, each under its lock.

use super::{FileStore, journal::Journal};
use crate::{
    base::{error::Result, limits, phrase::Phrase},
    store::Access,
};
use std::path::Path;

impl FileStore {
    /// Returns the number of recorded versions and names that have the words.
    pub(super) fn count_in_history(&self, phrase: &Phrase) -> Result<usize> {
        let mut count = 0;
        for mount in self.with_journals() {
            let mut journal = self.journal(mount);
            if journal.ready_to_read()? {
                count += journal.count_with(phrase)?;
            }
        }
        Ok(count)
    }

    /// Rewrites the histories without the texts that have the words, and returns their number.
    pub(super) fn forget_in_history(&self, phrase: &Phrase) -> Result<usize> {
        let mut count = 0;
        for mount in self.with_journals() {
            if !self.journal(mount).exists().unwrap_or(false) {
                continue;
            }
            // The lock settles an interrupted change first.
            let _locked = self.lock(&[mount].into())?;
            count += self.journal(mount).forget(phrase)?;
        }
        Ok(count)
    }

    /// The writable mounts that own their journal.
    fn with_journals(&self) -> impl Iterator<Item = usize> {
        (0..self.mounts.len()).filter(|mount| self.journal_owner(*mount) == *mount && self.mounts[*mount].info.access == Access::ReadWrite)
    }
}

/// Returns the number of versions that have the words in the journal of a directory which does not exist any more.
pub fn count_in_journal(dir: &Path, phrase: &Phrase) -> Result<usize> {
    let mut journal = Journal::new(dir.to_owned(), limits::JOURNAL_BYTES);
    if journal.ready_to_read()? { journal.count_with(phrase) } else { Ok(0) }
}

/// Rewrites the journal of a directory that does not exist any more, and that no process can lock.
pub fn forget_in_journal(dir: &Path, phrase: &Phrase) -> Result<usize> {
    let mut journal = Journal::new(dir.to_owned(), limits::JOURNAL_BYTES);
    if journal.exists().unwrap_or(false) { journal.forget(phrase) } else { Ok(0) }
}
