//! The turns of a chat written as Markdown. Most texts are not a chat and have none.
//!
//! Prose is full of words that look like a speaker (`**Note:** …`, `Why: …`). So if a text has openers such as User and Assistant,
//! only those are speakers; otherwise a name must open at least two paragraphs, all names together must open a third of the
//! paragraphs, and the usual labels of notes are never names.

use super::blocks::{BlockKind, LineBlock, is_blank};
use crate::base::day::Day;
use crate::base::sort::SharedSort as _;
use std::collections::HashMap;

/// The line that opens a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Opener {
    /// The line, from 0.
    pub(super) line: usize,
    pub(super) name: String,
    pub(super) assistant: bool,
    /// The date beside the name.
    pub(super) day: Option<Day>,
}

/// Returns the openers of a chat, in order; none if the text is not a chat.
pub(super) fn openers(lines: &[&str], blocks: &[LineBlock]) -> Vec<Opener> {
    let found = candidates(lines, blocks);
    let count = |wanted: Role| found.iter().filter(|o| role(&o.name) == wanted).count();
    let (people, assistants) = (count(Role::Person), count(Role::Assistant));
    if people + assistants >= 2 && assistants >= 1 {
        let partner = if people == 0 { partner(&found) } else { None };
        return found.into_iter().filter(|o| role(&o.name) != Role::Name || Some(&o.name) == partner.as_ref()).collect();
    }
    by_name(found, blocks)
}

/// The openers of a chat in which speakers are called by name.
fn by_name(found: Vec<Opener>, blocks: &[LineBlock]) -> Vec<Opener> {
    let counts = counts(&found);
    let speaks = |o: &Opener| counts[&o.name] >= 2 && !is_label(&o.name);
    let turns = found.iter().filter(|o| speaks(o)).count();
    let paragraphs = blocks.iter().filter(|b| b.kind == BlockKind::Paragraph).count();
    if turns * 3 < paragraphs || turns < 2 {
        return Vec::new();
    }
    found.into_iter().filter(|o| speaks(o)).collect()
}

/// The most frequent name in a chat with an assistant in which no speaker is called User.
fn partner(found: &[Opener]) -> Option<String> {
    let names = found.iter().filter(|o| role(&o.name) == Role::Name && !is_label(&o.name));
    let counts = counts(found);
    // The first of the most frequent ones, so that the choice does not depend on the order of a hash map.
    names
        .map(|o| (counts[&o.name], &o.name))
        .fold(None, |best: Option<(usize, &String)>, (n, name)| match best {
            Some((most, _)) if most >= n => best,
            _ => (n >= 2).then_some((n, name)).or(best),
        })
        .map(|(_, name)| name.clone())
}

fn counts(found: &[Opener]) -> HashMap<String, usize> {
    found.iter().fold(HashMap::new(), |mut counts, o| {
        *counts.entry(o.name.clone()).or_default() += 1;
        counts
    })
}

/// Every line that could open a turn: the first lines of paragraphs, all their lines if most turns are one line, and headings.
fn candidates(lines: &[&str], blocks: &[LineBlock]) -> Vec<Opener> {
    let paragraphs = || blocks.iter().filter(|b| b.kind == BlockKind::Paragraph);
    let firsts: Vec<usize> = paragraphs().map(|b| b.first).filter(|&at| opener(lines[at], at).is_some()).collect();
    let inner: Vec<usize> = paragraphs().flat_map(|b| b.first + 1..=b.last).filter(|&at| opener(lines[at], at).is_some()).collect();
    let mut at: Vec<usize> = if inner.len() > firsts.len() { [firsts, inner].concat() } else { firsts };
    at.sort_unstable();
    let mut found: Vec<Opener> = at.into_iter().filter_map(|at| opener(lines[at], at)).collect();
    found.extend(blocks.iter().filter_map(|b| match &b.kind {
        BlockKind::Heading { text, .. } => heading_opener(text, b.first),
        _ => None,
    }));
    found.shared_sort_by_key(|o| o.line);
    found
}

/// `## User`, `### Assistant (2024-05-01 10:00)`: only roles, because a name may be the subject of a section.
fn heading_opener(text: &str, line: usize) -> Option<Opener> {
    let bare = text.trim_matches(['*', '_', ':', ' ']);
    let (name, rest) = bare.split_once(['(', '[', ',', '—', '-', ':']).unwrap_or((bare, ""));
    let name = name.trim().trim_matches(['*', '_']);
    (role(name) != Role::Name).then(|| make(name, Day::find(rest), line))
}

/// `**Name:** …`, `**Name**: …`, `Name: …`, each with an optional time in brackets before the name or before the colon.
fn opener(line: &str, at: usize) -> Option<Opener> {
    let mut text = line.trim_start();
    let mut day = None;
    if let Some((inside, rest)) = bracketed(text) {
        day = Day::find(inside);
        text = rest.trim_start();
    }
    let marks = text.len() - text.trim_start_matches(['*', '_']).len();
    let bold = &text[..marks];
    text = &text[marks..];
    let colon = text.char_indices().take(80).find(|(_, c)| *c == ':' || *c == '：')?;
    let (head, rest) = (&text[..colon.0], &text[colon.0 + colon.1.len_utf8()..]);
    // A time in brackets may contain the first colon: `Name (13:14): …`.
    if let Some(open) = head.find(['(', '[']) {
        let (inside, after) = bracketed(&text[open..])?;
        let after = after.trim_start().trim_start_matches(['*', '_']);
        after.strip_prefix(':')?;
        let name = head[..open].trim_end().trim_end_matches(['*', '_']).trim_end();
        return is_name(name).then(|| make(name, Day::find(inside).or(day), at));
    }
    let closes_bold = bold.is_empty() || head.ends_with(bold) || rest.starts_with(bold);
    let spaced = rest.is_empty() || rest.starts_with([' ', '\t', '*', '_']) || colon.1 == '：';
    let name = head.trim_end_matches(['*', '_']).trim_end();
    (closes_bold && spaced && is_name(name)).then(|| make(name, day, at))
}

/// The content of a bracket at the start of `text`, and what follows it.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let close = match text.chars().next()? {
        '(' => ')',
        '[' => ']',
        _ => return None,
    };
    let end = text.char_indices().take(40).find(|(_, c)| *c == close)?.0;
    Some((&text[1..end], &text[end + 1..]))
}

fn make(name: &str, day: Option<Day>, line: usize) -> Opener {
    Opener { line, name: name.to_owned(), assistant: role(name) == Role::Assistant, day }
}

/// Whether a text is a role, or one to four words that can be a name.
fn is_name(text: &str) -> bool {
    let words = text.split(' ').count();
    let has_name_chars = text.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '.' | '-' | '\'' | '’' | '_'));
    let first = text.chars().next();
    !is_blank(text)
        && words <= 4
        && text.chars().count() <= 40
        && has_name_chars
        && (role(text) != Role::Name || first.is_some_and(|c| c.is_alphabetic() && !c.is_lowercase()))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Person,
    Assistant,
    Name,
}

fn role(name: &str) -> Role {
    let lower = name.to_lowercase();
    match lower.as_str() {
        "user" | "human" | "me" | "customer" => Role::Person,
        "assistant" | "ai" | "ai assistant" | "bot" | "chatbot" | "model" | "llm" | "agent" | "claude" | "gpt" | "chatgpt" | "gemini"
        | "copilot" | "codex" | "claude code" => Role::Assistant,
        _ if lower.starts_with("gpt-") || lower.starts_with("claude-") => Role::Assistant,
        _ => Role::Name,
    }
}

/// Whether a word is a usual label of paragraphs in notes, not a name.
fn is_label(name: &str) -> bool {
    const LABELS: &[&str] = &[
        "action", "actions", "answer", "background", "because", "bug", "cause", "caution", "cc", "change", "changes", "conclusion",
        "consequence", "consequences", "context", "date", "decision", "description", "details", "effect", "example", "examples",
        "expected", "fact", "fix", "from", "goal", "hint", "how", "how to apply", "idea", "impact", "important", "info", "input", "issue",
        "key", "lesson", "name", "next", "next steps", "note", "notes", "outcome", "output", "p.s", "plan", "problem", "pros", "cons",
        "purpose", "question", "rationale", "reason", "recommendation", "reference", "references", "rejected", "remember", "result",
        "results", "risk", "root cause", "rule", "scope", "see", "solution", "source", "status", "step", "subject", "summary", "symptom",
        "task", "tip", "tips", "title", "to", "todo", "topic", "type", "update", "usage", "warning", "what", "when", "where", "which",
        "who", "why", "workaround",
    ];
    let lower = name.to_lowercase();
    LABELS.contains(&lower.trim_end_matches(|c: char| c.is_ascii_digit() || c == ' '))
}
