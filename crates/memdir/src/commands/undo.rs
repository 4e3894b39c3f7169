//! `memdir undo` and `memdir redo`.

use super::OpenSpace;
use crate::{
    args,
    exit::Failure,
    output::{CommandOutput, Printer},
    spaces,
};
use memdir_core::{
    Memdir, UndoTarget, Undone, Verb,
    internal::{
        base::time,
        operations::{
            history,
            undo::{changes_in_effect, describe_infinitive, newest},
        },
        store::{mount::real_path, space::Places},
    },
};
use serde::Serialize;
use std::io;

/// An undone or redone change, with its age.
#[derive(Serialize)]
struct Dated {
    #[serde(flatten)]
    undone: Undone,
    #[serde(skip)]
    age: String,
}

fn dated(undone: Undone, memdir: &Memdir) -> Dated {
    let age = time::relative(memdir.context().clock.now(), undone.undone.at);
    Dated { undone, age }
}

pub(super) fn undo(args: &args::UndoArgs, space: &OpenSpace<'_>) -> Result<CommandOutput, Failure> {
    let undone = match with_other_projects(args.id.as_deref(), false, space)? {
        Some((memdir, id)) => memdir.undo(&UndoTarget::Id(id))?,
        None => space.memdir.undo(&undo_target(args.id.as_deref()))?,
    };
    Ok(CommandOutput::new(dated(undone, space.memdir), show_undone))
}

pub(super) fn redo(args: &args::RedoArgs, space: &OpenSpace<'_>) -> Result<CommandOutput, Failure> {
    let redone = match with_other_projects(args.id.as_deref(), true, space)? {
        Some((memdir, id)) => redo_in(&memdir, &UndoTarget::Id(id))?,
        None => redo_in(space.memdir, &undo_target(args.id.as_deref()))?,
    };
    Ok(CommandOutput::new(dated(redone, space.memdir), show_redone))
}

/// Opens the other projects of a change together with this space, and returns its id: a move from one project to another is
/// undone in both. `None` if the change belongs to this space only.
fn with_other_projects(id: Option<&str>, redo: bool, space: &OpenSpace<'_>) -> Result<Option<(Memdir, String)>, Failure> {
    let Some((settings, scope)) = space.origin.filter(|(settings, _)| settings.only.is_empty()) else { return Ok(None) };
    let store = space.memdir.store();
    // The same choice as the library's: the newest change that is not undone, and for redo the newest undo.
    let picked = match id {
        // The library reports an id that is unknown or ambiguous.
        Some(id) => history::find_change(store, id).ok(),
        None => {
            if !redo {
                store.record_outside_changes(space.memdir.context().clock.now(), true)?;
            }
            let mut changes = changes_in_effect(store)?;
            changes.retain(|change| (change.verb == Verb::Undo) == redo);
            newest(&changes).cloned()
        }
    };
    let Some(change) = picked.filter(|change| !change.elsewhere.is_empty()) else { return Ok(None) };
    let projects = Places::new(real_path(&settings.home.value)).projects();
    let mut mounts = scope.mounts_only();
    for dir in &change.elsewhere {
        // Only projects of this home are opened: a journal must not lead anywhere else.
        let Some(name) = dir.strip_prefix(&projects).ok().and_then(|name| name.to_str()).filter(|name| !name.contains('/')) else {
            return Ok(None);
        };
        mounts.push(settings.places().mount(&format!("projects/{name}"), dir));
    }
    Ok(Some((spaces::open_mounts(settings, &mounts, &settings.actor.value)?, change.id.0.clone())))
}

fn redo_in(memdir: &Memdir, which: &UndoTarget) -> Result<Undone, Failure> {
    let mut redone = memdir.redo(which)?;
    // Shows the original change instead of its undo.
    if let Some(original) = &redone.undone.undoes {
        redone.undone = history::find_change(memdir.store(), &original.0)?;
    }
    Ok(redone)
}

fn undo_target(id: Option<&str>) -> UndoTarget {
    id.map_or(UndoTarget::Last, |id| UndoTarget::Id(id.to_owned()))
}

fn show_undone(undone: &Dated, printer: &mut Printer<'_>) -> io::Result<()> {
    show(undone, "undid", &format!("redo: memdir redo {}", undone.undone.undone.id), printer)
}

fn show_redone(redone: &Dated, printer: &mut Printer<'_>) -> io::Result<()> {
    show(redone, "redid", &format!("change {}", redone.undone.change.id), printer)
}

fn show(Dated { undone, age }: &Dated, verb: &str, rest: &str, printer: &mut Printer<'_>) -> io::Result<()> {
    let what = printer.strong(&describe_infinitive(&undone.undone));
    let rest = printer.dim(&format!("({rest})"));
    // Always says whose change it was and when: another process may have the same actor.
    let (id, actor) = (&undone.undone.id, &undone.undone.actor.name);
    printer.line(format!("{verb} {id}: {what}, by {actor}, {age} {rest}"))?;
    undone.notes.iter().for_each(|note| printer.note(note));
    Ok(())
}
