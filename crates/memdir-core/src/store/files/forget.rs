//! Forgetting in the histories of a store's mounts, each under its lock.

use super::{
    FileStore,
    journal::{Journal, LOG_FILE},
};
use crate::{
    base::{error::Result, limits},
    memory::phrase::Phrase,
    store::{Access, Source},
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
            // A candidate is named after its text.
            let derived_names = self.mounts[mount].info.source == Source::Inbox;
            count += self.journal(mount).forget(phrase, derived_names)?;
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
    // The journal of an inbox; see `mount::journal_name`.
    let derived_names = dir.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"candidates-"));
    if journal.exists().unwrap_or(false) { journal.forget(phrase, derived_names) } else { Ok(0) }
}

/// The file of a journal that has its records.
pub const JOURNAL_FILE: &str = LOG_FILE;

/// Whether the records of a journal have the words, in a text, in a name or in the path of a directory. The words of the format itself do
/// not count.
pub fn is_in_journal(dir: &Path, phrase: &Phrase) -> Result<bool> {
    let mut journal = Journal::new(dir.to_owned(), limits::JOURNAL_BYTES);
    Ok(journal.ready_to_read()? && (journal.count_with(phrase)? > 0 || journal.names_directory(phrase)?))
}
