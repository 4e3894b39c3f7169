//! `memdir log`: appends an entry to today's log, or shows how far the logs were distilled.

use super::OpenSpace;
use crate::{
    args::LogArgs,
    dreams,
    exit::Failure,
    output::{CommandOutput, Printer},
};
use memdir_core::{Clock as _, DreamSummary, Error, ReadOnlyCause, Saved, SystemClock, internal::prompt};
use std::io;

pub(crate) fn run(args: &LogArgs, space: &OpenSpace<'_>) -> Result<CommandOutput, Failure> {
    let memdir = space.memdir;
    if let (true, Some((settings, _))) = (args.status, space.origin) {
        let summary =
            dreams::summary(&dreams::shelf_of(settings, memdir.store()), &settings.config.dream, memdir.store(), SystemClock.now());
        return Ok(CommandOutput::new(summary, show_status));
    }
    let prefix = match args.prefix.trim_end_matches('/') {
        "" => prompt::log_prefix(memdir.store(), memdir.context()),
        named => named,
    };
    let saved = memdir.log(prefix, &args.text.join(" ")).map_err(log_failure)?;
    Ok(CommandOutput::new(saved, show))
}

/// The name of a log follows from the day, so the hint for a log outside of `--only` suggests no other name.
fn log_failure(error: Error) -> Failure {
    let hint = match &error {
        Error::ReadOnly { cause: ReadOnlyCause::NotSelected, .. } => {
            Some("the part that --only selects does not include the log; change --only, or omit it")
        }
        _ => None,
    };
    Failure::Core { error, hint }
}

fn show(saved: &Saved, printer: &mut Printer<'_>) -> io::Result<()> {
    let path = printer.strong(&saved.name);
    printer.line(format!("logged to {path}"))?;
    saved.notes.iter().for_each(|note| printer.note(note));
    Ok(())
}

fn show_status(summary: &DreamSummary, printer: &mut Printer<'_>) -> io::Result<()> {
    summary.lines(SystemClock.now()).iter().try_for_each(|line| printer.line(line))?;
    printer.note("plan memories from past days' logs with: memdir dream --logs, then apply the plan with: memdir dream --apply latest");
    Ok(())
}
