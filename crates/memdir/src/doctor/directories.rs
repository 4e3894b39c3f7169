//! Checks the directories of memories, the files in them and their journals: whether they can be read and written, and whether a journal
//! is damaged. Changes nothing, except that it sets damaged records of a journal aside and removes the temporary files of a crash if the
//! user asks for it.

use super::DoctorFinding;
use crate::exit::io_hint;
use memdir_core::{
    Access, EntrypointMode, Error, FileStore, Mount, MountInfo, View as _,
    internal::{
        base::shell::quote_posix,
        store::{
            files::{JournalDamage, LeftoverFiles},
            mounts,
        },
    },
};
use std::{
    fs::{self, File},
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

/// Checks that the directories of the home and the mounts are usable.
pub(crate) fn check_directories(home: &Path, mounts: &[(String, PathBuf, Access)]) -> Vec<DoctorFinding> {
    let mut findings = vec![check_directory("home", home, Access::ReadWrite)];
    findings.extend(mounts.iter().map(|(label, root, access)| check_directory(&format!("mount {label}"), root, *access)));
    findings
}

fn check_directory(what: &str, dir: &Path, access: Access) -> DoctorFinding {
    let is_writable = access == Access::ReadWrite;
    let shown = dir.display();
    match dir.metadata() {
        Ok(meta) if !meta.is_dir() => DoctorFinding::bad(what, format!("{shown} is not a directory"), "move or delete the file"),
        Ok(_) if let Err(error) = fs::read_dir(dir) => cannot_read(what, dir, &error),
        Ok(meta) if is_writable && meta.permissions().readonly() => {
            DoctorFinding::bad(what, format!("{shown} is read-only"), "make the directory writable")
        }
        Ok(_) => DoctorFinding::ok(what, shown.to_string()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            DoctorFinding::ok(what, format!("{shown} ({})", if is_writable { "created when needed" } else { "does not exist" }))
        }
        Err(error) => cannot_read(what, dir, &error),
    }
}

fn cannot_read(what: &str, path: &Path, error: &io::Error) -> DoctorFinding {
    DoctorFinding::bad(what, format!("{} cannot be read: {error}", path.display()), access_fix(path, error.kind()))
}

/// What lets the user read and write a path, after an error of this kind.
fn access_fix(path: &Path, kind: io::ErrorKind) -> String {
    if kind != io::ErrorKind::PermissionDenied {
        return io_hint(&kind.into()).to_owned();
    }
    // Of a path that is not visible, the directory that hides it.
    let Some((path, meta)) = path.ancestors().find_map(|path| Some((path, path.metadata().ok()?))) else {
        return io_hint(&kind.into()).to_owned();
    };
    let quoted = quote_posix(&path.to_string_lossy());
    let user = rustix::process::geteuid().as_raw();
    let own = if meta.uid() == user { String::new() } else { format!("sudo chown -R {user} {quoted} && ") };
    format!("change its permissions with: {own}chmod -R u+rwX {quoted}")
}

/// Reports the files and directories of mounts that cannot be read, and entrypoints that are not regular files.
pub(crate) fn check_files(mounts: &[Mount], label: &dyn Fn(&str) -> String) -> Vec<DoctorFinding> {
    let Some(store) = open(mounts) else { return Vec::new() };
    let mut findings = Vec::new();
    for mount in store.mounts() {
        let what = format!("mount {}", label(&mount.prefix));
        let unread = unread_paths(&store, mount);
        if let Some((path, error)) = unread.first() {
            let finding = cannot_read(&what, path, error);
            findings.push(match unread.len() - 1 {
                0 => finding,
                others => DoctorFinding {
                    seen: format!("{} (and {others} more)", finding.seen),
                    fix: Some(access_fix(&mount.root, error.kind())),
                    ..finding
                },
            });
        }
        findings.extend(check_entrypoint(&store, mount, &what));
    }
    findings
}

/// The files and directories of a mount that cannot be read, without its root, which is a finding of its own.
fn unread_paths(store: &FileStore, mount: &MountInfo) -> Vec<(PathBuf, io::Error)> {
    let Ok(walk) = store.list(&mount.prefix) else { return Vec::new() };
    let below = |name: &str| {
        mounts::locate(store.mounts(), name).filter(|(owner, _)| owner.prefix == mount.prefix).map(|(_, rel)| mount.root.join(rel))
    };
    let dirs = walk.unlisted.iter().filter_map(|dir| below(dir)).filter_map(|dir| Some((fs::read_dir(&dir).err()?, dir)));
    let files =
        walk.entries.iter().filter_map(|entry| below(entry.path.as_str())).filter_map(|file| Some((File::open(&file).err()?, file)));
    dirs.chain(files).filter(|(error, _)| error.kind() != io::ErrorKind::NotFound).map(|(error, path)| (path, error)).collect()
}

/// Reports an entrypoint that memdir can neither read nor write, because it is not a regular file of the mount.
fn check_entrypoint(store: &FileStore, mount: &MountInfo, what: &str) -> Option<DoctorFinding> {
    if mount.entrypoint != EntrypointMode::Kept {
        return None;
    }
    let name = mounts::entrypoint_path(&mount.prefix).ok()?;
    let file = mount.root.join(mounts::ENTRYPOINT_FILE);
    let meta = file.symlink_metadata().ok()?;
    let seen = match store.get(&name) {
        // One that cannot be opened is reported with the other files.
        Ok(Some(_)) | Err(Error::Io { .. }) => return None,
        Ok(None) if meta.is_dir() => format!("{} is a directory, not a file", file.display()),
        Ok(None) if meta.is_symlink() => format!("{} is a dangling symbolic link", file.display()),
        Ok(None) => return None,
        Err(Error::BadPath { why, .. }) => why,
        Err(error) => error.command_message(),
    };
    Some(DoctorFinding::bad(what, seen, "move it out of the directory of the memory; the next change creates the entrypoint again"))
}

/// Opens the mounts without creating them. A space that cannot be opened is reported by every other command.
fn open(mounts: &[Mount]) -> Option<FileStore> {
    let late: Vec<Mount> = mounts.iter().map(|mount| Mount { late: true, ..mount.clone() }).collect();
    FileStore::open(&late).ok()
}

/// Checks the journals of mounts. Sets damaged records aside and removes temporary files that a crash left, unless there is an `advice`:
/// then it only reports them, with it. Reports only what is wrong.
pub(crate) fn check_journals(mounts: &[Mount], label: &dyn Fn(&str) -> String, advice: Option<&str>) -> Vec<DoctorFinding> {
    let Some(store) = open(mounts) else { return Vec::new() };
    let one = |damage: JournalDamage| {
        let what = format!("journal of {}", label(&damage.prefix));
        if let Some((kind, why)) = damage.unread {
            return DoctorFinding::bad(what, why, access_fix(&damage.dir, kind));
        }
        let records = if damage.records == 1 { "1 damaged record".to_owned() } else { format!("{} damaged records", damage.records) };
        let dir = damage.dir.display();
        if let Some(advice) = advice {
            return DoctorFinding::bad(what, format!("{records} in {dir}"), advice);
        }
        match store.repair_journal(&damage.prefix) {
            Ok(_) => DoctorFinding::ok(what, format!("{records} set aside in {dir}")),
            Err(error) => DoctorFinding::bad(what, format!("{records} in {dir}"), format!("cannot be fixed: {error}")),
        }
    };
    let mut findings: Vec<DoctorFinding> = store.check_journals().into_iter().map(one).collect();
    findings.extend(store.leftover_files().into_iter().map(|left| check_leftovers(&store, &left, label, advice)));
    findings
}

/// Reports temporary files that a crash left in a mount, and without an `advice` removes them.
fn check_leftovers(store: &FileStore, left: &LeftoverFiles, label: &dyn Fn(&str) -> String, advice: Option<&str>) -> DoctorFinding {
    let what = format!("temporary files in {}", label(&left.prefix));
    let list = |files: &[PathBuf]| files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ");
    let seen = format!("left by a crash: {}", list(&left.files));
    if let Some(advice) = advice {
        return DoctorFinding::bad(what, seen, advice);
    }
    match store.remove_leftover_files(&left.prefix) {
        Ok(kept) if kept.is_empty() => DoctorFinding::ok(what, format!("removed: {}", list(&left.files))),
        Ok(kept) => {
            let seen = format!("kept, because their contents are not in the history: {}", list(&kept));
            DoctorFinding::bad(what, seen, "copy what you need from each file, then delete it")
        }
        Err(error) => DoctorFinding::bad(what, seen, format!("cannot be fixed: {error}")),
    }
}
