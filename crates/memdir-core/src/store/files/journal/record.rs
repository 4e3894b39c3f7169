//! What a record of the journal says: the state, the change, and what it does to each file.

use crate::{
    base::version::Version,
    store::{Actor, Role, Verb},
};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The state of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordState {
    /// Recorded; its files may not be written yet.
    Open = 0,
    /// Applied: its files have the new content.
    Done = 1,
    /// Rolled back before it was acknowledged.
    Void = 2,
    /// Failed, and not rolled back yet.
    Failed = 3,
    /// The state is damaged; the record itself is not.
    Unknown = 4,
}

impl RecordState {
    /// Whether recovery has to check the files of the record before anything else is written.
    pub(crate) fn is_unsettled(self) -> bool {
        matches!(self, RecordState::Open | RecordState::Failed | RecordState::Unknown)
    }
}

/// One change in one mount.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JournalRecord {
    pub(crate) id: String,
    /// Milliseconds since 1970.
    pub(crate) at: i64,
    pub(crate) by: Actor,
    pub(crate) verb: Verb,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) undoes: Option<String>,
    pub(crate) files: Vec<FileRecord>,
    /// The hashes of the idempotency key and of its request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<(String, String)>,
    /// Roots of the other mounts the same change touches, in records of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) peers: Vec<PathBuf>,
    /// All parts of a change of several mounts, with this one; empty for a change of one mount.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) parts: Vec<ChangePart>,
    /// Whether compaction dropped other files of the change, or the text before it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) cut: bool,
}

impl JournalRecord {
    /// The roots of the mounts the change touches, which may include the record's own.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &Path> {
        self.peers.iter().map(PathBuf::as_path).chain(self.parts.iter().map(|part| part.root.as_path()))
    }
}

/// One mount of a change of several mounts: what a process needs to settle the change there without any other configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChangePart {
    /// The canonical root of the mount.
    #[serde(with = "path_bytes")]
    pub(crate) root: PathBuf,
    /// The directory of its journal.
    #[serde(with = "path_bytes")]
    pub(crate) journal: PathBuf,
    /// The directory whose lock protects the mount.
    #[serde(with = "path_bytes")]
    pub(crate) lock: PathBuf,
    /// Whether links that stay below the root are followed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) inside: bool,
    /// The directories into which links that lead out are followed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) links: Vec<PathBuf>,
    /// The inode of the root's directory; 0 in records of older versions. Not its device, whose number may change with a restart.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) inode: u64,
    /// Whether folders without files stay.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) keeps_folders: bool,
    /// What follows the id of the change in the names of this part's temporary files: two mounts may link to one directory.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) temps: String,
    /// Where the record of this part begins at the earliest; `None` in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) position: Option<LogPosition>,
}

/// The end of a journal before a change was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LogPosition {
    /// The random name of the log, which is another one after a compaction or a repair.
    pub(crate) log: u64,
    /// The offset of the next record.
    pub(crate) next: u64,
    /// The number of files with damaged bytes beside the log.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) damaged: u64,
}

/// Paths in JSON: a string, or the bytes of a path that is not UTF-8.
mod path_bytes {
    use serde::{Deserialize, Deserializer, Serialize as _, Serializer};
    use std::{
        ffi::OsString,
        os::unix::ffi::{OsStrExt as _, OsStringExt as _},
        path::{Path, PathBuf},
    };

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum PathOrBytes {
        Text(PathBuf),
        Bytes(Vec<u8>),
    }

    pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        match path.to_str() {
            Some(text) => text.serialize(serializer),
            None => path.as_os_str().as_bytes().serialize(serializer),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        Ok(match PathOrBytes::deserialize(deserializer)? {
            PathOrBytes::Text(path) => path,
            PathOrBytes::Bytes(bytes) => OsString::from_vec(bytes).into(),
        })
    }
}

/// What a change does to one file. Its new text is `before[..pre] + payload + before[len - suf..]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileRecord {
    /// Path in the mount.
    pub(crate) p: String,
    #[serde(rename = "r", default = "memory", skip_serializing_if = "is_memory")]
    pub(crate) role: Role,
    #[serde(rename = "b", default, skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<Version>,
    #[serde(rename = "a", default, skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<Version>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) pre: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) suf: u64,
    /// Bytes of payload.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) n: u64,
    /// The offset of the previous record of the same file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) prev: Option<u64>,
    /// The number of records back to the last complete text.
    #[serde(default, skip_serializing_if = "is_zero32")]
    pub(crate) depth: u32,
    /// How the old text follows from the new one, so that a version is found from both sides of a damaged record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) back: Option<BackDifference>,
    /// Whether the text after the change was forgotten.
    #[serde(rename = "f", default, skip_serializing_if = "is_false")]
    pub(crate) forgotten: bool,
}

impl FileRecord {
    /// The bytes of its payload: those of the new text, then those of the old one.
    pub(super) fn payload_len(&self) -> u64 {
        self.n + self.back.as_ref().map_or(0, |back| back.n)
    }
}

/// The old text is `after[..pre] + payload + after[len - suf..]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BackDifference {
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) pre: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) suf: u64,
    /// Bytes of payload, after those of the new text.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) n: u64,
}

fn memory() -> Role {
    Role::Memory
}
fn is_memory(role: &Role) -> bool {
    *role == Role::Memory
}
fn is_false(flag: &bool) -> bool {
    !flag
}
fn is_zero(n: &u64) -> bool {
    *n == 0
}
fn is_zero32(n: &u32) -> bool {
    *n == 0
}
