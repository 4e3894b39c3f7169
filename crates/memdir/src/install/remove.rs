//! Removes an installation: byte for byte if no other program has written since, else edit by edit. A backup never replaces a file that
//! has changed.

use super::{
    InstallRequest,
    error::InstallError,
    file_edit::{ConfigChange, FileOutcome},
    files,
    patch::Patch,
    receipt::{FileReceipt, Receipts, hash},
};
use crate::hosts::{
    ConfigEdit, HostConfigFile, InstallScope, RemoteServer, RemoteToken, config_edit, remote::remote_file, text_edit::EditError,
};
use memdir_core::internal::base::sort::SharedSort as _;
use std::{fs, path::PathBuf};

/// The planned removal from one file.
#[derive(Debug)]
pub(crate) struct Removal {
    pub(crate) path: PathBuf,
    target: PathBuf,
    /// The current text; `None` if the file does not exist.
    pub(crate) before: Option<String>,
    /// The new text; `None` if the file is removed.
    pub(crate) after: Option<String>,
    dirs: Vec<PathBuf>,
    backups: Vec<Backup>,
}

/// A copy of an earlier text.
#[derive(Debug)]
struct Backup {
    path: PathBuf,
    /// Whether everything in it is in the file again.
    is_redundant: bool,
}

/// Plans the removal of an installation. Without a receipt, what is recognized as memdir's is removed.
pub(crate) fn plan_removal(receipts: &Receipts, request: &InstallRequest<'_>) -> Result<Vec<Removal>, InstallError> {
    let records: Vec<FileReceipt> = match receipts.get(&request.key()) {
        Some(receipt) => receipt.files.clone(),
        None if request.team => {
            // Any server under the name of the team server is recognized.
            let any = RemoteServer { url: String::new(), token: RemoteToken::SignIn, project: None };
            remote_file(request.host, request.machine, request.scope, &any).ok().into_iter().map(reconstruct).collect()
        }
        None => (request.host.config)(request.machine, request.scope).unwrap_or_default().into_iter().map(reconstruct).collect(),
    };
    records.into_iter().map(|record| plan_file(receipts, request, record)).collect()
}

fn plan_file(receipts: &Receipts, request: &InstallRequest<'_>, record: FileReceipt) -> Result<Removal, InstallError> {
    let key = request.key();
    let target = files::resolve(&record.path)?;
    let before = files::read(&target)?;
    let programs: Vec<String> = receipts.programs(request.machine);
    let own: Vec<&ConfigEdit> = record.edits.iter().filter(|edit| !receipts.is_shared(&key, &record.path, edit)).collect();
    let (after, is_exact) = match &before {
        None => (None, false),
        Some(text) if own.is_empty() => (Some(text.clone()), false),
        Some(text) => match original_text(&record, text).filter(|_| own.len() == record.edits.len()) {
            Some(original) => (Some(original).filter(|original| !(record.is_new_file && original.is_empty())), true),
            None => (without_edits(&record, &own, text, &programs)?, false),
        },
    };
    if before != after && before.is_some() {
        files::check_writable(&record.path, &target)?;
    }
    let is_redundant = |backup: &PathBuf| {
        let text = fs::read_to_string(backup).ok().filter(|_| !own.is_empty());
        let is_same =
            |text: String| after.as_ref() == Some(&text) || without_edits(&record, &own, &text, &programs).ok() == Some(after.clone());
        is_exact || text.is_some_and(is_same)
    };
    let backups = record.backups.iter().map(|path| Backup { is_redundant: is_redundant(path), path: path.clone() }).collect();
    Ok(Removal { path: record.path, target, before, after, dirs: record.dirs, backups })
}

/// The text before the installation, if no other program has written since.
fn original_text(record: &FileReceipt, text: &str) -> Option<String> {
    let patches = record.patches.as_ref().filter(|_| hash(text) == record.after)?;
    patches.iter().rev().try_fold(text.to_owned(), |text, patch: &Patch| patch.revert(&text))
}

/// The text without the edits; `None` if the file can be removed.
fn without_edits(record: &FileReceipt, own: &[&ConfigEdit], text: &str, programs: &[String]) -> Result<Option<String>, InstallError> {
    let fail = |error: EditError| InstallError::from_edit(&record.path, error);
    let mut text = text.to_owned();
    let (defaults, others): (Vec<&ConfigEdit>, Vec<&ConfigEdit>) = own.iter().partition(|edit| matches!(edit, ConfigEdit::Default { .. }));
    let mut created = record.created.clone();
    for edit in others {
        let previous = record.previous.get(&edit.key());
        let (after, was_present) = edit.remove(record.format, &text, previous, programs).map_err(fail)?;
        text = after;
        if was_present && record.is_reconstructed() {
            created.extend(edit.containers());
        }
    }
    // Innermost first: the containers around them are empty only then.
    created.shared_sort_by_key(|path| std::cmp::Reverse(path.len()));
    for path in &created {
        text = config_edit::remove_empty(record.format, &text, path).map_err(fail)?;
    }
    for edit in defaults.into_iter().filter(|edit| matches!(edit, ConfigEdit::Default { path, .. } if record.created.contains(path))) {
        text = edit.remove(record.format, &text, None, programs).map_err(fail)?.0;
    }
    Ok(Some(text).filter(|text| !(record.is_new_file && config_edit::is_empty(record.format, text))))
}

/// The least that a lost receipt must have recorded.
fn reconstruct(file: HostConfigFile) -> FileReceipt {
    // No other program creates a file with this name, so the defaults in it are memdir's too.
    let is_ours = file.path.file_stem().is_some_and(|stem| stem == "memdir");
    let default = |edit: &ConfigEdit| if let ConfigEdit::Default { path, .. } = edit { Some(path.clone()) } else { None };
    let created = file.edits.iter().filter_map(default).filter(|_| is_ours).collect();
    FileReceipt {
        path: file.path,
        format: file.format,
        edits: file.edits,
        is_new_file: is_ours,
        before: String::new(),
        after: String::new(),
        patches: None,
        created,
        previous: Default::default(),
        dirs: Vec::new(),
        backups: Vec::new(),
    }
}

/// Applies a planned removal.
pub(crate) fn apply(removal: &Removal, scope: InstallScope) -> Result<FileOutcome, InstallError> {
    let change = match (&removal.before, &removal.after) {
        (before, after) if before == after => ConfigChange::Unchanged,
        (_, None) => {
            fs::remove_file(&removal.target).map_err(|e| InstallError::io(&removal.path, "remove", &e))?;
            ConfigChange::Removed
        }
        (before, Some(after)) => {
            files::write(&removal.target, after, before.as_deref(), scope)?;
            ConfigChange::Changed
        }
    };
    let kept = removal.backups.iter().rev().find(|backup| !backup.is_redundant && backup.path.exists());
    let backup = kept.map(|backup| backup.path.clone());
    removal.backups.iter().filter(|backup| backup.is_redundant).for_each(|backup| drop(fs::remove_file(&backup.path)));
    Ok(FileOutcome { path: removal.path.clone(), change, backup })
}

/// Removes the directories that were created for the files, innermost first, if they are empty.
pub(crate) fn remove_created_dirs(removals: &[Removal]) {
    let mut dirs: Vec<&PathBuf> = removals.iter().flat_map(|removal| &removal.dirs).collect();
    dirs.shared_sort_by_key(|dir| std::cmp::Reverse(dir.components().count()));
    dirs.into_iter().for_each(|dir| drop(fs::remove_dir(dir)));
}
