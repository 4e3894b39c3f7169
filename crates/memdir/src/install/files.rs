//! Writes hosts' files, and nothing else does: a new file beside the old one, synced and renamed over it with the old mode, and only if
//! the file has not changed since the edit was planned. A symbolic link is kept, and its target is replaced.

use super::{
    error::InstallError,
    file_edit::{ConfigChange, FileOutcome, PlannedEdit},
};
use crate::hosts::{ConfigFormat, InstallScope, text_edit::EditError};
use jiff::Timestamp;
use memdir_core::internal::base::disk::{self, FileMode, Replace};
use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// A file that was written.
#[derive(Debug)]
pub(crate) struct WrittenFile {
    pub(crate) outcome: FileOutcome,
    /// Directories that were created for it, outermost first.
    pub(crate) dirs: Vec<PathBuf>,
}

/// Resolves a path to the file to replace: the target of a symbolic link, else the path itself. Fails unless that is a regular file or
/// does not exist.
pub(crate) fn resolve(path: &Path) -> Result<PathBuf, InstallError> {
    match path.symlink_metadata() {
        Ok(meta) if meta.is_symlink() => {
            let refused = |what: &str| {
                let error = EditError::new(format!("{what}{}", link_target(path))).with_hint("change or remove the link");
                InstallError::from_edit(path, error)
            };
            let target = path.canonicalize().map_err(|e| match e.kind() {
                io::ErrorKind::NotFound => refused("broken symbolic link"),
                _ => InstallError::io(path, "follow the symbolic link", &e),
            })?;
            match target.symlink_metadata() {
                Ok(meta) if meta.is_file() => Ok(target),
                Ok(_) => Err(refused("symbolic link that does not point to a regular file")),
                Err(e) => Err(InstallError::io(path, "read metadata", &e)),
            }
        }
        Ok(meta) if !meta.is_file() => {
            Err(InstallError::from_edit(path, EditError::new("not a regular file").with_hint("move it elsewhere")))
        }
        Err(e) if !is_absent(&e) => Err(InstallError::io(path, "read metadata", &e)),
        _ => Ok(path.to_owned()),
    }
}

fn link_target(path: &Path) -> String {
    path.read_link().map(|to| format!(" (to {})", to.display())).unwrap_or_default()
}

/// Reads a file; `None` if it does not exist.
pub(crate) fn read(path: &Path) -> Result<Option<String>, InstallError> {
    match fs::read(path) {
        Ok(bytes) => String::from_utf8(bytes)
            .map(Some)
            .map_err(|_| InstallError::from_edit(path, EditError::new("not valid UTF-8").with_hint("convert the file to UTF-8"))),
        Err(e) if is_absent(&e) => Ok(None),
        Err(e) => Err(InstallError::io(path, "read", &e)),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Fails if a file is read-only: the user wants it unchanged, although a rename could replace it.
pub(crate) fn check_writable(path: &Path, target: &Path) -> Result<(), InstallError> {
    let meta = target.metadata().map_err(|e| InstallError::io(path, "read metadata", &e))?;
    if meta.permissions().readonly() {
        let hint = "make the file writable or, if a program generates it, change the settings of that program";
        return Err(InstallError::before(path, "file is read-only", hint));
    }
    Ok(())
}

/// Writes all files, or none.
pub(crate) fn write_all(edits: &[PlannedEdit], scope: InstallScope, now: Timestamp) -> Result<Vec<WrittenFile>, InstallError> {
    let mut written = Vec::new();
    for edit in edits {
        match write_edit(edit, scope, now) {
            Ok(file) => written.push(file),
            Err(error) => {
                restore_all(edits, &written);
                return Err(error);
            }
        }
    }
    Ok(written)
}

/// Restores the files that were written, except those that another process has changed since.
pub(crate) fn restore_all(edits: &[PlannedEdit], written: &[WrittenFile]) {
    for (edit, written) in edits.iter().zip(written).rev() {
        let is_ours = read(&edit.target).ok().flatten().as_deref() == Some(&edit.after);
        // A file that cannot be restored keeps its backup beside it: there is no better way to handle a failing disk.
        let _ = match &edit.before {
            Some(before) if is_ours && edit.is_change() => write(&edit.target, before, Some(&edit.after), InstallScope::User),
            None if is_ours => fs::remove_file(&edit.target).map_err(|e| InstallError::io(&edit.target, "remove", &e)),
            _ => Ok(()),
        };
        written.dirs.iter().rev().for_each(|dir| drop(fs::remove_dir(dir)));
        written.outcome.backup.iter().for_each(|backup| drop(fs::remove_file(backup)));
    }
}

fn write_edit(edit: &PlannedEdit, scope: InstallScope, now: Timestamp) -> Result<WrittenFile, InstallError> {
    let outcome = |change, backup| FileOutcome { path: edit.config.path.clone(), change, backup };
    if !edit.is_change() {
        return Ok(WrittenFile { outcome: outcome(ConfigChange::Unchanged, None), dirs: Vec::new() });
    }
    let dirs = create_dirs(&edit.target)?;
    let backup = match &edit.before {
        Some(before) if edit.config.format != ConfigFormat::Whole => Some(back_up(&edit.target, before, now)?),
        _ => None,
    };
    if let Err(error) = write(&edit.target, &edit.after, edit.before.as_deref(), scope) {
        backup.iter().for_each(|backup| drop(fs::remove_file(backup)));
        dirs.iter().rev().for_each(|dir| drop(fs::remove_dir(dir)));
        return Err(error);
    }
    let change = if edit.before.is_some() { ConfigChange::Changed } else { ConfigChange::Created };
    Ok(WrittenFile { outcome: outcome(change, backup), dirs })
}

fn create_dirs(file: &Path) -> Result<Vec<PathBuf>, InstallError> {
    let mut missing: Vec<PathBuf> = file.ancestors().skip(1).take_while(|dir| !dir.exists()).map(Path::to_owned).collect();
    missing.reverse();
    if let Some(dir) = missing.last() {
        fs::create_dir_all(dir).map_err(|e| InstallError::io(dir, "create directory", &e))?;
    }
    Ok(missing)
}

/// Makes a backup of a host's file: a copy with its mode, under a name with the date.
fn back_up(file: &Path, text: &str, now: Timestamp) -> Result<PathBuf, InstallError> {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stamp = now.strftime("%Y-%m-%dT%H-%M-%S");
    let numbered = std::iter::once(String::new()).chain((2..100).map(|n| format!("-{n}")));
    for number in numbered {
        let path = file.with_file_name(format!("{name}.memdir-backup-{stamp}{number}"));
        match create_new(&path, text, file) {
            Ok(()) => return Ok(path),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(InstallError::io(&path, "write", &e)),
        }
    }
    let error = EditError::new("there are already 99 backups with this timestamp").with_hint("wait a second");
    Err(InstallError::from_edit(file, error))
}

fn create_new(path: &Path, text: &str, like: &Path) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    let written = like.metadata().and_then(|meta| file.set_permissions(meta.permissions())).and_then(|()| file.write_all(text.as_bytes()));
    written.and_then(|()| file.sync_all()).inspect_err(|_| drop(fs::remove_file(path)))
}

/// Replaces a file if its text is still `expected`.
pub(crate) fn write(path: &Path, text: &str, expected: Option<&str>, scope: InstallScope) -> Result<(), InstallError> {
    let fail = |e: io::Error| InstallError::io(path, "write", &e);
    // A new file is private in the user scope, and readable by all in a project.
    let mode = FileMode::KeepOr(if scope == InstallScope::User { 0o600 } else { 0o644 });
    let prepared = disk::prepare(path, Replace { mode, ..Replace::DURABLE }, |file| file.write_all(text.as_bytes())).map_err(fail)?;
    if read(path)?.as_deref() != expected {
        let reason = "changed by another process".to_owned();
        return Err(InstallError { path: path.to_owned(), reason, hint: "run the command again".into(), unchanged: None });
    }
    prepared.commit().map_err(fail)
}
