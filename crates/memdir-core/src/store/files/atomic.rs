//! The only writer of memories. A file always has its old or its new content: the new content is written to a temporary file
//! beside it, synced, and exchanged with it. What was replaced can be read after the exchange, so a save by another program is never
//! overwritten unseen. Works with directory handles below an opened root, unlike `base/disk.rs`.

use super::{
    contain::{FileLocation, OpenRoot, split},
    fault::{self, FileCall},
};
use crate::base::{
    disk,
    error::{Error, Result},
    limits,
};
use rustix::{
    fs::{self, AtFlags, FileType, Mode, OFlags, RenameFlags},
    io::Errno,
};
use std::{
    cell::RefCell,
    fs::File,
    io::{Read as _, Seek as _, Write as _},
    path::{Path, PathBuf},
};

/// The pending replacement or removal of one file.
pub(crate) struct AtomicStep {
    place: FileLocation,
    /// The name of the temporary file: the new content before the step, the old one after it.
    temp: String,
    shown: PathBuf,
    /// The replaced file, with its size and modification time when its content was compared.
    replaced: RefCell<Option<(File, fs::Stat)>>,
}

/// What a step did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Committed {
    /// The file was replaced or removed.
    Done,
    /// Another program changed the file first. It has the content of that program, and the step did nothing. The list has the
    /// contents that other programs saved and that this step had replaced, oldest first. The last one is in the file again, but the
    /// program may take it for replaced and overwrite it.
    Raced(Vec<Vec<u8>>),
    /// Another program changed the file first, and the step could not be reverted. The file may have the new content; the temporary
    /// file has what was replaced last. The list has the contents that other programs saved and that are in neither.
    Stuck(Errno, Vec<Vec<u8>>),
}

/// Returns the name of a change's temporary file for its n-th file. The journal contains the id, so that recovery after a crash
/// knows the name.
pub(crate) fn temp_name(change: &str, n: usize) -> String {
    format!(".memdir-{change}-{n}.tmp")
}

/// Writes and syncs the new content to a temporary file. Nothing visible changes.
pub(crate) fn prepare(open: &OpenRoot<'_>, rel: &[u8], bytes: Option<&[u8]>, temp: String, shown: PathBuf) -> Result<Option<AtomicStep>> {
    let Some(bytes) = bytes else {
        return Ok(open.own_place(rel)?.map(|place| AtomicStep::new(place, temp, shown)));
    };
    let place = open.place(rel, true)?.ok_or_else(|| Error::io("create", &shown, Errno::NOENT.into()))?;
    // A replaced file keeps its mode; a new one is private, or in a repository what the umask leaves.
    let mode = match fs::statat(&place.dir, &*place.name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => TempMode::Exact(Mode::from_raw_mode(stat.st_mode & 0o7777)),
        Err(_) if open.is_shared() => TempMode::Umask,
        Err(_) => TempMode::Exact(PRIVATE),
    };
    let step = AtomicStep::new(place, temp, shown);
    match write_temp(&step, bytes, mode) {
        Ok(()) => Ok(Some(step)),
        Err(e) => {
            step.discard();
            Err(e)
        }
    }
}

/// The permissions of the owner's own files.
const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

/// The permissions of a temporary file, which are those of the new version.
#[derive(Clone, Copy)]
enum TempMode {
    Exact(Mode),
    /// Those that the umask of the process leaves of read and write for all.
    Umask,
}

fn write_temp(step: &AtomicStep, bytes: &[u8], mode: TempMode) -> Result<()> {
    let AtomicStep { place, temp, shown, .. } = step;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    fault::point().map_err(|e| Error::io("write", shown, e))?;
    let created = match mode {
        TempMode::Exact(_) => PRIVATE,
        TempMode::Umask => PRIVATE | Mode::RGRP | Mode::WGRP | Mode::ROTH | Mode::WOTH,
    };
    let fd = fault::file_point(FileCall::Create).and_then(|()| fs::openat(&place.dir, temp.as_str(), flags, created));
    let fd = fd.map_err(|e| Error::io("write", shown, e.into()))?;
    let mut file = File::from(fd);
    fault::point().and_then(|()| file.write_all(bytes)).map_err(|e| Error::io("write", shown, e))?;
    if let TempMode::Exact(mode) = mode
        && mode != PRIVATE
    {
        fs::fchmod(&file, mode).map_err(|e| Error::io("set the permissions of", shown, e.into()))?;
    }
    fault::point().and_then(|()| file.sync_all()).map_err(|e| Error::io("sync", shown, e))
}

impl AtomicStep {
    fn new(place: FileLocation, temp: String, shown: PathBuf) -> Self {
        AtomicStep { place, temp, shown, replaced: RefCell::default() }
    }

    /// Applies the step if the file still has the content `before`; `after` is its new content. The step is durable only after
    /// [`AtomicStep::discard`] and [`AtomicStep::sync`].
    pub(crate) fn commit(&self, before: Option<&[u8]>, after: Option<&[u8]>) -> Result<Committed> {
        fault::point().map_err(|e| Error::io("replace", &self.shown, e))?;
        match (before, after) {
            (Some(before), Some(after)) => self.replace(before, after).map_err(|e| Error::io("replace", &self.shown, e.into())),
            (None, Some(_)) => self.create().map_err(|e| Error::io("create", &self.shown, e.into())),
            (_, None) => self.remove(before).map_err(|e| Error::io("remove", &self.shown, e.into())),
        }
    }

    fn replace(&self, before: &[u8], after: &[u8]) -> rustix::io::Result<Committed> {
        match self.exchange() {
            Ok(()) if self.has_replaced(before) => Ok(Committed::Done),
            Ok(()) => Ok(self.exchange_back(after)),
            // Another program removed the file, or is about to rename its new version into place.
            Err(Errno::NOENT) => Ok(Committed::Raced(Vec::new())),
            Err(errno) if is_unsupported(errno) => {
                if !self.has(&self.place.name, before) {
                    return Ok(Committed::Raced(Vec::new()));
                }
                self.rename_temp(RenameFlags::empty())?;
                Ok(Committed::Done)
            }
            Err(errno) => Err(errno),
        }
    }

    /// Reverts an exchange that replaced the save of another program. Such a program may save again meanwhile; the file gets its
    /// newest content, and all of them are returned. What is not a readable file, such as a link, is exchanged all the same.
    fn exchange_back(&self, after: &[u8]) -> Committed {
        let mut saved: Vec<Vec<u8>> = Vec::new();
        // What is in the file unless another program saved since, and what is in the temporary file.
        let (mut put, mut held) = (Some(after.to_vec()), self.read(&self.temp));
        for _ in 0..limits::CHANGE_ATTEMPTS {
            match self.exchange() {
                Ok(()) => {}
                // Another program removed the file, which keeps that state.
                Err(Errno::NOENT) => break,
                Err(errno) => return Committed::Stuck(errno, saved),
            }
            let taken = self.read(&self.temp);
            let is_as_put = taken == put;
            saved.extend(put.filter(|put| put != after));
            (put, held) = (held, taken);
            if is_as_put {
                saved.extend(put);
                return Committed::Raced(saved);
            }
        }
        saved.extend(put.filter(|put| put != after));
        saved.extend(held);
        Committed::Raced(saved)
    }

    /// Describes why a step could not be reverted.
    pub(crate) fn revert_failed(&self, errno: Errno) -> Error {
        Error::io("restore", &self.shown, errno.into())
    }

    fn create(&self) -> rustix::io::Result<Committed> {
        match self.rename_temp(RenameFlags::NOREPLACE) {
            Ok(()) => Ok(Committed::Done),
            Err(Errno::EXIST) if self.is(FileType::Directory) => Err(Errno::ISDIR),
            Err(Errno::EXIST) => Ok(Committed::Raced(Vec::new())),
            Err(errno) if is_unsupported(errno) => {
                if fs::statat(&self.place.dir, &*self.place.name, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
                    return Ok(Committed::Raced(Vec::new()));
                }
                self.rename_temp(RenameFlags::empty()).map(|()| Committed::Done)
            }
            Err(errno) => Err(errno),
        }
    }

    /// Removes the file by renaming it to the temporary one, where its content can be compared. A link is removed, never its target.
    fn remove(&self, before: Option<&[u8]>) -> rustix::io::Result<Committed> {
        let (dir, name, temp) = (&self.place.dir, &*self.place.name, self.temp.as_str());
        let unlink = || match fs::unlinkat(dir, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(Committed::Done),
            Err(errno) => Err(errno),
        };
        if self.is(FileType::Symlink) {
            return unlink();
        }
        match fault::file_point(FileCall::Rename).and_then(|()| fs::renameat_with(dir, name, dir, temp, RenameFlags::NOREPLACE)) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Ok(Committed::Done),
            Err(errno) if is_unsupported(errno) => {
                return if before.is_none_or(|before| self.has(name, before)) { unlink() } else { Ok(Committed::Raced(Vec::new())) };
            }
            Err(errno) => return Err(errno),
        }
        if before.is_none_or(|before| self.has_replaced(before)) {
            return Ok(Committed::Done);
        }
        match self.rename_temp(RenameFlags::NOREPLACE) {
            Ok(()) => Ok(Committed::Raced(self.read(name).into_iter().collect())),
            // The other program saved once more; the file keeps its newest version.
            Err(Errno::EXIST) => Ok(Committed::Raced(self.read(temp).into_iter().collect())),
            Err(errno) => Ok(Committed::Stuck(errno, Vec::new())),
        }
    }

    fn exchange(&self) -> rustix::io::Result<()> {
        self.rename_temp(RenameFlags::EXCHANGE)
    }

    fn rename_temp(&self, flags: RenameFlags) -> rustix::io::Result<()> {
        let FileLocation { dir, name } = &self.place;
        fault::file_point(FileCall::Rename)?;
        if flags.is_empty() {
            return fs::renameat(dir, self.temp.as_str(), dir, &**name);
        }
        fs::renameat_with(dir, self.temp.as_str(), dir, &**name, flags)
    }

    fn is(&self, kind: FileType) -> bool {
        let stat = fs::statat(&self.place.dir, &*self.place.name, AtFlags::SYMLINK_NOFOLLOW);
        stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == kind)
    }

    /// Whether the replaced file has this content. Keeps the file open for [`AtomicStep::saved_late`].
    fn has_replaced(&self, content: &[u8]) -> bool {
        let Some((file, bytes)) = open_beside(&self.place, self.temp.as_str()) else { return false };
        let is_same = bytes == content;
        if let Some(stat) = fs::fstat(&file).ok().filter(|_| is_same) {
            *self.replaced.borrow_mut() = Some((file, stat));
        }
        is_same
    }

    /// Returns what another program wrote to the replaced file after its content was compared: a program that writes in place had
    /// opened it before.
    pub(crate) fn saved_late(&self) -> Option<Vec<u8>> {
        let (mut file, then) = self.replaced.take()?;
        let now = fs::fstat(&file).ok()?;
        if (now.st_size, now.st_mtime, now.st_mtime_nsec) == (then.st_size, then.st_mtime, then.st_mtime_nsec) {
            return None;
        }
        file.rewind().ok()?;
        read_bounded(&mut file)
    }

    fn has(&self, name: impl rustix::path::Arg, content: &[u8]) -> bool {
        self.read(name).is_some_and(|bytes| bytes == content)
    }

    fn read(&self, name: impl rustix::path::Arg) -> Option<Vec<u8>> {
        open_beside(&self.place, name).map(|(_, bytes)| bytes)
    }

    /// Makes the step durable.
    pub(crate) fn sync(&self) -> Result<()> {
        let parent = self.shown.parent().unwrap_or(Path::new(""));
        fault::point()
            .and_then(|()| disk::sync_dir(&self.place.dir, parent))
            .map_err(|e| Error::io("sync the directory of", &self.shown, e))
    }

    /// The device and inode of the directory, so that it is synced once for all of its files.
    pub(crate) fn directory(&self) -> (u64, u64) {
        fs::fstat(&self.place.dir).map_or((0, 0), |stat| (stat.st_dev, stat.st_ino))
    }

    /// Removes the temporary file: the new content of a step that is not committed, or the old one of a step that is.
    pub(crate) fn discard(&self) {
        // Best effort: it may not exist any more.
        let _ = fault::file_point(FileCall::Remove).and_then(|()| fs::unlinkat(&self.place.dir, self.temp.as_str(), AtFlags::empty()));
    }
}

/// Whether a file system or kernel does not know these flags of a rename.
fn is_unsupported(errno: Errno) -> bool {
    matches!(errno, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}

/// Opens and reads a regular file; `None` for anything else.
fn open_beside(place: &FileLocation, name: impl rustix::path::Arg) -> Option<(File, Vec<u8>)> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut file = File::from(fs::openat(&place.dir, name, flags, Mode::empty()).ok()?);
    file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let bytes = read_bounded(&mut file)?;
    Some((file, bytes))
}

fn read_bounded(file: &mut File) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(limits::READ_FILE_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Returns the content of a temporary file beside a file.
pub(crate) fn leftover(open: &OpenRoot<'_>, rel: &[u8], temp: &str) -> Option<Vec<u8>> {
    open_beside(&open.place(rel, false).ok().flatten()?, temp).map(|(_, bytes)| bytes)
}

/// Removes a temporary file beside a file, if it exists.
pub(crate) fn sweep(open: &OpenRoot<'_>, rel: &[u8], temp: &str) -> rustix::io::Result<()> {
    let Ok(Some(place)) = open.place(rel, false) else { return Ok(()) };
    match fault::file_point(FileCall::Remove).and_then(|()| fs::unlinkat(&place.dir, temp, AtFlags::empty())) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno),
    }
}

/// Writes the save of another program to the first of these temporary files that does not exist, for recovery.
pub(crate) fn keep(open: &OpenRoot<'_>, rel: &[u8], temps: impl Iterator<Item = String>, bytes: &[u8]) -> Result<()> {
    let shown = || PathBuf::from(String::from_utf8_lossy(rel).into_owned());
    let place = open.place(rel, true)?.ok_or_else(|| Error::io("create", shown(), Errno::NOENT.into()))?;
    for temp in temps {
        if fs::statat(&place.dir, temp.as_str(), AtFlags::SYMLINK_NOFOLLOW).is_err() {
            return write_temp(&AtomicStep::new(place, temp, shown()), bytes, TempMode::Exact(PRIVATE));
        }
    }
    Err(Error::io("save a copy of", shown(), Errno::EXIST.into()))
}

/// Removes the directories above a removed file that are empty now, but never the root.
pub(crate) fn prune(open: &OpenRoot<'_>, rel: &[u8]) {
    let mut parent = split(rel).0;
    while !parent.is_empty() {
        fault::kill_point();
        let removed = match open.place(parent, false) {
            Ok(Some(place)) => fs::unlinkat(&place.dir, &*place.name, AtFlags::REMOVEDIR),
            Ok(None) => Err(Errno::NOENT),
            Err(_) => return,
        };
        // A directory that was not created either: the ones above it may have been.
        if !matches!(removed, Ok(()) | Err(Errno::NOENT)) {
            return;
        }
        parent = split(parent).0;
    }
}

/// Removes a directory and the directories below it, as far as they contain nothing else. Links are not followed.
pub(crate) fn remove_empty(open: &OpenRoot<'_>, rel: &[u8], depth: usize) {
    let Ok(Some(dir)) = open.dir(rel) else { return };
    if depth < limits::WALK_DEPTH
        && let Ok(entries) = fs::Dir::read_from(&dir)
    {
        for entry in entries.flatten().filter(|entry| entry.file_type() == FileType::Directory) {
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                remove_empty(open, &[rel, b"/", name].concat(), depth + 1);
            }
        }
    }
    if let Ok(Some(place)) = open.own_place(rel) {
        // Best effort: what is not empty stays.
        let _ = fs::unlinkat(&place.dir, &*place.name, AtFlags::REMOVEDIR);
    }
}

#[cfg(test)]
mod tests {
    use super::{super::contain::Root, *};
    use crate::store::mount::Links;
    use std::fs as std_fs;

    /// Prepares a step for `a.md` of a directory.
    fn step(dir: &Path, bytes: Option<&[u8]>) -> AtomicStep {
        let root = Root::new(dir.canonicalize().unwrap(), Links::default());
        prepare(&root.open().unwrap(), b"a.md", bytes, temp_name("test", 0), dir.join("a.md")).unwrap().unwrap()
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test acts as another program")]
    fn a_step_does_nothing_if_another_program_was_faster() {
        let new = Some(&b"new"[..]);
        for (before, after, found, seen) in [
            (Some(&b"old"[..]), new, Some("theirs"), vec![b"theirs".to_vec()]),
            (Some(b"old"), new, None, Vec::new()),
            (None, new, Some("theirs"), Vec::new()),
            (Some(b"old"), None, Some("theirs"), vec![b"theirs".to_vec()]),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let file = dir.path().join("a.md");
            if let Some(found) = found {
                std_fs::write(&file, found).unwrap();
            }
            let step = step(dir.path(), after);
            assert_eq!(step.commit(before, after).unwrap(), Committed::Raced(seen), "{before:?} {after:?} {found:?}");
            assert_eq!(std_fs::read_to_string(&file).ok().as_deref(), found);
            step.discard();
            assert_eq!(std_fs::read_dir(dir.path()).unwrap().count(), usize::from(found.is_some()));
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test acts as another program")]
    fn what_a_program_writes_to_the_replaced_file_is_noticed() {
        for after in [Some(&b"new"[..]), None] {
            let dir = tempfile::tempdir().unwrap();
            std_fs::write(dir.path().join("a.md"), "old").unwrap();
            let mut opened = std_fs::OpenOptions::new().write(true).open(dir.path().join("a.md")).unwrap();
            let steps = [step(dir.path(), after)];
            assert_eq!(steps[0].commit(Some(b"old"), after).unwrap(), Committed::Done);
            steps[0].discard();
            opened.write_all(b"theirs").unwrap();
            assert_eq!(steps[0].saved_late().as_deref(), Some(&b"theirs"[..]));
            assert_eq!(std_fs::read(dir.path().join("a.md")).ok().as_deref(), after);
        }
    }
}
