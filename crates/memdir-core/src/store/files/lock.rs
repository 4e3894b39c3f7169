//! The lock of a mount, held while the mount is changed. It is released when its process ends.

use crate::{
    base::{
        disk::{self, FileLock, LockWait},
        error::{Error, Result},
        time::Deadline,
    },
    store::stop::Stop,
};
use rustix::fd::OwnedFd;
use std::{
    fs::File,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

/// The lock file inside a directory whose file system cannot lock directories. Never listed.
pub(super) const LOCK_FILE: &str = ".memdir-lock";

/// A held lock.
#[derive(Debug)]
pub(crate) struct Lock {
    lock: FileLock,
    dir: PathBuf,
}

impl Lock {
    /// Acquires the lock of a directory, by its canonical path. Waits until the deadline, which all locks of one change share, or
    /// until the call is cancelled.
    pub(crate) fn acquire(dir: &Path, deadline: Deadline, stop: &Stop) -> Result<Lock> {
        loop {
            let lock = FileLock::acquire_file_until(open(dir)?, deadline, &|| stop.is_stopped()).map_err(|e| Error::io("lock", dir, e))?;
            match lock {
                Some(lock) if is_current(&lock, dir) => return Ok(Lock { lock, dir: dir.to_owned() }),
                // The directory was replaced while this process waited: its lock excludes no other process.
                Some(_) if !deadline.left().is_zero() => {}
                _ => {
                    stop.check()?;
                    let holder = open(dir).ok().and_then(|file| disk::lock_holder(&file));
                    return Err(Error::Busy { path: dir.to_owned(), waited_secs: deadline.limit().as_secs(), holder });
                }
            }
        }
    }

    /// Acquires the lock only if it is free.
    pub(crate) fn try_acquire(dir: &Path) -> Option<Lock> {
        let lock = FileLock::acquire_file(open(dir).ok()?, LockWait::Never).ok()??;
        is_current(&lock, dir).then_some(Lock { lock, dir: dir.to_owned() })
    }

    /// The path of the locked directory.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether the path still leads to the locked directory.
    pub(crate) fn is_current(&self) -> bool {
        is_current(&self.lock, &self.dir)
    }
}

/// Whether the path still leads to the locked directory or lock file.
fn is_current(lock: &FileLock, dir: &Path) -> bool {
    let Ok(held) = lock.file().metadata() else { return false };
    let now = if held.is_dir() { dir.symlink_metadata() } else { dir.join(LOCK_FILE).symlink_metadata() };
    now.is_ok_and(|now| (now.dev(), now.ino()) == (held.dev(), held.ino()))
}

/// The position of a directory's lock in the order in which every process acquires several locks.
pub(crate) fn order(dir: &Path) -> (u64, u64) {
    dir.metadata().map_or((u64::MAX, u64::MAX), |meta| (meta.dev(), meta.ino()))
}

/// Opens what is locked: the directory itself if its file system can lock directories, else the lock file inside it. The choice
/// depends on the file system alone and never on the rights of the user, so that all users of a directory have the same lock. A
/// user who may not open the lock file gets an error and not another lock.
fn open(dir: &Path) -> Result<File> {
    let handle = disk::open_canonical_dir(dir).map_err(|e| Error::io("open", dir, e.into()))?;
    if can_lock_directories(&handle).map_err(|e| Error::io("determine the file system of", dir, e))? {
        return Ok(File::from(handle));
    }
    open_lock_file(dir)
}

/// The lock file is writable for every user who may write to the directory.
fn open_lock_file(dir: &Path) -> Result<File> {
    let meta = dir.metadata().map_err(|e| Error::io("open", dir, e))?;
    let path = dir.join(LOCK_FILE);
    disk::open_lock_file(&path, meta.permissions().mode() & 0o666).map_err(|e| Error::io("open the lock file", path, e))
}

/// Network and user-space file systems turn `flock` into byte-range locks, which need a writable file.
#[cfg(target_os = "linux")]
fn can_lock_directories(dir: &OwnedFd) -> std::io::Result<bool> {
    const NFS: i64 = 0x6969;
    const SMB: i64 = 0x517B;
    const SMB2: i64 = 0xFE53_4D42_u32 as i64;
    const CIFS: i64 = 0xFF53_4D42_u32 as i64;
    const FUSE: i64 = 0x6573_5546;
    const V9FS: i64 = 0x0102_1997;
    const CEPH: i64 = 0x00C3_6400;
    const AFS: i64 = 0x5346_414F;
    let stat = rustix::fs::fstatfs(dir)?;
    #[expect(clippy::useless_conversion, reason = "the width of f_type differs between architectures")]
    let kind = i64::from(stat.f_type) & 0xFFFF_FFFF;
    Ok(!matches!(kind, NFS | SMB | SMB2 | CIFS | FUSE | V9FS | CEPH | AFS))
}

#[cfg(not(target_os = "linux"))]
fn can_lock_directories(_dir: &OwnedFd) -> std::io::Result<bool> {
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// The parent's permissions used to decide between a file beside the directory and one inside it, so that a user who could
    /// write to the parent and one who could not had different locks.
    #[test]
    fn the_lock_file_does_not_depend_on_the_rights_of_the_user() {
        let top = tempfile::tempdir().unwrap();
        let dir = top.path().join("shared");
        fs::create_dir(&dir).unwrap();
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o770)).unwrap();
        let first = FileLock::acquire_file(open_lock_file(&dir).unwrap(), LockWait::Never).unwrap();
        fs::set_permissions(top.path(), fs::Permissions::from_mode(0o555)).unwrap();
        let second = FileLock::acquire_file(open_lock_file(&dir).unwrap(), LockWait::Never).unwrap();
        fs::set_permissions(top.path(), fs::Permissions::from_mode(0o755)).unwrap();
        assert!(first.is_some() && second.is_none(), "both users have the same lock");
        assert_eq!(fs::metadata(dir.join(LOCK_FILE)).unwrap().permissions().mode() & 0o777, 0o660);
        assert_eq!(fs::read_dir(top.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_lock_file_that_cannot_be_opened_is_an_error_and_never_another_lock() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(LOCK_FILE)).unwrap();
        let error = open_lock_file(dir.path()).unwrap_err().to_string();
        assert!(error.starts_with("cannot open the lock file \""), "{error}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
