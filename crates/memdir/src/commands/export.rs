//! `memdir export`: memories as one file, for elsewhere.

use crate::{
    args::{BundleFormat, Export as Typed},
    exit::Failure,
    output::{Answer, Page},
};
use memdir_core::{
    base::{
        disk::{self, Replace},
        text,
    },
    memdir::Memdir,
    operations::{import::bundle, list::List},
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
}

pub(crate) fn run(args: &Typed, memdir: &Memdir) -> Result<Answer, Failure> {
    let listed = memdir.list(&List { topic: args.topic.clone(), ..List::default() })?;
    let mut notes = Vec::new();
    let mut memories: Vec<(String, String)> = Vec::new();
    for memory in &listed.memories {
        let stored = match memdir.store().get(&memory.path) {
            Ok(Some(stored)) => stored,
            Ok(None) => continue,
            Err(error) => {
                notes.push(format!("{} was left out: {error}", memory.path));
                continue;
            }
        };
        match String::from_utf8(stored.bytes) {
            Ok(text) => memories.push((memory.path.to_string(), text)),
            Err(_) => notes.push(format!("{} is not UTF-8 and was left out", memory.path)),
        }
    }
    let given: Vec<(&str, &str)> = memories.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let text = match args.format {
        BundleFormat::Markdown => bundle::markdown(&given),
        BundleFormat::Json => bundle::json(&given),
    };
    let exported = match &args.out {
        None => Exported { memories: given.len(), file: None, bundle: Some(text) },
        Some(file) => {
            write(file, &text, args.force)?;
            notes.push(format!("{} written", text::human_bytes(text.len() as u64)));
            Exported { memories: given.len(), file: Some(file.clone()), bundle: None }
        }
    };
    Ok(Answer::new(exported, show).with_notes(notes))
}

/// Writes a new file; one that is there stays unless it is meant.
fn write(path: &Path, text: &str, force: bool) -> Result<(), Failure> {
    let fail = |source| Failure::File { doing: "write", path: path.to_owned(), source };
    let prepared = disk::prepare(path, Replace::DURABLE, |file| file.write_all(text.as_bytes())).map_err(fail)?;
    let put = if force { prepared.commit() } else { prepared.commit_new() };
    put.map_err(|e| match e.kind() {
        io::ErrorKind::AlreadyExists => Failure::Usage {
            message: format!("{} is there already (File exists)", path.display()),
            hint: "Name another file, or add --force to replace it.".into(),
        },
        _ => fail(e),
    })
}

fn show(exported: &Exported, page: &mut Page<'_>) -> io::Result<()> {
    match (&exported.bundle, &exported.file) {
        (Some(bundle), _) => page.content(bundle),
        (None, file) => {
            let memories = if exported.memories == 1 { "1 memory".to_owned() } else { format!("{} memories", exported.memories) };
            page.line(format!("Exported {memories} to {}", file.clone().unwrap_or_default().display()))
        }
    }
}
