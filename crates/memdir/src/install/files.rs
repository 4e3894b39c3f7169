//! The only writer of hosts' files: beside the old file, synced, renamed over it, its mode kept, and only if it is
//! still the file the edit was planned on. Never follows a link to write into a directory of somebody else's choosing:
//! the link's own target is replaced, the link stays.

use super::{Did, FileEdit, Touched};
use crate::{
    exit::Failure,
    hosts::{Format, Scope},
};
use jiff::Timestamp;
use memdir_core::base::disk::{self, FileMode, Replace};
use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// Why a file was left alone.
#[derive(Debug)]
pub(crate) struct Trouble {
    pub(crate) path: PathBuf,
    pub(crate) why: String,
    pub(crate) hint: String,
}

impl Trouble {
    /// A file that cannot be edited as it is.
    pub(crate) fn refused(path: &Path, why: impl Into<String>) -> Trouble {
        Trouble { path: path.to_owned(), why: why.into(), hint: "Nothing was changed. Mend the file by hand, then run this again.".into() }
    }

    /// What the system said.
    pub(crate) fn io(path: &Path, doing: &str, error: &io::Error) -> Trouble {
        let hint = "Check the path and its permissions.".into();
        Trouble { path: path.to_owned(), why: format!("cannot {doing} it: {error}"), hint }
    }
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Failure {
        Failure::Settings { message: format!("{}: {}", trouble.path.display(), trouble.why), hint: trouble.hint }
    }
}

/// A file that was written.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) touched: Touched,
    /// Directories that were made for it, outermost first.
    pub(crate) dirs: Vec<PathBuf>,
}

/// Where a path leads: a link's target, the path itself otherwise. Only a regular file is ever replaced.
pub(crate) fn real(path: &Path) -> Result<PathBuf, Trouble> {
    match path.symlink_metadata() {
        Ok(meta) if meta.is_symlink() => {
            let nowhere = |_| Trouble::refused(path, format!("it is a link that leads nowhere{}", target(path)));
            let real = path.canonicalize().map_err(nowhere)?;
            match real.symlink_metadata() {
                Ok(meta) if meta.is_file() => Ok(real),
                Ok(_) => Err(Trouble::refused(path, format!("it is a link to something that is no file{}", target(path)))),
                Err(e) => Err(Trouble::io(path, "look at", &e)),
            }
        }
        Ok(meta) if !meta.is_file() => Err(Trouble::refused(path, "it is not a file")),
        Err(e) if !absent(&e) => Err(Trouble::io(path, "look at", &e)),
        _ => Ok(path.to_owned()),
    }
}

fn target(path: &Path) -> String {
    path.read_link().map(|to| format!(" (to {})", to.display())).unwrap_or_default()
}

/// A file's text; nothing if there is none.
pub(crate) fn read(path: &Path) -> Result<Option<String>, Trouble> {
    match fs::read(path) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| Trouble::refused(path, "it is not UTF-8")),
        Err(e) if absent(&e) => Ok(None),
        Err(e) => Err(Trouble::io(path, "read", &e)),
    }
}

fn absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// A file somebody made read-only is meant to stay as it is, even where a rename could replace it.
pub(crate) fn check_writable(path: &Path, real: &Path) -> Result<(), Trouble> {
    let meta = real.metadata().map_err(|e| Trouble::io(path, "look at", &e))?;
    if meta.permissions().readonly() {
        let hint = "Nothing was changed. Make the file writable, or change it where it is made from.".into();
        return Err(Trouble { path: path.to_owned(), why: "it is read-only".into(), hint });
    }
    Ok(())
}

/// Writes every file, or none.
pub(crate) fn apply_all(edits: &[FileEdit], scope: Scope, now: Timestamp) -> Result<Vec<Done>, Trouble> {
    let mut done = Vec::new();
    for edit in edits {
        match apply(edit, scope, now) {
            Ok(one) => done.push(one),
            Err(trouble) => {
                put_back(edits, &done);
                return Err(trouble);
            }
        }
    }
    Ok(done)
}

/// Undoes what was written, as far as nobody else wrote meanwhile.
pub(crate) fn put_back(edits: &[FileEdit], done: &[Done]) {
    for (edit, done) in edits.iter().zip(done).rev() {
        let ours = read(&edit.real).ok().flatten().as_deref() == Some(&edit.after);
        // What cannot be put back stays, with its backup beside it: there is nothing better to do with a failing disk.
        let _ = match &edit.before {
            Some(before) if ours && edit.changes() => write(&edit.real, before, Some(&edit.after), Scope::User),
            None if ours => fs::remove_file(&edit.real).map_err(|e| Trouble::io(&edit.real, "remove", &e)),
            _ => Ok(()),
        };
        done.dirs.iter().rev().for_each(|dir| drop(fs::remove_dir(dir)));
        done.touched.backup.iter().for_each(|backup| drop(fs::remove_file(backup)));
    }
}

fn apply(edit: &FileEdit, scope: Scope, now: Timestamp) -> Result<Done, Trouble> {
    let touched = |did, backup| Touched { path: edit.part.file.clone(), did, backup };
    if !edit.changes() {
        return Ok(Done { touched: touched(Did::Nothing, None), dirs: Vec::new() });
    }
    let dirs = make_dirs(&edit.real)?;
    let backup = match &edit.before {
        Some(before) if edit.part.format != Format::Whole => Some(back_up(&edit.real, before, now)?),
        _ => None,
    };
    let written = write(&edit.real, &edit.after, edit.before.as_deref(), scope);
    if let Err(trouble) = written {
        backup.iter().for_each(|backup| drop(fs::remove_file(backup)));
        dirs.iter().rev().for_each(|dir| drop(fs::remove_dir(dir)));
        return Err(trouble);
    }
    let did = if edit.before.is_some() { Did::Changed } else { Did::Created };
    Ok(Done { touched: touched(did, backup), dirs })
}

fn make_dirs(file: &Path) -> Result<Vec<PathBuf>, Trouble> {
    let mut missing: Vec<PathBuf> = file.ancestors().skip(1).take_while(|dir| !dir.exists()).map(Path::to_owned).collect();
    missing.reverse();
    if let Some(dir) = missing.last() {
        fs::create_dir_all(dir).map_err(|e| Trouble::io(dir, "make", &e))?;
    }
    Ok(missing)
}

/// A copy beside the file, dated, with its mode.
fn back_up(file: &Path, text: &str, now: Timestamp) -> Result<PathBuf, Trouble> {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stamp = now.strftime("%Y-%m-%dT%H-%M-%S");
    let numbered = std::iter::once(String::new()).chain((2..100).map(|n| format!("-{n}")));
    for number in numbered {
        let path = file.with_file_name(format!("{name}.memdir-backup-{stamp}{number}"));
        match create_new(&path, text, file) {
            Ok(()) => return Ok(path),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(Trouble::io(&path, "write", &e)),
        }
    }
    Err(Trouble::refused(file, "there are a hundred backups of this second beside it"))
}

fn create_new(path: &Path, text: &str, like: &Path) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    let written = like.metadata().and_then(|meta| file.set_permissions(meta.permissions())).and_then(|()| file.write_all(text.as_bytes()));
    written.and_then(|()| file.sync_all()).inspect_err(|_| drop(fs::remove_file(path)))
}

/// Replaces a file, if it still is what it was.
pub(crate) fn write(path: &Path, text: &str, was: Option<&str>, scope: Scope) -> Result<(), Trouble> {
    let fail = |e: io::Error| Trouble::io(path, "write", &e);
    // A new file of a person's own settings is theirs alone; that of a project is readable for all.
    let mode = FileMode::KeepOr(if scope == Scope::User { 0o600 } else { 0o644 });
    let how = Replace { mode, ..Replace::DURABLE };
    let prepared = disk::prepare(path, how, |file| file.write_all(text.as_bytes())).map_err(fail)?;
    if read(path)?.as_deref() != was {
        let why = "another program changed it just now".to_owned();
        return Err(Trouble { path: path.to_owned(), why, hint: "Nothing was changed. Run this again.".into() });
    }
    prepared.commit().map_err(fail)
}
