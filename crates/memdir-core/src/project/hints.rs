//! Hints that two projects are the same. Only shown to a person: a fork has the same remote and the same first commit, and the
//! author of a prepared `.git` can write anything into it.

use super::{Project, config::GitConfig};
use crate::base::sort::SharedSort as _;
use std::{
    fs::File,
    io::{BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
};

/// The origin of a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Hints {
    /// The remotes as `host/path`, without user, password, scheme or `.git`; sorted, without duplicates.
    pub remotes: Vec<String>,
    /// The first commit, if it was made in this clone.
    pub first_commit: Option<String>,
}

impl Hints {
    /// Whether both have a common remote or first commit.
    pub fn agree(&self, other: &Hints) -> bool {
        let same_commit = self.first_commit.is_some() && self.first_commit == other.first_commit;
        same_commit || self.remotes.iter().any(|remote| other.remotes.contains(remote))
    }
}

/// Returns the hints of a project; empty outside of git.
pub fn hints(project: &Project) -> Hints {
    let Some(git) = &project.git else { return Hints::default() };
    let config = GitConfig::read(git);
    let mut remotes: Vec<String> = config.all("remote.", ".url").filter_map(remote_key).collect();
    remotes.shared_sort();
    remotes.dedup();
    Hints { remotes, first_commit: first_commit(git) }
}

/// Returns the local checkouts from which a project was cloned, as canonical paths. A clone has no log of its first commit, and
/// searching the packed objects would cost too much for a hint.
pub fn local_remotes(project: &Project) -> Vec<PathBuf> {
    let Some(git) = &project.git else { return Vec::new() };
    let config = GitConfig::read(git);
    let local = |url: &str| {
        let path = Path::new(url.strip_prefix("file://").unwrap_or(url)).canonicalize().ok()?;
        Some(if path.ends_with(".git") { path.parent()?.to_owned() } else { path })
    };
    config.all("remote.", ".url").filter(|url| url.starts_with('/') || url.starts_with("file:///")).filter_map(local).collect()
}

/// Normalizes the URL of a remote to `github.com/ada/shop`, without credentials. Returns `None` for a local path.
pub fn remote_key(url: &str) -> Option<String> {
    let (host, path) = match url.split_once("://") {
        Some((scheme, _)) if scheme.eq_ignore_ascii_case("file") => return None,
        Some((_, rest)) => rest.split_once('/')?,
        // The short form of ssh, `host:path`, has no slash before its colon; a drive letter is a path.
        None => url.split_once(':').filter(|(host, _)| host.len() > 1 && !host.contains('/'))?,
    };
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let host = host.split_once(':').map_or(host, |(host, _)| host).to_ascii_lowercase();
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path).to_ascii_lowercase();
    (!host.is_empty() && !path.is_empty()).then(|| format!("{host}/{path}"))
}

/// Reads the first commit from the first line of HEAD's log, if it was made here. Runs no git process.
fn first_commit(git: &Path) -> Option<String> {
    let mut line = String::new();
    BufReader::new(File::open(git.join("logs/HEAD")).ok()?.take(4096)).read_line(&mut line).ok()?;
    let (ids, message) = line.split_once('\t')?;
    let commit = ids.split(' ').nth(1)?;
    let whole = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    (whole && message.starts_with("commit (initial)")).then(|| commit.to_owned())
}
