//! `memdir import`: memories from elsewhere, in one change that undo takes back whole.

use crate::{
    args::{Import as Typed, OnClash},
    exit::Failure,
    output::{Answer, Page},
};
use memdir_core::{
    memdir::Memdir,
    operations::import::{self, Clash, Import, Imported, Incoming, Outcome},
    store::mounts::{choose_entrypoint, is_page_name},
};
use serde::Serialize;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Files of a directory that are looked at.
const MOST_FILES: usize = 100_000;
/// The files of a data export that hold what was said and remembered.
const EXPORT_FILES: &[&str] = &["conversations.json", "memories.json"];

#[derive(Serialize)]
struct Report {
    dry_run: bool,
    from: Vec<String>,
    #[serde(flatten)]
    imported: Imported,
}

pub(crate) fn run(args: &Typed, memdir: &Memdir) -> Result<Answer, Failure> {
    let mut memories = Vec::new();
    let mut from = Vec::new();
    let mut notes = Vec::new();
    for path in &args.from {
        let (kind, taken) = if path.is_dir() { directory(path, &mut notes)? } else { file(path, &mut notes)? };
        from.push(format!("{}: {kind}, {} found", path.display(), taken.len()));
        memories.extend(taken);
    }
    let clash = match args.clash {
        OnClash::Number => Clash::Number,
        OnClash::Skip => Clash::Skip,
        OnClash::Replace => Clash::Replace,
    };
    let request = Import { memories, under: args.under.clone(), clash };
    let imported = if args.dry_run { memdir.preview_import(&request)? } else { memdir.import(&request)? };
    notes.extend(imported.notes.iter().cloned());
    Ok(Answer::new(Report { dry_run: args.dry_run, from, imported }, show).with_notes(notes))
}

fn file(path: &Path, notes: &mut Vec<String>) -> Result<(String, Vec<Incoming>), Failure> {
    let bytes = super::input(path)?;
    if bytes.starts_with(b"PK\x03\x04") {
        return Err(Failure::Usage {
            message: format!("{} is a ZIP archive", path.display()),
            hint: "Unpack it, and import the directory or its conversations.json.".into(),
        });
    }
    let text = super::as_text(path, bytes)?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let taken = import::read(&name, &text)?;
    notes.extend(taken.problems.iter().map(|problem| match problem.line {
        Some(line) => format!("{}:{line}: {}", path.display(), problem.what),
        None => format!("{}: {}", path.display(), problem.what),
    }));
    Ok((taken.from.to_owned(), taken.memories))
}

/// A data export that was unpacked, or any directory of Markdown.
fn directory(dir: &Path, notes: &mut Vec<String>) -> Result<(String, Vec<Incoming>), Failure> {
    let exports: Vec<PathBuf> = EXPORT_FILES.iter().map(|name| dir.join(name)).filter(|path| path.is_file()).collect();
    if !exports.is_empty() {
        let mut all = Vec::new();
        let mut kind = String::new();
        for path in exports {
            let (from, memories) = file(&path, notes)?;
            kind = from;
            all.extend(memories);
        }
        return Ok((kind, all));
    }
    let mut files = Vec::new();
    walk(dir, dir, &mut files)?;
    files.sort();
    let mut memories = Vec::new();
    for (name, path) in files {
        match fs::read(&path).map(String::from_utf8) {
            Ok(Ok(text)) => memories.push(Incoming { name, text }),
            Ok(Err(_)) => notes.push(format!("{} is not UTF-8 and was left out", path.display())),
            Err(e) => notes.push(format!("{} cannot be read ({e}) and was left out", path.display())),
        }
    }
    Ok(("a directory".to_owned(), memories))
}

/// The Markdown files below a directory. Hidden folders, links and the directory's own entrypoint, which is made anew, are
/// left out.
fn walk(root: &Path, dir: &Path, files: &mut Vec<(String, PathBuf)>) -> Result<(), Failure> {
    let fail = |source| Failure::File { doing: "list", path: dir.to_owned(), source };
    for entry in fs::read_dir(dir).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(fail)?);
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') || files.len() >= MOST_FILES {
            continue;
        }
        if kind.is_dir() {
            walk(root, &path, files)?;
        } else if kind.is_file() && name.to_ascii_lowercase().ends_with(".md") && !(dir == root && is_entrypoint(root, &name)) {
            let relative = path.strip_prefix(root).unwrap_or(&path);
            let parts: Vec<String> = relative.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
            files.push((parts.join("/"), path));
        }
    }
    Ok(())
}

fn is_entrypoint(root: &Path, name: &str) -> bool {
    let main = choose_entrypoint(|name| root.join(name).is_file());
    name == main || is_page_name(name)
}

fn show(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    for from in &report.from {
        page.line(from)?;
    }
    let mut rows = vec![["did", "memory", ""].map(str::to_owned).to_vec()];
    let mut counts = [0_usize; 3];
    for item in &report.imported.memories {
        let (did, name, rest, at) = match &item.outcome {
            Outcome::Added { name } => ("add", name, String::new(), 0),
            Outcome::Replaced { name } => ("replace", name, String::new(), 0),
            Outcome::Duplicate { of } => ("have", &item.from, format!("as {of}"), 1),
            Outcome::Skipped { why } => ("skip", &item.from, why.clone(), 2),
        };
        counts[at] += 1;
        rows.push(vec![did.to_owned(), name.clone(), rest]);
    }
    if report.dry_run {
        page.table(&rows)?;
    } else {
        let told = rows.drain(1..).filter(|row| row[0] == "skip").collect::<Vec<_>>();
        page.table(&told)?;
    }
    let [added, had, skipped] = counts;
    let summary = format!("{added} new, {had} here already, {skipped} left out");
    match &report.imported.change {
        _ if report.dry_run => page.line(format!("Would import: {summary}")),
        Some(change) => page.line(format!("Imported: {summary} · memdir undo {change} takes it back")),
        None => page.line(format!("Nothing to import: {summary}")),
    }
}
