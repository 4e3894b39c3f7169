//! The question at the end of a turn: which candidates of this conversation the agent accepts, merges or rejects. Asked at most once
//! in a conversation, and only where a person is known to be there.

use super::{asked, call::HookCall};
use crate::{candidates, config, hosts};
use jiff::SignedDuration;
use memdir_chats::candidates::session_name;
use memdir_core::{
    CandidateKind, Clock as _, InboxEntry, MemoryPath, SystemClock,
    internal::{base::text, secrets},
};
use serde_json::json;
use std::time::Duration;

/// The maximum number of candidates in one question: more would not be decided with care.
const MAX_ASKED: usize = 3;
/// The characters of the person's words in the question; the whole candidate can be read.
const WORDS_CHARS: usize = 240;
/// The time that must be left to look for candidates.
const MIN_LEFT: Duration = Duration::from_millis(100);
/// The beginning of the question.
const INTRO: &str = include_str!("question.md");
/// The messages of a person after which a conversation counts as interactive, if the host does not say so.
const TYPED_MESSAGES: usize = 2;

impl HookCall<'_> {
    /// Adds candidates to the inbox: from the archived conversations, or while chats are off and the agent has stopped from the running
    /// one. Of the time that is left for the hook, the half is used.
    pub(super) fn find_candidates(&self, is_stop: bool) {
        let left = self.deadline.left();
        let settings = self.settings;
        if !settings.config.inbox.on || left < MIN_LEFT || self.input.agent.is_some() {
            return;
        }
        let until = SystemClock.now().checked_add(SignedDuration::try_from(left / 2).unwrap_or_default()).ok();
        let found = match (self.host.transcripts, self.input.transcript.as_deref()) {
            _ if settings.config.chats.settings.on => {
                let stopped = self.transcript_name().filter(|_| is_stop);
                candidates::find_archived(settings, &self.scope, &self.memdir, until, stopped.as_deref())
            }
            (Some(reader), Some(transcript)) if is_stop => {
                candidates::find_running(settings, &self.scope, &self.memdir, reader, transcript, until)
            }
            _ => return,
        };
        self.check(found);
    }

    /// The question about the candidates of this conversation, or `None`: without candidates, if the settings turn it off, in a host
    /// that does not read it, in a run that may have no person, and if the conversation was asked before.
    pub(super) fn ask_about_candidates(&self) -> Option<String> {
        let settings = &self.settings.config.inbox;
        if !(settings.on && settings.ask && self.host.reads_stop_text()) || self.input.agent.is_some() || !self.is_interactive() {
            return None;
        }
        let (conversation, transcript) = (self.conversation_name()?, self.transcript_name());
        let inbox = self.memdir.inbox().ok()?;
        let is_asked = |entry: &&InboxEntry| {
            let is_here = |session: &String| *session == conversation || Some(session) == transcript.as_ref();
            entry.kind.is_some_and(|kind| settings.asks(kind)) && !entry.changes_memory() && entry.sessions.iter().any(is_here)
        };
        let asked: Vec<&InboxEntry> = inbox.open.iter().filter(is_asked).take(MAX_ASKED).collect();
        // Recorded before the answer: a second question would keep the agent from ever stopping.
        if asked.is_empty() || !asked::record(&self.settings.home.value, &conversation) {
            return None;
        }
        Some(question(&inbox.prefix, &asked, &|name| MemoryPath::parse(name).is_ok_and(|path| self.exists(&path))))
    }

    /// The conversation of this call by its transcript, as candidates name it: in some hosts the file is not named by the id alone.
    fn transcript_name(&self) -> Option<String> {
        let by_file = || Some(session_name(self.host.transcripts?, self.input.transcript.as_deref()?));
        by_file().or_else(|| self.conversation_name())
    }

    /// The conversation of this call by its id.
    fn conversation_name(&self) -> Option<String> {
        Some(format!("{}/{}", self.host.transcripts?.name, self.input.session.as_deref()?))
    }

    fn exists(&self, path: &MemoryPath) -> bool {
        matches!(self.memdir.store().get(path), Ok(Some(_)))
    }

    /// Whether a person is known to read the answers: not in a run that another agent started, and the host says so, or a person
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

/// The text of the question: each candidate as data, with the exact calls that accept or reject it.
fn question(prefix: &str, asked: &[&InboxEntry], exists: &dyn Fn(&str) -> bool) -> String {
    let mut out = INTRO.trim_end().to_owned();
    for (number, entry) in asked.iter().enumerate() {
        let relative = entry.name.strip_prefix(prefix).unwrap_or(&entry.name).trim_start_matches('/');
        let call = |to: &str| format!("memory_move {}", json!({ "from": entry.name, "to": to }));
        let words = if entry.words.is_empty() { &entry.description } else { &entry.words };
        let words = text::one_line(words);
        out += &format!(
            "\n\n{}. {} ({}): \"{}\"",
            number + 1,
            entry.name,
            reason(entry.kind),
            text::ellipsis(&secrets::injected(&words), WORDS_CHARS)
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
        Some(CandidateKind::Remember) => "the user asked you to remember it",
        Some(CandidateKind::Denied) => "the user stopped an action",
        Some(CandidateKind::Repeat) => "the user said it before",
        Some(CandidateKind::Scar) => "a command failed, then another one worked",
        Some(CandidateKind::Reverted) => "an edit was undone",
        Some(CandidateKind::Violated | CandidateKind::Unused) | None => "proposed",
    }
}
