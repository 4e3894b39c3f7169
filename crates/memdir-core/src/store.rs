//! The [`Store`] trait: where memories are stored. A store never parses a memory and does not know the search index.

mod collisions;
pub mod confirmation;
pub mod files;
pub mod mount;
pub mod mounts;
mod proposals;
mod requests;
pub mod rules;
pub mod space;
pub mod stop;

pub use crate::base::stamp::{Source, Stamp};
use crate::base::{
    error::{Error, Problem, Result},
    path::MemoryPath,
    version::Version,
};
use crate::memory::phrase::Phrase;
use confirmation::Confirmation;
use jiff::Timestamp;
pub use proposals::{Proposal, ProposalDecision, ProposalFilter, ProposalState, ProposalStore, ProposedFile};
pub use requests::{ChangeCursor, IdempotencyKey};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use stop::Stop;

/// A store of memories: one space of mounts, and the journal of every change to it.
///
/// The contract, which one test checks for every implementation:
/// - `get`, `list` and `stamps` of the store itself take no lock, create nothing and see every change that was acknowledged
///   before they began.
/// - `change` is all or nothing: when it returns `Ok`, every file has its new bytes, durably, and the change is in the
///   journal; when it returns `Err`, every file has its old bytes. No other `change` of any process runs between the
///   first read of its view and its end.
/// - `change` may call its plan several times, for example to retry a transaction. Only the last call counts.
/// - Bytes are never altered, whatever they are.
/// - Nothing outside the space is ever opened, listed or mentioned.
/// - A change whose intent has a key is made once for the key, however often and however concurrently it is asked for: a repeated one
///   returns the change that was made, and its plan is not called. A change that fails releases its key. How long keys are remembered is up
///   to the store.
/// - After its [`Stop`] is set, a handle fails at the next read; a change whose plan has not been applied yet is not made.
pub trait Store: View + Send + Sync {
    /// Makes one change. `touches` names the files the plan may write: their mounts are locked, always in the same order.
    /// `plan` reads through the view, under the lock, and returns the new content of each file. See [`change_with`] for plans that
    /// return more.
    fn change(&self, intent: &Intent, touches: &[MemoryPath], plan: &mut Plan<'_>) -> Result<Change>;

    /// Returns the changes that match the filter, newest first. First records what other programs did to the filter's path.
    fn changes(&self, filter: &ChangeFilter) -> Result<Vec<Change>>;

    /// Returns the changes after a cursor, oldest first, at most `most` (at least 1), with the cursor after the last of them. Without a
    /// cursor, starts with the oldest change. Every change is returned once, however many stores and processes make changes meanwhile.
    /// The order is that of each directory or namespace; between two of them it is that of time, as far as one page shows it.
    /// Fails with [`ChangeCursor::expired`] if the history no longer has the place.
    fn changes_since(&self, after: Option<&ChangeCursor>, most: usize) -> Result<ChangePage>;

    /// Returns the cursor after the newest change.
    fn newest_cursor(&self) -> Result<ChangeCursor>;

    /// Returns the bytes a file had at a version, from the journal or the file itself.
    fn text_at(&self, path: &MemoryPath, version: Version) -> Result<Option<Vec<u8>>>;

    /// Returns the number of versions and names in the history that have the words.
    fn count_in_history(&self, phrase: &Phrase) -> Result<usize> {
        let _ = phrase;
        Ok(0)
    }

    /// Removes the texts and names that have the words from the history, and returns their number. The changes stay; asking for a
    /// removed version is an error that says so. This cannot be undone.
    fn forget_in_history(&self, phrase: &Phrase) -> Result<usize> {
        let _ = phrase;
        Ok(0)
    }

    /// Records the version another program wrote, if the journal does not have it. Best effort, never waits.
    fn notice(&self, path: &MemoryPath);

    /// Records what other programs did to the files in the journal: changed, removed and renamed ones, each as a change of its own.
    /// Costs one `stat` per file; only files with a new stamp are read. `now` is the current time. Without `wait`, a mount that
    /// another process is changing is skipped. A store without other writers does nothing.
    fn record_outside_changes(&self, now: Timestamp, wait: bool) -> Result<()> {
        let _ = (now, wait);
        Ok(())
    }

    /// Returns, for each mount in order, a stamp that differs after every change a memdir process acknowledged there, at the
    /// cost of one `stat`; `None` if there is none. Changes by other programs do not affect it.
    fn marks(&self) -> Vec<Option<Stamp>>;

    /// Returns the size of the journal.
    fn journal_size(&self) -> Result<JournalSize>;

    /// Sets the modification times of files that have these versions; others are left as they are. The journal does not record it.
    fn set_modified(&self, files: &[(MemoryPath, Version, Timestamp)]) -> Result<()> {
        let _ = files;
        Ok(())
    }

    /// Creates folders, and removes folders without files, with the folders below them. The journal does not record it: a folder
    /// without files holds no memory. A store without folders does nothing.
    fn change_folders(&self, make: &[MemoryPath], remove: &[MemoryPath]) -> Result<()> {
        let _ = (make, remove);
        Ok(())
    }

    /// Returns the number of damaged records of the journal that this handle met. Everything else in the journal is usable.
    fn damaged_records(&self) -> u64 {
        0
    }

    /// Returns a handle of the same store for one call that can be cancelled.
    fn with_stop(&self, stop: &Stop) -> Arc<dyn Store>;

    /// Returns a handle of the same store for one call of a caller whose permissions were not looked up: its first read does so in its own
    /// transaction. It records the result in `confirmation`, and fails if they have changed. Returns `None` if the store has no such
    /// caller.
    fn confirming(&self, _confirmation: &Confirmation) -> Option<Arc<dyn Store>> {
        None
    }

    /// Returns the numbered changes of the store, or `None` if other programs can change its files too: then only a listing shows what
    /// has changed.
    fn sequence(&self) -> Option<&dyn ChangeSequence> {
        None
    }

    /// Returns the proposed changes of the store, or `None` if it makes every change at once. In a store with proposals, [`Store::change`]
    /// may fail with [`Error::Proposed`]: then nothing is changed, and the change waits for review.
    fn proposals(&self) -> Option<&dyn ProposalStore> {
        None
    }
}

/// The numbered changes of a store to which only memdir writes. Its stamps are exact: they differ after every change of a file.
pub trait ChangeSequence {
    /// Returns what changed in mounts since positions, each mount given by its prefix. One cheap request if nothing has changed. A mount
    /// without a position must be listed.
    fn changed_since(&self, known: &[(&str, Option<SequencePosition>)]) -> Result<Vec<MountChanges>>;

    /// Lists the files of the mount with this prefix, sorted by path, at a position.
    fn list_mount(&self, prefix: &str) -> Result<(SequencePosition, Vec<Entry>)>;

    /// Calls `wake` soon after a process has changed one of the mounts, until the returned guard is dropped. Only a hint: it may be late
    /// or missing, or come for nothing. `None` if there are no hints.
    fn on_change(&self, wake: Arc<dyn Fn() + Send + Sync>) -> Option<Box<dyn Send>> {
        let _ = wake;
        None
    }
}

/// A position in the changes of a mount.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SequencePosition {
    /// The number of the last change; 0 before the first one.
    pub sequence: u64,
    /// When the store recorded that change, in microseconds. A store that was restored from a backup may use a number again.
    pub recorded_us: i64,
}

/// What changed in a mount since a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountChanges {
    /// The position now.
    pub position: SequencePosition,
    /// The changed files in no particular order, each with its stamp at that position, or `None` if it was removed. `None` if the mount
    /// must be listed: the earlier position is not known, or too much has changed since.
    pub files: Option<Vec<(MemoryPath, Option<Stamp>)>>,
}

/// Applies changed files to a list of files that is sorted by path.
pub(crate) fn apply_changes(entries: &mut Vec<Entry>, changed: Vec<(MemoryPath, Option<Stamp>)>) {
    for (path, stamp) in changed {
        match (entries.binary_search_by(|entry| entry.path.cmp(&path)), stamp) {
            (Ok(at), Some(stamp)) => entries[at].stamp = stamp,
            (Ok(at), None) => drop(entries.remove(at)),
            (Err(at), Some(stamp)) => entries.insert(at, Entry { path, stamp }),
            (Err(_), None) => {}
        }
    }
}

/// Returns the number of files that are read at a time: one from a disk, several from a store to which each read is a round trip.
pub(crate) fn read_ahead(store: &dyn Store) -> usize {
    if store.sequence().is_some() { READ_AHEAD } else { 1 }
}

/// Enough to make round trips rare, few enough to bound what is in memory at a time.
const READ_AHEAD: usize = 64;

/// The plan of a change: reads the view and returns the new content of each file.
pub type Plan<'a> = dyn FnMut(&dyn View) -> Result<Vec<FileEdit>> + 'a;

/// Makes one change whose plan also returns a value. Like every plan, it may be called several times; the value of the last call,
/// whose edits were applied, is returned. A change that was made earlier for the same key is [`Error::Repeated`].
pub fn change_with<T>(
    store: &dyn Store,
    intent: &Intent,
    touches: &[MemoryPath],
    mut plan: impl FnMut(&dyn View) -> Result<(Vec<FileEdit>, T)>,
) -> Result<(Change, T)> {
    let mut value = None;
    let change = store.change(intent, touches, &mut |view| {
        let (edits, planned) = plan(view)?;
        value = Some(planned);
        Ok(edits)
    })?;
    let value = value.ok_or_else(|| Error::Repeated { change: change.id.to_string() })?;
    Ok((change, value))
}

/// Read access: the store at any moment, or what a plan reads under the lock.
pub trait View {
    /// The mounts of this space, ordered by prefix.
    fn mounts(&self) -> &[MountInfo];
    /// Reads the memory of that name: the exact file name first, then the name with `.md`, names compared in NFC.
    fn get(&self, path: &MemoryPath) -> Result<Option<Stored>>;
    /// Reads several memories, in the given order, as [`View::get`] does. A store that is not on this machine answers them together.
    fn get_many(&self, paths: &[MemoryPath]) -> Result<Vec<Option<Stored>>> {
        paths.iter().map(|path| self.get(path)).collect()
    }
    /// Lists every file under a prefix (`""`: the whole space), sorted by path.
    fn list(&self, under: &str) -> Result<Walk>;
    /// Returns the stamps of files by their exact names, in the given order; `None` for a file that does not exist.
    fn stamps(&self, paths: &[MemoryPath]) -> Result<Vec<Option<Stamp>>>;
    /// Returns the version and the size in bytes of the last text that the journal has of the file of exactly this name, even if it
    /// was removed since.
    fn last_recorded(&self, path: &MemoryPath) -> Result<Option<(Version, u64)>> {
        let _ = path;
        Ok(None)
    }
    /// Fails if the file may not be changed; the error gives the reason.
    fn check_writable(&self, path: &MemoryPath) -> Result<()>;
    /// Whether one change can have both files. A change that waits for review has the files of one mount only.
    fn can_change_together(&self, one: &MemoryPath, other: &MemoryPath) -> Result<bool> {
        let _ = (one, other);
        Ok(true)
    }
    /// Fails if the call was cancelled. Loops that take long between two reads call it.
    fn check_stopped(&self) -> Result<()> {
        Ok(())
    }
}

/// A mount, as callers see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MountInfo {
    /// The prefix of its names; empty for the unprefixed mount.
    pub prefix: String,
    /// Its directory.
    pub root: std::path::PathBuf,
    /// Whether memdir may write there.
    pub access: Access,
    /// The source class of its memories in searches.
    pub source: Source,
    /// Whether memdir maintains an entrypoint in it.
    pub entrypoint: EntrypointMode,
    /// A fingerprint of the rules for listing: two mounts of one directory with the same rules list the same files.
    #[serde(skip)]
    pub rules: String,
    /// Whether its files are listed only by the mount's own prefix and never with the rest of the space. They are read and searched.
    pub apart: bool,
    /// If not empty, only these names and what lies under them are accessible. The entrypoint and references to the memories may lie
    /// outside.
    #[serde(skip)]
    pub part: Vec<String>,
    /// Whether other people write it too: its texts are marked as data wherever memdir adds them to a conversation.
    #[serde(skip)]
    pub is_foreign: bool,
    /// The size in bytes of the largest file that is written.
    #[serde(skip)]
    pub file_bytes: usize,
}

/// Whether a mount is writable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Read and write.
    ReadWrite,
    /// Read only.
    ReadOnly,
}

/// Whether memdir maintains an entrypoint in a mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntrypointMode {
    /// `MEMORY.md` (or an existing `index.md` without a `MEMORY.md`) is updated with every save.
    Kept,
    /// An existing entrypoint is read; none is ever written.
    Off,
}

/// A file with its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The path in the space, as on disk: prefix, folders, extension.
    pub path: MemoryPath,
    /// The content.
    pub bytes: Vec<u8>,
    /// The version of the content.
    pub version: Version,
    /// The metadata from the file system.
    pub stamp: Stamp,
}

/// One file of a walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The path in the space, as on disk in NFC: prefix, folders, extension.
    pub path: MemoryPath,
    /// The metadata from the file system.
    pub stamp: Stamp,
}

/// The result of a walk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Walk {
    /// The files, sorted by path, without duplicates. Temporary files and `.git` are never included.
    pub entries: Vec<Entry>,
    /// The visited directories that are not hidden, without the root, sorted by path.
    pub folders: Vec<Entry>,
    /// Why files could not be listed: invalid names, links that lead out, unreadable directories, name collisions.
    pub problems: Vec<Problem>,
    /// The directories, with their prefix, whose files are missing here because they could not be read. Each has a problem too.
    pub unlisted: Vec<String>,
    /// The number of files omitted because there were too many.
    pub left_out: usize,
}

/// What must exist before a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// Anything or nothing.
    Any,
    /// Nothing.
    Absent,
    /// Exactly this version.
    Is(Version),
}

impl Expect {
    /// Fails unless `found` is the expected version.
    pub fn check(self, path: &MemoryPath, found: Option<Version>) -> Result<()> {
        match (self, found) {
            (Expect::Absent, Some(_)) => Err(Error::Exists { path: path.clone() }),
            (Expect::Is(expected), found) if found != Some(expected) => Err(Error::Changed { path: path.clone(), expected, found }),
            _ => Ok(()),
        }
    }
}

/// The new content of one file in a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    /// The file, with its extension; an existing one as [`View::get`] named it.
    pub path: MemoryPath,
    /// The new content, or `None` to remove the file.
    pub bytes: Option<Vec<u8>>,
    /// The role of the file in the change.
    pub role: Role,
}

impl FileEdit {
    /// Saves a memory.
    pub fn save(path: MemoryPath, bytes: Vec<u8>) -> Self {
        FileEdit { path, bytes: Some(bytes), role: Role::Memory }
    }

    /// Removes a memory.
    pub fn remove(path: MemoryPath) -> Self {
        FileEdit { path, bytes: None, role: Role::Memory }
    }
}

/// The role of a file in a change. Undo treats them differently: a memory must be unchanged since, an entrypoint may have other
/// new lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// A memory.
    Memory,
    /// An entrypoint or one of its overflow pages.
    Entrypoint,
}

/// The metadata of a change that is about to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// The kind of change.
    pub verb: Verb,
    /// Who.
    pub actor: Actor,
    /// When.
    pub at: Timestamp,
    /// The change this one undoes or redoes.
    pub undoes: Option<ChangeId>,
    /// The key of the request, if the change is made once for it.
    pub key: Option<IdempotencyKey>,
}

/// The author of a change.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Actor {
    /// A person or program: `ada`, `claude-code`.
    pub name: String,
    /// The conversation or connection, if the actor has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verb {
    /// A memory was created or replaced.
    Write,
    /// A text was appended to a memory.
    Append,
    /// A part of a memory was replaced.
    Edit,
    /// A memory was renamed.
    Rename,
    /// A memory was removed.
    Delete,
    /// A change was undone.
    Undo,
    /// An undone change was redone.
    Redo,
    /// An earlier version was restored.
    Restore,
    /// Missing lines were added to the entrypoint.
    Repair,
    /// Memories were imported.
    Import,
    /// Words were redacted everywhere; it cannot be undone.
    Forget,
    /// A plan to tidy the memory was applied.
    Dream,
    /// Another program changed the file; memdir recorded it later.
    Found,
    /// Candidates were added to the inbox. Bare undo and the history of a space omit it.
    Propose,
}

impl Verb {
    /// The verb in the past tense, for lists of changes.
    pub fn past_tense(self) -> &'static str {
        match self {
            Verb::Write => "wrote",
            Verb::Append => "appended to",
            Verb::Edit => "edited",
            Verb::Rename => "renamed",
            Verb::Delete => "deleted",
            Verb::Undo => "undid",
            Verb::Redo => "redid",
            Verb::Restore => "restored",
            Verb::Repair => "repaired",
            Verb::Import => "imported",
            Verb::Forget => "forgot words in",
            Verb::Dream => "tidied",
            Verb::Found => "changed outside memdir",
            Verb::Propose => "proposed",
        }
    }

    /// The verb in the infinitive, for what is undone or redone.
    pub fn infinitive(self) -> &'static str {
        match self {
            Verb::Write => "write",
            Verb::Append => "append to",
            Verb::Edit => "edit",
            Verb::Rename => "rename",
            Verb::Delete => "delete",
            Verb::Undo => "undo",
            Verb::Redo => "redo",
            Verb::Restore => "restore",
            Verb::Repair => "repair",
            Verb::Import => "import",
            Verb::Forget => "forget words in",
            Verb::Dream => "tidy",
            Verb::Found => "changed outside memdir",
            Verb::Propose => "propose",
        }
    }
}

/// The id of a change: eight letters and digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ChangeId(pub String);

impl ChangeId {
    /// Generates an id. 40 random bits: a store checks that no other change has it.
    pub fn generate() -> Result<ChangeId> {
        const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|e| Error::unavailable("random numbers", e.to_string()))?;
        Ok(ChangeId(random.iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect()))
    }
}

impl std::fmt::Display for ChangeId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A recorded change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The id.
    pub id: ChangeId,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub actor: Actor,
    /// What.
    pub verb: Verb,
    /// The change it undoes or redoes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undoes: Option<ChangeId>,
    /// The reviewer who accepted it, if it was proposed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviewer: Option<String>,
    /// The files it changed.
    pub files: Vec<FileChange>,
    /// Directories it changed that are not in this space. Undoing only a part of a change would lose what it moved there. Never
    /// serialized: the paths of other users' memories are private.
    #[serde(skip)]
    pub elsewhere: Vec<std::path::PathBuf>,
    /// Whether memories of the change are hidden in this space, or their record was dropped or damaged. Such a change is not undone.
    #[serde(skip)]
    pub incomplete: bool,
    /// Whether a newer record of the same mount is damaged, so that this change may not be the newest.
    #[serde(skip)]
    pub after_damage: bool,
}

/// How a change affected one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileChange {
    /// The file.
    pub path: MemoryPath,
    /// The role of the file in the change.
    pub role: Role,
    /// The version before; `None` if the file did not exist.
    pub before: Option<Version>,
    /// The version after; `None` if the file was removed.
    pub after: Option<Version>,
}

/// Changes in the order in which they were made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangePage {
    /// The changes, oldest first, each with the place after it.
    pub changes: Vec<(Change, ChangeCursor)>,
    /// The place after all of them.
    pub next: ChangeCursor,
}

/// Selects changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangeFilter {
    /// Only changes of this file.
    pub path: Option<MemoryPath>,
    /// Only changes whose id begins with this.
    pub id: Option<String>,
    /// The maximum number; 0 means all.
    pub most: usize,
}

/// The size of a journal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct JournalSize {
    /// Changes.
    pub changes: u64,
    /// Bytes on disk.
    pub bytes: u64,
    /// Damaged records, which are not counted as changes.
    #[serde(skip_serializing_if = "is_zero")]
    pub damaged: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Treats a file that is too large or unreadable as absent, for operations that go through all files.
pub fn if_readable(stored: Result<Option<Stored>>) -> Result<Option<Stored>> {
    match stored {
        Err(Error::Io { .. } | Error::TooLarge { .. }) => Ok(None),
        other => other,
    }
}
