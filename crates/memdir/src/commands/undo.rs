//! `memdir undo` and `memdir redo`.

use super::OpenSpace;
use crate::{
    args,
    exit::Failure,
    output::{CommandOutput, Printer},
    spaces,
};
use memdir_core::{
    ChangeFilter, ChangeId, Memdir, UndoTarget, Undone, Verb,
    internal::{
        operations::{history, undo::describe_infinitive},
        store::files::real_path,
    },
};
use std::io;

/// Maximum number of changes that are searched for the newest one that can be undone.
const LOOK_BACK: usize = 1_000;

pub(super) fn undo(args: &args::Undo, space: &OpenSpace<'_>) -> Result<CommandOutput, Failure> {
    let undone = match with_other_projects(args.id.as_deref(), false, space)? {
        Some((memdir, id)) => memdir.undo(&UndoTarget::Id(id))?,
        None => space.memdir.undo(&which(args.id.as_deref()))?,
    };
    Ok(CommandOutput::new(undone, show_undone))
}

pub(super) fn redo(args: &args::Redo, space: &OpenSpace<'_>) -> Result<CommandOutput, Failure> {
    let redone = match with_other_projects(args.id.as_deref(), true, space)? {
        Some((memdir, id)) => redo_in(&memdir, &UndoTarget::Id(id))?,
        None => redo_in(space.memdir, &which(args.id.as_deref()))?,
    };
    Ok(CommandOutput::new(redone, show_redone))
}

/// Opens the other projects of a change together with this space, and returns its id: a move from one project to another is
/// undone in both. `None` if the change belongs to this space only.
fn with_other_projects(id: Option<&str>, redo: bool, space: &OpenSpace<'_>) -> Result<Option<(Memdir, String)>, Failure> {
    let Some((settings, scope)) = space.origin.filter(|(settings, _)| settings.only.is_empty()) else { return Ok(None) };
    let filter = ChangeFilter { id: id.map(str::to_owned), most: LOOK_BACK, ..ChangeFilter::default() };
    let all = history::history(space.memdir.store(), &filter)?;
    let undone: Vec<&ChangeId> = all.iter().filter_map(|change| change.undoes.as_ref()).collect();
    // The same choice as the library's: the newest change that is not undone, and for redo the newest undo.
    let picked = match (id, redo) {
        (Some(_), _) => all.first(),
        (None, false) => all.iter().find(|change| change.verb != Verb::Undo && !undone.contains(&&change.id)),
        (None, true) => all.iter().find(|change| change.verb == Verb::Undo && !undone.contains(&&change.id)),
    };
    let Some(change) = picked.filter(|change| !change.elsewhere.is_empty()) else { return Ok(None) };
    let projects = real_path(&settings.home.value).join("projects");
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

fn which(id: Option<&str>) -> UndoTarget {
    id.map_or(UndoTarget::Last, |id| UndoTarget::Id(id.to_owned()))
}

fn show_undone(undone: &Undone, printer: &mut Printer<'_>) -> io::Result<()> {
    show(undone, "undid", &format!("redo: memdir redo {}", undone.undone.id), printer)
}

fn show_redone(redone: &Undone, printer: &mut Printer<'_>) -> io::Result<()> {
    show(redone, "redid", &format!("change {}", redone.change.id), printer)
}

fn show(undone: &Undone, verb: &str, rest: &str, printer: &mut Printer<'_>) -> io::Result<()> {
    let what = printer.strong(&describe_infinitive(&undone.undone));
    let rest = printer.dim(&format!("({rest})"));
    let (actor, caller) = (&undone.undone.actor.name, &undone.change.actor.name);
    let by = if actor == caller { String::new() } else { format!(", by {actor}") };
    printer.line(format!("{verb} {}: {what}{by} {rest}", undone.undone.id))?;
    undone.notes.iter().for_each(|note| printer.note(note));
    Ok(())
}
