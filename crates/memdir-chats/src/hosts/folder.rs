//! Folders of conversations of any origin: JSONL with `role` and `content`, Markdown and text with speakers. Only
//! folders from the settings are read.

use super::claude_code;
use crate::{
    injected,
    json::one_line,
    source::{ChatSource, Reader, SessionFile, SessionList},
    transcript::{ChatEvent, EventSink, ReadOutcome, SessionInfo, TitleRank, TranscriptCursor, Turn},
    walk,
};
use memdir_core::{
    Error, Result, Speaker,
    internal::{
        base::limits,
        memory::lines::{FenceScanner, heading},
    },
};
use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

/// Conversations in the folders of the settings. They belong to no program, so none can resume them.
pub const READER: Reader = Reader {
    name: "folder",
    open: |roots| (!roots.folders.is_empty()).then(|| Box::new(FolderSource { folders: roots.folders.clone() }) as Box<dyn ChatSource>),
    resume: None,
    resumes_in_project: false,
    resumes_by_session: false,
    is_transcript_of: None,
    rewrites: |transcript| !is_jsonl(transcript),
    scripts_look_alike: false,
};

/// The conversations in folders and below.
struct FolderSource {
    folders: Vec<PathBuf>,
}

impl ChatSource for FolderSource {
    fn reader(&self) -> &'static Reader {
        &READER
    }

    fn sessions(&self) -> SessionList {
        let mut list = SessionList::default();
        for folder in &self.folders {
            for file in walk::files(folder, &mut list.problems) {
                let Some((stem, "md" | "markdown" | "txt" | "jsonl")) = file.name.rsplit_once('.') else { continue };
                // Files of the same name in different folders are different sessions.
                let key = format!("{stem}-{}", &blake3::hash(file.path.as_os_str().as_encoded_bytes()).to_hex()[..8]);
                let session = SessionFile::from_path(&READER, &key, &file.path);
                let title = Some((TitleRank::Summary, stem.to_owned()));
                list.sessions.extend(session.map(|session| SessionFile { title, ..session }));
            }
        }
        list.dedup();
        list
    }

    fn turns(&self, session: &SessionFile, from: &TranscriptCursor, sink: &mut EventSink<'_>) -> Result<ReadOutcome> {
        if from.at == 0 {
            sink(ChatEvent::Info(SessionInfo { started: Some(session.stamp.modified()), ..SessionInfo::default() }))?;
        }
        if is_jsonl(&session.path) {
            return claude_code::read(session, from, sink, |_| true, injected::user_text);
        }
        if from.at > 0 {
            sink(ChatEvent::Restart)?;
        }
        read_text(session, sink)
    }
}

fn is_jsonl(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jsonl")
}

/// Reads a text file. It may be edited anywhere, so it is always read from its beginning.
fn read_text(session: &SessionFile, sink: &mut EventSink<'_>) -> Result<ReadOutcome> {
    if session.stamp.size > limits::READ_FILE_BYTES {
        let (size, limit) = (session.stamp.size, limits::READ_FILE_BYTES);
        return Err(Error::TooLarge { what: session.path.display().to_string(), size, limit });
    }
    let bytes = walk::read(&session.path).map_err(|source| Error::io("read", &session.path, source))?;
    let text = String::from_utf8_lossy(&bytes);
    let (title, body, first_line) = split_frontmatter(&text);
    if let Some(title) = title {
        sink(ChatEvent::Info(SessionInfo { title: Some((TitleRank::Given, Cow::Owned(title))), ..SessionInfo::default() }))?;
    }
    for (speaker, line, text) in split_turns(body) {
        let text = text.trim();
        if !text.is_empty() {
            sink(ChatEvent::Turn(Turn { speaker, at: None, text: Cow::Borrowed(text), message: None, line: line + first_line }))?;
        }
    }
    Ok(ReadOutcome {
        cursor: TranscriptCursor { at: bytes.len().max(1) as u64, lines: text.lines().count() as u64, ..TranscriptCursor::default() },
        ..ReadOutcome::default()
    })
}

/// Returns the title in the frontmatter, the text after the frontmatter, and the number of lines before that text.
fn split_frontmatter(text: &str) -> (Option<String>, &str, u64) {
    let Some(rest) = text.strip_prefix("---\n") else { return (None, text, 0) };
    let Some(end) = rest.find("\n---\n") else { return (None, text, 0) };
    let head = &rest[..end];
    let title = head
        .lines()
        .find_map(|line| line.strip_prefix("title:"))
        .map(|title| one_line(title.trim().trim_matches(['"', '\'']), limits::CHAT_TITLE_CHARS));
    (title.filter(|title| !title.is_empty()), &rest[end + 5..], head.lines().count() as u64 + 2)
}

/// Splits a text into turns, each with its first line. A text that names no speaker is one user turn.
fn split_turns(text: &str) -> Vec<(Speaker, u64, &str)> {
    let mut turns: Vec<(Speaker, u64, usize, usize)> = Vec::new();
    let (mut at, mut number, mut fences) = (0, 0, FenceScanner::default());
    for line in text.split_inclusive('\n') {
        number += 1;
        if !fences.is_code(line)
            && let Some((speaker, skip)) = turn_start(line)
        {
            if let Some(last) = turns.last_mut() {
                last.3 = at;
            }
            turns.push((speaker, number, at + skip, text.len()));
        }
        at += line.len();
    }
    if turns.is_empty() {
        return vec![(Speaker::User, 1, text)];
    }
    turns.into_iter().map(|(speaker, line, from, to)| (speaker, line, &text[from..to])).collect()
}

/// Returns the speaker whose turn starts on this line, and the offset of the turn's text: `## User`, `**User:** …`, `User: …`.
fn turn_start(line: &str) -> Option<(Speaker, usize)> {
    let unmarked = line.trim_start_matches(['#', '*', '_', ' ']);
    let is_marked = unmarked.len() < line.len();
    let name_end = unmarked.find(|c: char| !c.is_alphanumeric()).unwrap_or(unmarked.len());
    let speaker = match unmarked[..name_end].to_ascii_lowercase().as_str() {
        "user" | "human" => Speaker::User,
        "assistant" | "ai" | "claude" | "chatgpt" | "gpt" | "codex" | "gemini" | "model" => Speaker::Assistant,
        _ => return None,
    };
    let rest = &unmarked[name_end..];
    let text = rest.trim_start_matches(['*', '_', ':']);
    let has_colon = rest[..rest.len() - text.len()].contains(':');
    let is_heading = is_marked && heading(line).is_some() && text.trim().is_empty();
    (has_colon || is_heading).then(|| (speaker, line.len() - text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(text: &str) -> Vec<(Speaker, u64, String)> {
        split_turns(text).into_iter().map(|(speaker, line, text)| (speaker, line, text.trim().to_owned())).collect()
    }

    #[test]
    fn speakers_open_turns() {
        let expected =
            |a: u64, b: u64| vec![(Speaker::User, a, "how?".to_owned()), (Speaker::Assistant, b, "so.\n\n**Tip:** more".to_owned())];
        assert_eq!(turns("## User\n\nhow?\n\n## Assistant\n\nso.\n\n**Tip:** more\n"), expected(1, 5));
        assert_eq!(turns("**User:** how?\n\n**Assistant:** so.\n\n**Tip:** more\n"), expected(1, 3));
        assert_eq!(turns("Human: how?\n\nAI: so.\n\n**Tip:** more\n"), expected(1, 3));
        assert_eq!(
            turns("just a note about the user interface\n"),
            [(Speaker::User, 1, "just a note about the user interface".to_owned())]
        );
        assert_eq!(turns("User: see\n```\nAssistant: quoted\n```\n"), [(Speaker::User, 1, "see\n```\nAssistant: quoted\n```".to_owned())]);
    }
}
