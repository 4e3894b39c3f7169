//! Decides about candidates of the inbox: accepts, merges and rejects them, each in one change that can be undone. What an agent does
//! with the tools is in `rename.rs` and `delete.rs`. No decision lets a rule ask or deny: only `memdir rules accept` does.

use crate::{
    base::{
        error::{Error, Result},
        path::MemoryPath,
        shell::quote_posix,
    },
    entrypoint::upkeep,
    memory::Memory,
    operations::{
        context::Context,
        inbox::{self, InboxEntry, candidate::CandidateKind},
        read, rename, write,
    },
    recall::when::{self, Strength},
    store::{ChangeId, FileEdit, Role, Store, Stored, Verb, View, change_with},
};
use serde::Serialize;

/// A candidate that was decided about.
#[derive(Debug, Clone, Serialize)]
pub struct DecidedCandidate {
    /// Its name in the inbox.
    pub candidate: String,
    /// What became of it.
    pub outcome: DecisionOutcome,
    /// The memory that was saved, changed or removed; for a rejected candidate its name among the rejected ones.
    pub memory: String,
    /// The change, for undo.
    pub change: ChangeId,
    /// Notes for the caller.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What became of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DecisionOutcome {
    /// It is a memory now.
    Saved,
    /// Its text was added to a memory.
    Merged,
    /// The rule of a memory was changed as it proposed.
    Changed,
    /// The memory that it was about was removed.
    Removed,
    /// It was rejected.
    Rejected,
}

/// Accepts a candidate under the name that it proposes, or under another one.
pub(crate) fn accept(store: &dyn Store, context: &Context, name: &MemoryPath, new_name: Option<&MemoryPath>) -> Result<DecidedCandidate> {
    let (path, entry) = inbox::find_entry(store, name)?;
    if let Some(new_name) = new_name.filter(|new_name| inbox::is_in_inbox(store, new_name)) {
        return Err(Error::bad_input(
            format!("name {:?}", new_name.name()),
            "it is in the inbox, so the candidate would not become a memory; use another name",
        ));
    }
    if new_name.is_some() && entry.changes_memory() {
        let why = format!("it changes the memory {:?}, so it cannot be accepted under another name", entry.proposes);
        return Err(Error::bad_input(format!("candidate {:?}", entry.name), why));
    }
    let target = MemoryPath::parse(&entry.proposes)?;
    match entry.kind {
        Some(CandidateKind::Violated) => change_rule(store, context, &path, &entry, &target),
        Some(CandidateKind::Unused) => remove_memory(store, context, &path, &entry, &target),
        _ => {
            let renamed = rename::rename(store, context, &path, new_name.unwrap_or(&target))?;
            Ok(DecidedCandidate {
                candidate: entry.name,
                outcome: DecisionOutcome::Saved,
                memory: renamed.to.name().to_owned(),
                change: renamed.change,
                notes: renamed.notes,
            })
        }
    }
}

/// Adds the text of a candidate to a memory, with its evidence, and its tripwires if the memory has none.
pub(crate) fn merge(store: &dyn Store, context: &Context, name: &MemoryPath, into: &MemoryPath) -> Result<DecidedCandidate> {
    let (path, entry) = inbox::find_entry(store, name)?;
    if inbox::is_in_inbox(store, into) {
        return Err(Error::bad_input("target", format!("{:?} is a candidate, not a memory", into.name())));
    }
    decide(store, context, &path, &entry, into, DecisionOutcome::Merged, |candidate, memory| {
        let old = write::utf8(&memory.path, &memory.bytes)?;
        let (candidate, _) = Memory::parse(&inbox::memory_text(candidate, &entry));
        let (old, _) = Memory::parse(old);
        let body = format!("{}\n\n{}", old.body().trim_end(), candidate.body().trim_start());
        let (merged, _) = Memory::parse(&old.with_body(&body));
        let (merged, _) = Memory::parse(&merged.with_field_of(&candidate, "when"));
        let sources: Vec<&str> = [merged.source(), candidate.source()].into_iter().flatten().collect();
        Ok(Some(
            merged.with_field("source", Some(&sources.join("; ")).filter(|source| !source.is_empty()).map(String::as_str)).into_bytes(),
        ))
    })
}

/// Moves a candidate to the rejected ones.
pub(crate) fn reject(store: &dyn Store, context: &Context, name: &MemoryPath) -> Result<DecidedCandidate> {
    let (path, entry) = inbox::find_entry(store, name)?;
    if entry.rejected {
        return Err(Error::AlreadyRejected { name: entry.name.clone() });
    }
    let to = inbox::rejected_path(store, &path)?;
    let renamed = rename::rename(store, context, &path, &to)?;
    Ok(DecidedCandidate {
        candidate: entry.name,
        outcome: DecisionOutcome::Rejected,
        memory: renamed.to.name().to_owned(),
        change: renamed.change,
        notes: renamed.notes,
    })
}

/// Gives the rule of a memory the conditions and the strength that a candidate proposes.
fn change_rule(
    store: &dyn Store,
    context: &Context,
    path: &MemoryPath,
    entry: &InboxEntry,
    memory: &MemoryPath,
) -> Result<DecidedCandidate> {
    let Some(when) = &entry.when else {
        return Err(Error::bad_input(format!("candidate {:?}", entry.name), "it proposes no tripwires; reject it"));
    };
    let (parsed, _) = when::parse(when, 1);
    let mut decided = decide(store, context, path, entry, memory, DecisionOutcome::Changed, |_, memory| {
        let text = write::utf8(&memory.path, &memory.bytes)?;
        Ok(Some(Memory::parse(text).0.with_yaml("when", Some(&parsed.to_yaml())).into_bytes()))
    })?;
    if parsed.strength.is_some_and(|strength| strength > Strength::Hold) {
        let memory = quote_posix(&decided.memory);
        decided.notes.push(format!("the rule acts like `hold` until you accept its text with: memdir rules accept {memory}"));
    }
    Ok(decided)
}

fn remove_memory(
    store: &dyn Store,
    context: &Context,
    path: &MemoryPath,
    entry: &InboxEntry,
    memory: &MemoryPath,
) -> Result<DecidedCandidate> {
    decide(store, context, path, entry, memory, DecisionOutcome::Removed, |_, memory| {
        let text = write::utf8(&memory.path, &memory.bytes)?;
        match Memory::parse(text).0.when() {
            Some(_) => Ok(None),
            None => {
                let why = format!("it proposes to remove {:?}, which is not a rule; reject the candidate", memory.path.name());
                Err(Error::bad_input(format!("candidate {:?}", entry.name), why))
            }
        }
    })
}

/// Removes a candidate and gives a memory the bytes that `edit` returns, in one change.
fn decide(
    store: &dyn Store,
    context: &Context,
    path: &MemoryPath,
    entry: &InboxEntry,
    memory: &MemoryPath,
    outcome: DecisionOutcome,
    edit: impl Fn(&Stored, &Stored) -> Result<Option<Vec<u8>>>,
) -> Result<DecidedCandidate> {
    inbox::record_decisions(store, [(path, None)])?;
    let verb = if outcome == DecisionOutcome::Removed { Verb::Delete } else { Verb::Edit };
    let touches = [path.clone(), memory.clone()];
    let (change, (name, notes)) = change_with(store, &context.intent(verb), &touches, |view: &dyn View| {
        let candidate = view.get(path)?.ok_or_else(|| read::not_found(store, path))?;
        let stored = view.get(memory)?.ok_or_else(|| read::not_found(store, memory))?;
        view.check_writable(&stored.path)?;
        upkeep::refuse_pages(view, &stored.path)?;
        let bytes = edit(&candidate, &stored)?;
        let warnings = match &bytes {
            Some(bytes) => write::check_secrets(context, Some(&stored.bytes), bytes)?,
            None => Vec::new(),
        };
        let changed = [FileEdit { path: stored.path.clone(), bytes, role: Role::Memory }];
        let kept = upkeep::set_lines(view, &context.entrypoint_cache, &changed)?;
        let mut edits = changed.to_vec();
        edits.push(FileEdit::remove(candidate.path));
        edits.extend(kept.edits);
        Ok((edits, (stored.path.name().to_owned(), [warnings, kept.notes].concat())))
    })?;
    Ok(DecidedCandidate { candidate: entry.name.clone(), outcome, memory: name, change: change.id, notes })
}
