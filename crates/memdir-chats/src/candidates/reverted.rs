//! *reverted*: an edit that was undone after the person asked for it: by `git checkout` or `git restore` of its path, or by an edit
//! that restores the old text.

use super::{
    lexicon::PhraseKind,
    naming,
    read_chat::{ReadChat, ReadTurn, read_sentences},
    rules::is_go_ahead,
    sentence::Sentence,
    short_words,
    typed::{is_question, says_something},
};
use crate::evidence::{CallEvidence, CallOutcome};
use memdir_core::{Candidate, CandidateKind, Kind, internal::recall::when};

/// Returns the candidates of a conversation whose reason is one of the turns after `after`.
pub(super) fn find(read: &ReadChat<'_>, after: u64) -> Vec<Candidate> {
    let mut found: Vec<(u64, Candidate)> = Vec::new();
    let chat = read.chat;
    for (at, undo) in chat.calls.iter().enumerate() {
        let Some(message) = read.turn(undo.turn).filter(|message| message.turn.number > after) else { continue };
        let turn = message.turn;
        if !matches!(undo.outcome, CallOutcome::Succeeded | CallOutcome::Unknown) || found.iter().any(|(number, _)| *number == turn.number)
        {
            continue;
        }
        let earlier = || chat.calls[..at].iter().rev().filter(|call| call.turn < undo.turn && is_done_edit(call));
        let restored: Vec<&CallEvidence> = match &undo.command {
            Some(command) => {
                let paths = restored_paths(command);
                earlier().filter(|edit| edit.paths.iter().any(|path| paths.iter().any(|arg| is_same_path(path, arg)))).take(4).collect()
            }
            None => earlier().filter(|edit| is_reversal_of(undo, edit)).take(1).collect(),
        };
        let Some(edit) = restored.first() else { continue };
        if is_asked(message) {
            let project = chat.project.as_deref();
            let text = short_words(message.text);
            let path = naming::relative(&edit.paths[0], project).to_owned();
            let key = naming::key("reverted", message.text, &path);
            let candidate = Candidate {
                kind: CandidateKind::Reverted,
                name: naming::name("feedback", &text, &key),
                memory_type: Kind::Feedback,
                description: naming::description(&text),
                text: format!("{text}\n\nAn edit to `{path}` was undone at the user's request.\n"),
                when: naming::when("path", vec![path]),
                words: text,
                turns: turn.cite.iter().cloned().collect(),
                sessions: vec![chat.session.clone()],
                at: undo.at.or(turn.at),
                key,
                other_keys: Vec::new(),
                weight: 0.6,
            };
            found.push((turn.number, candidate));
        }
    }
    found.into_iter().map(|(_, candidate)| candidate).collect()
}

fn is_done_edit(call: &CallEvidence) -> bool {
    call.edit.is_some() && !call.paths.is_empty() && matches!(call.outcome, CallOutcome::Succeeded | CallOutcome::Unknown)
}

/// Whether an edit writes what another one replaced, in the same file.
fn is_reversal_of(undo: &CallEvidence, edit: &CallEvidence) -> bool {
    let (Some(undo_edit), Some(edited)) = (undo.edit, edit.edit) else { return false };
    let is_back = undo_edit.after != 0 && undo_edit.after == edited.before && (undo_edit.before == edited.after || undo_edit.before == 0);
    is_back && undo_edit.after != edited.after && undo.paths == edit.paths
}

/// What is undone, in the words of the person: they are not about this moment only, as they are elsewhere.
const UNDONE: [&str; 3] = ["this change", "this edit", "this one"];

/// Whether the person asked for it and gave a reason: more than one clause, and nothing about this moment only.
fn is_asked(message: &ReadTurn<'_>) -> bool {
    let text = message.text;
    let replaced = UNDONE.iter().find(|undone| text.contains(*undone)).map(|undone| text.replace(undone, "it"));
    let renamed = replaced.as_deref().map(read_sentences);
    let read = renamed.as_ref().unwrap_or(&message.sentences);
    if !says_something(text) || is_go_ahead(text, read) || read.iter().any(|sentence| is_question(sentence.text)) {
        return false;
    }
    let asks = read.iter().any(|sentence| sentence.has(PhraseKind::Undo) || sentence.opens_with(PhraseKind::Undo));
    let is_passing = read.iter().any(|sentence| sentence.has(PhraseKind::Passing) || sentence.clause_begins(PhraseKind::Later));
    let has_reason = read.len() > 1 || read.iter().any(Sentence::has_clauses);
    asks && has_reason && !is_passing
}

/// Returns the paths that the `git checkout` and `git restore` of a command line restore.
fn restored_paths(line: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for command in when::commands(line) {
        let words: Vec<&str> = command.split(' ').collect();
        let args = match words.as_slice() {
            ["git", "checkout", args @ ..] if !args.iter().any(|arg| matches!(*arg, "-b" | "-B" | "--orphan" | "-t" | "--detach")) => args,
            ["git", "restore", args @ ..] if !args.contains(&"--staged") || args.contains(&"--worktree") => args,
            _ => continue,
        };
        let after = args.iter().position(|arg| *arg == "--").map_or(args, |at| &args[at + 1..]);
        paths.extend(after.iter().filter(|arg| !arg.starts_with('-')).map(|arg| arg.trim_matches(['\'', '"']).to_owned()));
    }
    paths
}

/// Whether an argument of git names the edited file: the same path, or its end; `.` names every file.
fn is_same_path(edited: &str, arg: &str) -> bool {
    let arg = arg.trim_start_matches("./").trim_end_matches('/');
    arg == "." || (!arg.is_empty() && (edited == arg || edited.ends_with(&format!("/{arg}")) || arg.ends_with(&format!("/{edited}"))))
}
