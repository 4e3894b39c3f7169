//! Memory for AI agents: plain Markdown files in directories, safe for any number of processes.
//!
//! [`Memdir`] is the entry point: it opens a space over a [`Store`], and has one method per operation.
//!
//! ```
//! use memdir_core::{Actor, FileStore, Memdir, MemoryPath, Mount, Read, UndoTarget, Write};
//! use std::sync::Arc;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let dir = tempfile::tempdir()?;
//! let mount = Mount::new("", dir.path().join("memory"), dir.path().join("journal"));
//! let actor = Actor { name: "ada".into(), session: None };
//! let memdir = Memdir::new(Arc::new(FileStore::open(&[mount])?), actor);
//!
//! let path = MemoryPath::parse("notes/deploy")?;
//! let saved = memdir.write(&Write::create(path.clone(), "Never deploy on Fridays.\n"))?;
//! assert_eq!(saved.path.as_str(), "notes/deploy.md");
//! assert_eq!(memdir.read(&Read::all(path.clone()))?.content, "Never deploy on Fridays.\n");
//!
//! memdir.undo(&UndoTarget::Mine)?;
//! assert!(memdir.read(&Read::all(path)).is_err());
//! # Ok(())
//! # }
//! ```

mod base;
mod dialects;
mod entrypoint;
#[doc(hidden)]
pub mod internal;
mod memdir;
mod memory;
mod operations;
mod project;
mod prompt;
mod recall;
mod search;
mod secrets;
mod store;
#[cfg(feature = "testing")]
#[doc(hidden)]
pub mod testing;
mod tools;

pub use base::{
    error::{DatabaseCause, EditProblem, Error, NameProblem, Problem, ReadOnlyCause, Remedy, Result, UnavailableCause},
    path::{InvalidName, MemoryPath},
    text::LineRange,
    time::{Clock, SystemClock},
    version::Version,
};
pub use memdir::Memdir;
pub use memory::{
    Kind, Memory,
    edit::Needle,
    phrase::Phrase,
    validity::{MemoryStatus, Outdated, SourceRef, Validity, Verification},
};
pub use operations::{
    check::{Check, CheckFinding, CheckRule, CheckSeverity, Checked},
    check_diff::{ChangedFile, CheckDiff, ConcernedRule, DiffChecked, DoubtReason, DoubtfulMemory},
    context::Context,
    cues::{CueEntry, CueProposal, CueProposals, CuesSet, SetCues, UncuedMemory},
    decide::{DecidedCandidate, DecisionOutcome},
    delete::{Delete, Deleted},
    diff::{Diff, VersionDiff},
    dream::{
        ApplyDream, Dream, DreamAction, DreamApplied, DreamChange, DreamOperation, DreamPiece, DreamPlan, DreamProgress, DreamPrompt,
        DreamReason, DreamShelf, DreamState, KeptPlan, LeftOut, LogProgress, PlanState, ReadLogs,
    },
    dream_summary::DreamSummary,
    edit::{Edit, EditedMemory},
    forget::{ForgetFile, ForgetFound, ForgetLine, ForgottenMemories},
    history::MemoryVersion,
    import::{Import, ImportOutcome, Imported, ImportedMemory, Incoming, OnConflict},
    inbox::{
        Inbox, InboxEntry, KnownMemory, Proposed,
        candidate::{Candidate, CandidateKind},
    },
    list::{List, ListedMemory, Listing},
    memory_tests::{Expectation, MemoryTest, TestOutcome, Tested},
    read::{EntrypointReading, Read, Reading},
    recall::{Recall, ShownRule},
    rename::{Renamed, RenamedMemories, RenamedMemory},
    repair::Repaired,
    review::{ProposalReading, ProposedDiff},
    rules::{MatchedRule, Rule, RuleOrigin},
    stats::{MountStats, Stats},
    undo::{UndoTarget, Undone},
    verify::{AnchorOutcome, AnchorState, FileHistory, Mention, MentionKind, Verified, Verify},
    write::{Saved, Write, WriteMode},
};
pub use project::Project;
pub use prompt::{BuiltPrompt, ModeName, PromptEntrypoint, PromptLoad, PromptRequest, PromptSearch, ToolNames};
pub use recall::{
    RecallBudget, RecallExplanation, RecallFeatures, RecallVerdict, Recalled,
    when::{Action, Strength, Tripwire, TripwireKind, When},
};
pub use search::{
    Answer, Hit, IndexPool, Method, Search, Searcher, WhyNot,
    chats::{ChatFilter, ChatPlace, ChatSync, NoChats, ResumeCommand, Speaker},
    embed::Embedder,
    index::Index,
};
pub use secrets::Allow;
pub use store::{
    Access, Actor, Change, ChangeCursor, ChangeFilter, ChangeId, ChangePage, ChangeSequence, EntrypointMode, Expect, FileChange, FileEdit,
    IdempotencyKey, Intent, MountChanges, MountInfo, Proposal, ProposalDecision, ProposalFilter, ProposalState, ProposalStore,
    ProposedFile, Role, SequencePosition, Source, Stamp, Store, Stored, Verb, View,
    files::FileStore,
    mount::{ClosedFolder, Links, Mount},
};
