//! Makes a plan: reads the memories, asks every detector, and keeps one operation per file, the surest first. Writes nothing.

use super::{
    Dream, DreamAction, DreamChange, DreamOperation, DreamPlan, DreamReason, contradictions, dates, duplicates, empty, entrypoint,
    evidence, logs, long,
    material::{Material, MaterialFile, free_archive_name},
    superseded, validate,
};
use crate::base::sort::SharedSort as _;
use crate::{
    base::{
        error::{Error, Result},
        limits,
        path::MemoryPath,
        text,
    },
    entrypoint::upkeep,
    memory::links,
    operations::{context::Context, diff, verify::ProjectLookup},
    secrets,
    store::{EntrypointMode, Store, mounts},
};
use jiff::civil::Date;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Makes a plan. The same memories, the same project and the same day give the same plan.
pub fn dream(store: &dyn Store, context: &Context, request: &Dream<'_>) -> Result<DreamPlan> {
    let (now, zone) = (context.clock.now(), context.clock.zone());
    let today = now.to_zoned(zone.clone()).date();
    let material = Material::read(store, request)?;
    let weight = |file: &MaterialFile| request.uses.map_or(0, |uses| uses(&file.path));
    let mut notes = material.notes.clone();
    let distilled = logs::find(&material, request.logs_through, today);
    let mut found = Vec::new();
    if !request.logs_only {
        let look = request.project.map(ProjectLookup::new);
        found.extend(empty::find(&material));
        found.extend(duplicates::find(&material, request.embedder, &weight)?);
        notes.extend(superseded::circles(&material));
        found.extend(superseded::find(&material, now));
        found.extend(contradictions::find(&material));
        found.extend(evidence::find(&material, look.as_ref(), today));
        found.extend(dates::find(store, &material, &zone));
        found.extend(long::find(&material));
    }
    found.extend(distilled.operations);
    if !request.logs_only {
        let taken = found.iter().flat_map(DreamOperation::files).cloned().collect();
        let (lines, line_notes) = entrypoint::find(store, context, &material, &weight, &taken)?;
        found.extend(lines);
        notes.extend(line_notes);
        found.extend(empty::unreachable(store, &material, &unlisted(store, context)?)?);
    }
    let SelectedOperations { operations, notes: dropped, postponed } = select(store, context, &material, found)?;
    notes.extend(dropped);
    let logs_through = match postponed {
        None => distilled.through.or(request.logs_through),
        // What is in the next plan is not distilled by this one.
        Some(day) => material.log_days().filter(|other| *other < day).max().max(request.logs_through),
    };
    Ok(DreamPlan { made: now, memories: material.files.len(), bytes: material.bytes, logs_through, operations, notes })
}

fn unlisted(store: &dyn Store, context: &Context) -> Result<HashSet<MemoryPath>> {
    let mut out = HashSet::new();
    for mount in store.mounts().iter().filter(|mount| mount.entrypoint == EntrypointMode::Kept) {
        // Without an entrypoint there is nothing that a memory could be missing from.
        if mounts::entrypoint_file(store, &mount.prefix)?.is_some() {
            out.extend(upkeep::unlisted(store, &context.entrypoint_cache, &mount.prefix)?);
        }
    }
    Ok(out)
}

/// The operations of a plan.
struct SelectedOperations {
    operations: Vec<DreamOperation>,
    /// What was dropped.
    notes: Vec<String>,
    /// The first day of a log whose facts wait for the next plan.
    postponed: Option<Date>,
}

/// Keeps one operation per file and adds the references that follow moved files.
fn select(store: &dyn Store, context: &Context, material: &Material, found: Vec<DreamOperation>) -> Result<SelectedOperations> {
    let by_path = material.by_path();
    let referrers = referrers(material, &found);
    let (mut taken, mut read, mut out) = (HashSet::new(), HashSet::new(), Vec::new());
    let (mut overlapping, mut over, mut bytes) = (0, 0, 0);
    let mut refused: BTreeMap<&str, usize> = BTreeMap::new();
    let mut postponed: Option<Date> = None;
    let mut postpone = |operation: &DreamOperation| postponed = operation.log_days().chain(postponed).min();
    for mut operation in found {
        if out.len() >= limits::DREAM_OPERATIONS {
            over += 1;
            postpone(&operation);
            continue;
        }
        for change in &mut operation.changes {
            if let DreamChange::Move { path, to, .. } = change
                && let Some(file) = by_path.get(path)
            {
                *to = free_archive_name(store, &file.path.strip_prefix(&file.prefix).unwrap_or_else(|| file.path.clone()), &file.prefix)?;
            }
        }
        relink(&mut operation, &referrers, &by_path);
        let files: Vec<MemoryPath> = operation.files().cloned().collect();
        let is_taken = files.iter().any(|file| taken.contains(file) || read.contains(file))
            || operation.sources.iter().any(|(file, _)| taken.contains(file));
        if is_taken {
            overlapping += 1;
            postpone(&operation);
            continue;
        }
        let size = match validate::check(store, context, &operation) {
            Ok(size) => size,
            Err(error) => {
                *refused.entry(omission_reason(&error)).or_default() += 1;
                continue;
            }
        };
        operation.why = secrets::redact(&operation.why).into_owned();
        operation.diff.push_str(&diffs(&operation, &by_path));
        let size = size + operation.diff.len();
        if bytes + size > limits::DREAM_PLAN_BYTES {
            over += 1;
            postpone(&operation);
            continue;
        }
        bytes += size;
        read.extend(operation.sources.iter().map(|(file, _)| file.clone()));
        taken.extend(files);
        out.push(operation);
    }
    // The surest first; of equal ones those of one kind together.
    out.shared_sort_by(|a, b| b.confidence.cmp(&a.confidence).then(a.reason.cmp(&b.reason)).then_with(|| a.title().cmp(&b.title())));
    let note = |count: usize, what: &str| (count > 0).then(|| format!("{} {what}", text::counted(count as u64, "operation", "operations")));
    let overlapping = note(overlapping, "postponed to the next plan: this plan already changes the same files");
    let over = note(over, "postponed to the next plan: this plan is full");
    let refused = refused.into_iter().map(|(reason, count)| note(count, &format!("omitted because of {reason}")));
    let notes = std::iter::once(overlapping).chain(refused).chain([over]).flatten().collect();
    Ok(SelectedOperations { operations: out, notes, postponed })
}

/// What keeps an operation from being planned.
fn omission_reason(error: &Error) -> &'static str {
    match error {
        Error::Secret { .. } => "a secret",
        Error::ReadOnly { .. } => "a read-only file",
        Error::TooLarge { .. } => "the size limit",
        Error::BadPath { .. } | Error::BadInput { .. } => "a name or text that a plan cannot contain",
        _ => "a memory that could not be read",
    }
}

/// The memories that refer to each memory that an operation moves.
pub(super) fn referrers(material: &Material, found: &[DreamOperation]) -> BTreeMap<String, Vec<MemoryPath>> {
    let moved: HashSet<&str> = found
        .iter()
        .flat_map(|operation| &operation.changes)
        .filter_map(|change| if let DreamChange::Move { path, .. } = change { Some(path.name()) } else { None })
        .collect();
    let mut out: BTreeMap<String, Vec<MemoryPath>> = BTreeMap::new();
    if moved.is_empty() {
        return out;
    }
    for file in &material.files {
        let text = file.memory.text();
        if !text.contains("](") && !text.contains("[[") && !text.contains("mem:") && !text.contains("]:") {
            continue;
        }
        for reference in links::references(text, &file.path) {
            let names = [reference.target.clone()].into_iter().chain(links::wiki_names(&reference.target, &file.path));
            for name in names {
                let name = crate::base::path::strip_md(&name).to_owned();
                if moved.contains(name.as_str()) {
                    out.entry(name).or_default().push(file.path.clone());
                }
            }
        }
    }
    out
}

/// Adds the memories whose references follow the files that an operation moves.
pub(super) fn relink(
    operation: &mut DreamOperation,
    referrers: &BTreeMap<String, Vec<MemoryPath>>,
    by_path: &HashMap<&MemoryPath, &MaterialFile>,
) {
    let own: HashSet<MemoryPath> = operation.files().cloned().collect();
    let mut follow: Vec<MemoryPath> = Vec::new();
    for change in &operation.changes {
        if let DreamChange::Move { path, .. } = change {
            follow.extend(referrers.get(path.name()).into_iter().flatten().filter(|path| !own.contains(*path)).cloned());
        }
    }
    follow.shared_sort();
    follow.dedup();
    let relinks = follow.into_iter().filter_map(|path| Some(DreamChange::Relink { version: by_path.get(&path)?.version, path }));
    operation.changes.extend(relinks);
}

/// Lines of an archived text that the reader of a plan sees.
const SHOWN_LINES: usize = 40;

/// The differences that the reader of a plan sees, and the texts that go to the archive. Secrets are redacted: a diff is never applied.
pub(super) fn diffs(operation: &DreamOperation, by_path: &HashMap<&MemoryPath, &MaterialFile>) -> String {
    let mut out = String::new();
    for change in &operation.changes {
        match change {
            DreamChange::Write { path, text, .. } => {
                let old = by_path.get(path).map_or("", |file| file.memory.text());
                out.push_str(&diff::unified(path, old, text));
            }
            DreamChange::Move { path, to, .. } if matches!(operation.action, DreamAction::Archive | DreamAction::Merge) => {
                let text = by_path.get(path).map_or("", |file| file.memory.text());
                out.push_str(&format!("--- a/{path}\n+++ b/{to}\n"));
                text.lines().take(SHOWN_LINES).for_each(|line| out.push_str(&format!("{}\n", format!(" {line}").trim_end())));
                let left = text.lines().count().saturating_sub(SHOWN_LINES);
                if left > 0 {
                    out.push_str(&format!(" [and {}]\n", text::counted(left as u64, "more line", "more lines")));
                }
            }
            DreamChange::New { path, text } if operation.action != DreamAction::Create || operation.reason != DreamReason::Log => {
                out.push_str(&format!("--- /dev/null\n+++ b/{path} ({} bytes)\n", text.len()));
            }
            _ => {}
        }
    }
    secrets::redact(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn a_failure_to_read_is_not_a_text_that_a_plan_cannot_contain() {
        let denied = Error::io("read", "/m/a.md", io::ErrorKind::PermissionDenied.into());
        assert_eq!(omission_reason(&denied), "a memory that could not be read");
        assert_eq!(omission_reason(&Error::bad_input("text of a", "it is empty")), "a name or text that a plan cannot contain");
    }
}
