//! The programs that are named before their files: claude-mem with its database, basic-memory with its notes directory.

use super::{ImportSource, markdown_files};
use crate::{args::ImportArgs, commands::counted, exit::Failure};
use indicatif::ProgressBar;
use memdir_chats::{ClaudeMemContent, read_claude_mem};
use memdir_core::{Error, internal::operations::import::basic_memory};
use std::{
    io,
    path::{Path, PathBuf},
};

/// The maximum number of projects that a note names.
const NAMED_PROJECTS: usize = 10;

/// A program whose memories are imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Program {
    ClaudeMem,
    BasicMemory,
}

/// The program that the first word names, if paths follow it. A path with such a name is imported as a file.
pub(super) fn named(from: &[PathBuf]) -> Result<Option<Program>, Failure> {
    let Some((first, paths)) = from.split_first() else { return Ok(None) };
    let (program, needs, example) = match first.to_str() {
        Some("claude-mem") => (Program::ClaudeMem, "the path of the claude-mem database", "~/.claude-mem/claude-mem.db"),
        Some("basic-memory") => (Program::BasicMemory, "the path of the basic-memory notes directory", "~/basic-memory"),
        _ => return Ok(None),
    };
    if !paths.is_empty() {
        return Ok(Some(program));
    }
    if first.exists() {
        return Ok(None);
    }
    let name = first.display();
    Err(Failure::Usage {
        message: format!("missing path after `{name}`: expected {needs}"),
        hint: format!("for example: memdir import {name} {example}"),
    })
}

impl Program {
    /// Reads the memories of the program at a path.
    pub(super) fn read(self, path: &Path, args: &ImportArgs, bar: &ProgressBar, notes: &mut Vec<String>) -> Result<ImportSource, Failure> {
        match self {
            Program::ClaudeMem => claude_mem(path, args, bar, notes),
            Program::BasicMemory => notes_of_basic_memory(path, notes),
        }
    }
}

fn claude_mem(path: &Path, args: &ImportArgs, bar: &ProgressBar, notes: &mut Vec<String>) -> Result<ImportSource, Failure> {
    bar.set_message("reading the claude-mem database");
    let content = read_claude_mem(path, &args.from_project, &mut |done, total| {
        bar.set_length(total);
        bar.set_position(done);
    });
    let content = content.map_err(|error| match error {
        Error::BadInput { .. } => Failure::Usage {
            message: error.command_message(),
            hint: "use the path of claude-mem's database, usually ~/.claude-mem/claude-mem.db".into(),
        },
        Error::Io { path, source, .. } if source.kind() == io::ErrorKind::NotFound => Failure::File { doing: "read", path, source },
        Error::Io { ref source, .. } if source.kind() == io::ErrorKind::ResourceBusy => {
            Failure::Core { error, hint: Some("close claude-mem, then try again") }
        }
        Error::Unavailable { .. } => Failure::Core {
            error,
            hint: Some("check that the file is claude-mem's database, usually ~/.claude-mem/claude-mem.db, and is not damaged"),
        },
        other => other.into(),
    })?;
    notes.extend(content.problems.iter().map(|problem| format!("{}: {}", path.display(), problem.what)));
    notes.extend(projects_note(&content, args));
    Ok(ImportSource { format: "claude-mem".to_owned(), memories: content.memories, dates: Vec::new() })
}

/// What the user may want to know about projects: that there are several, or that others were left out.
fn projects_note(content: &ClaudeMemContent, args: &ImportArgs) -> Option<String> {
    if !args.from_project.is_empty() {
        let left = content.other_projects;
        return (left > 0).then(|| format!("skipped {} from other projects", counted(left, "record", "records")));
    }
    // What belongs to no project holds in all of them.
    let all: Vec<String> = content
        .projects
        .iter()
        .filter(|(name, _)| !name.is_empty())
        .map(|(name, count)| format!("{name} ({})", counted(*count, "memory", "memories")))
        .collect();
    if all.len() < 2 {
        return None;
    }
    let named = &all[..all.len().min(NAMED_PROJECTS)];
    let more = if all.len() > named.len() { format!(", {} more", all.len() - named.len()) } else { String::new() };
    let all = all.len();
    let hint = if args.dry_run {
        "to import only one of them, add --from-project NAME"
    } else {
        "to import only one of them, undo this import, then repeat it with --from-project NAME"
    };
    Some(format!("found {all} projects: {}{more}; {hint}", named.join(", ")))
}

fn notes_of_basic_memory(dir: &Path, notes: &mut Vec<String>) -> Result<ImportSource, Failure> {
    if !dir.is_dir() {
        return Err(Failure::Usage {
            message: format!("{} is not a directory", dir.display()),
            hint: "pass the notes directory; find it with: basic-memory project list".into(),
        });
    }
    let (memories, dates) = markdown_files(dir, &|_| false, notes)?;
    let converted = basic_memory::convert(memories);
    notes.extend(converted.problems.iter().map(|problem| format!("{}: {}", dir.display(), problem.what)));
    Ok(ImportSource { format: converted.from.to_owned(), memories: converted.memories, dates })
}
