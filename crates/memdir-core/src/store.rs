//! The seam to where memories are kept. A store never parses a memory and never knows the search index.

pub mod files;
pub mod space;
pub mod stop;

pub use crate::base::stamp::{Source, Stamp};
use crate::base::{
    error::{Error, Problem, Result},
    path::MemoryPath,
    version::Version,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Where memories are kept: one space of mounts, and the journal of every change to it.
///
/// The contract, which one test checks for every implementation:
/// - `get`, `list` and `stamps` of the store itself take no lock, create nothing and see every change that was acknowledged before they began.
/// - `change` is all or nothing: when it returns `Ok`, every file has its new bytes, durably, and the change is in the
///   journal; when it returns `Err`, every file has its old bytes. No other `change` of any process runs between the
///   first read of its view and its end.
/// - Bytes are never altered, whatever they are.
/// - Nothing outside the space is ever opened, listed or hinted at.
pub trait Store: View + Send + Sync {
    /// Makes one change. `touches` names what the plan may write (its mounts are locked, in one order for everybody);
    /// `plan` reads through the view, under the lock, and says what each file becomes.
    fn change(&self, intent: &Intent, touches: &[MemoryPath], plan: &mut Plan<'_>) -> Result<Change>;

    /// Changes, newest first, that fit the filter. Takes in what other programs did to the filter's path first.
    fn changes(&self, filter: &ChangeFilter) -> Result<Vec<Change>>;

    /// The bytes a file had at a version, from the journal or the file itself.
    fn text_at(&self, path: &MemoryPath, version: Version) -> Result<Option<Vec<u8>>>;

    /// Records the version another program left there, if the journal does not know it. Best effort, never waits.
    fn notice(&self, path: &MemoryPath);

    /// For each mount, in order, something that differs after every change a memdir process acknowledged there, at the
    /// price of one `stat`. Nothing where that cannot be told. Other programs do not move it.
    fn marks(&self) -> Vec<Option<Stamp>>;

    /// How much the journal holds.
    fn journal_size(&self) -> Result<JournalSize>;
}

/// What a change's plan is: reads the view, returns what each file becomes.
pub type Plan<'a> = dyn FnMut(&dyn View) -> Result<Vec<FileEdit>> + 'a;

/// What there is to see: the store at any moment, or what a plan sees under the lock.
pub trait View {
    /// The mounts of this space, in the order of their prefixes.
    fn mounts(&self) -> &[MountInfo];
    /// The memory of that name: the exact file name first, then the name with `.md`, names compared in NFC.
    fn get(&self, path: &MemoryPath) -> Result<Option<Stored>>;
    /// Every file under a prefix (`""`: all of the space), sorted by path.
    fn list(&self, under: &str) -> Result<Walk>;
    /// The stamps of files by their exact names, in the order asked; nothing for one that is not there.
    fn stamps(&self, paths: &[MemoryPath]) -> Result<Vec<Option<Stamp>>>;
    /// Whether a file may be changed at all; the error says why not.
    fn check_writable(&self, path: &MemoryPath) -> Result<()>;
}

/// A mount, as callers see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MountInfo {
    /// What its names begin with; empty for the unprefixed mount.
    pub prefix: String,
    /// Its directory.
    pub root: std::path::PathBuf,
    /// Whether memdir may write there.
    pub access: Access,
    /// Which source its memories are in searches.
    pub source: Source,
    /// Which entrypoint it keeps, if it keeps one.
    pub entrypoint: Entrypoint,
    /// By which rules its files are listed: two mounts of one directory with the same rules list the same files.
    #[serde(skip)]
    pub rules: String,
    /// Its files are read and searched, and listed by the mount's own prefix, but never among the rest of the space.
    pub apart: bool,
    /// If not empty, only these names and what lies under them are open: its entrypoint and whatever refers to its memories may
    /// lie outside.
    #[serde(skip)]
    pub part: Vec<String>,
}

/// Whether a mount may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Read and write.
    ReadWrite,
    /// Read only.
    ReadOnly,
}

/// Whether a mount keeps an entrypoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entrypoint {
    /// `MEMORY.md` (an existing `index.md` where there is no `MEMORY.md`) is kept in step with every save.
    Kept,
    /// One is read if it is there, none is ever written.
    Off,
}

/// A file as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its path in the space, as on disk: prefix, folders, extension.
    pub path: MemoryPath,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Their version.
    pub version: Version,
    /// What the file system says of it.
    pub stamp: Stamp,
}

/// One file of a walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its path in the space, as on disk in NFC: prefix, folders, extension.
    pub path: MemoryPath,
    /// What the file system says of it.
    pub stamp: Stamp,
}

/// The outcome of a walk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Walk {
    /// The files, sorted by path, each once. Temporary files and `.git` are never among them.
    pub entries: Vec<Entry>,
    /// The directories that were looked into, the root left out, sorted by path.
    pub folders: Vec<Entry>,
    /// What was met and could not be listed: refused names, links out, unreadable directories, collisions, with their place.
    pub problems: Vec<Problem>,
    /// Files left out because there were too many.
    pub left_out: usize,
}

/// What a caller expects to be there before a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// Whatever is there.
    Any,
    /// Nothing.
    Absent,
    /// Exactly this version.
    Is(Version),
}

impl Expect {
    /// Fails unless `found` is what was expected.
    pub fn check(self, path: &MemoryPath, found: Option<Version>) -> Result<()> {
        match (self, found) {
            (Expect::Absent, Some(_)) => Err(Error::Exists { path: path.clone() }),
            (Expect::Is(expected), found) if found != Some(expected) => Err(Error::Changed { path: path.clone(), expected, found }),
            _ => Ok(()),
        }
    }
}

/// What one file becomes in a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    /// The file, with its extension; an existing one as [`View::get`] named it.
    pub path: MemoryPath,
    /// Its new bytes, or nothing to remove it.
    pub bytes: Option<Vec<u8>>,
    /// What it is to the change.
    pub role: Role,
}

/// What a file is to a change. Undo treats them differently: a memory must be as the change left it,
/// an entrypoint may have gained other lines since.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// A memory.
    Memory,
    /// An entrypoint or one of its overflow pages.
    Entrypoint,
}

/// Why a change is made, by whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// Which verb.
    pub verb: Verb,
    /// Who.
    pub actor: Actor,
    /// When.
    pub at: Timestamp,
    /// The change this one takes back, or brings back.
    pub undoes: Option<ChangeId>,
}

/// Who makes a change.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Actor {
    /// A person or program: `ada`, `claude-code`.
    pub name: String,
    /// One conversation or connection of it, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// What kind of change it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verb {
    /// A memory was created or replaced.
    Write,
    /// Something was added at a memory's end.
    Append,
    /// A part of a memory was replaced.
    Edit,
    /// A memory got another name.
    Rename,
    /// A memory was removed.
    Delete,
    /// A change was taken back.
    Undo,
    /// An undone change was made again.
    Redo,
    /// An earlier version was brought back.
    Restore,
    /// The entrypoint was brought in step with the files.
    Repair,
    /// Memories came from elsewhere.
    Import,
    /// Another program changed the file; memdir met it later.
    Found,
}

impl Verb {
    /// The verb in the past tense, for lists of changes.
    pub fn past(self) -> &'static str {
        match self {
            Verb::Write => "wrote",
            Verb::Append => "appended to",
            Verb::Edit => "edited",
            Verb::Rename => "renamed",
            Verb::Delete => "deleted",
            Verb::Undo => "took back",
            Verb::Redo => "brought back",
            Verb::Restore => "restored",
            Verb::Repair => "repaired",
            Verb::Import => "imported",
            Verb::Found => "changed outside memdir",
        }
    }
}

/// A change's name: eight letters and digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ChangeId(pub String);

impl std::fmt::Display for ChangeId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// One change, as the journal tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Its name.
    pub id: ChangeId,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub actor: Actor,
    /// What.
    pub verb: Verb,
    /// The change it takes back or brings back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undoes: Option<ChangeId>,
    /// The files it touched.
    pub files: Vec<FileChange>,
    /// Directories it touched that are not in this space. Taking back a part of a change would lose what it moved there.
    /// Never told as they are: where others keep their memories is nobody's business.
    #[serde(skip)]
    pub elsewhere: Vec<std::path::PathBuf>,
}

/// What a change did to one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileChange {
    /// The file.
    pub path: MemoryPath,
    /// What it was to the change.
    pub role: Role,
    /// Its version before; nothing if it was not there.
    pub before: Option<Version>,
    /// Its version after; nothing if it was removed.
    pub after: Option<Version>,
}

/// Which changes are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangeFilter {
    /// Only those that touched this file.
    pub path: Option<MemoryPath>,
    /// Only the one whose id begins so.
    pub id: Option<String>,
    /// At most so many; 0 means all.
    pub most: usize,
}

/// How much a journal holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct JournalSize {
    /// Changes.
    pub changes: u64,
    /// Bytes on disk.
    pub bytes: u64,
}

/// Treats a file that is too large or unreadable as absent, for operations that go through all files.
pub(crate) fn if_readable(stored: Result<Option<Stored>>) -> Result<Option<Stored>> {
    match stored {
        Err(Error::Io { .. } | Error::TooLarge { .. }) => Ok(None),
        other => other,
    }
}
