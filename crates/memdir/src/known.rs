//! What is remembered of each project: where it is, what it came from, and whose memory it uses. One small file each,
//! `projects/ID.toml`, so that nobody waits for anybody. Losing one loses no memory.

use memdir_core::{
    base::disk::{self, Replace},
    project::{self, Project},
};
use serde::{Deserialize, Serialize};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// A project that was met.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Known {
    /// Its root directory.
    pub(crate) root: PathBuf,
    /// Its remotes, without credentials.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) remotes: Vec<String>,
    /// Its first commit, if it was made here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) first_commit: Option<String>,
    /// The project whose memory it uses instead of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) memory: Option<String>,
}

impl Known {
    /// What is to be remembered of a project.
    pub(crate) fn of(project: &Project) -> Known {
        let hints = project::hints(project);
        Known { root: project.root.clone(), remotes: hints.remotes, first_commit: hints.first_commit, memory: None }
    }

    /// Whether the project was cloned from this one's directory.
    pub(crate) fn is_origin_of(&self, project: &Project) -> bool {
        !self.root.as_os_str().is_empty() && project::local_remotes(project).contains(&self.root)
    }

    /// Whether the two may be the same project.
    pub(crate) fn agrees(&self, other: &Known) -> bool {
        let hints = |known: &Known| project::Hints { remotes: known.remotes.clone(), first_commit: known.first_commit.clone() };
        hints(self).agree(&hints(other))
    }
}

/// What is remembered of a project.
pub(crate) fn read(home: &Path, id: &str) -> Option<Known> {
    toml::from_str(&fs::read_to_string(file(home, id)).ok()?).ok()
}

/// Remembers a project that was not known, or whose settings of git have changed since, as when it gets a remote. Best effort:
/// a memory works without it, and who only looks makes no home. Costs two looks at file times when there is nothing to do.
pub(crate) fn note(home: &Path, project: &Project) {
    if !home.is_dir() {
        return;
    }
    let changed = |path: &Path| fs::metadata(path).and_then(|meta| meta.modified()).ok();
    let noted = changed(&file(home, &project.id));
    let set = project.git.as_ref().and_then(|git| changed(&git.join("config")));
    if noted.is_some() && noted > set {
        return;
    }
    let old = read(home, &project.id);
    let new = Known::of(project);
    // A first commit that was seen once stays true when git forgets its log.
    let first_commit = new.first_commit.clone().or_else(|| old.as_ref().and_then(|old| old.first_commit.clone()));
    let new = Known { memory: old.as_ref().and_then(|old| old.memory.clone()), first_commit, ..new };
    let _ = write(home, &project.id, &new);
}

/// Remembers a project, at once and whole.
pub(crate) fn write(home: &Path, id: &str, known: &Known) -> io::Result<()> {
    let path = file(home, id);
    disk::create_private_dir(path.parent().unwrap_or(home))?;
    let text = toml::to_string(known).map_err(io::Error::other)?;
    // A link to an adopted memory exists only here; everything else is derived from the project again.
    let how = if known.memory.is_some() { Replace::DURABLE } else { Replace::DERIVED };
    disk::replace(&path, how, |file| io::Write::write_all(file, text.as_bytes()))
}

/// Forgets a project's record; its memories stay.
pub(crate) fn forget(home: &Path, id: &str) -> io::Result<()> {
    match fs::remove_file(file(home, id)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Every project that has a memory or a record, sorted.
pub(crate) fn ids(home: &Path) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for entry in fs::read_dir(home.join("projects")).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            ids.push(name);
        } else if let Some(id) = name.strip_suffix(".toml") {
            ids.push(id.to_owned());
        }
    }
    ids.sort();
    ids.dedup();
    ids
}

fn file(home: &Path, id: &str) -> PathBuf {
    home.join("projects").join(format!("{id}.toml"))
}
