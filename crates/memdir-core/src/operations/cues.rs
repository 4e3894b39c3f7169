//! The cues of many memories: which memories have none, and a batch that sets them in one change, as a whole or not at all.

mod proposals;

use crate::{
    base::{
        error::{Error, Result},
        path::MemoryPath,
        text,
    },
    memory::{Memory, cues},
    operations::{
        context::Context,
        list::{self, List},
        read, write,
    },
    secrets,
    store::{self, ChangeId, FileEdit, Store, Verb, View, change_with, mounts},
};
pub use proposals::{CueProposal, CueProposals};
use serde::Serialize;

/// The cues of one memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CueEntry {
    /// The memory.
    pub path: MemoryPath,
    /// Its cues.
    pub cues: Vec<String>,
}

/// The cues to set.
#[derive(Debug, Clone)]
pub struct SetCues {
    /// The memories with their cues, each memory once.
    pub entries: Vec<CueEntry>,
    /// Keeps the existing cues and adds these; otherwise these replace them, and an empty list removes them.
    pub add: bool,
}

/// Memories whose cues were set.
#[derive(Debug, Clone, Serialize)]
pub struct CuesSet {
    /// The names of the changed memories, in the order of the request.
    pub changed: Vec<String>,
    /// The names of those that had exactly these cues.
    pub unchanged: Vec<String>,
    /// The change, for undo; `None` if all are unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<ChangeId>,
    /// Notes for the caller: likely secrets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A memory without cues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UncuedMemory {
    /// Its name, as every operation accepts it.
    pub name: String,
    /// Its description, else the first line of its text, with secrets redacted.
    pub description: String,
}

/// Whether a file is a memory that should have cues and has none. Logs, read-only files and files that are not Markdown should not.
pub(crate) fn lacks_cues(view: &dyn View, path: &MemoryPath, memory: &Memory) -> bool {
    let is_markdown = path.file_name().to_ascii_lowercase().ends_with(".md");
    is_markdown
        && memory.cues().is_empty()
        && mounts::file_kind(view, path) == mounts::FileKind::Memory
        && view.check_writable(path).is_ok()
}

/// Lists the memories under a topic that have no cues, sorted by name.
pub(crate) fn without_cues(store: &dyn Store, context: &Context, topic: &str) -> Result<Vec<UncuedMemory>> {
    let listing = list::list(store, context, &List { topic: topic.to_owned(), ..List::default() })?;
    let mut found = Vec::new();
    for listed in listing.memories {
        let Some(stored) = store::if_readable(store.get(&listed.path))? else { continue };
        let (decoded, _) = text::decode(&stored.bytes);
        let (memory, _) = Memory::parse(&decoded);
        if lacks_cues(store, &stored.path, &memory) {
            found.push(UncuedMemory { name: listed.name, description: secrets::redact(&memory.hook()).into_owned() });
        }
    }
    Ok(found)
}

/// Sets the cues of memories in one change. Fails without a change if one of them cannot be set.
pub(crate) fn set_cues(store: &dyn Store, context: &Context, request: &SetCues) -> Result<CuesSet> {
    if let Some(twice) = repeated(request) {
        return Err(Error::bad_input("cues", format!("{:?} is listed twice", twice.name())));
    }
    let touches: Vec<MemoryPath> = request.entries.iter().map(|entry| entry.path.clone()).collect();
    let (change, set) = change_with(store, &context.intent(Verb::Edit), &touches, |view| {
        refuse_missing(store, view, &request.entries)?;
        let mut set = CuesSet { changed: Vec::new(), unchanged: Vec::new(), change: None, notes: Vec::new() };
        let mut edits = Vec::new();
        for entry in &request.entries {
            match cued(view, context, entry, request.add, &mut set.notes)? {
                Some(edit) => {
                    set.changed.push(edit.path.name().to_owned());
                    edits.push(edit);
                }
                None => set.unchanged.push(entry.path.name().to_owned()),
            }
        }
        Ok((edits, set))
    })?;
    Ok(CuesSet { change: (!change.files.is_empty()).then_some(change.id), ..set })
}

fn repeated(request: &SetCues) -> Option<&MemoryPath> {
    let paths = || request.entries.iter().map(|entry| &entry.path);
    paths().enumerate().find(|(at, path)| paths().take(*at).any(|other| other.name() == path.name())).map(|(_, path)| path)
}

/// Fails with all names that do not exist, so that a batch is corrected at once.
fn refuse_missing(store: &dyn Store, view: &dyn View, entries: &[CueEntry]) -> Result<()> {
    let mut missing = Vec::new();
    for entry in entries {
        if view.get(&entry.path)?.is_none() {
            missing.push(&entry.path);
        }
    }
    match missing.as_slice() {
        [] => Ok(()),
        [one] => Err(read::not_found(store, one)),
        many => {
            let names: Vec<String> = many.iter().map(|path| format!("{:?}", path.name())).collect();
            Err(Error::bad_input("cues", format!("{} memories not found: {}", many.len(), names.join(", "))))
        }
    }
}

/// The edit of one memory, or `None` if it has these cues.
fn cued(view: &dyn View, context: &Context, entry: &CueEntry, add: bool, notes: &mut Vec<String>) -> Result<Option<FileEdit>> {
    let name = entry.path.name();
    let Some(stored) = view.get(&entry.path)? else { return Ok(None) };
    if !mounts::file_kind(view, &stored.path).is_listed() {
        return Err(Error::bad_input(name, "it is not a memory, so it cannot have cues"));
    }
    view.check_writable(&stored.path)?;
    let (memory, _) = Memory::parse(write::utf8(&stored.path, &stored.bytes)?);
    let cues: Vec<String> = if add { memory.cues().into_iter().chain(entry.cues.iter().cloned()).collect() } else { entry.cues.clone() };
    let named = |error| match error {
        Error::BadInput { why, .. } => Error::bad_input(format!("cues of {name:?}"), why),
        Error::Secret { rule, .. } => Error::bad_input(format!("cues of {name:?}"), format!("one cue looks like a secret ({rule})")),
        other => other,
    };
    let yaml = cues::to_yaml(&cues).map_err(named)?;
    let bytes = memory.with_yaml("cues", yaml.as_deref()).into_bytes();
    if Memory::parse(&text::decode(&bytes).0).0.cues() == memory.cues() {
        return Ok(None);
    }
    let warnings = write::check_secrets(context, Some(&stored.bytes), &bytes).map_err(named)?;
    notes.extend(warnings.into_iter().map(|warning| format!("{name}: {warning}")));
    Ok(Some(FileEdit::save(stored.path, bytes)))
}
