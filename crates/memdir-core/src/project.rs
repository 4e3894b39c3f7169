//! Finds the project of a directory. Reads a few small files of git; runs no process and writes nothing.
//!
//! The author of a directory may have prepared its `.git`. A `.git` file is therefore trusted only if the repository it names
//! points back to it; any other directory is its own project and cannot claim the memory of another one.

mod config;
mod hints;

pub use hints::{Hints, hints, local_remotes, remote_key};

use crate::base::error::{Error, Problem, Result};
use config::GitConfig;
use std::{
    ffi::OsStr,
    fs::{self, File},
    io::Read as _,
    path::{Path, PathBuf},
};

/// Whether the worktrees of a repository share one memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Worktrees {
    /// One memory for all worktrees.
    #[default]
    Shared,
    /// One memory per worktree.
    Separate,
}

/// The kind of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProjectKind {
    /// A directory outside of a repository.
    Directory,
    /// The main checkout of a repository.
    Repository,
    /// Another worktree of a repository.
    Worktree,
    /// A submodule, which is a separate project.
    Submodule,
    /// A bare repository.
    Bare,
}

/// The project of a directory.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Project {
    /// The id: readable, and unique per path on this machine.
    pub id: String,
    /// The directory that determines the id: the main checkout, the bare repository or the directory itself.
    pub root: PathBuf,
    /// The root of the current checkout, which contains the team memory.
    pub checkout: PathBuf,
    /// The kind.
    pub kind: ProjectKind,
    /// The common git directory of all worktrees, if there is a trusted repository.
    pub git: Option<PathBuf>,
    /// Untrusted `.git` files, with the reason.
    pub problems: Vec<Problem>,
}

/// Finds the project of a directory. Links are followed, so that a checkout has the same id by every path.
pub fn find(dir: &Path, worktrees: Worktrees) -> Result<Project> {
    let real = fs::canonicalize(dir).map_err(|err| Error::io("find the project of", dir, err))?;
    Ok(find_above(&real, worktrees).unwrap_or_else(|| Project::new(ProjectKind::Directory, &real, &real, None)))
}

impl Project {
    fn new(kind: ProjectKind, root: &Path, checkout: &Path, git: Option<PathBuf>) -> Self {
        Project { id: id(root), root: root.into(), checkout: checkout.into(), kind, git, problems: Vec::new() }
    }

    /// Explains in one sentence why this is the project.
    pub fn reason(&self) -> String {
        let (root, checkout) = (self.root.display(), self.checkout.display());
        match self.kind {
            ProjectKind::Directory if !self.problems.is_empty() => {
                format!("{root} has a `.git` file that is not trusted, so the directory itself is the project")
            }
            ProjectKind::Directory => format!("{root} is not in a git repository, so the directory itself is the project"),
            ProjectKind::Repository => format!("{root} is a git repository"),
            ProjectKind::Worktree if self.root == self.checkout => format!("{checkout} is a worktree, and worktrees are kept separate"),
            ProjectKind::Worktree => format!("{checkout} is a worktree of {root}, and worktrees share one memory"),
            ProjectKind::Submodule => format!("{checkout} is a submodule, which is a separate project"),
            ProjectKind::Bare => format!("{root} is a bare git repository"),
        }
    }
}

/// Returns a readable id of a path: its last part, and a part of the hash of the whole path.
fn id(root: &Path) -> String {
    let is_dot_git = |name: &&OsStr| name.as_encoded_bytes().starts_with(b".");
    let named = root.file_name().filter(|name| !is_dot_git(name)).or_else(|| root.parent()?.file_name());
    let name = named.unwrap_or(OsStr::new("root")).to_string_lossy();
    let mut slug = String::new();
    for c in name.strip_suffix(".git").unwrap_or(&name).chars().take(40) {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '.' => slug.push(c),
            _ if slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    let hash = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
    format!("{}-{}", slug.trim_matches(['-', '.']), &hash[..10])
}

fn find_above(real: &Path, worktrees: Worktrees) -> Option<Project> {
    real.ancestors().find_map(|dir| at(dir, worktrees))
}

/// Returns the project whose root is this directory.
fn at(dir: &Path, worktrees: Worktrees) -> Option<Project> {
    let dot_git = dir.join(".git");
    match fs::metadata(&dot_git) {
        Ok(meta) if meta.is_file() => return Some(from_git_file(dir, &dot_git, worktrees)),
        // A directory of that name marks a project whatever it contains: it claims only its own place.
        Ok(meta) if meta.is_dir() => {
            return Some(Project::new(ProjectKind::Repository, dir, dir, fs::canonicalize(&dot_git).ok()));
        }
        _ => {}
    }
    if !is_git_dir(dir) {
        return None;
    }
    match dir.parent() {
        Some(parent) if dir.file_name() == Some(OsStr::new(".git")) => at(parent, worktrees),
        _ => Some(Project::new(ProjectKind::Bare, dir, dir, Some(dir.into()))),
    }
}

fn from_git_file(dir: &Path, dot_git: &Path, worktrees: Worktrees) -> Project {
    match verify_git_file(dir, dot_git, worktrees) {
        Ok(project) => project,
        Err(why) => {
            let problem =
                Problem::whole(format!("{} is not trusted: {why}; {} is treated as a separate project", dot_git.display(), dir.display()));
            Project { problems: vec![problem], ..Project::new(ProjectKind::Directory, dir, dir, None) }
        }
    }
}

/// Returns the project a `.git` file declares, if the repository points back to it.
fn verify_git_file(dir: &Path, dot_git: &Path, worktrees: Worktrees) -> Result<Project, String> {
    // Through a link, the `.git` file of another project would pass every check below.
    if fs::symlink_metadata(dot_git).map_or(true, |meta| meta.is_symlink()) {
        return Err("it is a symbolic link".into());
    }
    let text = read_small(dot_git)?;
    let target = text.trim_end_matches(['\n', '\r']).strip_prefix("gitdir:").ok_or("it does not begin with `gitdir:`")?.trim_start();
    let git_dir = real(dir, target)?;
    if git_dir.join("commondir").is_file() {
        return worktree(dir, dot_git, &git_dir, worktrees);
    }
    if !is_git_dir(&git_dir) {
        return Err(format!("{} is not a git repository", git_dir.display()));
    }
    let config = GitConfig::read(&git_dir);
    if let Some(back) = config.get("core.worktree") {
        let back = real(&git_dir, back)?;
        if back != dir {
            return Err(format!("{} belongs to {}", git_dir.display(), back.display()));
        }
        return Ok(submodule(dir, &git_dir, worktrees));
    }
    // A repository inside the directory cannot belong to another project.
    if git_dir.starts_with(dir) {
        return Ok(Project::new(
            if config.is_bare() { ProjectKind::Bare } else { ProjectKind::Repository },
            &main_root(&git_dir),
            dir,
            Some(git_dir),
        ));
    }
    Err(format!("{} does not point back to {}", git_dir.display(), dir.display()))
}

fn worktree(dir: &Path, dot_git: &Path, git_dir: &Path, worktrees: Worktrees) -> Result<Project, String> {
    let common = real(git_dir, read_small(&git_dir.join("commondir"))?.trim_end())?;
    if git_dir.parent() != Some(&common.join("worktrees")) {
        return Err(format!("{} is not one of the worktrees of {}", git_dir.display(), common.display()));
    }
    let back = real(git_dir, read_small(&git_dir.join("gitdir"))?.trim_end())?;
    if back != dot_git {
        return Err(format!("{} belongs to {}", git_dir.display(), back.display()));
    }
    if !is_git_dir(&common) {
        return Err(format!("{} is not a git repository", common.display()));
    }
    let root = match worktrees {
        Worktrees::Shared => main_root(&common),
        Worktrees::Separate => dir.into(),
    };
    Ok(Project::new(ProjectKind::Worktree, &root, dir, Some(common)))
}

/// Returns the main checkout of a repository, or the repository if it has none.
fn main_root(common: &Path) -> PathBuf {
    let config = GitConfig::read(common);
    if let Some(checkout) = config.get("core.worktree").and_then(|back| real(common, back).ok())
        && read_small(&checkout.join(".git")).is_ok_and(|text| {
            text.strip_prefix("gitdir:").is_some_and(|target| real(&checkout, target.trim()).is_ok_and(|found| found == common))
        })
    {
        return checkout;
    }
    match common.parent() {
        Some(parent) if common.file_name() == Some(OsStr::new(".git")) && !config.is_bare() => parent.into(),
        _ => common.into(),
    }
}

/// Returns the project of a submodule. Its root is its own directory, or that in the main checkout if it is in a worktree.
fn submodule(dir: &Path, git_dir: &Path, worktrees: Worktrees) -> Project {
    let around = dir.parent().and_then(|parent| find_above(parent, worktrees));
    let root = around.filter(|around| around.kind == ProjectKind::Worktree).and_then(|around| {
        let inside = git_dir.starts_with(around.git.as_ref()?.join("worktrees"));
        inside.then(|| Some(around.root.join(dir.strip_prefix(&around.checkout).ok()?)))?
    });
    Project::new(ProjectKind::Submodule, root.as_deref().unwrap_or(dir), dir, Some(git_dir.into()))
}

/// Whether git would accept the directory as a repository.
fn is_git_dir(dir: &Path) -> bool {
    fs::symlink_metadata(dir.join("HEAD")).is_ok() && dir.join("objects").is_dir() && dir.join("refs").is_dir()
}

fn real(base: &Path, path: &str) -> Result<PathBuf, String> {
    fs::canonicalize(base.join(path)).map_err(|err| format!("it names {path}: {err}"))
}

/// Reads one of git's link files, which contain one path. A longer file is an error.
fn read_small(path: &Path) -> Result<String, String> {
    const HEAD_BYTES: u64 = 16 << 10;
    let reason = |why: &str| format!("{}: {why}", path.display());
    let mut text = String::new();
    let file = File::open(path).map_err(|err| reason(&err.to_string()))?;
    file.take(HEAD_BYTES).read_to_string(&mut text).map_err(|err| reason(&err.to_string()))?;
    if text.len() as u64 == HEAD_BYTES { Err(reason("too long")) } else { Ok(text) }
}
