//! Looks through a host's directories. Follows no links out of them, opens no file.

use super::Found;
use memdir_core::{
    base::{error::Problem, limits},
    store::Stamp,
};
use std::{
    fs::{self, Metadata},
    io,
    path::{Path, PathBuf},
};

/// One entry of a directory.
pub(super) struct Item {
    pub(super) path: PathBuf,
    pub(super) name: String,
    pub(super) is_dir: bool,
}

/// What is in a directory, sorted by name; nothing if it is not there. Names that are not UTF-8 are left out.
pub(super) fn list(dir: &Path, found: &mut Found) -> Vec<Item> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Vec::new(),
        Err(error) => {
            found.problems.push(Problem::whole(format!("cannot list {}: {error}", dir.display())));
            return Vec::new();
        }
    };
    let mut items: Vec<Item> = entries
        .flatten()
        .filter_map(|entry| {
            let kind = entry.file_type().ok()?;
            let name = entry.file_name().into_string().ok()?;
            (kind.is_dir() || kind.is_file()).then(|| Item { path: entry.path(), name, is_dir: kind.is_dir() })
        })
        .collect();
    items.sort_by(|a, b| a.name.cmp(&b.name));
    items
}

/// Every file below a directory, sorted by path.
pub(super) fn files(dir: &Path, found: &mut Found) -> Vec<Item> {
    fn go(dir: &Path, depth: usize, found: &mut Found, out: &mut Vec<Item>) {
        for item in list(dir, found) {
            if out.len() >= limits::WALK_FILES {
                return;
            }
            if item.is_dir {
                if depth < limits::WALK_DEPTH {
                    go(&item.path, depth + 1, found, out);
                }
            } else {
                out.push(item);
            }
        }
    }
    let mut out = Vec::new();
    go(dir, 0, found, &mut out);
    out
}

/// A file's stamp; nothing if it has gone meanwhile.
pub(super) fn stamp(path: &Path) -> Option<Stamp> {
    fs::metadata(path).ok().map(|metadata| stamp_of(&metadata))
}

#[cfg(unix)]
fn stamp_of(metadata: &Metadata) -> Stamp {
    use std::os::unix::fs::MetadataExt;
    let nanos = |secs: i64, nanos: i64| secs.saturating_mul(1_000_000_000).saturating_add(nanos);
    Stamp {
        size: metadata.size(),
        mtime_ns: nanos(metadata.mtime(), metadata.mtime_nsec()),
        ctime_ns: nanos(metadata.ctime(), metadata.ctime_nsec()),
        inode: metadata.ino(),
    }
}

#[cfg(not(unix))]
fn stamp_of(metadata: &Metadata) -> Stamp {
    let since = |time: io::Result<std::time::SystemTime>| {
        let nanos = time.ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok()).map_or(0, |age| age.as_nanos());
        i64::try_from(nanos).unwrap_or(i64::MAX)
    };
    Stamp { size: metadata.len(), mtime_ns: since(metadata.modified()), ctime_ns: since(metadata.created()), inode: 0 }
}
