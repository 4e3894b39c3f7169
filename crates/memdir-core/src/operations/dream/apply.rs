//! Applies a plan as one change. Operations whose files changed since are left out and reported; everything else happens together, and one
//! undo reverts it. Only the files that the plan names are written, and the entrypoint lines of those memories.

use super::{DreamAction, DreamChange, DreamOperation, DreamPlan, validate};
use crate::{
    base::{error::Result, path::MemoryPath},
    entrypoint::upkeep,
    memory::links,
    operations::context::Context,
    store::{ChangeId, FileEdit, Role, Store, Verb, View, change_with},
};
use jiff::civil::Date;
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
    /// The last day up to which the logs are distilled: the days of operations that were left out are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logs_through: Option<Date>,
    /// Notes for the caller.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl DreamApplied {
    fn new(plan: &DreamPlan) -> DreamApplied {
        DreamApplied { applied: Vec::new(), left_out: Vec::new(), change: None, logs_through: plan.logs_through, notes: Vec::new() }
    }

    fn leave_out(&mut self, operation: &DreamOperation, why: String) {
        let before = operation.log_days().min().and_then(|day| day.yesterday().ok());
        self.logs_through = before.map_or(self.logs_through, |before| self.logs_through.map(|through| through.min(before)));
        self.left_out.push(LeftOut { operation: operation.title(), why });
    }

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
        return Ok(DreamApplied::new(plan));
    }
    let (change, mut applied) = change_with(store, &context.intent(Verb::Dream), &touches, |view| {
        let mut out = DreamApplied::new(plan);
        let mut edits = OperationEdits::default();
        for operation in &plan.operations {
            match planned(view, operation)? {
                Planned::Edits(new) => {
                    out.applied.push(operation.title());
                    edits.memories.extend(new.memories);
                    edits.listed.extend(new.listed);
                    edits.paged.extend(new.paged);
                }
                Planned::LeftOut(why) => out.leave_out(operation, why),
            }
        }
        let OperationEdits { memories: mut edits, listed, paged } = edits;
        let kept = upkeep::set_lines_beside_prose(view, &context.entrypoint_cache, &edits, &listed, &paged)?;
        edits.extend(kept.edits);
        out.notes = kept.notes;
        Ok((edits, out))
    })?;
    applied.change = (!change.files.is_empty()).then_some(change.id);
    Ok(applied)
}

enum Planned {
    Edits(OperationEdits),
    LeftOut(String),
}

#[derive(Default)]
struct OperationEdits {
    memories: Vec<FileEdit>,
    /// Memories that get their line in the entrypoint although their text stays.
    listed: Vec<FileEdit>,
    /// Memories whose lines move to a page.
    paged: Vec<MemoryPath>,
}

/// Why an operation can no longer be applied; `None` if it can be.
pub fn obstacle(view: &dyn View, operation: &DreamOperation) -> Result<Option<String>> {
    Ok(current_texts(view, operation)?.err())
}

/// The texts of the files of an operation, or why it cannot be applied: a file changed, is gone, or is in the way.
fn current_texts<'a>(view: &dyn View, operation: &'a DreamOperation) -> Result<Result<HashMap<&'a MemoryPath, Vec<u8>>, String>> {
    let mut texts: HashMap<&MemoryPath, Vec<u8>> = HashMap::new();
    let read = operation.changes.iter().filter_map(|change| Some((change.path(), change.version()?)));
    for (path, version) in read.chain(operation.sources.iter().map(|(path, version)| (path, *version))) {
        match view.get(path)?.filter(|stored| stored.path == *path) {
            None => return Ok(Err(format!("{path} no longer exists"))),
            Some(stored) if stored.version != version => return Ok(Err(format!("{path} has changed since the plan was made"))),
            Some(stored) => drop(texts.insert(path, stored.bytes)),
        }
    }
    for target in operation.changes.iter().filter_map(|change| match change {
        DreamChange::New { path, .. } => Some(path),
        DreamChange::Move { to, .. } => Some(to),
        _ => None,
    }) {
        if view.get(target)?.is_some() {
            return Ok(Err(format!("{target} already exists")));
        }
    }
    Ok(Ok(texts))
}

/// The edits of one operation, or why it is left out.
fn planned(view: &dyn View, operation: &DreamOperation) -> Result<Planned> {
    let texts = match current_texts(view, operation)? {
        Ok(texts) => texts,
        Err(why) => return Ok(Planned::LeftOut(why)),
    };
    let moved = moved(operation);
    let (mut edits, mut listed, mut paged) = (Vec::new(), Vec::new(), Vec::new());
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
            DreamChange::Page { path, .. } => paged.push(path.clone()),
        }
    }
    Ok(Planned::Edits(OperationEdits { memories: edits, listed, paged }))
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
