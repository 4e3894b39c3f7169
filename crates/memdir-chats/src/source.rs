//! The hosts' side: what memdir knows about the transcripts of one host ([`Reader`]), and the trait by which they are read
//! ([`ChatSource`]). A source never writes to a host's files, and never decides what is archived.

use crate::{
    roots::Roots,
    transcript::{EventSink, ReadOutcome, TitleRank, TranscriptCursor},
    walk,
};
use memdir_core::{Problem, Result, ResumeCommand, Stamp};
use serde::{Serialize, Serializer};
use std::{
    collections::HashMap,
    fmt,
    path::{Path, PathBuf},
};

/// The transcripts of one host. Each module in `hosts/` has one as its `READER`.
pub struct Reader {
    /// The name in settings, commands, JSON and archived files, and the name of the host's directory in the archive.
    pub name: &'static str,
    /// Opens the source, or returns `None` if the user has configured nothing to read. A host that is not installed has a source
    /// without sessions.
    pub open: fn(&Roots) -> Option<Box<dyn ChatSource>>,
    /// The program and arguments that resume a conversation, or `None` if the host cannot resume one.
    pub resume: Option<fn(id: &str) -> Vec<String>>,
    /// Whether the resume command must run in the conversation's directory: most hosts look for a session among those of the
    /// current directory.
    pub resumes_in_project: bool,
    /// Whether the session id resumes a conversation that has no resume id of its own.
    pub resumes_by_session: bool,
    /// Whether the path of a transcript shows that the conversation took place in a directory, for hosts whose records do not
    /// name it.
    pub is_transcript_of: Option<fn(transcript: &Path, dir: &Path) -> bool>,
    /// Whether the host rewrites and retracts what this transcript contains, so that its current content is the whole conversation.
    /// The transcripts of other hosts only grow, and turns that disappear from them stay archived.
    pub rewrites: fn(transcript: &Path) -> bool,
    /// Whether a run of a script looks like a conversation with one message: the transcript does not tell them apart.
    pub scripts_look_alike: bool,
}

impl Reader {
    /// Returns the command that resumes a session, or `None` if the host has none or the id could be mistaken for an option.
    pub(crate) fn resume_command(&self, session: &str, resume_id: Option<&str>, project: Option<&Path>) -> Option<ResumeCommand> {
        let id = resume_id.or_else(|| self.resumes_by_session.then_some(session))?;
        if id.is_empty() || id.starts_with('-') {
            return None;
        }
        let dir = project.filter(|_| self.resumes_in_project).map(Path::to_owned);
        self.resume.map(|argv| ResumeCommand { dir, argv: argv(id) })
    }
}

/// Readers are equal if their names are.
impl PartialEq for Reader {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Reader {}

/// Formats the name.
impl fmt::Display for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reader({})", self.name)
    }
}

/// Serializes the name.
impl Serialize for Reader {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

/// Builds the arguments of a resume command.
pub(crate) fn argv(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// Reads the conversations of one host.
///
/// The contract:
/// - Nothing that belongs to the host is created, changed, locked or moved, except for SQLite's own shared read lock.
/// - `sessions` reads directories and small tables, never whole transcripts, and never fails: what it could not read is a problem.
///   Every conversation is listed once, even if several files contain it; sub-agents are not listed.
/// - `turns` emits the turns after `from` in their order, in memory that does not grow with the file. An incomplete last record is
///   left for the next call. A line that is not a record is a problem with its line number.
/// - If the transcript is not the one that `from` was taken from, or if it may have retracted earlier turns, the first event is
///   [`ChatEvent::Restart`](crate::ChatEvent::Restart) and everything is emitted again.
/// - After the sink has returned [`Flow::Stop`](crate::Flow::Stop), the rest of the current record is emitted and the returned cursor points to the end of
///   it. A source that cannot resume continues to the end.
pub trait ChatSource: Send + Sync {
    /// The reader that opened this source.
    fn reader(&self) -> &'static Reader;

    /// Returns a value that changes whenever any session may have changed, or `None` if listing the sessions is as cheap.
    fn stamp(&self) -> Option<String> {
        None
    }

    /// Lists the conversations.
    fn sessions(&self) -> SessionList;

    /// Emits the turns of a session that follow `from`.
    fn turns(&self, session: &SessionFile, from: &TranscriptCursor, sink: &mut EventSink<'_>) -> Result<ReadOutcome>;
}

/// A conversation that a source has listed and not read yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFile {
    /// The host.
    pub host: &'static Reader,
    /// The unique name among the host's sessions; also the name of the archived file.
    pub key: String,
    /// The host's session id.
    pub id: String,
    /// The argument of the host's resume command, if it is not the id.
    pub resume_id: Option<String>,
    /// The transcript file or database.
    pub path: PathBuf,
    /// The stamp that changes when the session may have changed.
    pub stamp: Stamp,
    /// The working directory, if it is known without reading the transcript.
    pub project_dir: Option<PathBuf>,
    /// The title and its rank, if they are known without reading the transcript.
    pub title: Option<(TitleRank, String)>,
}

impl SessionFile {
    /// Creates a session that is one file named by its id, or returns `None` if the file has disappeared.
    pub(crate) fn from_path(host: &'static Reader, id: &str, path: &Path) -> Option<SessionFile> {
        Some(SessionFile {
            host,
            key: id.to_owned(),
            id: id.to_owned(),
            resume_id: None,
            path: path.to_owned(),
            stamp: walk::stamp(path)?,
            project_dir: None,
            title: None,
        })
    }

    /// The name in settings and rules: `host/key`.
    pub(crate) fn name(&self) -> String {
        format!("{}/{}", self.host, self.key)
    }
}

/// The conversations of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionList {
    /// The conversations, each once.
    pub sessions: Vec<SessionFile>,
    /// Directories and databases that could not be read.
    pub problems: Vec<Problem>,
}

impl SessionList {
    /// Keeps one session per key: the one that was modified last.
    pub(crate) fn dedup(&mut self) {
        let mut newest: HashMap<String, (i64, usize)> = HashMap::new();
        for (i, session) in self.sessions.iter().enumerate() {
            let rank = (session.stamp.mtime_ns, i);
            let entry = newest.entry(session.key.clone()).or_insert(rank);
            if rank.0 > entry.0 {
                *entry = rank;
            }
        }
        let mut i = 0;
        self.sessions.retain(|session| {
            i += 1;
            newest.get(&session.key).is_some_and(|&(_, at)| at == i - 1)
        });
    }
}
