//! Every error of the crate, named for what happened, with what the caller does next. An error never contains the value of a secret.

use crate::base::{
    limits,
    path::{InvalidName, MemoryPath, memory_name, strip_md},
    shell::name_command,
    version::Version,
};
use std::{io, path::PathBuf};

/// The result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong. `Display` describes what happened; [`Error::hint`] and [`Error::command_hint`] name the next
/// action.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The memory does not exist.
    #[error("memory {:?} not found", memory_name(path))]
    NotFound {
        /// The requested name.
        path: String,
        /// Similar names that exist, best first.
        near: Vec<String>,
    },
    /// The candidate does not exist.
    #[error("candidate {:?} not found", memory_name(name))]
    NoCandidate {
        /// The requested name.
        name: String,
        /// Similar names that exist, best first.
        near: Vec<String>,
    },
    /// The stored conversation does not exist.
    #[error("conversation {id:?} not found")]
    NoChat {
        /// The requested id.
        id: String,
    },
    /// The memory does not have the version the caller expects.
    #[error("memory {:?} {}", path.name(), difference(expected, found.as_ref()))]
    Changed {
        /// The memory.
        path: MemoryPath,
        /// The expected version.
        expected: Version,
        /// The current version, or `None` if the memory does not exist.
        found: Option<Version>,
    },
    /// The memory was changed after the change that is to be undone.
    #[error("memory {:?} has newer changes that would be overwritten:\n{diff}", path.name())]
    Conflict {
        /// The memory.
        path: MemoryPath,
        /// The difference between the text after the change and the current text.
        diff: String,
    },
    /// The change or version does not exist, or cannot be undone or restored now.
    #[error("{why}")]
    NoChange {
        /// The reason, with its id.
        why: String,
        /// Whether the id of the change or version is unknown or ambiguous.
        is_unknown: bool,
    },
    /// The change was undone before.
    #[error("change {change} is already undone")]
    AlreadyUndone {
        /// The id of the change.
        change: String,
    },
    /// The candidate was rejected before.
    #[error("candidate {:?} is already rejected", memory_name(name))]
    AlreadyRejected {
        /// The candidate.
        name: String,
    },
    /// A request with the same idempotency key was carried out already.
    #[error("the request with this idempotency key was already carried out as change {change}")]
    Repeated {
        /// The id of the change.
        change: String,
    },
    /// The namespace is under review: the change was not made, but stored as a proposal.
    #[error("the change was proposed as {id} ({what}) and {state}")]
    Proposed {
        /// The id of the proposal.
        id: String,
        /// What it would do.
        what: String,
        /// Its state, as in `is waiting for review`.
        state: String,
        /// Whether a reviewer can still accept it.
        is_open: bool,
        /// Whether an earlier request with the same idempotency key proposed it.
        is_repeated: bool,
    },
    /// The proposal does not exist, or the caller may not see it.
    #[error("proposal {id:?} not found")]
    NoProposal {
        /// The requested id.
        id: String,
    },
    /// A rule of the review does not allow it.
    #[error("{why}")]
    Review {
        /// The reason.
        why: String,
        /// Whether the reason says what to do next.
        names_step: bool,
    },
    /// The caller is not a reviewer.
    #[error("only a reviewer can accept or reject proposals")]
    NotReviewer,
    /// What the caller's access depends on was removed while the change waited.
    #[error("the change was not made: {what} was removed")]
    Removed {
        /// What was removed, such as `the tenant`.
        what: String,
    },
    /// The proposal cannot be accepted, because a memory has changed since.
    #[error("memory {:?} has been modified since the change was proposed", path.name())]
    OutdatedProposal {
        /// The memory.
        path: MemoryPath,
    },
    /// The memory exists already.
    #[error("memory {:?} already exists", path.name())]
    Exists {
        /// The memory.
        path: MemoryPath,
    },
    /// The name is not a valid memory name here.
    #[error("invalid memory name {path:?}: {why}")]
    BadPath {
        /// The rejected name.
        path: String,
        /// The reason, with what would be accepted.
        why: String,
        /// Which kind of reason.
        problem: NameProblem,
    },
    /// The edit does not fit the text.
    #[error("{why}")]
    BadEdit {
        /// The reason, with counts.
        why: String,
        /// Which kind of reason.
        problem: EditProblem,
    },
    /// An argument is out of range or malformed.
    #[error("{what}: {why}")]
    BadInput {
        /// The argument.
        what: String,
        /// What is wrong and what would be accepted.
        why: String,
    },
    /// Larger than its limit.
    #[error("{what} is {size} bytes; the limit is {limit}")]
    TooLarge {
        /// What is too large.
        what: String,
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The reason of a review is longer than its limit.
    #[error("reason is {size} bytes; the limit is {limit}")]
    ReasonTooLong {
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The tenant may not store more.
    #[error("the change exceeds the tenant's quota of {limit}")]
    QuotaExceeded {
        /// The quota, such as `1000 memories`.
        limit: String,
    },
    /// The memory or its mount is read-only.
    #[error("cannot write {:?}: {why}", memory_name(path))]
    ReadOnly {
        /// The memory or mount.
        path: String,
        /// What makes it read-only.
        why: String,
        /// Which kind of reason.
        cause: ReadOnlyCause,
    },
    /// The text would add a secret.
    #[error("line {line} contains what looks like a secret ({rule})")]
    Secret {
        /// The rule's name, never the value.
        rule: String,
        /// The line of the new text.
        line: u64,
    },
    /// Another process has held the lock for longer than the time limit.
    #[error("{path:?} is locked by {} (waited {waited_secs} s)", holder.as_deref().unwrap_or("another process"))]
    Busy {
        /// The locked directory.
        path: PathBuf,
        /// The time limit.
        waited_secs: u64,
        /// The process that holds the lock, with its id and name, if the system reports it.
        holder: Option<String>,
    },
    /// Something that is needed is not available now.
    #[error("{}", sentence(what, why))]
    Unavailable {
        /// What.
        what: String,
        /// Why, and how to get it.
        why: String,
        /// Which kind of reason.
        cause: UnavailableCause,
    },
    /// An earlier version is no longer stored.
    #[error("{what} is no longer in the journal")]
    NotKept {
        /// The version, such as `version 1a2b3c of notes/deploy`.
        what: String,
    },
    /// The change may have been made: the connection was lost before the result arrived.
    #[error("cannot tell whether change {change} was made: {why}")]
    Uncertain {
        /// The id of the change.
        change: String,
        /// Why the result is unknown.
        why: String,
    },
    /// Derived or recorded data is damaged.
    #[error("{what} is damaged: {why}")]
    Corrupt {
        /// What.
        what: String,
        /// In which way.
        why: String,
        /// Whether the reason says what to do next.
        names_step: bool,
    },
    /// The space has no team memory, which the request needs.
    #[error("{message}")]
    NoTeam {
        /// The message, such as "this space has no team memory".
        message: String,
        /// The command that creates it.
        command: String,
    },
    /// The operating system reported an error.
    #[error("cannot {doing} {path:?}: {source}")]
    Io {
        /// The attempted action, as a verb.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl From<InvalidName> for Error {
    fn from(error: InvalidName) -> Self {
        Error::explained_path(error.name, error.why)
    }
}

/// Why a name cannot be used: the hints depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameProblem {
    /// The name itself, or what is there already.
    Name,
    /// The name itself, and the reason says what would be accepted or what to do.
    Explained,
    /// A symbolic link that is not followed.
    Link,
    /// A FIFO, socket or device.
    NotRegular,
}

/// Why an edit cannot be made: the hints depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditProblem {
    /// The text to replace, or the replacement.
    Text,
    /// The regular expression, or a group that the replacement refers to.
    Expression,
    /// There are several matches, which can all be replaced.
    SeveralMatches,
    /// The memory is not valid UTF-8, so no text can be found in it.
    NotUtf8,
}

/// Why something is not available: the hints depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnavailableCause {
    /// Any other reason, which may pass.
    Other,
    /// The reason says what to do next.
    Explained,
    /// The database cannot be used.
    Database(DatabaseCause),
}

/// Why a database cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseCause {
    /// It did not answer.
    Unreachable,
    /// It answered that the password, the name of the database or a privilege is wrong.
    Refused,
    /// It answered with another error.
    Failed,
}

/// What makes a memory read-only: the hints depend on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadOnlyCause {
    /// Its mount is read-only.
    Mount,
    /// It matches a read-only pattern.
    Pattern,
    /// Its name or its place.
    Name,
    /// Its name is outside the part that `--only`, or a header of the session, selects.
    NotSelected,
    /// The caller may change nothing here, whatever the name.
    Caller,
    /// It belongs to the team memory, which does not exist yet.
    NoTeam {
        /// The command that creates it.
        command: String,
    },
    /// The reason says what to do next.
    Explained,
}

/// What resolves an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// The caller has to call differently.
    ChangeCall,
    /// A person has to act: free disk space, change a permission or a setting.
    FixSetup,
    /// The same call may succeed later.
    Retry,
}

impl Error {
    /// Creates an [`Error::Io`].
    pub fn io(doing: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Error::Io { doing, path: path.into(), source }
    }

    /// Creates an [`Error::BadPath`].
    pub fn bad_path(path: impl Into<String>, why: impl Into<String>) -> Self {
        Error::BadPath { path: path.into(), why: why.into(), problem: NameProblem::Name }
    }

    /// Creates an [`Error::BadPath`] whose reason says what would be accepted or what to do.
    pub fn explained_path(path: impl Into<String>, why: impl Into<String>) -> Self {
        Error::BadPath { path: path.into(), why: why.into(), problem: NameProblem::Explained }
    }

    /// Creates an [`Error::Unavailable`] for a reason that may pass.
    pub fn unavailable(what: impl Into<String>, why: impl Into<String>) -> Self {
        Error::Unavailable { what: what.into(), why: why.into(), cause: UnavailableCause::Other }
    }

    /// Creates an [`Error::Unavailable`] whose reason says what to do next.
    pub fn explained_unavailable(what: impl Into<String>, why: impl Into<String>) -> Self {
        Error::Unavailable { what: what.into(), why: why.into(), cause: UnavailableCause::Explained }
    }

    /// Creates an [`Error::BadEdit`].
    pub fn bad_edit(why: impl Into<String>) -> Self {
        Error::BadEdit { why: why.into(), problem: EditProblem::Text }
    }

    /// Creates an [`Error::BadEdit`] for a regular expression or a replacement that refers to its groups.
    pub(crate) fn bad_expression(why: impl Into<String>) -> Self {
        Error::BadEdit { why: why.into(), problem: EditProblem::Expression }
    }

    /// Creates an [`Error::NoChange`] for a known change or version, or for no change at all.
    pub fn no_change(why: impl Into<String>) -> Self {
        Error::NoChange { why: why.into(), is_unknown: false }
    }

    /// Creates an [`Error::NoChange`] for an unknown or ambiguous id.
    pub fn unknown_change(why: impl Into<String>) -> Self {
        Error::NoChange { why: why.into(), is_unknown: true }
    }

    /// Creates the [`Error::NoChange`] for a version of a file whose text was forgotten.
    pub fn forgotten_version(version: Version, file: &str) -> Self {
        Error::no_change(format!("version {} of {} was forgotten and cannot be restored", version.short(), strip_md(file)))
    }

    /// Creates the [`Error::BadPath`] for a name below a file.
    pub fn below_file(file: impl Into<String>) -> Self {
        Error::explained_path(file, "it is a file, not a directory; use another name")
    }

    /// Creates an [`Error::BadInput`].
    pub fn bad_input(what: impl Into<String>, why: impl Into<String>) -> Self {
        Error::BadInput { what: what.into(), why: why.into() }
    }

    /// The code that programs switch on (`--json`, tool results).
    pub fn code(&self) -> &'static str {
        match self {
            Error::NotFound { .. } | Error::NoCandidate { .. } | Error::NoChat { .. } | Error::NoProposal { .. } => "not_found",
            Error::Changed { .. } | Error::Conflict { .. } | Error::OutdatedProposal { .. } => "changed",
            Error::NoChange { .. } | Error::AlreadyUndone { .. } | Error::AlreadyRejected { .. } => "no_change",
            Error::Repeated { .. } => "repeated",
            Error::Proposed { .. } => "proposed",
            Error::Review { .. } | Error::NotReviewer => "review",
            Error::Exists { .. } => "exists",
            Error::BadPath { .. } => "bad_path",
            Error::BadEdit { .. } => "bad_edit",
            Error::BadInput { .. } | Error::NoTeam { .. } => "bad_input",
            Error::TooLarge { .. } | Error::ReasonTooLong { .. } => "too_large",
            Error::QuotaExceeded { .. } => "quota_exceeded",
            Error::ReadOnly { .. } => "read_only",
            Error::Secret { .. } => "secret",
            Error::Busy { .. } => "busy",
            Error::Unavailable { .. } | Error::NotKept { .. } | Error::Uncertain { .. } => "unavailable",
            Error::Removed { .. } => "removed",
            Error::Corrupt { .. } => "corrupt",
            Error::Io { .. } => "io",
        }
    }

    /// What resolves the error. Determines the exit status.
    pub fn remedy(&self) -> Remedy {
        match self {
            Error::NotFound { .. }
            | Error::NoCandidate { .. }
            | Error::NoChat { .. }
            | Error::Changed { .. }
            | Error::Conflict { .. }
            | Error::NoChange { .. }
            | Error::AlreadyUndone { .. }
            | Error::AlreadyRejected { .. }
            | Error::Repeated { .. }
            | Error::Proposed { .. }
            | Error::NoProposal { .. }
            | Error::Review { .. }
            | Error::NotReviewer
            | Error::OutdatedProposal { .. }
            | Error::Exists { .. }
            | Error::BadPath { .. }
            | Error::BadEdit { .. }
            | Error::BadInput { .. }
            | Error::NoTeam { .. }
            | Error::TooLarge { .. }
            | Error::ReasonTooLong { .. }
            | Error::Secret { .. } => Remedy::ChangeCall,
            Error::QuotaExceeded { .. }
            | Error::ReadOnly { .. }
            | Error::Unavailable { .. }
            | Error::NotKept { .. }
            | Error::Uncertain { .. }
            | Error::Removed { .. }
            | Error::Corrupt { .. }
            | Error::Io { .. } => Remedy::FixSetup,
            Error::Busy { .. } => Remedy::Retry,
        }
    }

    /// The next action of a caller of a tool or of the library, as a sentence. Names no command, because a model has tools.
    pub fn hint(&self) -> String {
        match self {
            Error::NotFound { near, .. } if near.is_empty() => "List the memories to find the right name.".into(),
            Error::NotFound { near, .. } => did_you_mean("Did", near),
            Error::NoCandidate { near, .. } if near.is_empty() => "List the candidates to find the right name.".into(),
            Error::NoCandidate { near, .. } => did_you_mean("Did", near),
            Error::NoChat { .. } => "Search past conversations to find the right id.".into(),
            Error::Changed { found: None, .. } => "Create the memory again if it is still needed.".into(),
            Error::Changed { .. } => "Read the memory again, then apply the change to the current text.".into(),
            Error::Conflict { .. } => "Undo the newer changes first, or restore an earlier version.".into(),
            Error::AlreadyRejected { .. } => "List the candidates to find those that are open.".into(),
            Error::NoChange { is_unknown: true, .. } => "Use an id from the history, or one that a change returned.".into(),
            Error::NoChange { .. } => "Nothing was changed.".into(),
            Error::AlreadyUndone { .. } => "No further action is needed.".into(),
            Error::Repeated { .. } => "No further action is needed; use a new key for another request.".into(),
            Error::Proposed { is_open: true, .. } => {
                "Do not repeat the change: the memory stays unchanged until a reviewer accepts the proposal.".into()
            }
            Error::Proposed { .. } => "The memory was not changed; propose a new change if it is still needed.".into(),
            Error::NoProposal { .. } => "List the proposals to find the right id.".into(),
            Error::Review { .. } => "Nothing was changed.".into(),
            Error::NotReviewer => "Nothing was changed; use a reviewer's token.".into(),
            Error::Removed { .. } => "Nothing was changed; ask an administrator for access.".into(),
            Error::OutdatedProposal { .. } => "Reject the proposal, or make the change yourself.".into(),
            Error::Exists { .. } => "Use another name, replace the existing memory, or append to it.".into(),
            Error::BadPath { problem: NameProblem::Link, .. } => "Use another name, or ask the user to make this change.".into(),
            Error::BadPath { .. } => "Use another name, such as notes/deploy.".into(),
            Error::BadEdit { problem: EditProblem::NotUtf8, .. } => "Append to the memory, or replace all of it.".into(),
            Error::BadEdit { problem: EditProblem::Expression, .. } => "Correct the regular expression or the replacement.".into(),
            Error::BadEdit { .. } => "Read the memory, then pass text that occurs in it exactly once, or replace all occurrences.".into(),
            Error::BadInput { .. } => "Correct the argument and call again.".into(),
            Error::TooLarge { limit, .. } if *limit == limits::READ_FILE_BYTES => "Ask the user to split the file.".into(),
            Error::ReasonTooLong { .. } => "Shorten the reason.".into(),
            Error::TooLarge { .. } => "Split the text into several memories.".into(),
            Error::QuotaExceeded { .. } => "Delete memories that are no longer needed, or ask an administrator for a larger quota.".into(),
            Error::NoTeam { .. } => "Ask the user to create the team memory.".into(),
            Error::ReadOnly { cause: ReadOnlyCause::Explained, .. } => "Nothing was changed.".into(),
            Error::ReadOnly { cause: ReadOnlyCause::Caller, .. } => "Nothing was changed; ask an administrator for access.".into(),
            Error::ReadOnly { cause: ReadOnlyCause::Mount, .. } => {
                "Use a name in a writable mount, or ask the user to make this one writable.".into()
            }
            Error::ReadOnly { cause: ReadOnlyCause::NoTeam { .. }, .. } => {
                "Use another name, or ask the user to create the team memory.".into()
            }
            Error::ReadOnly { cause: ReadOnlyCause::Pattern | ReadOnlyCause::Name | ReadOnlyCause::NotSelected, .. } => {
                "Use another name, or ask the user to allow this one.".into()
            }
            Error::Secret { .. } => "Leave the secret out and note where it is stored instead.".into(),
            Error::Busy { .. } => "Try again in a moment; if the memory stays locked, tell the user.".into(),
            Error::NotKept { .. } => "Only versions that are still in the history can be read or restored.".into(),
            Error::Uncertain { .. } => "Read the memory again, and repeat the change only if it was not made.".into(),
            Error::Unavailable { cause: UnavailableCause::Explained, .. } => {
                "Nothing was changed; do what the message says, or tell the user.".into()
            }
            Error::Unavailable { .. } => "Nothing was changed; try again later or, if it keeps failing, tell the user.".into(),
            Error::Corrupt { .. } => "Nothing was changed; tell the user.".into(),
            Error::Io { source, .. } => match io_action(source) {
                Some(action) => format!("Nothing was changed; {action}."),
                None => "Nothing was changed.".into(),
            },
        }
    }

    /// The message at the command line. Tools show the argument's name followed by the reason; a person reads a sentence.
    pub fn command_message(&self) -> String {
        match self {
            Error::BadInput { what, why } => match why.strip_prefix("it ") {
                Some(rest) => format!("{what} {rest}"),
                None => format!("invalid {what}: {why}"),
            },
            other => other.to_string(),
        }
    }

    /// The next action of a person at the command line, empty if the message contains it: lower case, without a full stop, with the command to run.
    pub fn command_hint(&self) -> String {
        match self {
            Error::NotFound { near, .. } if near.is_empty() => "list the memories with: memdir list".into(),
            Error::NotFound { near, .. } => did_you_mean("did", near),
            Error::NoCandidate { near, .. } if near.is_empty() => "list the candidates with: memdir inbox".into(),
            Error::NoCandidate { near, .. } => did_you_mean("did", near),
            Error::NoChat { .. } => "list the conversations with: memdir chats".into(),
            Error::Changed { path, found: None, .. } => {
                format!("list its earlier versions with: {}", name_command("memdir history", path.name(), ""))
            }
            Error::Changed { path, .. } => format!("read the current version with: {}", name_command("memdir read", path.name(), "")),
            Error::Conflict { path, .. } => {
                format!(
                    "undo the newer changes first, or restore a version; list changes and versions with: {}",
                    name_command("memdir history", path.name(), "")
                )
            }
            Error::AlreadyRejected { .. } => "list the open candidates with: memdir inbox".into(),
            Error::AlreadyUndone { change } => format!("redo it with: memdir redo {change}"),
            Error::NoChange { .. } | Error::NotKept { .. } => {
                "list all changes with `memdir history`, or the versions of a memory with `memdir history NAME`".into()
            }
            Error::Repeated { .. } => "no further action is needed; use a new key for another request".into(),
            Error::Proposed { is_open: true, .. } => "the memory stays unchanged until a reviewer accepts the proposal".into(),
            Error::Proposed { .. } => "the memory was not changed; propose a new change if it is still needed".into(),
            Error::NoProposal { .. } => "list the proposals with: memdir review list --server URL".into(),
            Error::Review { names_step: true, .. } => "nothing was changed".into(),
            Error::Review { .. } => "nothing was changed; list the open proposals with: memdir review list --server URL".into(),
            Error::NotReviewer => "nothing was changed; use a reviewer's token".into(),
            Error::Removed { .. } => "nothing was changed; ask an administrator for access".into(),
            Error::OutdatedProposal { .. } => "reject the proposal, or make the change yourself".into(),
            Error::Exists { .. } => "use another name, or add --replace or --append".into(),
            // The message already says what to do.
            Error::BadPath { problem: NameProblem::Explained | NameProblem::Link, .. } => String::new(),
            Error::BadPath { .. } => "use another name, such as notes/deploy".into(),
            Error::BadEdit { problem: EditProblem::SeveralMatches, .. } => "to replace all occurrences, add --all".into(),
            Error::BadEdit { problem: EditProblem::NotUtf8, .. } => "use `memdir write` with --append or --replace instead".into(),
            // The message already says what to correct.
            Error::BadEdit { problem: EditProblem::Expression, .. } => String::new(),
            Error::BadEdit { .. } => "print the memory with: memdir read NAME".into(),
            // The message already says what is accepted.
            Error::BadInput { .. } => String::new(),
            Error::TooLarge { limit, .. } if *limit == limits::READ_FILE_BYTES => "split the file into several memories".into(),
            Error::ReasonTooLong { .. } => "shorten the reason".into(),
            Error::TooLarge { .. } => "split the text into several memories".into(),
            Error::QuotaExceeded { .. } => "delete memories, or raise the quota with: memdir admin quota".into(),
            Error::ReadOnly { cause: ReadOnlyCause::Explained, .. } => String::new(),
            Error::ReadOnly { cause: ReadOnlyCause::Caller, .. } => "nothing was changed; ask an administrator for access".into(),
            Error::ReadOnly { cause: ReadOnlyCause::NoTeam { command }, .. } | Error::NoTeam { command, .. } => {
                format!("create it with: {command}")
            }
            Error::ReadOnly { cause: ReadOnlyCause::NotSelected, .. } => "use a name under a prefix in --only, or change --only".into(),
            Error::ReadOnly { cause: ReadOnlyCause::Mount, .. } => {
                "use a name in a writable mount; list the mounts with: memdir where".into()
            }
            Error::ReadOnly { cause: ReadOnlyCause::Pattern, .. } => {
                "use another name, or change `read_only` in the settings of the mount: see `memdir where`".into()
            }
            Error::ReadOnly { cause: ReadOnlyCause::Name, .. } => "use another name".into(),
            Error::Secret { .. } => "leave the secret out and note where it is stored instead".into(),
            Error::Busy { .. } => "try again; if the directory stays locked, look for a suspended process".into(),
            Error::Uncertain { .. } => "read the memory again, and repeat the change only if it was not made".into(),
            Error::Corrupt { names_step: true, .. } | Error::Unavailable { cause: UnavailableCause::Explained, .. } => {
                "nothing was changed".into()
            }
            Error::Unavailable { .. } | Error::Corrupt { .. } => "nothing was changed; check the setup with: memdir doctor".into(),
            Error::Io { source, .. } => {
                format!("nothing was changed; {}", io_action(source).unwrap_or("check the setup with: memdir doctor"))
            }
        }
    }
}

/// How a memory differs from the version that the caller expects.
fn difference(expected: &Version, found: Option<&Version>) -> String {
    match found {
        Some(found) => format!("has changed: expected version {expected}, found {found}"),
        None => format!("does not exist: expected version {expected}"),
    }
}

/// Joins a thing and what is wrong with it. A reason about the thing itself becomes one sentence with it.
fn sentence(what: &str, why: &str) -> String {
    match why.strip_prefix("it ") {
        Some(rest) => format!("{what} {rest}"),
        None => format!("{what}: {why}"),
    }
}

/// Returns a hint that suggests these names.
pub(crate) fn did_you_mean(did: &str, near: &[String]) -> String {
    let quoted: Vec<String> = near.iter().map(|name| format!("{name:?}")).collect();
    match quoted.split_last() {
        Some((last, [])) => format!("{did} you mean {last}?"),
        Some((last, others)) => format!("{did} you mean {} or {last}?", others.join(", ")),
        None => String::new(),
    }
}

/// Returns the next action after an I/O error whose cause is known.
pub fn io_action(source: &io::Error) -> Option<&'static str> {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Some("free some space, then try again"),
        io::ErrorKind::FileTooLarge => Some("raise the file size limit (ulimit -f), then try again"),
        io::ErrorKind::PermissionDenied => Some("check the permissions of the file and its directory"),
        io::ErrorKind::ReadOnlyFilesystem => Some("make the file system writable, then try again"),
        _ => None,
    }
}

/// A problem in a file, reported beside the result and never instead of it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    /// The line, 1-based, if the problem is on one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What is wrong.
    pub what: String,
}

impl Problem {
    /// Creates a problem of one line.
    pub fn at(line: u64, what: impl Into<String>) -> Self {
        Problem { line: Some(line), what: what.into() }
    }

    /// Creates a problem of the whole file.
    pub fn whole(what: impl Into<String>) -> Self {
        Problem { line: None, what: what.into() }
    }
}
