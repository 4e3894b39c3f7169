//! *scar*: a command failed and, within the next calls, another invocation of the same program succeeded, in at least two conversations:
//! use this, not that. Reads only the structure of calls, never the text of a message.

use super::{
    SeenChat,
    invocation::{Invocation, change},
    naming,
};
use crate::{evidence::CallOutcome, json::one_line};
use jiff::Timestamp;
use memdir_core::internal::base::sort::SharedSort as _;
use memdir_core::{Candidate, CandidateKind, Kind};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// The number of calls after a failure among which another invocation counts.
const NEXT_CALLS: usize = 4;

/// Programs that look for something: finding nothing is not a mistake.
const SEARCHES: &[&str] = &[
    "ls", "cat", "grep", "rg", "egrep", "find", "fd", "sed", "awk", "head", "tail", "test", "[", "which", "stat", "wc", "diff", "cmp",
    "file", "tree", "sqlite3", "jq", "ps", "pgrep", "kill", "pkill", "rm", "cp", "mv", "sleep", "wait", "touch", "chmod",
];

/// One failure and what worked instead, in one conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ScarSeen {
    pub(super) session: String,
    /// The words that were removed and added, with the program.
    change: String,
    bad: String,
    good: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cite: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<Timestamp>,
}

/// Returns what was seen in a conversation, and the digests of the invocations that succeeded in it.
pub(super) fn observe(chat: &SeenChat) -> (Vec<ScarSeen>, HashSet<u64>) {
    let (mut seen, mut succeeded): (Vec<ScarSeen>, HashSet<u64>) = (Vec::new(), HashSet::new());
    for (at, call) in chat.calls.iter().enumerate() {
        let Some(bad) = call.command.as_deref().and_then(Invocation::parse) else { continue };
        if call.outcome == CallOutcome::Succeeded {
            succeeded.insert(digest(&bad));
        }
        if call.outcome != CallOutcome::Failed || SEARCHES.contains(&bad.program.as_str()) {
            continue;
        }
        let next = chat.calls[at + 1..].iter().take(NEXT_CALLS).take_while(|next| next.turn == call.turn);
        // After an edit it is the edit that helped.
        let unedited = next.take_while(|next| next.edit.is_none());
        let error = call.error.as_deref().unwrap_or_default();
        // The first call that does the same in another way; what looks for the reason may come before it.
        let found = unedited.filter(|next| next.outcome == CallOutcome::Succeeded).find_map(|next| {
            let good = next.command.as_deref().and_then(Invocation::parse).filter(|good| good.program == bad.program)?;
            change(&bad, &good, error).map(|change| (next, good, change))
        });
        let Some((next, good, change)) = found else { continue };
        seen.push(ScarSeen {
            session: chat.session.clone(),
            change,
            bad: bad.words.join(" "),
            good: good.words.join(" "),
            error: call.error.clone(),
            cite: chat.turn(call.turn).and_then(|turn| turn.cite.clone()),
            at: next.at.or(call.at),
        });
    }
    (seen, succeeded)
}

/// Returns the candidates among everything that was seen, if one of the conversations in `new` is part of it. An invocation that has
/// succeeded somewhere did not fail because of how it was invoked.
pub(super) fn find(all: &[ScarSeen], succeeded: &HashSet<u64>, new: &HashSet<String>) -> Vec<Candidate> {
    let mut groups: HashMap<&str, Vec<&ScarSeen>> = HashMap::new();
    for seen in all {
        groups.entry(&seen.change).or_default().push(seen);
    }
    let mut groups: Vec<(&str, Vec<&ScarSeen>)> = groups.into_iter().collect();
    groups.shared_sort_by_key(|(change, _)| *change);
    let mut found = Vec::new();
    for (change, group) in groups {
        let sessions: Vec<String> = naming::unique(group.iter().map(|seen| seen.session.clone()));
        let is_valid = group.iter().all(|seen| Invocation::parse(&seen.bad).is_some_and(|bad| !succeeded.contains(&digest(&bad))));
        if sessions.len() >= 2 && is_valid && sessions.iter().any(|session| new.contains(session)) {
            found.push(candidate(change, &group, sessions));
        }
    }
    found
}

fn candidate(change: &str, group: &[&ScarSeen], sessions: Vec<String>) -> Candidate {
    let last = group[group.len() - 1];
    let bad = common_words(group.iter().map(|seen| seen.bad.as_str()));
    let good = common_words(group.iter().map(|seen| seen.good.as_str()));
    let good = if good.split(' ').count() + 1 < last.good.split(' ').count() || good == bad { last.good.clone() } else { good };
    let short = |text: &str| one_line(text, 160).replace('`', "'");
    let error = last.error.as_deref().map(|error| format!(" ({})", short(error))).unwrap_or_default();
    let title = format!("Use `{}`, not `{}`", short(&good), short(&bad));
    let key = naming::key("scar", "", change);
    Candidate {
        kind: CandidateKind::Scar,
        name: naming::name("feedback", &format!("use {good}"), &key),
        memory_type: Kind::Feedback,
        description: one_line(&title, 120),
        text: format!(
            "{title}.\n\nIn {} conversations, `{}` failed{error} and `{}` succeeded.\n",
            sessions.len(),
            short(&last.bad),
            short(&last.good)
        ),
        when: naming::when("command", naming::command_pattern(&bad).into_iter().collect()),
        words: String::new(),
        turns: naming::unique(group.iter().filter_map(|seen| seen.cite.clone())),
        at: group.iter().filter_map(|seen| seen.at).max(),
        weight: (0.4 + 0.1 * sessions.len() as f32).min(0.9),
        sessions,
        key,
        other_keys: Vec::new(),
    }
}

/// Returns the words that all lines begin with.
fn common_words<'l>(lines: impl Iterator<Item = &'l str>) -> String {
    let mut common: Option<Vec<&str>> = None;
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        common = Some(match common {
            None => words,
            Some(common) => common.into_iter().zip(words).take_while(|(a, b)| a == b).map(|(a, _)| a).collect(),
        });
    }
    common.unwrap_or_default().join(" ")
}

fn digest(invocation: &Invocation<'_>) -> u64 {
    crate::facts::digest(&invocation.words.join(" "))
}
