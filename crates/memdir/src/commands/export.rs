//! `memdir export`: exports memories as one file, or copies them to or from a team server.

mod server;

use super::{counted, list};
use crate::{
    args::{BundleFormat, ExportArgs},
    exit::{Exit, Failure},
    output::{CommandOutput, OutputOptions, Printer},
};
use memdir_core::{
    List, Memdir,
    internal::{
        base::{
            disk::{self, Replace},
            shell, text,
        },
        operations::import::bundle,
    },
};
use serde::Serialize;
use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};

#[derive(Serialize)]
struct Exported {
    memories: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bundle: Option<String>,
    #[serde(skip)]
    bytes: u64,
}

pub(crate) fn run(args: &ExportArgs, memdir: &Memdir, output: OutputOptions) -> Result<CommandOutput, Failure> {
    if args.to_server.is_some() || args.from_server.is_some() {
        return server::run(args, memdir, output);
    }
    let listed = memdir.list(&List { topic: args.topic.clone(), ..List::default() })?;
    let mut notes = list::notes(&listed.problems, listed.left_out);
    let mut is_complete = listed.unlisted.is_empty() && listed.left_out == 0;
    let mut memories: Vec<(String, String)> = Vec::new();
    for memory in &listed.memories {
        let stored = match memdir.store().get(&memory.path) {
            Ok(Some(stored)) => stored,
            Ok(None) => continue,
            Err(error) => {
                notes.push(format!("skipped {}: {error}", memory.path.name()));
                is_complete = false;
                continue;
            }
        };
        match String::from_utf8(stored.bytes) {
            Ok(text) => memories.push((memory.path.to_string(), text)),
            Err(_) => {
                notes.push(format!("skipped {}: not valid UTF-8", memory.path.name()));
                is_complete = false;
            }
        }
    }
    let texts: Vec<(&str, &str)> = memories.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let text = match args.format {
        BundleFormat::Markdown => bundle::markdown(&texts),
        BundleFormat::Json => bundle::json(&texts),
    };
    let exported = match args.out.as_ref().filter(|file| !is_stdout(file)) {
        None => Exported { memories: texts.len(), file: None, bytes: text.len() as u64, bundle: Some(text) },
        Some(file) => {
            write(file, &text, args.force)?;
            Exported { memories: texts.len(), file: Some(file.clone()), bundle: None, bytes: text.len() as u64 }
        }
    };
    Ok(CommandOutput::new(exported, show).with_notes(notes).exit(exit_of_copy(is_complete)))
}

/// The exit status of a copy of memories: scripts must not keep one that lacks some for a backup.
pub(super) fn exit_of_copy(is_complete: bool) -> Exit {
    if is_complete { Exit::Success } else { Exit::ActionRequired }
}

/// Whether a file to write is standard output.
pub(super) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Writes a file that must not exist, for commands without `--force`.
pub(super) fn write_new(path: &Path, text: &str) -> Result<(), Failure> {
    write_file(path, text, IfExists::Fail { hint: "use another file name" })
}

/// Writes a file; replaces an existing one only with `--force`.
pub(super) fn write(path: &Path, text: &str, force: bool) -> Result<(), Failure> {
    let refuse = IfExists::Fail { hint: "use another file name, or add --force to overwrite the file" };
    write_file(path, text, if force { IfExists::Replace } else { refuse })
}

/// What to do if the file exists.
enum IfExists {
    Replace,
    Fail { hint: &'static str },
}

fn write_file(path: &Path, text: &str, if_exists: IfExists) -> Result<(), Failure> {
    let fail = |source| Failure::File { doing: "write", path: path.to_owned(), source };
    // Otherwise the error would name the temporary file beside it.
    if let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty() && !dir.is_dir()) {
        if dir.exists() {
            let (message, hint) = (format!("{} is not a directory", dir.display()), "use another directory".into());
            return Err(Failure::Usage { message, hint });
        }
        return Err(Failure::Usage {
            message: format!("directory {} does not exist", dir.display()),
            hint: format!("create it with: mkdir -p {}", shell::quote_posix(&dir.display().to_string())),
        });
    }
    if path.is_dir() {
        let hint = "pass the path of a file, for example in that directory".into();
        return Err(Failure::Usage { message: format!("{} is a directory", path.display()), hint });
    }
    let prepared = disk::prepare(path, Replace::DURABLE, |file| file.write_all(text.as_bytes())).map_err(fail)?;
    match if_exists {
        IfExists::Replace => prepared.commit().map_err(fail),
        IfExists::Fail { hint } => prepared.commit_new().map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Failure::Usage { message: format!("{} already exists", path.display()), hint: hint.into() },
            _ => fail(error),
        }),
    }
}

fn show(exported: &Exported, printer: &mut Printer<'_>) -> io::Result<()> {
    match (&exported.bundle, &exported.file) {
        (Some(bundle), _) => printer.content(bundle),
        (None, file) => {
            let (memories, size) = (counted(exported.memories as u64, "memory", "memories"), text::human_bytes(exported.bytes));
            printer.line(format!("exported {memories} to {} ({size})", file.clone().unwrap_or_default().display()))
        }
    }
}
