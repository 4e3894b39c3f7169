//! Reads the entrypoint, or a memory or a range of its lines. Creates no file and takes no lock.

use crate::{
    base::{
        error::{Error, Problem, Result},
        limits,
        path::MemoryPath,
        text::{self, LineRange},
        time,
        version::Version,
    },
    entrypoint::{self, upkeep},
    memory::{Kind, Memory},
    operations::context::Context,
    secrets,
    store::{EntrypointMode, Store, Stored, mounts},
};
use serde::Serialize;
use std::borrow::Cow;

/// What to read.
#[derive(Debug, Clone)]
pub struct Read {
    /// The memory.
    pub path: MemoryPath,
    /// Only these lines.
    pub lines: Option<LineRange>,
    /// Maximum number of characters to return.
    pub max_chars: usize,
}

impl Read {
    /// Reads all of a memory, up to the default limit.
    pub fn all(path: MemoryPath) -> Self {
        Read { path, lines: None, max_chars: limits::READ_CHARS }
    }
}

/// A memory, or a part of it.
#[derive(Debug, Clone, Serialize)]
pub struct Reading {
    /// Its name.
    pub name: String,
    /// Its path, with folder and extension.
    pub path: MemoryPath,
    /// The requested text.
    pub content: String,
    /// The lines of `content`, as `first-last`.
    pub lines: String,
    /// Number of lines of the whole memory.
    pub total_lines: u64,
    /// Size of the whole memory.
    pub bytes: u64,
    /// Its version, for a later write that must not overwrite another change.
    pub version: Version,
    /// Its type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Its description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The age since it was last verified or changed.
    pub age: String,
    /// The line to continue at, if `content` was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_line: Option<u64>,
    /// The line whose end is missing because it is too long by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_line: Option<u64>,
    /// The problems of the file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// An entrypoint as it is loaded into a conversation.
#[derive(Debug, Clone, Serialize)]
pub struct EntrypointReading {
    /// Its path, or `None` if it does not exist yet.
    pub path: Option<MemoryPath>,
    /// Its text, trimmed and cut to the limits.
    pub content: String,
    /// Number of lines of the whole text, trimmed.
    pub line_count: u64,
    /// Size of the whole text, trimmed.
    pub byte_count: u64,
    /// Whether it has too many lines.
    pub cut_by_lines: bool,
    /// Whether it has too many bytes.
    pub cut_by_bytes: bool,
    /// The warning to show after a content that was cut: one quoted line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// Memories without a line in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unlisted: Vec<MemoryPath>,
    /// The problems of the file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

/// Reads one memory.
pub fn read(store: &dyn Store, context: &Context, request: &Read) -> Result<Reading> {
    let stored = match store.get(&request.path)? {
        Some(stored) => stored,
        None => return Err(not_found(store, &request.path)),
    };
    let reading = show(context, &stored, request)?;
    store.notice(&stored.path);
    Ok(with_line_problem(store, context, reading))
}

fn show(context: &Context, stored: &Stored, request: &Read) -> Result<Reading> {
    let (decoded, mut problems) = text::decode(&stored.bytes);
    let (memory, more) = Memory::parse(&decoded);
    problems.extend(more);
    let total_lines = text::lines(&decoded);
    let range = request.lines.unwrap_or(LineRange { first: 1, last: None });
    if range.first > total_lines.max(1) {
        let lines = text::counted(total_lines, "line", "lines");
        return Err(Error::bad_input("lines", format!("{} has {lines}; {range} is past its end", stored.path.name())));
    }
    let part = text::truncate_chars(range.slice(&decoded), range.first, request.max_chars);
    let shown = text::lines(part.text);
    let last = if shown == 0 { range.first } else { range.first + shown - 1 };
    if part.text.len() < range.slice(&decoded).len() && !part.text.ends_with('\n') {
        let whole = LineRange { first: last, last: Some(last) }.slice(&decoded).trim_end_matches(['\r', '\n']).chars().count();
        let shown_chars = part.text.lines().last().map_or(0, |line| line.chars().count());
        problems.push(Problem::at(last, format!("the line is truncated to {shown_chars} of {whole} characters")));
    }
    Ok(Reading {
        name: stored.path.name().to_owned(),
        path: stored.path.clone(),
        lines: if shown == 0 { "0".into() } else { format!("{}-{last}", range.first) },
        content: part.text.to_owned(),
        total_lines,
        bytes: stored.bytes.len() as u64,
        version: stored.version,
        kind: memory.kind(),
        description: memory.description().map(ToOwned::to_owned),
        age: time::age(context.clock.now(), memory_time(&memory, stored)),
        next_line: part.next_line,
        cut_line: part.split,
        problems,
    })
}

/// When a memory was last known to be true: the date it was verified, else modified, else created, else the file's modification time.
pub(crate) fn memory_time(memory: &Memory, stored: &Stored) -> jiff::Timestamp {
    memory.last_confirmed(stored.stamp.modified())
}

/// Adds a problem if the memory has no entrypoint line.
fn with_line_problem(store: &dyn Store, context: &Context, mut reading: Reading) -> Reading {
    if let Some(false) = upkeep::has_line(store, &context.entrypoint_cache, &reading.path) {
        reading.problems.push(Problem::whole("not listed in the entrypoint"));
    }
    reading
}

/// Reads the entrypoint of the mount with this prefix, byte for byte.
pub fn entrypoint(store: &dyn Store, context: &Context, prefix: &str) -> Result<EntrypointReading> {
    load_entrypoint(store, context, prefix, |text| Cow::Borrowed(text))
}

/// Reads the entrypoint of the mount with this prefix for injecting it into a conversation, see [`secrets::injected`].
pub(crate) fn injected_entrypoint(store: &dyn Store, context: &Context, prefix: &str) -> Result<EntrypointReading> {
    load_entrypoint(store, context, prefix, secrets::injected)
}

/// `prepare` gets the whole text, before it is cut: half of a secret would no longer be recognised.
fn load_entrypoint(store: &dyn Store, context: &Context, prefix: &str, prepare: fn(&str) -> Cow<'_, str>) -> Result<EntrypointReading> {
    let mount = &store.mounts()[mounts::with_prefix(store.mounts(), prefix)?];
    let unlisted =
        if mount.entrypoint == EntrypointMode::Kept { upkeep::unlisted(store, &context.entrypoint_cache, prefix)? } else { Vec::new() };
    let stored = mounts::entrypoint_file(store, prefix)?;
    let bytes = stored.as_ref().map_or(&[][..], |stored| &stored.bytes);
    let (decoded, mut problems) = text::decode(bytes);
    if let Some(entrypoint) = upkeep::open_entrypoint(store, &context.entrypoint_cache, prefix)? {
        problems.extend(entrypoint::long_lines(&entrypoint).into_iter().map(|long| Problem::at(long.line, long.to_string())));
    }
    let prepared = prepare(&decoded);
    let loaded = entrypoint::load(&prepared);
    Ok(EntrypointReading {
        content: loaded.content.to_owned(),
        line_count: loaded.line_count,
        byte_count: loaded.byte_count,
        cut_by_lines: loaded.cut_by_lines,
        cut_by_bytes: loaded.cut_by_bytes,
        warning: loaded.warning,
        path: stored.map(|stored| stored.path),
        unlisted,
        problems,
    })
}

pub(crate) use crate::store::if_readable;

/// The error for a memory that does not exist, with similar names.
pub fn not_found(store: &dyn Store, path: &MemoryPath) -> Error {
    let names: Vec<String> = match store.list("") {
        Ok(walk) => walk.entries.iter().map(|entry| entry.path.name().to_owned()).collect(),
        Err(_) => Vec::new(),
    };
    let near = text::near(path.name(), names.iter().map(String::as_str), limits::NEAR_NAMES);
    Error::NotFound { path: path.to_string(), near }
}
