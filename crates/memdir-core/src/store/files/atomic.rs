//! The only writer of memories. A file always has its old or its new content: the new content is written to a temporary file
//! beside it, synced, and renamed into place. Works with directory handles below an opened root, unlike `base/disk.rs`.

use super::{
    contain::{Open, Place},
    fault,
};
use crate::base::error::{Error, Result};
use rustix::{
    fs::{self, AtFlags, Mode, OFlags},
    io::Errno,
};
use std::{fs::File, io::Write as _, path::PathBuf};

/// The pending replacement or removal of one file.
pub(crate) enum Step {
    /// The new content waits in a temporary file.
    Replace { place: Place, temp: String, shown: PathBuf },
    /// The file is removed.
    Remove { place: Place, shown: PathBuf },
}

/// Returns the name of a change's temporary file for its n-th file. The journal contains the id, so that recovery after a crash
/// knows the name.
pub(crate) fn temp_name(change: &str, n: usize) -> String {
    format!(".memdir-{change}-{n}.tmp")
}

/// Writes and syncs the new content to a temporary file. Nothing visible changes.
pub(crate) fn prepare(open: &Open<'_>, rel: &[u8], bytes: Option<&[u8]>, temp: String, shown: PathBuf) -> Result<Option<Step>> {
    let Some(bytes) = bytes else {
        return Ok(open.own_place(rel)?.map(|place| Step::Remove { place, shown }));
    };
    let place = open.place(rel, true)?.ok_or_else(|| Error::io("create", &shown, Errno::NOENT.into()))?;
    // A replaced file keeps its mode; a new one is private.
    let mode = match fs::statat(&place.dir, &*place.name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Mode::from_raw_mode(stat.st_mode & 0o7777),
        Err(_) => Mode::RUSR | Mode::WUSR,
    };
    let step = Step::Replace { place, temp, shown };
    match write_temp(&step, bytes, mode) {
        Ok(()) => Ok(Some(step)),
        Err(e) => {
            step.discard();
            Err(e)
        }
    }
}

fn write_temp(step: &Step, bytes: &[u8], mode: Mode) -> Result<()> {
    let Step::Replace { place, temp, shown } = step else { return Ok(()) };
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    fault::point().map_err(|e| Error::io("write", shown, e))?;
    let fd = fs::openat(&place.dir, temp.as_str(), flags, Mode::RUSR | Mode::WUSR).map_err(|e| Error::io("write", shown, e.into()))?;
    let mut file = File::from(fd);
    fault::point().and_then(|()| file.write_all(bytes)).map_err(|e| Error::io("write", shown, e))?;
    if mode != Mode::RUSR | Mode::WUSR {
        fs::fchmod(&file, mode).map_err(|e| Error::io("set the mode of", shown, e.into()))?;
    }
    fault::point().and_then(|()| file.sync_all()).map_err(|e| Error::io("sync", shown, e))
}

impl Step {
    /// Applies the step. It is durable only after [`Step::sync`].
    pub(crate) fn commit(&self) -> Result<()> {
        let (Step::Replace { shown, .. } | Step::Remove { shown, .. }) = self;
        fault::point().map_err(|e| Error::io("replace", shown, e))?;
        match self {
            Step::Replace { place, temp, shown } => {
                fs::renameat(&place.dir, temp.as_str(), &place.dir, &*place.name).map_err(|e| Error::io("replace", shown, e.into()))
            }
            Step::Remove { place, shown } => match fs::unlinkat(&place.dir, &*place.name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => Ok(()),
                Err(e) => Err(Error::io("remove", shown, e.into())),
            },
        }
    }

    /// Makes the step durable.
    pub(crate) fn sync(&self) -> Result<()> {
        let (Step::Replace { place, shown, .. } | Step::Remove { place, shown }) = self;
        fault::point().and_then(|()| Ok(fs::fsync(&place.dir)?)).map_err(|e| Error::io("sync the directory of", shown, e))
    }

    /// The device and inode of the directory, so that it is synced once for all of its files.
    pub(crate) fn directory(&self) -> (u64, u64) {
        let (Step::Replace { place, .. } | Step::Remove { place, .. }) = self;
        fs::fstat(&place.dir).map_or((0, 0), |stat| (stat.st_dev, stat.st_ino))
    }

    /// Removes the temporary file of a step that is not committed.
    pub(crate) fn discard(&self) {
        if let Step::Replace { place, temp, .. } = self {
            fault::kill_point();
            // Best effort: it may not exist any more.
            let _ = fs::unlinkat(&place.dir, temp.as_str(), AtFlags::empty());
        }
    }
}

/// Removes the temporary files of a change that crashed.
pub(crate) fn sweep(open: &Open<'_>, change: &str, rels: &[String]) {
    for (n, rel) in rels.iter().enumerate() {
        if let Ok(Some(place)) = open.place(rel.as_bytes(), false) {
            fault::kill_point();
            let _ = fs::unlinkat(&place.dir, temp_name(change, n).as_str(), AtFlags::empty());
        }
    }
}

/// Removes the directories above a removed file that are empty now, but never the root.
pub(crate) fn prune(open: &Open<'_>, rel: &str) {
    let mut rel = rel;
    while let Some((parent, _)) = rel.rsplit_once('/') {
        fault::kill_point();
        let gone =
            open.place(parent.as_bytes(), false).ok().flatten().map(|place| fs::unlinkat(&place.dir, &*place.name, AtFlags::REMOVEDIR));
        if !matches!(gone, Some(Ok(()))) {
            return;
        }
        rel = parent;
    }
}
