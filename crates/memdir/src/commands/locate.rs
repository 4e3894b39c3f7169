//! `memdir where`: which memories are in force here, why, and what would change it.

use crate::{
    config::Settings,
    known::{self, Known},
    output::{Answer, Page},
    scope::Scope,
};
use memdir_core::store::Access;
use serde::Serialize;
use std::{io, path::PathBuf};

#[derive(Serialize)]
struct Place {
    enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    off_by: Option<String>,
    project: String,
    kind: memdir_core::project::Kind,
    root: PathBuf,
    checkout: PathBuf,
    why: String,
    mounts: Vec<Mounted>,
    /// Projects that may be the same as this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    alike: Vec<String>,
    changes: Vec<String>,
}

#[derive(Serialize)]
struct Mounted {
    prefix: String,
    path: PathBuf,
    access: Access,
    exists: bool,
    why: String,
}

pub(crate) fn run(settings: &Settings, scope: &Scope) -> Answer {
    let mounts = scope.mounts.iter().map(|placed| Mounted {
        prefix: placed.mount.prefix.clone(),
        path: placed.mount.root.clone(),
        access: placed.mount.access,
        exists: placed.mount.root.is_dir(),
        why: placed.why.clone(),
    });
    let place = Place {
        enabled: scope.off.is_none(),
        off_by: scope.off.clone(),
        project: scope.id.clone(),
        kind: scope.project.kind,
        root: scope.project.root.clone(),
        checkout: scope.project.checkout.clone(),
        why: scope.project.why(),
        mounts: mounts.collect(),
        alike: alike(settings, scope),
        changes: changes(settings, scope),
    };
    Answer::new(place, show).with_notes(scope.notes.clone())
}

/// Other projects with the same remote or first commit. Only ever told: a fork looks the same.
fn alike(settings: &Settings, scope: &Scope) -> Vec<String> {
    if settings.dir.is_some() || settings.project.is_some() {
        return Vec::new();
    }
    let (home, here) = (&settings.home.value, Known::of(&scope.project));
    let other = |id: &String| *id != scope.project.id && *id != scope.id;
    known::ids(home)
        .into_iter()
        .filter(other)
        .filter(|id| known::read(home, id).is_some_and(|known| known.agrees(&here) || known.is_origin_of(&scope.project)))
        .collect()
}

/// What would make it another memory.
fn changes(settings: &Settings, scope: &Scope) -> Vec<String> {
    use memdir_core::project::{Kind, Worktrees};
    if settings.dir.is_some() {
        return vec!["without --dir and MEMDIR_DIR: the memory of this project".into()];
    }
    let mut out = vec!["--dir PATH: one directory as the whole memory".to_owned()];
    let has_team = scope.mounts.iter().any(|placed| placed.mount.prefix == "team");
    if !has_team && scope.why_no_team(&settings.home.value).is_none() {
        out.push("memdir init --team: a memory for everybody who works on this repository".into());
    }
    match (scope.project.kind, settings.config.worktrees) {
        (Kind::Worktree, Worktrees::Shared) => out.push("worktrees = \"separate\": a memory for this worktree alone".into()),
        (Kind::Worktree, Worktrees::Separate) => out.push("worktrees = \"shared\": the memory of the whole repository".into()),
        (Kind::Directory, _) => out.push("git init: the project would be the repository, from every directory in it".into()),
        _ => {}
    }
    out
}

fn show(place: &Place, page: &mut Page<'_>) -> io::Result<()> {
    if let Some(switch) = &place.off_by {
        let off = page.red("off");
        page.line(format!("Memory is {off}: {switch}"))?;
    }
    let project = page.strong(&place.project);
    page.line(format!("Project {project}: {}", place.why))?;
    let mut rows = vec![["mount", "directory", "why"].map(str::to_owned).to_vec()];
    rows.extend(place.mounts.iter().map(|mount| {
        let name = if mount.prefix.is_empty() { "(project)".to_owned() } else { format!("{}/", mount.prefix) };
        let access = if mount.access == Access::ReadOnly { " (read-only)" } else { "" };
        let missing = if mount.exists { "" } else { " (not made yet)" };
        vec![name, format!("{}{access}{missing}", mount.path.display()), mount.why.clone()]
    }));
    page.table(&rows)?;
    for id in &place.alike {
        page.line(format!("{id} has the same remote or first commit; if it is this project, memdir projects adopt {id} uses its memory"))?;
    }
    place.changes.iter().try_for_each(|change| {
        let change = page.dim(&format!("To change: {change}"));
        page.line(change)
    })
}
