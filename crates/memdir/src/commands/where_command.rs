//! `memdir where`: which memories are in effect here, why, and how to change it.

use super::mount_label;
use crate::{
    config::Settings,
    moved,
    output::{CommandOutput, Printer},
    scope::Scope,
};
use memdir_core::Access;
use serde::Serialize;
use std::{io, path::PathBuf};

#[derive(Serialize)]
struct WhereOutput {
    enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    off_by: Option<String>,
    project: String,
    kind: memdir_core::internal::project::ProjectKind,
    root: PathBuf,
    checkout: PathBuf,
    why: String,
    mounts: Vec<MountRow>,
    /// Projects with the same remote or first commit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    alike: Vec<String>,
    changes: Vec<String>,
    /// Whether `--dir` selects the memory.
    #[serde(skip)]
    in_dir: bool,
}

#[derive(Serialize)]
struct MountRow {
    prefix: String,
    path: PathBuf,
    access: Access,
    exists: bool,
    why: String,
}

pub(crate) fn run(settings: &Settings, scope: &Scope) -> CommandOutput {
    let mounts = scope.shown_mounts().map(|scoped| MountRow {
        prefix: scoped.mount.prefix.clone(),
        path: scoped.mount.root.clone(),
        access: scoped.mount.access,
        exists: scoped.mount.root.is_dir(),
        why: scoped.why.clone(),
    });
    let output = WhereOutput {
        enabled: scope.off.is_none(),
        off_by: scope.off.as_ref().map(ToString::to_string),
        project: scope.id.clone(),
        kind: scope.project.kind,
        root: scope.project.root.clone(),
        checkout: scope.project.checkout.clone(),
        why: project_reason(scope),
        mounts: mounts.collect(),
        alike: moved::similar_projects(settings, scope),
        changes: alternatives(settings, scope),
        in_dir: settings.dir.is_some(),
    };
    CommandOutput::new(output, show).with_notes(scope.notes.clone())
}

/// Why this is the project: the directory, unless another project's memory is selected.
fn project_reason(scope: &Scope) -> String {
    let own = scope.mounts.iter().find(|scoped| scoped.mount.prefix.is_empty() && scope.id != scope.project.id);
    own.map_or_else(|| scope.project.reason(), |scoped| scoped.why.clone())
}

/// Settings and commands that select another memory.
fn alternatives(settings: &Settings, scope: &Scope) -> Vec<String> {
    use memdir_core::internal::project::{ProjectKind, Worktrees};
    if settings.dir.is_some() {
        return vec!["without --dir and MEMDIR_DIR, memdir uses this project's memory".into()];
    }
    let mut out = vec!["`--dir PATH` uses one directory as the whole memory".to_owned()];
    let has_team = scope.mounts.iter().any(|scoped| scoped.mount.prefix == "team");
    if !has_team && scope.why_no_team(&settings.home.value).is_none() {
        out.push("`memdir init --team` creates a memory to share through this repository".into());
    }
    match (scope.project.kind, settings.config.worktrees) {
        (ProjectKind::Worktree, Worktrees::Shared) => {
            out.push("`memdir config set worktrees separate` gives each worktree a separate memory".into());
        }
        (ProjectKind::Worktree, Worktrees::Separate) => {
            out.push("`memdir config set worktrees shared` lets all worktrees of a repository share one memory".into());
        }
        (ProjectKind::Directory, _) => out.push("`git init` makes this directory and those below it share one project memory".into()),
        _ => {}
    }
    out
}

fn show(output: &WhereOutput, printer: &mut Printer<'_>) -> io::Result<()> {
    if let Some(switch) = &output.off_by {
        let off = printer.red("off");
        printer.line(format!("memory is {off}: {switch}"))?;
    }
    let project = printer.strong(&output.project);
    printer.line(format!("project {project}: {}", output.why))?;
    let mut rows = vec![["mount", "directory", "why"].map(str::to_owned).to_vec()];
    rows.extend(output.mounts.iter().map(|mount| {
        let name = mount_label(&mount.prefix, output.in_dir);
        let state = match (mount.access, mount.exists) {
            (Access::ReadWrite, true) => "",
            (Access::ReadWrite, false) => " (not created yet)",
            (Access::ReadOnly, true) => " (read-only)",
            (Access::ReadOnly, false) => " (read-only; does not exist)",
        };
        vec![name, format!("{}{state}", mount.path.display()), mount.why.clone()]
    }));
    printer.table(&rows)?;
    for id in &output.alike {
        printer.line(format!("project {id} has the same git remote or first commit; use its memory with: memdir projects adopt {id}"))?;
    }
    output.changes.iter().try_for_each(|change| {
        let change = printer.dim(&format!("alternative: {change}"));
        printer.line(change)
    })
}
