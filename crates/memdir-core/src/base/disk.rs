//! Files of memdir's own: atomic replacement, private directories and files, file locks. Memories are written by
//! `store/files/atomic.rs`, which resolves every name below an opened root and never by a path.

use crate::base::{limits, observe, time::Deadline};
use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{Mode, OFlags},
    io::Errno,
};
use std::{
    collections::{BTreeMap, VecDeque},
    fs::{self, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    time::Duration,
};
use tempfile::TempPath;

/// The mode of files that only their owner may read.
const PRIVATE_FILE: u32 = 0o600;

/// What remains of a replaced file after a power failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Any content, even an empty file: for derived files that are verified when they are read.
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
    sync_dir(File::open(parent(path))?, parent(path))
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Creates a directory, with its parents, that only its owner may enter, and syncs each new one into its parent: what is synced in
/// it later survives a power failure. An existing directory is left as it is.
pub fn create_private_dir(path: &Path) -> io::Result<()> {
    create_missing(path, DirMode::Private, |dir, flags| rustix::fs::open(dir, flags, Mode::empty()))
}

/// Like [`create_private_dir`], for a canonical path: fails if any part of it is a symbolic link now.
pub fn create_canonical_dir(path: &Path, mode: DirMode) -> io::Result<()> {
    create_missing(path, mode, open_canonical)
}

/// The permissions of a new directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirMode {
    /// Only the owner may enter.
    Private,
    /// Those that the umask of the process leaves, as `mkdir` makes it.
    Umask,
}

impl DirMode {
    fn bits(self) -> Mode {
        match self {
            DirMode::Private => Mode::RWXU,
            DirMode::Umask => Mode::RWXU | Mode::RWXG | Mode::RWXO,
        }
    }
}

fn create_missing(path: &Path, mode: DirMode, open: impl Fn(&Path, OFlags) -> rustix::io::Result<OwnedFd>) -> io::Result<()> {
    let mut missing: Vec<&Path> = Vec::new();
    let mut exists = path;
    let mut above = loop {
        match open(exists, READ_DIR) {
            Ok(dir) => break dir,
            Err(Errno::NOENT) => missing.push(exists),
            // A directory may be writable without being readable. It cannot be synced then.
            #[cfg(target_os = "linux")]
            Err(Errno::ACCESS) => break open(exists, READ_DIR | OFlags::PATH)?,
            Err(error) => return Err(error.into()),
        }
        exists = parent(exists);
    };
    for dir in missing.into_iter().rev() {
        let name = dir.file_name().ok_or(Errno::NOENT)?;
        create_dir_at(&above, name, mode, exists)?;
        above = rustix::fs::openat(&above, name, READ_DIR | OFlags::NOFOLLOW, Mode::empty())?;
        exists = dir;
    }
    Ok(())
}

/// Creates a directory in an open one, and syncs that one. `shown` is the path of the open directory.
pub fn create_dir_at(above: impl AsFd, name: impl rustix::path::Arg + Copy, mode: DirMode, shown: &Path) -> io::Result<()> {
    match rustix::fs::mkdirat(&above, name, mode.bits()) {
        // If another process was faster, whether it has synced the parent is unknown.
        Ok(()) | Err(Errno::EXIST) => sync_dir(above, shown),
        Err(error) => Err(error.into()),
    }
}

/// Syncs an open directory. Not every file system can sync one.
pub fn sync_dir(dir: impl AsFd, shown: &Path) -> io::Result<()> {
    match rustix::fs::fsync(dir) {
        Ok(()) => {
            observe::synced(shown);
            Ok(())
        }
        Err(Errno::INVAL | Errno::OPNOTSUPP | Errno::BADF) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Opens a directory for reading.
pub const READ_DIR: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Opens a directory by its canonical path. Fails with `ELOOP` if any part of the path is a symbolic link now.
pub fn open_canonical_dir(path: &Path) -> rustix::io::Result<OwnedFd> {
    open_canonical(path, READ_DIR)
}

fn open_canonical(path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, ResolveFlags};
        match rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
            // An old kernel, or a sandbox that does not know the call.
            Err(Errno::NOSYS | Errno::PERM | Errno::OPNOTSUPP) => {}
            opened => return opened,
        }
    }
    // Without that call there is a moment between the check and the use.
    if path.ancestors().any(|part| part.is_symlink()) {
        return Err(Errno::LOOP);
    }
    rustix::fs::open(path, flags | OFlags::NOFOLLOW, Mode::empty())
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
    pub const BEST_EFFORT: LockWait = LockWait::AtMost(Duration::from_millis(500));
}

/// An exclusive lock of a file between processes. It is released when it is dropped or its process ends.
#[derive(Debug)]
pub struct FileLock(File);

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
        lock.ok_or_else(|| io::Error::new(io::ErrorKind::WouldBlock, "it is locked by another process"))
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
            LockWait::AtMost(limit) => lock_until(file, Deadline::after(limit), &|| false),
        }
    }

    /// Locks an open file or directory. Returns `None` if it is still locked at the deadline, or once `is_cancelled` returns true.
    pub fn acquire_file_until(file: File, deadline: Deadline, is_cancelled: &dyn Fn() -> bool) -> io::Result<Option<FileLock>> {
        match file.try_lock() {
            Ok(()) => Ok(Some(FileLock(file))),
            Err(TryLockError::WouldBlock) if deadline.left().is_zero() => Ok(None),
            Err(TryLockError::WouldBlock) => lock_until(file, deadline, is_cancelled),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// The locked file or directory.
    pub fn file(&self) -> &File {
        &self.0
    }
}

/// Returns the process that holds the lock of a file, as `process 1234 (name)`, or `None` if the system does not report it.
pub fn lock_holder(file: &File) -> Option<String> {
    let meta = file.metadata().ok()?;
    let locks = fs::read_to_string("/proc/locks").ok()?;
    let pid = holder_among(&locks, meta.dev(), meta.ino())?;
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok();
    let name = name.map(|name| format!(" ({})", name.trim_end().escape_default())).unwrap_or_default();
    Some(if pid == std::process::id() { "this process".into() } else { format!("process {pid}{name}") })
}

/// Finds the holder in the lines of `/proc/locks`: `1: FLOCK  ADVISORY  WRITE 1234 fe:00:613 0 EOF`. A waiting process has `->` as
/// its second word. Some file systems report another device there than `stat` does, so the inode alone decides if no line has both.
fn holder_among(locks: &str, device: u64, inode: u64) -> Option<u32> {
    let device = format!("{:02x}:{:02x}:{inode}", rustix::fs::major(device), rustix::fs::minor(device));
    let held = locks.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [_, kind, _, _, pid, file, ..] if *kind != "->" => Some((pid.parse::<u32>().ok().filter(|pid| *pid > 0)?, *file)),
            _ => None,
        }
    });
    let held: Vec<(u32, &str)> = held.filter(|(_, file)| file.rsplit(':').next() == Some(&inode.to_string())).collect();
    held.iter().find(|(_, file)| *file == device).or(held.first()).map(|(pid, _)| *pid)
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

/// A call that waits for a lock.
struct LockWaiter {
    number: u64,
    file: File,
    done: mpsc::Sender<io::Result<File>>,
}

/// The calls of this process that wait for a lock, oldest first, by the device and inode of the file. Each file has one thread.
static LOCK_WAITERS: Mutex<BTreeMap<(u64, u64), VecDeque<LockWaiter>>> = Mutex::new(BTreeMap::new());

fn lock_waiters() -> MutexGuard<'static, BTreeMap<(u64, u64), VecDeque<LockWaiter>>> {
    LOCK_WAITERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The kernel wakes waiting processes in turn, so waiting in it is fairer than polling. It has no time limit and cannot be cancelled, so
/// another thread waits: one for all calls that wait for the same file, however many were cancelled.
fn lock_until(file: File, deadline: Deadline, is_cancelled: &dyn Fn() -> bool) -> io::Result<Option<FileLock>> {
    /// The interval at which a waiting call checks whether it was cancelled.
    const LOOK_EVERY: Duration = Duration::from_millis(50);
    static NUMBERS: AtomicU64 = AtomicU64::new(0);
    let meta = file.metadata()?;
    let key = (meta.dev(), meta.ino());
    let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
    let (done, outcome) = mpsc::channel();
    {
        let mut waiters = lock_waiters();
        let has_thread = waiters.contains_key(&key);
        waiters.entry(key).or_default().push_back(LockWaiter { number, file, done });
        if !has_thread && let Err(error) = std::thread::Builder::new().name("memdir-lock".into()).spawn(move || wait_for_locks(key)) {
            waiters.remove(&key);
            return Err(error);
        }
    }
    loop {
        let left = deadline.left();
        match outcome.recv_timeout(left.min(LOOK_EVERY)) {
            Ok(outcome) => return outcome.map(|file| Some(FileLock(file))),
            Err(mpsc::RecvTimeoutError::Timeout) if !left.is_zero() && !is_cancelled() => {}
            Err(_) => break,
        }
    }
    // The thread may be waiting with this file; then it releases the lock as soon as it has it, because the receiver is gone.
    if let Some(waiters) = lock_waiters().get_mut(&key) {
        waiters.retain(|waiter| waiter.number != number);
    }
    Ok(None)
}

/// Waits for a lock for one call after the other, until no call waits.
fn wait_for_locks(key: (u64, u64)) {
    loop {
        let next = {
            let mut waiters = lock_waiters();
            let next = waiters.get_mut(&key).and_then(VecDeque::pop_front);
            if next.is_none() {
                waiters.remove(&key);
            }
            next
        };
        let Some(LockWaiter { file, done, .. }) = next else { return };
        let outcome = file.lock().map(|()| file);
        // If the receiver is gone, dropping the file releases the lock.
        drop(done.send(outcome));
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
    fn new_directories_are_synced_into_their_parents() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("a/b/c");
        let ((), synced) = observe::synced_by(|| create_private_dir(&deep).unwrap());
        assert_eq!(synced, [dir.path().to_owned(), dir.path().join("a"), dir.path().join("a/b")]);
        let ((), synced) = observe::synced_by(|| create_private_dir(&deep).unwrap());
        assert!(synced.is_empty());
        assert_eq!((mode(&dir.path().join("a")), mode(&deep)), (0o700, 0o700));
    }

    #[test]
    fn a_directory_behind_a_link_is_not_opened_by_its_canonical_path() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap();
        fs::create_dir_all(real.join("a/b")).unwrap();
        std::os::unix::fs::symlink(real.join("a"), real.join("link")).unwrap();
        assert!(open_canonical_dir(&real.join("a/b")).is_ok());
        for path in ["link", "link/b"] {
            assert_eq!(open_canonical_dir(&real.join(path)).unwrap_err(), Errno::LOOP, "{path}");
        }
    }

    #[test]
    fn the_holder_of_a_lock_is_found_by_device_and_inode() {
        let locks = "1: FLOCK  ADVISORY  WRITE 11 fe:00:613 0 EOF\n1: -> FLOCK  ADVISORY  WRITE 12 fe:00:613 0 EOF\n\
                     2: POSIX  ADVISORY  WRITE 13 00:1c:77 0 EOF\n3: FLOCK  ADVISORY  WRITE 14 fe:00:77 0 EOF\n\
                     4: FLOCK  ADVISORY  WRITE 0 fe:00:99 0 EOF\n";
        let device = rustix::fs::makedev(0xfe, 0);
        let holders = [613, 77, 78, 99].map(|inode| holder_among(locks, device, inode));
        assert_eq!(holders, [Some(11), Some(14), None, None]);
        assert_eq!(holder_among(locks, rustix::fs::makedev(0, 0x99), 613), Some(11), "the inode alone");
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

    /// Every cancelled call used to leave a thread and an open file until the lock was free.
    #[test]
    fn cancelled_calls_share_one_waiting_thread() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let open = || open_lock_file(&path, PRIVATE_FILE).unwrap();
        let held = FileLock::acquire(&path, LockWait::Never).unwrap();
        for _ in 0..20 {
            assert!(FileLock::acquire_file_until(open(), Deadline::after(Duration::from_secs(600)), &|| true).unwrap().is_none());
        }
        let meta = open().metadata().unwrap();
        assert_eq!(lock_waiters().get(&(meta.dev(), meta.ino())).map_or(0, VecDeque::len), 0, "no cancelled call is in the queue");
        if cfg!(target_os = "linux") {
            let real = path.canonicalize().unwrap();
            let links = fs::read_dir("/proc/self/fd").unwrap().flatten().filter_map(|fd| fs::read_link(fd.path()).ok());
            let opened = links.filter(|target| *target == real).count();
            assert!(opened <= 2, "{opened} open files, besides the held one and that of the thread");
        }
        // A call that still waits gets the lock after those that were cancelled.
        let file = open();
        let waiting = std::thread::spawn(move || FileLock::acquire_file_until(file, Deadline::after(Duration::from_secs(600)), &|| false));
        drop(held);
        assert!(waiting.join().unwrap().unwrap().is_some());
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
