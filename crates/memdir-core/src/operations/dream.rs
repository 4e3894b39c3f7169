//! Tidies a memory: makes a plan that a person can read and edit, and applies exactly that plan as one change. Making a plan writes
//! nothing; applying one archives and never deletes. No detector calls a model.

mod apply;
mod assemble;
mod claims;
mod contradictions;
mod dates;
mod duplicates;
mod empty;
mod entrypoint;
mod evidence;
mod format;
mod logs;
mod long;
mod material;
mod operation_list;
mod parse;
mod prompt;
mod request;
mod shelf;
mod superseded;
mod validate;
mod words;

pub use apply::{ApplyDream, DreamApplied, LeftOut, apply, obstacle};
pub use assemble::dream;
pub use format::render;
pub use operation_list::{combined, operation_list, plan_from_operations};
pub use parse::parse;
pub use prompt::{DreamPiece, DreamPrompt, dream_prompt};
pub use request::{Dream, DreamProgress};
pub use shelf::{DreamShelf, DreamState, KeptPlan, LogProgress, PlanState, ReadLogs};

use crate::{
    base::{
        path::{MemoryPath, strip_md},
        text,
        version::Version,
    },
    secrets,
};
use jiff::{Timestamp, civil::Date};
use serde::Serialize;

/// A plan: operations on memories, with the versions it was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DreamPlan {
    /// When it was made.
    pub made: Timestamp,
    /// The number of memories it was made from.
    pub memories: usize,
    /// Their size in bytes.
    pub bytes: u64,
    /// The last day whose log the plan covers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logs_through: Option<Date>,
    /// The operations, in the order in which they are shown.
    pub operations: Vec<DreamOperation>,
    /// What the reader should know about the plan. Not part of the plan's file.
    pub notes: Vec<String>,
}

/// One operation of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DreamOperation {
    /// What it does.
    pub action: DreamAction,
    /// Which detector proposed it.
    pub reason: DreamReason,
    /// Why, in a sentence.
    pub why: String,
    /// How sure the proposal is, in percent.
    pub confidence: u8,
    /// Files it was derived from and does not change, with the versions they must still have.
    pub sources: Vec<(MemoryPath, Version)>,
    /// What happens to each file.
    pub changes: Vec<DreamChange>,
    /// The difference between the old and the new texts, for the reader only.
    pub diff: String,
}

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DreamAction {
    /// Creates memories.
    Create,
    /// Changes the text of one memory, and may move parts of it to new memories.
    Update,
    /// Collects several memories in one of them and archives the others.
    Merge,
    /// Renames a memory.
    Move,
    /// Moves memories to `archive/`.
    Archive,
}

impl DreamAction {
    /// All of them.
    pub const ALL: [DreamAction; 5] =
        [DreamAction::Create, DreamAction::Update, DreamAction::Merge, DreamAction::Move, DreamAction::Archive];

    /// The word in a plan.
    pub fn as_str(self) -> &'static str {
        match self {
            DreamAction::Create => "create",
            DreamAction::Update => "update",
            DreamAction::Merge => "merge",
            DreamAction::Move => "move",
            DreamAction::Archive => "archive",
        }
    }
}

/// The detector that proposed an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DreamReason {
    /// Two memories have the same text.
    ExactDuplicate,
    /// Two memories say the same.
    NearDuplicate,
    /// Two memories contradict each other.
    Contradiction,
    /// A newer memory replaces an older one.
    Superseded,
    /// What the memory rests on does not exist any more.
    EvidenceGone,
    /// The date after which the memory is stale has passed.
    Stale,
    /// A date depends on the day on which it was written.
    RelativeDate,
    /// The memory is too long to be recalled.
    TooLong,
    /// The entrypoint is over its budget.
    Entrypoint,
    /// A daily log has facts that no memory has.
    Log,
    /// The memory has no content.
    Empty,
    /// No line and no link leads to the memory.
    Unreachable,
    /// A model or a person proposed it.
    Proposed,
}

impl DreamReason {
    /// All of them.
    pub const ALL: [DreamReason; 13] = [
        DreamReason::ExactDuplicate,
        DreamReason::NearDuplicate,
        DreamReason::Contradiction,
        DreamReason::Superseded,
        DreamReason::EvidenceGone,
        DreamReason::Stale,
        DreamReason::RelativeDate,
        DreamReason::TooLong,
        DreamReason::Entrypoint,
        DreamReason::Log,
        DreamReason::Empty,
        DreamReason::Unreachable,
        DreamReason::Proposed,
    ];

    /// The word in a plan.
    pub fn as_str(self) -> &'static str {
        match self {
            DreamReason::ExactDuplicate => "exact-duplicate",
            DreamReason::NearDuplicate => "near-duplicate",
            DreamReason::Contradiction => "contradiction",
            DreamReason::Superseded => "superseded",
            DreamReason::EvidenceGone => "evidence-gone",
            DreamReason::Stale => "stale",
            DreamReason::RelativeDate => "relative-date",
            DreamReason::TooLong => "too-long",
            DreamReason::Entrypoint => "entrypoint",
            DreamReason::Log => "log",
            DreamReason::Empty => "empty",
            DreamReason::Unreachable => "unreachable",
            DreamReason::Proposed => "proposed",
        }
    }
}

/// What happens to one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DreamChange {
    /// An existing memory gets this text.
    Write {
        /// The memory.
        path: MemoryPath,
        /// Its version in the plan.
        version: Version,
        /// Its new text.
        text: String,
    },
    /// A new memory.
    New {
        /// The memory.
        path: MemoryPath,
        /// Its text.
        text: String,
    },
    /// An existing memory gets another name; links in it keep their targets.
    Move {
        /// The memory.
        path: MemoryPath,
        /// Its version in the plan.
        version: Version,
        /// Its new name.
        to: MemoryPath,
    },
    /// References in this memory follow the files that the operation moves.
    Relink {
        /// The memory.
        path: MemoryPath,
        /// Its version in the plan.
        version: Version,
    },
    /// The memory gets its line in the entrypoint, even if the line is on a page; its text stays.
    List {
        /// The memory.
        path: MemoryPath,
        /// Its version in the plan.
        version: Version,
    },
    /// The entrypoint line of the memory moves to a page; its text stays.
    Page {
        /// The memory.
        path: MemoryPath,
        /// Its version in the plan.
        version: Version,
    },
}

impl DreamChange {
    /// The file that the change concerns.
    pub fn path(&self) -> &MemoryPath {
        match self {
            DreamChange::Write { path, .. }
            | DreamChange::New { path, .. }
            | DreamChange::Move { path, .. }
            | DreamChange::Relink { path, .. }
            | DreamChange::List { path, .. }
            | DreamChange::Page { path, .. } => path,
        }
    }

    /// Whether the change touches the memory itself, and not only its entrypoint line.
    pub fn is_of_memory(&self) -> bool {
        !matches!(self, DreamChange::List { .. } | DreamChange::Page { .. })
    }

    /// The version that the file must have; `None` for a new one.
    pub fn version(&self) -> Option<Version> {
        match self {
            DreamChange::New { .. } => None,
            DreamChange::Write { version, .. }
            | DreamChange::Move { version, .. }
            | DreamChange::Relink { version, .. }
            | DreamChange::List { version, .. }
            | DreamChange::Page { version, .. } => Some(*version),
        }
    }
}

impl DreamPlan {
    /// A plan of no memories, without operations.
    pub(super) fn empty() -> DreamPlan {
        let made = Timestamp::UNIX_EPOCH;
        DreamPlan { made, memories: 0, bytes: 0, logs_through: None, operations: Vec::new(), notes: Vec::new() }
    }

    /// The plan as it is shown, with secrets redacted. The file of a plan has the texts that are written.
    pub fn redacted(mut self) -> DreamPlan {
        for change in self.operations.iter_mut().flat_map(|operation| &mut operation.changes) {
            if let DreamChange::Write { text, .. } | DreamChange::New { text, .. } = change {
                *text = secrets::redact(text).into_owned();
            }
        }
        self
    }
}

impl DreamOperation {
    /// The days of the logs it was derived from.
    pub(super) fn log_days(&self) -> impl Iterator<Item = Date> {
        let logs = self.sources.iter().filter(|_| self.reason == DreamReason::Log);
        logs.filter_map(|(path, _)| strip_md(path.file_name()).parse().ok())
    }

    /// The files it changes, with the new names of moved ones.
    pub fn files(&self) -> impl Iterator<Item = &MemoryPath> {
        self.changes.iter().flat_map(|change| match change {
            DreamChange::Move { path, to, .. } => vec![path, to],
            other => vec![other.path()],
        })
    }

    /// The heading of the operation: its action and the memories it is about.
    pub fn title(&self) -> String {
        let moved = self.changes.iter().filter_map(|change| match change {
            DreamChange::Move { path, to, .. } => Some((path.name(), to.name())),
            _ => None,
        });
        let moved: Vec<(&str, &str)> = moved.collect();
        let is_main =
            |change: &&DreamChange| !matches!(change, DreamChange::Move { .. } | DreamChange::Relink { .. } | DreamChange::Page { .. });
        let main = self.changes.iter().find(is_main);
        let paged: Vec<&str> = self
            .changes
            .iter()
            .filter_map(|change| if let DreamChange::Page { path, .. } = change { Some(path.name()) } else { None })
            .collect();
        let main = main.map_or("no memory", |change| change.path().name());
        let names = |names: Vec<&str>| text::first_names(&names, "no memory");
        match self.action {
            DreamAction::Create | DreamAction::Update => format!("{} {main}", self.action.as_str()),
            DreamAction::Merge => format!("merge {} into {main}", names(moved.iter().map(|(from, _)| *from).collect())),
            DreamAction::Move if moved.is_empty() => {
                let lines = if paged.len() == 1 { "line" } else { "lines" };
                format!("move the {lines} for {} to an overflow page", names(paged))
            }
            DreamAction::Move => moved.first().map_or_else(String::new, |(from, to)| format!("move {from} to {to}")),
            DreamAction::Archive => format!("archive {}", names(moved.iter().map(|(from, _)| *from).collect())),
        }
    }
}
