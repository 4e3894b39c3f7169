//! Chats that are kept: one readable Markdown file per session, whole at every moment, with the place in the
//! transcript it was read up to. Only the owner can read them. They outlive the host's own files.

mod header;

use super::{Cursor, Host, Resume, Speaker, TitleRank, draft, lock::make_dir};
use crate::error::{Error, Problem, Result};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::{
    borrow::Cow,
    fs::{self, File},
    io::{self, BufWriter, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

/// Takes secrets out of a text.
pub type Mask<'a> = dyn for<'t> Fn(&'t str) -> Cow<'t, str> + 'a;

/// The directory of kept chats.
#[derive(Debug, Clone)]
pub struct Keep {
    dir: PathBuf,
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
    pub fn resume(&self) -> Option<Resume> {
        // OpenClaw takes the key of the conversation; without one there is nothing to take up.
        let id = match (&self.resume_id, self.host) {
            (Some(id), _) => id,
            (None, Host::Openclaw) => return None,
            (None, _) => &self.session,
        };
        Resume::of(self.host, id, self.project.as_deref().map(Path::new))
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
    /// Its size.
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
    /// Its lines in the kept file, 1-based and inclusive, heading included.
    pub lines: (u64, u64),
    /// What was said.
    pub text: String,
}

impl Keep {
    /// The kept chats in this directory; it need not exist yet.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Keep { dir: dir.into() }
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where a session is kept.
    pub fn path(&self, host: Host, key: &str) -> PathBuf {
        self.dir.join(host.name()).join(format!("{}.md", file_name(key)))
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
                if path.extension().is_none_or(|extension| extension != "md") {
                    continue;
                }
                let read = || -> io::Result<_> {
                    let mut file = File::open(&path)?;
                    Ok((header::read(&mut file)?, file.metadata()?.len()))
                };
                match read() {
                    Ok((Some((kept, _)), bytes)) => chats.push(KeptFile { kept, path, bytes }),
                    Ok((None, _)) => problems.push(Problem::whole(format!("{} has no header of a kept chat", path.display()))),
                    Err(error) => problems.push(Problem::whole(format!("cannot read {}: {error}", path.display()))),
                }
            }
        }
        chats.sort_by(|KeptFile { kept: a, .. }, KeptFile { kept: b, .. }| b.updated.cmp(&a.updated).then_with(|| a.name().cmp(&b.name())));
        Ok(Listed { chats, problems })
    }

    /// A kept chat with its sections.
    pub fn read(&self, host: Host, key: &str) -> Result<Option<(Kept, Vec<Section>)>> {
        let path = self.path(host, key);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(Error::io("read", &path, source)),
        };
        Ok(header::parse(&text).map(|(kept, _)| (kept, sections(&text))))
    }

    /// Writes a session: what was kept before (unless it starts over), then the draft. The header is complete but for
    /// what only writing tells.
    pub(super) fn write(&self, kept: &mut Kept, before: Before, draft: &mut draft::Draft<'_>) -> Result<()> {
        let path = self.path(kept.host, &kept.key);
        let failed = |source| Error::io("write", &path, source);
        let mut body = tempfile::spooled_tempfile_in(1 << 20, &self.dir);
        let (last, sections) = draft.write(kept.progress.last.clone(), &mut body).map_err(failed)?;
        kept.progress.last = last;
        kept.turns += sections;
        body.rewind().map_err(failed)?;
        let old = match before {
            Before::Goes => Some(self.body(kept.host, &kept.key).map_err(failed)?),
            Before::StartsOver => None,
        };
        put(&path, Lasting::Yes, &mut |out| {
            out.write_all(header::text(kept).as_bytes())?;
            if let Some(Some(mut old)) = old.as_ref().map(|old| old.as_ref()) {
                io::copy(&mut old, out)?;
            }
            io::copy(&mut body, out).map(drop)
        })
    }

    /// Writes a session with only these sections' lines left.
    pub(super) fn write_sections(&self, kept: &Kept, sections: &[Section]) -> Result<()> {
        let path = self.path(kept.host, &kept.key);
        let text = fs::read_to_string(&path).map_err(|source| Error::io("read", &path, source))?;
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        put(&path, Lasting::Yes, &mut |out| {
            out.write_all(header::text(kept).as_bytes())?;
            for section in sections {
                let (first, last) = (section.lines.0 as usize - 1, (section.lines.1 as usize).min(lines.len()));
                out.write_all(b"\n")?;
                out.write_all(lines[first..last].concat().trim_end_matches('\n').as_bytes())?;
                out.write_all(b"\n")?;
            }
            Ok(())
        })
    }

    /// A kept file, standing behind its header.
    fn body(&self, host: Host, key: &str) -> io::Result<Option<File>> {
        let mut file = File::open(self.path(host, key))?;
        let Some((_, body)) = header::read(&mut file)? else { return Ok(None) };
        file.seek(SeekFrom::Start(body))?;
        Ok(Some(file))
    }

    /// Removes what is kept of a session; `false` if there was nothing.
    pub(super) fn remove(&self, host: Host, key: &str) -> Result<bool> {
        let path = self.path(host, key);
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(Error::io("remove", path, source)),
        }
    }
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
        // Temporary files are readable by their owner alone.
        let mut file = tempfile::Builder::new().prefix(".memdir-").suffix(".tmp").tempfile_in(dir)?;
        let mut out = BufWriter::with_capacity(64 << 10, file.as_file_mut());
        write(&mut out)?;
        out.flush()?;
        drop(out);
        if last == Lasting::Yes {
            file.as_file().sync_all()?;
        }
        file.persist(path).map(drop).map_err(|error| error.error)
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
            found.push(Section { speaker, at, lines: (number, number), text: String::new() });
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
