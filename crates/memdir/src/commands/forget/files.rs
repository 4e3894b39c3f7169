//! Walks every file that memdir keeps, with who owns it. What is forgotten and what is verified afterwards are the same files,
//! so a file that no part of the program knows is still read.

use memdir_core::internal::base::sort::SharedSort as _;
use memdir_core::{
    Memdir,
    internal::store::{mount::real_path, mounts, space::Places},
};
use std::{
    collections::BTreeSet,
    fs,
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

impl KeptFiles {
    /// All files with their owners, sorted, and all directories.
    pub(super) fn list(&self, memories: &[(Option<PathBuf>, Memdir)]) -> (Vec<(PathBuf, Owner)>, Vec<PathBuf>) {
        let listed: BTreeSet<PathBuf> = memories.iter().flat_map(|(_, memdir)| memory_files(memdir)).collect();
        let (mut files, mut dirs) = (BTreeSet::new(), BTreeSet::new());
        for tree in &self.trees {
            walk(tree, &mut files, &mut dirs);
        }
        let owned = files.into_iter().map(|file| {
            let owner = if listed.contains(&file) { Owner::Memory } else { self.owner(&file) };
            (file, owner)
        });
        (owned.collect(), dirs.into_iter().collect())
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
fn memory_files(memdir: &Memdir) -> Vec<PathBuf> {
    let store = memdir.store();
    let apart = store.mounts().iter().filter(|mount| mount.apart).map(|mount| mount.prefix.clone());
    let lists = std::iter::once(String::new()).chain(apart).filter_map(|prefix| store.list(&prefix).ok());
    let entries = lists.flat_map(|list| list.entries);
    let located = entries.filter_map(|entry| {
        let (mount, rest) = mounts::locate(store.mounts(), entry.path.as_str())?;
        Some(real_path(&mount.root).join(rest))
    });
    located.collect()
}

/// Adds the files and directories below a directory, or the file itself. Symbolic links are not followed.
fn walk(tree: &Path, files: &mut BTreeSet<PathBuf>, dirs: &mut BTreeSet<PathBuf>) {
    if tree.is_file() {
        files.insert(tree.to_owned());
        return;
    }
    let mut open = vec![tree.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
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

/// The directories in a directory.
pub(super) fn dirs(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> =
        entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()).collect();
    all.shared_sort();
    all
}
