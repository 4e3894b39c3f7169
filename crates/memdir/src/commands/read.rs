//! `memdir read`: prints the entrypoint, or memories by name.

use super::name;
use crate::{
    args::ReadArgs,
    exit::{Exit, Failure},
    output::{CommandOutput, Printer},
};
use memdir_core::{
    Access, EntrypointReading, Error, LineRange, List, ListedMemory, Memdir, Problem, Read, Reading,
    internal::{
        base::shell::name_command,
        prompt,
        store::mounts::{self, ENTRYPOINT_FILE},
    },
};
use serde::Serialize;
use std::io;

/// Several memories, and the errors of those that could not be read.
#[derive(Serialize)]
struct Several {
    memories: Vec<Reading>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<ReadError>,
}

#[derive(Serialize)]
struct ReadError {
    name: String,
    code: &'static str,
    message: String,
    hint: String,
}

pub(crate) fn run(args: &ReadArgs, memdir: &Memdir) -> Result<CommandOutput, Failure> {
    let lines = args.lines.as_deref().map(str::parse::<LineRange>).transpose()?;
    let read = |text: &str| memdir.read(&Read { path: memdir_core::MemoryPath::parse(text)?, lines, max_chars: args.max_chars });
    match args.names.as_slice() {
        [] => {
            let prefix = prompt::main_prefix(memdir.store());
            let is_read_only = memdir.store().mounts().iter().any(|mount| mount.prefix == prefix && mount.access == Access::ReadOnly);
            let reading = memdir.entrypoint(prefix)?;
            // With --only, there may be memories without an entrypoint.
            let is_here =
                |memory: &ListedMemory| mounts::mount_of(memdir.store(), &memory.path).is_some_and(|mount| mount.prefix == prefix);
            let has_others =
                reading.path.is_none() && reading.unlisted.is_empty() && memdir.list(&List::default())?.memories.iter().any(is_here);
            let show = match (has_others, is_read_only) {
                (true, _) => |_: &EntrypointReading, printer: &mut Printer<'_>| {
                    printer.note("the selected memories have no entrypoint (MEMORY.md); list them with `memdir list` and the same options");
                    Ok(())
                },
                (false, true) => show_read_only_entrypoint,
                (false, false) => show_entrypoint,
            };
            Ok(CommandOutput::new(reading, show))
        }
        [one] => {
            name(one)?;
            Ok(CommandOutput::new(read(one)?, show_one))
        }
        several => {
            let mut all = Several { memories: Vec::new(), errors: Vec::new() };
            for text in several {
                match read(text) {
                    Ok(reading) => all.memories.push(reading),
                    Err(error @ (Error::NotFound { .. } | Error::BadPath { .. } | Error::BadInput { .. })) => {
                        let (message, hint) = (error.command_message(), error.command_hint());
                        all.errors.push(ReadError { name: text.clone(), code: error.code(), message, hint });
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            let exit = if all.errors.is_empty() { Exit::Success } else { Exit::Negative };
            Ok(CommandOutput::new(all, show_several).exit(exit))
        }
    }
}

fn show_one(reading: &Reading, printer: &mut Printer<'_>) -> io::Result<()> {
    printer.content(&reading.content)?;
    add_notes(reading, printer);
    Ok(())
}

fn show_several(all: &Several, printer: &mut Printer<'_>) -> io::Result<()> {
    for (n, reading) in all.memories.iter().enumerate() {
        if n > 0 {
            printer.line("")?;
        }
        let heading = printer.strong(&format!("==> {} <==", reading.name));
        printer.line(heading)?;
        printer.content(&reading.content)?;
        if !printer.options.terminal && !reading.content.ends_with('\n') {
            printer.line("")?;
        }
        add_notes(reading, printer);
    }
    for error in &all.errors {
        let hint = if error.hint.is_empty() { String::new() } else { format!("; {}", error.hint) };
        printer.note(format!("{}{hint}", error.message));
    }
    Ok(())
}

/// Adds the notes about one memory.
fn add_notes(reading: &Reading, printer: &mut Printer<'_>) {
    if let Some(next) = reading.next_line {
        let command = name_command("memdir read", &reading.name, &format!("--lines {next}-"));
        printer.note(format!("lines {} of {}; continue with: {command}", reading.lines, reading.total_lines));
    }
    problems(&reading.name, &reading.problems, printer);
}

/// Maximum number of problems that are printed.
const MAX_PROBLEMS: usize = 10;

/// Adds the problems of a file as notes.
pub(super) fn problems(name: &str, problems: &[Problem], printer: &mut Printer<'_>) {
    for problem in problems.iter().take(MAX_PROBLEMS) {
        let line = problem.line.map_or(String::new(), |line| format!(", line {line}"));
        printer.note(format!("{name}{line}: {}", problem.what));
    }
    if problems.len() > MAX_PROBLEMS {
        let more = super::counted((problems.len() - MAX_PROBLEMS) as u64, "more problem", "more problems");
        printer.note(format!("{name}: {more}; list all problems with --json"));
    }
}

fn show_entrypoint(reading: &EntrypointReading, printer: &mut Printer<'_>) -> io::Result<()> {
    show_entrypoint_with(reading, true, printer)
}

/// The entrypoint of a read-only mount: its notes name no command that writes.
fn show_read_only_entrypoint(reading: &EntrypointReading, printer: &mut Printer<'_>) -> io::Result<()> {
    show_entrypoint_with(reading, false, printer)
}

fn show_entrypoint_with(reading: &EntrypointReading, can_write: bool, printer: &mut Printer<'_>) -> io::Result<()> {
    if !reading.content.is_empty() {
        printer.content(&format!("{}\n", reading.content))?;
    }
    if let Some(warning) = &reading.warning {
        printer.line("")?;
        printer.line(warning)?;
    }
    if reading.content.is_empty() && reading.unlisted.is_empty() {
        printer.note(if can_write { "no memories yet; create one with: memdir write NAME TEXT" } else { "no memories yet" });
    }
    let file = reading.path.as_ref().map_or(ENTRYPOINT_FILE, |path| path.as_str());
    if !reading.unlisted.is_empty() {
        let names: Vec<&str> = reading.unlisted.iter().take(10).map(|path| path.name()).collect();
        let more = reading.unlisted.len() - names.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let them = if reading.unlisted.len() == 1 { "it" } else { "them" };
        let repair = if can_write { format!("; add {them} with: memdir entrypoint --repair") } else { String::new() };
        printer.note(format!("not listed in {file}: {}{more}{repair}", names.join(", ")));
    }
    problems(file, &reading.problems, printer);
    Ok(())
}
