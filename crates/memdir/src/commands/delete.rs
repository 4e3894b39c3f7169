//! `memdir delete`: a memory goes; the journal keeps it.

use super::{expected, name};
use crate::{
    args::Delete as Typed,
    exit::Failure,
    output::{Answer, Page},
};
use memdir_core::{
    memdir::Memdir,
    operations::delete::{Delete, Deleted},
};
use std::io;

pub(crate) fn run(args: &Typed, memdir: &Memdir) -> Result<Answer, Failure> {
    let path = name(&args.name)?;
    let expect = expected(memdir, &path, args.if_version.as_deref())?;
    Ok(Answer::new(memdir.delete(&Delete { path, expect })?, show))
}

fn show(deleted: &Deleted, page: &mut Page<'_>) -> io::Result<()> {
    let name = page.strong(&deleted.name);
    let rest = page.dim(&format!("memdir undo {} brings it back", deleted.change));
    page.line(format!("Deleted {name} · {rest}"))?;
    deleted.notes.iter().for_each(|note| page.note(note));
    Ok(())
}
