//! Saves a memory: the file and its entrypoint line in one change.

use crate::{
    base::{
        error::{EditProblem, Error, Result},
        limits,
        path::MemoryPath,
        text,
        version::Version,
    },
    entrypoint::upkeep,
    memory::{self, Kind, Memory, cues},
    operations::{context::Context, inbox, read},
    recall::when,
    secrets::{self, SecretSeverity},
    store::{Change, ChangeId, Expect, Store, Stored, Verb, View, change_with, mounts},
};
use serde::Serialize;
use serde_json::{Map, Value};

/// The memory to save.
#[derive(Debug, Clone)]
pub struct Write {
    /// The memory; `.md` is added to a new name without the extension of a text file.
    pub path: MemoryPath,
    /// The text, with or without frontmatter.
    pub content: Vec<u8>,
    /// How an existing memory is treated.
    pub mode: WriteMode,
    /// Sets the frontmatter's name.
    pub name: Option<String>,
    /// Sets the frontmatter's description.
    pub description: Option<String>,
    /// Sets the frontmatter's type.
    pub kind: Option<Kind>,
    /// Sets the frontmatter's cues; an empty list removes them.
    pub cues: Option<Vec<String>>,
    /// Sets the frontmatter's `when`, the tripwires, by its keys; an empty map removes it.
    pub when: Option<Map<String, Value>>,
    /// Sets `pinned: true` in the frontmatter, or removes the field.
    pub pinned: Option<bool>,
    /// The version that the memory must have.
    pub expect: Option<Version>,
}

impl Write {
    /// Creates a new memory.
    pub fn create(path: MemoryPath, content: impl Into<Vec<u8>>) -> Self {
        Write {
            path,
            content: content.into(),
            mode: WriteMode::Create,
            name: None,
            description: None,
            kind: None,
            cues: None,
            when: None,
            pinned: None,
            expect: None,
        }
    }

    /// Sets frontmatter fields of an existing memory, whose text stays.
    pub fn fields(path: MemoryPath) -> Self {
        Write { mode: WriteMode::Fields, ..Write::create(path, "") }
    }

    /// Sets the mode.
    pub fn mode(self, mode: WriteMode) -> Self {
        Write { mode, ..self }
    }
}

/// How a write treats an existing memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteMode {
    /// The write fails.
    Create,
    /// The body is replaced; the frontmatter stays unless the new text has one. Cues, tripwires and `pinned` stay unless the new text
    /// has these fields.
    Replace,
    /// The text is appended; a missing memory is created.
    Append,
    /// Only the given frontmatter fields are set; there is no text.
    Fields,
    /// The file is replaced with exactly these bytes, under exactly this name.
    Exact,
    /// The file is created with exactly these bytes, under exactly this name. The write fails if it exists.
    CreateExact,
    /// The memory of this name has exactly these bytes afterwards; a missing one is created.
    Put,
    /// A memory with exactly these bytes is created. The write fails if one of this name exists.
    PutNew,
}

impl WriteMode {
    /// Whether the name is used as given. Otherwise it may omit `.md`.
    fn has_exact_name(self) -> bool {
        matches!(self, WriteMode::Exact | WriteMode::CreateExact)
    }

    /// Whether the bytes are used as given. Otherwise a text must not be blank, and ends with a line ending.
    fn has_exact_bytes(self) -> bool {
        self.has_exact_name() || matches!(self, WriteMode::Put | WriteMode::PutNew)
    }
}

/// A memory that was saved.
#[derive(Debug, Clone, Serialize)]
pub struct Saved {
    /// Its name.
    pub name: String,
    /// Its path, with folder and extension.
    pub path: MemoryPath,
    /// Its version now.
    pub version: Version,
    /// The change, for undo; `None` if the memory is unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<ChangeId>,
    /// Whether it is new.
    pub created: bool,
    /// Its size now.
    pub bytes: u64,
    /// Notes for the writer: an entrypoint near its limit, lines that moved.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Saves a memory.
pub(crate) fn write(store: &dyn Store, context: &Context, request: &Write) -> Result<Saved> {
    if !request.mode.has_exact_bytes() && request.mode != WriteMode::Fields && text::decode(&request.content).0.trim().is_empty() {
        return Err(Error::bad_input("content", "it is empty; pass the text to save, or delete the memory"));
    }
    let verb = if request.mode == WriteMode::Append { Verb::Append } else { Verb::Write };
    let touches = [request.path.clone()];
    let (change, (path, bytes, created, notes)) = change_with(store, &context.intent(verb), &touches, |view| {
        let there = existing(view, request)?;
        let path = there.as_ref().map_or_else(|| new_path(request), |stored| stored.path.clone());
        let creates = matches!(request.mode, WriteMode::Create | WriteMode::CreateExact | WriteMode::PutNew);
        let expect = request.expect.map_or(if creates { Expect::Absent } else { Expect::Any }, Expect::Is);
        expect.check(&path, there.as_ref().map(|stored| stored.version))?;
        if there.is_none() && matches!(request.mode, WriteMode::Replace | WriteMode::Fields) {
            return Err(read::not_found(store, &request.path));
        }
        upkeep::refuse_pages(view, &path)?;
        if there.is_none() {
            check_name(context, &path)?;
            inbox::refuse_new_file(view, &path)?;
        }
        let limit = mounts::mount_of(view, &path).map_or(limits::MEMORY_BYTES, |mount| mount.file_bytes);
        let bytes = new_bytes(request, there.as_ref(), limit)?;
        let old = there.as_ref().map(|stored| stored.bytes.as_slice());
        inbox::check_evidence(view, &path, old, &bytes)?;
        let warnings = check_secrets(context, old, &bytes)?;
        let kept = upkeep::save_with_line(view, &context.entrypoint_cache, &path, &bytes)?;
        Ok((kept.edits, (path, bytes, there.is_none(), [warnings, kept.notes].concat())))
    })?;
    Ok(saved_outcome(path, &bytes, created, &change, notes))
}

/// Returns the memory that a request changes, if it has the expected version and is no page of the entrypoint.
pub(crate) fn to_change(store: &dyn Store, view: &dyn View, path: &MemoryPath, expect: Option<Version>) -> Result<Stored> {
    let stored = view.get(path)?.ok_or_else(|| read::not_found(store, path))?;
    expect.map_or(Expect::Any, Expect::Is).check(&stored.path, Some(stored.version))?;
    upkeep::refuse_pages(view, &stored.path)?;
    Ok(stored)
}

/// Fails if a change would add a secret, naming its rule and line. Returns warnings for likely secrets.
pub(crate) fn check_secrets(context: &Context, old: Option<&[u8]>, new: &[u8]) -> Result<Vec<String>> {
    let (new, _) = text::decode(new);
    let findings = secrets::added(&text::decode(old.unwrap_or_default()).0, &new);
    let mut warnings = Vec::new();
    for finding in context.allow.filter(&new, findings) {
        match finding.severity {
            SecretSeverity::Refuse => return Err(Error::Secret { rule: finding.rule.into(), line: finding.line }),
            SecretSeverity::Warn => {
                warnings.push(format!(
                    "line {} may contain a secret ({}); if so, replace the secret with a note of where it is stored",
                    finding.line, finding.rule
                ));
            }
        }
    }
    Ok(warnings)
}

/// Fails if a new name contains a secret: names are in every list and history. The error does not repeat the name.
pub(crate) fn check_name(context: &Context, path: &MemoryPath) -> Result<()> {
    refuse_name(&context.allow.filter(path.as_str(), secrets::scan(path.as_str())))
}

/// Fails if a rename would add a secret to the name. Renaming away from such a name is always possible.
pub(crate) fn check_new_name(context: &Context, old: &MemoryPath, new: &MemoryPath) -> Result<()> {
    let findings = context.allow.filter(new.as_str(), secrets::added(old.as_str(), new.as_str()));
    refuse_name(&findings)
}

fn refuse_name(findings: &[secrets::SecretFinding]) -> Result<()> {
    match findings.iter().find(|finding| finding.severity == SecretSeverity::Refuse) {
        Some(finding) => Err(Error::bad_input("name", format!("it looks like a secret ({}); use another name", finding.rule))),
        None => Ok(()),
    }
}

/// The outcome of a write.
pub(crate) fn saved_outcome(path: MemoryPath, bytes: &[u8], created: bool, change: &Change, notes: Vec<String>) -> Saved {
    let id = (!change.files.is_empty()).then(|| change.id.clone());
    Saved {
        name: path.name().to_owned(),
        version: Version::from_content(bytes),
        change: id,
        created,
        bytes: bytes.len() as u64,
        notes,
        path,
    }
}

/// The existing memory. In exact mode, only a file with exactly this name counts.
fn existing(view: &dyn View, request: &Write) -> Result<Option<Stored>> {
    let found = view.get(&request.path)?;
    Ok(found.filter(|stored| !request.mode.has_exact_name() || stored.path == request.path))
}

/// Extensions of text files, to which `.md` is not added.
const TEXT_EXTENSIONS: &[&str] = &[
    "md", "markdown", "mdx", "txt", "text", "rst", "org", "adoc", "json", "jsonl", "yaml", "yml", "toml", "csv", "tsv", "xml", "html",
    "log", "ini", "sql",
];

fn new_path(request: &Write) -> MemoryPath {
    let extension = request.path.file_name().rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    let whole = extension.is_some_and(|extension| TEXT_EXTENSIONS.contains(&extension.as_str()));
    if whole || request.mode.has_exact_name() { request.path.clone() } else { request.path.with_md() }
}

fn new_bytes(request: &Write, there: Option<&Stored>, limit: usize) -> Result<Vec<u8>> {
    let bytes = match (request.mode, there) {
        (mode, _) if mode.has_exact_bytes() => return Ok(request.content.clone()),
        (WriteMode::Append, there) => appended(there.map_or(&[], |stored| &stored.bytes), &request.content),
        (WriteMode::Replace, Some(stored)) => replaced(&stored.bytes, &request.content),
        (WriteMode::Fields, Some(stored)) => stored.bytes.clone(),
        _ => request.content.clone(),
    };
    let bytes = with_final_newline(with_fields(request, bytes)?);
    if bytes.len() > limit {
        return Err(Error::TooLarge { what: request.path.name().to_owned(), size: bytes.len() as u64, limit: limit as u64 });
    }
    Ok(bytes)
}

/// Appends whole lines, with the line ending of the file before them if it is missing.
fn appended(old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut all = with_final_newline(old.to_vec());
    all.extend_from_slice(new);
    all
}

/// Fields that stay if a new text has frontmatter without them. A model that rewrites a memory writes the fields that it was shown
/// as an example, and would lose a rule or the cues without noticing.
/// What was `verified` is the old text, so that field does not stay.
const KEPT_FIELDS: [&str; 8] = ["cues", "when", "pinned", "stale_after", "status", "supersedes", "superseded_by", "sources"];

/// Ends a text that is not empty with the line ending of its lines: programs that append to a file expect it.
pub(crate) fn with_final_newline(mut bytes: Vec<u8>) -> Vec<u8> {
    if !bytes.is_empty() && !bytes.ends_with(b"\n") {
        let is_crlf = bytes.windows(2).any(|pair| pair == b"\r\n");
        bytes.extend_from_slice(if is_crlf { b"\r\n" } else { b"\n" });
    }
    bytes
}

/// A text without frontmatter replaces only the body, so that unknown frontmatter keys are kept.
fn replaced(old: &[u8], new: &[u8]) -> Vec<u8> {
    let (Ok(old), Ok(text)) = (std::str::from_utf8(old), std::str::from_utf8(new)) else { return new.to_vec() };
    let (new_memory, _) = Memory::parse(text);
    let (old_memory, _) = Memory::parse(old);
    if new_memory.frontmatter_lines() == 0 {
        return old_memory.with_body(text).into_bytes();
    }
    let keep = |new: Memory, key| Memory::parse(&new.with_field_of(&old_memory, key)).0;
    KEPT_FIELDS.into_iter().fold(new_memory, keep).text().as_bytes().to_vec()
}

fn with_fields(request: &Write, bytes: Vec<u8>) -> Result<Vec<u8>> {
    let fields = set_fields(request)?;
    if fields.is_empty() {
        return Ok(bytes);
    }
    let text = String::from_utf8(bytes).map_err(|_| {
        Error::bad_input(
            "content",
            "it is not valid UTF-8, so frontmatter cannot be set; omit the title, description, type, cues, when and pinned",
        )
    })?;
    let (memory, _) = Memory::parse(&text);
    if memory.frontmatter_lines() == 0 {
        let new = fields.into_iter().filter_map(|(key, value)| Some((key, value.into_yaml()?)));
        return Ok(memory::compose_yaml(new, &text).into_bytes());
    }
    let set = |memory: Memory, (key, value): (&str, FieldValue<'_>)| {
        let text = match value {
            FieldValue::Text(text) => memory.with_field(key, Some(text)),
            FieldValue::Yaml(yaml) => memory.with_yaml(key, Some(&yaml)),
            FieldValue::Remove => memory.with_yaml(key, None),
        };
        Memory::parse(&text).0
    };
    Ok(fields.into_iter().fold(memory, set).text().as_bytes().to_vec())
}

/// The value of a frontmatter field that a write sets.
enum FieldValue<'a> {
    Text(&'a str),
    Yaml(String),
    Remove,
}

impl FieldValue<'_> {
    fn into_yaml(self) -> Option<String> {
        match self {
            FieldValue::Text(text) => Some(memory::yaml_text(text)),
            FieldValue::Yaml(yaml) => Some(yaml),
            FieldValue::Remove => None,
        }
    }
}

/// The frontmatter fields that a write sets, in the order in which missing ones are added.
fn set_fields(request: &Write) -> Result<Vec<(&'static str, FieldValue<'_>)>> {
    let mut fields = Vec::new();
    let kind = request.kind.map(Kind::as_str);
    for (key, value) in [("name", request.name.as_deref()), ("description", request.description.as_deref()), ("type", kind)] {
        let Some(value) = value else { continue };
        if value.contains(['\n', '\r', '\0']) {
            // Callers know the field `name` as the title.
            return Err(Error::bad_input(if key == "name" { "title" } else { key }, "it must be a single line without NUL characters"));
        }
        fields.push((key, FieldValue::Text(value)));
    }
    let optional = |yaml: Option<String>| yaml.map_or(FieldValue::Remove, FieldValue::Yaml);
    if let Some(cues) = &request.cues {
        fields.push(("cues", optional(cues::to_yaml(cues)?)));
    }
    if let Some(map) = &request.when {
        fields.push(("when", optional(when::to_yaml(map)?)));
    }
    if let Some(pinned) = request.pinned {
        fields.push(("pinned", optional(pinned.then(|| "true".to_owned()))));
    }
    Ok(fields)
}

/// Decodes bytes for a change that needs text.
pub(crate) fn utf8<'a>(path: &MemoryPath, bytes: &'a [u8]) -> Result<&'a str> {
    std::str::from_utf8(bytes).map_err(|e| {
        let line = text::line_at(&String::from_utf8_lossy(&bytes[..e.valid_up_to()]), e.valid_up_to());
        let why = format!("{} is not valid UTF-8 (line {line}) and cannot be edited", path.name());
        Error::BadEdit { why, problem: EditProblem::NotUtf8 }
    })
}
