//! Tells a long-lived process, without waiting and without a thread, whether a directory tree has certainly not changed
//! since it was last asked. Says no whenever there is a doubt: then the files are listed.
//!
//! Linux queues an event in the very call that changes a file, so what was acknowledged before the question is in the
//! queue. Other programs' writes through links, mounts or the network are not seen: trees with such are never certain.

use std::path::Path;

#[cfg(target_os = "linux")]
pub(super) use linux::Watch;

/// Watches the tree below `root`; nothing if that cannot be certain.
#[cfg(not(target_os = "linux"))]
pub(super) struct Watch;

#[cfg(not(target_os = "linux"))]
impl Watch {
    pub(super) fn new(_root: &Path) -> Option<Self> {
        None
    }

    pub(super) fn is_quiet(&mut self) -> bool {
        false
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::Path;
    use rustix::{
        fd::OwnedFd,
        fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags},
        io::Errno,
    };
    use std::{fs, mem::MaybeUninit, os::unix::fs::MetadataExt as _, path::PathBuf};

    /// Directories of one tree at the most: the system grants a process some thousand.
    const MOST_DIRECTORIES: usize = 4_096;

    /// A watched tree.
    pub(crate) struct Watch {
        root: PathBuf,
        device: u64,
        inode: u64,
        queue: OwnedFd,
    }

    impl Watch {
        /// Watches the tree below `root`; nothing if that cannot be certain. List the files after this call.
        pub(crate) fn new(root: &Path) -> Option<Watch> {
            let meta = fs::metadata(root).ok().filter(|meta| meta.is_dir())?;
            if !is_local(root) {
                return None;
            }
            let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
            let watch = Watch { root: root.to_owned(), device: meta.dev(), inode: meta.ino(), queue };
            watch.add_tree()?;
            Some(watch)
        }

        /// Whether nothing at all has happened in the tree since the last call. Takes the events away.
        pub(crate) fn is_quiet(&mut self) -> bool {
            let same = fs::metadata(&self.root).is_ok_and(|meta| (meta.dev(), meta.ino()) == (self.device, self.inode));
            let mut buffer = [MaybeUninit::uninit(); 4096];
            let mut events = Reader::new(&self.queue, &mut buffer);
            let mut quiet = true;
            loop {
                match events.next() {
                    Ok(event) => quiet &= event.events() == ReadFlags::empty(),
                    Err(Errno::AGAIN) => return same && quiet,
                    Err(Errno::INTR) => {}
                    Err(_) => return false,
                }
            }
        }

        fn add_tree(&self) -> Option<()> {
            let mut folders = vec![self.root.clone()];
            let mut count = 0;
            while let Some(folder) = folders.pop() {
                count += 1;
                let what = WatchFlags::CREATE
                    | WatchFlags::MODIFY
                    | WatchFlags::CLOSE_WRITE
                    | WatchFlags::ATTRIB
                    | WatchFlags::MOVE
                    | WatchFlags::DELETE
                    | WatchFlags::DELETE_SELF
                    | WatchFlags::MOVE_SELF;
                inotify::add_watch(&self.queue, &folder, what | WatchFlags::ONLYDIR | WatchFlags::DONT_FOLLOW).ok()?;
                for entry in fs::read_dir(&folder).ok()? {
                    let entry = entry.ok()?;
                    let meta = entry.metadata().ok()?;
                    // A link, a second name of a file or another file system may change unseen.
                    let unseen = meta.is_symlink() || meta.dev() != self.device || (meta.is_file() && meta.nlink() > 1);
                    if unseen || count > MOST_DIRECTORIES {
                        return None;
                    }
                    if meta.is_dir() && entry.file_name() != ".git" {
                        folders.push(entry.path());
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
            let mut watch = Watch::new(root).unwrap();
            assert!(watch.is_quiet() && watch.is_quiet());
            watch
        };
        let deeds: [&dyn Fn(); 7] = [
            &|| fs::write(root.join("a/b/x.md"), "2").unwrap(),
            &|| fs::write(root.join("new.md"), "1").unwrap(),
            &|| fs::rename(root.join("new.md"), root.join("a/new.md")).unwrap(),
            &|| fs::create_dir(root.join("c")).unwrap(),
            &|| fs::write(root.join("c/y.md"), "1").unwrap(),
            &|| fs::remove_file(root.join("a/new.md")).unwrap(),
            &|| fs::rename(root.join("a"), root.join("d")).unwrap(),
        ];
        for (n, deed) in deeds.iter().enumerate() {
            let mut watch = watch();
            deed();
            assert!(!watch.is_quiet(), "deed {n}");
        }
    }

    #[test]
    fn doubtful_trees_are_not_watched() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/nowhere", folder.path().join("link.md")).unwrap();
        assert!(Watch::new(folder.path()).is_none());
        assert!(Watch::new(&folder.path().join("missing")).is_none());
    }
}
