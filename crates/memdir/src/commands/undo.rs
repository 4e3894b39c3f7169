//! `memdir undo` and `memdir redo`: a change is taken back, or made again.

use crate::{
    args,
    config::Settings,
    exit::Failure,
    output::{Answer, Page},
    scope::Scope,
    wire,
};
use memdir_core::{
    memdir::Memdir,
    operations::{
        history,
        undo::{Undone, Which, describe},
    },
    store::{ChangeFilter, ChangeId, Verb, files::real_path},
};
use std::io;

/// Changes looked back on for the newest one.
const LOOK_BACK: usize = 1_000;

pub(crate) fn undo(args: &args::Undo, memdir: &Memdir) -> Result<Answer, Failure> {
    Ok(Answer::new(memdir.undo(&which(args.id.as_deref()))?, show_undone))
}

/// The space with the other projects that a change touched: what moved a memory from one to another is taken back in both.
/// Nothing if the change touched only what is open.
pub(crate) fn wider(
    id: Option<&str>,
    redo: bool,
    memdir: &Memdir,
    settings: &Settings,
    scope: &Scope,
) -> Result<Option<(Memdir, String)>, Failure> {
    if !settings.only.is_empty() {
        return Ok(None);
    }
    let filter = ChangeFilter { id: id.map(str::to_owned), most: LOOK_BACK, ..ChangeFilter::default() };
    let all = history::history(memdir.store(), &filter)?;
    let taken_back: Vec<&ChangeId> = all.iter().filter_map(|change| change.undoes.as_ref()).collect();
    // As undo itself picks: the newest that still stands, and for redo the newest undo.
    let picked = match (id, redo) {
        (Some(_), _) => all.first(),
        (None, false) => all.iter().find(|change| change.verb != Verb::Undo && !taken_back.contains(&&change.id)),
        (None, true) => all.iter().find(|change| change.verb == Verb::Undo && !taken_back.contains(&&change.id)),
    };
    let Some(change) = picked.filter(|change| !change.elsewhere.is_empty()) else { return Ok(None) };
    let projects = real_path(&settings.home.value).join("projects");
    let mut mounts = scope.plain_mounts();
    for dir in &change.elsewhere {
        // Only memories of this home: a journal must not lead anywhere else.
        let Some(name) = dir.strip_prefix(&projects).ok().and_then(|name| name.to_str()).filter(|name| !name.contains('/')) else {
            return Ok(None);
        };
        mounts.push(settings.places().mount(&format!("projects/{name}"), dir));
    }
    Ok(Some((wire::open_mounts(settings, &mounts, &settings.actor.value)?, change.id.0.clone())))
}

pub(crate) fn redo(args: &args::Redo, memdir: &Memdir) -> Result<Answer, Failure> {
    let mut redone = memdir.redo(&which(args.id.as_deref()))?;
    // What was made again is the change behind the undo that was taken back.
    if let Some(original) = &redone.undone.undoes {
        redone.undone = history::change(memdir.store(), &original.0)?;
    }
    Ok(Answer::new(redone, show_redone))
}

fn which(id: Option<&str>) -> Which {
    id.map_or(Which::Last, |id| Which::Id(id.to_owned()))
}

fn show_undone(undone: &Undone, page: &mut Page<'_>) -> io::Result<()> {
    show(undone, "Took back", &format!("memdir redo {} makes it again", undone.undone.id), page)
}

fn show_redone(undone: &Undone, page: &mut Page<'_>) -> io::Result<()> {
    show(undone, "Made again", &format!("change {}", undone.change.id), page)
}

fn show(undone: &Undone, did: &str, then: &str, page: &mut Page<'_>) -> io::Result<()> {
    let what = page.strong(&describe(&undone.undone));
    let then = page.dim(then);
    page.line(format!("{did} change {} by {}: {what} · {then}", undone.undone.id, undone.undone.actor.name))?;
    undone.notes.iter().for_each(|note| page.note(note));
    Ok(())
}
