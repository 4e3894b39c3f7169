//! The result of a tool call: what hosts write into the text of it. Reads the beginning and the end of an output, never all of it.

use crate::{
    evidence::{CallEnd, CallOutcome},
    json::{FromJson, loose},
};
use memdir_core::internal::base::text::{floor_char_boundary, truncate_bytes};
use serde::{Deserialize, Deserializer, de::SeqAccess};
use std::borrow::Cow;

/// Bytes at the beginning and at the end of an output that are read: a reason, an error line, an exit status.
const HEAD_BYTES: usize = 2400;
const TAIL_BYTES: usize = 160;

/// The beginning and the end of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Excerpt {
    head: String,
    tail: String,
}

impl Excerpt {
    pub(super) fn new(text: &str) -> Self {
        let tail = if text.len() > HEAD_BYTES { &text[floor_char_boundary(text, text.len() - TAIL_BYTES)..] } else { "" };
        Excerpt { head: truncate_bytes(text, HEAD_BYTES).to_owned(), tail: tail.to_owned() }
    }

    /// The beginning.
    pub(super) fn head(&self) -> &str {
        &self.head
    }

    /// The end.
    fn tail(&self) -> &str {
        if self.tail.is_empty() { &self.head } else { &self.tail }
    }

    fn is_empty(&self) -> bool {
        self.head.is_empty()
    }
}

impl<'de> FromJson<'de> for Excerpt {
    fn text(text: Cow<'de, str>) -> Self {
        Excerpt::new(&text)
    }
    // The first text of a list of blocks.
    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut first = Excerpt::default();
        while let Some(item) = list.next_element::<Excerpt>()? {
            if first.is_empty() {
                first = item;
            }
        }
        Ok(first)
    }
    fn object<A: serde::de::MapAccess<'de>>(object: A) -> Result<Self, A::Error> {
        /// An object whose text has one of these names.
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Named {
            text: Excerpt,
            content: Excerpt,
            output: Excerpt,
            error: Excerpt,
            message: Excerpt,
        }
        let named = Named::deserialize(serde::de::value::MapAccessDeserializer::new(object))?;
        let all = [named.error, named.text, named.content, named.output, named.message];
        Ok(all.into_iter().find(|excerpt| !excerpt.is_empty()).unwrap_or_default())
    }
}
loose!(Excerpt);

/// The beginnings of the errors that the model gets from Claude Code when the person denied a call.
const DENIED_IN_CLAUDE: [&str; 2] =
    ["The user doesn't want to proceed with this tool use", "The user doesn't want to take this action right now"];

/// Texts of refusals that no person decided at that moment.
const REFUSED: [&str; 8] = [
    "blocked by hook", "hook blocked", "Denied by preToolUse hook", "PreToolUse:", "but you haven't granted it yet", "blocked by policy",
    "denied by policy", "Tool execution blocked",
];

/// Returns the end of a call in Claude Code's format. `result` is what the record says besides, if it is a text.
pub(super) fn claude_end<'a>(id: &'a str, excerpt: &Excerpt, is_error: bool, is_interrupted: bool, result: &str) -> CallEnd<'a> {
    let (id, head) = (Cow::Borrowed(id), excerpt.head().trim_start());
    if is_interrupted || head.starts_with("[Request interrupted by user") {
        return CallEnd { id, outcome: CallOutcome::Interrupted, ..CallEnd::default() };
    }
    if !is_error {
        return CallEnd { id, outcome: CallOutcome::Succeeded, ..CallEnd::default() };
    }
    if DENIED_IN_CLAUDE.iter().any(|start| head.starts_with(start)) || result == "User rejected tool use" {
        // The host appends a note to what the person wrote.
        let reason =
            head.split_once("the user said:").map(|(_, reason)| reason.split("\n\nNote: The user's next message").next().unwrap_or(reason));
        let reason = reason.map(|reason| Cow::Owned(reason.trim().to_owned()));
        return CallEnd { id, outcome: CallOutcome::Denied, reason, ..CallEnd::default() };
    }
    failed(id, head, status_after(head, "Exit code "))
}

/// Returns the end of a call in Codex's format.
pub(super) fn codex_end<'a>(id: &'a str, excerpt: &Excerpt) -> CallEnd<'a> {
    let (id, head) = (Cow::Borrowed(id), excerpt.head().trim_start());
    // The rest of a rejected patch or command is one of these sentences; a command could print it only after a header.
    if head == "exec command rejected by user" || head == "patch rejected by user" || head == "rejected by user" {
        return CallEnd { id, outcome: CallOutcome::Denied, ..CallEnd::default() };
    }
    if head.starts_with("aborted by user") || (head.starts_with("Wall time:") && excerpt.tail().trim_end().ends_with("aborted by user")) {
        return CallEnd { id, outcome: CallOutcome::Interrupted, ..CallEnd::default() };
    }
    let status = if head.starts_with('{') {
        status_after(excerpt.tail(), "\"exit_code\":")
    } else {
        let before_output = head.split("\nOutput:").next().unwrap_or_default();
        status_after(before_output, "Exit code: ").or_else(|| status_after(before_output, "Process exited with code "))
    };
    match status {
        Some(0) => CallEnd { id, outcome: CallOutcome::Succeeded, status, ..CallEnd::default() },
        Some(_) => failed(id, head.split_once("Output:\n").map_or(head, |(_, output)| output), status),
        None if head.starts_with("execution error") || head.starts_with("failed to") || head.contains("sandbox") => failed(id, head, None),
        None => CallEnd { id, ..CallEnd::default() },
    }
}

/// Returns the end of a call in Gemini CLI's format.
pub(super) fn gemini_end<'a>(id: &'a str, status: &str, excerpt: &Excerpt) -> CallEnd<'a> {
    let (id, head) = (Cow::Borrowed(id), excerpt.head().trim_start());
    match status {
        "cancelled" if head.contains("denied") || head.contains("did not allow") => {
            CallEnd { id, outcome: CallOutcome::Denied, ..CallEnd::default() }
        }
        "cancelled" => CallEnd { id, outcome: CallOutcome::Interrupted, ..CallEnd::default() },
        "error" => failed(id, head, None),
        "success" => match last_status(excerpt, "Exit Code: ") {
            Some(code) if code != 0 => failed(id, head.strip_prefix("Output: ").unwrap_or(head), Some(code)),
            code => CallEnd { id, outcome: CallOutcome::Succeeded, status: code, ..CallEnd::default() },
        },
        _ => CallEnd { id, ..CallEnd::default() },
    }
}

/// Returns the end of a call in Copilot CLI's format.
pub(super) fn copilot_end<'a>(id: &'a str, success: bool, code: &str, excerpt: &Excerpt) -> CallEnd<'a> {
    let (id, head) = (Cow::Borrowed(id), excerpt.head().trim_start());
    if code == "rejected" {
        return CallEnd { id, outcome: CallOutcome::Denied, ..CallEnd::default() };
    }
    match last_status(excerpt, "<exited with exit code ") {
        Some(status) if status != 0 => failed(id, head, Some(status)),
        _ if !success => failed(id, head, None),
        status => CallEnd { id, outcome: CallOutcome::Succeeded, status, ..CallEnd::default() },
    }
}

/// Returns the end of a call in opencode's format. `status` is that of the call, `exit` that of its command.
pub(super) fn opencode_end<'a>(id: &'a str, status: &str, error: &Excerpt, output: &Excerpt, exit: Option<i64>) -> CallEnd<'a> {
    const DENIED: &str = "The user rejected permission to use this specific tool call";
    let id = Cow::Borrowed(id);
    let text = error.head().trim_start().trim_start_matches("Error: ");
    match status {
        "error" if text.starts_with(DENIED) => {
            let reason = text.split_once("with the following feedback: ").map(|(_, said)| Cow::Owned(said.trim().to_owned()));
            CallEnd { id, outcome: CallOutcome::Denied, reason, ..CallEnd::default() }
        }
        "error" if text.starts_with("Tool execution aborted") => CallEnd { id, outcome: CallOutcome::Interrupted, ..CallEnd::default() },
        "error" => failed(id, text, exit),
        // What the host appends to the output of a command is at its end.
        "completed" if output.tail().trim_end().ends_with("_metadata>") && output.tail().contains("User aborted the command") => {
            CallEnd { id, outcome: CallOutcome::Interrupted, ..CallEnd::default() }
        }
        "completed" => match exit {
            Some(code) if code != 0 => failed(id, output.head(), exit),
            _ => CallEnd { id, outcome: CallOutcome::Succeeded, status: exit, ..CallEnd::default() },
        },
        _ => CallEnd { id, ..CallEnd::default() },
    }
}

/// Returns the end of a call in OpenClaw's format, which does not record whether a person denied it.
pub(super) fn openclaw_end<'a>(id: &'a str, is_error: bool, excerpt: &Excerpt) -> CallEnd<'a> {
    let id = Cow::Borrowed(id);
    match last_status(excerpt, "exited with code ") {
        Some(status) if status != 0 => failed(id, excerpt.head(), Some(status)),
        _ if is_error => failed(id, excerpt.head(), None),
        status => CallEnd { id, outcome: CallOutcome::Succeeded, status, ..CallEnd::default() },
    }
}

/// Returns the end of a call that failed, or was refused by something other than the person.
pub(super) fn failed<'a>(id: Cow<'a, str>, text: &str, status: Option<i64>) -> CallEnd<'a> {
    let is_refused = status.is_none() && REFUSED.iter().any(|mark| truncate_bytes(text, 300).contains(mark));
    let outcome = if is_refused { CallOutcome::Refused } else { CallOutcome::Failed };
    let is_header = |line: &str| line.starts_with("Exit code ") || line.starts_with("Error: Exit code ");
    let line =
        text.lines().map(|line| line.trim().trim_start_matches("<tool_use_error>")).find(|line| !line.is_empty() && !is_header(line));
    CallEnd { id, outcome, status, error: line.map(|line| Cow::Owned(line.to_owned())), reason: None }
}

/// Returns the number after the first occurrence of a mark.
fn status_after(text: &str, mark: &str) -> Option<i64> {
    number(&text[text.find(mark)? + mark.len()..])
}

/// Returns the number after the last occurrence of a mark at the end of an output, where only the host writes it.
fn last_status(excerpt: &Excerpt, mark: &str) -> Option<i64> {
    let tail = excerpt.tail();
    number(&tail[tail.rfind(mark)? + mark.len()..])
}

fn number(text: &str) -> Option<i64> {
    let text = text.trim_start();
    let end = text.char_indices().find(|(at, c)| !(c.is_ascii_digit() || (*at == 0 && *c == '-'))).map_or(text.len(), |(at, _)| at);
    text[..end].parse().ok()
}
