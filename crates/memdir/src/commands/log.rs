//! `memdir log`: appends an entry to today's log.

use crate::{
    args::Log as Typed,
    exit::Failure,
    output::{CommandOutput, Printer},
};
use memdir_core::{Memdir, Saved, internal::prompt};
use std::io;

pub(crate) fn run(args: &Typed, memdir: &Memdir) -> Result<CommandOutput, Failure> {
    let prefix = match args.prefix.trim_end_matches('/') {
        "" => prompt::log_prefix(memdir.store(), memdir.context()),
        named => named,
    };
    let saved = memdir.log(prefix, &args.text.join(" "))?;
    Ok(CommandOutput::new(saved, show))
}

fn show(saved: &Saved, printer: &mut Printer<'_>) -> io::Result<()> {
    let path = printer.strong(&saved.name);
    printer.line(format!("logged to {path}"))?;
    saved.notes.iter().for_each(|note| printer.note(note));
    Ok(())
}
