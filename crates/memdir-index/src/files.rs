//! File operations for the derived files of the index: private modes, atomic replacement, no syncing. Never used for a memory.

use crate::errors::corrupt;
use bytemuck::{Pod, Zeroable};
use memdir_core::{
    Error, Result,
    internal::base::{
        disk::{self, Replace, TempName},
        raw::{Mapped, map_file},
    },
};
use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::Path,
};

/// Identifies a version of a file without reading it: by size, modification time and inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Mark {
    size: u64,
    mtime_ns: i64,
    inode: u64,
}

impl Mark {
    /// The size of the file.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Returns the mark of a file; all zero if it does not exist.
    pub(super) fn read(path: &Path) -> Mark {
        fs::metadata(path).map(|meta| Mark::from(&meta)).unwrap_or_else(|_| Mark::zeroed())
    }
}

#[cfg(unix)]
impl From<&fs::Metadata> for Mark {
    fn from(meta: &fs::Metadata) -> Mark {
        use std::os::unix::fs::MetadataExt as _;
        Mark { size: meta.size(), mtime_ns: meta.mtime().wrapping_mul(1_000_000_000).wrapping_add(meta.mtime_nsec()), inode: meta.ino() }
    }
}

#[cfg(not(unix))]
impl From<&fs::Metadata> for Mark {
    fn from(meta: &fs::Metadata) -> Mark {
        let since = meta.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        Mark { size: meta.len(), mtime_ns: since.map_or(0, |since| since.as_nanos() as i64), inode: 0 }
    }
}

/// Makes a directory that only its owner may enter, with its parents.
pub(super) fn create_dir(path: &Path) -> Result<()> {
    disk::create_private_dir(path).map_err(|source| Error::io("create", path, source))
}

/// Puts a whole file in the place of what is there, in one step. Only for the holder of the index's lock.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let how = Replace { temp: TempName::Reused, ..Replace::DERIVED };
    disk::replace(path, how, |file| file.write_all(bytes)).map_err(|source| Error::io("replace", path, source))
}

/// Renames a damaged file, so that it is no longer opened.
#[expect(clippy::disallowed_methods, reason = "a derived file, not a memory")]
pub(super) fn set_aside(path: &Path) -> Result<()> {
    match fs::rename(path, path.with_extension("damaged")) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(Error::io("set aside", path, source)),
        _ => Ok(()),
    }
}

/// Maps a file, or returns `None` if it does not exist. The mark is that of the mapped file.
pub(super) fn map(path: &Path) -> Result<Option<(Mapped, Mark)>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(source) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Error::io("open", path, source)),
    };
    let mark = file.metadata().map(|meta| Mark::from(&meta)).map_err(|source| Error::io("read", path, source))?;
    if mark.size == 0 {
        return Err(corrupt(path, "it is empty"));
    }
    let mapped = map_file(&file).map_err(|source| Error::io("memory-map", path, source))?;
    Ok(Some((mapped, mark)))
}
