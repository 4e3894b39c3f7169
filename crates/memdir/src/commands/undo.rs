//! `memdir undo` and `memdir redo`: a change is taken back, or made again.

use crate::{
    args,
    exit::Failure,
    output::{Answer, Page},
};
use memdir_core::{
    Memdir, history,
    undo::{Undone, Which, describe},
};
use std::io;

pub(crate) fn undo(args: &args::Undo, memdir: &Memdir) -> Result<Answer, Failure> {
    Ok(Answer::new(memdir.undo(&which(args.id.as_deref()))?, show_undone))
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
