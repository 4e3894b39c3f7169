//! *reverted*: an edit that was undone after the person said something: by `git checkout` or `git restore` of its path, or by an edit
//! that restores the old text.

use super::{
    SeenChat, naming, short_words,
    typed::{is_go_ahead, is_question, says_something, sentences, words},
};
use crate::evidence::{CallEvidence, CallOutcome};
use memdir_core::{Candidate, CandidateKind, Kind, internal::recall::when};

/// Words with which people ask for an edit to be undone.
const UNDO: &[&str] = &[
    "undo",
    "revert",
    "restore",
    "back",
    "rollback",
    "wrong",
    "no",
    "not",
    "don't",
    "instead",
    "rückgängig",
    "zurück",
    "falsch",
    "nicht",
    "deshaz",
    "deshacer",
    "revierte",
    "vuelve",
    "restaura",
    "annule",
    "remets",
    "reviens",
    "rétablis",
    "annulla",
    "ripristina",
    "desfaça",
    "desfaz",
    "reverte",
    "herstel",
    "terug",
    "cofnij",
    "przywróć",
    "верни",
    "откати",
    "отмени",
    "поверни",
    "відкоти",
    "скасуй",
    "geri",
    "ångra",
    "återställ",
    "되돌려",
];
const UNDO_PARTS: &[&str] = &["戻して", "戻す", "取り消", "改回", "撤销", "恢复", "还原", "不要"];

/// Returns the candidates of a conversation whose reason is one of the turns behind `after`.
pub(super) fn find(chat: &SeenChat, after: u64) -> Vec<Candidate> {
    let mut found: Vec<(u64, Candidate)> = Vec::new();
    for (at, undo) in chat.calls.iter().enumerate() {
        let Some(turn) = chat.turn(undo.turn).filter(|turn| turn.number > after) else { continue };
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
            None => earlier().filter(|edit| takes_back(undo, edit)).take(1).collect(),
        };
        let Some(edit) = restored.first() else { continue };
        if is_asked(chat, at, &turn.text) {
            let project = chat.project.as_deref();
            let text = short_words(&turn.text);
            let path = naming::relative(&edit.paths[0], project).to_owned();
            let key = naming::key("reverted", &turn.text, &path);
            let candidate = Candidate {
                kind: CandidateKind::Reverted,
                name: naming::name("feedback", &text, &key),
                memory_type: Kind::Feedback,
                description: naming::description(&text),
                text: format!("{text}\n\nAn edit of `{path}` was undone at the person's request.\n"),
                when: naming::when("path", vec![path]),
                words: text,
                turns: turn.cite.iter().cloned().collect(),
                sessions: vec![chat.session.clone()],
                at: undo.at.or(turn.at),
                key,
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
fn takes_back(undo: &CallEvidence, edit: &CallEvidence) -> bool {
    let (Some(undo_edit), Some(edited)) = (undo.edit, edit.edit) else { return false };
    let is_back = undo_edit.after != 0 && undo_edit.after == edited.before && (undo_edit.before == edited.after || undo_edit.before == 0);
    is_back && undo_edit.after != edited.after && undo.paths == edit.paths
}

/// Whether the person asked for it: in words, or because it is the first thing that was done after the message.
fn is_asked(chat: &SeenChat, at: usize, message: &str) -> bool {
    if !says_something(message) || is_go_ahead(message) || sentences(message).iter().any(|sentence| is_question(sentence)) {
        return false;
    }
    let has_word = words(message).iter().any(|word| UNDO.contains(&word.as_str())) || UNDO_PARTS.iter().any(|part| message.contains(part));
    let undo = &chat.calls[at];
    let only_reads = |call: &CallEvidence| call.edit.is_none() && call.command.as_deref().is_none_or(|line| line.starts_with("git "));
    let is_first = chat.calls[..at].iter().rev().take_while(|call| call.turn == undo.turn).all(only_reads);
    has_word || is_first
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
        let behind = args.iter().position(|arg| *arg == "--").map_or(args, |at| &args[at + 1..]);
        paths.extend(behind.iter().filter(|arg| !arg.starts_with('-')).map(|arg| arg.trim_matches(['\'', '"']).to_owned()));
    }
    paths
}

/// Whether an argument of git names the edited file: the same path, or its end; `.` names every file.
fn is_same_path(edited: &str, arg: &str) -> bool {
    let arg = arg.trim_start_matches("./").trim_end_matches('/');
    arg == "." || (!arg.is_empty() && (edited == arg || edited.ends_with(&format!("/{arg}")) || arg.ends_with(&format!("/{edited}"))))
}
