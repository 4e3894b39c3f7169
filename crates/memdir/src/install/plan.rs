//! What an installation would make of the files, without touching them.

use super::{
    files::{self, Trouble},
    patch::Patch,
};
use crate::hosts::{Part, Wish, wish};
use serde_json::Value;
use similar::TextDiff;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// What one file becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileEdit {
    /// The part it follows from; several parts of one file are one.
    pub(crate) part: Part,
    /// The file itself, where the host's path is a link.
    pub(crate) real: PathBuf,
    /// Its text now; nothing if it is not there.
    pub(crate) before: Option<String>,
    /// Its text then.
    pub(crate) after: String,
    /// The way back, one patch per wish that changed something.
    pub(crate) patches: Vec<Patch>,
    /// Containers that are made.
    pub(crate) made: Vec<Vec<String>>,
    /// What of memdir's stood there before, by its place.
    pub(crate) was: BTreeMap<String, Value>,
}

impl FileEdit {
    /// Whether there is something to do.
    pub(crate) fn changes(&self) -> bool {
        self.before.as_deref() != Some(&self.after)
    }
}

/// Plans the parts; refuses if any file cannot be understood. `programs` are memdir, whatever they are called.
pub(crate) fn plan(parts: &[Part], programs: &[String]) -> Result<Vec<FileEdit>, Trouble> {
    let mut merged: Vec<Part> = Vec::new();
    for part in parts {
        match merged.iter_mut().find(|other| other.file == part.file) {
            Some(other) => other.wishes.extend(part.wishes.iter().cloned()),
            None => merged.push(part.clone()),
        }
    }
    merged.into_iter().map(|part| plan_file(part, programs)).collect()
}

fn plan_file(part: Part, programs: &[String]) -> Result<FileEdit, Trouble> {
    let real = files::real(&part.file)?;
    let before = files::read(&real)?;
    let mut text = before.clone().unwrap_or_default();
    let mut patches = Vec::new();
    let mut made = Vec::new();
    let mut was = BTreeMap::new();
    for wish in &part.wishes {
        let granted = wish::grant(part.format, &text, wish, programs).map_err(|refused| Trouble::refused(&part.file, refused.why))?;
        if granted.text != text {
            patches.push(Patch::between(&text, &granted.text));
        }
        text = granted.text;
        made.extend(granted.made);
        was.extend(granted.was.map(|value| (wish::place(wish), value)));
    }
    let edit = FileEdit { part, real, before, after: text, patches, made, was };
    if edit.changes() && edit.before.is_some() {
        files::check_writable(&edit.part.file, &edit.real)?;
    }
    Ok(edit)
}

/// What would change in a file, as a unified diff.
pub(crate) fn diff(path: &Path, before: Option<&str>, after: Option<&str>) -> String {
    let name = |text: Option<&str>| text.map_or_else(|| "/dev/null".to_owned(), |_| path.display().to_string());
    let differ = TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default());
    differ.unified_diff().context_radius(3).header(&name(before), &name(after)).to_string()
}

/// The wishes of an edit that are worth a record.
pub(crate) fn wishes(edit: &FileEdit) -> Vec<Wish> {
    edit.part.wishes.iter().map(light).collect()
}

/// A file of our own is known by its mark; its text need not be kept.
fn light(wish: &Wish) -> Wish {
    match wish {
        Wish::Whole { .. } => Wish::Whole { text: String::new() },
        other => other.clone(),
    }
}
