//! Lists the files below a root: sorted, without duplicates, safe against link loops, limited in number, and tolerant of files that
//! disappear meanwhile.

use super::{
    contain::{OpenRoot, is_link, lossy, special_file_system},
    fault,
    lock::LOCK_FILE,
};
use crate::base::sort::SharedSort as _;
use crate::{
    base::{
        error::{Error, NameProblem, Problem, Result},
        limits, observe,
        path::{self, MemoryPath},
    },
    store::{Entry, Stamp, Walk, stop::Stop},
};
use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, Dir, FileType, Stat, fstat, statat},
    io::Errno,
};
use std::collections::{BTreeSet, HashSet};

/// What a walk skips.
pub(crate) struct WalkRules<'a> {
    /// Whether hidden directories are entered.
    pub(crate) hidden: bool,
    /// Whether a path, relative to the mount, is hidden.
    pub(crate) hides: &'a dyn Fn(&str) -> bool,
    /// Whether a directory, relative to the mount, is hidden.
    pub(crate) hides_folder: &'a dyn Fn(&str) -> bool,
    /// Whether a directory, relative to the mount, can contain visible files.
    pub(crate) enters: &'a dyn Fn(&str) -> bool,
    /// The maximum depth of visible files.
    pub(crate) depth: usize,
    /// Ends the walk with an error when the call is cancelled.
    pub(crate) stop: &'a Stop,
}

/// Lists every file below `under` (relative to the root; empty for all), with `prefix` before its name.
pub(crate) fn walk(open: &OpenRoot<'_>, follow: bool, under: &str, prefix: &str, rules: &WalkRules<'_>) -> Result<Walk> {
    let mut walker =
        Walker { open, follow, prefix, rules, out: Walk::default(), seen: HashSet::new(), links: BTreeSet::new(), device: None };
    if let Some(dir) = open.dir(under.as_bytes())? {
        walker.directory(dir, under.as_bytes(), depth(under));
        // Links come last, so that they never give a listed file a second name.
        while let Some(link) = walker.links.pop_first() {
            walker.link(&link);
        }
    }
    // A walk that was stopped is incomplete.
    rules.stop.check()?;
    let mut out = walker.out;
    out.entries.sort_by(|a, b| a.path.cmp(&b.path));
    out.folders.shared_sort_by(|a, b| a.path.cmp(&b.path));
    out.report_collisions();
    out.problems.shared_sort_by(|a, b| a.what.cmp(&b.what));
    Ok(out)
}

fn depth(under: &str) -> usize {
    if under.is_empty() { 0 } else { under.matches('/').count() + 1 }
}

struct Walker<'a> {
    open: &'a OpenRoot<'a>,
    follow: bool,
    prefix: &'a str,
    rules: &'a WalkRules<'a>,
    out: Walk,
    /// Visited directories and linked files, by device and inode.
    seen: HashSet<(u64, u64)>,
    links: BTreeSet<Vec<u8>>,
    /// The device of the last directory, whose file system is not a special one.
    device: Option<u64>,
}

impl Walker<'_> {
    fn directory(&mut self, dir: OwnedFd, rel: &[u8], depth: usize) {
        if depth > self.rules.depth && self.rules.depth < limits::WALK_DEPTH {
            return;
        }
        if depth > limits::WALK_DEPTH {
            return self.problem(rel, &format!("is more than {} levels deep and was skipped", limits::WALK_DEPTH));
        }
        match fstat(&dir) {
            Ok(stat) if !self.seen.insert((stat.st_dev, stat.st_ino)) => return,
            Ok(stat) => {
                if self.device != Some(stat.st_dev) {
                    if let Some(kind) = special_file_system(&dir) {
                        return self.problem(rel, &format!("is on a special file system ({kind}) and was skipped"));
                    }
                    self.device = Some(stat.st_dev);
                }
                self.folder(rel, &stat);
            }
            Err(errno) => return self.unlisted(rel, &format!("cannot be read: {errno}")),
        }
        observe::directory_read();
        let entries = match fault::point().and_then(|()| Ok(Dir::read_from(&dir)?)) {
            Ok(entries) => entries,
            Err(error) => return self.unlisted(rel, &format!("cannot be listed: {error}")),
        };
        for entry in entries {
            if self.rules.stop.is_stopped() {
                return;
            }
            let entry = match entry {
                Ok(entry) => entry,
                Err(errno) => return self.unlisted(rel, &format!("was only partly listed: {errno}")),
            };
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                self.entry(&dir, rel, name, entry.file_type(), depth);
            }
        }
    }

    fn entry(&mut self, dir: &OwnedFd, rel: &[u8], name: &[u8], kind: FileType, depth: usize) {
        if std::str::from_utf8(name).is_ok_and(path::is_temp_name) || name == b".git" || name == LOCK_FILE.as_bytes() {
            return;
        }
        let child = join(rel, name);
        let kind = if kind == FileType::Unknown { real_kind(dir, name) } else { kind };
        if kind != FileType::Directory && std::str::from_utf8(&child).is_ok_and(self.rules.hides) {
            return;
        }
        match kind {
            FileType::Directory if name.starts_with(b".") && !self.rules.hidden => {}
            FileType::Directory if !(self.rules.enters)(&lossy(&child)) => {}
            FileType::Directory => match self.open.dir(&child) {
                Ok(Some(dir)) => self.directory(dir, &child, depth + 1),
                Ok(None) => {}
                Err(e) => self.unlisted(&child, &format!("cannot be opened: {e}")),
            },
            FileType::RegularFile => match statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => self.file(child, &stat),
                Err(Errno::NOENT) => {}
                Err(errno) => self.problem(&child, &format!("cannot be read: {errno}")),
            },
            FileType::Symlink => {
                self.links.insert(child);
            }
            _ => self.problem(&child, "is not a regular file and was skipped"),
        }
    }

    fn link(&mut self, rel: &[u8]) {
        let (parent, name) = super::contain::split(rel);
        let still_there = self.open.dir(parent).ok().flatten().is_some_and(|dir| is_link(&dir, name));
        if !still_there {
            return;
        }
        match self.open.dir(rel) {
            Ok(Some(_)) if name.starts_with(b".") && !self.rules.hidden => {}
            Ok(Some(dir)) => self.directory(dir, rel, rel.iter().filter(|b| **b == b'/').count() + 1),
            Ok(None) => match self.open.file(rel) {
                Ok(Some(file)) => match fstat(&file) {
                    Ok(stat) if self.seen.insert((stat.st_dev, stat.st_ino)) && !self.listed(stat.st_ino) => self.file(rel.to_vec(), &stat),
                    _ => {}
                },
                Ok(None) => self.problem(rel, "is a dangling symbolic link"),
                Err(e) => self.refused(rel, e),
            },
            Err(e) => self.refused(rel, e),
        }
    }

    fn listed(&self, inode: u64) -> bool {
        self.follow && self.out.entries.iter().any(|entry| entry.stamp.inode == inode)
    }

    fn file(&mut self, rel: Vec<u8>, stat: &Stat) {
        let name = match String::from_utf8(rel) {
            Ok(name) => name,
            Err(error) => return self.problem(error.as_bytes(), "has a name that is not valid UTF-8; rename it"),
        };
        let path = match MemoryPath::from_text(name) {
            Ok(path) => path,
            Err(error) => {
                let rel = error.name.clone();
                return self.refused(rel.as_bytes(), error.into());
            }
        };
        if (self.rules.hides)(path.as_str()) {
            return;
        }
        if self.out.entries.len() >= limits::WALK_FILES {
            self.out.left_out += 1;
            return;
        }
        self.out.entries.push(Entry { path: path.into_prefixed(self.prefix), stamp: stamp(stat) });
    }

    fn folder(&mut self, rel: &[u8], stat: &Stat) {
        let name = std::str::from_utf8(rel).ok().filter(|name| !(self.rules.hides_folder)(name));
        if let Some(path) = name.and_then(|name| MemoryPath::parse(name).ok()) {
            self.out.folders.push(Entry { path: path.prefixed(self.prefix), stamp: stamp(stat) });
        }
    }

    /// Reports a refused name or link, without repeating the name.
    fn refused(&mut self, rel: &[u8], error: Error) {
        match error {
            Error::BadPath { problem: NameProblem::NotRegular, .. } => {
                self.problem(rel, "is a symbolic link to something other than a regular file");
            }
            Error::BadPath { why, .. } => match why.strip_prefix(&format!("{} ", lossy(rel))) {
                Some(why) => self.problem(rel, why),
                None => self.problem(rel, &format!("is not a valid memory name: {why}")),
            },
            other => self.problem(rel, &other.to_string()),
        }
    }

    /// Reports a directory with files that are not in the listing.
    fn unlisted(&mut self, rel: &[u8], what: &str) {
        self.problem(rel, what);
        self.out.unlisted.push(self.prefixed(rel));
    }

    fn problem(&mut self, rel: &[u8], what: &str) {
        let name = Some(self.prefixed(rel)).filter(|name| !name.is_empty()).unwrap_or_else(|| ".".to_owned());
        self.out.problems.push(Problem::whole(format!("{name:?} {what}")));
    }

    /// The name in the space of a path in the mount; empty for a root without a prefix.
    fn prefixed(&self, rel: &[u8]) -> String {
        let slash = if self.prefix.is_empty() || rel.is_empty() { "" } else { "/" };
        format!("{}{slash}{}", self.prefix, lossy(rel))
    }
}

/// Converts a `stat`.
pub(crate) fn stamp(stat: &Stat) -> Stamp {
    let ns = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
    #[expect(clippy::useless_conversion, reason = "the widths differ between systems")]
    Stamp {
        size: u64::try_from(stat.st_size).unwrap_or(0),
        mtime_ns: ns(i64::from(stat.st_mtime), i64::try_from(stat.st_mtime_nsec).unwrap_or(0)),
        ctime_ns: ns(i64::from(stat.st_ctime), i64::try_from(stat.st_ctime_nsec).unwrap_or(0)),
        inode: u64::from(stat.st_ino),
    }
}

fn real_kind(dir: &OwnedFd, name: &[u8]) -> FileType {
    statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode))
}

fn join(rel: &[u8], name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(rel.len() + name.len() + 1);
    if !rel.is_empty() {
        out.extend_from_slice(rel);
        out.push(b'/');
    }
    out.extend_from_slice(name);
    out
}
