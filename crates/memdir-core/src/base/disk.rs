//! Files of memdir's own: atomic replacement, private directories and files, file locks. Memories are written by
//! `store/files/atomic.rs`, which resolves every name below an opened root and never by a path.

use super::limits;
use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    sync::mpsc,
    time::Duration,
};
use tempfile::TempPath;

/// The mode of files that only their owner may read.
const PRIVATE_FILE: u32 = 0o600;
/// The mode of directories that only their owner may enter.
const PRIVATE_DIR: u32 = 0o700;

/// What remains of a replaced file after a power failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Any content, also an empty file: for derived files that are verified when they are read.
    None,
    /// The old or the new content: the content is synced before the file gets its name.
    Content,
    /// The new content: the directory is synced too.
    Full,
}

/// The permissions of a replaced file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileMode {
    /// Only the owner may read and write.
    Private,
    /// Those of the existing file; this mode for a new one.
    KeepOr(u32),
}

/// The name of the temporary file that is renamed into place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TempName {
    /// A random name, so that any number of processes may replace the file at the same time.
    Unique,
    /// The name of the file with the extension `new`. A crash leaves at most one such file, which the next replacement
    /// overwrites. Only for callers that hold a lock.
    Reused,
}

/// How a file is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replace {
    /// What remains after a power failure.
    pub durability: Durability,
    /// The permissions.
    pub mode: FileMode,
    /// The name of the temporary file.
    pub temp: TempName,
}

impl Replace {
    /// A private file that can be derived again.
    pub const DERIVED: Replace = Replace { durability: Durability::None, mode: FileMode::Private, temp: TempName::Unique };
    /// A private file with data that exists nowhere else.
    pub const DURABLE: Replace = Replace { durability: Durability::Full, mode: FileMode::Private, temp: TempName::Unique };
}

/// New content that waits in a temporary file beside its destination. Dropping it removes the temporary file.
#[derive(Debug)]
#[must_use = "nothing is replaced before `commit`"]
pub struct PreparedFile {
    temp: TempPath,
    path: PathBuf,
    durability: Durability,
}

/// Replaces a file in one step: readers see the old or the new content, never a part.
pub fn replace(path: &Path, how: Replace, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    prepare(path, how, write)?.commit()
}

/// Writes the new content of a file to a temporary file beside it. The directory must exist.
pub fn prepare(path: &Path, how: Replace, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<PreparedFile> {
    let (mut file, temp) = create_temp(path, how.temp)?;
    write(&mut file)?;
    if let FileMode::KeepOr(mode) = how.mode {
        let kept = fs::metadata(path).ok().map(|meta| meta.permissions());
        file.set_permissions(kept.unwrap_or_else(|| fs::Permissions::from_mode(mode)))?;
    }
    if how.durability != Durability::None {
        file.sync_all()?;
    }
    Ok(PreparedFile { temp, path: path.to_owned(), durability: how.durability })
}

impl PreparedFile {
    /// Replaces the destination.
    pub fn commit(self) -> io::Result<()> {
        self.temp.persist(&self.path).map_err(|error| error.error)?;
        sync_parent(&self.path, self.durability)
    }

    /// Creates the destination; fails if it exists.
    pub fn commit_new(self) -> io::Result<()> {
        self.temp.persist_noclobber(&self.path).map_err(|error| error.error)?;
        sync_parent(&self.path, self.durability)
    }
}

fn create_temp(path: &Path, name: TempName) -> io::Result<(File, TempPath)> {
    match name {
        TempName::Unique => {
            let temp = tempfile::Builder::new().prefix(".memdir-").suffix(".tmp").tempfile_in(parent(path))?;
            Ok(temp.into_parts())
        }
        TempName::Reused => {
            let temp = path.with_extension("new");
            let file = OpenOptions::new().write(true).create(true).truncate(true).mode(PRIVATE_FILE).open(&temp)?;
            Ok((file, TempPath::try_from_path(temp)?))
        }
    }
}

fn sync_parent(path: &Path, durability: Durability) -> io::Result<()> {
    if durability != Durability::Full {
        return Ok(());
    }
    match File::open(parent(path)).and_then(|dir| dir.sync_all()) {
        // Not every file system can sync a directory.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        synced => synced,
    }
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Creates a directory, with its parents, that only its owner may enter. An existing directory is left as it is.
pub fn create_private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(PRIVATE_DIR).create(path)
}

/// Creates a file that only its owner may read; fails if it exists.
pub fn create_private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(PRIVATE_FILE).open(path)
}

/// Opens a file for appending, and creates it if necessary so that only its owner may read it.
pub fn append_private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).mode(PRIVATE_FILE).open(path)
}

/// How long to wait for a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockWait {
    /// Not at all.
    Never,
    /// At most this long.
    AtMost(Duration),
    /// Until the lock is free.
    Forever,
}

impl LockWait {
    /// For a command that changes a file of memdir's own.
    pub const COMMAND: LockWait = LockWait::AtMost(Duration::from_secs(limits::LOCK_WAIT_SECS));
    /// For state that is recorded on the side, while a person or a host waits for something else.
    pub const BEST_EFFORT: LockWait = LockWait::AtMost(Duration::from_millis(100));
}

/// An exclusive lock of a file between processes. It is released when it is dropped or its process ends.
#[derive(Debug)]
pub struct FileLock(#[expect(dead_code, reason = "closing the file releases the lock")] File);

impl FileLock {
    /// Locks the file at a path, and creates it if necessary so that only its owner may open it. Returns `None` if another process
    /// has the lock for longer than `wait`.
    pub fn acquire(path: &Path, wait: LockWait) -> io::Result<Option<FileLock>> {
        FileLock::acquire_file(open_lock_file(path, PRIVATE_FILE)?, wait)
    }

    /// Locks a file, or the files of a directory, for reading, changing and replacing it: what was read stays current until the lock is
    /// dropped. Every process that changes the file must take this lock. It is `NAME.lock` beside the file, because a lock of the file
    /// itself would belong to the version that is replaced. Fails with [`io::ErrorKind::WouldBlock`] if `wait` is over.
    pub fn for_update(path: &Path, wait: LockWait) -> io::Result<FileLock> {
        create_private_dir(parent(path))?;
        let lock = FileLock::acquire(&path.with_extension("lock"), wait)?;
        lock.ok_or_else(|| io::Error::new(io::ErrorKind::WouldBlock, "another process is changing it"))
    }

    /// Locks an open file or directory.
    pub fn acquire_file(file: File, wait: LockWait) -> io::Result<Option<FileLock>> {
        match file.try_lock() {
            Ok(()) => return Ok(Some(FileLock(file))),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
        match wait {
            LockWait::Never => Ok(None),
            LockWait::Forever => file.lock().map(|()| Some(FileLock(file))),
            LockWait::AtMost(limit) => lock_within(file, limit),
        }
    }
}

/// Opens a lock file, and creates it with this mode if necessary, whatever the umask.
pub fn open_lock_file(path: &Path, mode: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        opened => return opened,
    }
    match options.clone().create_new(true).mode(mode).open(path) {
        Ok(file) => {
            file.set_permissions(fs::Permissions::from_mode(mode))?;
            Ok(file)
        }
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => options.open(path),
        Err(error) => Err(error),
    }
}

/// The kernel wakes waiting processes in turn, so waiting in it is fairer than polling. It has no time limit, so a thread of its
/// own waits; after the limit that thread releases the lock as soon as it gets it.
fn lock_within(file: File, limit: Duration) -> io::Result<Option<FileLock>> {
    let (send, receive) = mpsc::channel();
    std::thread::Builder::new().name("memdir-lock".into()).spawn(move || {
        let outcome = file.lock().map(|()| file);
        // If the receiver is gone, dropping the file releases the lock.
        drop(send.send(outcome));
    })?;
    match receive.recv_timeout(limit) {
        Ok(outcome) => outcome.map(|file| Some(FileLock(file))),
        Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn put(path: &Path, how: Replace, text: &str) -> io::Result<()> {
        replace(path, how, |file| file.write_all(text.as_bytes()))
    }

    #[test]
    fn a_replaced_file_is_private_and_leaves_nothing_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.json");
        for temp in [TempName::Unique, TempName::Reused] {
            for durability in [Durability::None, Durability::Content, Durability::Full] {
                put(&path, Replace { durability, mode: FileMode::Private, temp }, "new").unwrap();
                assert_eq!((fs::read_to_string(&path).unwrap().as_str(), mode(&path)), ("new", 0o600));
                assert_eq!(names(dir.path()), ["a.json"]);
            }
        }
    }

    #[test]
    fn permissions_are_kept_or_set() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.toml");
        let how = Replace { mode: FileMode::KeepOr(0o644), ..Replace::DURABLE };
        put(&path, how, "one").unwrap();
        assert_eq!(mode(&path), 0o644);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        put(&path, how, "two").unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), mode(&path)), ("two", 0o640));
    }

    #[test]
    fn a_failed_write_changes_nothing_and_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.json");
        put(&path, Replace::DURABLE, "old").unwrap();
        for temp in [TempName::Unique, TempName::Reused] {
            let failed = replace(&path, Replace { temp, ..Replace::DURABLE }, |file| {
                file.write_all(b"ne")?;
                Err(io::ErrorKind::StorageFull.into())
            });
            assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::StorageFull);
            assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names(dir.path())), ("old", vec!["a.json".to_owned()]));
        }
        drop(prepare(&path, Replace::DERIVED, |file| file.write_all(b"new")).unwrap());
        assert_eq!(names(dir.path()), ["a.json"]);
    }

    #[test]
    fn a_file_left_by_a_crash_is_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.bin");
        File::create(dir.path().join("state.new")).unwrap().write_all(b"left by a crash, and longer").unwrap();
        put(&path, Replace { temp: TempName::Reused, ..Replace::DERIVED }, "new").unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names(dir.path())), ("new", vec!["state.bin".to_owned()]));
    }

    #[test]
    fn a_new_file_never_replaces_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.md");
        let commit = || prepare(&path, Replace::DURABLE, |file| file.write_all(b"x")).unwrap().commit_new();
        commit().unwrap();
        assert_eq!(commit().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(names(dir.path()), ["a.md"]);
    }

    #[test]
    fn directories_and_files_are_private() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("a/b");
        create_private_dir(&deep).unwrap();
        create_private_dir(&deep).unwrap();
        assert_eq!((mode(&dir.path().join("a")), mode(&deep)), (0o700, 0o700));
        create_private_file(&deep.join("new")).unwrap();
        assert_eq!(create_private_file(&deep.join("new")).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        append_private_file(&deep.join("log")).unwrap().write_all(b"1").unwrap();
        append_private_file(&deep.join("log")).unwrap().write_all(b"2").unwrap();
        assert_eq!(fs::read_to_string(deep.join("log")).unwrap(), "12");
        assert_eq!((mode(&deep.join("new")), mode(&deep.join("log"))), (0o600, 0o600));
    }

    #[test]
    fn a_lock_has_one_holder_and_is_released_when_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let held = FileLock::acquire(&path, LockWait::Never).unwrap();
        assert!(held.is_some());
        assert_eq!(mode(&path), 0o600);
        assert!(FileLock::acquire(&path, LockWait::Never).unwrap().is_none());
        assert!(FileLock::acquire(&path, LockWait::AtMost(Duration::from_millis(5))).unwrap().is_none());
        drop(held);
        assert!(FileLock::acquire(&path, LockWait::Forever).unwrap().is_some());
    }

    #[test]
    fn an_update_has_one_holder_and_creates_only_the_lock() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("home/config.toml");
        let held = FileLock::for_update(&path, LockWait::Never).unwrap();
        assert_eq!(names(&dir.path().join("home")), ["config.lock"]);
        assert_eq!(FileLock::for_update(&path, LockWait::Never).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(held);
        FileLock::for_update(&path, LockWait::Never).unwrap();
    }
}
