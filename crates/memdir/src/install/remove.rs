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
    dirs: Vec<PathBuf>,
    backups: Vec<Backup>,
}

/// A copy of an earlier text.
#[derive(Debug)]
struct Backup {
    path: PathBuf,
    /// It holds nothing that is not in the file again.
    spent: bool,
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
    let programs: Vec<String> = receipts.known(order.machine);
    let own: Vec<&Wish> = record.wishes.iter().filter(|wish| !receipts.shared(&key, &record.path, wish)).collect();
    let (after, exact) = match &before {
        None => (None, false),
        Some(text) if own.is_empty() => (Some(text.clone()), false),
        Some(text) => match unchanged(&record, text).filter(|_| own.len() == record.wishes.len()) {
            Some(original) => (Some(original).filter(|original| !(record.created && original.is_empty())), true),
            None => (taken_out(&record, &own, text, &programs)?, false),
        },
    };
    if before != after && before.is_some() {
        files::check_writable(&record.path, &real)?;
    }
    let spent = |backup: &PathBuf| {
        let text = fs::read_to_string(backup).ok().filter(|_| !own.is_empty());
        let same = |text: String| after.as_ref() == Some(&text) || taken_out(&record, &own, &text, &programs).ok() == Some(after.clone());
        exact || text.is_some_and(same)
    };
    let backups = record.backups.iter().map(|path| Backup { spent: spent(path), path: path.clone() }).collect();
    Ok(Removal { path: record.path, real, before, after, dirs: record.dirs, backups })
}

/// The text from before the installation, if nobody wrote since.
fn unchanged(record: &Record, text: &str) -> Option<String> {
    let patches = record.patches.as_ref().filter(|_| hash(text) == record.after)?;
    patches.iter().rev().try_fold(text.to_owned(), |text, patch: &Patch| patch.back(&text))
}

/// The text without what is ours; nothing if that was all.
fn taken_out(record: &Record, own: &[&Wish], text: &str, programs: &[String]) -> Result<Option<String>, Trouble> {
    let fail = |refused: crate::hosts::edit::Refused| Trouble::refused(&record.path, refused.why);
    let mut text = text.to_owned();
    let (defaults, others): (Vec<&Wish>, Vec<&Wish>) = own.iter().partition(|wish| matches!(wish, Wish::Default { .. }));
    let mut made = record.made.clone();
    for wish in others {
        let was = record.was.get(&wish::place(wish));
        let (after, found) = wish::withdraw(record.format, &text, wish, was, programs).map_err(fail)?;
        text = after;
        if found && record.is_guessed() {
            made.extend(wish::containers(wish));
        }
    }
    // Innermost first: only then is the one around it empty.
    made.sort_by_key(|path| std::cmp::Reverse(path.len()));
    for path in &made {
        text = wish::remove_empty(record.format, &text, path).map_err(fail)?;
    }
    for wish in defaults.into_iter().filter(|wish| matches!(wish, Wish::Default { path, .. } if record.made.contains(path))) {
        text = wish::withdraw(record.format, &text, wish, None, programs).map_err(fail)?.0;
    }
    Ok(Some(text).filter(|text| !(record.created && wish::is_bare(record.format, text))))
}

/// What a lost receipt would at least have said.
fn guessed(part: Part) -> Record {
    // Nobody but memdir makes a file of this name; what is needed there besides is ours too.
    let own = part.file.file_stem().is_some_and(|stem| stem == "memdir");
    let default = |wish: &Wish| if let Wish::Default { path, .. } = wish { Some(path.clone()) } else { None };
    let made = part.wishes.iter().filter_map(default).filter(|_| own).collect();
    Record {
        path: part.file,
        format: part.format,
        wishes: part.wishes,
        created: own,
        before: String::new(),
        after: String::new(),
        patches: None,
        made,
        was: Default::default(),
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
    let kept = removal.backups.iter().rev().find(|backup| !backup.spent && backup.path.exists());
    let backup = kept.map(|backup| backup.path.clone());
    removal.backups.iter().filter(|backup| backup.spent).for_each(|backup| drop(fs::remove_file(&backup.path)));
    Ok(Touched { path: removal.path.clone(), did, backup })
}

/// Removes the directories that were made for the files, innermost first, if nobody else uses them.
pub(crate) fn leave(removals: &[Removal]) {
    let mut dirs: Vec<&PathBuf> = removals.iter().flat_map(|removal| &removal.dirs).collect();
    dirs.sort_by_key(|dir| std::cmp::Reverse(dir.components().count()));
    dirs.into_iter().for_each(|dir| drop(fs::remove_dir(dir)));
}
