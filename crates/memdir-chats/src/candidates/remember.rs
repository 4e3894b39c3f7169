//! *remember*: the person asked for it at the beginning of a sentence, and nothing was saved afterwards in that conversation.

use super::{
    SeenChat, TypedTurn,
    lexicon::PhraseKind,
    naming,
    read_chat::{ReadChat, read_sentences},
    request::requested,
    sentence::Sentence,
    short_words,
    typed::{is_question, says_something},
};
use crate::evidence::{CallEvidence, CallOutcome};
use memdir_core::{Candidate, CandidateKind};

/// The requests of one message that count: more are pasted.
const MAX_REQUESTS: usize = 5;

/// Returns the candidates of a conversation whose request is one of the turns after `after`.
pub(super) fn find(read: &ReadChat<'_>, after: u64) -> Vec<Candidate> {
    let mut found = Vec::new();
    let chat = read.chat;
    let last_saved = chat.calls.iter().filter(|call| saves_memory(call)).map(|call| call.turn).max();
    for (at, message) in read.turns_after(after) {
        let (turn, all) = (message.turn, &message.sentences);
        // Something was saved in the turn of the request or after it.
        if last_saved >= Some(turn.number) {
            continue;
        }
        for (number, content) in all.iter().enumerate().filter_map(|(at, sentence)| Some((at, requested(sentence)?))).take(MAX_REQUESTS) {
            if says_something(content) {
                found.push(candidate(chat, &[turn], all[number].text.to_owned(), content));
                continue;
            }
            // "Remember that": what it points to is the rest of the message, or the message before it.
            let others: Vec<&str> = all.iter().enumerate().filter(|(other, _)| *other != number).map(|(_, other)| other.text).collect();
            let before = read.turns[..at].last();
            let (pointed, turns) = match before {
                _ if !others.is_empty() => (others.join(" "), vec![turn]),
                Some(before) => (before.text.trim().to_owned(), vec![before.turn, turn]),
                None => continue,
            };
            if is_fact(&pointed) {
                // The words that would be saved, so that the reader sees them.
                found.push(candidate(chat, &turns, short_words(&pointed), &pointed));
            }
        }
    }
    found
}

/// Whether a text says something, instead of asking for it.
fn is_fact(text: &str) -> bool {
    let is_task = |sentence: &Sentence<'_>| sentence.begins(PhraseKind::Tasks);
    let all = read_sentences(text);
    says_something(text) && !all.iter().any(|sentence| is_question(sentence.text)) && !all.iter().all(is_task)
}

fn candidate(chat: &SeenChat, turns: &[&TypedTurn], words: String, content: &str) -> Candidate {
    let key = naming::key("remember", content, "");
    let memory_type = naming::kind_of(content);
    Candidate {
        kind: CandidateKind::Remember,
        name: naming::name(naming::folder(memory_type), content, &key),
        memory_type,
        description: naming::description(content),
        text: format!("{words}\n"),
        when: None,
        words,
        turns: turns.iter().filter_map(|turn| turn.cite.clone()).collect(),
        sessions: vec![chat.session.clone()],
        at: turns.last().and_then(|turn| turn.at),
        key,
        other_keys: Vec::new(),
        weight: 0.9,
    }
}

/// Whether a call saves a memory: with a tool for it, or by writing a file that agents load.
fn saves_memory(call: &CallEvidence) -> bool {
    if !matches!(call.outcome, CallOutcome::Succeeded | CallOutcome::Unknown) {
        return false;
    }
    const TOOLS: &[&str] = &[
        "memory_write", "memory_edit", "memory_append", "memory_log", "save_memory", "store_memory", "add_memory", "write_memory",
        "write_note", "edit_note", "create_entities", "add_observations", "remember",
    ];
    const FILES: &[&str] = &["memory.md", "claude.md", "claude.local.md", "agents.md", "gemini.md", "copilot-instructions.md"];
    const FOLDERS: &[&str] = &["/memory/", "/memories/", "/.memdir/", "/.cursor/rules/"];
    let tool = call.tool.to_lowercase();
    let is_file = |path: &String| {
        let path = path.to_lowercase();
        FILES.iter().any(|name| path == *name || path.ends_with(&format!("/{name}"))) || FOLDERS.iter().any(|folder| path.contains(folder))
    };
    TOOLS.iter().any(|name| tool.ends_with(name))
        || (call.edit.is_some() && call.paths.iter().any(is_file))
        || (call.program.as_deref() == Some("memdir")
            && call.command.as_deref().is_some_and(|line| line.contains(" write") || line.contains(" edit")))
}
