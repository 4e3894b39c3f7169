//! Looks up in a project what a memory mentions. Reads only inside the project, and reports something as gone only if that is certain.

use super::{
    git,
    mentions::{Mention, MentionKind},
};
use crate::project::Project;
use serde_json::Value;
use std::{
    cell::OnceCell,
    fs,
    path::{Component, Path},
};

/// How much source is read to find symbols. In a larger project they are unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SourceLimit {
    /// As much as can be read within a recall.
    Few,
    /// All of an ordinary project.
    All,
}

impl SourceLimit {
    /// Maximum number of files and bytes.
    fn most(self) -> (usize, u64) {
        match self {
            SourceLimit::Few => (400, 4 << 20),
            SourceLimit::All => (usize::MAX, 200 << 20),
        }
    }
}

/// Maximum size of a source file. A larger one is data.
const FILE_BYTES: u64 = 2 << 20;

/// A project in which mentions are looked up.
pub struct ProjectLookup<'a> {
    project: &'a Project,
    tracked: OnceCell<Option<Vec<String>>>,
}

impl<'a> ProjectLookup<'a> {
    /// Opens a project. Reads nothing yet.
    pub fn new(project: &'a Project) -> Self {
        ProjectLookup { project, tracked: OnceCell::new() }
    }

    /// The project.
    pub fn project(&self) -> &'a Project {
        self.project
    }

    /// Whether it still exists; `None` if that is unknown.
    pub fn is_there(&self, named: &Mention) -> Option<bool> {
        match named.what {
            MentionKind::Path => self.path(&named.text),
            MentionKind::Command => self.command(&named.text),
            MentionKind::Commit => self.commit(&named.text),
            MentionKind::Symbol | MentionKind::Link | MentionKind::Memory => None,
        }
    }

    /// Returns those symbols that occur in the tracked files, or `None` if not all files can be read.
    pub(super) fn symbols<'n>(&self, wanted: &[&'n str], sources: SourceLimit) -> Option<Vec<&'n str>> {
        let files = self.tracked()?;
        let (most, mut left) = sources.most();
        if files.len() > most {
            return None;
        }
        let mut missing: Vec<&str> = wanted.iter().map(|name| last_part(name)).collect();
        for file in files {
            if missing.is_empty() {
                break;
            }
            let path = self.project.checkout.join(file);
            let Ok(meta) = fs::symlink_metadata(&path) else { continue };
            if !meta.is_file() || meta.len() > FILE_BYTES {
                continue;
            }
            left = left.checked_sub(meta.len())?;
            let Ok(bytes) = fs::read(&path) else { continue };
            let text = String::from_utf8_lossy(&bytes);
            missing.retain(|name| !text.contains(name));
        }
        Some(wanted.iter().copied().filter(|name| !missing.contains(&last_part(name))).collect())
    }

    /// A commit is gone if a reflog contains it and no object has it. An id without either may belong to another repository, or
    /// may not be a commit.
    fn commit(&self, id: &str) -> Option<bool> {
        let git = self.project.git.as_deref()?;
        let there = git::has_object(git, id)?;
        (there || git::was_recorded(git, id)).then_some(there)
    }

    /// A path exists if it is in the checkout or is the end of a tracked path, because memories abbreviate paths. It is gone only if
    /// its first folder exists; otherwise, like a name without a folder, it may belong to another project.
    pub fn path(&self, path: &str) -> Option<bool> {
        if !Path::new(path).components().all(|part| matches!(part, Component::Normal(_))) {
            return None;
        }
        let top = &self.project.checkout;
        if fs::symlink_metadata(top.join(path)).is_ok() {
            return Some(true);
        }
        let name = path.trim_end_matches('/');
        let ends = |file: &String| file.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
        let holds = |file: &String| format!("/{file}").contains(&format!("/{name}/"));
        let tracked = self.tracked();
        if tracked.is_some_and(|files| files.iter().any(|file| ends(file) || holds(file))) {
            return Some(true);
        }
        let (first, _) = name.split_once('/')?;
        top.join(first).is_dir().then_some(false)
    }

    /// Looks up commands that the project defines: scripts of package.json, targets of make and just, executed files.
    fn command(&self, command: &str) -> Option<bool> {
        let mut words = command.split_whitespace();
        let (program, next) = (words.next()?, words.find(|word| !word.starts_with('-')));
        if let Some(path) = program.strip_prefix("./") {
            return self.path(path);
        }
        match (program, next?) {
            ("npm" | "pnpm" | "yarn" | "bun", "run") => self.script(words.next()?),
            ("make", target) => self.target(&["Makefile", "makefile", "GNUmakefile"], target),
            ("just", target) => self.target(&["justfile", "Justfile", ".justfile"], target),
            ("bash" | "sh" | "python" | "python3" | "node", file) if file.contains('/') => self.path(file.trim_start_matches("./")),
            _ => None,
        }
    }

    fn script(&self, name: &str) -> Option<bool> {
        let text = fs::read_to_string(self.project.checkout.join("package.json")).ok()?;
        let scripts = serde_json::from_str::<Value>(&text).ok()?;
        Some(scripts.get("scripts").and_then(|scripts| scripts.get(name)).is_some())
    }

    fn target(&self, files: &[&str], target: &str) -> Option<bool> {
        if !target.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c)) {
            return None;
        }
        let text = files.iter().find_map(|file| fs::read_to_string(self.project.checkout.join(file)).ok())?;
        // An include or a pattern rule may define any target.
        if text.lines().any(|line| line.starts_with("include") || line.starts_with("import") || line.starts_with('%')) {
            return None;
        }
        let defines = |line: &str| line.split(':').next().is_some_and(|head| head.split_whitespace().any(|word| word == target));
        Some(text.lines().any(|line| line.contains(':') && !line.starts_with(['\t', ' ']) && defines(line)))
    }

    /// The tracked files of the project; `None` if they are unknown.
    pub fn tracked(&self) -> Option<&Vec<String>> {
        self.tracked.get_or_init(|| git::tracked(&self.git_dir()?)).as_ref()
    }

    /// The Git directory with the index: a worktree has its own.
    fn git_dir(&self) -> Option<std::path::PathBuf> {
        let dot_git = self.project.checkout.join(".git");
        if dot_git.is_dir() {
            return Some(dot_git);
        }
        self.project.git.as_ref()?;
        let text = fs::read_to_string(dot_git).ok()?;
        Some(self.project.checkout.join(text.strip_prefix("gitdir:")?.trim()))
    }
}

/// The last part of a name, because a definition of `Store::put` only contains `put`.
fn last_part(name: &str) -> &str {
    name.rsplit("::").next().and_then(|part| part.rsplit('.').next()).unwrap_or(name)
}
