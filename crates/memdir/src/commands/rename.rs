//! `memdir rename`: another name for a memory, in every reference too.

use super::name;
use crate::{
    args::Rename as Typed,
    exit::Failure,
    output::{Answer, Page},
};
use memdir_core::{memdir::Memdir, operations::rename::Renamed};
use std::io;

pub(crate) fn run(args: &Typed, memdir: &Memdir) -> Result<Answer, Failure> {
    Ok(Answer::new(memdir.rename(&name(&args.from)?, &name(&args.to)?)?, show))
}

fn show(renamed: &Renamed, page: &mut Page<'_>) -> io::Result<()> {
    let (from, to) = (page.strong(renamed.from.name()), page.strong(renamed.to.name()));
    let change = page.dim(&format!("change {}", renamed.change));
    page.line(format!("Renamed {from} to {to} · {change}"))?;
    if !renamed.rewritten.is_empty() {
        page.line(format!("References rewritten in {}", renamed.rewritten.join(", ")))?;
    }
    if !renamed.skipped.is_empty() {
        page.note(format!("the old name is still in {}, which may not be changed", renamed.skipped.join(", ")));
    }
    renamed.notes.iter().for_each(|note| page.note(note));
    Ok(())
}
