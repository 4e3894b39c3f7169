//! One writer of kept chats at a time. Readers need no lock: every file is always whole.

use memdir_core::base::error::{Error, Result};
use std::{
    fs::{DirBuilder, File, OpenOptions, TryLockError},
    path::Path,
};

/// The right to write kept chats, until it is dropped.
#[derive(Debug)]
pub(super) struct Lock(#[expect(dead_code, reason = "closing the file gives the lock back")] File);

impl Lock {
    /// Waits for it.
    pub(super) fn wait(dir: &Path) -> Result<Lock> {
        let file = open(dir)?;
        file.lock().map_err(|source| Error::io("lock", dir, source))?;
        Ok(Lock(file))
    }

    /// Takes it unless somebody has it.
    pub(super) fn now(dir: &Path) -> Result<Option<Lock>> {
        let file = open(dir)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(Error::io("lock", dir, source)),
        }
    }
}

fn open(dir: &Path) -> Result<File> {
    make_dir(dir)?;
    let path = dir.join(".lock");
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(&path).map_err(|source| Error::io("open", path, source))
}

/// Makes a directory, and its parents, that only its owner can look into.
pub(super) fn make_dir(dir: &Path) -> Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir).map_err(|source| Error::io("create", dir, source))
}
