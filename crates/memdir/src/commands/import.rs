//! `memdir import`: imports memories as one change, which one undo reverts.

mod programs;

use super::counted;
use crate::{
    args::{self, ImportArgs},
    exit::Failure,
    output::{CommandOutput, OutputOptions, Printer},
};
use indicatif::ProgressBar;
use jiff::Timestamp;
use memdir_core::internal::base::sort::SharedSort as _;
use memdir_core::{
    Import, ImportOutcome, Imported, Incoming, Memdir, OnConflict,
    internal::{
        operations::import,
        store::mounts::{choose_entrypoint, is_page_name},
    },
};
use serde::Serialize;
use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
};

/// Maximum number of files of a directory.
const MAX_FILES: usize = 100_000;
/// Maximum size of one file: a data export of some years has some hundred megabytes.
const IMPORT_BYTES: u64 = 1 << 30;
/// The files of a data export with conversations and memories.
const EXPORT_FILES: &[&str] = &["conversations.json", "memories.json"];

#[derive(Serialize)]
struct Report {
    dry_run: bool,
    from: Vec<String>,
    #[serde(flatten)]
    imported: Imported,
}

pub(crate) fn run(args: &ImportArgs, memdir: &Memdir, output: OutputOptions) -> Result<CommandOutput, Failure> {
    let program = programs::named(&args.from)?;
    let paths = if program.is_some() { &args.from[1..] } else { &args.from[..] };
    if !args.from_project.is_empty() && program != Some(programs::Program::ClaudeMem) {
        return Err(Failure::Usage {
            message: "--from-project can only be used with `claude-mem`".into(),
            hint: "import from claude-mem with: memdir import claude-mem PATH --from-project NAME".into(),
        });
    }
    // Files are read at once; only the databases of programs may take long.
    let bar = if program.is_some() { output.progress_bar(0) } else { ProgressBar::hidden() };
    let mut memories = Vec::new();
    let mut dates = HashMap::new();
    let mut from = Vec::new();
    let mut notes = Vec::new();
    for path in paths {
        let ImportSource { format, memories: found, dates: own } = match program {
            Some(program) => program.read(path, args, &bar, &mut notes)?,
            None if path.is_dir() => directory(path, &mut notes)?,
            None => file(path, &mut notes)?,
        };
        let first = memories.len();
        dates.extend(own.into_iter().map(|(n, at)| (first + n, at)));
        from.push(format!("{}: {format}, {}", path.display(), counted(found.len() as u64, "memory", "memories")));
        memories.extend(found);
    }
    let clash = match args.on_conflict {
        args::ConflictArg::Number => OnConflict::Number,
        args::ConflictArg::Skip => OnConflict::Skip,
        args::ConflictArg::Replace => OnConflict::Replace,
    };
    let request = Import { memories, under: args.under.clone(), clash, dates };
    bar.set_message("importing");
    let imported = if args.dry_run { memdir.preview_import(&request)? } else { memdir.import(&request)? };
    bar.finish_and_clear();
    notes.extend(imported.notes.iter().cloned());
    Ok(CommandOutput::new(Report { dry_run: args.dry_run, from, imported }, show).with_notes(notes))
}

/// The memories of a file or directory.
struct ImportSource {
    format: String,
    memories: Vec<Incoming>,
    dates: Dates,
}

/// When Markdown files were last changed, by the positions of their memories.
type Dates = Vec<(usize, Timestamp)>;

fn file(path: &Path, notes: &mut Vec<String>) -> Result<ImportSource, Failure> {
    let bytes = super::input(path, IMPORT_BYTES)?;
    if bytes.starts_with(b"PK\x03\x04") {
        return Err(Failure::Usage {
            message: format!("{} is a ZIP archive", path.display()),
            hint: "unpack it, then import the directory".into(),
        });
    }
    let text = super::to_text(path, bytes)?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let parsed = import::parse(&name, &text)?;
    notes.extend(parsed.problems.iter().map(|problem| match problem.line {
        Some(line) => format!("{}:{line}: {}", path.display(), problem.what),
        None => format!("{}: {}", path.display(), problem.what),
    }));
    // The modification time of a file with many memories is not the age of each one.
    let is_one = parsed.memories.len() == 1 && name.to_ascii_lowercase().ends_with(".md");
    let dates = modified(path).filter(|_| is_one).map(|at| (0, at)).into_iter().collect();
    Ok(ImportSource { format: parsed.from.to_owned(), memories: parsed.memories, dates })
}

/// Reads an unpacked data export, or any directory of Markdown.
fn directory(dir: &Path, notes: &mut Vec<String>) -> Result<ImportSource, Failure> {
    let exports: Vec<PathBuf> = EXPORT_FILES.iter().map(|name| dir.join(name)).filter(|path| path.is_file()).collect();
    if !exports.is_empty() {
        let mut all = Vec::new();
        let mut format = String::new();
        for path in exports {
            let found = file(&path, notes)?;
            format = found.format;
            all.extend(found.memories);
        }
        return Ok(ImportSource { format, memories: all, dates: Vec::new() });
    }
    let (memories, dates) = markdown_files(dir, &|name| is_entrypoint(dir, name), notes)?;
    Ok(ImportSource { format: "directory".to_owned(), memories, dates })
}

/// Reads the Markdown files below a directory, except for those at its root that are skipped, with the times of their last changes.
fn markdown_files(dir: &Path, skip: &dyn Fn(&str) -> bool, notes: &mut Vec<String>) -> Result<(Vec<Incoming>, Dates), Failure> {
    let mut files = Vec::new();
    walk(dir, dir, skip, &mut files)?;
    files.shared_sort();
    if files.len() > MAX_FILES {
        return Err(Failure::Usage {
            message: format!("{} has more than {MAX_FILES} Markdown files", dir.display()),
            hint: "import its subdirectories one by one; nothing was imported".into(),
        });
    }
    let (mut memories, mut dates) = (Vec::new(), Vec::new());
    for (name, path) in files {
        match fs::read(&path).map(String::from_utf8) {
            Ok(Ok(text)) => {
                dates.extend(modified(&path).map(|at| (memories.len(), at)));
                memories.push(Incoming { name, text });
            }
            Ok(Err(_)) => notes.push(format!("skipped {}: not valid UTF-8", path.display())),
            Err(e) => notes.push(format!("skipped {}: {e}", path.display())),
        }
    }
    Ok((memories, dates))
}

fn modified(path: &Path) -> Option<Timestamp> {
    Timestamp::try_from(path.metadata().ok()?.modified().ok()?).ok()
}

/// Collects the Markdown files below a directory, without hidden folders, symbolic links, and the files at its root that are skipped.
fn walk(root: &Path, dir: &Path, skip: &dyn Fn(&str) -> bool, files: &mut Vec<(String, PathBuf)>) -> Result<(), Failure> {
    let fail = |source| Failure::File { doing: "list", path: dir.to_owned(), source };
    for entry in fs::read_dir(dir).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(fail)?);
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') || files.len() > MAX_FILES {
            continue;
        }
        if kind.is_dir() {
            walk(root, &path, skip, files)?;
        } else if kind.is_file() && name.to_ascii_lowercase().ends_with(".md") && !(dir == root && skip(&name)) {
            let relative = path.strip_prefix(root).unwrap_or(&path);
            let parts: Vec<String> = relative.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
            files.push((parts.join("/"), path));
        }
    }
    Ok(())
}

/// Whether a file is the directory's own entrypoint, which the import rewrites.
fn is_entrypoint(root: &Path, name: &str) -> bool {
    let main = choose_entrypoint(|name| root.join(name).is_file());
    name == main || is_page_name(name)
}

fn show(report: &Report, printer: &mut Printer<'_>) -> io::Result<()> {
    for from in &report.from {
        printer.line(from)?;
    }
    let mut rows = vec![["action", "memory", ""].map(str::to_owned).to_vec()];
    let mut counts = [0_usize; 3];
    for item in &report.imported.memories {
        let equal_to = |name: &String| match &item.same_text_as {
            Some(other) if other == name => "only the frontmatter differs".to_owned(),
            Some(other) => format!("same text as {other}"),
            None => String::new(),
        };
        let (action, name, rest, at) = match &item.outcome {
            ImportOutcome::Added { name } => ("add", name, equal_to(name), 0),
            ImportOutcome::Replaced { name } => ("replace", name, equal_to(name), 0),
            ImportOutcome::Duplicate { of } => ("duplicate", &item.from, format!("same as {of}"), 1),
            ImportOutcome::Skipped { why } => ("skip", &item.from, why.clone(), 2),
        };
        counts[at] += 1;
        rows.push(vec![action.to_owned(), name.clone(), rest]);
    }
    if report.dry_run {
        printer.table(&rows)?;
    } else {
        let notable = rows.drain(1..).filter(|row| row[0] != "duplicate" && !row[2].is_empty()).collect::<Vec<_>>();
        printer.table(&notable)?;
    }
    let [imported, duplicates, skipped] = counts;
    let memories = counted(imported as u64, "memory", "memories");
    let summary = format!("{memories}; {}, {skipped} skipped", counted(duplicates as u64, "duplicate", "duplicates"));
    match &report.imported.change {
        _ if report.dry_run => printer.line(format!("would import {summary}")),
        Some(change) => printer.line(format!("imported {summary} (undo: memdir undo {change})")),
        None => printer.line(format!("imported {summary}")),
    }
}
