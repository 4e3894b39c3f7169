//! What tool calls did, as facts of a transcript's structure: tool, program, targets, exit status, whether the person denied it. Never
//! what an assistant said about it; of a tool's output only the first line of an error.

use crate::{
    facts::{CallFacts, EditDigest, digest},
    json::one_line,
};
use jiff::Timestamp;
use memdir_core::internal::{base::text::truncate_bytes, recall::when};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The maximum number of calls that are kept of a conversation, the newest of it: about 400 KB.
pub(crate) const MAX_CALLS: usize = 2000;
/// Characters of a command that are kept: longer ones are scripts.
const COMMAND_CHARS: usize = 400;
/// Characters of the first line of an error.
const ERROR_CHARS: usize = 200;
/// Characters of a reason that was given with a denial.
const REASON_CHARS: usize = 1000;
/// Target paths of a call, and bytes of each.
const MAX_PATHS: usize = 8;
const PATH_BYTES: usize = 512;

/// A tool call of an archived conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallEvidence {
    /// The number of the person's message that it follows, counted from 1 among those that are archived; 0 before the first.
    #[serde(skip_serializing_if = "is_default")]
    pub turn: u64,
    /// The time, if the transcript records it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The tool, as the host names it.
    pub tool: String,
    /// The program of the command, without its directory: `cargo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The command, redacted, with its line ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The target paths, as the call names them.
    #[serde(skip_serializing_if = "is_default")]
    pub paths: Vec<String>,
    /// The digests of the texts that an edit replaced and wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edit: Option<EditDigest>,
    /// How it ended.
    #[serde(skip_serializing_if = "is_default")]
    pub outcome: CallOutcome,
    /// The exit status of the command, if the host records it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<i64>,
    /// The first line of the error, redacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What the person typed in the dialog in which the call was denied, redacted. Hosts without such a field have it as the next
    /// message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The hashed id of the call, by which its end is found; 0 for none.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) id: u64,
}

/// How a tool call ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CallOutcome {
    /// The transcript does not say, or not yet.
    #[default]
    Unknown,
    /// It succeeded.
    Succeeded,
    /// It failed.
    Failed,
    /// A hook, a sandbox or a setting of the host refused it.
    Refused,
    /// The person denied it.
    Denied,
    /// The person interrupted it.
    Interrupted,
}

impl CallEvidence {
    /// Whether the person denied or interrupted it.
    pub fn is_denied(&self) -> bool {
        matches!(self.outcome, CallOutcome::Denied | CallOutcome::Interrupted)
    }
}

/// Returns the first command of a line that does more than prepare the next one, without what precedes its program.
pub(crate) fn main_command(line: &str) -> Option<String> {
    const PREPARE: &[&str] = &["cd", "pushd", "export", "source", ".", "set", "echo", "true", "mkdir", "sleep"];
    let mut all = when::commands(line).into_iter();
    all.find(|command| !PREPARE.contains(&command.split(' ').next().unwrap_or_default()))
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A tool call begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallStart<'a> {
    /// The id by which its end is found; empty for none.
    pub id: Cow<'a, str>,
    /// The tool.
    pub tool: Cow<'a, str>,
    /// The id of the message that it is part of.
    pub message: Option<Cow<'a, str>>,
    /// The time.
    pub at: Option<Timestamp>,
    /// The 1-based line of the transcript, or 0 if it has no lines.
    pub line: u64,
    /// The arguments.
    pub facts: CallFacts,
}

impl CallStart<'_> {
    /// Returns the evidence of the call, redacted and bounded.
    pub(crate) fn evidence(&self, redact: &dyn for<'t> Fn(&'t str) -> Cow<'t, str>) -> CallEvidence {
        let command = self.facts.command.as_deref().map(|command| short_text(&redact(command), COMMAND_CHARS));
        let program = command.as_deref().and_then(main_command).and_then(|line| line.split(' ').next().map(str::to_owned));
        let paths = self.facts.paths.iter().take(MAX_PATHS);
        CallEvidence {
            at: self.at,
            tool: one_line(&self.tool, 80),
            program,
            command,
            paths: paths.map(|path| truncate_bytes(&redact(path), PATH_BYTES).to_owned()).collect(),
            edit: self.facts.edit,
            id: digest(&self.id),
            ..CallEvidence::default()
        }
    }
}

/// A tool call ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallEnd<'a> {
    /// The id of the call.
    pub id: Cow<'a, str>,
    /// How it ended.
    pub outcome: CallOutcome,
    /// The exit status.
    pub status: Option<i64>,
    /// The first line of the error.
    pub error: Option<Cow<'a, str>>,
    /// What the person typed in the dialog in which the call was denied.
    pub reason: Option<Cow<'a, str>>,
}

impl CallEnd<'_> {
    /// Returns the end with redacted texts.
    pub(crate) fn redacted(&self, redact: &dyn for<'t> Fn(&'t str) -> Cow<'t, str>) -> OwnedEnd {
        OwnedEnd {
            id: digest(&self.id),
            outcome: self.outcome,
            status: self.status,
            error: self.error.as_deref().map(|error| one_line(&redact(error), ERROR_CHARS)).filter(|error| !error.is_empty()),
            reason: self.reason.as_deref().map(|reason| short_text(&redact(reason), REASON_CHARS)).filter(|reason| !reason.is_empty()),
        }
    }
}

/// The end of a call that may have begun in an earlier sync.
#[derive(Debug, Clone)]
pub(crate) struct OwnedEnd {
    pub(crate) id: u64,
    outcome: CallOutcome,
    status: Option<i64>,
    error: Option<String>,
    reason: Option<String>,
}

impl OwnedEnd {
    /// Completes the evidence of the call.
    pub(crate) fn apply(self, call: &mut CallEvidence) {
        (call.outcome, call.status, call.error, call.reason) = (self.outcome, self.status, self.error, self.reason);
    }
}

/// Marks the last calls that have not ended as interrupted.
pub(crate) fn interrupt(calls: &mut [CallEvidence]) {
    for call in calls.iter_mut().rev().take_while(|call| call.outcome == CallOutcome::Unknown) {
        call.outcome = CallOutcome::Interrupted;
    }
}

/// Truncates a text to a number of characters, with its line ends.
fn short_text(text: &str, max_chars: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
