//! The configuration of a mount: one directory of memories in a space, with its permissions and filters.

use crate::{
    base::{error::ReadOnlyCause, limits},
    store::{Access, EntrypointMode, MountInfo, Source, mounts::Prefixed},
};
use std::path::{Path, PathBuf};

/// Which symbolic links are followed below a root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Links {
    /// Whether links that stay below the root are followed.
    pub inside: bool,
    /// The directories into which links that lead out are followed.
    pub roots: Vec<PathBuf>,
    /// Whether this cannot be configured for the root, so that the error names no setting.
    pub fixed: bool,
}

/// A folder of a mount in which no file may be created.
#[derive(Debug, Clone)]
pub struct ClosedFolder {
    /// Its name, relative to the mount.
    pub folder: String,
    /// The reason.
    pub why: String,
    /// Which kind of reason.
    pub cause: ReadOnlyCause,
}

impl ClosedFolder {
    /// Closes a folder.
    pub fn new(folder: &str, why: &str, cause: ReadOnlyCause) -> Self {
        ClosedFolder { folder: folder.to_owned(), why: why.to_owned(), cause }
    }

    /// Closes the folder of the agents of a caller, each of which has a token of its own.
    pub fn of_agents_with_token() -> Self {
        ClosedFolder::new("agent", "an agent's memory is accessible only with that agent's token", ReadOnlyCause::Name)
    }
}

/// The configuration of a mount. Paths are absolute; the caller has expanded them.
#[derive(Debug, Clone)]
pub struct Mount {
    /// The prefix of its names; empty for the unprefixed mount.
    pub prefix: String,
    /// The directory.
    pub root: PathBuf,
    /// Whether it is writable.
    pub access: Access,
    /// The source class of its memories in searches.
    pub source: Source,
    /// Whether memdir maintains an entrypoint in it.
    pub entrypoint: EntrypointMode,
    /// Whether listings of the whole space omit its files. Searches and its own prefix include them.
    pub apart: bool,
    /// Which symbolic links are followed.
    pub links: Links,
    /// Whether hidden directories are entered.
    pub hidden: bool,
    /// Read-only names: regular expressions that match the whole name.
    pub read_only: Vec<String>,
    /// Ignored names: regular expressions that match the whole name.
    pub ignored: Vec<String>,
    /// Whether those expressions match names with the mount's prefix or without it.
    pub patterns_see_prefix: bool,
    /// If not empty, only files that match one of these globs, relative to the root, exist.
    pub only: Vec<String>,
    /// The path of the root inside the mount whose patterns and globs these are; empty for that mount's own root.
    pub inside: String,
    /// If not empty, the space was narrowed: only files with one of these names, or under one of them, exist.
    pub part: Vec<String>,
    /// The directory of its journal.
    pub journal: PathBuf,
    /// The size of the journal, in bytes, beyond which the oldest changes are dropped.
    pub journal_bytes: u64,
    /// Folders in which no file may be created. Existing files stay readable and can be removed.
    pub closed: Vec<ClosedFolder>,
    /// The directory whose lock is used instead of the root's: a configured mount that contains the root.
    pub lock: Option<PathBuf>,
    /// Whether the directory is created by the first write and not by opening, so that reading creates nothing.
    pub late: bool,
    /// The size in bytes of the largest file that is written.
    pub file_bytes: usize,
    /// Whether folders stay when their last file is removed.
    pub keeps_folders: bool,
    /// Whether new files and directories have the permissions that the umask leaves, as in a repository, instead of private ones.
    pub shared: bool,
    /// Whether other people write it too: a team's memory, or one that is in a repository or shared by the callers of a server.
    pub is_foreign: bool,
    /// Read-only names by the settings of another system: regular expressions that match the whole name, with the mount's prefix.
    pub foreign_read_only: Vec<String>,
    /// Ignored names by the settings of another system, likewise.
    pub foreign_ignored: Vec<String>,
}

impl Mount {
    /// Creates a writable mount with an entrypoint, without links and hidden directories.
    pub fn new(prefix: &str, root: impl Into<PathBuf>, journal: impl Into<PathBuf>) -> Self {
        Mount {
            prefix: prefix.into(),
            root: root.into(),
            access: Access::ReadWrite,
            source: Source::Memory,
            entrypoint: EntrypointMode::Kept,
            apart: false,
            links: Links::default(),
            hidden: false,
            read_only: Vec::new(),
            ignored: Vec::new(),
            patterns_see_prefix: false,
            only: Vec::new(),
            inside: String::new(),
            part: Vec::new(),
            journal: journal.into(),
            journal_bytes: limits::JOURNAL_BYTES,
            closed: Vec::new(),
            lock: None,
            late: false,
            file_bytes: limits::MEMORY_BYTES,
            keeps_folders: false,
            shared: false,
            is_foreign: prefix == "team",
            foreign_read_only: Vec::new(),
            foreign_ignored: Vec::new(),
        }
    }

    /// Returns the mount as callers see it, at this root.
    pub fn info(&self, root: PathBuf) -> MountInfo {
        MountInfo {
            prefix: self.prefix.clone(),
            root,
            access: self.access,
            source: self.source,
            entrypoint: self.entrypoint,
            rules: fingerprint(self),
            apart: self.apart,
            part: self.part.clone(),
            is_foreign: self.is_foreign,
            file_bytes: self.file_bytes,
        }
    }

    /// Returns the mount of a directory inside this one, `rel` below its root, with the same rules and the same lock.
    pub fn within(&self, rel: &str, root: impl Into<PathBuf>, journal: impl Into<PathBuf>) -> Self {
        let inside = if self.inside.is_empty() { rel.to_owned() } else { format!("{}/{rel}", self.inside) };
        Mount {
            access: self.access,
            source: self.source,
            links: self.links.clone(),
            hidden: self.hidden,
            read_only: self.read_only.clone(),
            ignored: self.ignored.clone(),
            only: self.only.clone(),
            inside,
            shared: self.shared,
            journal_bytes: self.journal_bytes,
            lock: Some(self.lock.clone().unwrap_or_else(|| real_path(&self.root))),
            ..Mount::new("", root, journal)
        }
    }
}

impl Prefixed for Mount {
    fn prefix(&self) -> &str {
        &self.prefix
    }
}

/// Returns a fingerprint of the rules for listing; empty for the default rules.
fn fingerprint(mount: &Mount) -> String {
    let whole = mount.only.is_empty() && mount.part.is_empty() && mount.foreign_ignored.is_empty();
    let is_default = !mount.hidden && mount.ignored.is_empty() && whole && !mount.links.inside && mount.links.roots.is_empty();
    let Mount { hidden, only, part, links, inside, .. } = mount;
    let ignored = [mount.ignored.as_slice(), &mount.foreign_ignored].concat();
    let inside = if inside.is_empty() { String::new() } else { format!(" {inside:?}") };
    if is_default { String::new() } else { format!("{hidden:?} {ignored:?} {only:?} {part:?} {links:?}{inside}") }
}

/// Returns the name of a mount's journal directory: readable, and unique per canonical path.
pub fn journal_name(root: &Path) -> String {
    let real = real_path(root);
    let text = real.to_string_lossy();
    let hash = blake3::hash(text.as_bytes()).to_hex();
    let tail: String = real.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let readable: String = tail.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(32).collect();
    format!("{readable}-{}", &hash[..12])
}

/// Returns the canonical path of a directory that may not exist: that of its deepest existing ancestor, and the rest.
pub fn real_path(path: &Path) -> PathBuf {
    for above in path.ancestors() {
        if let Ok(real) = above.canonicalize() {
            return path
                .strip_prefix(above)
                .map_or_else(|_| real.clone(), |rest| if rest.as_os_str().is_empty() { real.clone() } else { real.join(rest) });
        }
    }
    path.to_owned()
}
