//! `memdir diff`: the differences between two versions of a memory.

use super::name;
use crate::{
    args::DiffArgs,
    exit::Failure,
    output::{CommandOutput, Printer},
};
use memdir_core::{Diff, Memdir, VersionDiff};
use std::io;

pub(crate) fn run(args: &DiffArgs, memdir: &Memdir) -> Result<CommandOutput, Failure> {
    let request = Diff { path: name(&args.name)?, from: args.from.clone(), to: args.to.clone() };
    Ok(CommandOutput::new(memdir.diff(&request)?, show))
}

fn show(difference: &VersionDiff, printer: &mut Printer<'_>) -> io::Result<()> {
    if !printer.options.terminal {
        printer.content(&difference.diff)?;
    } else {
        for line in difference.diff.lines() {
            let styled = match line.as_bytes().first() {
                Some(b'+') => printer.green(line),
                Some(b'-') => printer.red(line),
                Some(b'@') => printer.dim(line),
                _ => line.to_owned(),
            };
            printer.line(styled)?;
        }
    }
    if difference.diff.is_empty() {
        printer.note("no differences");
    }
    Ok(())
}
