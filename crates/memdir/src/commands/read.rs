//! `memdir read`: the entrypoint, or memories by name.

use super::name;
use crate::{
    args::Read as Typed,
    exit::{Exit, Failure},
    output::{Answer, Page},
};
use memdir_core::{
    base::{
        error::{Error, Problem},
        text::LineRange,
    },
    memdir::Memdir,
    operations::read::{EntrypointReading, Read, Reading},
    prompt,
};
use serde::Serialize;
use std::io;

/// Several memories, and what became of the names that gave none.
#[derive(Serialize)]
struct Several {
    memories: Vec<Reading>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<NotRead>,
}

#[derive(Serialize)]
struct NotRead {
    name: String,
    code: &'static str,
    message: String,
    hint: String,
}

pub(crate) fn run(args: &Typed, memdir: &Memdir) -> Result<Answer, Failure> {
    let lines = args.lines.as_deref().map(str::parse::<LineRange>).transpose()?;
    let read =
        |text: &str| memdir.read(&Read { path: memdir_core::base::path::MemoryPath::parse(text)?, lines, max_chars: args.max_chars });
    match args.names.as_slice() {
        [] => Ok(Answer::new(memdir.entrypoint(prompt::main_prefix(memdir.store()))?, show_entrypoint)),
        [one] => {
            name(one)?;
            Ok(Answer::new(read(one)?, show_one))
        }
        several => {
            let mut all = Several { memories: Vec::new(), errors: Vec::new() };
            for text in several {
                match read(text) {
                    Ok(reading) => all.memories.push(reading),
                    Err(error @ (Error::NotFound { .. } | Error::BadPath { .. } | Error::BadInput { .. })) => {
                        let (message, hint) = (error.to_string(), error.command_hint());
                        all.errors.push(NotRead { name: text.clone(), code: error.code(), message, hint });
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            let exit = if all.errors.is_empty() { Exit::Done } else { Exit::NotSo };
            Ok(Answer::new(all, show_several).exit(exit))
        }
    }
}

fn show_one(reading: &Reading, page: &mut Page<'_>) -> io::Result<()> {
    page.content(&reading.content)?;
    beside(reading, page);
    Ok(())
}

fn show_several(all: &Several, page: &mut Page<'_>) -> io::Result<()> {
    for (n, reading) in all.memories.iter().enumerate() {
        if n > 0 {
            page.line("")?;
        }
        let heading = page.strong(&format!("==> {} <==", reading.name));
        page.line(heading)?;
        page.content(&reading.content)?;
        if !page.look.terminal && !reading.content.ends_with('\n') {
            page.line("")?;
        }
        beside(reading, page);
    }
    for error in &all.errors {
        page.note(format!("{}; {}", error.message, error.hint));
    }
    Ok(())
}

/// What is said beside a memory's text.
fn beside(reading: &Reading, page: &mut Page<'_>) {
    if let Some(next) = reading.next_line {
        let name = &reading.name;
        page.note(format!("lines {} of {}; continue with memdir read {name} --lines {next}-", reading.lines, reading.total_lines));
    }
    problems(&reading.name, &reading.problems, page);
}

/// Problems that are told one by one.
const TOLD: usize = 10;

/// Problems of a file, as notes.
pub(super) fn problems(name: &str, problems: &[Problem], page: &mut Page<'_>) {
    for problem in problems.iter().take(TOLD) {
        let line = problem.line.map_or(String::new(), |line| format!(" line {line}"));
        page.note(format!("{name}{line}: {}", problem.what));
    }
    if problems.len() > TOLD {
        page.note(format!("{name}: {} more problems; --json tells them all", problems.len() - TOLD));
    }
}

fn show_entrypoint(reading: &EntrypointReading, page: &mut Page<'_>) -> io::Result<()> {
    if !reading.content.is_empty() {
        page.content(&format!("{}\n", reading.content))?;
    }
    if let Some(warning) = &reading.warning {
        page.line("")?;
        page.line(warning)?;
    }
    if reading.content.is_empty() && reading.unlisted.is_empty() {
        page.note("no memories yet; memdir write NAME TEXT makes one");
    }
    if !reading.unlisted.is_empty() {
        let names: Vec<&str> = reading.unlisted.iter().take(10).map(|path| path.name()).collect();
        let more = reading.unlisted.len() - names.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        page.note(format!("not in the entrypoint: {}{more}; memdir entrypoint --repair adds them", names.join(", ")));
    }
    problems(reading.path.as_ref().map_or("MEMORY.md", |path| path.as_str()), &reading.problems, page);
    Ok(())
}
