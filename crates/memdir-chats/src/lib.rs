//! The seam to past conversations: what a session and a turn are, and how a host's own transcripts are read.
//! A source never writes to, locks or moves a host's file; it never decides what is kept.

pub mod claude_code;
pub mod codex;
mod content;
pub mod cursor;
mod draft;
pub mod forget;
pub mod gemini;
pub mod generic;
mod json;
pub mod jsonl;
pub mod keep;
mod lock;
mod noise;
pub mod openclaw;
pub mod opencode;
pub mod place;
mod resume;
pub mod roots;
mod sqlite;
mod state;
pub mod sync;
mod walk;

pub use memdir_core::search::chats::Speaker;
pub use resume::resume_command;
pub use roots::Roots;

use jiff::Timestamp;
use memdir_core::{
    base::{
        error::{Problem, Result},
        limits,
    },
    store::Stamp,
};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, path::PathBuf};

/// Reads one host's conversations.
///
/// The contract:
/// - Nothing of the host's is created, changed, locked or moved, but for SQLite's own shared read lock.
/// - `sessions` reads directories and small tables, never whole transcripts, and never fails: what it could not
///   look at is a problem. Every conversation is listed once, however many files tell of it; sub-agents are not listed.
/// - `turns` tells the turns after `from` in the order they were said, in memory that does not grow with the file.
///   A record that is not complete yet is left for the next time. What is no record is a problem with its line.
/// - Where the transcript is no longer the one `from` was made from, or may have taken back what it said, the first
///   event is [`Event::Restart`] and everything is told again.
/// - After the sink has answered [`Flow::Stop`], the rest of the current record is told and the cursor returned
///   stands behind it. A source that cannot resume goes on to the end.
pub trait ChatSource: Send + Sync {
    /// Whose conversations these are.
    fn host(&self) -> Host;

    /// The host's name as people and files write it.
    fn name(&self) -> &'static str {
        self.host().name()
    }

    /// Changes whenever any session may have changed, where that is cheaper to know than to list them.
    fn stamp(&self) -> Option<String> {
        None
    }

    /// The conversations there are.
    fn sessions(&self) -> Found;

    /// What was said in one of them after a point.
    fn turns(&self, session: &SessionFile, from: &Cursor, sink: &mut Sink<'_>) -> Result<Taken>;
}

/// Takes what a source tells.
pub type Sink<'a> = dyn FnMut(Event<'_>) -> Result<Flow> + 'a;

/// An agent program whose conversations can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Host {
    /// Claude Code.
    ClaudeCode,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
    /// OpenClaw.
    Openclaw,
    /// Cursor's agent.
    Cursor,
    /// A folder of Markdown, text or JSONL conversations of any origin.
    Folder,
}

impl Host {
    /// Every host, in the order they are listed.
    pub const ALL: [Host; 7] = [Host::ClaudeCode, Host::Codex, Host::Gemini, Host::Opencode, Host::Openclaw, Host::Cursor, Host::Folder];

    /// The name in files and commands.
    pub fn name(self) -> &'static str {
        match self {
            Host::ClaudeCode => "claude-code",
            Host::Codex => "codex",
            Host::Gemini => "gemini",
            Host::Opencode => "opencode",
            Host::Openclaw => "openclaw",
            Host::Cursor => "cursor",
            Host::Folder => "folder",
        }
    }

    /// The host of that name.
    pub fn named(name: &str) -> Option<Host> {
        Host::ALL.into_iter().find(|host| host.name() == name)
    }
}

impl std::fmt::Display for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// One thing that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn<'a> {
    /// Who.
    pub speaker: Speaker,
    /// When, where the transcript says.
    pub at: Option<Timestamp>,
    /// What, without anything a host or hook put in; never empty.
    pub text: Cow<'a, str>,
    /// The message it is a part of: turns of one message belong together.
    pub message: Option<Cow<'a, str>>,
    /// The line of the transcript it is from, 1-based, where there are lines.
    pub line: u64,
}

/// What a source tells, in order.
#[derive(Debug)]
pub enum Event<'a> {
    /// Everything told before this, now or in an earlier reading, is void: the source begins again.
    Restart,
    /// Something was learned about the session.
    About(About<'a>),
    /// A turn.
    Turn(Turn<'a>),
    /// The host shortened its own memory of the conversation here.
    Compacted(Option<Timestamp>),
    /// The turns of this message are void; those that follow with the same message stand in their place.
    Replace(&'a str),
    /// The person took back what was said.
    Rewind(Rewind<'a>),
}

/// How much was taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rewind<'a> {
    /// This message and everything after it; everything there is if it is not known.
    To(&'a str),
    /// The last so many things the person said, with all that followed them.
    UserTurns(u64),
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Stop after this record.
    Stop,
}

/// What may be learned about a session on the way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct About<'a> {
    /// The id the host knows it by, where the file's name does not tell.
    pub id: Option<Cow<'a, str>>,
    /// A title, and how much it is worth.
    pub title: Option<(TitleRank, Cow<'a, str>)>,
    /// The directory it was held in.
    pub project_dir: Option<Cow<'a, str>>,
    /// The git branch.
    pub branch: Option<Cow<'a, str>>,
    /// When it began.
    pub started: Option<Timestamp>,
    /// The session whose beginning it shares.
    pub continues: Option<Cow<'a, str>>,
}

/// How much a title is worth; a higher one is never replaced by a lower one, an equal one by the later.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TitleRank {
    /// None yet.
    #[default]
    None,
    /// The first words of the person.
    FirstWords,
    /// A summary the host wrote.
    Summary,
    /// A title a model gave.
    Given,
    /// A title the person gave.
    Person,
}

/// A conversation a source has found, before it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFile {
    /// Whose it is.
    pub host: Host,
    /// Its name among the host's sessions; also the name of its kept file.
    pub key: String,
    /// The id the host knows it by.
    pub id: String,
    /// What the host's resume command takes, where that is not the id.
    pub resume_id: Option<String>,
    /// The file or database it is in.
    pub path: PathBuf,
    /// What tells whether it may have changed.
    pub stamp: Stamp,
    /// The directory it was held in, where that is known without reading it.
    pub project_dir: Option<PathBuf>,
    /// Its title, where that is known without reading it, and how much it is worth.
    pub title: Option<(TitleRank, String)>,
}

/// What a source has found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The conversations, each once.
    pub sessions: Vec<SessionFile>,
    /// What could not be looked at.
    pub problems: Vec<Problem>,
}

/// The outcome of one reading.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Taken {
    /// Where the next reading goes on.
    pub cursor: Cursor,
    /// What was no record, with its line; at most [`limits::CHAT_PROBLEMS`] of them.
    pub problems: Vec<Problem>,
    /// Problems beyond those.
    pub more_problems: u64,
    /// The transcript ends in the middle of a record, which is left for the next reading.
    pub torn: bool,
    /// The sink stopped the reading before the end.
    pub stopped: bool,
}

impl Taken {
    /// Notes a problem, within the limit.
    pub(crate) fn problem(&mut self, problem: Problem) {
        if self.problems.len() < limits::CHAT_PROBLEMS {
            self.problems.push(problem);
        } else {
            self.more_problems += 1;
        }
    }
}

/// A place in a growing transcript, with what it takes to know that it is still the same one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cursor {
    /// Bytes read (of the decompressed text, where it is compressed).
    pub at: u64,
    /// Line ends among them.
    pub lines: u64,
    /// The beginning of the transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<Print>,
    /// The bytes just before `at`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail: Option<Print>,
    /// The latest time of a turn so far: a record that is not newer may be one that was told before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newest: Option<Timestamp>,
    /// The records that were told at that very time, by a hash of their ids.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub latest: Vec<u64>,
}

/// The fingerprint of a few bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Print {
    /// How many bytes.
    pub bytes: u32,
    /// Their hash.
    pub hash: String,
}

impl Print {
    /// Of these bytes.
    pub(crate) fn of(bytes: &[u8]) -> Print {
        let hash = blake3::hash(bytes).to_hex();
        Print { bytes: u32::try_from(bytes.len()).unwrap_or(u32::MAX), hash: hash[..16].to_owned() }
    }
}
