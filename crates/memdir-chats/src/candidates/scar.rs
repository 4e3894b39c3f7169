//! *scar*: a command failed and, within the next calls, another invocation of the same program succeeded, in at least two conversations:
//! use this, not that. Reads only the structure of calls, never the text of a message.

use super::{SeenChat, naming};
use crate::{
    evidence::{CallOutcome, main_command},
    json::one_line,
};
use jiff::Timestamp;
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

/// Additions that switch a check off. What only works without a check is not a lesson.
const BYPASSES: &[&str] =
    &["--no-verify", "--force", "--insecure", "-k", "sudo", "--no-gpg-sign", "--force-with-lease", "--skip-checks", "|| true"];

/// Programs and their subcommands that run another program.
const RUNNERS: &[(&str, &str)] = &[
    ("uv", "run"),
    ("poetry", "run"),
    ("pipenv", "run"),
    ("bundle", "exec"),
    ("pnpm", "exec"),
    ("mise", "exec"),
    ("npx", ""),
    ("bunx", ""),
    ("doppler", "run"),
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

/// The words of an invocation, and the program that it runs.
struct Invocation<'c> {
    program: String,
    words: Vec<&'c str>,
}

/// Returns what was seen in a conversation, and the digests of the invocations that succeeded in it.
pub(super) fn observe(chat: &SeenChat) -> (Vec<ScarSeen>, HashSet<u64>) {
    let (mut seen, mut succeeded): (Vec<ScarSeen>, HashSet<u64>) = (Vec::new(), HashSet::new());
    for (at, call) in chat.calls.iter().enumerate() {
        let Some(bad) = call.command.as_deref().and_then(invocation) else { continue };
        if call.outcome == CallOutcome::Succeeded {
            succeeded.insert(digest(&bad));
        }
        if call.outcome != CallOutcome::Failed || SEARCHES.contains(&bad.program.as_str()) {
            continue;
        }
        let next = chat.calls[at + 1..].iter().take(NEXT_CALLS).take_while(|next| next.turn == call.turn);
        // After an edit it is the edit that helped.
        let unedited = next.take_while(|next| next.edit.is_none());
        let good = unedited.filter(|next| next.outcome == CallOutcome::Succeeded).find_map(|next| {
            next.command.as_deref().and_then(invocation).filter(|good| good.program == bad.program).map(|good| (next, good))
        });
        let Some((next, good)) = good else { continue };
        if let Some(change) = change(&bad, &good) {
            let turn = chat.turn(call.turn);
            seen.push(ScarSeen {
                session: chat.session.clone(),
                change,
                bad: bad.words.join(" "),
                good: good.words.join(" "),
                error: call.error.clone(),
                cite: turn.and_then(|turn| turn.cite.clone()),
                at: next.at.or(call.at),
            });
        }
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
    groups.sort_by_key(|(change, _)| *change);
    let mut found = Vec::new();
    for (change, group) in groups {
        let sessions: Vec<String> = unique(group.iter().map(|seen| seen.session.clone()));
        let is_valid = group.iter().all(|seen| invocation(&seen.bad).is_some_and(|bad| !succeeded.contains(&digest(&bad))));
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
            "{title}.\n\nIn {} conversations `{}` failed{error} and `{}` succeeded.\n",
            sessions.len(),
            short(&last.bad),
            short(&last.good)
        ),
        when: naming::when("command", naming::command_pattern(&bad).into_iter().collect()),
        words: String::new(),
        turns: unique(group.iter().filter_map(|seen| seen.cite.clone())),
        at: group.iter().filter_map(|seen| seen.at).max(),
        weight: (0.4 + 0.1 * sessions.len() as f32).min(0.9),
        sessions,
        key,
    }
}

/// Returns the one command of a line that does more than prepare: its words, and its program without runners.
fn invocation(line: &str) -> Option<Invocation<'_>> {
    let mut main = None;
    for part in line.split(['\n', ';']).flat_map(|part| part.split("&&")) {
        let part = part.split(" | ").next().unwrap_or_default().trim();
        let first = part.split(' ').next().unwrap_or_default();
        if part.is_empty() || matches!(first, "cd" | "export" | "source" | "." | "set" | "echo" | "true" | "pushd" | "popd") {
            continue;
        }
        if main.replace(part).is_some() {
            return None;
        }
    }
    let words: Vec<&str> = main?
        .split_whitespace()
        .filter(|word| !matches!(*word, "2>&1" | "||") && !word.starts_with('>') && !word.starts_with("2>"))
        .collect();
    let mut rest: &[&str] = &words;
    while rest.first().is_some_and(|word| word.contains('=') && !word.starts_with('-')) {
        rest = &rest[1..];
    }
    for (runner, subcommand) in RUNNERS {
        if rest.first() == Some(runner) && (subcommand.is_empty() || rest.get(1) == Some(subcommand)) {
            rest = &rest[if subcommand.is_empty() { 1 } else { 2 }..];
            break;
        }
    }
    let program = main_command(&rest.join(" "))?.split(' ').next()?.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').to_owned();
    (!program.is_empty() && words.len() <= 40).then_some(Invocation { program, words })
}

/// Returns what changed from one invocation to the other, if it is more than an operand and not a bypass of a check.
fn change(bad: &Invocation<'_>, good: &Invocation<'_>) -> Option<String> {
    let without = |from: &[&str], other: &[&str]| {
        let mut left: Vec<String> = Vec::new();
        let mut other: Vec<&str> = other.to_vec();
        for word in from {
            match other.iter().position(|same| same == word) {
                Some(at) => drop(other.swap_remove(at)),
                None => left.push((*word).to_owned()),
            }
        }
        left
    };
    let (removed, added) = (without(&bad.words, &good.words), without(&good.words, &bad.words));
    let is_operand = |word: &String| {
        !word.starts_with('-')
            && (!word.contains('=') || word.contains('/'))
            && (word.contains('/') || word.contains('.') || word.contains(['"', '\'', '$']))
    };
    let count = removed.len() + added.len();
    let all = || removed.iter().chain(&added);
    if count == 0 || count > 8 || all().all(is_operand) || added.iter().any(|word| is_bypass(&bad.program, word)) {
        return None;
    }
    Some(format!("{}\n{}\n{}", bad.program, removed.join(" "), added.join(" ")))
}

/// Whether a word switches a check off. `-f` forces in git and names a file elsewhere.
fn is_bypass(program: &str, word: &str) -> bool {
    BYPASSES.contains(&word) || (program == "git" && word == "-f")
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

fn unique(items: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept = Vec::new();
    for item in items {
        if !kept.contains(&item) {
            kept.push(item);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_is_named_by_its_words() {
        let change = |bad: &str, good: &str| change(&invocation(bad)?, &invocation(good)?);
        assert_eq!(change("pytest a.py", "uv run pytest a.py").as_deref(), Some("pytest\n\nuv run"));
        assert_eq!(change("cd x && npm test", "npm run test:unit 2>&1 | tail").as_deref(), Some("npm\ntest\nrun test:unit"));
        assert_eq!(change("RAILS_ENV=test rspec", "rspec").as_deref(), Some("rspec\nRAILS_ENV=test\n"));
        assert_eq!(change("wc -l a/b.rs", "wc -l a.rs"), None, "operands");
        assert_eq!(change("git commit -m x", "git commit --no-verify -m x"), None, "a bypass");
        assert_eq!(change("make a && make b", "make c"), None, "two commands");
    }
}
