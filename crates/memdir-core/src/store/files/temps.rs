//! The temporary files of a change: their names, which recovery derives from the record, and what is done with those that a crash left.

use super::{all_on_disk, atomic, contain::Root, on_disk};
use crate::base::{
    error::{Error, Result},
    limits,
};

/// The names of the temporary files of one file in a change. Recovery derives them from the record.
#[derive(Debug, Clone)]
pub(super) struct ChangeTempName {
    /// The id of the change, and the number of its part.
    pub(super) stem: String,
    /// The position of the file in the record of its part.
    pub(super) file: usize,
}

impl ChangeTempName {
    /// The name for one purpose: the change itself (empty), its rollback (`-back`), recovery (`-undo`), or a save of another program
    /// that is kept (`-saved0` and so on).
    pub(super) fn with(&self, purpose: &str) -> String {
        atomic::temp_name(&format!("{}{purpose}", self.stem), self.file)
    }

    /// The names for saves of other programs.
    pub(super) fn saves(&self) -> impl Iterator<Item = String> {
        (0..limits::CHANGE_ATTEMPTS * limits::CHANGE_ATTEMPTS).map(|n| self.with(&format!("-saved{n}")))
    }
}

/// Keeps the save of another program in a temporary file until the change is settled.
pub(super) fn keep_save(root: &Root, rel: &str, temp: &ChangeTempName, bytes: &[u8]) -> Result<()> {
    let open = root.open()?;
    atomic::keep(&open, &on_disk(&open, rel)?, temp.saves(), bytes)
}

/// Returns the contents of a temporary file, in every folder in which it may be.
pub(super) fn leftovers(root: &Root, rel: &str, temp: &str) -> Result<Vec<Vec<u8>>> {
    let open = root.open()?;
    Ok(all_on_disk(&open, rel)?.iter().filter_map(|disk| atomic::leftover(&open, disk, temp)).collect())
}

/// Removes a temporary file, in every folder in which it may be.
pub(super) fn remove(root: &Root, rel: &str, temp: &str) -> Result<()> {
    let open = root.open()?;
    for disk in all_on_disk(&open, rel)? {
        atomic::sweep(&open, &disk, temp).map_err(|errno| Error::io("remove", root.path().join(temp), errno.into()))?;
    }
    Ok(())
}

/// Parses the name of a change's temporary file into the id of the change and the position of the file.
pub(super) fn parse_temp_name(name: &str) -> Option<(&str, usize)> {
    let inner = name.strip_prefix(".memdir-")?.strip_suffix(".tmp")?;
    let (stem, file) = inner.rsplit_once('-')?;
    let id = stem.split('-').next().filter(|id| id.len() == 8 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()))?;
    Some((id, file.parse().ok()?))
}
