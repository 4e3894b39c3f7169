//! *denied*: the person rejected or interrupted an action and said why, in the dialog or in the next message.

use super::{
    SeenChat, naming, short_words,
    typed::{is_go_ahead, is_question, says_something},
};
use crate::evidence::{CallEvidence, CallOutcome};
use memdir_core::{Candidate, CandidateKind, Kind};

/// Returns the candidates of a conversation whose reason is one of the turns behind `after`.
pub(super) fn find(chat: &SeenChat, after: u64) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    let denied = |call: &&CallEvidence| call.is_denied() && (call.command.is_some() || !call.paths.is_empty());
    let mut at = 0;
    let calls: Vec<&CallEvidence> = chat.calls.iter().filter(denied).collect();
    while at < calls.len() {
        // Calls that were denied together have one reason.
        let first = calls[at];
        let together =
            calls[at..].iter().take_while(|call| call.turn == first.turn && (call.reason.is_none() || call.reason == first.reason)).count();
        let group = &calls[at..at + together.max(1)];
        at += together.max(1);
        let dialog = group.iter().find_map(|call| call.reason.as_deref());
        let next = chat.turn(first.turn + 1);
        let (reason, cite, evidence_turn) = match (dialog, next) {
            (Some(reason), _) => (reason, chat.turn(first.turn), first.turn),
            (None, Some(next)) => (next.text.as_str(), Some(next), next.number),
            (None, None) => continue,
        };
        if evidence_turn <= after || !is_reason(reason) || group.iter().any(|call| was_allowed(chat, call)) {
            continue;
        }
        found.push(candidate(chat, group, reason, cite));
    }
    found
}

/// Whether a message says why an action was denied: not a question, not a word that lets the work go on.
fn is_reason(text: &str) -> bool {
    let last = super::typed::sentences(text);
    says_something(text) && !last.is_empty() && !is_go_ahead(text) && !last.last().is_some_and(|sentence| is_question(sentence))
}

/// Whether the same action succeeded later in the conversation.
fn was_allowed(chat: &SeenChat, denied: &CallEvidence) -> bool {
    let later = chat.calls.iter().rev().take_while(|call| !std::ptr::eq(*call, denied));
    later.filter(|call| call.outcome == CallOutcome::Succeeded).any(|call| match &denied.command {
        Some(command) => call.command.as_ref() == Some(command),
        None => call.edit.is_some() && call.edit == denied.edit && call.paths == denied.paths,
    })
}

fn candidate(chat: &SeenChat, group: &[&CallEvidence], reason: &str, cite: Option<&super::TypedTurn>) -> Candidate {
    let project = chat.project.as_deref();
    let words = short_words(reason);
    let actions: Vec<String> = group.iter().take(3).map(|call| naming::action(call, project)).collect();
    let key = naming::key("denied", reason, &actions[0]);
    let verb = if group[0].outcome == CallOutcome::Denied { "rejected" } else { "interrupted" };
    Candidate {
        kind: CandidateKind::Denied,
        name: naming::name("feedback", &words, &key),
        memory_type: Kind::Feedback,
        description: naming::description(&words),
        text: format!("{words}\n\nThe person {verb} {}.\n", actions.join(", ")),
        when: naming::action_when(group, project, reason),
        turns: cite.and_then(|turn| turn.cite.clone()).into_iter().collect(),
        words,
        sessions: vec![chat.session.clone()],
        at: group[0].at.or(cite.and_then(|turn| turn.at)),
        key,
        weight: if group[0].outcome == CallOutcome::Denied { 0.8 } else { 0.6 },
    }
}
