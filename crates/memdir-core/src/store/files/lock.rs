//! One lock per mount, held by whoever changes it. Waits its turn, leaves nothing behind, and is gone with its process.

use crate::base::{
    error::{Error, Result},
    limits,
};
use std::{
    fs::{File, OpenOptions, TryLockError},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::mpsc,
    time::Duration,
};

/// A held lock; dropping it lets the next one in.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of a directory, waiting at most [`limits::LOCK_WAIT_SECS`].
    pub(crate) fn take(dir: &Path) -> Result<Lock> {
        let file = lock_file(dir)?;
        match file.try_lock() {
            Ok(()) => Ok(Lock { _file: file }),
            Err(TryLockError::WouldBlock) => wait(dir, file),
            Err(TryLockError::Error(e)) => Err(Error::io("lock", dir, e)),
        }
    }

    /// Takes the lock only if nobody has it.
    pub(crate) fn try_take(dir: &Path) -> Option<Lock> {
        let file = lock_file(dir).ok()?;
        file.try_lock().ok()?;
        Some(Lock { _file: file })
    }
}

/// Where a directory's lock sorts among others: everybody locks several in this order.
pub(crate) fn order(dir: &Path) -> (u64, u64) {
    dir.metadata().map_or((u64::MAX, u64::MAX), |meta| (meta.dev(), meta.ino()))
}

/// The kernel wakes waiters in turn, so waiting in it is fairer than asking again and again. It has no time limit,
/// so a thread of its own waits; if we give up, it lets go as soon as it has the lock.
fn wait(dir: &Path, file: File) -> Result<Lock> {
    let (send, receive) = mpsc::channel();
    std::thread::Builder::new()
        .name("memdir-lock".into())
        .spawn(move || {
            let outcome = file.lock().map(|()| file);
            // Nobody listens any more: dropping the file releases the lock.
            drop(send.send(outcome));
        })
        .map_err(|e| Error::io("wait for the lock of", dir, e))?;
    match receive.recv_timeout(Duration::from_secs(limits::LOCK_WAIT_SECS)) {
        Ok(Ok(file)) => Ok(Lock { _file: file }),
        Ok(Err(e)) => Err(Error::io("lock", dir, e)),
        Err(_) => Err(Error::Busy { path: dir.to_owned(), waited_secs: limits::LOCK_WAIT_SECS }),
    }
}

/// What is locked: the directory itself where the file system can lock one, else a file beside it, else one inside.
/// Follows from the file system alone, so that every process makes the same choice.
fn lock_file(dir: &Path) -> Result<File> {
    if locks_directories(dir) {
        return File::open(dir).map_err(|e| Error::io("open", dir, e));
    }
    let beside = beside(dir);
    if let Some(path) = &beside
        && let Ok(file) = open_lock_file(path)
    {
        return Ok(file);
    }
    let inside = dir.join(".memdir-lock");
    open_lock_file(&inside).map_err(|e| Error::io("create the lock file", inside, e))
}

fn beside(dir: &Path) -> Option<PathBuf> {
    let name = dir.file_name()?.to_str()?;
    Some(dir.parent()?.join(format!(".{name}.memdir-lock")))
}

fn open_lock_file(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// Network and user-space file systems turn `flock` into byte-range locks, which need a writable file.
#[cfg(target_os = "linux")]
fn locks_directories(dir: &Path) -> bool {
    const NFS: i64 = 0x6969;
    const SMB: i64 = 0x517B;
    const SMB2: i64 = 0xFE53_4D42_u32 as i64;
    const CIFS: i64 = 0xFF53_4D42_u32 as i64;
    const FUSE: i64 = 0x6573_5546;
    const V9FS: i64 = 0x0102_1997;
    const CEPH: i64 = 0x00C3_6400;
    const AFS: i64 = 0x5346_414F;
    match rustix::fs::statfs(dir) {
        #[expect(clippy::useless_conversion, reason = "the width of f_type differs between architectures")]
        Ok(stat) => !matches!(i64::from(stat.f_type) & 0xFFFF_FFFF, NFS | SMB | SMB2 | CIFS | FUSE | V9FS | CEPH | AFS),
        Err(_) => true,
    }
}

#[cfg(not(target_os = "linux"))]
fn locks_directories(_dir: &Path) -> bool {
    true
}
