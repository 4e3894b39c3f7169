//! `memdir get`: prints lines of a memory unchanged.

use super::name;
use crate::{args::GetArgs, exit::Failure, output::CommandOutput};
use memdir_core::{
    LineRange, Memdir, Problem, Read, Reading,
    internal::base::{limits, shell::quote_posix},
};

pub(crate) fn run(args: &GetArgs, memdir: &Memdir) -> Result<CommandOutput, Failure> {
    let (path, own) = split_lines(&args.path);
    let lines = args.lines.as_deref().map(str::parse).transpose()?.or(own);
    let reading = memdir.read(&Read { path: name(path)?, lines, max_chars: limits::READ_CHARS })?;
    Ok(CommandOutput::new(reading, |reading: &Reading, printer| {
        printer.content(&reading.content)?;
        let with_line: Vec<Problem> = reading.problems.iter().filter(|problem| problem.line.is_some()).cloned().collect();
        super::read::problems(&reading.name, &with_line, printer);
        if let Some(next) = reading.next_line {
            let (path, lines, all) = (quote_posix(reading.path.as_str()), &reading.lines, reading.total_lines);
            printer.note(format!("lines {lines} of {all}; continue with: memdir get {path} --lines {next}-"));
        }
        Ok(())
    }))
}

/// Splits a path with lines as `memdir search` prints it: `notes/deploy.md:14-18`.
fn split_lines(text: &str) -> (&str, Option<LineRange>) {
    let split = text.rsplit_once(':').filter(|(_, lines)| lines.starts_with(|c: char| c.is_ascii_digit()));
    match split.map(|(path, lines)| (path, lines.parse())) {
        Some((path, Ok(lines))) => (path, Some(lines)),
        _ => (text, None),
    }
}
