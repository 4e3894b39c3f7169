//! What a page shows that only the program around it knows: conversations, hosts, settings, decisions about rules.

use memdir_core::{Memdir, Result};

/// Answers what a space of memories does not know about itself. Every method may block, and none changes anything.
pub trait PageSource: Send + Sync {
    /// Lists conversations, newest first.
    fn chats(&self) -> Result<ChatsView>;
    /// Reads one conversation by an id of [`ChatRow::id`].
    fn chat(&self, id: &str) -> Result<ChatText>;
    /// Returns how the last conversation in the viewer's project ended, if there is a recent one.
    fn left_off(&self) -> Result<Option<ChatEnd>>;
    /// Lists the rules with what they do after the person's decisions.
    fn rules(&self, memdir: &Memdir) -> Result<Vec<RuleRow>>;
    /// Lists agent programs and whether memdir is installed in them. Starts no program.
    fn hosts(&self) -> Result<Vec<HostRow>>;
    /// Checks the installations: starts the configured servers and hooks, as `memdir doctor` does.
    fn check_hosts(&self) -> Result<Vec<HostFindings>>;
    /// Lists the settings and where they come from.
    fn settings(&self) -> Result<Vec<SettingRow>>;
}

/// The archived conversations.
#[derive(Debug, Clone, Default)]
pub struct ChatsView {
    /// The conversations, newest first.
    pub chats: Vec<ChatRow>,
    /// What the reader should know: that chats are off, or that not all could be read.
    pub notes: Vec<String>,
}

/// One conversation.
#[derive(Debug, Clone, Default)]
pub struct ChatRow {
    /// Its id: `claude-code/1f2e…`.
    pub id: String,
    /// The agent program.
    pub host: String,
    /// Its title.
    pub title: String,
    /// Its project's directory.
    pub project: Option<String>,
    /// When it was last continued.
    pub updated: Option<jiff::Timestamp>,
    /// Number of turns.
    pub turns: u64,
    /// The command that resumes it, if its host can.
    pub resume: Option<String>,
}

/// A conversation with its text.
#[derive(Debug, Clone, Default)]
pub struct ChatText {
    /// The conversation.
    pub row: ChatRow,
    /// Its text as Markdown, with secrets redacted.
    pub text: String,
    /// The line of its file on which the text begins.
    pub first_line: u64,
}

/// The end of a conversation.
#[derive(Debug, Clone, Default)]
pub struct ChatEnd {
    /// The conversation.
    pub row: ChatRow,
    /// The files it changed, the last one first.
    pub changed: Vec<String>,
    /// The last commands it ran, in order, and whether each failed if that is known.
    pub ran: Vec<(String, Option<bool>)>,
    /// The person's last message.
    pub message: Option<String>,
}

/// A rule: a memory with tripwires.
#[derive(Debug, Clone, Default)]
pub struct RuleRow {
    /// Its name.
    pub name: String,
    /// Its conditions.
    pub conditions: Vec<RuleCondition>,
    /// What the person decided, and where its text came from.
    pub state: String,
    /// How often it fired, was followed and was violated, if that is recorded.
    pub counts: Option<[u64; 3]>,
}

/// A condition of a rule.
#[derive(Debug, Clone, Default)]
pub struct RuleCondition {
    /// What it looks at: commands, paths, tools.
    pub over: String,
    /// Its pattern.
    pub pattern: String,
    /// What it does.
    pub effect: String,
}

/// An agent program.
#[derive(Debug, Clone, Default)]
pub struct HostRow {
    /// Its name on the command line.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// What shows that it is on this machine.
    pub found: Option<String>,
    /// How memdir is installed in it; empty if it is not.
    pub installed: String,
    /// The command that installs memdir in it, if it is found and memdir is not installed.
    pub next: Option<String>,
}

/// The checks of one installation.
#[derive(Debug, Clone, Default)]
pub struct HostFindings {
    /// The host, or the directories of memdir.
    pub title: String,
    /// What was found.
    pub findings: Vec<HostFinding>,
}

/// The result of one check.
#[derive(Debug, Clone, Default)]
pub struct HostFinding {
    /// What was checked.
    pub what: String,
    /// `ok`, `note` or `bad`.
    pub level: String,
    /// The state it is in.
    pub seen: String,
    /// What to do.
    pub fix: Option<String>,
}

/// One setting.
#[derive(Debug, Clone, Default)]
pub struct SettingRow {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Where the value comes from.
    pub from: String,
}
