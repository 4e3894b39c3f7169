//! Reads a list of operations that a model returned, and makes a plan of it. The list passes the same rules as every plan, and one more:
//! a text must not shrink to less than half, because a model that rewrites a memory loses what it does not repeat.

use super::{DreamAction, DreamChange, DreamOperation, DreamPlan, DreamReason, LeftOut, validate};
use crate::{
    base::{
        error::{Error, Result},
        limits,
        path::MemoryPath,
        version::Version,
    },
    operations::{context::Context, read, write::with_final_newline},
    store::{Store, Stored, mounts},
};
use serde::Deserialize;

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
    if text.len() > limits::DREAM_PLAN_BYTES {
        return Err(Error::TooLarge {
            what: "the list of operations".into(),
            size: text.len() as u64,
            limit: limits::DREAM_PLAN_BYTES as u64,
        });
    }
    let json = json_block(text).unwrap_or(text).trim();
    if !json.starts_with(['{', '[']) {
        return Err(Error::bad_input(
            "operations",
            "it is not a list of operations in JSON; expected {\"operations\": [{\"action\": \"archive\", \"path\": \"notes/old\", \"why\": \"…\"}]}",
        ));
    }
    // An untagged enum reports no position, so the shape is decided first.
    let parsed = match json.starts_with('[') {
        true => serde_json::from_str(json).map(RawList::Bare),
        false => serde_json::from_str::<WrappedList>(json).map(|list| RawList::Wrapped { operations: list.operations }),
    };
    match parsed.map_err(|error| Error::bad_input("operations", format!("invalid list: {error}")))? {
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

/// Makes a plan of a list. An invalid operation refuses the whole list; one whose memory has another version now is left out.
pub fn plan_from_operations(store: &dyn Store, context: &Context, list: &[RawOperation]) -> Result<(DreamPlan, Vec<LeftOut>)> {
    let (mut operations, mut left_out) = (Vec::new(), Vec::new());
    for (number, raw) in (1..).zip(list) {
        let numbered = |error: Error| Error::bad_input("operations", format!("operation {number}: {error}"));
        let (operation, stale) = to_operation(store, raw).map_err(numbered)?;
        match stale {
            Some(why) => left_out.push(LeftOut { operation: operation.title(), why }),
            None => operations.push(operation),
        }
    }
    let counted = super::material::Material::read(store, &super::Dream::default())?;
    let plan = DreamPlan {
        made: context.clock.now(),
        memories: counted.files.len(),
        bytes: counted.bytes,
        logs_through: None,
        operations,
        notes: Vec::new(),
    };
    validate::check_plan(store, context, &plan)?;
    Ok((plan, left_out))
}

/// An operation, and why it is left out if its memory has another version.
fn to_operation(store: &dyn Store, raw: &RawOperation) -> Result<(DreamOperation, Option<String>)> {
    let action = DreamAction::ALL.into_iter().find(|action| action.as_str() == raw.action);
    let action =
        action.ok_or_else(|| Error::bad_input("action", format!("{:?} is not one of create, update, merge, move, archive", raw.action)))?;
    let required = |field: &'static str, value: &Option<String>| {
        value.clone().ok_or_else(|| Error::bad_input(field, format!("it is missing; {} needs it", raw.action)))
    };
    let existing = |name: &str| -> Result<Stored> {
        let path = MemoryPath::parse(name)?;
        store.get(&path)?.ok_or_else(|| read::not_found(store, &path))
    };
    let mut old = Vec::new();
    let changes = match action {
        DreamAction::Create => {
            let path = MemoryPath::parse(&required("path", &raw.path)?)?.with_md();
            vec![DreamChange::New { path, text: text(&required("text", &raw.text)?) }]
        }
        DreamAction::Update => {
            let stored = existing(&required("path", &raw.path)?)?;
            let new = text(&required("text", &raw.text)?);
            check_kept(&[&stored], &new)?;
            old.push(stored.clone());
            vec![DreamChange::Write { path: stored.path, version: stored.version, text: new }]
        }
        DreamAction::Merge => {
            let kept = existing(&required("into", &raw.into)?)?;
            let from = raw.from.iter().map(|name| existing(name)).collect::<Result<Vec<_>>>()?;
            let new = text(&required("text", &raw.text)?);
            check_kept(&[&kept], &new)?;
            let mut changes = vec![DreamChange::Write { path: kept.path.clone(), version: kept.version, text: new }];
            for stored in &from {
                changes.push(archived(store, stored)?);
            }
            old.push(kept);
            changes
        }
        DreamAction::Move => {
            let stored = existing(&required("path", &raw.path)?)?;
            let to = MemoryPath::parse(&required("to", &raw.to)?)?.with_md();
            old.push(stored.clone());
            vec![DreamChange::Move { path: stored.path, version: stored.version, to }]
        }
        DreamAction::Archive => {
            let stored = existing(&required("path", &raw.path)?)?;
            old.push(stored.clone());
            vec![archived(store, &stored)?]
        }
    };
    let operation = DreamOperation {
        action,
        reason: DreamReason::Proposed,
        why: crate::base::text::ellipsis(raw.why.trim(), 400).into_owned(),
        confidence: 50,
        sources: Vec::new(),
        diff: diff_of(&old, &changes),
        changes,
    };
    let stale = match (&raw.version, old.first()) {
        (Some(version), Some(stored)) if !is_version(version, stored.version) => {
            Some(format!("{} has another version than the operation was made from", stored.path))
        }
        _ => None,
    };
    Ok((operation, stale))
}

fn is_version(written: &str, version: Version) -> bool {
    written.parse() == Ok(version) || version.starts_with(written)
}

fn text(text: &str) -> String {
    String::from_utf8(with_final_newline(text.as_bytes().to_vec())).unwrap_or_default()
}

fn check_kept(old: &[&Stored], new: &str) -> Result<()> {
    let before: usize = old.iter().map(|stored| stored.bytes.len()).sum();
    if new.len() * 100 >= before * MIN_KEPT {
        return Ok(());
    }
    let why = format!("it has {} of {before} bytes; a text must keep at least half; archive the memory to remove it", new.len());
    Err(Error::bad_input("text", why))
}

fn archived(store: &dyn Store, stored: &Stored) -> Result<DreamChange> {
    let prefix = mounts::mount_of(store, &stored.path).map(|mount| mount.prefix.clone()).unwrap_or_default();
    let rel = stored.path.strip_prefix(&prefix).unwrap_or_else(|| stored.path.clone());
    let to = super::material::free_archive_name(store, &rel, &prefix)?;
    Ok(DreamChange::Move { path: stored.path.clone(), version: stored.version, to })
}

fn diff_of(old: &[Stored], changes: &[DreamChange]) -> String {
    let written = changes.iter().filter_map(|change| match change {
        DreamChange::Write { path, text, .. } => Some((path, text)),
        _ => None,
    });
    let before = |path: &MemoryPath| {
        old.iter().find(|stored| stored.path == *path).map_or(String::new(), |stored| String::from_utf8_lossy(&stored.bytes).into_owned())
    };
    written.map(|(path, text)| crate::operations::diff::unified(path, &before(path), text)).collect()
}
