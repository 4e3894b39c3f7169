//! The question at the end of a turn: which candidates of this conversation the agent accepts, merges or rejects. Asked at most once
//! in a conversation, and only where a person is known to be there.

use super::call::HookCall;
use crate::{config, hosts};
use memdir_core::{
    CandidateKind, InboxEntry, MemoryPath,
    internal::base::{frame, text},
};
use serde_json::json;

/// The maximum number of candidates in one question: more would not be decided with care.
const MAX_ASKED: usize = 3;
/// The characters of the person's words in the question; the whole candidate can be read.
const WORDS_CHARS: usize = 240;
/// The beginning of the question.
const INTRO: &str = include_str!("ask.md");
/// The messages of a person after which a conversation counts as interactive, if the host does not say so.
const TYPED_MESSAGES: usize = 2;

impl HookCall<'_> {
    /// The question about the candidates of this conversation, or `None`: without candidates, if the settings turn it off, in a run
    /// that may have no person, and if the conversation was asked before.
    pub(super) fn ask_about_candidates(&self) -> Option<String> {
        let settings = &self.settings.config.inbox;
        if !(settings.on && settings.ask) || self.input.agent.is_some() || !self.is_interactive() {
            return None;
        }
        let conversation = format!("{}/{}", self.host.transcripts?.name, self.input.session.as_deref()?);
        let inbox = self.memdir.inbox().ok()?;
        let is_asked = |entry: &&InboxEntry| {
            entry.kind.is_some_and(|kind| settings.asks(kind)) && !entry.changes_memory() && entry.sessions.contains(&conversation)
        };
        let asked: Vec<&InboxEntry> = inbox.open.iter().filter(is_asked).take(MAX_ASKED).collect();
        // Recorded before the answer: a second question would keep the agent from ever stopping.
        if asked.is_empty() || !self.session.record_question() {
            return None;
        }
        Some(question(&inbox.prefix, &asked, &|name| MemoryPath::parse(name).is_ok_and(|path| self.exists(&path))))
    }

    fn exists(&self, path: &MemoryPath) -> bool {
        matches!(self.memdir.store().get(path), Ok(Some(_)))
    }

    /// Whether a person is known to read the answers: not in a run that another agent started, and the host says so, or somebody
    /// typed a second message.
    fn is_interactive(&self) -> bool {
        let run = hosts::RunMarks {
            variable: &config::host_variable,
            session: self.input.session.as_deref(),
            transcript: self.input.transcript.as_deref(),
        };
        if hosts::is_nested(self.host, &run) {
            return false;
        }
        (self.host.is_interactive)(&run).unwrap_or_else(|| self.session.messages() >= TYPED_MESSAGES)
    }
}

/// The text of the question: each candidate as data, with the exact calls that decide about it.
fn question(prefix: &str, asked: &[&InboxEntry], exists: &dyn Fn(&str) -> bool) -> String {
    let mut out = INTRO.trim_end().to_owned();
    for (number, entry) in asked.iter().enumerate() {
        let relative = entry.name.strip_prefix(prefix).unwrap_or(&entry.name).trim_start_matches('/');
        let call = |to: &str| format!("memory_move {}", json!({ "from": entry.name, "to": to }));
        let said = if entry.words.is_empty() { &entry.description } else { &entry.words };
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        out += &format!(
            "\n\n{}. {} ({}): \"{}\"",
            number + 1,
            entry.name,
            reason(entry.kind),
            text::ellipsis(&frame::neutral(&said), WORDS_CHARS)
        );
        if exists(&entry.proposes) {
            out += &format!(
                "\n   merge: {} exists; add what is new with memory_edit, then reject the candidate, or accept it under another name",
                entry.proposes
            );
        } else {
            out += &format!("\n   accept: {}", call(&entry.proposes));
        }
        out += &format!("\n   reject: {}", call(&format!("{prefix}/rejected/{relative}")));
    }
    out + "\n"
}

/// Why a candidate is proposed, in a few words.
fn reason(kind: Option<CandidateKind>) -> &'static str {
    match kind {
        Some(CandidateKind::Remember) => "the user asked to remember it",
        Some(CandidateKind::Denied) => "the user stopped an action",
        Some(CandidateKind::Repeat) => "the user said it before",
        Some(CandidateKind::Scar) => "a command failed, another one worked",
        Some(CandidateKind::Reverted) => "an edit was undone",
        Some(CandidateKind::Violated | CandidateKind::Unused) | None => "proposed",
    }
}
