//! Taking an installation out: byte for byte where nobody wrote since, entry by entry where somebody did. A backup is
//! never put over a file that has changed.

use super::{
    Did, Order, Touched,
    files::{self, Trouble},
    patch::Patch,
    receipt::{Receipts, Record, hash},
};
use crate::hosts::{Part, Wish, wish};
use std::{fs, path::PathBuf};

/// What becomes of one file.
#[derive(Debug)]
pub(crate) struct Removal {
    pub(crate) path: PathBuf,
    real: PathBuf,
    /// Its text now.
    pub(crate) before: Option<String>,
    /// Its text then; nothing if it goes.
    pub(crate) after: Option<String>,
    /// Whether that is byte for byte what was there.
    exact: bool,
    dirs: Vec<PathBuf>,
    backups: Vec<PathBuf>,
}

/// Plans to take an installation out. Without its receipt, what is recognised as memdir's is taken out.
pub(crate) fn plan_removal(receipts: &Receipts, order: &Order<'_>) -> Result<Vec<Removal>, Trouble> {
    let key = order.key();
    let records: Vec<Record> = match receipts.get(&key) {
        Some(receipt) => receipt.files.clone(),
        None => (order.host.parts)(order.machine, order.scope).unwrap_or_default().into_iter().map(guessed).collect(),
    };
    records.into_iter().map(|record| plan_file(receipts, order, record)).collect()
}

fn plan_file(receipts: &Receipts, order: &Order<'_>, record: Record) -> Result<Removal, Trouble> {
    let key = order.key();
    let real = files::real(&record.path)?;
    let before = files::read(&real)?;
    let own: Vec<&Wish> = record.wishes.iter().filter(|wish| !receipts.shared(&key, &record.path, wish)).collect();
    let (after, exact) = match &before {
        None => (None, false),
        Some(text) if own.is_empty() => (Some(text.clone()), false),
        Some(text) => match unchanged(&record, text).filter(|_| own.len() == record.wishes.len()) {
            Some(original) => (Some(original).filter(|original| !(record.created && original.is_empty())), true),
            None => (taken_out(&record, &own, text)?, false),
        },
    };
    if before != after && before.is_some() {
        files::check_writable(&record.path, &real)?;
    }
    Ok(Removal { path: record.path, real, before, after, exact, dirs: record.dirs, backups: record.backups })
}

/// The text from before the installation, if nobody wrote since.
fn unchanged(record: &Record, text: &str) -> Option<String> {
    let patches = record.patches.as_ref().filter(|_| hash(text) == record.after)?;
    patches.iter().rev().try_fold(text.to_owned(), |text, patch: &Patch| patch.back(&text))
}

/// The text without what is ours; nothing if that was all.
fn taken_out(record: &Record, own: &[&Wish], text: &str) -> Result<Option<String>, Trouble> {
    let fail = |refused: crate::hosts::edit::Refused| Trouble::refused(&record.path, refused.why);
    let mut text = text.to_owned();
    let (defaults, others): (Vec<&Wish>, Vec<&Wish>) = own.iter().partition(|wish| matches!(wish, Wish::Default { .. }));
    for wish in others {
        text = wish::withdraw(record.format, &text, wish).map_err(fail)?.0;
    }
    for path in record.made.iter().rev() {
        text = wish::remove_empty(record.format, &text, path).map_err(fail)?;
    }
    for wish in defaults.into_iter().filter(|wish| matches!(wish, Wish::Default { path, .. } if record.made.contains(path))) {
        text = wish::withdraw(record.format, &text, wish).map_err(fail)?.0;
    }
    Ok(Some(text).filter(|text| !(record.created && wish::is_bare(record.format, text))))
}

/// What a lost receipt would at least have said.
fn guessed(part: Part) -> Record {
    let whole = part.wishes.iter().any(|wish| matches!(wish, Wish::Whole { .. }));
    Record {
        path: part.file,
        format: part.format,
        wishes: part.wishes,
        created: whole,
        before: String::new(),
        after: String::new(),
        patches: None,
        made: Vec::new(),
        dirs: Vec::new(),
        backups: Vec::new(),
    }
}

/// Does it.
pub(crate) fn apply(removal: &Removal, scope: crate::hosts::Scope) -> Result<Touched, Trouble> {
    let did = match (&removal.before, &removal.after) {
        (before, after) if before == after => Did::Nothing,
        (_, None) => {
            fs::remove_file(&removal.real).map_err(|e| Trouble::io(&removal.path, "remove", &e))?;
            Did::Removed
        }
        (before, Some(after)) => {
            files::write(&removal.real, after, before.as_deref(), scope)?;
            Did::Changed
        }
    };
    let backup = removal.backups.iter().rev().find(|backup| !redundant(backup, removal)).filter(|backup| backup.exists()).cloned();
    removal.backups.iter().filter(|backup| redundant(backup, removal)).for_each(|backup| drop(fs::remove_file(backup)));
    Ok(Touched { path: removal.path.clone(), did, backup })
}

/// Removes the directories that were made for the files, innermost first, if nobody else uses them.
pub(crate) fn leave(removals: &[Removal]) {
    let mut dirs: Vec<&PathBuf> = removals.iter().flat_map(|removal| &removal.dirs).collect();
    dirs.sort_by_key(|dir| std::cmp::Reverse(dir.components().count()));
    dirs.into_iter().for_each(|dir| drop(fs::remove_dir(dir)));
}

/// Whether a backup holds nothing that is not in the file again.
fn redundant(backup: &PathBuf, removal: &Removal) -> bool {
    removal.exact || removal.after.as_ref().is_some_and(|after| fs::read(backup).is_ok_and(|bytes| bytes == after.as_bytes()))
}
