//! What suggests that two projects are the same. Only ever told to a person: a fork has the same remote and the same first
//! commit, and a prepared `.git` has whatever its author wrote into it.

use super::{Project, config::Config};
use std::{
    fs::File,
    io::{BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
};

/// What a repository says of its origin.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Hints {
    /// Its remotes as `host/path`, without user, password, scheme or `.git`; sorted, each once.
    pub remotes: Vec<String>,
    /// Its first commit, where this clone has recorded making it.
    pub first_commit: Option<String>,
}

impl Hints {
    /// Whether the two share a remote or the first commit.
    pub fn agree(&self, other: &Hints) -> bool {
        let same_commit = self.first_commit.is_some() && self.first_commit == other.first_commit;
        same_commit || self.remotes.iter().any(|remote| other.remotes.contains(remote))
    }
}

/// The hints of a project; none outside git.
pub fn hints(project: &Project) -> Hints {
    let Some(git) = &project.git else { return Hints::default() };
    let config = Config::read(git);
    let mut remotes: Vec<String> = config.all("remote.", ".url").filter_map(remote_key).collect();
    remotes.sort();
    remotes.dedup();
    Hints { remotes, first_commit: first_commit(git) }
}

/// The checkouts on this machine that a project was cloned from, as real paths. A clone has no log of its first commit, and
/// to look for it among packed objects would cost more than a hint is worth.
pub fn local_remotes(project: &Project) -> Vec<PathBuf> {
    let Some(git) = &project.git else { return Vec::new() };
    let config = Config::read(git);
    let local = |url: &str| {
        let path = Path::new(url.strip_prefix("file://").unwrap_or(url)).canonicalize().ok()?;
        Some(if path.ends_with(".git") { path.parent()?.to_owned() } else { path })
    };
    config.all("remote.", ".url").filter(|url| url.starts_with('/') || url.starts_with("file:///")).filter_map(local).collect()
}

/// A remote's URL in one form for all its spellings, `github.com/ada/shop`, and without credentials. Nothing for a local path.
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

/// The first line of HEAD's log names the first commit if it was made here. Asking git would mean to run it.
fn first_commit(git: &Path) -> Option<String> {
    let mut line = String::new();
    BufReader::new(File::open(git.join("logs/HEAD")).ok()?.take(4096)).read_line(&mut line).ok()?;
    let (ids, message) = line.split_once('\t')?;
    let commit = ids.split(' ').nth(1)?;
    let whole = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    (whole && message.starts_with("commit (initial)")).then(|| commit.to_owned())
}
