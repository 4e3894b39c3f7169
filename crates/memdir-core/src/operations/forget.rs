//! Forgets a fact: redacts its words in every memory, log, entrypoint and page of the space, and removes the texts that had them from the
//! history. This cannot be undone.

use crate::base::sort::SharedSort as _;
use crate::{
    base::{error::Result, limits, path::MemoryPath, text},
    entrypoint::upkeep,
    memory::{
        Memory,
        phrase::{FORGOTTEN, Phrase},
    },
    operations::{context::Context, inbox},
    secrets,
    store::{self, Entry, FileEdit, Role, Store, Stored, Verb, View, change_with, mounts},
};
use serde::Serialize;
use std::collections::BTreeMap;

/// The places of a space that have the words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ForgetFound {
    /// The files, by path.
    pub files: Vec<ForgetFile>,
    /// The number of versions and names in the history that have the words.
    pub versions: usize,
}

/// A file that has the words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ForgetFile {
    /// Its path.
    pub path: MemoryPath,
    /// Whether it is removed as a whole: its name has the words, or nothing else is in it.
    pub whole: bool,
    /// Why it stays as it is, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<String>,
    /// The lines that have the words, with secrets redacted.
    pub lines: Vec<ForgetLine>,
}

/// A line that has the words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ForgetLine {
    /// Its number, 1-based.
    pub line: u64,
    /// Its text.
    pub text: String,
}

/// What was forgotten in a space.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ForgottenMemories {
    /// Files in which the words were redacted.
    pub redacted: Vec<MemoryPath>,
    /// The number of files that were removed as a whole; their names may have the words.
    pub removed: usize,
    /// The number of versions and names that were removed from the history.
    pub versions: usize,
}

/// Finds the places of a space that have the words.
pub(crate) fn find_forgettable(store: &dyn Store, phrase: &Phrase) -> Result<ForgetFound> {
    let mut found = ForgetFound { versions: store.count_in_history(phrase)?, ..ForgetFound::default() };
    for entry in entries(store)? {
        let Some(stored) = store::if_readable(store.get(&entry.path))? else { continue };
        let in_name = phrase.is_in(entry.path.as_str());
        if !in_name && !phrase.is_in(&stored.bytes) {
            continue;
        }
        let read_only = store.check_writable(&entry.path).err().map(|error| error.to_string());
        let read_only = read_only.or_else(|| too_large(store, &entry.path, &stored));
        // A candidate is named after its words, and what is left of its evidence proves nothing.
        let whole = in_name || inbox::is_in_inbox(store, &entry.path) || is_empty_without(phrase, &stored.bytes);
        found.files.push(ForgetFile { path: entry.path, whole, read_only, lines: lines(phrase, &stored.bytes) });
    }
    Ok(found)
}

/// Returns the files of all mounts, including those that lists omit, such as the inbox.
fn entries(view: &dyn View) -> Result<Vec<Entry>> {
    let mut all = view.list("")?.entries;
    for mount in view.mounts().iter().filter(|mount| mount.apart) {
        all.extend(view.list(&mount.prefix)?.entries);
    }
    all.shared_sort_by(|a, b| a.path.cmp(&b.path));
    all.dedup_by(|a, b| a.path == b.path);
    Ok(all)
}

/// Why a file cannot be written, if it has more bytes than memdir writes.
fn too_large(view: &dyn View, path: &MemoryPath, stored: &Stored) -> Option<String> {
    let limit = mounts::mount_of(view, path).map_or(limits::MEMORY_BYTES, |mount| mount.file_bytes);
    let size = stored.bytes.len();
    (size > limit).then(|| format!("it is {size} bytes, and memdir writes at most {limit} bytes per file; remove the words with an editor"))
}

/// Redacts the words in all writable files, in one change, and then rewrites the history. If it is interrupted, running it again
/// finishes it.
pub(crate) fn forget(store: &dyn Store, context: &Context, phrase: &Phrase) -> Result<ForgottenMemories> {
    let found = find_forgettable(store, phrase)?;
    let writable = || found.files.iter().filter(|file| file.read_only.is_none());
    let mut out = ForgottenMemories::default();
    if writable().next().is_some() {
        // A running conversation may still have the evidence of a candidate, which would be proposed again.
        inbox::record_decisions(store, writable().map(|file| (&file.path, None)))?;
        let mut touches: Vec<MemoryPath> = writable().map(|file| file.path.clone()).collect();
        touches.extend(store.mounts().iter().filter_map(|mount| mounts::entrypoint_path(&mount.prefix).ok()));
        touches.retain(|path| store.check_writable(path).is_ok());
        let (_, planned) = change_with(store, &context.intent(Verb::Forget), &touches, |view| {
            let edits = redactions(view, context, phrase)?;
            let redacted = edits.iter().filter(|edit| edit.bytes.is_some()).map(|edit| edit.path.clone()).collect();
            let removed = edits.iter().filter(|edit| edit.bytes.is_none()).count();
            Ok((edits, ForgottenMemories { redacted, removed, versions: 0 }))
        })?;
        out = planned;
    }
    out.versions = store.forget_in_history(phrase)?;
    Ok(out)
}

/// The edits of all files that have the words, and of the entrypoint lines that follow from them.
fn redactions(view: &dyn View, context: &Context, phrase: &Phrase) -> Result<Vec<FileEdit>> {
    let mut edits: BTreeMap<MemoryPath, FileEdit> = BTreeMap::new();
    for entry in entries(view)? {
        view.check_stopped()?;
        if view.check_writable(&entry.path).is_err() {
            continue;
        }
        let Some(stored) = store::if_readable(view.get(&entry.path))? else { continue };
        // One file that memdir cannot write must not keep all others from being forgotten; it is reported as remaining.
        if too_large(view, &entry.path, &stored).is_some() {
            continue;
        }
        let is_maintained = mounts::file_kind(view, &entry.path).is_maintained();
        let role = if is_maintained { Role::Entrypoint } else { Role::Memory };
        let bytes = match phrase.redact_bytes(&stored.bytes) {
            _ if phrase.is_in(entry.path.as_str()) => None,
            Some(_) if inbox::is_in_inbox(view, &entry.path) => None,
            Some(_) if !is_maintained && is_empty_without(phrase, &stored.bytes) => None,
            Some(bytes) => Some(bytes),
            None => continue,
        };
        edits.insert(entry.path.clone(), FileEdit { path: entry.path, bytes, role });
    }
    let memories: Vec<FileEdit> = edits.values().filter(|edit| edit.role == Role::Memory).cloned().collect();
    // A line may have only the beginning of the words, because it was shortened: the lines of changed memories are rebuilt.
    for edit in upkeep::set_lines(view, &context.entrypoint_cache, &memories)?.edits {
        let bytes = edit.bytes.map(|bytes| phrase.redact_bytes(&bytes).unwrap_or(bytes));
        edits.insert(edit.path.clone(), FileEdit { bytes, ..edit });
    }
    Ok(edits.into_values().collect())
}

/// Whether a memory has no word besides the forgotten ones.
fn is_empty_without(phrase: &Phrase, bytes: &[u8]) -> bool {
    let Some(redacted) = phrase.redact_bytes(bytes) else { return false };
    let (decoded, _) = text::decode(&redacted);
    let (memory, _) = Memory::parse(&decoded);
    let body = memory.body();
    body.contains(FORGOTTEN) && !body.replace(FORGOTTEN, "").contains(char::is_alphanumeric)
}

/// The lines that have the words; words across a line break count for their first line.
fn lines(phrase: &Phrase, bytes: &[u8]) -> Vec<ForgetLine> {
    let mut out: Vec<ForgetLine> = Vec::new();
    let mut done = 0;
    let mut line = 1;
    for range in phrase.ranges(bytes) {
        line += bytes[done..range.start].iter().filter(|byte| **byte == b'\n').count() as u64;
        done = range.start;
        if out.last().is_some_and(|last| last.line == line) {
            continue;
        }
        let start = bytes[..range.start].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let end = bytes[range.end..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| range.end + at);
        let shown = String::from_utf8_lossy(&bytes[start..end]).into_owned();
        out.push(ForgetLine { line, text: secrets::redact(&shown).into_owned() });
    }
    out
}
