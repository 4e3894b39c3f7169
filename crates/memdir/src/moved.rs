//! Memories of this project that are left at another id: of the same repository elsewhere, or of one that was moved here. Only reports
//! them; `memdir projects adopt` connects them.

use crate::{
    config::Settings,
    project_records::{self, ProjectRecord},
    scope::Scope,
};
use memdir_core::internal::{base::text::counted, store::mounts::ENTRYPOINT_FILE};
use serde::Serialize;
use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

/// Other projects with the same remote or first commit. They are only reported, since a fork has them too.
pub(crate) fn similar_projects(settings: &Settings, scope: &Scope) -> Vec<String> {
    if settings.dir.is_some() || settings.project.is_some() {
        return Vec::new();
    }
    let (home, here) = (&settings.home.value, ProjectRecord::from_project(&scope.project));
    let is_other = |id: &String| *id != scope.project.id && *id != scope.id;
    let is_similar =
        |id: &String| project_records::read(home, id).is_some_and(|record| record.agrees(&here) || record.is_origin_of(&scope.project));
    project_records::ids(home).into_iter().filter(is_other).filter(is_similar).collect()
}

/// A project whose directory is gone, and whose memories this project does not use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct MovedProject {
    /// Its id.
    pub(crate) id: String,
    /// The directory that no longer exists.
    pub(crate) root: PathBuf,
    /// The number of its memories.
    pub(crate) memories: usize,
}

impl fmt::Display for MovedProject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MovedProject { id, root, memories } = self;
        let are = if *memories == 1 { "is" } else { "are" };
        let memories = counted(*memories as u64, "memory", "memories");
        write!(f, "{memories} from {} {are} not used here; reconnect with: memdir projects adopt {id}", root.display())
    }
}

/// The project that was moved to this directory: it has memories, its own directory is gone, and this project has no memories yet. The
/// records are read only in that last case.
pub(crate) fn moved_from(settings: &Settings, scope: &Scope) -> Option<MovedProject> {
    let own = scope.mounts.iter().find(|scoped| scoped.mount.prefix.is_empty())?;
    if scope.id != scope.project.id || has_memories(&own.mount.root) {
        return None;
    }
    let home = &settings.home.value;
    let gone = similar_projects(settings, scope).into_iter().filter_map(|id| {
        let record = project_records::read(home, &id)?;
        // The memory of a project that uses another one is not that of the project.
        let root = record.memory.is_none().then_some(record.root)?;
        let memories = project_records::count_memories(&settings.places().project(&id));
        (memories > 0 && !root.as_os_str().is_empty() && !root.exists()).then_some(MovedProject { id, root, memories })
    });
    gone.max_by_key(|moved| moved.memories)
}

fn has_memories(dir: &Path) -> bool {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).any(|name| name != ENTRYPOINT_FILE && !name.to_string_lossy().starts_with('.'))
}
