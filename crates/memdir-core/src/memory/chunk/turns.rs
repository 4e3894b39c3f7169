//! Who speaks where in a chat written as Markdown. Most texts are no chat: then nobody speaks.
//!
//! The trap is that prose is full of words that look like a speaker (`**Note:** …`, `Why: …`). So when a text has
//! openers such as User and Assistant, only those are speakers; otherwise a name must open at least two paragraphs, the
//! names together must open a good part of all paragraphs, and the usual labels of notes are never names.

use super::blocks::{Block, BlockKind, is_blank};
use crate::base::day::Day;
use std::collections::HashMap;

/// Where a turn begins, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Opener {
    /// The line, from 0.
    pub(super) line: usize,
    pub(super) name: String,
    pub(super) assistant: bool,
    /// The day written beside the name.
    pub(super) day: Option<Day>,
}

/// The openers of a chat, in order; none when the text is not a chat.
pub(super) fn openers(lines: &[&str], blocks: &[Block]) -> Vec<Opener> {
    let found = possible(lines, blocks);
    let roles = |part: Part| found.iter().filter(|o| part_of(&o.name) == part).count();
    let (people, assistants) = (roles(Part::Person), roles(Part::Assistant));
    if people + assistants >= 2 && assistants >= 1 {
        let partner = if people == 0 { partner(&found) } else { None };
        return found.into_iter().filter(|o| part_of(&o.name) != Part::Name || Some(&o.name) == partner.as_ref()).collect();
    }
    by_name(found, blocks)
}

/// The chat of people who are called by their names.
fn by_name(found: Vec<Opener>, blocks: &[Block]) -> Vec<Opener> {
    let counts = counts(&found);
    let speaks = |o: &Opener| counts[&o.name] >= 2 && !is_label(&o.name);
    let turns = found.iter().filter(|o| speaks(o)).count();
    let paragraphs = blocks.iter().filter(|b| b.kind == BlockKind::Paragraph).count();
    if turns * 3 < paragraphs || turns < 2 {
        return Vec::new();
    }
    found.into_iter().filter(|o| speaks(o)).collect()
}

/// The one name that talks with an assistant where nobody is called User.
fn partner(found: &[Opener]) -> Option<String> {
    let names = found.iter().filter(|o| part_of(&o.name) == Part::Name && !is_label(&o.name));
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

/// Every line that could open a turn: paragraphs, or in a text of one turn a line each of their lines, and headings.
fn possible(lines: &[&str], blocks: &[Block]) -> Vec<Opener> {
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
    found.sort_by_key(|o| o.line);
    found
}

/// `## User`, `### Assistant (2024-05-01 10:00)`: only those who are never the subject of a section.
fn heading_opener(text: &str, line: usize) -> Option<Opener> {
    let bare = text.trim_matches(['*', '_', ':', ' ']);
    let (name, rest) = bare.split_once(['(', '[', ',', '—', '-', ':']).unwrap_or((bare, ""));
    let name = name.trim().trim_matches(['*', '_']);
    (part_of(name) != Part::Name).then(|| make(name, Day::find(rest), line))
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
    // A time in brackets may hold the first colon: `Name (13:14): …`.
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

/// What a bracket at the beginning of `text` holds, and what follows it.
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
    Opener { line, name: name.to_owned(), assistant: part_of(name) == Part::Assistant, day }
}

/// One to four words that can be a person's name, or a role.
fn is_name(text: &str) -> bool {
    let words = text.split(' ').count();
    let plain = text.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '.' | '-' | '\'' | '’' | '_'));
    let first = text.chars().next();
    !is_blank(text)
        && words <= 4
        && text.chars().count() <= 40
        && plain
        && (part_of(text) != Part::Name || first.is_some_and(|c| c.is_alphabetic() && !c.is_lowercase()))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Person,
    Assistant,
    Name,
}

fn part_of(name: &str) -> Part {
    let lower = name.to_lowercase();
    match lower.as_str() {
        "user" | "human" | "me" | "customer" => Part::Person,
        "assistant" | "ai" | "ai assistant" | "bot" | "chatbot" | "model" | "llm" | "agent" | "claude" | "gpt" | "chatgpt" | "gemini"
        | "copilot" | "codex" | "claude code" => Part::Assistant,
        _ if lower.starts_with("gpt-") || lower.starts_with("claude-") => Part::Assistant,
        _ => Part::Name,
    }
}

/// Words that head paragraphs of notes and are nobody's name.
fn is_label(name: &str) -> bool {
    const LABELS: &[&str] = &[
        "action",
        "actions",
        "answer",
        "background",
        "because",
        "bug",
        "cause",
        "caution",
        "cc",
        "change",
        "changes",
        "conclusion",
        "consequence",
        "consequences",
        "context",
        "date",
        "decision",
        "description",
        "details",
        "effect",
        "example",
        "examples",
        "expected",
        "fact",
        "fix",
        "from",
        "goal",
        "hint",
        "how",
        "how to apply",
        "idea",
        "impact",
        "important",
        "info",
        "input",
        "issue",
        "key",
        "lesson",
        "name",
        "next",
        "next steps",
        "note",
        "notes",
        "outcome",
        "output",
        "p.s",
        "plan",
        "problem",
        "pros",
        "cons",
        "purpose",
        "question",
        "rationale",
        "reason",
        "recommendation",
        "reference",
        "references",
        "rejected",
        "remember",
        "result",
        "results",
        "risk",
        "root cause",
        "rule",
        "scope",
        "see",
        "solution",
        "source",
        "status",
        "step",
        "subject",
        "summary",
        "symptom",
        "task",
        "tip",
        "tips",
        "title",
        "to",
        "todo",
        "topic",
        "type",
        "update",
        "usage",
        "warning",
        "what",
        "when",
        "where",
        "which",
        "who",
        "why",
        "workaround",
    ];
    let lower = name.to_lowercase();
    LABELS.contains(&lower.trim_end_matches(|c: char| c.is_ascii_digit() || c == ' '))
}
