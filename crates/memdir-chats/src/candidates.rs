//! Candidates for memories, found in conversations: what a person typed and what became of tool calls. Never from text of an assistant
//! or a tool, and without a model. [`find_new`] reads the archive, [`find_in_running`] one transcript, of which it keeps nothing.

mod denied;
mod invocation;
mod lexicon;
mod naming;
mod read_chat;
mod remember;
mod repeat;
mod request;
mod reverted;
mod rules;
mod running;
mod scar;
mod seen;
mod sentence;
mod state;
mod typed;
mod wording;

use crate::{archive::ChatArchive, evidence::CallEvidence, selection::SearchedProject};
use jiff::Timestamp;
use memdir_core::{Candidate, CandidateKind, Clock, Embedder, Result};
use read_chat::ReadChat;
use repeat::Sentences;
pub use running::{find_in_running, find_in_transcripts, session_name};
use seen::ChangedChat;
use state::{ChatMark, FindState};
use std::collections::{BTreeSet, HashMap, HashSet};

/// A conversation as the detectors see it.
#[derive(Debug, Clone, Default)]
struct SeenChat {
    /// `host/key`.
    session: String,
    /// The working directory.
    project: Option<String>,
    /// What the person typed, in order.
    turns: Vec<TypedTurn>,
    calls: Vec<CallEvidence>,
    /// Whether a program, not a person, wrote the prompts.
    is_scripted: bool,
    /// Whether a run of a script would look the same while there is one message.
    scripts_look_alike: bool,
}

/// A message that the person typed.
#[derive(Debug, Clone, Default)]
struct TypedTurn {
    /// Its number among the person's messages, counted from 1.
    number: u64,
    at: Option<Timestamp>,
    text: String,
    /// `chats/claude-code/1f2e.md:12-14`; `None` if it is not archived.
    cite: Option<String>,
}

impl SeenChat {
    /// Whether only one message is there, which may be a script's. The next message decides.
    fn is_doubtful(&self) -> bool {
        self.scripts_look_alike && self.turns.len() < 2
    }

    /// Returns the person's message with this number.
    fn turn(&self, number: u64) -> Option<&TypedTurn> {
        let at = self.turns.partition_point(|turn| turn.number < number);
        self.turns.get(at).filter(|turn| turn.number == number)
    }
}

/// Characters of a person's words in a candidate.
const WORDS_CHARS: usize = 600;

/// Returns a person's words, verbatim up to a limit.
fn short_words(text: &str) -> String {
    let text = text.trim();
    text.char_indices().nth(WORDS_CHARS).map_or_else(|| text.to_owned(), |(end, _)| format!("{}…", &text[..end]))
}

/// What is searched for candidates.
pub struct FindRequest<'a> {
    /// The project whose conversations are read; `None` for all.
    pub project: Option<&'a SearchedProject>,
    /// The conversation, as `host/key`, whose agent has just stopped. Its last message counts as answered, because hosts write the
    /// answer to the transcript only later. In the others, the last message waits until it is answered.
    pub stopped: Option<&'a str>,
    /// Finds repeats with other words. Only an instant one is used.
    pub embedder: Option<&'a dyn Embedder>,
    /// The time at which reading stops; the rest is found the next time. `None` for no limit.
    pub until: Option<Timestamp>,
    /// The clock.
    pub clock: &'a dyn Clock,
}

/// The candidates with evidence that was not seen before.
pub struct FoundCandidates {
    /// The candidates. One that was found before with less evidence has the same key.
    pub candidates: Vec<Candidate>,
    /// The number of conversations that were read because they had changed.
    pub read: usize,
    /// The number of changed conversations that were left for the next time.
    pub left: usize,
    state: FindState,
    archive: ChatArchive,
}

impl FoundCandidates {
    /// Remembers what was read, so that it is not found again. To be called when the candidates are stored; without it, the next call
    /// of [`find_new`] finds them again.
    pub fn save(&self) -> Result<()> {
        self.state.save(&self.archive)
    }
}

/// Finds candidates in the archived conversations of a project. Only conversations that changed since the last [`FoundCandidates::save`]
/// are read, and only turns that were not looked at before give candidates.
pub fn find_new(archive: &ChatArchive, request: &FindRequest<'_>) -> Result<FoundCandidates> {
    find_after(archive, request, FindState::load(archive, request.project))
}

/// Finds the candidates of all archived conversations of a project, as if none had been read before. Remembers nothing.
pub fn find_all(archive: &ChatArchive, request: &FindRequest<'_>) -> Result<Vec<Candidate>> {
    Ok(find_after(archive, request, FindState::default())?.candidates)
}

fn find_after(archive: &ChatArchive, request: &FindRequest<'_>, mut state: FindState) -> Result<FoundCandidates> {
    let changed = seen::changed(archive, request.project, &mut state)?;
    if changed.is_empty() {
        return Ok(FoundCandidates { candidates: Vec::new(), read: 0, left: 0, state, archive: archive.clone() });
    }
    let mut sentences = Sentences::new(std::mem::take(&mut state.sentences));
    let (mut candidates, mut repeated, mut new) = (Vec::new(), BTreeSet::new(), HashSet::new());
    let (mut read, mut left) = (0, 0);
    for (number, chat) in changed.iter().enumerate() {
        if request.until.is_some_and(|until| request.clock.now() >= until) {
            left = changed.len() - number;
            break;
        }
        read += 1;
        let Some((chat, complete)) = seen::read(archive, chat)? else { continue };
        let ChangedChat { bytes, mtime_ns, .. } = changed[number];
        let before = state.chats.get(&chat.session).map_or(0, |mark: &ChatMark| mark.turns);
        // A transcript that was rewound has fewer turns than before.
        let after = if before > complete { 0 } else { before };
        // Only what is answered counts as read: the rest of a turn that has just stopped may not be in the transcript yet.
        let last = if request.stopped == Some(chat.session.as_str()) { u64::MAX } else { complete };
        state.forget_scars(&chat.session);
        match ReadChat::new(&chat, last) {
            Some(read) => {
                candidates.extend(find_in(&read, after));
                candidates.extend(reverted::find(&read, after));
                repeated.extend(sentences.add(&read, after, request.embedder));
                let (scars, succeeded) = scar::observe(&chat);
                state.scars.extend(scars);
                state.add_succeeded(succeeded);
                new.insert(chat.session.clone());
            }
            None => sentences.forget(&chat.session),
        }
        let turns = if chat.is_doubtful() { 0 } else { complete };
        state.mark(&chat.session, ChatMark { bytes, mtime_ns, turns });
    }
    candidates.extend(repeated.into_iter().filter_map(|group| sentences.candidate(group)));
    candidates.extend(scar::find(&state.scars, &state.succeeded_set(), &new));
    state.sentences = sentences.into_seen();
    Ok(FoundCandidates { candidates: unique(candidates), read, left, state, archive: archive.clone() })
}

/// Returns the candidates that need one conversation only and no later knowledge: *remember* and *denied*.
fn find_in(read: &ReadChat<'_>, after: u64) -> Vec<Candidate> {
    let mut found = remember::find(read, after);
    found.extend(denied::find(read, after));
    found
}

/// Joins candidates with the same key: the conversations and turns of all.
fn unique(candidates: Vec<Candidate>) -> Vec<Candidate> {
    let mut kept: Vec<Candidate> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for candidate in candidates {
        let Some(&place) = places.get(&candidate.key) else {
            places.insert(candidate.key.clone(), kept.len());
            kept.push(candidate);
            continue;
        };
        let first = &mut kept[place];
        for session in candidate.sessions {
            if !first.sessions.contains(&session) {
                first.sessions.push(session);
            }
        }
        for turn in candidate.turns {
            if !first.turns.contains(&turn) {
                first.turns.push(turn);
            }
        }
        first.at = first.at.max(candidate.at);
        first.weight = first.weight.max(candidate.weight);
    }
    kept
}

/// The kinds that [`find_in_running`] finds.
pub const RUNNING_KINDS: [CandidateKind; 2] = [CandidateKind::Remember, CandidateKind::Denied];
