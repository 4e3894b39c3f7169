//! Which project a directory belongs to. Reads a few small files of git's; runs nothing, writes nothing.
//!
//! Whoever hands over a directory may have prepared its `.git`. So a `.git` file is believed only where the repository it
//! names says the same of it; everything else stays a project of its own and can claim nobody's memory.

mod config;
mod hints;

pub use hints::{Hints, hints, local_remotes, remote_key};

use crate::base::error::{Error, Problem, Result};
use config::Config;
use std::{
    ffi::OsStr,
    fs::{self, File},
    io::Read as _,
    path::{Path, PathBuf},
};

/// Whether the worktrees of one repository have one memory or one each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Worktrees {
    /// One for all.
    #[default]
    Shared,
    /// One each.
    Separate,
}

/// What a project was recognised by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// No repository: the directory itself.
    Directory,
    /// The main checkout of a repository.
    Repository,
    /// Another worktree of a repository.
    Worktree,
    /// A submodule: a project apart from the one around it.
    Submodule,
    /// A repository without a checkout of its own.
    Bare,
}

/// The project of a directory.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Project {
    /// Its name among all projects of this machine: readable, and distinct by its path.
    pub id: String,
    /// Whose path names it: the main checkout, the bare repository or the directory itself.
    pub root: PathBuf,
    /// The top of the checkout one stands in: where its team memories are.
    pub checkout: PathBuf,
    /// What it was recognised by.
    pub kind: Kind,
    /// Where git keeps what all its worktrees share, if there is a repository that was believed.
    pub git: Option<PathBuf>,
    /// What was met and not believed, with the reason.
    pub problems: Vec<Problem>,
}

/// Finds the project a directory belongs to. Links are followed, so that a checkout has one identity by every path to it.
pub fn find(dir: &Path, worktrees: Worktrees) -> Result<Project> {
    let real = fs::canonicalize(dir).map_err(|err| Error::io("find the project of", dir, err))?;
    Ok(find_above(&real, worktrees).unwrap_or_else(|| Project::new(Kind::Directory, &real, &real, None)))
}

impl Project {
    fn new(kind: Kind, root: &Path, checkout: &Path, git: Option<PathBuf>) -> Self {
        Project { id: id(root), root: root.into(), checkout: checkout.into(), kind, git, problems: Vec::new() }
    }

    /// Why this is the project, in one sentence for people.
    pub fn why(&self) -> String {
        let (root, checkout) = (self.root.display(), self.checkout.display());
        match self.kind {
            Kind::Directory => format!("{root} is in no git repository, so the directory itself is the project"),
            Kind::Repository => format!("{root} is a git repository"),
            Kind::Worktree if self.root == self.checkout => format!("{checkout} is a worktree, and worktrees are kept separate"),
            Kind::Worktree => format!("{checkout} is a worktree of {root}, and worktrees share one memory"),
            Kind::Submodule => format!("{checkout} is a submodule, which is a project of its own"),
            Kind::Bare => format!("{root} is a bare git repository"),
        }
    }
}

/// A readable name for a path: its last part, and enough of a hash of all of it to tell namesakes apart.
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

/// The project whose top is exactly here, if this is the top of one.
fn at(dir: &Path, worktrees: Worktrees) -> Option<Project> {
    let dot_git = dir.join(".git");
    match fs::metadata(&dot_git) {
        Ok(meta) if meta.is_file() => return Some(from_git_file(dir, &dot_git, worktrees)),
        // A directory of that name marks a project whatever is in it: it claims nothing but its own place.
        Ok(meta) if meta.is_dir() => {
            return Some(Project::new(Kind::Repository, dir, dir, fs::canonicalize(&dot_git).ok()));
        }
        _ => {}
    }
    if !is_git_dir(dir) {
        return None;
    }
    match dir.parent() {
        Some(parent) if dir.file_name() == Some(OsStr::new(".git")) => at(parent, worktrees),
        _ => Some(Project::new(Kind::Bare, dir, dir, Some(dir.into()))),
    }
}

fn from_git_file(dir: &Path, dot_git: &Path, worktrees: Worktrees) -> Project {
    match believed(dir, dot_git, worktrees) {
        Ok(project) => project,
        Err(why) => {
            let problem =
                Problem::whole(format!("{} is not believed: {why}; {} is a project of its own", dot_git.display(), dir.display()));
            Project { problems: vec![problem], ..Project::new(Kind::Directory, dir, dir, None) }
        }
    }
}

/// Checks both directions, and says what a `.git` file makes of its directory.
fn believed(dir: &Path, dot_git: &Path, worktrees: Worktrees) -> Result<Project, String> {
    // Through a link, somebody else's `.git` file would pass every check below.
    if fs::symlink_metadata(dot_git).map_or(true, |meta| meta.is_symlink()) {
        return Err("it is a link to a file".into());
    }
    let text = read_small(dot_git)?;
    let target = text.trim_end_matches(['\n', '\r']).strip_prefix("gitdir:").ok_or("it holds no gitdir line")?.trim_start();
    let git_dir = real(dir, target)?;
    if git_dir.join("commondir").is_file() {
        return worktree(dir, dot_git, &git_dir, worktrees);
    }
    if !is_git_dir(&git_dir) {
        return Err(format!("{} is no git repository", git_dir.display()));
    }
    let config = Config::read(&git_dir);
    if let Some(back) = config.get("core.worktree") {
        let back = real(&git_dir, back)?;
        if back != dir {
            return Err(format!("{} belongs to {}", git_dir.display(), back.display()));
        }
        return Ok(submodule(dir, &git_dir, worktrees));
    }
    // A repository that lies inside the directory cannot be somebody else's.
    if git_dir.starts_with(dir) {
        return Ok(Project::new(if config.is_bare() { Kind::Bare } else { Kind::Repository }, &main_root(&git_dir), dir, Some(git_dir)));
    }
    Err(format!("{} does not name this directory", git_dir.display()))
}

fn worktree(dir: &Path, dot_git: &Path, git_dir: &Path, worktrees: Worktrees) -> Result<Project, String> {
    let common = real(git_dir, read_small(&git_dir.join("commondir"))?.trim_end())?;
    if git_dir.parent() != Some(&common.join("worktrees")) {
        return Err(format!("{} is not among the worktrees of {}", git_dir.display(), common.display()));
    }
    let back = real(git_dir, read_small(&git_dir.join("gitdir"))?.trim_end())?;
    if back != dot_git {
        return Err(format!("{} belongs to {}", git_dir.display(), back.display()));
    }
    if !is_git_dir(&common) {
        return Err(format!("{} is no git repository", common.display()));
    }
    let root = match worktrees {
        Worktrees::Shared => main_root(&common),
        Worktrees::Separate => dir.into(),
    };
    Ok(Project::new(Kind::Worktree, &root, dir, Some(common)))
}

/// The directory a repository is known by: its main checkout, or itself where it has none.
fn main_root(common: &Path) -> PathBuf {
    let config = Config::read(common);
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

/// A submodule is named by its own place, seen from the main checkout where the project around it is a worktree.
fn submodule(dir: &Path, git_dir: &Path, worktrees: Worktrees) -> Project {
    let around = dir.parent().and_then(|parent| find_above(parent, worktrees));
    let root = around.filter(|around| around.kind == Kind::Worktree).and_then(|around| {
        let inside = git_dir.starts_with(around.git.as_ref()?.join("worktrees"));
        inside.then(|| Some(around.root.join(dir.strip_prefix(&around.checkout).ok()?)))?
    });
    Project::new(Kind::Submodule, root.as_deref().unwrap_or(dir), dir, Some(git_dir.into()))
}

/// What git itself asks of a repository's directory.
fn is_git_dir(dir: &Path) -> bool {
    fs::symlink_metadata(dir.join("HEAD")).is_ok() && dir.join("objects").is_dir() && dir.join("refs").is_dir()
}

fn real(base: &Path, path: &str) -> Result<PathBuf, String> {
    fs::canonicalize(base.join(path)).map_err(|err| format!("it names {path}: {err}"))
}

/// Git's link files hold one path. Anything longer is not one.
fn read_small(path: &Path) -> Result<String, String> {
    const MOST: u64 = 16 << 10;
    let say = |why: &str| format!("{}: {why}", path.display());
    let mut text = String::new();
    let file = File::open(path).map_err(|err| say(&err.to_string()))?;
    file.take(MOST).read_to_string(&mut text).map_err(|err| say(&err.to_string()))?;
    if text.len() as u64 == MOST { Err(say("too long")) } else { Ok(text) }
}
