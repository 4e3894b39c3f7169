//! What can go wrong, named for what the caller does next. Never carries a secret's value.

use crate::base::{path::MemoryPath, version::Version};
use std::{io, path::PathBuf};

/// The result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong. `Display` says what happened; [`Error::hint`] says what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such memory.
    #[error("there is no memory named {path:?}")]
    NotFound {
        /// The name that was asked for.
        path: String,
        /// Names that exist and look like it, best first.
        near: Vec<String>,
    },
    /// There is no such kept conversation.
    #[error("no kept chat has the id {id:?}")]
    NoChat {
        /// The id that was asked for.
        id: String,
    },
    /// The memory is not what the caller last saw.
    #[error("{path} has changed: expected version {expected}, found {}", found.map_or_else(|| "no such memory".to_owned(), |v| v.to_string()))]
    Changed {
        /// The memory.
        path: MemoryPath,
        /// What the caller expected.
        expected: Version,
        /// What is there.
        found: Option<Version>,
    },
    /// The memory was changed after the change that was to be taken back.
    #[error("{path} was changed since; taking this back would lose that:\n{diff}")]
    Conflict {
        /// The memory.
        path: MemoryPath,
        /// From what the change left to what is there now.
        diff: String,
    },
    /// There is no such change or version, or it cannot be taken back or brought back now.
    #[error("{why}")]
    NoChange {
        /// Why, with its id.
        why: String,
    },
    /// A memory of that name is already there.
    #[error("{path} exists already")]
    Exists {
        /// The memory.
        path: MemoryPath,
    },
    /// The name can never be a memory's name.
    #[error("{path:?} cannot be a memory's name: {why}")]
    BadPath {
        /// What was given.
        path: String,
        /// Why, and what would be accepted.
        why: String,
    },
    /// The edit does not fit the text.
    #[error("{why}")]
    BadEdit {
        /// Why, with counts.
        why: String,
    },
    /// An argument is out of its range or form.
    #[error("{what}: {why}")]
    BadInput {
        /// Which argument.
        what: String,
        /// What is wrong and what would be accepted.
        why: String,
    },
    /// Larger than its limit.
    #[error("{what} has {size} bytes; the limit is {limit}")]
    TooLarge {
        /// What is too large.
        what: String,
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The memory, or its mount, may not be changed.
    #[error("{path} is read-only: {why}")]
    ReadOnly {
        /// The memory or mount.
        path: String,
        /// What makes it so.
        why: String,
    },
    /// The text would add a secret.
    #[error("line {line} looks like a secret ({rule})")]
    Secret {
        /// The rule's name, never the value.
        rule: String,
        /// The line of the new text.
        line: u64,
    },
    /// Somebody else holds the lock for longer than we wait.
    #[error("{path} is busy: another process has held its lock for {waited_secs} s")]
    Busy {
        /// The mount.
        path: PathBuf,
        /// How long we waited.
        waited_secs: u64,
    },
    /// Something memdir needs is not there now.
    #[error("{what}: {why}")]
    Unavailable {
        /// What.
        what: String,
        /// Why, and how to get it.
        why: String,
    },
    /// Derived or recorded data is damaged.
    #[error("{what} is damaged: {why}")]
    Corrupt {
        /// What.
        what: String,
        /// In which way.
        why: String,
    },
    /// The operating system refused.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What we were doing, as a verb.
        doing: &'static str,
        /// On which file.
        path: PathBuf,
        /// The system's own words.
        source: io::Error,
    },
}

/// Who has to act on an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acts {
    /// Whoever made the call can mend it by calling differently.
    Caller,
    /// A person has to do something: free space, change a permission, a setting.
    Person,
    /// Nobody: the same call may succeed later.
    Time,
}

impl Error {
    /// Makes an [`Error::Io`].
    pub fn io(doing: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Error::Io { doing, path: path.into(), source }
    }

    /// Makes an [`Error::BadPath`].
    pub fn bad_path(path: impl Into<String>, why: impl Into<String>) -> Self {
        Error::BadPath { path: path.into(), why: why.into() }
    }

    /// Makes an [`Error::NoChange`].
    pub fn no_change(why: impl Into<String>) -> Self {
        Error::NoChange { why: why.into() }
    }

    /// Makes an [`Error::BadInput`].
    pub fn bad_input(what: impl Into<String>, why: impl Into<String>) -> Self {
        Error::BadInput { what: what.into(), why: why.into() }
    }

    /// The one word programs switch on (`--json`, tool results).
    pub fn code(&self) -> &'static str {
        match self {
            Error::NotFound { .. } | Error::NoChat { .. } => "not_found",
            Error::Changed { .. } | Error::Conflict { .. } => "changed",
            Error::NoChange { .. } => "no_change",
            Error::Exists { .. } => "exists",
            Error::BadPath { .. } => "bad_path",
            Error::BadEdit { .. } => "bad_edit",
            Error::BadInput { .. } => "bad_input",
            Error::TooLarge { .. } => "too_large",
            Error::ReadOnly { .. } => "read_only",
            Error::Secret { .. } => "secret",
            Error::Busy { .. } => "busy",
            Error::Unavailable { .. } => "unavailable",
            Error::Corrupt { .. } => "corrupt",
            Error::Io { .. } => "io",
        }
    }

    /// Who must act: decides the exit code and whether a model is told to try again.
    pub fn acts(&self) -> Acts {
        match self {
            Error::NotFound { .. }
            | Error::NoChat { .. }
            | Error::Changed { .. }
            | Error::Conflict { .. }
            | Error::NoChange { .. }
            | Error::Exists { .. }
            | Error::BadPath { .. }
            | Error::BadEdit { .. }
            | Error::BadInput { .. }
            | Error::TooLarge { .. }
            | Error::Secret { .. } => Acts::Caller,
            Error::ReadOnly { .. } | Error::Unavailable { .. } | Error::Corrupt { .. } | Error::Io { .. } => Acts::Person,
            Error::Busy { .. } => Acts::Time,
        }
    }

    /// The next action, in one sentence.
    pub fn hint(&self) -> String {
        match self {
            Error::NotFound { near, .. } if near.is_empty() => "List the names that exist, then read one of them.".into(),
            Error::NotFound { near, .. } => format!("Did you mean {}?", near.join(", ")),
            Error::NoChat { .. } => "memdir chats lists the conversations there are; memdir chats sync takes in new ones.".into(),
            Error::Changed { .. } => "Read it again, then make the change on what is there now.".into(),
            Error::Conflict { .. } => "Take the newer changes back first, or restore an earlier version on purpose.".into(),
            Error::NoChange { .. } => "Look at the history: it lists changes with their ids, and the versions of a memory.".into(),
            Error::Exists { .. } => "Choose another name, or replace or append to it on purpose.".into(),
            Error::BadPath { .. } => "Use a relative name such as notes/deploy.".into(),
            Error::BadEdit { .. } => "Read the memory and give a text that occurs in it exactly once, or ask for all of them.".into(),
            Error::BadInput { .. } => "Call again with another value.".into(),
            Error::TooLarge { .. } => "Split it into several memories.".into(),
            Error::ReadOnly { .. } => "Write to another name, or change the mount's setting.".into(),
            Error::Secret { .. } => "Leave the value out and say where it is kept instead.".into(),
            Error::Busy { .. } => "Try again in a moment; if it stays busy, look for a stopped process.".into(),
            Error::Unavailable { .. } | Error::Corrupt { .. } => "Nothing was changed; see the reason above.".into(),
            Error::Io { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                    "Nothing was changed. Free some space, then try again.".into()
                }
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    "Nothing was changed. Check the permissions of that file and its directory.".into()
                }
                _ => "Nothing was changed.".into(),
            },
        }
    }
}

/// Something wrong in a file a person wrote, reported beside the result, never instead of it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    /// The line it is on, 1-based, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What is wrong, in words.
    pub what: String,
}

impl Problem {
    /// A problem on one line.
    pub fn at(line: u64, what: impl Into<String>) -> Self {
        Problem { line: Some(line), what: what.into() }
    }

    /// A problem of the whole file.
    pub fn whole(what: impl Into<String>) -> Self {
        Problem { line: None, what: what.into() }
    }
}
