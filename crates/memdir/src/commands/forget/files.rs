//! Walks every file that memdir keeps, with who owns it. What is forgotten and what is verified afterwards are the same files,
//! so a file that no part of the program knows is still read.

use memdir_core::internal::base::sort::SharedSort as _;
use memdir_core::{
    Memdir,
    internal::store::{mount::real_path, mounts, space::Places},
};
use std::{
    collections::BTreeSet,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

/// Directories of version control, which memdir does not change.
const VERSION_CONTROL: [&str; 4] = [".git", ".hg", ".jj", ".svn"];

/// Who owns a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// A memory, log, entrypoint or candidate: its store changes it.
    Memory,
    /// A journal.
    Journal,
    /// The store of conversations.
    Chats,
    /// The cache: it is removed.
    Derived,
    /// Another file of memdir, or a file of another program in memdir's home.
    State,
    /// A file beside memories outside of memdir's home. It is not changed.
    Other,
}

/// The directories that are looked through.
pub(super) struct KeptFiles {
    /// Memdir's home.
    pub(super) home: PathBuf,
    /// The cache.
    pub(super) cache: PathBuf,
    /// Directories and files to look through.
    pub(super) trees: Vec<PathBuf>,
    /// The directories of journals.
    pub(super) journals: Vec<PathBuf>,
    /// The directories of conversations.
    pub(super) chats: Vec<PathBuf>,
}

/// What is in the directories.
#[derive(Default)]
pub(super) struct KeptList {
    /// All files with their owners, sorted.
    pub(super) files: Vec<(PathBuf, Owner)>,
    /// All directories, sorted.
    pub(super) dirs: Vec<PathBuf>,
    /// The files and directories that cannot be read, each with the reason: nothing is known about the words in them.
    pub(super) unread: Vec<String>,
}

impl KeptFiles {
    /// Lists the directories, and tries to open every file.
    pub(super) fn list(&self, memories: &[(Option<PathBuf>, Memdir)]) -> KeptList {
        let (mut files, mut dirs, mut unread) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let listed: BTreeSet<PathBuf> = memories.iter().flat_map(|(_, memdir)| memory_files(memdir, &mut unread)).collect();
        for tree in &self.trees {
            walk(tree, &mut files, &mut dirs, &mut unread);
        }
        for file in files.union(&listed) {
            note_unread(file, File::open(file), &mut unread);
        }
        let owned = files.into_iter().map(|file| {
            let owner = if listed.contains(&file) { Owner::Memory } else { self.owner(&file) };
            (file, owner)
        });
        KeptList { files: owned.collect(), dirs: dirs.into_iter().collect(), unread: unread.into_iter().collect() }
    }

    fn owner(&self, file: &Path) -> Owner {
        let is_below = |dirs: &[PathBuf]| dirs.iter().any(|dir| file.starts_with(dir));
        if is_below(&self.journals) || file.starts_with(Places::new(&self.home).journals()) {
            Owner::Journal
        } else if is_below(&self.chats) {
            Owner::Chats
        } else if file.starts_with(&self.cache) && !file.starts_with(self.cache.join("sessions")) {
            Owner::Derived
        } else if file.starts_with(&self.home) || file.starts_with(&self.cache) || self.trees.iter().any(|tree| tree.as_path() == file) {
            Owner::State
        } else {
            Owner::Other
        }
    }

    /// The path of a file in memdir's home, or `sessions/…` in the cache.
    pub(super) fn place(&self, file: &Path) -> Option<String> {
        let below = file.strip_prefix(&self.cache).or_else(|_| file.strip_prefix(&self.home)).ok()?;
        Some(below.to_string_lossy().into_owned())
    }
}

/// Returns the files of all memories of a space, including mounts that lists omit.
fn memory_files(memdir: &Memdir, unread: &mut BTreeSet<String>) -> Vec<PathBuf> {
    let store = memdir.store();
    let apart = store.mounts().iter().filter(|mount| mount.apart).map(|mount| mount.prefix.clone());
    let mut located = Vec::new();
    for list in std::iter::once(String::new()).chain(apart).filter_map(|prefix| store.list(&prefix).ok()) {
        located.extend(list.entries.iter().filter_map(|entry| on_disk(memdir, entry.path.as_str())));
        for dir in list.unlisted.iter().filter_map(|dir| on_disk(memdir, dir)) {
            note_unread(&dir, fs::read_dir(&dir), unread);
        }
    }
    located
}

/// The path on disk of a name in a space, or of a mount.
fn on_disk(memdir: &Memdir, name: &str) -> Option<PathBuf> {
    let all = memdir.store().mounts();
    let root = || all.iter().find(|mount| mount.prefix == name).map(|mount| (mount, ""));
    let (mount, rest) = mounts::locate(all, name).or_else(root)?;
    Some(real_path(&mount.root).join(rest))
}

/// Adds the files and directories below a directory, or the file itself. Symbolic links are not followed.
fn walk(tree: &Path, files: &mut BTreeSet<PathBuf>, dirs: &mut BTreeSet<PathBuf>, unread: &mut BTreeSet<String>) {
    if tree.is_file() {
        files.insert(tree.to_owned());
        return;
    }
    let mut open = vec![tree.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in note_unread(&dir, fs::read_dir(&dir), unread).into_iter().flatten() {
            let Some(entry) = note_unread(&dir, entry, unread) else { continue };
            let is_version_control = VERSION_CONTROL.iter().any(|name| entry.file_name() == *name);
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !is_version_control => {
                    open.push(entry.path());
                    dirs.insert(entry.path());
                }
                Ok(kind) if kind.is_file() => drop(files.insert(entry.path())),
                _ => {}
            }
        }
    }
}

/// Adds the reason why a file or directory could not be read. One that does not exist has no words.
fn note_unread<T>(path: &Path, read: io::Result<T>, unread: &mut BTreeSet<String>) -> Option<T> {
    if let Err(error) = &read
        && !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
    {
        unread.insert(format!("{}: cannot be read: {error}", path.display()));
    }
    read.ok()
}

/// The directories in a directory.
pub(super) fn dirs(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> =
        entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()).collect();
    all.shared_sort();
    all
}
