//! Watches a directory tree for a long-lived process, without waiting and without a thread. Reports every doubt; the caller then lists
//! the files.
//!
//! Linux queues an event in the system call that changes a file, so every change that was acknowledged before a poll is in the queue.
//! Writes through links, other mounts or the network cause no events: trees with such are not watched.

use std::path::Path;

#[cfg(target_os = "linux")]
pub(super) use linux::TreeWatch;

/// The changes of a tree since the last poll.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TreeChanges {
    /// No change.
    None,
    /// Only the files with these paths, relative to the root, may have changed.
    Files(Vec<String>),
    /// Anything may have changed, and the watch is useless from now on.
    Unknown,
}

/// A watched tree; not supported on this system.
#[cfg(not(target_os = "linux"))]
pub(super) struct TreeWatch;

#[cfg(not(target_os = "linux"))]
impl TreeWatch {
    pub(super) fn new(_root: &Path) -> Option<Self> {
        None
    }

    pub(super) fn poll(&mut self) -> TreeChanges {
        TreeChanges::Unknown
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::{Path, TreeChanges};
    use crate::base::disk;
    use rustix::{
        fd::OwnedFd,
        fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags},
        io::Errno,
    };
    use std::{
        collections::{BTreeSet, HashMap},
        fs,
        mem::MaybeUninit,
        os::unix::fs::MetadataExt as _,
        path::PathBuf,
    };

    /// The maximum number of directories of one tree: a process has some thousand watches.
    const MAX_DIRECTORIES: usize = 4_096;

    /// A watched tree.
    pub(crate) struct TreeWatch {
        root: PathBuf,
        device: u64,
        inode: u64,
        queue: OwnedFd,
        /// The directories relative to the root, by the number of their watch.
        folders: HashMap<i32, PathBuf>,
    }

    impl TreeWatch {
        /// Watches the tree below `root`. Returns `None` if some changes would go unnoticed. List the files after this call.
        pub(crate) fn new(root: &Path) -> Option<TreeWatch> {
            // The same rule as for every use of the store: the directory must not have been replaced by a link.
            let meta = fs::File::from(disk::open_canonical_dir(root).ok()?).metadata().ok()?;
            if !is_local(root) {
                return None;
            }
            let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
            let mut watch = TreeWatch { root: root.to_owned(), device: meta.dev(), inode: meta.ino(), queue, folders: HashMap::new() };
            watch.add_tree()?;
            Some(watch)
        }

        /// Returns the changes since the last call, and clears the queue.
        pub(crate) fn poll(&mut self) -> TreeChanges {
            let same = fs::metadata(&self.root).is_ok_and(|meta| (meta.dev(), meta.ino()) == (self.device, self.inode));
            let mut files = BTreeSet::new();
            let mut certain = same;
            let mut buffer = [MaybeUninit::uninit(); 4096];
            let mut events = Reader::new(&self.queue, &mut buffer);
            loop {
                match events.next() {
                    Ok(event) => match self.event_file(event.wd(), event.events(), event.file_name().map(|name| name.to_str())) {
                        Some(file) => drop(files.insert(file)),
                        None => certain = false,
                    },
                    Err(Errno::AGAIN) => break,
                    Err(Errno::INTR) => {}
                    Err(_) => return TreeChanges::Unknown,
                }
            }
            match (certain && files.iter().all(|file| self.is_visible(file)), files.is_empty()) {
                (false, _) => TreeChanges::Unknown,
                (true, true) => TreeChanges::None,
                (true, false) => TreeChanges::Files(files.into_iter().collect()),
            }
        }

        /// The file of an event, or `None` if it concerns a directory or something unknown.
        fn event_file(&self, folder: i32, what: ReadFlags, name: Option<Result<&str, std::str::Utf8Error>>) -> Option<String> {
            let file_events = ReadFlags::CREATE
                | ReadFlags::MODIFY
                | ReadFlags::CLOSE_WRITE
                | ReadFlags::ATTRIB
                | ReadFlags::MOVED_FROM
                | ReadFlags::MOVED_TO
                | ReadFlags::DELETE;
            let path = self.folders.get(&folder)?.join(name?.ok()?);
            if file_events.contains(what) { path.into_os_string().into_string().ok() } else { None }
        }

        /// Whether all changes of a file cause events: a link or a hard link may change elsewhere.
        fn is_visible(&self, file: &str) -> bool {
            fs::symlink_metadata(self.root.join(file)).map_or(true, |meta| meta.is_file() && meta.nlink() == 1)
        }

        fn add_tree(&mut self) -> Option<()> {
            let mut folders = vec![PathBuf::new()];
            let mut count = 0;
            while let Some(below) = folders.pop() {
                let folder = self.root.join(&below);
                count += 1;
                let what = WatchFlags::CREATE
                    | WatchFlags::MODIFY
                    | WatchFlags::CLOSE_WRITE
                    | WatchFlags::ATTRIB
                    | WatchFlags::MOVE
                    | WatchFlags::DELETE
                    | WatchFlags::DELETE_SELF
                    | WatchFlags::MOVE_SELF;
                let number = inotify::add_watch(&self.queue, &folder, what | WatchFlags::ONLYDIR | WatchFlags::DONT_FOLLOW).ok()?;
                self.folders.insert(number, below.clone());
                for entry in fs::read_dir(&folder).ok()? {
                    let entry = entry.ok()?;
                    let meta = entry.metadata().ok()?;
                    // A link, a hard link or another file system may change without an event.
                    let unwatchable = meta.is_symlink() || meta.dev() != self.device || (meta.is_file() && meta.nlink() > 1);
                    if unwatchable || count > MAX_DIRECTORIES {
                        return None;
                    }
                    if meta.is_dir() && entry.file_name() != ".git" {
                        folders.push(below.join(entry.file_name()));
                    }
                }
            }
            Some(())
        }
    }

    /// Whether the directory is on a file system that only this machine writes to.
    fn is_local(root: &Path) -> bool {
        // ext2-4, XFS, Btrfs, tmpfs, overlayfs, F2FS, ZFS, bcachefs.
        const LOCAL: [u64; 8] = [0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x794C_7630, 0xF2F5_2010, 0x2FC1_2FC1, 0xCA45_1A4E];
        rustix::fs::statfs(root).is_ok_and(|fs| LOCAL.contains(&(fs.f_type as u64 & 0xFFFF_FFFF)))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test acts as another program")]
    fn every_change_is_reported_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/b/x.md"), "1").unwrap();
        let watch = || {
            let mut watch = TreeWatch::new(root).unwrap();
            assert_eq!((watch.poll(), watch.poll()), (TreeChanges::None, TreeChanges::None));
            watch
        };
        let files = |names: &[&str]| TreeChanges::Files(names.iter().map(|name| (*name).to_owned()).collect());
        let cases: [(&dyn Fn(), TreeChanges); 8] = [
            (&|| fs::write(root.join("a/b/x.md"), "2").unwrap(), files(&["a/b/x.md"])),
            (&|| fs::write(root.join("new.md"), "1").unwrap(), files(&["new.md"])),
            (&|| fs::rename(root.join("new.md"), root.join("a/new.md")).unwrap(), files(&["a/new.md", "new.md"])),
            (&|| fs::create_dir(root.join("c")).unwrap(), TreeChanges::Unknown),
            (&|| fs::write(root.join("c/y.md"), "1").unwrap(), files(&["c/y.md"])),
            (&|| fs::remove_file(root.join("a/new.md")).unwrap(), files(&["a/new.md"])),
            (&|| fs::rename(root.join("a"), root.join("d")).unwrap(), TreeChanges::Unknown),
            (&|| fs::hard_link(root.join("c/y.md"), root.join("c/z.md")).unwrap(), TreeChanges::Unknown),
        ];
        for (n, (change, expected)) in cases.iter().enumerate() {
            let mut watch = watch();
            change();
            assert_eq!(watch.poll(), *expected, "case {n}");
        }
    }

    #[test]
    fn doubtful_trees_are_not_watched() {
        let folder = tempfile::tempdir().unwrap();
        let mut watch = TreeWatch::new(folder.path()).unwrap();
        std::os::unix::fs::symlink("/nowhere", folder.path().join("link.md")).unwrap();
        assert_eq!(watch.poll(), TreeChanges::Unknown);
        assert!(TreeWatch::new(folder.path()).is_none());
        assert!(TreeWatch::new(&folder.path().join("missing")).is_none());
        let linked = tempfile::tempdir().unwrap();
        fs::create_dir(linked.path().join("real")).unwrap();
        std::os::unix::fs::symlink(linked.path().join("real"), linked.path().join("link")).unwrap();
        assert!(TreeWatch::new(&linked.path().join("link")).is_none());
        assert!(TreeWatch::new(&linked.path().join("real")).is_some());
    }
}
