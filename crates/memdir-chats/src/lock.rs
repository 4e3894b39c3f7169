//! One writer of stored chats at a time. Readers need no lock: every file is always complete.

use memdir_core::{
    Error, Result,
    internal::base::disk::{self, FileLock, LockWait},
};
use std::path::Path;

/// Acquires the lock of the stored chats. Returns `None` if another process has it and `wait` is over.
pub(super) fn acquire(dir: &Path, wait: LockWait) -> Result<Option<FileLock>> {
    make_dir(dir)?;
    FileLock::acquire(&dir.join(".lock"), wait).map_err(|source| Error::io("lock", dir, source))
}

/// Creates a directory, with its parents, that only its owner may enter.
pub(super) fn make_dir(dir: &Path) -> Result<()> {
    disk::create_private_dir(dir).map_err(|source| Error::io("create", dir, source))
}
