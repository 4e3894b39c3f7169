//! Lists a host's directories, and reads its small files. Does not follow symbolic links while listing.

use memdir_core::internal::base::sort::SharedSort as _;
use memdir_core::{
    Problem, Stamp,
    internal::base::{limits, text::human_bytes},
};
use std::{
    fs::{self, File, Metadata},
    io::{self, Read as _},
    path::{Path, PathBuf},
};

/// Reads a whole file, which must not be larger than [`limits::READ_FILE_BYTES`]. The size is counted while it is read, because a
/// file may grow, and some report none.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limits::READ_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limits::READ_FILE_BYTES {
        return Err(io::Error::other(format!("larger than {}", human_bytes(limits::READ_FILE_BYTES))));
    }
    Ok(bytes)
}

/// One entry of a directory.
pub(crate) struct DirectoryItem {
    pub(crate) path: PathBuf,
    pub(crate) name: String,
    pub(crate) is_dir: bool,
}

/// Lists a directory, sorted by name; a directory that does not exist is empty. Names that are not UTF-8 are skipped.
pub(crate) fn list(dir: &Path, problems: &mut Vec<Problem>) -> Vec<DirectoryItem> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Vec::new(),
        Err(error) => {
            problems.push(Problem::whole(format!("cannot list {}: {error}", dir.display())));
            return Vec::new();
        }
    };
    let mut items: Vec<DirectoryItem> = entries
        .flatten()
        .filter_map(|entry| {
            let kind = entry.file_type().ok()?;
            let name = entry.file_name().into_string().ok()?;
            (kind.is_dir() || kind.is_file()).then(|| DirectoryItem { path: entry.path(), name, is_dir: kind.is_dir() })
        })
        .collect();
    items.shared_sort_by(|a, b| a.name.cmp(&b.name));
    items
}

/// Lists every file below a directory, sorted by path.
pub(crate) fn files(dir: &Path, problems: &mut Vec<Problem>) -> Vec<DirectoryItem> {
    fn descend(dir: &Path, depth: usize, problems: &mut Vec<Problem>, out: &mut Vec<DirectoryItem>) {
        for item in list(dir, problems) {
            if out.len() >= limits::WALK_FILES {
                return;
            }
            if item.is_dir {
                if depth < limits::WALK_DEPTH {
                    descend(&item.path, depth + 1, problems, out);
                }
            } else {
                out.push(item);
            }
        }
    }
    let mut out = Vec::new();
    descend(dir, 0, problems, &mut out);
    out
}

/// Returns the stamp of a file, or `None` if it does not exist.
pub(crate) fn stamp(path: &Path) -> Option<Stamp> {
    fs::metadata(path).ok().map(|metadata| stamp_from(&metadata))
}

#[cfg(unix)]
fn stamp_from(metadata: &Metadata) -> Stamp {
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
fn stamp_from(metadata: &Metadata) -> Stamp {
    let since_epoch = |time: io::Result<std::time::SystemTime>| {
        let nanos = time.ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok()).map_or(0, |age| age.as_nanos());
        i64::try_from(nanos).unwrap_or(i64::MAX)
    };
    Stamp { size: metadata.len(), mtime_ns: since_epoch(metadata.modified()), ctime_ns: since_epoch(metadata.created()), inode: 0 }
}
