//! The turns of one reading, before they are written: they can still be taken back or replaced. Texts go to a spooled
//! file, so that memory holds a few bytes per turn.

use super::{Rewind, Speaker, Turn, json::one_line, keep::Mask};
use jiff::Timestamp;
use memdir_core::base::{limits, text::truncate_bytes};
use serde::{Deserialize, Serialize};
use std::{
    borrow::Cow,
    collections::HashSet,
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};
use tempfile::SpooledTempFile;

/// Bytes of text held in memory before they go to a file.
const SPOOL: usize = 2 << 20;

/// Lines that are looked for one by one.
const FEW: usize = 100;

/// Turns that were told and not yet written.
pub(super) struct Draft<'m> {
    mask: &'m Mask<'m>,
    texts: SpooledTempFile,
    end: u64,
    entries: Vec<Entry>,
    /// The message whose turns stand in the place of earlier ones, and where the next of them goes.
    replacing: Option<(u64, usize)>,
}

/// One turn: everything but its text.
struct Entry {
    kind: Kind,
    at: Option<Timestamp>,
    message: u64,
    from: u64,
    bytes: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Said(Speaker),
    Compacted,
}

/// The turn that was written last: decides whether the next one opens a section.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Last {
    /// Who spoke.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) speaker: Option<Speaker>,
    /// The message it belongs to; 0 for none.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) message: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl<'m> Draft<'m> {
    /// An empty one that spools into `dir`.
    pub(super) fn new(dir: &Path, mask: &'m Mask<'m>) -> Self {
        Draft { mask, texts: tempfile::spooled_tempfile_in(SPOOL, dir), end: 0, entries: Vec::new(), replacing: None }
    }

    /// What masks the texts.
    pub(super) fn mask(&self) -> &'m Mask<'m> {
        self.mask
    }

    /// Whether nothing was told.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many things were said: at least as many as there will be sections.
    pub(super) fn len(&self) -> u64 {
        self.entries.len() as u64
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.replacing = None;
        self.end = 0;
    }

    /// Takes a turn, masked and made safe to stand in a section.
    pub(super) fn turn(&mut self, turn: &Turn<'_>) -> io::Result<()> {
        let text = match turn.speaker {
            // Masked before it is cut: a part of a secret looks like none.
            Speaker::Tool => one_line(&(self.mask)(&turn.text), limits::CHAT_TOOL_CHARS),
            Speaker::User | Speaker::Assistant => ready(&turn.text, self.mask),
        };
        let message = turn.message.as_deref().map_or(0, hash);
        self.add(Kind::Said(turn.speaker), turn.at, message, &text)
    }

    /// Takes a mark that the host shortened its memory here.
    pub(super) fn compacted(&mut self, at: Option<Timestamp>) -> io::Result<()> {
        self.add(Kind::Compacted, at, 0, "")
    }

    fn add(&mut self, kind: Kind, at: Option<Timestamp>, message: u64, text: &str) -> io::Result<()> {
        self.texts.seek(SeekFrom::Start(self.end))?;
        self.texts.write_all(text.as_bytes())?;
        let entry = Entry { kind, at, message, from: self.end, bytes: u32::try_from(text.len()).unwrap_or(u32::MAX) };
        self.end += text.len() as u64;
        match &mut self.replacing {
            Some((replaced, place)) if *replaced == message => {
                self.entries.insert(*place, entry);
                *place += 1;
            }
            _ => {
                self.replacing = None;
                self.entries.push(entry);
            }
        }
        Ok(())
    }

    /// Takes back the turns of a message; those that follow with the same one take their place.
    pub(super) fn replace(&mut self, message: &str) {
        let message = hash(message);
        let place = self.entries.iter().position(|entry| entry.message == message).unwrap_or(self.entries.len());
        self.entries.retain(|entry| entry.message != message);
        self.replacing = Some((message, place));
    }

    /// Takes back the end; `false` if that reaches behind what was told in this reading.
    pub(super) fn rewind(&mut self, rewind: Rewind<'_>) -> bool {
        self.replacing = None;
        let (keep, reached) = match rewind {
            Rewind::To(message) => {
                let message = hash(message);
                let place = self.entries.iter().position(|entry| entry.message == message);
                (place.unwrap_or(0), place.is_some())
            }
            Rewind::UserTurns(0) => (self.entries.len(), true),
            Rewind::UserTurns(turns) => {
                let spoken = self.entries.iter().enumerate().rev().filter(|(_, entry)| entry.kind == Kind::Said(Speaker::User));
                let place = spoken.map(|(place, _)| place).nth(usize::try_from(turns - 1).unwrap_or(usize::MAX));
                (place.unwrap_or(0), place.is_some())
            }
        };
        self.entries.truncate(keep);
        reached
    }

    /// The first words the person said.
    pub(super) fn first_words(&mut self) -> io::Result<Option<String>> {
        for entry in self.entries.iter().filter(|entry| entry.kind == Kind::Said(Speaker::User)) {
            let mut text = vec![0; entry.bytes.min(4 * limits::CHAT_TITLE_CHARS as u32) as usize];
            self.texts.seek(SeekFrom::Start(entry.from))?;
            self.texts.read_exact(&mut text)?;
            if let Some(words) = first_words(String::from_utf8_lossy(&text).trim_end_matches('\u{fffd}')) {
                return Ok(Some(words));
            }
        }
        Ok(None)
    }

    /// Whether every one of these lines is told, or the beginning of one that is: a turn may have grown since.
    pub(super) fn tells_all<'l>(&mut self, lines: impl Iterator<Item = &'l str>) -> io::Result<bool> {
        let mut missing: HashSet<&str> = lines.collect();
        let mut text = String::new();
        for entry in &self.entries {
            text.clear();
            self.texts.seek(SeekFrom::Start(entry.from))?;
            (&mut self.texts).take(u64::from(entry.bytes)).read_to_string(&mut text)?;
            if entry.kind == Kind::Said(Speaker::Tool) {
                text = format!("- `{}`", text.replace('`', "'"));
            }
            for line in text.lines() {
                missing.remove(line.trim());
            }
        }
        missing.retain(|line| !line.starts_with("<!--"));
        if missing.is_empty() || missing.len() > FEW {
            return Ok(missing.is_empty());
        }
        for entry in &self.entries {
            text.clear();
            self.texts.seek(SeekFrom::Start(entry.from))?;
            (&mut self.texts).take(u64::from(entry.bytes)).read_to_string(&mut text)?;
            missing.retain(|missed| !text.lines().any(|line| line.trim().starts_with(missed)));
        }
        Ok(missing.is_empty())
    }

    /// The times of the first and the last turn.
    pub(super) fn times(&self) -> (Option<Timestamp>, Option<Timestamp>) {
        let times = || self.entries.iter().filter_map(|entry| entry.at);
        (times().min(), times().max())
    }

    /// Writes the turns as sections, going on after `last`; says what was last now and where each section begins.
    pub(super) fn write(&mut self, mut last: Last, out: &mut (impl Write + Seek)) -> io::Result<(Last, Vec<u64>)> {
        let mut sections = Vec::new();
        let mut text = String::new();
        for entry in &self.entries {
            text.clear();
            self.texts.seek(SeekFrom::Start(entry.from))?;
            (&mut self.texts).take(u64::from(entry.bytes)).read_to_string(&mut text)?;
            let Kind::Said(speaker) = entry.kind else {
                out.write_all(b"\n<!-- the conversation was compacted here -->\n")?;
                last = Last::default();
                continue;
            };
            let same_message = entry.message != 0 && entry.message == last.message;
            let goes_on = match speaker {
                Speaker::User => false,
                Speaker::Assistant => same_message && matches!(last.speaker, Some(Speaker::Assistant | Speaker::Tool)),
                Speaker::Tool => matches!(last.speaker, Some(Speaker::Assistant | Speaker::Tool)),
            };
            if !goes_on {
                sections.push(out.stream_position()?);
                heading(speaker, entry.at, out)?;
            }
            if speaker != Speaker::Tool {
                write!(out, "\n{text}\n")?;
            } else if goes_on && last.speaker == Some(Speaker::Tool) {
                writeln!(out, "- `{}`", text.replace('`', "'"))?;
            } else {
                write!(out, "\n- `{}`\n", text.replace('`', "'"))?;
            }
            last = Last { speaker: Some(speaker), message: entry.message };
        }
        Ok((last, sections))
    }
}

/// The first line of a kept text that says something, as a title.
pub(super) fn first_words(text: &str) -> Option<String> {
    let mut lines = text.lines().map(|line| line.trim_start_matches(['#', '\\', '`', ' ']));
    lines.find(|line| !line.trim().is_empty()).map(|line| one_line(line, limits::CHAT_TITLE_CHARS))
}

/// The heading of a section, after an empty line.
pub(super) fn heading(speaker: Speaker, at: Option<Timestamp>, out: &mut dyn Write) -> io::Result<()> {
    let name = if speaker == Speaker::User { "User" } else { "Assistant" };
    match at {
        Some(at) => writeln!(out, "\n## {name} ({})", at.strftime("%Y-%m-%d %H:%M:%SZ")),
        None => writeln!(out, "\n## {name}"),
    }
}

/// A message's id as a number that is never 0.
fn hash(message: &str) -> u64 {
    let bytes = blake3::hash(message.as_bytes());
    let first = bytes.as_bytes().first_chunk::<6>().copied().unwrap_or_default();
    // 48 bits: a number that every JSON reader takes as it is.
    first.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)).max(1)
}

/// A turn's text as it is kept: secrets masked, cut at the limit, and unable to end its section or open another.
fn ready(text: &str, mask: &Mask<'_>) -> String {
    // A secret may begin within the limit and end behind it, so a little more is masked than is kept; and its part before
    // the end of that would be seen as none, so the last of it is never kept.
    const MARGIN: usize = 4096;
    let seen = truncate_bytes(text.trim(), limits::CHAT_TURN_BYTES + MARGIN);
    let masked = mask(seen);
    let is_longer = seen.len() < text.trim().len();
    let most = if is_longer { masked.len().saturating_sub(MARGIN) } else { masked.len() };
    let kept = truncate_bytes(&masked, most.min(limits::CHAT_TURN_BYTES));
    let is_cut = is_longer || kept.len() < masked.len();
    let left_out = text.trim().len().saturating_sub(kept.len());
    let mut out = safe(kept);
    if is_cut {
        out.push_str(&format!("\n\n[… {left_out} bytes left out]"));
    }
    out
}

/// The text without control characters, with fences closed and headings that stay below the section's: those that look
/// like one of its kind are escaped, others go two levels down.
fn safe(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut fence: Option<String> = None;
    let mut follows_text = false;
    for line in text.lines() {
        if !out.is_empty() {
            out.push('\n');
        }
        let line = plain(line);
        let trimmed = line.trim_start();
        let was_fenced = fence.is_some();
        fence = match (fence, fence_of(trimmed)) {
            (None, Some(open)) => Some(open),
            (Some(open), Some(close)) if close.starts_with(&open) && trimmed.trim_end() == close => None,
            (fence, _) => fence,
        };
        if is_section(trimmed) {
            out.push_str(&line[..line.len() - trimmed.len()]);
            out.push('\\');
            out.push_str(trimmed);
        } else if !was_fenced && line.len() - trimmed.len() <= 3 && heading_level(trimmed).is_some() {
            let level = heading_level(trimmed).unwrap_or_default();
            out.push_str(&"#".repeat((level + 2).min(6) - level));
            out.push_str(trimmed.trim_end_matches('\r'));
        } else if !was_fenced && follows_text && is_underline(trimmed) {
            out.push('\\');
            out.push_str(trimmed.trim_end());
        } else {
            out.push_str(line.trim_end_matches('\r'));
        }
        follows_text = !trimmed.trim().is_empty();
    }
    if let Some(open) = fence {
        out.push('\n');
        out.push_str(&open);
    }
    out
}

/// The backticks or tildes a line opens or closes a fence with.
fn fence_of(line: &str) -> Option<String> {
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let marks: String = line.chars().take_while(|&c| c == mark).collect();
    (marks.len() >= 3).then_some(marks)
}

/// Names that head a section of a conversation, in this file and in others like it.
const SPEAKERS: &[&str] = &[
    "user",
    "human",
    "me",
    "customer",
    "assistant",
    "ai",
    "ai assistant",
    "bot",
    "chatbot",
    "model",
    "llm",
    "agent",
    "claude",
    "claude code",
    "gpt",
    "chatgpt",
    "gemini",
    "copilot",
    "codex",
];

/// The level of a heading.
fn heading_level(line: &str) -> Option<usize> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    ((1..=6).contains(&level) && (text.trim().is_empty() || text.starts_with([' ', '\t']))).then_some(level)
}

/// Whether a line makes a heading of the line before it.
fn is_underline(line: &str) -> bool {
    let line = line.trim_end();
    !line.is_empty() && (line.bytes().all(|byte| byte == b'=') || line.bytes().all(|byte| byte == b'-'))
}

/// Whether a line could be taken for the heading of a section.
fn is_section(line: &str) -> bool {
    if heading_level(line).is_none() {
        return false;
    }
    let text = line.trim_start_matches('#');
    let text = text.trim_matches(['*', '_', ':', ' ', '\t', '#']);
    let name = text.split(['(', '[', ',', '—', '-', ':']).next().unwrap_or_default().trim().trim_matches(['*', '_']);
    SPEAKERS.iter().any(|speaker| name.eq_ignore_ascii_case(speaker))
}

/// The line without control characters (terminal colours, NUL).
fn plain(line: &str) -> Cow<'_, str> {
    let is_odd = |c: char| c.is_control() && c != '\t';
    if !line.contains(is_odd) {
        return Cow::Borrowed(line);
    }
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            // An escape sequence ends with a letter.
            chars.by_ref().find(|c| c.is_ascii_alphabetic());
        } else if !is_odd(c) {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_can_neither_open_nor_swallow_a_section() {
        assert_eq!(
            safe("see:\n## User\n  # assistant: says\n### Users\n#User\n## **Claude** (today)"),
            "see:\n\\## User\n  \\# assistant: says\n##### Users\n#User\n\\## **Claude** (today)"
        );
        assert_eq!(
            safe("# Plan\n## Steps\n###### Deep\n```sh\n# a comment\n```\nTitle\n===\n\n---\nlast\n- a\n-"),
            "### Plan\n#### Steps\n###### Deep\n```sh\n# a comment\n```\nTitle\n\\===\n\n---\nlast\n- a\n\\-"
        );
        assert_eq!(safe("```rust\nfn main() {}"), "```rust\nfn main() {}\n```");
        assert_eq!(safe("````\n```\n## User\n````\ndone"), "````\n```\n\\## User\n````\ndone");
        assert_eq!(safe("\u{1b}[31mred\u{1b}[0m\r\nplain\0"), "red\nplain");
    }

    #[test]
    fn a_long_turn_is_cut_and_says_so() {
        let mask: &Mask<'_> = &|text| Cow::Borrowed(text);
        let kept = ready(&"x".repeat(limits::CHAT_TURN_BYTES + 10_000), mask);
        assert_eq!(&kept[limits::CHAT_TURN_BYTES..], "\n\n[… 10000 bytes left out]");
        assert_eq!(ready("  short \n", mask), "short");
    }

    #[test]
    fn a_secret_across_the_limit_is_masked_whole() {
        let mask: &Mask<'_> = &|text| Cow::Owned(text.replace("SECRETSECRET", "***"));
        let text = format!("{}SECRETSECRET", "x".repeat(limits::CHAT_TURN_BYTES - 4));
        assert!(!ready(&text, mask).contains("SECR"));
    }
}
