//! `memdir get`: lines of one memory, exactly as they are.

use super::name;
use crate::{args::Get as Typed, exit::Failure, output::Answer};
use memdir_core::{
    Memdir, Problem, limits,
    read::{Read, Reading},
    text::LineRange,
};

pub(crate) fn run(args: &Typed, memdir: &Memdir) -> Result<Answer, Failure> {
    let lines = args.lines.as_deref().map(str::parse::<LineRange>).transpose()?;
    let reading = memdir.read(&Read { path: name(&args.path)?, lines, max_chars: limits::READ_CHARS })?;
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
