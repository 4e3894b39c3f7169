//! `memdir restore`: restores an earlier version of a memory.

use super::name;
use crate::{
    args::RestoreArgs,
    exit::Failure,
    output::{CommandOutput, Printer},
};
use memdir_core::{Memdir, Saved};
use std::io;

pub(crate) fn run(args: &RestoreArgs, memdir: &Memdir) -> Result<CommandOutput, Failure> {
    Ok(CommandOutput::new(memdir.restore(&name(&args.name)?, &args.version)?, show))
}

fn show(saved: &Saved, printer: &mut Printer<'_>) -> io::Result<()> {
    super::write::show_saved(saved, "restored", None, printer)
}
