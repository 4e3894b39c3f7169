//! One writer of stored chats at a time. Readers need no lock: every file is always complete.

use memdir_core::{
    Error, Result,
    internal::base::{
        disk::{self, FileLock, LockWait},
        limits,
    },
};
use std::{fs::File, path::Path, time::Duration};

/// Acquires the lock of the stored chats, waiting at most [`limits::LOCK_WAIT_SECS`].
pub(super) fn acquire(dir: &Path) -> Result<FileLock> {
    let wait = LockWait::AtMost(Duration::from_secs(limits::LOCK_WAIT_SECS));
    acquire_within(dir, wait)?.ok_or_else(|| {
        let holder = File::open(dir.join(".lock")).ok().and_then(|file| disk::lock_holder(&file));
        Error::Busy { path: dir.to_owned(), waited_secs: limits::LOCK_WAIT_SECS, holder }
    })
}

/// Acquires the lock of the stored chats only if it is free.
pub(super) fn try_acquire(dir: &Path) -> Result<Option<FileLock>> {
    acquire_within(dir, LockWait::Never)
}

fn acquire_within(dir: &Path, wait: LockWait) -> Result<Option<FileLock>> {
    make_dir(dir)?;
    FileLock::acquire(&dir.join(".lock"), wait).map_err(|source| Error::io("lock", dir, source))
}

/// Creates a directory, with its parents, that only its owner may enter.
pub(super) fn make_dir(dir: &Path) -> Result<()> {
    disk::create_private_dir(dir).map_err(|source| Error::io("create", dir, source))
}
