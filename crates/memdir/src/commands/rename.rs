//! `memdir rename`: renames a memory and updates the references to it.

use super::name;
use crate::{
    args::Rename as Typed,
    exit::Failure,
    output::{CommandOutput, Printer},
};
use memdir_core::{Error, Memdir, Renamed};
use std::io;

pub(crate) fn run(args: &Typed, memdir: &Memdir) -> Result<CommandOutput, Failure> {
    let renamed = memdir.rename(&name(&args.from)?, &name(&args.to)?);
    Ok(CommandOutput::new(renamed.map_err(with_hint)?, show))
}

/// The hint for a taken name: unlike `write`, this command has no flags that replace or append.
fn with_hint(error: Error) -> Failure {
    let hint = matches!(error, Error::Exists { .. }).then_some("use another name");
    Failure::Core { error, hint }
}

fn show(renamed: &Renamed, printer: &mut Printer<'_>) -> io::Result<()> {
    let (from, to) = (printer.strong(renamed.from.name()), printer.strong(renamed.to.name()));
    let change = printer.dim(&format!("(change {})", renamed.change));
    printer.line(format!("renamed {from} to {to} {change}"))?;
    if !renamed.rewritten.is_empty() {
        printer.line(format!("updated references in {}", renamed.rewritten.join(", ")))?;
    }
    if !renamed.skipped.is_empty() {
        printer.note(format!("references in read-only memories were not updated: {}", renamed.skipped.join(", ")));
    }
    renamed.notes.iter().for_each(|note| printer.note(note));
    Ok(())
}
