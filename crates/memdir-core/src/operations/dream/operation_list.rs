//! Reads a list of operations that a model returned, and makes a plan of it. The list passes the same rules as every plan, and more,
//! because a model that rewrites a memory loses what it does not repeat: a text must not shrink to less than half, and fields such as
//! tripwires stay.

use super::{
    DreamAction, DreamChange, DreamOperation, DreamPlan, DreamReason, LeftOut, assemble,
    material::{Material, binding_fields},
    validate,
};
use crate::{
    base::{
        error::{Error, Result},
        limits,
        path::MemoryPath,
        text::{decode, ellipsis, lower_case_words},
        version::Version,
    },
    memory::Memory,
    operations::{context::Context, read as operations_read, write::with_final_newline},
    secrets::{self, SecretFinding},
    store::{Store, Stored, mounts},
};
use serde::Deserialize;
use std::collections::{HashMap, HashSet};

/// The percentage of a memory's bytes that a model's text must keep.
const MIN_KEPT: usize = 50;

/// One operation as a model writes it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawOperation {
    action: String,
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    version: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    into: Option<String>,
    #[serde(default)]
    from: Vec<String>,
    #[serde(default)]
    to: Option<String>,
    #[serde(default)]
    why: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawList {
    Wrapped { operations: Vec<RawOperation> },
    Bare(Vec<RawOperation>),
}

/// Parses a list of operations: JSON alone, or one JSON code block in an answer. Prose without one is an error.
pub fn operation_list(text: &str) -> Result<Vec<RawOperation>> {
    super::parse::check_size("the list of operations", text)?;
    let json = json_block(text).unwrap_or(text).trim();
    if !json.starts_with(['{', '[']) {
        return Err(Error::bad_input(
            "operations",
            "expected JSON such as {\"operations\": [{\"action\": \"archive\", \"path\": \"notes/old\", \"why\": \"…\"}]}",
        ));
    }
    // An untagged enum reports no position, so the shape is decided first.
    let parsed = match json.starts_with('[') {
        true => serde_json::from_str(json).map(RawList::Bare),
        false => serde_json::from_str::<WrappedList>(json).map(|list| RawList::Wrapped { operations: list.operations }),
    };
    match parsed.map_err(|error| Error::bad_input("operations", error.to_string()))? {
        RawList::Wrapped { operations } | RawList::Bare(operations) => Ok(operations),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrappedList {
    operations: Vec<RawOperation>,
}

/// The only code block of an answer.
fn json_block(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("```json\n").or_else(|| text.split_once("```\n"))?;
    rest.split_once("\n```").map(|(block, _)| block)
}

/// Makes a plan of a list. An invalid operation refuses the whole list; one whose memory has another version now is left out. `read` has
/// the versions that the model read, where the caller knows them.
pub fn plan_from_operations(
    store: &dyn Store,
    context: &Context,
    list: &[RawOperation],
    read: &[(MemoryPath, Version)],
) -> Result<(DreamPlan, Vec<LeftOut>)> {
    let read: HashMap<&MemoryPath, Version> = read.iter().map(|(path, version)| (path, *version)).collect();
    let (mut operations, mut left_out) = (Vec::new(), Vec::new());
    for (number, raw) in (1..).zip(list) {
        let numbered = |error: Error| Error::bad_input("operations", format!("operation {number}: {}", error.command_message()));
        let (operation, stale) = to_operation(store, raw, &read).map_err(numbered)?;
        match stale {
            Some(why) => left_out.push(LeftOut { operation: operation.title(), why }),
            None => operations.push(operation),
        }
    }
    let material = Material::read(store, &super::Dream::default())?;
    let mut plan = DreamPlan {
        made: context.clock.now(),
        memories: material.files.len(),
        bytes: material.bytes,
        logs_through: None,
        operations,
        notes: Vec::new(),
    };
    validate::check_plan(store, context, &plan)?;
    let (by_path, referrers) = (material.by_path(), assemble::referrers(&material, &plan.operations));
    for operation in &mut plan.operations {
        assemble::relink(operation, &referrers, &by_path);
        operation.diff = assemble::diffs(operation, &by_path);
    }
    let operations = std::mem::take(&mut plan.operations);
    let (operations, overlapping) = without_overlaps(operations);
    left_out.extend(overlapping);
    Ok((DreamPlan { operations, ..plan }, left_out))
}

/// Puts the operations of several plans into one. An operation that changes a file of an earlier one is left out.
pub fn combined(plans: Vec<DreamPlan>) -> (Option<DreamPlan>, Vec<LeftOut>) {
    let operations = plans.iter().flat_map(|plan| plan.operations.clone()).collect();
    let (operations, left_out) = without_overlaps(operations);
    (plans.into_iter().next().map(|plan| DreamPlan { operations, ..plan }), left_out)
}

fn without_overlaps(operations: Vec<DreamOperation>) -> (Vec<DreamOperation>, Vec<LeftOut>) {
    let (mut taken, mut out, mut left_out): (HashSet<MemoryPath>, Vec<DreamOperation>, Vec<LeftOut>) = Default::default();
    for operation in operations {
        let owned = operation.files().find(|file| taken.contains(*file)).cloned();
        match owned {
            Some(file) => {
                left_out.push(LeftOut { operation: operation.title(), why: format!("an earlier operation already changes {file}") });
            }
            None => {
                taken.extend(operation.files().cloned());
                out.push(operation);
            }
        }
    }
    (out, left_out)
}

/// An operation, and why it is left out if a memory has another version or a new one exists.
fn to_operation(store: &dyn Store, raw: &RawOperation, read: &HashMap<&MemoryPath, Version>) -> Result<(DreamOperation, Option<String>)> {
    let action = DreamAction::ALL.into_iter().find(|action| action.as_str() == raw.action);
    let action =
        action.ok_or_else(|| Error::bad_input("action", format!("{:?} is not one of create, update, merge, move, archive", raw.action)))?;
    let required = |field: &'static str, value: &Option<String>| {
        value.clone().ok_or_else(|| Error::bad_input(field, format!("it is missing; {} requires it", raw.action)))
    };
    // What the operation was made from, with the version that is written beside a name.
    let mut old: Vec<(Stored, Option<String>)> = Vec::new();
    let existing = |name: &str| -> Result<(Stored, Option<String>)> {
        let (name, version) = split_version(name);
        let path = MemoryPath::parse(name)?;
        let stored = store.get(&path)?.ok_or_else(|| operations_read::not_found(store, &path))?;
        Ok((stored, version.map(str::to_owned)))
    };
    let changes = match action {
        DreamAction::Create => {
            let path = MemoryPath::parse(&required("path", &raw.path)?)?.with_md();
            vec![DreamChange::New { path, text: text(&required("text", &raw.text)?) }]
        }
        DreamAction::Update => {
            old.push(existing(&required("path", &raw.path)?)?);
            let new = with_fields_of(&old, &required("text", &raw.text)?)?;
            check_kept(&old, &new)?;
            let stored = &old[0].0;
            vec![DreamChange::Write { path: stored.path.clone(), version: stored.version, text: new }]
        }
        DreamAction::Merge => {
            old.push(existing(&required("into", &raw.into)?)?);
            for name in &raw.from {
                old.push(existing(name)?);
            }
            let new = with_fields_of(&old, &required("text", &raw.text)?)?;
            check_kept(&old[..1], &new)?;
            check_words(&old, &new)?;
            let kept = &old[0].0;
            let mut changes = vec![DreamChange::Write { path: kept.path.clone(), version: kept.version, text: new }];
            for (stored, _) in &old[1..] {
                changes.push(archived(store, stored)?);
            }
            changes
        }
        DreamAction::Move => {
            old.push(existing(&required("path", &raw.path)?)?);
            let to = MemoryPath::parse(&required("to", &raw.to)?)?.with_md();
            let stored = &old[0].0;
            vec![DreamChange::Move { path: stored.path.clone(), version: stored.version, to }]
        }
        DreamAction::Archive => {
            old.push(existing(&required("path", &raw.path)?)?);
            vec![archived(store, &old[0].0)?]
        }
    };
    if let Some((_, version)) = old.first_mut() {
        *version = version.take().or_else(|| raw.version.clone());
    }
    let left_out = left_out(store, &old, &changes, read)?;
    let operation = DreamOperation {
        action,
        reason: DreamReason::Proposed,
        why: ellipsis(&secrets::redact(raw.why.trim()), 400).into_owned(),
        confidence: 50,
        sources: Vec::new(),
        diff: String::new(),
        changes,
    };
    Ok((operation, left_out))
}

/// Why an operation cannot be planned although it is valid.
fn left_out(
    store: &dyn Store,
    old: &[(Stored, Option<String>)],
    changes: &[DreamChange],
    read: &HashMap<&MemoryPath, Version>,
) -> Result<Option<String>> {
    let is_stale = |(stored, written): &&(Stored, Option<String>)| {
        written.as_ref().is_some_and(|written| !is_version(written, stored.version))
            || read.get(&stored.path).is_some_and(|version| *version != stored.version)
    };
    if let Some((stored, _)) = old.iter().find(is_stale) {
        return Ok(Some(format!("{} has changed since the model read it", stored.path)));
    }
    let is_cut =
        |(stored, _): &&(Stored, Option<String>)| read.contains_key(&stored.path) && stored.bytes.len() > limits::DREAM_SHOWN_BYTES;
    let is_written = changes.iter().any(|change| matches!(change, DreamChange::Write { .. }));
    if let Some((stored, _)) = old.iter().find(is_cut).filter(|_| is_written) {
        return Ok(Some(format!("the model read only the beginning of {}", stored.path)));
    }
    for change in changes {
        if let DreamChange::New { path, .. } = change
            && store.get(path)?.is_some_and(|stored| stored.path == *path)
        {
            return Ok(Some(format!("{path} already exists")));
        }
    }
    Ok(None)
}

/// Splits `NAME@VERSION`, as the sources of the material are written.
fn split_version(name: &str) -> (&str, Option<&str>) {
    match name.rsplit_once('@') {
        Some((name, version)) if version.len() >= 8 && version.bytes().all(|byte| byte.is_ascii_hexdigit()) => (name, Some(version)),
        _ => (name, None),
    }
}

fn is_version(written: &str, version: Version) -> bool {
    written.parse() == Ok(version) || version.starts_with(written)
}

fn text(text: &str) -> String {
    String::from_utf8(with_final_newline(text.as_bytes().to_vec())).unwrap_or_default()
}

/// The text of a model, with the fields of its memories that do something and that it does not repeat. A text without frontmatter gets
/// that of the first memory. Refuses a text that changes a tripwire, or has the mark of a secret in place of the secret.
fn with_fields_of(old: &[(Stored, Option<String>)], new: &str) -> Result<String> {
    let mut new = text(new);
    let memories = old.iter().map(|(stored, _)| (&stored.path, Memory::parse(&decode(&stored.bytes).0).0));
    for (at, (path, memory)) in memories.enumerate() {
        if at == 0 && memory.frontmatter_lines() > 0 && Memory::parse(&new).0.frontmatter_lines() == 0 {
            new = memory.with_body(&new);
        }
        for (key, value) in binding_fields(&memory) {
            let (written, _) = Memory::parse(&new);
            if key == "when" && written.raw(key).is_some_and(|other| other != value) {
                return Err(Error::bad_input("text", format!("it changes the `when` field of {path}; only a person can change tripwires")));
            }
            new = written.with_field_of(&memory, key);
        }
        // The model reads marks in place of secrets.
        let is_lost = |finding: &SecretFinding| !new.contains(&memory.text()[finding.span.clone()]);
        if at == 0 && secrets::scan(memory.text()).iter().any(is_lost) {
            return Err(Error::bad_input(
                "text",
                format!("it would remove a secret from {path} that the model cannot see; omit this operation and edit the memory by hand"),
            ));
        }
    }
    Ok(new)
}

fn check_kept(old: &[(Stored, Option<String>)], new: &str) -> Result<()> {
    let before: usize = old.iter().map(|(stored, _)| stored.bytes.len()).sum();
    if new.len() * 100 >= before * MIN_KEPT {
        return Ok(());
    }
    let why = format!("it keeps only {} of {before} bytes, but must keep at least half; to remove the memory, archive it", new.len());
    Err(Error::bad_input("text", why))
}

/// Refuses a merge whose text has less than half of the different words of all its memories: it would lose what they say.
fn check_words(old: &[(Stored, Option<String>)], new: &str) -> Result<()> {
    let words = |text: &str| lower_case_words(text).collect::<HashSet<String>>();
    let before: HashSet<String> = old.iter().flat_map(|(stored, _)| words(&String::from_utf8_lossy(&stored.bytes))).collect();
    let kept = words(new).intersection(&before).count();
    if kept * 100 >= before.len() * MIN_KEPT {
        return Ok(());
    }
    let why =
        format!("it keeps only {kept} of the {} distinct words in the merged memories; a merge must keep at least half", before.len());
    Err(Error::bad_input("text", why))
}

fn archived(store: &dyn Store, stored: &Stored) -> Result<DreamChange> {
    let prefix = mounts::mount_of(store, &stored.path).map(|mount| mount.prefix.clone()).unwrap_or_default();
    let rel = stored.path.strip_prefix(&prefix).unwrap_or_else(|| stored.path.clone());
    let to = super::material::free_archive_name(store, &rel, &prefix)?;
    Ok(DreamChange::Move { path: stored.path.clone(), version: stored.version, to })
}
