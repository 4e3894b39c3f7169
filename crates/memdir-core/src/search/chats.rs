//! The interface between search and past conversations: the place of a line in one, and bringing them up to date. The crate
//! `memdir-chats` reads and keeps transcripts.

use crate::base::shell::quote_posix;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, fmt, path::PathBuf};

/// Brings kept conversations up to date before a search.
pub trait ChatSync: Send + Sync {
    /// Adds what is new since the last call, within the time a search may wait. Returns a note for the reader if that was
    /// not possible or not finished. Never fails: a search then answers from what is kept.
    fn catch_up(&self) -> Option<String>;

    /// Returns a filter of the kept conversations that a search covers: those of its project or of all projects, and never the one
    /// that is running. `None` for all of them.
    fn filter(&self, _all_projects: bool) -> Option<ChatFilter> {
        None
    }
}

/// Why a space has no conversations if they are off.
pub(crate) const CHATS_OFF: &str = "chats are off until the user runs: memdir chats on";

/// Why a space has no conversations although they are turned on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoChats {
    /// None were imported.
    NothingImported,
    /// An option or variable, such as `--dir`, selects a memory without them.
    ExcludedBy(&'static str),
    /// The memory does not include them.
    NotIncluded,
}

impl NoChats {
    /// Returns the reason as a fact about the space.
    pub fn reason(self) -> Cow<'static, str> {
        match self {
            NoChats::NothingImported => "no conversations imported yet; import them with: memdir chats sync".into(),
            NoChats::ExcludedBy(origin) => format!("{origin} selects a memory without past conversations").into(),
            NoChats::NotIncluded => "this memory does not include past conversations".into(),
        }
    }

    /// Returns the reason as a note about a search.
    pub fn why_not_searched(self) -> Cow<'static, str> {
        match self {
            NoChats::NothingImported => self.reason(),
            NoChats::ExcludedBy(origin) => {
                format!("past conversations were not searched, because {origin} selects a memory without them").into()
            }
            NoChats::NotIncluded => "past conversations were not searched: this memory does not include them".into(),
        }
    }

    /// Returns the command that helps: none adds conversations to a memory that does not include them.
    pub(crate) fn command(self) -> Option<&'static str> {
        match self {
            NoChats::NothingImported => Some("memdir chats sync"),
            NoChats::ExcludedBy(_) | NoChats::NotIncluded => None,
        }
    }
}

/// Whether a search covers the kept conversation in a file, given the file's name in its mount.
pub type ChatFilter = Box<dyn Fn(&str) -> bool + Send + Sync>;

/// Finds the place of a line (1-based) in the text of a kept conversation.
pub type ChatLocator = fn(text: &str, line: u64) -> Option<ChatPlace>;

/// The speaker of a turn in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Speaker {
    /// The person.
    User,
    /// The assistant.
    Assistant,
    /// The assistant calls a tool: its name and short arguments, never its output.
    Tool,
}

/// The place of a line in a kept conversation: the conversation, the speaker, and the command to resume it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChatPlace {
    /// The host's name.
    pub host: String,
    /// The id the host knows the conversation by.
    pub session: String,
    /// Its title.
    pub title: String,
    /// The directory it was held in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The speaker.
    pub speaker: Speaker,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The end of the turn before, in short.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The beginning of the turn after, in short.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The command that resumes it, as a line for a shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
    /// The same command, ready to be started.
    #[serde(skip)]
    pub command: Option<ResumeCommand>,
}

impl ChatPlace {
    /// Describes the place in one line: speaker, host, date, project, title, and the command that resumes the conversation.
    pub fn describe(&self) -> String {
        let who = if self.speaker == Speaker::User { "user" } else { "assistant" };
        let when = self.at.map_or(String::new(), |at| format!(" on {}", at.strftime("%Y-%m-%d")));
        let project = self.project.as_deref().map_or(String::new(), |project| format!(" in {project}"));
        let resume = self.resume.as_deref().map_or(String::new(), |resume| format!("; resume with: {resume}"));
        format!("from the {who} in {}{when}{project}, {:?}{resume}", self.host, self.title)
    }
}

/// The command that resumes a conversation in its host, and the directory to run it in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ResumeCommand {
    /// The conversation's directory: hosts look for a session among those of the current one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dir: Option<PathBuf>,
    /// The program and its arguments.
    pub argv: Vec<String>,
}

/// Formats the command as one line for a POSIX shell.
impl fmt::Display for ResumeCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(dir) = &self.dir {
            write!(f, "cd {} && ", quote_posix(&dir.display().to_string()))?;
        }
        let words: Vec<_> = self.argv.iter().map(|word| quote_posix(word)).collect();
        f.write_str(&words.join(" "))
    }
}
