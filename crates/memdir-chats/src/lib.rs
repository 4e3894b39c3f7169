//! Past conversations with agent programs ("hosts"): reads the hosts' own transcripts and archives them as Markdown files that can be
//! searched, shown and forgotten.
//!
//! A [`Reader`] describes the transcripts of one host, and [`READERS`] lists all of them. [`open_sources`] opens their
//! [`ChatSource`]s, a [`Syncer`] copies new turns from them into the [`ChatArchive`], and [`chat_place`] finds for a search the turn of
//! an archived conversation that a line belongs to. Nothing is read unless the user has turned conversations on
//! ([`ChatSettings::on`]), and a host's files are never written, locked or moved.
//!
//! To add a host: a file in `hosts/` with a `READER`, its `mod` line and its line in `READERS`, both in `hosts.rs`.

mod archive;
pub mod candidates;
mod claude_mem;
mod content;
mod draft;
mod evidence;
mod facts;
#[doc(hidden)]
pub mod generate;
mod hosts;
mod injected;
mod json;
mod jsonl;
mod lock;
mod project;
mod results;
mod roots;
mod selection;
mod short_strings;
mod source;
mod sqlite;
mod state;
mod sync;
mod transcript;
mod walk;

pub use archive::{
    ArchiveListing, ArchivedChat, ArchivedFile, ChatArchive, ChatSection, chat_place,
    ending::{ChatEnding, EndingQuery, RanCommand},
    forget::{ForgetOutcome, ForgetRule, own_folders},
    retention::Retention,
};
pub use claude_mem::{ClaudeMemContent, count_claude_mem, read_claude_mem};
pub use evidence::{CallEnd, CallEvidence, CallOutcome, CallStart};
pub use facts::{COMMAND_KEYS, CallFacts, EditDigest, PATCH_BEGIN, PATCH_MARKS, PATH_KEYS};
pub use hosts::*;
pub use jsonl::{ZSTD_MAGIC, decompressed};
pub use memdir_core::Speaker;
pub use project::{SessionProject, path_forms};
pub use roots::Roots;
pub use selection::{SearchedProject, SyncMemo};
pub use source::{ChatSource, Reader, SessionFile, SessionList};
pub use sync::{ChatSettings, EmptyHost, SyncLimits, SyncOutcome, SyncProgress, Syncer};
pub use transcript::{ChatEvent, EventSink, Fingerprint, Flow, ReadOutcome, Rewind, SessionInfo, TitleRank, TranscriptCursor, Turn};
