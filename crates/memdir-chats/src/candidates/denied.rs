//! *denied*: the person rejected or interrupted an action and gave a reason, in the dialog or in the next message.

use super::{
    SeenChat, naming,
    read_chat::{ReadChat, read_sentences},
    rules::is_reason,
    short_words,
};
use crate::{
    evidence::{CallEvidence, CallOutcome},
    facts::EditDigest,
};
use memdir_core::{Candidate, CandidateKind, Kind};
use std::collections::HashMap;

/// Returns the candidates of a conversation whose reason is one of the turns after `after`.
pub(super) fn find(read: &ReadChat<'_>, after: u64) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    let chat = read.chat;
    let denied = |call: &&CallEvidence| call.is_denied() && (call.command.is_some() || !call.paths.is_empty());
    let mut at = 0;
    let allowed = Allowed::new(chat);
    let calls: Vec<&CallEvidence> = chat.calls.iter().filter(denied).collect();
    while at < calls.len() {
        // Calls that were denied together have one reason.
        let first = calls[at];
        let together =
            calls[at..].iter().take_while(|call| call.turn == first.turn && (call.reason.is_none() || call.reason == first.reason)).count();
        let group = &calls[at..at + together.max(1)];
        at += together.max(1);
        let dialog = group.iter().find_map(|call| call.reason.as_deref());
        let typed_in_dialog;
        let (reason, sentences, cite, evidence_turn) = match (dialog, read.turn(first.turn + 1)) {
            (Some(reason), _) => {
                typed_in_dialog = read_sentences(reason);
                (reason, &typed_in_dialog, read.turn(first.turn), first.turn)
            }
            (None, Some(next)) => (next.text, &next.sentences, Some(next), next.turn.number),
            (None, None) => continue,
        };
        if evidence_turn <= after || !is_reason(reason, sentences) || group.iter().any(|call| allowed.has(call)) {
            continue;
        }
        found.push(candidate(chat, group, reason, cite.map(|read| read.turn)));
    }
    found
}

/// Actions that succeeded, each with the turn of the last time.
struct Allowed<'c>(HashMap<(Option<&'c str>, Option<EditDigest>), u64>);

impl<'c> Allowed<'c> {
    fn new(chat: &'c SeenChat) -> Self {
        let succeeded =
            chat.calls.iter().filter(|call| call.outcome == CallOutcome::Succeeded && (call.command.is_some() || call.edit.is_some()));
        Allowed(succeeded.map(|call| ((call.command.as_deref(), call.edit), call.turn)).collect())
    }

    /// Whether the same action succeeded in a turn after it was denied.
    fn has(&self, denied: &CallEvidence) -> bool {
        let last = self.0.get(&(denied.command.as_deref(), denied.edit));
        last.is_some_and(|&turn| turn > denied.turn)
    }
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
        other_keys: Vec::new(),
        weight: if group[0].outcome == CallOutcome::Denied { 0.8 } else { 0.6 },
    }
}
