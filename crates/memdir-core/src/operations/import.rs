//! Taking in memories from elsewhere, in one change that can be taken back as one; and a bundle of memories for elsewhere.
//! What is there already is found and left alone; nothing that is there is ever overwritten unless it is asked for.

pub mod bundle;
mod graph;
mod mem0;
mod names;
mod talk;

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
        list::{self, List},
        read, write,
    },
    store::{
        ChangeId, FileEdit, Role, Store, Verb, View, change_with,
        mounts::{self, ENTRYPOINT_FILE, TESTS_FILE},
    },
};
pub use names::slug;
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// A memory as it comes from elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Incoming {
    /// The name it wants, with its folders.
    pub name: String,
    /// Its text, with or without frontmatter.
    pub text: String,
}

/// What a file from elsewhere holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// Where it is from, for people.
    pub from: &'static str,
    /// The memories in it.
    pub memories: Vec<Incoming>,
    /// What in it was not understood, and passed over.
    pub problems: Vec<Problem>,
}

/// What to do with a memory whose name is taken by another text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Clash {
    /// It gets a number behind its name.
    #[default]
    Number,
    /// It stays out.
    Skip,
    /// It replaces what is there.
    Replace,
}

/// What to take in.
#[derive(Debug, Clone, Default)]
pub struct Import {
    /// The memories.
    pub memories: Vec<Incoming>,
    /// The topic or mount they come under; empty for the names as they are.
    pub under: String,
    /// What to do about names that are taken.
    pub clash: Clash,
}

/// What became of an import, or would.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Each memory, in the order it came.
    pub memories: Vec<Item>,
    /// The change, for undo; nothing if nothing was new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<ChangeId>,
    /// What the caller should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What became of one memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Item {
    /// The name it came with.
    pub from: String,
    /// What was done.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// What was done with a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "did", rename_all = "kebab-case")]
pub enum Outcome {
    /// It is new.
    Added {
        /// Its name here.
        name: String,
    },
    /// It replaced another text of its name.
    Replaced {
        /// Its name here.
        name: String,
    },
    /// It is here already.
    Duplicate {
        /// Where.
        of: String,
    },
    /// It stayed out.
    Skipped {
        /// Why.
        why: String,
    },
}

/// Reads a file from elsewhere: a bundle, a knowledge graph, an export of memories or conversations, or one Markdown file
/// of that name.
pub fn read(name: &str, text: &str) -> Result<Taken> {
    let text = text.trim_start_matches('\u{feff}');
    if let Some(taken) = bundle::read(text).or_else(|| graph::read(text)).or_else(|| mem0::read(text)).or_else(|| talk::read(text)) {
        return Ok(taken);
    }
    if name.to_ascii_lowercase().ends_with(".md") {
        return Ok(Taken {
            from: "a Markdown file",
            memories: vec![Incoming { name: name.to_owned(), text: text.to_owned() }],
            problems: Vec::new(),
        });
    }
    Err(Error::bad_input(
        "file",
        "it is none of: a memdir bundle, server-memory's JSONL graph, a mem0 or OpenMemory export, conversations.json or memories.json of a ChatGPT or Claude data export, a Markdown file",
    ))
}

/// Says what an import would do.
pub fn preview(store: &dyn Store, context: &Context, request: &Import) -> Result<Imported> {
    let (memories, _) = decide(store, store, context, request)?;
    Ok(Imported { memories, change: None, notes: Vec::new() })
}

/// Takes the memories in.
pub fn import(store: &dyn Store, context: &Context, request: &Import) -> Result<Imported> {
    let (memories, edits) = decide(store, store, context, request)?;
    if edits.is_empty() {
        return Ok(Imported { memories, change: None, notes: Vec::new() });
    }
    let touches: Vec<MemoryPath> = edits.iter().map(|edit| edit.path.clone()).collect();
    // Decided again under the lock: what somebody saved meanwhile is there too.
    let (change, (memories, notes)) = change_with(store, &context.intent(Verb::Import), &touches, |view| {
        let (decided, mut edits) = decide(store, view, context, request)?;
        let kept = upkeep::lines_for(view, &context.books, &edits)?;
        edits.extend(kept.edits);
        Ok((edits, (decided, kept.notes)))
    })?;
    Ok(Imported { memories, change: (!change.files.is_empty()).then_some(change.id), notes })
}

/// What becomes of each memory, and the edits that follow.
fn decide(store: &dyn Store, view: &dyn View, context: &Context, request: &Import) -> Result<(Vec<Item>, Vec<FileEdit>)> {
    let mut known = Known::of(store, view, context)?;
    let mut items = Vec::new();
    let mut edits = Vec::new();
    for incoming in &request.memories {
        let (outcome, edit) = one(view, context, request, &mut known, incoming)?;
        items.push(Item { from: incoming.name.clone(), outcome });
        edits.extend(edit);
    }
    Ok((items, edits))
}

fn one(
    view: &dyn View,
    context: &Context,
    request: &Import,
    known: &mut Known,
    incoming: &Incoming,
) -> Result<(Outcome, Option<FileEdit>)> {
    let skipped = |why: String| Ok((Outcome::Skipped { why }, None));
    if incoming.text.trim().is_empty() {
        return skipped("it is empty".into());
    }
    if incoming.text.len() > limits::MEMORY_BYTES {
        return skipped(format!("it has {}, and a memory may have {}", human(incoming.text.len()), human(limits::MEMORY_BYTES)));
    }
    let key = body_key(&incoming.text);
    if let Some(of) = known.bodies.get(&key) {
        return Ok((Outcome::Duplicate { of: of.clone() }, None));
    }
    if let Err(error) = write::judge(context, None, incoming.text.as_bytes()) {
        return skipped(error.to_string());
    }
    let wanted = names::path(&request.under, &incoming.name)?;
    // What a listing hides is there all the same.
    let there = view.get(&wanted)?.map(|stored| stored.path);
    let taken = there.is_some() || known.names.contains(wanted.name());
    if let Some(why) = std::iter::once(&wanted).chain(&there).find_map(|path| no_memory(view, path)) {
        return skipped(why);
    }
    let path = match request.clash {
        Clash::Skip if taken => return skipped(format!("{} is here with another text", wanted.name())),
        Clash::Number if taken => numbered(view, &wanted, known)?,
        // The file that is there keeps its name.
        _ => there.unwrap_or(wanted),
    };
    if let Err(error) = view.check_writable(&path) {
        return skipped(error.to_string());
    }
    known.names.insert(path.name().to_owned());
    known.bodies.insert(key, path.name().to_owned());
    let name = path.name().to_owned();
    let replaced = taken && request.clash == Clash::Replace;
    let edit = FileEdit { path, bytes: Some(incoming.text.clone().into_bytes()), role: Role::Memory };
    Ok((if replaced { Outcome::Replaced { name } } else { Outcome::Added { name } }, Some(edit)))
}

fn human(bytes: usize) -> String {
    text::human_bytes(bytes as u64)
}

/// Why a file of that name is not taken in: an entrypoint is loaded into every conversation and says what its memories
/// say, and the tests are a person's. What comes from elsewhere must not speak in their place, in any folder.
fn no_memory(view: &dyn View, path: &MemoryPath) -> Option<String> {
    let name = path.file_name();
    // A `memory.md` in a folder is a memory like any other.
    if name == ENTRYPOINT_FILE || mounts::file_kind(view, path).is_maintained() || mounts::would_be_entrypoint(view, path) {
        return Some("it is an entrypoint, which memdir keeps itself".into());
    }
    if mounts::is_page_name(name) {
        return Some("it is an overflow page of an entrypoint, which memdir keeps itself".into());
    }
    mounts::locate(view.mounts(), path.as_str())
        .is_some_and(|(_, rel)| rel.eq_ignore_ascii_case(TESTS_FILE))
        .then(|| format!("{TESTS_FILE} contains memory tests; copy it by hand if you want them"))
}

fn numbered(view: &dyn View, wanted: &MemoryPath, known: &Known) -> Result<MemoryPath> {
    for n in 2.. {
        let path = MemoryPath::parse(&format!("{}-{n}.md", wanted.name()))?;
        if !known.names.contains(path.name()) && view.get(&path)?.is_none() {
            return Ok(path);
        }
    }
    Ok(wanted.clone())
}

/// What is here already.
struct Known {
    names: HashSet<String>,
    /// The name of a memory, by what it says.
    bodies: HashMap<[u8; 32], String>,
}

impl Known {
    fn of(store: &dyn Store, view: &dyn View, context: &Context) -> Result<Known> {
        let mut known = Known { names: HashSet::new(), bodies: HashMap::new() };
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

/// Two memories that say the same are the same, whatever their frontmatter and line ends.
fn body_key(text: &str) -> [u8; 32] {
    let (memory, _) = Memory::parse(text);
    let body: Vec<&str> = memory.body().trim().lines().map(str::trim_end).collect();
    *blake3::hash(body.join("\n").as_bytes()).as_bytes()
}
