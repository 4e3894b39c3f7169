//! Tells a long-lived process, without waiting and without a thread, what has changed in a directory tree since it was last
//! asked. Says so whenever there is a doubt: then the files are listed.
//!
//! Linux queues an event in the very call that changes a file, so what was acknowledged before the question is in the
//! queue. Other programs' writes through links, mounts or the network are not seen: trees with such are never certain.

use std::path::Path;

#[cfg(target_os = "linux")]
pub(super) use linux::TreeWatch;

/// What has happened in a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TreeChanges {
    /// Nothing at all.
    None,
    /// Something happened to files of these names, below the root, and to nothing else.
    Files(Vec<String>),
    /// Anything may have happened, and the watch is no good any more.
    Unknown,
}

/// Watches the tree below `root`; nothing if that cannot be certain.
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
    use super::{TreeChanges, Path};
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

    /// Directories of one tree at the most: the system grants a process some thousand.
    const MOST_DIRECTORIES: usize = 4_096;

    /// A watched tree.
    pub(crate) struct TreeWatch {
        root: PathBuf,
        device: u64,
        inode: u64,
        queue: OwnedFd,
        /// The directories, below the root, by the number of their watch.
        folders: HashMap<i32, PathBuf>,
    }

    impl TreeWatch {
        /// Watches the tree below `root`; nothing if that cannot be certain. List the files after this call.
        pub(crate) fn new(root: &Path) -> Option<TreeWatch> {
            let meta = fs::metadata(root).ok().filter(|meta| meta.is_dir())?;
            if !is_local(root) {
                return None;
            }
            let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
            let mut watch = TreeWatch { root: root.to_owned(), device: meta.dev(), inode: meta.ino(), queue, folders: HashMap::new() };
            watch.add_tree()?;
            Some(watch)
        }

        /// What has happened in the tree since the last call. Takes the events away.
        pub(crate) fn poll(&mut self) -> TreeChanges {
            let same = fs::metadata(&self.root).is_ok_and(|meta| (meta.dev(), meta.ino()) == (self.device, self.inode));
            let mut files = BTreeSet::new();
            let mut sure = same;
            let mut buffer = [MaybeUninit::uninit(); 4096];
            let mut events = Reader::new(&self.queue, &mut buffer);
            loop {
                match events.next() {
                    Ok(event) => match self.event_file(event.wd(), event.events(), event.file_name().map(|name| name.to_str())) {
                        Some(file) => drop(files.insert(file)),
                        None => sure = false,
                    },
                    Err(Errno::AGAIN) => break,
                    Err(Errno::INTR) => {}
                    Err(_) => return TreeChanges::Unknown,
                }
            }
            match (sure && files.iter().all(|file| self.is_visible(file)), files.is_empty()) {
                (false, _) => TreeChanges::Unknown,
                (true, true) => TreeChanges::None,
                (true, false) => TreeChanges::Files(files.into_iter().collect()),
            }
        }

        /// The file an event is about; nothing if it is about a directory, or about something that cannot be told.
        fn event_file(&self, folder: i32, what: ReadFlags, name: Option<Result<&str, std::str::Utf8Error>>) -> Option<String> {
            let plain = ReadFlags::CREATE
                | ReadFlags::MODIFY
                | ReadFlags::CLOSE_WRITE
                | ReadFlags::ATTRIB
                | ReadFlags::MOVED_FROM
                | ReadFlags::MOVED_TO
                | ReadFlags::DELETE;
            let path = self.folders.get(&folder)?.join(name?.ok()?);
            if plain.contains(what) { path.into_os_string().into_string().ok() } else { None }
        }

        /// Whether everything that happens to a file is seen here: a link or a second name may change elsewhere.
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
                    // A link, a second name of a file or another file system may change unseen.
                    let unseen = meta.is_symlink() || meta.dev() != self.device || (meta.is_file() && meta.nlink() > 1);
                    if unseen || count > MOST_DIRECTORIES {
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

    /// Whether the directory is on a file system that only this machine writes.
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
    #[expect(clippy::disallowed_methods, reason = "the test plays another program")]
    fn every_change_is_known_at_once() {
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
        let deeds: [(&dyn Fn(), TreeChanges); 8] = [
            (&|| fs::write(root.join("a/b/x.md"), "2").unwrap(), files(&["a/b/x.md"])),
            (&|| fs::write(root.join("new.md"), "1").unwrap(), files(&["new.md"])),
            (&|| fs::rename(root.join("new.md"), root.join("a/new.md")).unwrap(), files(&["a/new.md", "new.md"])),
            (&|| fs::create_dir(root.join("c")).unwrap(), TreeChanges::Unknown),
            (&|| fs::write(root.join("c/y.md"), "1").unwrap(), files(&["c/y.md"])),
            (&|| fs::remove_file(root.join("a/new.md")).unwrap(), files(&["a/new.md"])),
            (&|| fs::rename(root.join("a"), root.join("d")).unwrap(), TreeChanges::Unknown),
            (&|| fs::hard_link(root.join("c/y.md"), root.join("c/z.md")).unwrap(), TreeChanges::Unknown),
        ];
        for (n, (deed, expected)) in deeds.iter().enumerate() {
            let mut watch = watch();
            deed();
            assert_eq!(watch.poll(), *expected, "deed {n}");
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
    }
}
