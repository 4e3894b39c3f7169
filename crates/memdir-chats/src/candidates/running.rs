//! Candidates of conversations that are read from their transcripts: the running one, or those that are not archived. Keeps nothing of
//! them.

use super::{SeenChat, TypedTurn, find_in, read_chat::ReadChat};
use crate::{
    evidence::{CallEvidence, MAX_CALLS},
    project::SessionProject,
    roots::Roots,
    selection::SearchedProject,
    source::{ChatSource, Reader, SessionFile},
    transcript::{ChatEvent, Flow, Rewind, TranscriptCursor},
};
use jiff::Timestamp;
use memdir_core::internal::base::sort::SharedSort as _;
use memdir_core::{Candidate, Clock, Error, Result, Speaker};
use std::{borrow::Cow, cmp::Reverse, collections::HashMap, path::Path};

/// The number of the person's newest messages that are held in memory.
const MAX_TURNS: usize = 500;

/// Finds *remember* and *denied* in the transcript of a conversation. `redact` removes secrets; reading stops at `until`. Nothing is
/// written, whether conversations are archived or not.
pub fn find_in_running(
    host: &'static Reader,
    transcript: &Path,
    redact: &dyn for<'t> Fn(&'t str) -> Cow<'t, str>,
    until: Option<Timestamp>,
    clock: &dyn Clock,
) -> Result<Vec<Candidate>> {
    let missing = || Error::io("read", transcript, std::io::ErrorKind::NotFound.into());
    let source = (host.open)(&Roots::default()).ok_or_else(missing)?;
    let session = SessionFile::from_path(host, &session_key(host, transcript), transcript).ok_or_else(missing)?;
    let chat = read_transcript(source.as_ref(), &session, redact, &|| until.is_some_and(|until| clock.now() >= until))?;
    Ok(ReadChat::new(&chat, u64::MAX).map(|read| super::unique(find_in(&read, 0))).unwrap_or_default())
}

/// Finds *remember* and *denied* in the transcripts of a source that `is_wanted` by their keys and that belong to the project, the
/// newest first, until `is_over`. Nothing is written; a transcript that cannot be read is skipped.
pub fn find_in_transcripts(
    source: &dyn ChatSource,
    project: &SearchedProject,
    is_wanted: &dyn Fn(&str) -> bool,
    redact: &dyn for<'t> Fn(&'t str) -> Cow<'t, str>,
    is_over: &dyn Fn() -> bool,
) -> Vec<Candidate> {
    let mut sessions = source.sessions().sessions;
    sessions.retain(|session| is_wanted(&session.key));
    sessions.shared_sort_by_key(|session| Reverse(session.stamp.mtime_ns));
    let mut found = Vec::new();
    for session in &sessions {
        if is_over() {
            break;
        }
        let Ok(chat) = read_transcript(source, session, redact, is_over) else { continue };
        let dir = chat.project.as_deref().map(Path::new).or(session.project_dir.as_deref());
        let is_of_project = project.includes(SessionProject { host: session.host, dir, transcript: &session.path });
        if let Some(read) = ReadChat::new(&chat, u64::MAX).filter(|_| is_of_project) {
            found.extend(find_in(&read, 0));
        }
    }
    super::unique(found)
}

/// Reads a transcript until `is_over`.
fn read_transcript(
    source: &dyn ChatSource,
    session: &SessionFile,
    redact: &dyn for<'t> Fn(&'t str) -> Cow<'t, str>,
    is_over: &dyn Fn() -> bool,
) -> Result<SeenChat> {
    let scripts_look_alike = session.host.scripts_look_alike;
    let mut reading =
        RunningChat { chat: SeenChat { session: session.name(), scripts_look_alike, ..SeenChat::default() }, ..RunningChat::default() };
    source.turns(session, &TranscriptCursor::default(), &mut |event| {
        reading.event(event, redact);
        Ok(if is_over() { Flow::Stop } else { Flow::Continue })
    })?;
    Ok(reading.chat)
}

/// Returns the name of the conversation in a transcript, as candidates have it: `host/key`.
pub fn session_name(host: &Reader, transcript: &Path) -> String {
    format!("{host}/{}", session_key(host, transcript))
}

/// Returns the key that the source would give to this transcript.
fn session_key(host: &Reader, transcript: &Path) -> String {
    let stem = transcript.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    match host.name {
        "copilot-cli" => transcript.parent().and_then(|dir| dir.file_name()).and_then(|name| name.to_str()).unwrap_or(stem).to_owned(),
        "codex" => crate::hosts::codex::rollout_key(&format!("{}.jsonl", stem.trim_end_matches(".jsonl"))).unwrap_or(stem).to_owned(),
        _ => stem.to_owned(),
    }
}

/// A conversation while it is read.
#[derive(Default)]
struct RunningChat {
    chat: SeenChat,
    /// The messages of turns and calls, in order, for rewinds and replacements.
    messages: Vec<(Option<String>, Contribution)>,
    by_id: HashMap<u64, usize>,
}

/// What a message contributed.
#[derive(Clone, Copy)]
enum Contribution {
    Turn,
    Call,
}

impl RunningChat {
    fn event(&mut self, event: ChatEvent<'_>, redact: &dyn for<'t> Fn(&'t str) -> Cow<'t, str>) {
        match event {
            ChatEvent::Restart => {
                let SeenChat { session, scripts_look_alike, .. } = std::mem::take(&mut self.chat);
                *self = RunningChat { chat: SeenChat { session, scripts_look_alike, ..SeenChat::default() }, ..RunningChat::default() };
            }
            ChatEvent::Info(info) => {
                self.chat.project = self.chat.project.take().or(info.project_dir.map(Cow::into_owned));
                self.chat.is_scripted |= info.is_scripted;
            }
            ChatEvent::Turn(turn) if turn.speaker == Speaker::User => {
                let number = self.chat.turns.last().map_or(0, |last| last.number) + 1;
                self.chat.turns.push(TypedTurn { number, at: turn.at, text: redact(&turn.text).into_owned(), cite: None });
                self.messages.push((turn.message.map(Cow::into_owned), Contribution::Turn));
                if self.chat.turns.len() > 2 * MAX_TURNS {
                    self.chat.turns.drain(..MAX_TURNS);
                }
            }
            ChatEvent::Call(call) => {
                let turn = self.chat.turns.last().map_or(0, |last| last.number);
                let evidence = CallEvidence { turn, ..call.evidence(redact) };
                if self.chat.calls.len() < 4 * MAX_CALLS {
                    self.by_id.insert(evidence.id, self.chat.calls.len());
                    self.chat.calls.push(evidence);
                    self.messages.push((call.message.map(Cow::into_owned), Contribution::Call));
                }
            }
            ChatEvent::CallEnd(end) => {
                let end = end.redacted(redact);
                if let Some(call) = self.by_id.get(&end.id).and_then(|&at| self.chat.calls.get_mut(at)) {
                    end.apply(call);
                }
            }
            ChatEvent::Interrupted => crate::evidence::interrupt(&mut self.chat.calls),
            ChatEvent::Rewind(rewind) => self.rewind(rewind),
            ChatEvent::Replace(message) => self.replace(message),
            ChatEvent::Turn(_) | ChatEvent::Compacted(_) => {}
        }
    }

    /// Removes turns and calls from the end.
    fn rewind(&mut self, rewind: Rewind<'_>) {
        let is_turn = |place: &Contribution| matches!(place, Contribution::Turn);
        let target = match rewind {
            Rewind::To(id) => self.messages.iter().position(|(message, _)| message.as_deref() == Some(id)).unwrap_or(0),
            Rewind::UserTurns(0) => self.messages.len(),
            Rewind::UserTurns(count) => {
                let turns = self.messages.iter().enumerate().rev().filter(|(_, (_, place))| is_turn(place)).map(|(at, _)| at);
                turns.take(usize::try_from(count).unwrap_or(usize::MAX)).last().unwrap_or(0)
            }
        };
        for (_, place) in self.messages.drain(target..).rev() {
            match place {
                Contribution::Turn => drop(self.chat.turns.pop()),
                Contribution::Call => drop(self.chat.calls.pop()),
            }
        }
    }

    /// Makes the calls of a message that is written again count no longer: they follow once more.
    fn replace(&mut self, message: &str) {
        let mut call = 0;
        let mut turn = 0;
        let mut kept = Vec::new();
        let (mut turns, mut calls) = (Vec::new(), Vec::new());
        for (id, place) in std::mem::take(&mut self.messages) {
            let is_kept = id.as_deref() != Some(message);
            match place {
                Contribution::Turn => {
                    turns.extend(self.chat.turns.get(turn).filter(|_| is_kept).cloned());
                    turn += 1;
                }
                Contribution::Call => {
                    calls.extend(self.chat.calls.get(call).filter(|_| is_kept).cloned());
                    call += 1;
                }
            }
            if is_kept {
                kept.push((id, place));
            }
        }
        (self.messages, self.chat.turns, self.chat.calls) = (kept, turns, calls);
        self.by_id = self.chat.calls.iter().enumerate().map(|(at, call)| (call.id, at)).collect();
    }
}
