//! Chats that are kept: one readable Markdown file per session, whole at every moment, with the place in the
//! transcript it was read up to; the beginning of a long one is in files of its own. Only the owner can read them. They
//! outlive the host's own files.

mod header;
mod parts;

use super::{Cursor, Host, Speaker, TitleRank, draft, json::one_line, lock::make_dir, place::Held, resume_command};
use jiff::Timestamp;
use memdir_core::base::{
    disk::{self, Durability, Replace},
    error::{Error, Problem, Result},
    limits,
};
use memdir_core::search::chats::{ChatPlace, ResumeCommand};
use serde::{Deserialize, Serialize};
use std::{
    borrow::Cow,
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

/// How the names of files that are being written begin and end.
const TEMP: (&str, &str) = (".memdir-", ".tmp");

/// Stands between a key and the number of what the conversation was before its transcript became another one.
pub(super) const WAS: &str = ".was";

/// Takes secrets out of a text.
pub type Mask<'a> = dyn for<'t> Fn(&'t str) -> Cow<'t, str> + 'a;

/// The directory of kept chats.
#[derive(Debug, Clone)]
pub struct Keep {
    dir: PathBuf,
    part_bytes: u64,
}

/// What a kept chat says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// Whose conversation it was.
    pub host: Host,
    /// Its name among the host's.
    pub key: String,
    /// The id the host knows it by.
    pub session: String,
    /// What the resume command takes, where that is not the id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume_id: Option<String>,
    /// Its title.
    pub title: String,
    /// The directory it was held in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The git branch it ended on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// When it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<Timestamp>,
    /// The time of its last turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated: Option<Timestamp>,
    /// Sections it has.
    pub turns: u64,
    /// Files that hold its beginning, besides the one with its end.
    #[serde(skip_serializing_if = "is_default")]
    pub parts: u64,
    /// The session whose beginning it shares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continues: Option<String>,
    /// The host's file or database.
    pub source: String,
    /// How far it was read, and what it takes to go on.
    #[serde(skip)]
    pub(super) progress: Progress,
}

/// What it takes to go on reading a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Progress {
    #[serde(flatten)]
    pub(super) cursor: Cursor,
    pub(super) title: TitleRank,
    #[serde(skip_serializing_if = "is_default")]
    pub(super) last: draft::Last,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Kept {
    /// The command that takes it up again.
    pub fn resume(&self) -> Option<ResumeCommand> {
        // OpenClaw takes the key of the conversation; without one there is nothing to take up.
        let id = match (&self.resume_id, self.host) {
            (Some(id), _) => id,
            (None, Host::Openclaw) => return None,
            (None, _) => &self.session,
        };
        resume_command(self.host, id, self.project.as_deref().map(Path::new))
    }

    /// What tells where it was held.
    pub fn held(&self) -> Held<'_> {
        Held { host: self.host, project: self.project.as_deref().map(Path::new), source: Path::new(&self.source) }
    }

    /// The name people and rules use: `host/key`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.host, self.key)
    }
}

/// What is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// The chats, newest first.
    pub chats: Vec<KeptFile>,
    /// Files that are no kept chats.
    pub problems: Vec<Problem>,
}

/// A kept chat's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeptFile {
    /// What it says about itself.
    #[serde(flatten)]
    pub kept: Kept,
    /// Where it is.
    pub path: PathBuf,
    /// The size of all its files.
    pub bytes: u64,
}

/// A section of a kept chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Section {
    /// Who speaks: the person, or the assistant with its tool calls.
    pub speaker: Speaker,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The file it is in: 0 for the one with the conversation's end, otherwise the part.
    #[serde(skip_serializing_if = "is_default")]
    pub part: u64,
    /// Its lines in that file, 1-based and inclusive, heading included.
    pub lines: (u64, u64),
    /// What was said.
    pub text: String,
}

/// The place of a line of a kept chat; nothing if the text is no kept chat or the line is in no turn of it.
pub fn chat_place(text: &str, line: u64) -> Option<ChatPlace> {
    let (kept, _) = header::parse(text)?;
    let sections = sections(text);
    let at = sections.iter().rposition(|section| section.lines.0 <= line)?;
    let short = |section: &Section| one_line(&section.text, limits::CHAT_NEIGHBOUR_CHARS);
    let command = kept.resume();
    Some(ChatPlace {
        resume: command.as_ref().map(ResumeCommand::to_string),
        command,
        host: kept.host.to_string(),
        session: kept.session,
        title: kept.title,
        project: kept.project,
        speaker: sections[at].speaker,
        at: sections[at].at,
        before: at.checked_sub(1).map(|before| short(&sections[before])),
        after: sections.get(at + 1).map(short),
    })
}

impl Keep {
    /// The kept chats in this directory; it need not exist yet.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Keep { dir: dir.into(), part_bytes: limits::CHAT_PART_BYTES }
    }

    /// The same, with files of another size: a conversation that is longer has several.
    #[must_use]
    pub fn with_part_bytes(self, part_bytes: u64) -> Self {
        Keep { part_bytes, ..self }
    }

    /// Makes the directory, so that it can be searched before anything is kept.
    pub fn make(&self) -> Result<()> {
        make_dir(&self.dir)
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where a session is kept: the file with its header and its end.
    pub fn path(&self, host: Host, key: &str) -> PathBuf {
        self.part_path(host, key, 0)
    }

    /// What is kept of a session.
    pub fn get(&self, host: Host, key: &str) -> Result<Option<Kept>> {
        let path = self.path(host, key);
        match File::open(&path) {
            Ok(mut file) => Ok(header::read(&mut file).map_err(|source| Error::io("read", &path, source))?.map(|(kept, _)| kept)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Error::io("read", &path, source)),
        }
    }

    /// Removes what a process that was killed has left of files it was writing. The caller holds the lock.
    pub(super) fn remove_leftovers(&self) {
        let dirs = Host::ALL.map(|host| self.dir.join(host.name()));
        for dir in dirs.iter().chain([&self.dir]) {
            for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
                let name = entry.file_name();
                if name.to_str().is_some_and(|name| name.starts_with(TEMP.0) && name.ends_with(TEMP.1)) {
                    // What cannot be removed now is in nobody's way, and met again.
                    let _ = fs::remove_file(entry.path());
                }
            }
        }
    }

    /// How many conversations are kept, without a look into them.
    pub fn count(&self) -> usize {
        let dirs = Host::ALL.map(|host| self.dir.join(host.name()));
        let entries = dirs.iter().flat_map(|dir| fs::read_dir(dir).into_iter().flatten().flatten());
        entries.filter(|entry| is_chat(&entry.path())).count()
    }

    /// Everything that is kept, newest first.
    pub fn list(&self) -> Result<Listed> {
        let Listed { mut chats, mut problems } = Listed::default();
        for host in Host::ALL {
            let dir = self.dir.join(host.name());
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
                    Ok((Some((kept, _)), bytes)) => {
                        let bytes = bytes + self.parts_bytes(&kept);
                        chats.push(KeptFile { kept, path, bytes });
                    }
                    Ok((None, _)) => problems.push(Problem::whole(format!("{} has no header of a kept chat", path.display()))),
                    Err(error) => problems.push(Problem::whole(format!("cannot read {}: {error}", path.display()))),
                }
            }
        }
        chats.sort_by(|KeptFile { kept: a, .. }, KeptFile { kept: b, .. }| b.updated.cmp(&a.updated).then_with(|| a.name().cmp(&b.name())));
        Ok(Listed { chats, problems })
    }
}

/// Whether a file holds a conversation's end, and so stands for all of it.
fn is_chat(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md") && !parts::is_part(path)
}

/// Whether what was kept before stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    /// It goes before the new.
    Goes,
    /// It is told anew.
    StartsOver,
}

/// Whether a file must outlive a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lasting {
    /// It must: nobody else has what is in it.
    Yes,
    /// It need not: it can be made again.
    No,
}

/// Puts a file in its place in one step: the old bytes or the new ones, never a part. Only its owner can read it.
pub(super) fn put(path: &Path, last: Lasting, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    make_dir(dir)?;
    let mut run = || -> io::Result<()> {
        let durability = if last == Lasting::Yes { Durability::Content } else { Durability::None };
        disk::replace(path, Replace { durability, ..Replace::DERIVED }, |file| {
            let mut out = BufWriter::with_capacity(64 << 10, file);
            write(&mut out)?;
            out.flush()
        })
    };
    run().map_err(|source| Error::io("write", path, source))
}

/// A key as the name of a file: as it is where that can be, made unique where not.
fn file_name(key: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !key.is_empty() && key.len() <= 120 && key.chars().all(is_plain) && !key.starts_with(['.', '-']) {
        return key.to_owned();
    }
    let start: String = key.chars().map(|c| if is_plain(c) { c } else { '_' }).take(80).collect();
    format!("{}-{}", start.trim_start_matches(['.', '-']), &blake3::hash(key.as_bytes()).to_hex()[..8])
}

/// The sections of a kept file.
pub fn sections(text: &str) -> Vec<Section> {
    let mut found: Vec<Section> = Vec::new();
    let mut number = 0;
    for line in text.lines() {
        number += 1;
        if let Some((speaker, at)) = heading(line) {
            found.push(Section { speaker, at, part: 0, lines: (number, number), text: String::new() });
        } else if let Some(section) = found.last_mut() {
            section.text.push_str(line);
            section.text.push('\n');
            // Blank lines at its end belong to no section.
            if !line.trim().is_empty() {
                section.lines.1 = number;
            }
        }
    }
    for section in &mut found {
        section.text = section.text.trim().to_owned();
    }
    found
}

/// Who and when, of `## User (2026-01-15 10:00:05Z)`; no line of a text looks like this.
fn heading(line: &str) -> Option<(Speaker, Option<Timestamp>)> {
    let (speaker, rest) = match line.strip_prefix("## User") {
        Some(rest) => (Speaker::User, rest),
        None => (Speaker::Assistant, line.strip_prefix("## Assistant")?),
    };
    let at = rest.strip_prefix(" (").and_then(|rest| rest.strip_suffix(')')).and_then(|time| time.parse().ok());
    (rest.is_empty() || at.is_some()).then_some((speaker, at))
}
