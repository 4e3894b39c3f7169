//! The rules that every operation passes before it is shown and again before it is applied, from any source: a detector, a person who
//! edited the plan, or a model.

use super::{DreamAction, DreamChange, DreamOperation, DreamPlan, format, parse};
use crate::{
    base::{
        error::{Error, Result},
        limits,
        path::MemoryPath,
        text,
    },
    operations::{context::Context, write},
    secrets,
    store::{
        Access, EntrypointMode, Source, View,
        mounts::{self, FileKind},
    },
};
use std::collections::{HashMap, HashSet};

/// The percentage of memories, and of their bytes, that a plan may touch unless the caller allows more.
pub(super) const LIMIT_PERCENT: u64 = 25;
/// A plan with so few operations is applied whatever its share of a small memory, unless they change more memories than this.
const ALWAYS_ALLOWED: usize = 5;
const ALWAYS_ALLOWED_MEMORIES: usize = 2 * ALWAYS_ALLOWED;

/// Checks one operation: names, shape, sizes and secrets. Versions are compared when the plan is applied. Returns its bytes in the file of
/// a plan, without its diff.
pub(super) fn check(view: &dyn View, context: &Context, operation: &DreamOperation) -> Result<usize> {
    check_shape(operation)?;
    let mut old = String::new();
    for path in operation.changes.iter().map(DreamChange::path).chain(operation.sources.iter().map(|(path, _)| path)) {
        if let Some(stored) = view.get(path)?.filter(|stored| stored.path == *path) {
            old.push_str(&text::decode(&stored.bytes).0);
            old.push('\n');
        }
    }
    for change in &operation.changes {
        check_place(view, change.path())?;
        match change {
            DreamChange::Write { path, text, .. } => check_text(view, context, path, &old, text)?,
            DreamChange::New { path, text } => {
                write::check_name(context, path)?;
                check_text(view, context, path, &old, text)?;
            }
            DreamChange::Move { path, to, .. } => check_target(view, context, operation.action, path, to)?,
            DreamChange::Relink { .. } | DreamChange::List { .. } | DreamChange::Page { .. } => {}
        }
    }
    check_readable(operation)
}

/// Refuses an operation that would be read from a plan's file as something else, such as one on a name that begins with a blank.
fn check_readable(operation: &DreamOperation) -> Result<usize> {
    let mut written = DreamOperation { diff: String::new(), ..operation.clone() };
    for change in &mut written.changes {
        // A block ends with a line ending.
        if let DreamChange::Write { text, .. } | DreamChange::New { text, .. } = change
            && !text.ends_with('\n')
        {
            text.push('\n');
        }
    }
    let plan = DreamPlan { operations: vec![written], ..DreamPlan::empty() };
    let (text, written) = (format::render(&plan), &plan.operations[0]);
    match parse(&text)?.operations.as_slice() {
        [read] if read.action == written.action && read.sources == written.sources && read.changes == written.changes => Ok(text.len()),
        _ => Err(Error::bad_input("operation", "it has a name that cannot be written in a plan; rename the memory first")),
    }
}

/// Checks a plan as a whole: its size, files that occur twice, and every operation. An error names the operation.
pub(super) fn check_plan(view: &dyn View, context: &Context, plan: &DreamPlan) -> Result<()> {
    let count = plan.operations.len();
    if count > limits::DREAM_OPERATIONS {
        return Err(Error::bad_input("plan", format!("it has {count} operations; the limit is {}", limits::DREAM_OPERATIONS)));
    }
    let mut owners: HashMap<&MemoryPath, usize> = HashMap::new();
    for (number, operation) in (1..).zip(&plan.operations) {
        for path in operation.files() {
            if let Some(other) = owners.insert(path, number) {
                let how = if other == number { "changed twice".to_owned() } else { format!("also changed in operation {other}") };
                return Err(in_operation(number, operation, format!("{path} is {how}")));
            }
        }
        check(view, context, operation).map_err(|error| in_operation(number, operation, reason(&error)))?;
    }
    check_case(view, plan)
}

/// Refuses new names that differ from existing ones only in case: on some systems they are one file.
fn check_case(view: &dyn View, plan: &DreamPlan) -> Result<()> {
    let new = |change: &'_ DreamChange| match change {
        DreamChange::New { path, .. } => Some(path.clone()),
        DreamChange::Move { path, to, .. } if to.as_str().to_lowercase() != path.as_str().to_lowercase() => Some(to.clone()),
        _ => None,
    };
    let named: Vec<(usize, MemoryPath)> = (1..)
        .zip(&plan.operations)
        .flat_map(|(number, operation)| operation.changes.iter().filter_map(new).map(move |path| (number, path)))
        .collect();
    if named.is_empty() {
        return Ok(());
    }
    let existing: HashMap<String, MemoryPath> =
        view.list("")?.entries.into_iter().map(|entry| (entry.path.as_str().to_lowercase(), entry.path)).collect();
    match named.into_iter().find_map(|(number, path)| {
        let other = existing.get(&path.as_str().to_lowercase()).filter(|other| **other != path)?;
        Some((number, path, other))
    }) {
        None => Ok(()),
        Some((number, path, other)) => {
            let why = format!("the name {path} differs from {other} only in case; use another name");
            Err(in_operation(number, &plan.operations[number - 1], why))
        }
    }
}

/// Refuses a plan that touches too large a part of the memory.
pub(super) fn check_share(view: &dyn View, plan: &DreamPlan, percent: u64) -> Result<()> {
    let is_changed = |change: &&DreamChange| matches!(change, DreamChange::Write { .. } | DreamChange::Move { .. });
    let changed = plan.operations.iter().flat_map(|operation| &operation.changes).filter(is_changed).count();
    if plan.operations.len() <= ALWAYS_ALLOWED && changed <= ALWAYS_ALLOWED_MEMORIES {
        return Ok(());
    }
    let touched: HashSet<&MemoryPath> = plan
        .operations
        .iter()
        .flat_map(|operation| &operation.changes)
        .filter(|change| change.version().is_some() && change.is_of_memory())
        .map(DreamChange::path)
        .collect();
    let (mut all, mut all_bytes, mut count, mut bytes) = (0u64, 0u64, 0u64, 0u64);
    for entry in view.list("")?.entries {
        if is_tidied(view, &entry.path) && mounts::file_kind(view, &entry.path) == FileKind::Memory {
            let is_touched = touched.contains(&entry.path);
            (all, all_bytes) = (all + 1, all_bytes + entry.stamp.size);
            (count, bytes) = (count + u64::from(is_touched), bytes + if is_touched { entry.stamp.size } else { 0 });
        }
    }
    let (memories, share) = (count * 100, bytes * 100);
    if memories <= percent * all && share <= percent * all_bytes {
        return Ok(());
    }
    let (of_memories, of_bytes) = (memories.div_ceil(all.max(1)), share.div_ceil(all_bytes.max(1)));
    let (needed, what) = if of_memories >= of_bytes { (of_memories, "memories") } else { (of_bytes, "bytes") };
    Err(Error::bad_input(
        "plan",
        format!(
            "it changes {count} of {all} memories ({needed}% of the {what}), over the limit of {percent}%; remove operations, or raise the limit (on the command line: --limit {needed})"
        ),
    ))
}

/// The reason of an error, without the word for the operation that is named before it.
fn reason(error: &Error) -> String {
    match error {
        Error::BadInput { what, why } if what == "operation" => why.clone(),
        other => other.command_message(),
    }
}

fn in_operation(number: usize, operation: &DreamOperation, why: String) -> Error {
    let title = operation.title();
    Error::bad_input("plan", format!("operation {number} ({}): {why}; nothing was changed", secrets::redact(&title)))
}

/// Whether a mount is one that dreams tidy.
pub(super) fn is_tidied(view: &dyn View, path: &MemoryPath) -> bool {
    mounts::mount_of(view, path).is_some_and(|mount| {
        mount.access == Access::ReadWrite && mount.source == Source::Memory && mount.entrypoint == EntrypointMode::Kept
    })
}

fn check_shape(operation: &DreamOperation) -> Result<()> {
    let count = |is_kind: fn(&DreamChange) -> bool| operation.changes.iter().filter(|change| is_kind(change)).count();
    let writes = count(|change| matches!(change, DreamChange::Write { .. }));
    let new = count(|change| matches!(change, DreamChange::New { .. }));
    let moves = count(|change| matches!(change, DreamChange::Move { .. }));
    let lists = count(|change| matches!(change, DreamChange::List { .. }));
    let relinks = count(|change| matches!(change, DreamChange::Relink { .. }));
    let pages = count(|change| matches!(change, DreamChange::Page { .. }));
    let fits = match operation.action {
        DreamAction::Create => new >= 1 && writes + moves + lists + relinks == 0,
        DreamAction::Update => writes + lists == 1 && moves + relinks + pages == 0,
        DreamAction::Merge => writes == 1 && moves >= 1 && new + lists + pages == 0,
        DreamAction::Move if pages > 0 => moves + relinks + writes + new + lists == 0,
        DreamAction::Move => moves == 1 && writes + new + lists == 0,
        DreamAction::Archive => moves >= 1 && writes + new + lists + pages == 0,
    };
    let expected = match operation.action {
        DreamAction::Create => "one or more `new` lines, and a `page` line for each entrypoint line that they replace",
        DreamAction::Update => "one `write` or `list` line, and a `new` line for each part that is split off",
        DreamAction::Merge => "one `write` line, and a `move` line to the archive for every other memory",
        DreamAction::Move => "one `move` line, or one or more `page` lines",
        DreamAction::Archive => "one or more `move` lines to the archive",
    };
    if fits { Ok(()) } else { Err(Error::bad_input("operation", format!("expected {expected}"))) }
}

/// The file is a memory in a mount that dreams tidy, and may be written.
fn check_place(view: &dyn View, path: &MemoryPath) -> Result<()> {
    if !is_tidied(view, path) {
        return Err(Error::bad_path(path.as_str(), "it is not in a writable mount with an entrypoint"));
    }
    let what = match mounts::file_kind(view, path) {
        FileKind::Memory if mounts::would_be_entrypoint(view, path) => "it would become the entrypoint",
        FileKind::Memory if !path.is_md() => "it is not a Markdown file",
        FileKind::Memory => return view.check_writable(path),
        FileKind::Log => "it is a log, and a dream plan cannot change logs",
        FileKind::Archived => "it is under archive/, where plans cannot change or create files; use a name outside archive/",
        FileKind::Entrypoint | FileKind::Page => "it is the entrypoint or one of its pages, which memdir maintains",
        FileKind::Tests => "it contains memory tests, not a memory",
    };
    Err(Error::bad_path(path.as_str(), what))
}

fn check_target(view: &dyn View, context: &Context, action: DreamAction, from: &MemoryPath, to: &MemoryPath) -> Result<()> {
    let prefix = |path| mounts::mount_of(view, path).map(|mount| mount.prefix.clone());
    if prefix(from) != prefix(to) {
        return Err(Error::bad_path(to.as_str(), format!("it is not in the same mount as {from}")));
    }
    if action == DreamAction::Move {
        check_place(view, to)?;
        return write::check_new_name(context, from, to);
    }
    match mounts::file_kind(view, to) {
        FileKind::Archived if to.is_md() => view.check_writable(to),
        _ => Err(Error::bad_path(to.as_str(), "it is not a Markdown file under archive/")),
    }
}

fn check_text(view: &dyn View, context: &Context, path: &MemoryPath, old: &str, new: &str) -> Result<()> {
    if new.trim().is_empty() {
        return Err(Error::bad_input(format!("text of {path}"), "it is empty; to remove a memory, archive it"));
    }
    if new.contains('\0') {
        return Err(Error::bad_input(format!("text of {path}"), "it contains a NUL character"));
    }
    let limit = mounts::mount_of(view, path).map_or(limits::MEMORY_BYTES, |mount| mount.file_bytes);
    if new.len() > limit {
        return Err(Error::TooLarge { what: path.name().to_owned(), size: new.len() as u64, limit: limit as u64 });
    }
    write::check_secrets(context, Some(old.as_bytes()), new.as_bytes()).map(drop)
}
