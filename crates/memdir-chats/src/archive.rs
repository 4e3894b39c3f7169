//! The archive of conversations: one Markdown file per session, replaced atomically, with the position up to which its transcript was
//! read; the beginning of a long session is in files of its own. Only the owner can read the files. They outlive the host's own.

mod calls;
pub(crate) mod ending;
mod find;
pub(crate) mod forget;
mod header;
mod parts;
pub(crate) mod retention;

use crate::{
    draft,
    hosts::READERS,
    json::one_line,
    lock::make_dir,
    project::SessionProject,
    source::Reader,
    transcript::{TitleRank, TranscriptCursor},
};
use jiff::Timestamp;
use memdir_core::internal::base::sort::SharedSort as _;
use memdir_core::{
    ChatPlace, Error, Problem, Result, ResumeCommand, Speaker,
    internal::base::disk::{self, Durability, Replace},
};
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    ops::Range,
    path::{Path, PathBuf},
};

/// Bytes of one file of a stored chat; a longer chat has several files, so that each is read and written at once, and a growing chat
/// needs little reindexing.
const CHAT_PART_BYTES: u64 = 1 << 20;
/// Characters of the turns before and after a hit that are shown with it.
const CHAT_NEIGHBOUR_CHARS: usize = 160;

/// How the names of files that are being written begin and end.
const TEMP: (&str, &str) = (".memdir-", ".tmp");

/// Separates the key of a session from the number of a superseded copy of it, which is archived when its transcript was replaced by
/// another one.
const SUPERSEDED: &str = ".was";

/// The folder with what the search for candidates remembers, one file per project. Derived, but it has words of conversations.
pub(crate) const CANDIDATES_DIR: &str = ".candidates";

/// The directory of archived conversations.
#[derive(Debug, Clone)]
pub struct ChatArchive {
    dir: PathBuf,
    part_bytes: u64,
}

/// The header of an archived conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArchivedChat {
    /// The host.
    pub host: &'static Reader,
    /// The unique name among the host's sessions.
    pub key: String,
    /// The host's session id.
    pub session: String,
    /// The argument of the resume command, if it is not the id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume_id: Option<String>,
    /// The title.
    pub title: String,
    /// The working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The git branch at its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The start time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<Timestamp>,
    /// The time of the last turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated: Option<Timestamp>,
    /// The number of sections.
    pub turns: u64,
    /// The number of files with its beginning, besides the one with its end.
    #[serde(skip_serializing_if = "is_default")]
    pub parts: u64,
    /// The session it was forked from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continues: Option<String>,
    /// The host's transcript file or database.
    pub source: String,
    /// The position up to which it was read.
    #[serde(skip)]
    pub(super) progress: ReadProgress,
}

/// The position in a session's transcript, with what is needed to append to the archived text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ReadProgress {
    #[serde(flatten)]
    pub(super) cursor: TranscriptCursor,
    pub(super) title: TitleRank,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) last: draft::LastTurn,
    /// Whether the last turn calls memdir, and was not archived.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) calls_memory: bool,
    /// The number of the person's messages.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) users: u64,
    /// Whether a program, not a person, wrote the prompts.
    #[serde(skip_serializing_if = "is_default")]
    pub(super) scripted: bool,
    /// The file with its tool calls; `None` if it was archived before they were kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) calls: Option<calls::CallsMark>,
}

impl ReadProgress {
    /// Whether the last turn is not the end of an answer: the user's, or a call whose result follows.
    pub(super) fn is_unanswered(&self) -> bool {
        self.calls_memory || self.last.speaker != Some(Speaker::Assistant)
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl ArchivedChat {
    /// Returns the command that resumes it, or `None` if its host has none.
    pub fn resume(&self) -> Option<ResumeCommand> {
        self.host.resume_command(&self.session, self.resume_id.as_deref(), self.project.as_deref().map(Path::new))
    }

    /// Returns what is known about its directory.
    pub fn session_project(&self) -> SessionProject<'_> {
        SessionProject { host: self.host, dir: self.project.as_deref().map(Path::new), transcript: Path::new(&self.source) }
    }

    /// Returns the name used in commands and rules: `host/key`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.host, self.key)
    }
}

/// The content of the archive.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ArchiveListing {
    /// The conversations, newest first.
    pub chats: Vec<ArchivedFile>,
    /// Files that cannot be read or have no header.
    pub problems: Vec<Problem>,
}

/// An archived conversation and its file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArchivedFile {
    /// The header.
    #[serde(flatten)]
    pub chat: ArchivedChat,
    /// The file with its header and its end.
    pub path: PathBuf,
    /// The total size of its files.
    pub bytes: u64,
}

/// A section of an archived conversation: a turn, with the tool calls that followed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChatSection {
    /// The speaker: the user, or the assistant with its tool calls.
    pub speaker: Speaker,
    /// The time, if the transcript records it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The file it is in: 0 for the one with the conversation's end, otherwise the number of the part.
    #[serde(skip_serializing_if = "is_default")]
    pub part: u64,
    /// The lines in that file, 1-based and inclusive, with the heading.
    pub lines: (u64, u64),
    /// The text below the heading.
    pub text: String,
}

/// Returns the place of a line (1-based) of an archived conversation, or `None` if the text has no header or the line is in no turn.
pub fn chat_place(text: &str, line: u64) -> Option<ChatPlace> {
    let (chat, _) = header::parse(text)?;
    let sections = sections(text);
    let at = sections.iter().rposition(|section| section.lines.0 <= line)?;
    let short = |section: &ChatSection| one_line(&section.text, CHAT_NEIGHBOUR_CHARS);
    let command = chat.resume();
    Some(ChatPlace {
        resume: command.as_ref().map(ResumeCommand::to_string),
        command,
        host: chat.host.to_string(),
        session: chat.session,
        title: chat.title,
        project: chat.project,
        speaker: sections[at].speaker,
        at: sections[at].at,
        before: at.checked_sub(1).map(|before| short(&sections[before])),
        after: sections.get(at + 1).map(short),
    })
}

impl ChatArchive {
    /// Creates an archive in a directory, which need not exist yet.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        ChatArchive { dir: dir.into(), part_bytes: CHAT_PART_BYTES }
    }

    /// Sets the size above which a conversation is split into several files.
    #[must_use]
    pub fn with_part_bytes(self, part_bytes: u64) -> Self {
        ChatArchive { part_bytes, ..self }
    }

    /// Creates the directory, so that it can be searched before anything is archived.
    pub fn create(&self) -> Result<()> {
        make_dir(&self.dir)
    }

    /// Returns the directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the name of a session's file in the archive, without the extension.
    pub(crate) fn file_stem(host: &Reader, key: &str) -> String {
        format!("{host}/{}", file_name(key))
    }

    /// Returns the path of a session: the file with its header and its end.
    pub fn path(&self, host: &Reader, key: &str) -> PathBuf {
        self.part_path(host, key, 0)
    }

    /// Reads the header of a session, or returns `None` if it is not archived.
    pub fn get(&self, host: &Reader, key: &str) -> Result<Option<ArchivedChat>> {
        let path = self.path(host, key);
        match File::open(&path) {
            Ok(mut file) => Ok(header::read(&mut file).map_err(|source| Error::io("read", &path, source))?.map(|(chat, _)| chat)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Error::io("read", &path, source)),
        }
    }

    /// Reads the header of a file, named as by [`ChatArchive::file_stem`].
    pub(crate) fn header(&self, stem: &str) -> Option<ArchivedChat> {
        let mut file = File::open(self.dir.join(format!("{stem}.md"))).ok()?;
        header::read(&mut file).ok()?.map(|(chat, _)| chat)
    }

    /// Returns the name of a conversation's file, given that of one of its parts.
    pub(crate) fn without_part(name: &str) -> &str {
        name.split_once(parts::PART_MARK).map_or(name, |(name, _)| name)
    }

    /// Removes temporary files that killed processes left behind. The caller holds the lock.
    pub(super) fn remove_leftovers(&self) {
        for dir in self.host_dirs().iter().chain([&self.dir]) {
            for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
                let name = entry.file_name();
                if name.to_str().is_some_and(|name| name.starts_with(TEMP.0) && name.ends_with(TEMP.1)) {
                    // A file that cannot be removed now does no harm, and is found again next time.
                    let _ = fs::remove_file(entry.path());
                }
            }
        }
    }

    /// Counts the archived conversations without opening them.
    pub fn count(&self) -> usize {
        let entries = self.host_dirs().into_iter().flat_map(|dir| fs::read_dir(dir).into_iter().flatten().flatten());
        entries.filter(|entry| is_chat(&entry.path())).count()
    }

    fn host_dirs(&self) -> Vec<PathBuf> {
        READERS.iter().map(|host| self.dir.join(host.name)).collect()
    }

    /// Lists the archived conversations, newest first.
    pub fn list(&self) -> Result<ArchiveListing> {
        let ArchiveListing { mut chats, mut problems } = ArchiveListing::default();
        for dir in self.host_dirs() {
            let entries = match fs::read_dir(&dir) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(source) => return Err(Error::io("list", dir, source)),
            };
            for entry in entries.flatten() {
                let path = entry.path();
                if !is_chat(&path) {
                    continue;
                }
                let read = || -> io::Result<_> {
                    let mut file = File::open(&path)?;
                    Ok((header::read(&mut file)?, file.metadata()?.len()))
                };
                match read() {
                    Ok((Some((chat, _)), bytes)) => {
                        let bytes = bytes + self.parts_bytes(&chat);
                        chats.push(ArchivedFile { chat, path, bytes });
                    }
                    Ok((None, _)) => problems.push(Problem::whole(format!(
                        "{} is not an archived conversation: its header is missing or invalid",
                        path.display()
                    ))),
                    Err(error) => problems.push(Problem::whole(format!("cannot read {}: {error}", path.display()))),
                }
            }
        }
        chats.shared_sort_by(|ArchivedFile { chat: a, .. }, ArchivedFile { chat: b, .. }| {
            b.updated.cmp(&a.updated).then_with(|| a.name().cmp(&b.name()))
        });
        Ok(ArchiveListing { chats, problems })
    }
}

/// Whether a file has the end of a conversation and so represents it.
fn is_chat(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md") && !parts::is_part(path)
}

/// What happens to the archived text of a session when new turns are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArchiveWriteMode {
    /// The new turns are appended.
    Append,
    /// The new turns replace it.
    Replace,
}

/// Puts a file in its place in one step: the old bytes or the new ones, never a part. Only its owner can read it.
/// What exists nowhere else must outlive a power cut; what can be derived again need not.
pub(super) fn put(path: &Path, durability: Durability, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    make_dir(dir)?;
    let mut run = || -> io::Result<()> {
        disk::replace(path, Replace { durability, ..Replace::DERIVED }, |file| {
            let mut out = BufWriter::with_capacity(64 << 10, file);
            write(&mut out)?;
            out.flush()
        })
    };
    run().map_err(|source| Error::io("write", path, source))
}

/// Returns the file name of a key: the key itself if it is a safe name, otherwise a safe one with a hash.
fn file_name(key: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !key.is_empty() && key.len() <= 120 && key.chars().all(is_safe) && !key.starts_with(['.', '-']) {
        return key.to_owned();
    }
    let start: String = key.chars().map(|c| if is_safe(c) { c } else { '_' }).take(80).collect();
    format!("{}-{}", start.trim_start_matches(['.', '-']), &blake3::hash(key.as_bytes()).to_hex()[..8])
}

/// Splits an archived file into its sections.
fn sections(text: &str) -> Vec<ChatSection> {
    sections_with_text(text, |_| true)
}

/// Splits an archived file into its sections; only those of the speakers that `has_text` have their text, which saves copying it.
fn sections_with_text(text: &str, has_text: fn(Speaker) -> bool) -> Vec<ChatSection> {
    let mut found: Vec<(ChatSection, Range<usize>)> = Vec::new();
    let mut end = 0;
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        end += line.len();
        let line = line.strip_suffix('\n').unwrap_or(line);
        if let Some((speaker, at)) = parse_heading(line) {
            found.push((ChatSection { speaker, at, part: 0, lines: (number, number), text: String::new() }, end..end));
        } else if let Some((section, range)) = found.last_mut()
            // Trailing blank lines belong to no section.
            && !line.trim().is_empty()
        {
            section.lines.1 = number;
            range.end = end;
        }
    }
    let filled = found.into_iter().map(|(section, range)| {
        let text = if has_text(section.speaker) { text[range].trim() } else { "" };
        ChatSection { text: text.to_owned(), ..section }
    });
    filled.collect()
}

/// Parses the heading of a section, `## User (2026-01-15 10:00:05Z)`. No line of a turn's text looks like this, because such lines are
/// escaped when they are archived.
fn parse_heading(line: &str) -> Option<(Speaker, Option<Timestamp>)> {
    let (speaker, rest) = match line.strip_prefix("## User") {
        Some(rest) => (Speaker::User, rest),
        None => (Speaker::Assistant, line.strip_prefix("## Assistant")?),
    };
    let at = rest.strip_prefix(" (").and_then(|rest| rest.strip_suffix(')')).and_then(|time| time.parse().ok());
    (rest.is_empty() || at.is_some()).then_some((speaker, at))
}
