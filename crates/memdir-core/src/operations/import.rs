//! Imports memories from other systems in one change. A memory that exists with the same name and text is skipped, and nothing is
//! overwritten unless the caller asks for it. Memories with equal texts and different names are different memories. `bundle` is memdir's own format for export and import.

pub mod basic_memory;
pub mod bundle;
mod conversations;
mod graph;
mod mem0;
mod names;

pub use names::{log_name, slug};

use crate::{
    base::{
        error::{Error, Problem, Result},
        limits,
        path::MemoryPath,
        text,
    },
    entrypoint::upkeep,
    memory::Memory,
    operations::{
        context::Context,
        inbox,
        list::{self, List},
        read, write,
    },
    store::{
        ChangeId, FileEdit, Store, Verb, View, change_with,
        mounts::{self, ENTRYPOINT_FILE, TESTS_FILE},
    },
};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// A memory to import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Incoming {
    /// Its preferred name, with folders.
    pub name: String,
    /// Its text, with or without frontmatter.
    pub text: String,
}

/// The memories in a file of another system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportFile {
    /// The format of the file, for users.
    pub from: &'static str,
    /// The memories in it.
    pub memories: Vec<Incoming>,
    /// The parts that could not be parsed and were skipped.
    pub problems: Vec<Problem>,
}

/// What to do if the name of a memory is taken by a different text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnConflict {
    /// Adds a number to the name.
    #[default]
    Number,
    /// Skips the memory.
    Skip,
    /// Replaces the existing memory.
    Replace,
}

/// The memories to import.
#[derive(Debug, Clone, Default)]
pub struct Import {
    /// The memories.
    pub memories: Vec<Incoming>,
    /// The topic or mount to import them under; empty for none.
    pub under: String,
    /// What to do if a name is taken.
    pub clash: OnConflict,
    /// When memories were last changed, by their position in `memories`. If the frontmatter has no date, the file gets this time.
    pub dates: HashMap<usize, Timestamp>,
}

impl Import {
    /// The topic without a final slash.
    fn topic(&self) -> &str {
        self.under.strip_suffix('/').unwrap_or(&self.under)
    }
}

/// The result of an import or a preview.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// The outcome for each memory, in their order.
    pub memories: Vec<ImportedMemory>,
    /// The change, for undo; `None` if nothing was imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<ChangeId>,
    /// Notes for the caller.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One memory and its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImportedMemory {
    /// Its name in the import.
    pub from: String,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: ImportOutcome,
    /// Another memory with the same body, here or earlier in the import, if this one is imported all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_text_as: Option<String>,
}

/// The outcome for one memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "did", rename_all = "kebab-case")]
pub enum ImportOutcome {
    /// It was added.
    Added {
        /// Its name here.
        name: String,
    },
    /// It replaced a different text with the same name.
    Replaced {
        /// Its name here.
        name: String,
    },
    /// It exists with the same name and text, or with the number that an earlier import appended to its name.
    Duplicate {
        /// The name of that memory.
        of: String,
    },
    /// It was skipped.
    Skipped {
        /// The reason.
        why: String,
    },
}

/// Parses a file of another system: a bundle, a knowledge graph, an export of memories or conversations, or a Markdown file with this
/// name.
pub fn parse(name: &str, text: &str) -> Result<ImportFile> {
    let text = text.trim_start_matches('\u{feff}');
    if let Some(taken) = bundle::read(text).or_else(|| graph::read(text)).or_else(|| mem0::read(text)).or_else(|| conversations::read(text))
    {
        return Ok(taken);
    }
    if name.to_ascii_lowercase().ends_with(".md") {
        return Ok(ImportFile {
            from: "a Markdown file",
            memories: vec![Incoming { name: name.to_owned(), text: text.to_owned() }],
            problems: Vec::new(),
        });
    }
    Err(Error::bad_input(
        if name.is_empty() || name == "-" { "input".to_owned() } else { format!("file {name:?}") },
        "unknown format; supported formats: a memdir bundle, server-memory's JSONL graph, a mem0 or OpenMemory export, conversations.json from a ChatGPT or Claude data export, memories.json from a Claude data export, a Markdown file",
    ))
}

/// Returns what an import would do, without changing anything.
pub fn preview(store: &dyn Store, context: &Context, request: &Import) -> Result<Imported> {
    let (memories, _) = decide(store, store, context, request)?;
    Ok(Imported { memories, change: None, notes: Vec::new() })
}

/// Imports memories in one change.
pub fn import(store: &dyn Store, context: &Context, request: &Import) -> Result<Imported> {
    let (memories, edits) = decide(store, store, context, request)?;
    if edits.is_empty() {
        return Ok(Imported { memories, change: None, notes: Vec::new() });
    }
    let touches: Vec<MemoryPath> = edits.iter().map(|edit| edit.path.clone()).collect();
    // Decided again under the lock, because another process may have saved a memory since.
    let (change, (memories, notes, dates)) = change_with(store, &context.intent(Verb::Import), &touches, |view| {
        let (decided, mut edits) = decide(store, view, context, request)?;
        let dates = source_dates(request, &decided, &edits);
        let kept = upkeep::set_lines_dated(view, &context.entrypoint_cache, &edits, &dates)?;
        edits.extend(kept.edits);
        Ok((edits, (decided, kept.notes, dates)))
    })?;
    let dated = change.files.iter().filter_map(|file| Some((file.path.clone(), file.after?, *dates.get(&file.path)?)));
    let dated: Vec<_> = dated.collect();
    if !dated.is_empty() {
        // Best effort: without it the memories have the date of the import.
        let _ = store.set_modified(&dated);
    }
    Ok(Imported { memories, change: (!change.files.is_empty()).then_some(change.id), notes })
}

/// Returns the dates of imported memories that come from their source and not from their frontmatter.
fn source_dates(request: &Import, decided: &[ImportedMemory], edits: &[FileEdit]) -> HashMap<MemoryPath, Timestamp> {
    let paths: HashMap<&str, &MemoryPath> = edits.iter().map(|edit| (edit.path.name(), &edit.path)).collect();
    let mut dates = HashMap::new();
    for (n, (incoming, decided)) in request.memories.iter().zip(decided).enumerate() {
        if let (Some(at), ImportOutcome::Added { name } | ImportOutcome::Replaced { name }) = (request.dates.get(&n), &decided.outcome)
            && Memory::parse(&incoming.text).0.own_date().is_none()
            && let Some(path) = paths.get(name.as_str())
        {
            dates.insert((*path).clone(), *at);
        }
    }
    dates
}

/// Decides the outcome for each memory, and the resulting edits.
fn decide(store: &dyn Store, view: &dyn View, context: &Context, request: &Import) -> Result<(Vec<ImportedMemory>, Vec<FileEdit>)> {
    check_topic(view, request)?;
    let mut known = Known::load(store, view, context, request)?;
    let mut items = Vec::new();
    let mut edits = Vec::new();
    for incoming in &request.memories {
        let (outcome, edit) = plan_import(view, context, request, &mut known, incoming)?;
        let key = body_key(&incoming.text);
        let same_text_as = edit.as_ref().and_then(|_| known.bodies.get(&key).cloned());
        if let Some(edit) = &edit {
            known.names.insert(edit.path.name().to_owned());
            known.imported.insert(edit.path.name().to_owned(), incoming);
            known.bodies.entry(key).or_insert_with(|| edit.path.name().to_owned());
        }
        items.push(ImportedMemory { from: incoming.name.clone(), outcome, same_text_as });
        edits.extend(edit);
    }
    Ok((items, edits))
}

/// Fails if the topic is invalid, or if none of the memories can be created under it: an import that skips everything looks like a success.
fn check_topic(view: &dyn View, request: &Import) -> Result<()> {
    if request.under.is_empty() {
        return Ok(());
    }
    MemoryPath::parse(request.topic())?;
    let mut checked = Ok(());
    for incoming in &request.memories {
        let path = names::path(request.topic(), &incoming.name)?;
        checked = inbox::refuse_new_file(view, &path).and_then(|()| view.check_writable(&path));
        if checked.is_ok() {
            break;
        }
    }
    checked
}

fn plan_import(
    view: &dyn View,
    context: &Context,
    request: &Import,
    known: &mut Known<'_>,
    incoming: &Incoming,
) -> Result<(ImportOutcome, Option<FileEdit>)> {
    let skipped = |why: String| Ok((ImportOutcome::Skipped { why }, None));
    if incoming.text.trim().is_empty() {
        return skipped("it is empty".into());
    }
    if incoming.text.len() > limits::MEMORY_BYTES {
        return skipped(format!("{} exceeds the limit of {} for a memory", human(incoming.text.len()), human(limits::MEMORY_BYTES)));
    }
    let wanted = names::path(request.topic(), &incoming.name)?;
    // Other programs have folders of that name too, and here it contains candidates only.
    let wanted = if inbox::is_in_inbox(view, &wanted) { wanted.prefixed("notes") } else { wanted };
    // A file that listings hide still occupies its name.
    let there = view.get(&wanted)?;
    let has_text = there.as_ref().is_some_and(|stored| contains_text(&text::decode(&stored.bytes).0, &incoming.text));
    let there = there.map(|stored| stored.path);
    if let Some(why) = std::iter::once(&wanted).chain(&there).find_map(|path| why_not_a_memory(view, path)) {
        return skipped(why);
    }
    // An earlier memory of this import never counts as existing, unless it is the same one twice.
    let earlier = known.imported.get(wanted.name()).copied();
    if earlier.map_or(has_text, |earlier| earlier == incoming) {
        return Ok((ImportOutcome::Duplicate { of: wanted.name().to_owned() }, None));
    }
    if let Err(error) = write::check_secrets(context, None, incoming.text.as_bytes()) {
        return skipped(error.to_string());
    }
    let taken = there.is_some() || known.names.contains(wanted.name());
    let path = match request.clash {
        OnConflict::Skip if taken => return skipped(format!("{} already exists with different text", wanted.name())),
        OnConflict::Replace if earlier.is_none() => there.unwrap_or(wanted),
        _ if taken => match numbered(view, &wanted, known, incoming)? {
            Numbered::Free(path) => path,
            Numbered::Duplicate(of) => return Ok((ImportOutcome::Duplicate { of }, None)),
        },
        // An existing file keeps its name.
        _ => there.unwrap_or(wanted),
    };
    if let Err(error) = view.check_writable(&path) {
        return skipped(error.to_string());
    }
    let name = path.name().to_owned();
    let replaced = taken && earlier.is_none() && request.clash == OnConflict::Replace;
    let edit = FileEdit::save(path, incoming.text.clone().into_bytes());
    Ok((if replaced { ImportOutcome::Replaced { name } } else { ImportOutcome::Added { name } }, Some(edit)))
}

fn human(bytes: usize) -> String {
    text::human_bytes(bytes as u64)
}

/// Returns why a file with this name is not imported, or `None` if it is a memory. An entrypoint is loaded into every conversation,
/// so imported text must not become one, in any folder; tests are the user's own.
fn why_not_a_memory(view: &dyn View, path: &MemoryPath) -> Option<String> {
    let name = path.file_name();
    // A `memory.md` in a folder is an ordinary memory.
    if name == ENTRYPOINT_FILE || mounts::file_kind(view, path).is_maintained() || mounts::would_be_entrypoint(view, path) {
        return Some("it is an entrypoint; memdir maintains its own".into());
    }
    if mounts::is_page_name(name) {
        return Some("it is an overflow page of an entrypoint; memdir maintains its own".into());
    }
    mounts::locate(view.mounts(), path.as_str())
        .is_some_and(|(_, rel)| rel.eq_ignore_ascii_case(TESTS_FILE))
        .then(|| format!("{TESTS_FILE} contains memory tests; copy it by hand to keep them"))
}

/// The name with a number.
enum Numbered {
    /// The first free one.
    Free(MemoryPath),
    /// An earlier import gave this one to the same text.
    Duplicate(String),
}

fn numbered(view: &dyn View, wanted: &MemoryPath, known: &Known<'_>, incoming: &Incoming) -> Result<Numbered> {
    for n in 2.. {
        let path = MemoryPath::parse(&format!("{}-{n}.md", wanted.name()))?;
        if known.imported.get(path.name()).is_some_and(|earlier| *earlier == incoming) {
            return Ok(Numbered::Duplicate(path.name().to_owned()));
        }
        if known.names.contains(path.name()) || known.wanted.contains(path.name()) {
            let there = read::if_readable(view.get(&path))?;
            if there.is_some_and(|stored| contains_text(&text::decode(&stored.bytes).0, &incoming.text)) {
                return Ok(Numbered::Duplicate(path.name().to_owned()));
            }
        } else if view.get(&path)?.is_none() {
            return Ok(Numbered::Free(path));
        }
    }
    Ok(Numbered::Free(wanted.clone()))
}

/// What exists, and what this import has added so far.
struct Known<'a> {
    /// The names of existing and added memories.
    names: HashSet<String>,
    /// The names that the import asks for: a number must not take them.
    wanted: HashSet<String>,
    /// The memories that were added, by name.
    imported: HashMap<String, &'a Incoming>,
    /// The names of memories by the hash of their body.
    bodies: HashMap<[u8; 32], String>,
}

impl<'a> Known<'a> {
    fn load(store: &dyn Store, view: &dyn View, context: &Context, request: &'a Import) -> Result<Known<'a>> {
        let wanted = request.memories.iter().filter_map(|incoming| names::path(request.topic(), &incoming.name).ok());
        let wanted = wanted.map(|path| path.name().to_owned()).collect();
        let mut known = Known { names: HashSet::new(), wanted, imported: HashMap::new(), bodies: HashMap::new() };
        for listed in list::list(store, context, &List::default())?.memories {
            if let Some(stored) = read::if_readable(view.get(&listed.path))? {
                let (text, _) = text::decode(&stored.bytes);
                known.bodies.entry(body_key(&text)).or_insert_with(|| listed.name.clone());
            }
            known.names.insert(listed.name);
        }
        Ok(known)
    }
}

/// Whether a memory has everything that an imported text has: the same body, and the frontmatter fields of the import. Fields that were
/// added here, such as the day it was verified, do not make it a different memory.
fn contains_text(existing: &str, incoming: &str) -> bool {
    if body_key(existing) != body_key(incoming) {
        return false;
    }
    let (existing, incoming) = (Memory::parse(existing).0, Memory::parse(incoming).0);
    incoming.keys().all(|key| existing.raw(key).map(str::trim) == incoming.raw(key).map(str::trim))
}

/// The hash of a body. Memories that differ only in frontmatter and line endings have the same one.
fn body_key(text: &str) -> [u8; 32] {
    let (memory, _) = Memory::parse(text);
    let body: Vec<&str> = memory.body().trim().lines().map(str::trim_end).collect();
    *blake3::hash(body.join("\n").as_bytes()).as_bytes()
}
