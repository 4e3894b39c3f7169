//! The turns that were read and not archived yet: they can still be rewound or replaced. Their text goes to a spooled
//! temporary file, so that memory use is a few bytes per turn.

use crate::{
    evidence::{self, CallEnd, CallEvidence, CallStart, MAX_CALLS, OwnedEnd},
    facts::hash_48_bits,
    json::one_line,
    transcript::{Rewind, Turn},
};
use jiff::Timestamp;
use memdir_core::{
    Speaker,
    internal::{
        base::{limits, text::truncate_bytes},
        memory::lines::{FenceScanner, heading},
    },
};
use serde::{Deserialize, Serialize};
use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};
use tempfile::SpooledTempFile;

/// Bytes of one stored chat turn: a long answer has 10 KB, more is a pasted file.
const CHAT_TURN_BYTES: usize = 64 << 10;
/// Characters of a stored tool call (name and arguments): enough to recognise it.
const CHAT_TOOL_CHARS: usize = 200;

/// The number of bytes of text in memory above which they are written to a file.
const SPOOL_BYTES: usize = 2 << 20;

/// The maximum number of lines that are searched for one by one.
const MAX_SINGLE_LINES: usize = 100;

/// Removes secrets from a text.
pub(super) type Redact<'a> = dyn for<'t> Fn(&'t str) -> Cow<'t, str> + 'a;

/// Turns that were read and not written yet.
pub(super) struct TurnDraft<'r> {
    redact: &'r Redact<'r>,
    texts: SpooledTempFile,
    end: u64,
    entries: Vec<DraftTurn>,
    /// The message whose turns are being replaced, and the position of the next one.
    replacing: Option<(u64, usize)>,
    calls: DraftCalls,
}

/// The tool calls that were read. Those that were rewound stay here, without an entry.
#[derive(Default)]
struct DraftCalls {
    all: Vec<CallEvidence>,
    by_id: HashMap<u64, usize>,
    /// The ends of calls that began before this draft.
    ends: Vec<OwnedEnd>,
    /// Whether the calls before this draft that have not ended were interrupted.
    is_interrupted: bool,
}

/// One turn without its text.
struct DraftTurn {
    kind: DraftKind,
    at: Option<Timestamp>,
    message: u64,
    from: u64,
    bytes: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum DraftKind {
    Turn(Speaker),
    Compacted,
    /// A call, by its number in the draft.
    Call(usize),
}

/// What was written of a draft.
pub(super) struct WrittenDraft {
    /// The last turn.
    pub(super) last: LastTurn,
    /// The number of the person's messages up to here.
    pub(super) users: u64,
    /// The offset of each section.
    pub(super) sections: Vec<u64>,
    /// The tool calls.
    pub(super) calls: Vec<CallEvidence>,
}

/// The turn that was written last: decides whether the next one starts a section.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct LastTurn {
    /// The speaker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) speaker: Option<Speaker>,
    /// The hashed id of its message; 0 for none.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) message: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl<'r> TurnDraft<'r> {
    /// Creates an empty draft that spools into `dir`.
    pub(super) fn new(dir: &Path, redact: &'r Redact<'r>) -> Self {
        TurnDraft {
            redact,
            texts: tempfile::spooled_tempfile_in(SPOOL_BYTES, dir),
            end: 0,
            entries: Vec::new(),
            replacing: None,
            calls: DraftCalls::default(),
        }
    }

    /// Removes secrets from a text.
    pub(super) fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        (self.redact)(text)
    }

    /// Whether there are no turns.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.iter().all(|entry| matches!(entry.kind, DraftKind::Call(_)))
    }

    /// Returns the number of turns: at least as many as there will be sections.
    pub(super) fn len(&self) -> u64 {
        self.entries.iter().filter(|entry| !matches!(entry.kind, DraftKind::Call(_))).count() as u64
    }

    /// Removes all turns.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.replacing = None;
        self.end = 0;
        self.calls = DraftCalls::default();
    }

    /// Adds a turn, redacted and escaped.
    pub(super) fn push_turn(&mut self, turn: &Turn<'_>) -> io::Result<()> {
        let text = match turn.speaker {
            // Redacted before it is truncated: a part of a secret is not recognized as one.
            Speaker::Tool => one_line(&(self.redact)(&turn.text), CHAT_TOOL_CHARS),
            Speaker::User | Speaker::Assistant => section_text(&turn.text, self.redact),
        };
        let message = turn.message.as_deref().map_or(0, hash_48_bits);
        self.add(DraftKind::Turn(turn.speaker), turn.at, message, &text)
    }

    /// Adds a mark that the host compacted its context here.
    pub(super) fn push_compacted(&mut self, at: Option<Timestamp>) -> io::Result<()> {
        self.add(DraftKind::Compacted, at, 0, "")
    }

    /// Adds a tool call.
    pub(super) fn push_call(&mut self, call: &CallStart<'_>) -> io::Result<()> {
        let evidence = call.evidence(self.redact);
        let number = self.calls.all.len();
        if evidence.id != 0 {
            self.calls.by_id.insert(evidence.id, number);
        }
        self.calls.all.push(evidence);
        self.add(DraftKind::Call(number), call.at, call.message.as_deref().map_or(0, hash_48_bits), "")
    }

    /// Completes a tool call, of this draft or of an earlier one.
    pub(super) fn end_call(&mut self, end: &CallEnd<'_>) {
        let end = end.redacted(self.redact);
        match self.calls.by_id.get(&end.id).and_then(|&number| self.calls.all.get_mut(number)) {
            Some(call) => end.apply(call),
            None if self.calls.ends.len() < MAX_CALLS => self.calls.ends.push(end),
            None => {}
        }
    }

    /// Marks the calls that have not ended as interrupted.
    pub(super) fn interrupt_calls(&mut self) {
        self.calls.is_interrupted |= self.calls.all.is_empty();
        evidence::interrupt(&mut self.calls.all);
    }

    /// Completes the calls of earlier drafts.
    pub(super) fn complete(&mut self, archived: &mut [CallEvidence]) {
        for end in self.calls.ends.drain(..) {
            if let Some(call) = archived.iter_mut().rev().find(|call| call.id == end.id && end.id != 0) {
                end.apply(call);
            }
        }
        if self.calls.is_interrupted {
            evidence::interrupt(archived);
        }
    }

    fn add(&mut self, kind: DraftKind, at: Option<Timestamp>, message: u64, text: &str) -> io::Result<()> {
        self.texts.seek(SeekFrom::Start(self.end))?;
        self.texts.write_all(text.as_bytes())?;
        let entry = DraftTurn { kind, at, message, from: self.end, bytes: u32::try_from(text.len()).unwrap_or(u32::MAX) };
        self.end += text.len() as u64;
        match &mut self.replacing {
            Some((replaced, at)) if *replaced == message => {
                self.entries.insert(*at, entry);
                *at += 1;
            }
            _ => {
                self.replacing = None;
                self.entries.push(entry);
            }
        }
        Ok(())
    }

    /// Removes the turns of a message; those that follow with the same message replace them.
    pub(super) fn replace(&mut self, message: &str) {
        let message = hash_48_bits(message);
        let at = self.entries.iter().position(|entry| entry.message == message).unwrap_or(self.entries.len());
        self.entries.retain(|entry| entry.message != message);
        self.replacing = Some((message, at));
    }

    /// Removes turns from the end. Returns `false` if the rewind reaches further back than the first turn of this draft.
    pub(super) fn rewind(&mut self, rewind: Rewind<'_>) -> bool {
        self.replacing = None;
        let target = match rewind {
            Rewind::To(message) => {
                let message = hash_48_bits(message);
                self.entries.iter().position(|entry| entry.message == message)
            }
            Rewind::UserTurns(0) => Some(self.entries.len()),
            Rewind::UserTurns(turns) => {
                let user_turns = self.entries.iter().enumerate().rev().filter(|(_, entry)| entry.kind == DraftKind::Turn(Speaker::User));
                user_turns.map(|(at, _)| at).nth(usize::try_from(turns - 1).unwrap_or(usize::MAX))
            }
        };
        self.entries.truncate(target.unwrap_or(0));
        target.is_some()
    }

    /// Returns a title from the beginning of the first user turn.
    pub(super) fn first_words(&mut self) -> io::Result<Option<String>> {
        for entry in self.entries.iter().filter(|entry| entry.kind == DraftKind::Turn(Speaker::User)) {
            let mut text = vec![0; entry.bytes.min(4 * limits::CHAT_TITLE_CHARS as u32) as usize];
            self.texts.seek(SeekFrom::Start(entry.from))?;
            self.texts.read_exact(&mut text)?;
            if let Some(words) = first_words(String::from_utf8_lossy(&text).trim_end_matches('\u{fffd}')) {
                return Ok(Some(words));
            }
        }
        Ok(None)
    }

    /// Whether the draft has each of these lines, or a line that starts with it: a turn may have grown since.
    pub(super) fn has_lines<'l>(&mut self, lines: impl Iterator<Item = &'l str>) -> io::Result<bool> {
        let mut missing: HashSet<&str> = lines.collect();
        let mut text = String::new();
        for entry in &self.entries {
            text.clear();
            self.texts.seek(SeekFrom::Start(entry.from))?;
            (&mut self.texts).take(u64::from(entry.bytes)).read_to_string(&mut text)?;
            if entry.kind == DraftKind::Turn(Speaker::Tool) {
                text = format!("- `{}`", text.replace('`', "'"));
            }
            for line in text.lines() {
                missing.remove(line.trim());
            }
        }
        missing.retain(|line| !line.starts_with("<!--"));
        if missing.is_empty() || missing.len() > MAX_SINGLE_LINES {
            return Ok(missing.is_empty());
        }
        for entry in &self.entries {
            text.clear();
            self.texts.seek(SeekFrom::Start(entry.from))?;
            (&mut self.texts).take(u64::from(entry.bytes)).read_to_string(&mut text)?;
            missing.retain(|prefix| !text.lines().any(|line| line.trim().starts_with(prefix)));
        }
        Ok(missing.is_empty())
    }

    /// Returns the earliest and the latest time of a turn.
    pub(super) fn times(&self) -> (Option<Timestamp>, Option<Timestamp>) {
        let times = || self.entries.iter().filter_map(|entry| entry.at);
        (times().min(), times().max())
    }

    /// Writes the turns as sections that continue after `last`, which follow `users` messages of the person.
    pub(super) fn write(&mut self, mut last: LastTurn, mut users: u64, out: &mut (impl Write + Seek)) -> io::Result<WrittenDraft> {
        let (mut sections, mut calls) = (Vec::new(), Vec::new());
        let mut text = String::new();
        for entry in &self.entries {
            if let DraftKind::Call(number) = entry.kind {
                calls.push(CallEvidence { turn: users, ..self.calls.all[number].clone() });
                continue;
            }
            users += u64::from(entry.kind == DraftKind::Turn(Speaker::User));
            text.clear();
            self.texts.seek(SeekFrom::Start(entry.from))?;
            (&mut self.texts).take(u64::from(entry.bytes)).read_to_string(&mut text)?;
            let DraftKind::Turn(speaker) = entry.kind else {
                out.write_all(b"\n<!-- the conversation was compacted here -->\n")?;
                last = LastTurn::default();
                continue;
            };
            let same_message = entry.message != 0 && entry.message == last.message;
            let continues = match speaker {
                Speaker::User => false,
                Speaker::Assistant => same_message && matches!(last.speaker, Some(Speaker::Assistant | Speaker::Tool)),
                Speaker::Tool => matches!(last.speaker, Some(Speaker::Assistant | Speaker::Tool)),
            };
            if !continues {
                sections.push(out.stream_position()?);
                write_heading(speaker, entry.at, out)?;
            }
            if speaker != Speaker::Tool {
                write!(out, "\n{text}\n")?;
            } else if continues && last.speaker == Some(Speaker::Tool) {
                writeln!(out, "- `{}`", text.replace('`', "'"))?;
            } else {
                write!(out, "\n- `{}`\n", text.replace('`', "'"))?;
            }
            last = LastTurn { speaker: Some(speaker), message: entry.message };
        }
        Ok(WrittenDraft { last, users, sections, calls })
    }
}

/// Returns the first non-empty line of an archived text as a title.
pub(super) fn first_words(text: &str) -> Option<String> {
    let mut lines = text.lines().map(|line| line.trim_start_matches(['#', '\\', '`', ' ']));
    lines.find(|line| !line.trim().is_empty()).map(|line| one_line(line, limits::CHAT_TITLE_CHARS))
}

/// Writes the heading of a section, after an empty line.
pub(super) fn write_heading(speaker: Speaker, at: Option<Timestamp>, out: &mut dyn Write) -> io::Result<()> {
    let name = if speaker == Speaker::User { "User" } else { "Assistant" };
    match at {
        Some(at) => writeln!(out, "\n## {name} ({})", at.strftime("%Y-%m-%d %H:%M:%SZ")),
        None => writeln!(out, "\n## {name}"),
    }
}

/// Returns the text of a turn as it is archived: redacted, truncated, and escaped so that it cannot end its section or start another.
fn section_text(text: &str, redact: &Redact<'_>) -> String {
    // A secret may start within the limit and end after it, so more is redacted than is archived. A secret that is cut at the end of
    // that margin is not recognized, so the margin itself is never archived.
    const MARGIN: usize = 4096;
    let text = text.trim();
    let examined = truncate_bytes(text, CHAT_TURN_BYTES + MARGIN);
    let redacted = redact(examined);
    let is_longer = examined.len() < text.len();
    let max_bytes = if is_longer { redacted.len().saturating_sub(MARGIN) } else { redacted.len() };
    let archived = truncate_bytes(&redacted, max_bytes.min(CHAT_TURN_BYTES));
    let mut out = escape(archived);
    if is_longer || archived.len() < redacted.len() {
        out.push_str(&format!("\n\n[… {} bytes omitted]", text.len().saturating_sub(archived.len())));
    }
    out
}

/// Removes control characters, closes code fences and demotes headings below that of the section: headings that look like a section's
/// are escaped, others move two levels down.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut fences = FenceScanner::default();
    let mut follows_text = false;
    for line in text.lines() {
        if !out.is_empty() {
            out.push('\n');
        }
        let line = without_control_chars(line);
        let trimmed = line.trim_start();
        let is_code = fences.is_code(trimmed);
        if is_section_heading(trimmed) {
            out.push_str(&line[..line.len() - trimmed.len()]);
            out.push('\\');
            out.push_str(trimmed);
        } else if let Some(found) = heading(&line).filter(|_| !is_code) {
            let level = usize::from(found.level);
            out.push_str(&"#".repeat((level + 2).min(6) - level));
            out.push_str(trimmed.trim_end_matches('\r'));
        } else if !is_code && follows_text && is_underline(trimmed) {
            out.push('\\');
            out.push_str(trimmed.trim_end());
        } else {
            out.push_str(line.trim_end_matches('\r'));
        }
        follows_text = !trimmed.trim().is_empty();
    }
    if let Some(open) = fences.closing_line() {
        out.push('\n');
        out.push_str(&open);
    }
    out
}

/// Names of speakers in the headings of conversations, here and in other programs.
const SPEAKERS: &[&str] = &[
    "user", "human", "me", "customer", "assistant", "ai", "ai assistant", "bot", "chatbot", "model", "llm", "agent", "claude",
    "claude code", "gpt", "chatgpt", "gemini", "copilot", "codex",
];

/// Whether a line turns the line before it into a setext heading.
fn is_underline(line: &str) -> bool {
    let line = line.trim_end();
    !line.is_empty() && (line.bytes().all(|byte| byte == b'=') || line.bytes().all(|byte| byte == b'-'))
}

/// Whether a line could be mistaken for the heading of a section.
fn is_section_heading(line: &str) -> bool {
    if heading(line).is_none() {
        return false;
    }
    let text = line.trim_start_matches('#');
    let text = text.trim_matches(['*', '_', ':', ' ', '\t', '#']);
    let name = text.split(['(', '[', ',', '—', '-', ':']).next().unwrap_or_default().trim().trim_matches(['*', '_']);
    SPEAKERS.iter().any(|speaker| name.eq_ignore_ascii_case(speaker))
}

/// Removes control characters (terminal colours, NUL).
fn without_control_chars(line: &str) -> Cow<'_, str> {
    let is_removed = |c: char| c.is_control() && c != '\t';
    if !line.contains(is_removed) {
        return Cow::Borrowed(line);
    }
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            // A terminal escape sequence ends with a letter.
            chars.by_ref().find(|c| c.is_ascii_alphabetic());
        } else if !is_removed(c) {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_can_neither_start_nor_swallow_a_section() {
        assert_eq!(
            escape("see:\n## User\n  # assistant: says\n### Users\n#User\n## **Claude** (today)"),
            "see:\n\\## User\n  \\# assistant: says\n##### Users\n#User\n\\## **Claude** (today)"
        );
        assert_eq!(
            escape("# Plan\n## Steps\n###### Deep\n```sh\n# a comment\n```\nTitle\n===\n\n---\nlast\n- a\n-"),
            "### Plan\n#### Steps\n###### Deep\n```sh\n# a comment\n```\nTitle\n\\===\n\n---\nlast\n- a\n\\-"
        );
        assert_eq!(escape("```rust\nfn main() {}"), "```rust\nfn main() {}\n```");
        assert_eq!(escape("````\n```\n## User\n````\ndone"), "````\n```\n\\## User\n````\ndone");
        assert_eq!(escape("\u{1b}[31mred\u{1b}[0m\r\nplain\0"), "red\nplain");
    }

    #[test]
    fn a_long_turn_is_truncated_with_a_note() {
        let redact: &Redact<'_> = &|text| Cow::Borrowed(text);
        let archived = section_text(&"x".repeat(CHAT_TURN_BYTES + 10_000), redact);
        assert_eq!(&archived[CHAT_TURN_BYTES..], "\n\n[… 10000 bytes omitted]");
        assert_eq!(section_text("  short \n", redact), "short");
    }

    #[test]
    fn a_secret_across_the_limit_is_redacted_whole() {
        let redact: &Redact<'_> = &|text| Cow::Owned(text.replace("SECRETSECRET", "***"));
        let text = format!("{}SECRETSECRET", "x".repeat(CHAT_TURN_BYTES - 4));
        assert!(!section_text(&text, redact).contains("SECR"));
    }
}
