//! `memdir delete`: deletes a memory; the journal keeps its text.

use super::{expected, name};
use crate::{
    args::Delete as Typed,
    exit::Failure,
    output::{CommandOutput, Printer},
};
use memdir_core::{Delete, Deleted, Memdir};
use std::io;

pub(crate) fn run(args: &Typed, memdir: &Memdir) -> Result<CommandOutput, Failure> {
    let path = name(&args.name)?;
    let expect = expected(memdir, &path, args.if_version.as_deref())?;
    Ok(CommandOutput::new(memdir.delete(&Delete { path, expect })?, show))
}

fn show(deleted: &Deleted, printer: &mut Printer<'_>) -> io::Result<()> {
    let name = printer.strong(&deleted.name);
    let rest = printer.dim(&format!("(undo: memdir undo {})", deleted.change));
    printer.line(format!("deleted {name} {rest}"))?;
    deleted.notes.iter().for_each(|note| printer.note(note));
    Ok(())
}
