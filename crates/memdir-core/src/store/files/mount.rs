//! One directory of memories in a space: where it is and what may be done there.

use super::contain::{Links, Root};
use crate::{
    base::{
        error::{Error, Result},
        limits,
        path::MemoryPath,
    },
    store::{Access, Entrypoint, MountInfo, Source},
};
use fancy_regex::{Regex, RegexBuilder};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use std::path::{Path, PathBuf};

/// How a directory is mounted. Paths are absolute; whoever read them from a person has expanded them.
#[derive(Debug, Clone)]
pub struct Mount {
    /// What its names begin with; empty for the unprefixed one.
    pub prefix: String,
    /// The directory.
    pub root: PathBuf,
    /// Whether it may be written.
    pub access: Access,
    /// Which source its memories are in searches.
    pub source: Source,
    /// Whether it keeps an entrypoint.
    pub entrypoint: Entrypoint,
    /// Whether its files stay out of listings of the whole space; they are found by searches and by its own prefix.
    pub apart: bool,
    /// Which symbolic links are followed.
    pub links: Links,
    /// Whether hidden directories are entered.
    pub hidden: bool,
    /// Names that may not be changed: regular expressions that match the whole name.
    pub read_only: Vec<String>,
    /// Names that do not exist for anybody: regular expressions that match the whole name.
    pub ignored: Vec<String>,
    /// Whether those expressions match names with the mount's prefix, as callers see them, or without it.
    pub patterns_see_prefix: bool,
    /// If not empty, only files that match one of these globs, relative to the root.
    pub only: Vec<String>,
    /// If not empty, what narrowing left of it: of the files above only those with one of these names, or under one of them.
    pub part: Vec<String>,
    /// The directory of its journal.
    pub journal: PathBuf,
    /// Bytes of journal beyond which the oldest changes are dropped.
    pub journal_bytes: u64,
    /// Folders in which nothing new may be made, each with the reason. What is there already stays readable and can go.
    pub closed: Vec<(String, String)>,
    /// The directory whose lock guards it, where that is not its own root: a configured mount it lies inside.
    pub lock: Option<PathBuf>,
    /// Whether the directory is made by the first write and not by opening: who only looks leaves nothing behind.
    pub late: bool,
}

impl Mount {
    /// A directory memdir serves: written, with an entrypoint, nothing hidden followed.
    pub fn new(prefix: &str, root: impl Into<PathBuf>, journal: impl Into<PathBuf>) -> Self {
        Mount {
            prefix: prefix.into(),
            root: root.into(),
            access: Access::ReadWrite,
            source: Source::Memory,
            entrypoint: Entrypoint::Kept,
            apart: false,
            links: Links::default(),
            hidden: false,
            read_only: Vec::new(),
            ignored: Vec::new(),
            patterns_see_prefix: false,
            only: Vec::new(),
            part: Vec::new(),
            journal: journal.into(),
            journal_bytes: limits::JOURNAL_BYTES,
            closed: Vec::new(),
            lock: None,
            late: false,
        }
    }
}

/// A mount in use.
#[derive(Debug)]
pub(crate) struct Mounted {
    pub(crate) info: MountInfo,
    pub(crate) root: Root,
    pub(crate) hidden: bool,
    pub(crate) lock: PathBuf,
    /// Why its directory could not be made, if it could not.
    pub(crate) trouble: Option<String>,
    /// Whether its directory is made by the first write.
    pub(crate) late: bool,
    read_only: Patterns,
    ignored: Patterns,
    closed: Vec<(String, String)>,
    only: [Option<GlobSet>; 2],
    /// The first parts of everything `only` can match, where they are plain names: nothing else need be looked into.
    tops: Option<Vec<String>>,
    depth: usize,
}

/// What decides which files of a directory are listed; empty where nothing is special.
fn rules(mount: &Mount) -> String {
    let whole = mount.only.is_empty() && mount.part.is_empty();
    let plain = !mount.hidden && mount.ignored.is_empty() && whole && !mount.links.inside && mount.links.roots.is_empty();
    let Mount { hidden, ignored, only, part, links, .. } = mount;
    if plain { String::new() } else { format!("{hidden:?} {ignored:?} {only:?} {part:?} {links:?}") }
}

/// A name and what lies under it.
fn part_globs(name: &str) -> [String; 3] {
    let plain = crate::base::glob::escape(name);
    [plain.clone(), format!("{plain}.md"), format!("{plain}/**")]
}

impl Mounted {
    pub(crate) fn open(mount: &Mount) -> Result<Self> {
        let trouble = if mount.late { None } else { make_root(mount.access, &mount.root) };
        // The real path, so that a link to the directory and the directory are one mount with one lock.
        let root = real_path(&mount.root);
        let part: Vec<String> = mount.part.iter().flat_map(|name| part_globs(name)).collect();
        Ok(Mounted {
            info: MountInfo {
                prefix: mount.prefix.clone(),
                root: root.clone(),
                access: mount.access,
                source: mount.source,
                entrypoint: mount.entrypoint,
                rules: rules(mount),
                apart: mount.apart,
                part: mount.part.clone(),
            },
            lock: mount.lock.as_ref().map_or_else(|| root.clone(), |dir| real_path(dir)),
            root: Root::new(root, mount.links.clone()),
            hidden: mount.hidden,
            trouble,
            late: mount.late,
            read_only: Patterns::new("read-only pattern", mount, &mount.read_only)?,
            ignored: Patterns::new("ignored pattern", mount, &mount.ignored)?,
            closed: mount.closed.clone(),
            only: [globs(&mount.only)?, globs(&part)?],
            tops: tops(if part.is_empty() { &mount.only } else { &part }),
            depth: depth(&mount.only),
        })
    }

    /// Why its directory is not there and cannot be made now, if it cannot.
    pub(crate) fn cannot_make(&self) -> Option<String> {
        if self.late { make_root(self.info.access, self.root.path()) } else { self.trouble.clone().filter(|_| !self.root.path().is_dir()) }
    }

    /// How many directories deep a file can lie that exists for anybody.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// Whether a path, relative to the mount and with its extension, does not exist for anybody.
    pub(crate) fn hides(&self, rel: &str) -> bool {
        let name = crate::base::path::strip_md(rel);
        self.ignored.is_match(name) || self.only.iter().flatten().any(|only| !only.is_match(rel))
    }

    /// Whether a directory, relative to the mount, can hold anything that exists for somebody.
    pub(crate) fn enters(&self, rel: &str) -> bool {
        let top = rel.split('/').next().unwrap_or(rel);
        self.tops.as_ref().is_none_or(|tops| tops.iter().any(|known| known == top))
    }

    /// Fails if a path, relative to the mount, may not be changed.
    pub(crate) fn check_writable(&self, rel: &str) -> Result<()> {
        let name = crate::base::path::strip_md(rel);
        let shown = || MemoryPath::parse(rel).map_or_else(|_| rel.to_owned(), |path| path.prefixed(&self.info.prefix).to_string());
        if self.info.access == Access::ReadOnly {
            return Err(Error::ReadOnly { path: shown(), why: format!("its mount {} is read-only", self.info.root.display()) });
        }
        if self.read_only.is_match(name) {
            return Err(Error::ReadOnly { path: shown(), why: "a read-only pattern matches its name".into() });
        }
        let closed = self.closed.iter().find(|(folder, _)| rel.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/')));
        if let Some((_, why)) = closed
            && !self.root.path().join(rel).is_file()
        {
            return Err(Error::ReadOnly { path: shown(), why: why.clone() });
        }
        if self.hides(rel) {
            return Err(Error::ReadOnly { path: shown(), why: "an ignored pattern matches its name".into() });
        }
        if !self.hidden && rel.rsplit_once('/').is_some_and(|(dirs, _)| dirs.split('/').any(|dir| dir.starts_with('.'))) {
            return Err(Error::bad_path(shown(), "it lies in a hidden directory, which is never listed; choose a name without the dot"));
        }
        Ok(())
    }
}

/// Mounts must not lie inside one another: a file would have two names and two locks. One that lies where its own prefix leads,
/// in a directory that ignores it, has the same names either way.
pub(crate) fn check_apart(mounts: &[Mounted]) -> Result<()> {
    for (i, a) in mounts.iter().enumerate() {
        for b in &mounts[i + 1..] {
            if a.info.prefix == b.info.prefix {
                return Err(Error::bad_input("mounts", format!("two mounts have the prefix {:?}; give each its own", a.info.prefix)));
            }
            let (inner, outer) = if a.root.path().starts_with(b.root.path()) { (a, b) } else { (b, a) };
            let filtered = inner.only.iter().chain(&outer.only).any(Option::is_some) || is_nested(inner, outer);
            if inner.root.path().starts_with(outer.root.path()) && !filtered {
                return Err(Error::bad_input(
                    "mounts",
                    format!(
                        "{} lies inside {}; mount one of them, or directories beside each other",
                        inner.root.path().display(),
                        outer.root.path().display()
                    ),
                ));
            }
        }
    }
    Ok(())
}

fn is_nested(inner: &Mounted, outer: &Mounted) -> bool {
    let Some(rel) = inner.root.path().strip_prefix(outer.root.path()).ok().and_then(Path::to_str) else { return false };
    let named = if outer.info.prefix.is_empty() { rel.to_owned() } else { format!("{}/{rel}", outer.info.prefix) };
    !rel.is_empty() && inner.info.prefix == named && outer.ignored.is_match(&format!("{rel}/any"))
}

fn make_root(access: Access, root: &Path) -> Option<String> {
    use std::os::unix::fs::DirBuilderExt as _;
    if access == Access::ReadOnly || root.is_dir() {
        return None;
    }
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(root);
    made.err().map(|e| format!("cannot create {}: {e}", root.display()))
}

/// Whether a text can stand among a mount's `read_only` and `ignored`, and why not.
pub fn check_pattern(pattern: &str) -> Result<()> {
    whole(pattern).map(drop).map_err(|e| Error::bad_input("pattern", format!("{pattern:?}: {e}")))
}

fn whole(pattern: &str) -> std::result::Result<Regex, fancy_regex::Error> {
    RegexBuilder::new(&format!("^(?:{pattern})$")).backtrack_limit(100_000).build()
}

/// Regular expressions that must match a whole name.
#[derive(Debug)]
struct Patterns {
    list: Vec<Regex>,
    /// What stands before a name when it is matched.
    prefix: String,
}

impl Patterns {
    fn new(what: &str, mount: &Mount, list: &[String]) -> Result<Self> {
        let build = |pattern: &String| whole(pattern).map_err(|e| Error::bad_input(what, format!("{pattern:?}: {e}")));
        let prefix = if mount.patterns_see_prefix && !mount.prefix.is_empty() { format!("{}/", mount.prefix) } else { String::new() };
        Ok(Patterns { list: list.iter().map(build).collect::<Result<_>>()?, prefix })
    }

    fn is_match(&self, name: &str) -> bool {
        if self.list.is_empty() {
            return false;
        }
        let name = format!("{}{name}", self.prefix);
        // A pattern that cannot be decided protects: better too much than too little.
        self.list.iter().any(|pattern| pattern.is_match(&name).unwrap_or(true))
    }
}

/// The first part of each glob, if all of them are plain names.
fn tops(globs: &[String]) -> Option<Vec<String>> {
    let plain = |glob: &String| {
        let top = glob.split('/').next().unwrap_or(glob);
        (!top.contains(['*', '?', '[', '{', '\\'])).then(|| top.to_owned())
    };
    if globs.is_empty() { None } else { globs.iter().map(plain).collect() }
}

fn globs(list: &[String]) -> Result<Option<GlobSet>> {
    if list.is_empty() {
        return Ok(None);
    }
    let mut set = GlobSetBuilder::new();
    for glob in list {
        set.add(GlobBuilder::new(glob).literal_separator(true).build().map_err(|e| Error::bad_input("glob", e.to_string()))?);
    }
    set.build().map(Some).map_err(|e| Error::bad_input("glob", e.to_string()))
}

/// How deep the globs look: one for a file beside a home directory must not walk all of it.
fn depth(only: &[String]) -> usize {
    let deep = only.is_empty() || only.iter().any(|glob| glob.contains("**") || glob.contains('{'));
    if deep { limits::WALK_DEPTH } else { only.iter().map(|glob| glob.matches('/').count()).max().unwrap_or(0) }
}

/// The name of a mount's journal directory: readable, and one per real path.
pub fn journal_name(root: &Path) -> String {
    let real = real_path(root);
    let text = real.to_string_lossy();
    let hash = blake3::hash(text.as_bytes()).to_hex();
    let tail: String = real.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let readable: String = tail.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(32).collect();
    format!("{readable}-{}", &hash[..12])
}

/// The real path of a directory that may not exist yet: its deepest existing ancestor's, and the rest.
pub fn real_path(path: &Path) -> PathBuf {
    for above in path.ancestors() {
        if let Ok(real) = above.canonicalize() {
            return path
                .strip_prefix(above)
                .map_or_else(|_| real.clone(), |rest| if rest.as_os_str().is_empty() { real.clone() } else { real.join(rest) });
        }
    }
    path.to_owned()
}
