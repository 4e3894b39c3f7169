//! Folders of conversations of any origin: JSONL with `role` and `content`, Markdown and text with speakers. Only
//! folders the person has named are looked at.

use super::{
    About, ChatSource, Cursor, Event, Found, Host, SessionFile, Sink, Speaker, Taken, TitleRank, Turn,
    claude_code::{self, session_file},
    json::one_line,
    walk,
};
use memdir_core::{
    base::{
        error::{Error, Result},
        limits,
    },
    memory::lines::{FenceScanner, heading},
};
use std::{borrow::Cow, fs, path::PathBuf};

/// Conversations in folders.
#[derive(Debug, Clone)]
pub struct Folder {
    folders: Vec<PathBuf>,
}

impl Folder {
    /// Those in these folders and below.
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Folder { folders }
    }
}

impl ChatSource for Folder {
    fn host(&self) -> Host {
        Host::Folder
    }

    fn sessions(&self) -> Found {
        let mut found = Found::default();
        for folder in &self.folders {
            for file in walk::files(folder, &mut found) {
                let Some((stem, "md" | "markdown" | "txt" | "jsonl")) = file.name.rsplit_once('.') else { continue };
                // Two files of one name in different folders are two sessions.
                let key = format!("{stem}-{}", &blake3::hash(file.path.as_os_str().as_encoded_bytes()).to_hex()[..8]);
                let session = session_file(Host::Folder, &key, &file.path);
                let title = Some((TitleRank::Summary, stem.to_owned()));
                found.sessions.extend(session.map(|session| SessionFile { title, ..session }));
            }
        }
        claude_code::each_once(&mut found);
        found
    }

    fn turns(&self, session: &SessionFile, from: &Cursor, sink: &mut Sink<'_>) -> Result<Taken> {
        if from.at == 0 {
            sink(Event::About(About { started: Some(session.stamp.modified()), ..About::default() }))?;
        }
        if session.path.extension().is_some_and(|extension| extension == "jsonl") {
            return claude_code::read(session, from, sink, |_| true);
        }
        if from.at > 0 {
            sink(Event::Restart)?;
        }
        read_text(session, sink)
    }
}

/// A text is a note to be edited anywhere, so it is always told whole.
fn read_text(session: &SessionFile, sink: &mut Sink<'_>) -> Result<Taken> {
    if session.stamp.size > limits::READ_FILE_BYTES {
        let (size, limit) = (session.stamp.size, limits::READ_FILE_BYTES);
        return Err(Error::TooLarge { what: session.path.display().to_string(), size, limit });
    }
    let bytes = fs::read(&session.path).map_err(|source| Error::io("read", &session.path, source))?;
    let text = String::from_utf8_lossy(&bytes);
    let (title, body, first_line) = without_frontmatter(&text);
    if let Some(title) = title {
        sink(Event::About(About { title: Some((TitleRank::Given, Cow::Owned(title))), ..About::default() }))?;
    }
    for (speaker, line, text) in spoken(body) {
        let text = text.trim();
        if !text.is_empty() {
            sink(Event::Turn(Turn { speaker, at: None, text: Cow::Borrowed(text), message: None, line: line + first_line }))?;
        }
    }
    Ok(Taken {
        cursor: Cursor { at: bytes.len().max(1) as u64, lines: text.lines().count() as u64, ..Cursor::default() },
        ..Taken::default()
    })
}

/// The title in the frontmatter, the text behind it, and how many lines came before.
fn without_frontmatter(text: &str) -> (Option<String>, &str, u64) {
    let Some(rest) = text.strip_prefix("---\n") else { return (None, text, 0) };
    let Some(end) = rest.find("\n---\n") else { return (None, text, 0) };
    let head = &rest[..end];
    let title = head
        .lines()
        .find_map(|line| line.strip_prefix("title:"))
        .map(|title| one_line(title.trim().trim_matches(['"', '\'']), limits::CHAT_TITLE_CHARS));
    (title.filter(|title| !title.is_empty()), &rest[end + 5..], head.lines().count() as u64 + 2)
}

/// The text cut at its speakers, each with its line; the whole as the person's own where there is none.
fn spoken(text: &str) -> Vec<(Speaker, u64, &str)> {
    let mut turns: Vec<(Speaker, u64, usize, usize)> = Vec::new();
    let (mut at, mut number, mut fences) = (0, 0, FenceScanner::default());
    for line in text.split_inclusive('\n') {
        number += 1;
        if !fences.is_code(line)
            && let Some((speaker, skip)) = opener(line)
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

/// Who begins to speak on this line, and where what they say begins: `## User`, `**User:** …`, `User: …`.
fn opener(line: &str) -> Option<(Speaker, usize)> {
    let bare = line.trim_start_matches(['#', '*', '_', ' ']);
    let is_marked = bare.len() < line.len();
    let name_end = bare.find(|c: char| !c.is_alphanumeric()).unwrap_or(bare.len());
    let speaker = match bare[..name_end].to_ascii_lowercase().as_str() {
        "user" | "human" => Speaker::User,
        "assistant" | "ai" | "claude" | "chatgpt" | "gpt" | "codex" | "gemini" | "model" => Speaker::Assistant,
        _ => return None,
    };
    let rest = &bare[name_end..];
    let said = rest.trim_start_matches(['*', '_', ':']);
    let has_colon = rest[..rest.len() - said.len()].contains(':');
    let is_heading = is_marked && heading(line).is_some() && said.trim().is_empty();
    (has_colon || is_heading).then(|| (speaker, line.len() - said.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<(Speaker, u64, String)> {
        spoken(text).into_iter().map(|(speaker, line, text)| (speaker, line, text.trim().to_owned())).collect()
    }

    #[test]
    fn speakers_open_turns() {
        let expected =
            |a: u64, b: u64| vec![(Speaker::User, a, "how?".to_owned()), (Speaker::Assistant, b, "so.\n\n**Tip:** more".to_owned())];
        assert_eq!(told("## User\n\nhow?\n\n## Assistant\n\nso.\n\n**Tip:** more\n"), expected(1, 5));
        assert_eq!(told("**User:** how?\n\n**Assistant:** so.\n\n**Tip:** more\n"), expected(1, 3));
        assert_eq!(told("Human: how?\n\nAI: so.\n\n**Tip:** more\n"), expected(1, 3));
        assert_eq!(told("just a note about the user interface\n"), [(Speaker::User, 1, "just a note about the user interface".to_owned())]);
        assert_eq!(told("User: see\n```\nAssistant: quoted\n```\n"), [(Speaker::User, 1, "see\n```\nAssistant: quoted\n```".to_owned())]);
    }
}
