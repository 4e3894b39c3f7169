//! `memdir get`: lines of one memory, exactly as they are.

use super::name;
use crate::{args::Get as Typed, exit::Failure, output::Answer};
use memdir_core::{
    base::{error::Problem, limits, text::LineRange},
    memdir::Memdir,
    operations::read::{Read, Reading},
};

pub(crate) fn run(args: &Typed, memdir: &Memdir) -> Result<Answer, Failure> {
    let (path, lines) = match &args.lines {
        Some(lines) => (args.path.as_str(), Some(lines.parse()?)),
        None => as_found(&args.path),
    };
    let reading = memdir.read(&Read { path: name(path)?, lines, max_chars: limits::READ_CHARS })?;
    Ok(Answer::new(reading, |reading: &Reading, page| {
        page.content(&reading.content)?;
        let of_lines: Vec<Problem> = reading.problems.iter().filter(|problem| problem.line.is_some()).cloned().collect();
        super::read::problems(&reading.name, &of_lines, page);
        if let Some(next) = reading.next_line {
            let (path, lines, all) = (&reading.path, &reading.lines, reading.total_lines);
            page.note(format!("lines {lines} of {all}; continue with memdir get {path} --lines {next}-"));
        }
        Ok(())
    }))
}

/// A name with its lines, as a search prints it: `notes/deploy.md:14-18`.
fn as_found(typed: &str) -> (&str, Option<LineRange>) {
    let found = typed.rsplit_once(':').filter(|(_, lines)| lines.starts_with(|c: char| c.is_ascii_digit()));
    match found.map(|(path, lines)| (path, lines.parse())) {
        Some((path, Ok(lines))) => (path, Some(lines)),
        _ => (typed, None),
    }
}
