//! Undoes and redoes changes. Both are changes themselves. Undo fails with a diff if a memory was changed since; only the undo of a dream
//! leaves such memories as they are and names them. A change of another
//! actor is only undone if the caller gives its id; a change made outside memdir is also undone if it is the newest of all.

use crate::{
    base::{
        error::{Error, Result},
        path::{MemoryPath, strip_md},
        text,
    },
    entrypoint::upkeep,
    operations::{
        close_proposal::{WithdrawnProposal, withdraw_newest, withdrawn_for_key},
        context::Context,
        diff, history,
    },
    store::{Change, ChangeFilter, ChangeId, FileChange, FileEdit, Intent, Role, Store, Verb, View, change_with, mounts},
};
use serde::Serialize;
use std::{
    collections::{HashMap, HashSet},
    iter,
};

/// The change to undo or redo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndoTarget {
    /// The newest change of this actor and session.
    Mine,
    /// The newest change of all, including one made outside memdir. The undo fails with an error that names the change if another actor made it.
    Last,
    /// The change whose id starts with this text, by any actor.
    Id(String),
    /// The change with exactly this id, if this actor made it, in any session.
    Own(String),
}

/// An undone or redone change.
#[derive(Debug, Clone, Serialize)]
pub struct Undone {
    /// The change that was undone; for a redo, the undo that was reversed.
    pub undone: Change,
    /// The change that did it, which can be undone in turn.
    pub change: Change,
    /// Notes for the caller.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Whether an earlier request with the same idempotency key did it, by withdrawing a proposal.
    #[serde(skip)]
    pub is_repeated: bool,
}

/// Maximum number of changes that are searched for the newest match.
const LOOK_BACK: usize = 1_000;

/// Undoes a change.
pub fn undo(store: &dyn Store, context: &Context, which: &UndoTarget) -> Result<Undone> {
    if let Some(withdrawn) = withdrawn_for_key(store, context)? {
        return Ok(withdrawn_change(withdrawn));
    }
    let undone = undo_once(store, context, which);
    // A concurrent request with the same key may have withdrawn a proposal meanwhile.
    if matches!(undone, Err(Error::Repeated { .. }))
        && let Some(withdrawn) = withdrawn_for_key(store, context)?
    {
        return Ok(withdrawn_change(withdrawn));
    }
    undone
}

fn undo_once(store: &dyn Store, context: &Context, which: &UndoTarget) -> Result<Undone> {
    if *which == UndoTarget::Last {
        store.record_outside_changes(context.clock.now(), true)?;
    }
    let change = pick(store, context, which, &|change| change.verb != Verb::Undo, "undo");
    // What the caller did last may wait for review: then it is withdrawn, instead of undoing an older change.
    let withdrawn = match which {
        UndoTarget::Mine => withdraw_newest(store, context, None, change.as_ref().ok())?,
        UndoTarget::Id(id) | UndoTarget::Own(id) if change.is_err() => withdraw_newest(store, context, Some(id), None)?,
        _ => None,
    };
    match withdrawn {
        Some(withdrawn) => Ok(withdrawn_change(withdrawn)),
        None => reverse(store, context, change?, Verb::Undo),
    }
}

/// The outcome of an undo that withdrew a proposal: no file was changed.
fn withdrawn_change(WithdrawnProposal { proposal, is_repeated }: WithdrawnProposal) -> Undone {
    let undone = proposal.to_change();
    let at = proposal.decision.as_ref().map_or(proposal.at, |decision| decision.at);
    let change = Change { verb: Verb::Undo, at, undoes: Some(undone.id.clone()), files: Vec::new(), ..undone.clone() };
    let notes = vec![format!("withdrew proposal {}, which had not been accepted; no memory was changed", proposal.id)];
    Undone { undone, change, notes, is_repeated }
}

/// Redoes a change that was undone.
pub fn redo(store: &dyn Store, context: &Context, which: &UndoTarget) -> Result<Undone> {
    let change = match which {
        UndoTarget::Id(id) => undo_of(store, id)?,
        UndoTarget::Own(id) => {
            let undo = undo_of(store, id)?;
            check_own(context, &history::find_change(store, id)?, id)?;
            undo
        }
        _ => pick(store, context, which, &|change| change.verb == Verb::Undo, "redo")?,
    };
    reverse(store, context, change, Verb::Redo)
}

fn pick(store: &dyn Store, context: &Context, which: &UndoTarget, fits: &dyn Fn(&Change) -> bool, doing: &str) -> Result<Change> {
    if let UndoTarget::Id(id) | UndoTarget::Own(id) = which {
        let change = history::find_change(store, id)?;
        if matches!(which, UndoTarget::Own(_)) {
            check_own(context, &change, id)?;
        }
        return if undone_changes(&recent_changes(store)?).contains(&change.id) {
            Err(Error::AlreadyUndone { change: change.id.to_string() })
        } else {
            Ok(change)
        };
    }
    let fitting: Vec<Change> = changes_in_effect(store)?.into_iter().filter(|change| fits(change)).collect();
    let mine = |change: &Change| change.actor == context.actor && change.verb != Verb::Found;
    // A redo looks only at undos.
    let (kind, it) = if doing == "redo" { ("undo", "the undone change") } else { ("change", "it") };
    let newest = match which {
        UndoTarget::Last => newest(&fitting),
        _ => fitting.iter().find(|change| mine(change)),
    };
    match newest {
        None if matches!(which, UndoTarget::Last) => Err(Error::no_change(format!("no changes to {doing}"))),
        None => Err(Error::no_change(format!("you have no changes to {doing}"))),
        // A newer change may be in the damaged part of the journal, and reverting another one would be a surprise.
        Some(change) if change.after_damage => {
            let (id, what) = (&change.id, describe_here(change));
            let why = format!("a journal record is damaged, so {id} ({what}) may not be the newest {kind}; use its id to {doing} {it}");
            Err(Error::no_change(why))
        }
        Some(change) if mine(change) || (*which == UndoTarget::Last && change.verb == Verb::Found) => Ok(change.clone()),
        Some(change) => {
            let own = fitting.iter().find(|change| mine(change));
            let next = match own {
                Some(own) => format!("use its id to {doing} {it}, or {} to {doing} your newest {kind} ({})", own.id, describe_here(own)),
                None => format!("use its id to {doing} {it}"),
            };
            let what = describe_here(change);
            let (whose, id) = (&change.actor.name, &change.id);
            Err(Error::no_change(format!("the newest {kind} is by {whose}: {id} ({what}); {next}")))
        }
    }
}

/// Fails unless the actor made the change. Only the actor was given the whole id, so a prefix is not accepted.
fn check_own(context: &Context, change: &Change, id: &str) -> Result<()> {
    let is_of_another = change.verb == Verb::Found || change.actor.name != context.actor.name;
    if change.id.0 != id.to_ascii_lowercase() || is_of_another {
        return Err(Error::bad_input("change", format!("{id} is not the full id of one of your changes")));
    }
    Ok(())
}

/// Returns the newest of some changes in the order of the history, newest first. A change made outside memdir is recorded when it is
/// noticed, which may be after a later change of memdir; its time decides.
pub fn newest(changes: &[Change]) -> Option<&Change> {
    let noticed = changes.iter().take_while(|change| change.verb == Verb::Found).count();
    let candidates = &changes[..changes.len().min(noticed + 1)];
    // Of equal times the first in the history.
    candidates.iter().rev().max_by_key(|change| change.at)
}

/// Describes a change in a few words.
pub fn describe(change: &Change) -> String {
    phrase(change, change.verb.past_tense(), ["moved", "renamed"])
}

/// Describes a change without the name of another space.
fn describe_here(change: &Change) -> String {
    describe(&Change { elsewhere: Vec::new(), ..change.clone() })
}

/// Describes a change by its infinitive, as in `delete notes/deploy`.
pub fn describe_infinitive(change: &Change) -> String {
    phrase(change, change.verb.infinitive(), ["move", "rename"])
}

fn phrase(change: &Change, verb: &str, [moved, renamed]: [&str; 2]) -> String {
    let memories: Vec<&str> = change.files.iter().filter(|file| file.role == Role::Memory).map(|file| file.path.name()).collect();
    let what = text::first_names(&memories, "the entrypoint");
    let side = |gone: bool| {
        let is_on_side = |file: &&FileChange| file.role == Role::Memory && if gone { file.after.is_none() } else { file.before.is_none() };
        change.files.iter().find(is_on_side).map_or("", |file| file.path.name())
    };
    // If a memory was moved into or out of another space, only one of its names is known.
    let other = || change.elsewhere.first().and_then(|dir| dir.file_name()).map_or("elsewhere".into(), |name| name.to_string_lossy());
    let count =
        |is_counted: fn(&FileChange) -> bool| change.files.iter().filter(|file| file.role == Role::Memory && is_counted(file)).count();
    let and_more = |count: usize| if count > 1 { format!(" and {} more", count - 1) } else { String::new() };
    let gone = count(|file| file.after.is_none());
    match (change.verb, side(true), side(false)) {
        (Verb::Rename, from, "") => return format!("{moved} {from}{} to {}", and_more(gone), other()),
        (Verb::Rename, "", to) => return format!("{moved} {to}{} here from {}", and_more(count(|file| file.before.is_none())), other()),
        // The order of the files does not show which new name belongs to which old one.
        (Verb::Rename, from, _) if gone > 1 => return format!("{renamed} {from}{}", and_more(gone)),
        (Verb::Rename, from, to) => return format!("{renamed} {from} to {to}"),
        _ => {}
    }
    match change.verb {
        Verb::Found => outside_phrase(change, &what),
        _ => format!("{verb} {what}"),
    }
}

/// Describes what another program did.
fn outside_phrase(change: &Change, what: &str) -> String {
    let did = match change.files.as_slice() {
        [one, two] if one.after == two.before && one.before.is_none() && two.after.is_none() => {
            return format!("{} renamed to {} outside memdir", two.path.name(), one.path.name());
        }
        [one, two] if one.before == two.after && one.after.is_none() && two.before.is_none() => {
            return format!("{} renamed to {} outside memdir", one.path.name(), two.path.name());
        }
        files if files.iter().all(|file| file.after.is_none()) => "deleted",
        files if files.iter().all(|file| file.before.is_none()) => "created",
        _ => "changed",
    };
    format!("{what} {did} outside memdir")
}

/// Returns the newest changes, as many as are searched for one that undoes or redoes another.
pub fn recent_changes(store: &dyn Store) -> Result<Vec<Change>> {
    history::history(store, &ChangeFilter { most: LOOK_BACK, ..ChangeFilter::default() })
}

/// Returns the ids of those of the changes, newest first, that are not in effect: those that were undone, and undos that were redone. The
/// newest undo or redo of an original change, in however many steps, decides for all the others of it: what was undone by the id of the
/// original leaves no redo of it in effect.
pub fn undone_changes(changes: &[Change]) -> HashSet<ChangeId> {
    let undoes: HashMap<&ChangeId, &ChangeId> = changes.iter().filter_map(|one| Some((&one.id, one.undoes.as_ref()?))).collect();
    let mut reverted: HashMap<&ChangeId, bool> = HashMap::new();
    let mut undone = HashSet::new();
    for change in changes {
        let steps: Vec<&ChangeId> = iter::successors(Some(&change.id), |id| undoes.get(id).copied()).take(LOOK_BACK).collect();
        // After an odd number of steps the original is reverted.
        let (original, reverts) = (steps[steps.len() - 1], steps.len().is_multiple_of(2));
        let is_newest = !reverted.contains_key(original);
        let is_reverted = *reverted.entry(original).or_insert(reverts);
        if !is_newest && (is_reverted || reverts) {
            undone.insert(change.id.clone());
        }
    }
    undone
}

/// Returns the newest changes in effect, newest first: not undone, and not an undo that was redone.
pub fn changes_in_effect(store: &dyn Store) -> Result<Vec<Change>> {
    let mut changes = recent_changes(store)?;
    let undone = undone_changes(&changes);
    changes.retain(|change| !undone.contains(&change.id));
    Ok(changes)
}

fn undo_of(store: &dyn Store, id: &str) -> Result<Change> {
    let change = history::find_change(store, id)?;
    if change.verb == Verb::Undo {
        return Ok(change);
    }
    let all = changes_in_effect(store)?;
    let undo = all.into_iter().find(|other| other.verb == Verb::Undo && other.undoes.as_ref() == Some(&change.id));
    undo.ok_or_else(|| Error::no_change(format!("change {} has not been undone", change.id)))
}

fn reverse(store: &dyn Store, context: &Context, undone: Change, verb: Verb) -> Result<Undone> {
    check_whole(&undone, if verb == Verb::Undo { "undo" } else { "redo" })?;
    let intent = Intent { undoes: Some(undone.id.clone()), ..context.intent(verb) };
    let touches: Vec<_> = undone.files.iter().map(|file| file.path.clone()).collect();
    let (change, mut notes) = change_with(store, &intent, &touches, |view| {
        let (mut edits, mut notes) = (Vec::new(), Vec::new());
        let left = if undone.verb == Verb::Dream { changed_since(view, &undone)? } else { HashSet::new() };
        for file in undone.files.iter().filter(|file| file.role == Role::Memory && !left.contains(&file.path)) {
            check_unchanged_since(store, view, file)?;
            edits.push(old_bytes(store, file)?);
        }
        if edits.is_empty() && !left.is_empty() {
            return Err(Error::no_change(format!(
                "nothing to undo: all memories in change {} have been modified since it was made ({})",
                undone.id,
                sorted_names(&left)
            )));
        }
        let kept: Vec<&FileChange> = undone.files.iter().filter(|file| file.role == Role::Entrypoint).collect();
        // A change made outside memdir did not change the lines of its memories, but a later change may have.
        let is_outside = undone.verb == Verb::Found && kept.is_empty();
        let untouched = kept.iter().map(|file| Ok(version_at(view, file)? == file.after)).collect::<Result<Vec<bool>>>()?;
        if !is_outside && untouched.iter().all(|same| *same) {
            for file in kept {
                edits.push(old_bytes(store, file)?);
            }
        } else {
            // Other lines were added since and are kept; only the lines of these memories change.
            let lines = upkeep::set_lines(view, &context.entrypoint_cache, &edits)?;
            notes = lines.notes;
            edits.extend(lines.edits);
        }
        notes.extend((!left.is_empty()).then(|| left_note(&left)));
        Ok((edits, notes))
    })?;
    notes.extend(upkeep::narrowed_mount_note(store, undone.files.iter().map(|file| &file.path)));
    Ok(Undone { undone, change, notes, is_repeated: false })
}

/// The memories of a dream that were changed since, which its undo leaves as they are: a dream touches many memories, and one of them
/// must not keep the others from being restored. The archived copy of a memory that exists again stays too.
fn changed_since(view: &dyn View, undone: &Change) -> Result<HashSet<MemoryPath>> {
    let mut left = HashSet::new();
    for file in undone.files.iter().filter(|file| file.role == Role::Memory) {
        if version_at(view, file)? != file.after {
            left.insert(file.path.clone());
        }
    }
    let copies: Vec<MemoryPath> = undone
        .files
        .iter()
        .filter(|file| file.before.is_none() && is_copy_of_any(view, &file.path, &left))
        .map(|file| file.path.clone())
        .collect();
    left.extend(copies);
    Ok(left)
}

/// Whether a path is the archived copy of one of these memories, with or without a number.
fn is_copy_of_any(view: &dyn View, path: &MemoryPath, originals: &HashSet<MemoryPath>) -> bool {
    let Some((mount, rel)) = mounts::locate(view.mounts(), path.as_str()) else { return false };
    let Some(rel) = rel.strip_prefix(mounts::ARCHIVE_FOLDER).and_then(|rel| rel.strip_prefix('/')) else { return false };
    originals.iter().filter_map(|original| original.strip_prefix(&mount.prefix)).any(|original| {
        let rest = strip_md(rel).strip_prefix(original.name());
        rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('-').is_some_and(|number| number.parse::<u32>().is_ok()))
    })
}

fn left_note(left: &HashSet<MemoryPath>) -> String {
    let memories = text::counted(left.len() as u64, "memory", "memories");
    format!("skipped {memories} modified after the plan was applied: {}", sorted_names(left))
}

fn sorted_names(paths: &HashSet<MemoryPath>) -> String {
    let mut names: Vec<&str> = paths.iter().map(MemoryPath::name).collect();
    names.sort_unstable();
    names.join(", ")
}

/// Fails if a part of a change is unknown or not accessible here: undoing the rest would lose or duplicate what it moved.
fn check_whole(change: &Change, doing: &str) -> Result<()> {
    let id = &change.id;
    if !change.elsewhere.is_empty() {
        let why = format!(
            "change {id} also changed memories that are not accessible here; {doing} it by its id where all of them are accessible"
        );
        return Err(Error::no_change(why));
    }
    if change.incomplete {
        let why = format!(
            "change {id} also changed memories that are not accessible here or no longer in the journal; restore the accessible ones one by one, each to a version from its history"
        );
        return Err(Error::no_change(why));
    }
    Ok(())
}

fn version_at(view: &dyn View, file: &FileChange) -> Result<Option<crate::base::version::Version>> {
    Ok(view.get(&file.path)?.filter(|stored| stored.path == file.path).map(|stored| stored.version))
}

/// Fails with a diff if a memory was changed after the change.
fn check_unchanged_since(store: &dyn Store, view: &dyn View, file: &FileChange) -> Result<()> {
    let now = version_at(view, file)?;
    if now == file.after {
        return Ok(());
    }
    let text = |version: Option<crate::base::version::Version>| {
        version.map_or(Ok(Vec::new()), |version| diff::version_bytes(store, &file.path, version))
    };
    Err(Error::Conflict { path: file.path.clone(), diff: diff::unified(&file.path, text(file.after)?, text(now)?) })
}

fn old_bytes(store: &dyn Store, file: &FileChange) -> Result<FileEdit> {
    let bytes = match file.before {
        None => None,
        Some(version) => Some(
            store
                .text_at(&file.path, version)?
                .ok_or_else(|| Error::NotKept { what: format!("the earlier text of {}", file.path.name()) })?,
        ),
    };
    Ok(FileEdit { path: file.path.clone(), bytes, role: file.role })
}
