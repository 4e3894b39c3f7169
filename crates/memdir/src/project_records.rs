//! Records of projects: their root directory, their remotes, and the memory they use. Each is a small file, `projects/ID.toml`, which is
//! read without a lock and changed only through [`RecordsLock`]. No memory depends on a record.

use memdir_core::internal::base::sort::SharedSort as _;
use memdir_core::{
    Project,
    internal::{
        base::disk::{self, FileLock, LockWait, Replace},
        project,
        store::{mounts::ENTRYPOINT_FILE, space::Places},
    },
};
use serde::{Deserialize, Serialize};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The record of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProjectRecord {
    /// The root directory.
    pub(crate) root: PathBuf,
    /// The remotes, without credentials.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) remotes: Vec<String>,
    /// The first commit, if it was made here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) first_commit: Option<String>,
    /// The project whose memory it uses instead of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) memory: Option<String>,
}

impl ProjectRecord {
    /// The record of a project as it is now.
    pub(crate) fn from_project(project: &Project) -> ProjectRecord {
        let hints = project::hints(project);
        ProjectRecord { root: project.root.clone(), remotes: hints.remotes, first_commit: hints.first_commit, memory: None }
    }

    /// Whether `project` was cloned from this project's directory.
    pub(crate) fn is_origin_of(&self, project: &Project) -> bool {
        !self.root.as_os_str().is_empty() && project::local_remotes(project).contains(&self.root)
    }

    /// Whether the remotes or first commits agree, so that both may be the same project.
    pub(crate) fn agrees(&self, other: &ProjectRecord) -> bool {
        let hints = |record: &ProjectRecord| project::Hints { remotes: record.remotes.clone(), first_commit: record.first_commit.clone() };
        hints(self).agree(&hints(other))
    }
}

/// Reads the record of a project.
pub(crate) fn read(home: &Path, id: &str) -> Option<ProjectRecord> {
    toml::from_str(&fs::read_to_string(file(home, id)).ok()?).ok()
}

/// Writes the record of a project that has none, or whose git configuration is newer, for example with a new remote. Best effort:
/// errors are ignored, and a home that does not exist is not created. Costs two `stat` calls if there is nothing to do.
pub(crate) fn note(home: &Path, project: &Project) {
    if !home.is_dir() || is_current(home, project) {
        return;
    }
    let Ok(lock) = RecordsLock::acquire(home, LockWait::BEST_EFFORT) else { return };
    if is_current(home, project) {
        return;
    }
    let old = read(home, &project.id);
    let new = ProjectRecord::from_project(project);
    // The first commit stays valid when git expires its log.
    let first_commit = new.first_commit.clone().or_else(|| old.as_ref().and_then(|old| old.first_commit.clone()));
    let new = ProjectRecord { memory: old.as_ref().and_then(|old| old.memory.clone()), first_commit, ..new };
    let _ = lock.write(&project.id, &new);
}

/// Whether the record is newer than the git configuration.
fn is_current(home: &Path, project: &Project) -> bool {
    let modified = |path: &Path| fs::metadata(path).and_then(|meta| meta.modified()).ok();
    let recorded = modified(&file(home, &project.id));
    recorded.is_some() && recorded > project.git.as_ref().and_then(|git| modified(&git.join("config")))
}

/// The lock of all records: what was read since it was acquired stays current until it is dropped.
#[derive(Debug)]
pub(crate) struct RecordsLock<'a> {
    home: &'a Path,
    _lock: FileLock,
}

impl<'a> RecordsLock<'a> {
    /// Acquires the lock.
    pub(crate) fn acquire(home: &'a Path, wait: LockWait) -> io::Result<RecordsLock<'a>> {
        Ok(RecordsLock { home, _lock: FileLock::for_update(&Places::new(home).projects(), wait)? })
    }

    /// Writes a record atomically.
    pub(crate) fn write(&self, id: &str, record: &ProjectRecord) -> io::Result<()> {
        let path = file(self.home, id);
        disk::create_private_dir(path.parent().unwrap_or(self.home))?;
        let text = toml::to_string(record).map_err(io::Error::other)?;
        // A link to an adopted memory exists only here; everything else is derived from the project again.
        let how = if record.memory.is_some() { Replace::DURABLE } else { Replace::DERIVED };
        disk::replace(&path, how, |file| io::Write::write_all(file, text.as_bytes()))
    }

    /// Deletes a record; the memories stay.
    pub(crate) fn delete(&self, id: &str) -> io::Result<()> {
        match fs::remove_file(file(self.home, id)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// The ids of all projects with a memory or a record, sorted.
pub(crate) fn ids(home: &Path) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for entry in fs::read_dir(Places::new(home).projects()).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            ids.push(name);
        } else if let Some(id) = name.strip_suffix(".toml") {
            ids.push(id.to_owned());
        }
    }
    ids.shared_sort();
    ids.dedup();
    ids
}

/// The number of memories in a directory, without opening it. Hidden files, such as those of git, are none.
pub(crate) fn count_memories(dir: &Path) -> usize {
    let mut dirs = vec![dir.to_owned()];
    let mut count = 0;
    while let Some(dir) = dirs.pop() {
        let is_hidden = |entry: &fs::DirEntry| entry.file_name().as_encoded_bytes().starts_with(b".");
        for entry in fs::read_dir(dir).into_iter().flatten().flatten().filter(|entry| !is_hidden(entry)) {
            let kind = entry.file_type();
            if kind.as_ref().is_ok_and(fs::FileType::is_dir) {
                dirs.push(entry.path());
            } else if kind.is_ok_and(|kind| kind.is_file()) && entry.file_name() != ENTRYPOINT_FILE {
                count += 1;
            }
        }
    }
    count
}

fn file(home: &Path, id: &str) -> PathBuf {
    Places::new(home).projects().join(format!("{id}.toml"))
}
