//! Applies a plan as one change. Operations whose files changed since are left out and reported; everything else happens together, and one
//! undo takes it back. Only the files that the plan names are written, and the entrypoint lines of those memories.

use super::{DreamAction, DreamChange, DreamOperation, DreamPlan, validate};
use crate::{
    base::{error::Result, path::MemoryPath},
    entrypoint::upkeep,
    memory::links,
    operations::context::Context,
    store::{ChangeId, FileEdit, Role, Store, Verb, View, change_with},
};
use serde::Serialize;
use std::collections::HashMap;

/// The plan to apply.
#[derive(Debug, Clone, Copy)]
pub struct ApplyDream<'a> {
    /// The plan.
    pub plan: &'a DreamPlan,
    /// The percentage of memories and of bytes that it may touch; `None` for 25.
    pub limit_percent: Option<u64>,
}

/// What became of a plan.
#[derive(Debug, Clone, Serialize)]
pub struct DreamApplied {
    /// The titles of the operations that were applied.
    pub applied: Vec<String>,
    /// The operations that were left out, with the reason.
    pub left_out: Vec<LeftOut>,
    /// The change, for undo; `None` if nothing was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<ChangeId>,
    /// Notes for the caller.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl DreamApplied {
    /// Whether a plan with operations changed nothing, which is never a success.
    pub fn is_failure(&self) -> bool {
        self.applied.is_empty() && !self.left_out.is_empty()
    }
}

/// An operation that was not applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Its title.
    pub operation: String,
    /// Why.
    pub why: String,
}

/// Applies a plan.
pub fn apply(store: &dyn Store, context: &Context, request: &ApplyDream<'_>) -> Result<DreamApplied> {
    let plan = request.plan;
    validate::check_plan(store, context, plan)?;
    validate::check_share(store, plan, request.limit_percent.unwrap_or(validate::LIMIT_PERCENT))?;
    let touches: Vec<MemoryPath> = plan.operations.iter().flat_map(DreamOperation::files).cloned().collect();
    if touches.is_empty() {
        return Ok(DreamApplied { applied: Vec::new(), left_out: Vec::new(), change: None, notes: Vec::new() });
    }
    let (change, mut applied) = change_with(store, &context.intent(Verb::Dream), &touches, |view| {
        let mut out = DreamApplied { applied: Vec::new(), left_out: Vec::new(), change: None, notes: Vec::new() };
        let (mut edits, mut listed) = (Vec::new(), Vec::new());
        for operation in &plan.operations {
            match planned(view, operation)? {
                Planned::Edits(new, lines) => {
                    out.applied.push(operation.title());
                    edits.extend(new);
                    listed.extend(lines);
                }
                Planned::LeftOut(why) => out.left_out.push(LeftOut { operation: operation.title(), why }),
            }
        }
        let lines: Vec<FileEdit> = edits.iter().chain(&listed).cloned().collect();
        let kept = upkeep::set_lines_beside_prose(view, &context.entrypoint_cache, &lines)?;
        edits.extend(kept.edits);
        out.notes = kept.notes;
        Ok((edits, out))
    })?;
    applied.change = (!change.files.is_empty()).then_some(change.id);
    Ok(applied)
}

enum Planned {
    /// The edits of memories, and memories whose entrypoint line is added although their text stays.
    Edits(Vec<FileEdit>, Vec<FileEdit>),
    LeftOut(String),
}

/// The edits of one operation, or why it is left out.
fn planned(view: &dyn View, operation: &DreamOperation) -> Result<Planned> {
    let mut texts: HashMap<&MemoryPath, Vec<u8>> = HashMap::new();
    let read = operation.changes.iter().filter_map(|change| Some((change.path(), change.version()?)));
    for (path, version) in read.chain(operation.sources.iter().map(|(path, version)| (path, *version))) {
        match view.get(path)?.filter(|stored| stored.path == *path) {
            None => return Ok(Planned::LeftOut(format!("{path} no longer exists"))),
            Some(stored) if stored.version != version => {
                return Ok(Planned::LeftOut(format!("{path} has changed since the plan was made")));
            }
            Some(stored) => drop(texts.insert(path, stored.bytes)),
        }
    }
    for target in operation.changes.iter().filter_map(|change| match change {
        DreamChange::New { path, .. } => Some(path),
        DreamChange::Move { to, .. } => Some(to),
        _ => None,
    }) {
        if view.get(target)?.is_some() {
            return Ok(Planned::LeftOut(format!("{target} already exists")));
        }
    }
    let moved = moved(operation);
    let (mut edits, mut listed) = (Vec::new(), Vec::new());
    let edit = |path: &MemoryPath, bytes| FileEdit { path: path.clone(), bytes, role: Role::Memory };
    for change in &operation.changes {
        let bytes = texts.get(change.path()).map_or(&[][..], Vec::as_slice);
        match change {
            DreamChange::Write { path, text, .. } | DreamChange::New { path, text } => {
                edits.push(edit(path, Some(text.clone().into_bytes())));
            }
            DreamChange::Move { path, to, .. } => {
                let text = std::str::from_utf8(bytes).ok().and_then(|text| links::rebase_links(text, path, to));
                edits.push(edit(to, Some(text.map_or_else(|| bytes.to_vec(), String::into_bytes))));
                edits.push(edit(path, None));
            }
            DreamChange::Relink { path, .. } => {
                let follow = |name: &str| moved.get(name).map(|(from, to)| (*from, *to));
                let text = std::str::from_utf8(bytes).ok().and_then(|text| links::rewrite_all_references(text, path, &follow));
                edits.extend(text.map(|text| edit(path, Some(text.into_bytes()))));
            }
            DreamChange::List { path, .. } => listed.push(edit(path, Some(bytes.to_vec()))),
        }
    }
    Ok(Planned::Edits(edits, listed))
}

/// Where references to moved memories lead afterwards, by their names: to the memory that a merge keeps, else to the new name.
fn moved(operation: &DreamOperation) -> HashMap<&str, (&MemoryPath, &MemoryPath)> {
    let kept = operation.changes.iter().find_map(|change| match change {
        DreamChange::Write { path, .. } if operation.action == DreamAction::Merge => Some(path),
        _ => None,
    });
    let moves = operation.changes.iter().filter_map(|change| match change {
        DreamChange::Move { path, to, .. } => Some((path.name(), (path, kept.unwrap_or(to)))),
        _ => None,
    });
    moves.collect()
}
