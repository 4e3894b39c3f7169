//! One directory of memories in a space, with its permissions and filters.

use super::contain::{Links, Root};
use crate::{
    base::{
        disk::{self, DirMode},
        error::{Error, Result},
        limits,
        path::MemoryPath,
    },
    store::{Access, EntrypointMode, MountInfo, Source, mounts::Prefixed},
};
use fancy_regex::{Regex, RegexBuilder};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use std::path::{Path, PathBuf};

/// The configuration of a mount. Paths are absolute; the caller has expanded them.
#[derive(Debug, Clone)]
pub struct Mount {
    /// The prefix of its names; empty for the unprefixed mount.
    pub prefix: String,
    /// The directory.
    pub root: PathBuf,
    /// Whether it is writable.
    pub access: Access,
    /// The source class of its memories in searches.
    pub source: Source,
    /// Whether memdir maintains an entrypoint in it.
    pub entrypoint: EntrypointMode,
    /// Whether listings of the whole space omit its files. Searches and its own prefix include them.
    pub apart: bool,
    /// Which symbolic links are followed.
    pub links: Links,
    /// Whether hidden directories are entered.
    pub hidden: bool,
    /// Read-only names: regular expressions that match the whole name.
    pub read_only: Vec<String>,
    /// Ignored names: regular expressions that match the whole name.
    pub ignored: Vec<String>,
    /// Whether those expressions match names with the mount's prefix or without it.
    pub patterns_see_prefix: bool,
    /// If not empty, only files that match one of these globs, relative to the root, exist.
    pub only: Vec<String>,
    /// The path of the root inside the mount whose patterns and globs these are; empty for that mount's own root.
    pub inside: String,
    /// If not empty, the space was narrowed: only files with one of these names, or under one of them, exist.
    pub part: Vec<String>,
    /// The directory of its journal.
    pub journal: PathBuf,
    /// The size of the journal, in bytes, beyond which the oldest changes are dropped.
    pub journal_bytes: u64,
    /// Folders in which no file may be created, each with the reason. Existing files stay readable and can be removed.
    pub closed: Vec<(String, String)>,
    /// The directory whose lock is used instead of the root's: a configured mount that contains the root.
    pub lock: Option<PathBuf>,
    /// Whether the directory is created by the first write and not by opening, so that reading creates nothing.
    pub late: bool,
    /// The size in bytes of the largest file that is written.
    pub file_bytes: usize,
    /// Whether folders stay when their last file is removed.
    pub keeps_folders: bool,
    /// Whether new files and directories have the permissions that the umask leaves, as in a repository, instead of private ones.
    pub shared: bool,
    /// Read-only names by the settings of another system: regular expressions that match the whole name, with the mount's prefix.
    pub foreign_read_only: Vec<String>,
    /// Ignored names by the settings of another system, likewise.
    pub foreign_ignored: Vec<String>,
}

impl Mount {
    /// Creates a writable mount with an entrypoint, without links and hidden directories.
    pub fn new(prefix: &str, root: impl Into<PathBuf>, journal: impl Into<PathBuf>) -> Self {
        Mount {
            prefix: prefix.into(),
            root: root.into(),
            access: Access::ReadWrite,
            source: Source::Memory,
            entrypoint: EntrypointMode::Kept,
            apart: false,
            links: Links::default(),
            hidden: false,
            read_only: Vec::new(),
            ignored: Vec::new(),
            patterns_see_prefix: false,
            only: Vec::new(),
            inside: String::new(),
            part: Vec::new(),
            journal: journal.into(),
            journal_bytes: limits::JOURNAL_BYTES,
            closed: Vec::new(),
            lock: None,
            late: false,
            file_bytes: limits::MEMORY_BYTES,
            keeps_folders: false,
            shared: false,
            foreign_read_only: Vec::new(),
            foreign_ignored: Vec::new(),
        }
    }

    /// Returns the mount of a directory inside this one, `rel` below its root, with the same rules and the same lock.
    pub fn within(&self, rel: &str, root: impl Into<PathBuf>, journal: impl Into<PathBuf>) -> Self {
        let inside = if self.inside.is_empty() { rel.to_owned() } else { format!("{}/{rel}", self.inside) };
        Mount {
            access: self.access,
            source: self.source,
            links: self.links.clone(),
            hidden: self.hidden,
            read_only: self.read_only.clone(),
            ignored: self.ignored.clone(),
            only: self.only.clone(),
            inside,
            shared: self.shared,
            journal_bytes: self.journal_bytes,
            lock: Some(self.lock.clone().unwrap_or_else(|| real_path(&self.root))),
            ..Mount::new("", root, journal)
        }
    }
}

impl Prefixed for Mount {
    fn prefix(&self) -> &str {
        &self.prefix
    }
}

/// A mount in use.
#[derive(Debug)]
pub(crate) struct Mounted {
    pub(crate) info: MountInfo,
    pub(crate) root: Root,
    pub(crate) hidden: bool,
    pub(crate) lock: PathBuf,
    /// Why its directory could not be created.
    pub(crate) trouble: Option<String>,
    /// Whether its directory is created by the first write.
    pub(crate) late: bool,
    shared: bool,
    /// Whether folders stay when their last file is removed.
    pub(crate) keeps_folders: bool,
    read_only: Patterns,
    ignored: Patterns,
    /// The patterns of another system's settings.
    foreign_read_only: Patterns,
    foreign_ignored: Patterns,
    closed: Vec<(String, String)>,
    /// The mount's globs, which match names with `inside`, and those of the narrowed space.
    only: [Option<GlobSet>; 2],
    /// The path of the root inside the mount whose globs these are, with a slash; or empty.
    inside: String,
    /// The first parts of all globs in `only`, if they are literal names: no other directory has to be visited.
    tops: Option<Vec<String>>,
    depth: usize,
}

/// Returns a fingerprint of the rules for listing; empty for the default rules.
fn rules(mount: &Mount) -> String {
    let whole = mount.only.is_empty() && mount.part.is_empty() && mount.foreign_ignored.is_empty();
    let is_default = !mount.hidden && mount.ignored.is_empty() && whole && !mount.links.inside && mount.links.roots.is_empty();
    let Mount { hidden, only, part, links, inside, .. } = mount;
    let ignored = [mount.ignored.as_slice(), &mount.foreign_ignored].concat();
    let inside = if inside.is_empty() { String::new() } else { format!(" {inside:?}") };
    if is_default { String::new() } else { format!("{hidden:?} {ignored:?} {only:?} {part:?} {links:?}{inside}") }
}

/// Returns globs for a name and everything under it.
fn part_globs(name: &str) -> [String; 3] {
    let escaped = crate::base::glob::escape(name);
    [escaped.clone(), format!("{escaped}.md"), format!("{escaped}/**")]
}

impl Mounted {
    pub(crate) fn open(mount: &Mount) -> Result<Self> {
        // The canonical path, so that a link to the directory has the same lock. A repository's directory is not resolved: a link on
        // the way is refused when the directory is opened.
        let root = if mount.links.fixed { mount.root.clone() } else { real_path(&mount.root) };
        let trouble = if mount.late { None } else { make_root(mount.access, mount.shared, &root) };
        let part: Vec<String> = mount.part.iter().flat_map(|name| part_globs(name)).collect();
        // The globs of an outer mount say nothing about the first parts and the depth of names here.
        let whole_only = if mount.inside.is_empty() { mount.only.as_slice() } else { &[] };
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
                file_bytes: mount.file_bytes,
            },
            lock: mount.lock.as_ref().map_or_else(|| root.clone(), |dir| real_path(dir)),
            root: Root::new(root, mount.links.clone()).shared(mount.shared),
            hidden: mount.hidden,
            trouble,
            late: mount.late,
            shared: mount.shared,
            keeps_folders: mount.keeps_folders,
            read_only: Patterns::new("read-only pattern", mount, &mount.read_only)?,
            ignored: Patterns::new("ignored pattern", mount, &mount.ignored)?,
            foreign_read_only: Patterns::for_whole_names("read-only pattern", mount, &mount.foreign_read_only)?,
            foreign_ignored: Patterns::for_whole_names("ignored pattern", mount, &mount.foreign_ignored)?,
            closed: mount.closed.clone(),
            only: [globs(&mount.only)?, globs(&part)?],
            tops: tops(if part.is_empty() { whole_only } else { &part }),
            depth: depth(whole_only),
            inside: if mount.inside.is_empty() { String::new() } else { format!("{}/", mount.inside) },
        })
    }

    /// Fails if its directory does not exist and cannot be created, or cannot be opened. Returns whether it was created.
    pub(crate) fn make(&self) -> Result<bool> {
        let unavailable = |why| Error::Unavailable { what: self.root.path().display().to_string(), why };
        if self.late && self.info.access == Access::ReadWrite {
            let existed = self.root.path().is_dir();
            make_root(self.info.access, self.shared, self.root.path()).map_or(Ok(()), |why| Err(unavailable(why)))?;
            return self.root.open().map(|_| !existed);
        }
        match (self.root.open(), &self.trouble) {
            (Ok(_), _) => Ok(false),
            (Err(_), Some(why)) => Err(unavailable(why.clone())),
            (Err(error), None) => Err(error),
        }
    }

    /// The maximum depth of visible files.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// Whether a path, relative to the mount and with its extension, is ignored or outside the globs.
    pub(crate) fn hides(&self, rel: &str) -> bool {
        let name = crate::base::path::strip_md(rel);
        let [only, part] = &self.only;
        self.is_ignored(name)
            || only.as_ref().is_some_and(|only| !only.is_match(format!("{}{rel}", self.inside)))
            || part.as_ref().is_some_and(|part| !part.is_match(rel))
    }

    fn is_ignored(&self, name: &str) -> bool {
        self.ignored.is_match(name) || self.foreign_ignored.is_match(name)
    }

    /// Whether a directory, relative to the mount, is ignored or outside the part that the space was narrowed to.
    pub(crate) fn hides_folder(&self, rel: &str) -> bool {
        let [_, part] = &self.only;
        if self.ignored.list.is_empty() && self.foreign_ignored.list.is_empty() && part.is_none() {
            return false;
        }
        let inside = format!("{rel}/any");
        self.is_ignored(&inside) || part.as_ref().is_some_and(|part| !part.is_match(&inside))
    }

    /// Whether a directory, relative to the mount, can contain visible files.
    pub(crate) fn enters(&self, rel: &str) -> bool {
        let top = rel.split('/').next().unwrap_or(rel);
        self.tops.as_ref().is_none_or(|tops| tops.iter().any(|known| known == top))
    }

    /// Fails if a path, relative to the mount, is not writable.
    pub(crate) fn check_writable(&self, rel: &str) -> Result<()> {
        let name = crate::base::path::strip_md(rel);
        let shown = || MemoryPath::parse(rel).map_or_else(|_| rel.to_owned(), |path| path.prefixed(&self.info.prefix).to_string());
        if self.info.access == Access::ReadOnly {
            return Err(Error::ReadOnly { path: shown(), why: format!("its mount {:?} is read-only", self.info.root) });
        }
        if self.read_only.is_match(name) || self.foreign_read_only.is_match(name) {
            return Err(Error::ReadOnly { path: shown(), why: "a read-only pattern matches its name".into() });
        }
        let closed = self.closed.iter().find(|(folder, _)| rel.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/')));
        if let Some((_, why)) = closed
            && !self.root.path().join(rel).is_file()
        {
            return Err(Error::ReadOnly { path: shown(), why: why.clone() });
        }
        if self.hides(rel) {
            let [_, part] = &self.only;
            let by = match part {
                _ if self.is_ignored(name) => "an ignored pattern",
                Some(part) if !part.is_match(rel) => "--only",
                _ => "the mount's setting `only`",
            };
            return Err(Error::ReadOnly { path: shown(), why: format!("the name is excluded by {by}") });
        }
        if !self.hidden && rel.rsplit_once('/').is_some_and(|(dirs, _)| dirs.split('/').any(|dir| dir.starts_with('.'))) {
            return Err(Error::bad_path(shown(), "it is in a hidden directory, which is never listed; use a name without the dot"));
        }
        Ok(())
    }
}

/// Fails if a mount lies inside another one: a file would have two names and two locks. Allowed is a mount at the place its prefix
/// leads to, in a mount that ignores it: its files have the same names either way.
pub(crate) fn check_apart(mounts: &[Mounted]) -> Result<()> {
    for (i, a) in mounts.iter().enumerate() {
        for b in &mounts[i + 1..] {
            if a.info.prefix == b.info.prefix {
                return Err(Error::bad_input(
                    "mounts",
                    format!("two mounts have the prefix {:?}; use a different prefix for each", a.info.prefix),
                ));
            }
            let (inner, outer) = if a.root.path().starts_with(b.root.path()) { (a, b) } else { (b, a) };
            let filtered = inner.only.iter().chain(&outer.only).any(Option::is_some) || is_nested(inner, outer);
            if inner.root.path().starts_with(outer.root.path()) && !filtered {
                return Err(Error::bad_input(
                    "mounts",
                    format!("{} is inside {}; mount only one of them", inner.root.path().display(), outer.root.path().display()),
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

fn make_root(access: Access, shared: bool, root: &Path) -> Option<String> {
    if access == Access::ReadOnly {
        return None;
    }
    let mode = if shared { DirMode::Umask } else { DirMode::Private };
    match disk::create_canonical_dir(root, mode) {
        Err(e) if !root.is_dir() => Some(format!("cannot create {root:?}: {e}")),
        // A directory that exists and cannot be opened is reported when it is used.
        _ => None,
    }
}

/// Fails if a text is not a valid pattern for a mount's `read_only` and `ignored`.
pub fn check_pattern(pattern: &str) -> Result<()> {
    compile_whole(pattern).map(drop).map_err(|e| Error::bad_input("pattern", format!("{pattern:?}: {e}")))
}

fn compile_whole(pattern: &str) -> std::result::Result<Regex, fancy_regex::Error> {
    RegexBuilder::new(&format!("^(?:{pattern})$")).backtrack_limit(100_000).build()
}

/// Regular expressions that must match a whole name.
#[derive(Debug)]
struct Patterns {
    list: Vec<Regex>,
    /// The text before a name when it is matched.
    prefix: String,
}

impl Patterns {
    fn new(what: &str, mount: &Mount, list: &[String]) -> Result<Self> {
        let build = |pattern: &String| compile_whole(pattern).map_err(|e| Error::bad_input(what, format!("{pattern:?}: {e}")));
        let above = match mount {
            Mount { inside, .. } if !inside.is_empty() => inside,
            Mount { patterns_see_prefix: true, prefix, .. } => prefix,
            _ => "",
        };
        let prefix = if above.is_empty() { String::new() } else { format!("{above}/") };
        Ok(Patterns { list: list.iter().map(build).collect::<Result<_>>()?, prefix })
    }

    /// Patterns that match names with the mount's prefix.
    fn for_whole_names(what: &str, mount: &Mount, list: &[String]) -> Result<Self> {
        Patterns::new(what, &Mount { patterns_see_prefix: true, prefix: mount.prefix.clone(), ..Mount::new("", "", "") }, list)
    }

    fn is_match(&self, name: &str) -> bool {
        if self.list.is_empty() {
            return false;
        }
        let name = format!("{}{name}", self.prefix);
        // A pattern that exceeds its limit counts as a match: it protects too much rather than too little.
        self.list.iter().any(|pattern| pattern.is_match(&name).unwrap_or(true))
    }
}

/// Whether files with this name or under it can match the globs, as far as the first parts tell.
pub(crate) fn may_match(globs: &[String], name: &str) -> bool {
    let top = name.split('/').next().unwrap_or(name);
    tops(globs).is_none_or(|tops| tops.iter().any(|known| known == top || *known == format!("{top}.md")))
}

/// Returns the first part of each glob, if all of them are literal.
fn tops(globs: &[String]) -> Option<Vec<String>> {
    let literal = |glob: &String| {
        let top = glob.split('/').next().unwrap_or(glob);
        (!top.contains(['*', '?', '[', '{', '\\'])).then(|| top.to_owned())
    };
    if globs.is_empty() { None } else { globs.iter().map(literal).collect() }
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

/// Returns the depth of the globs: one for a file in a home directory must not walk all of it.
fn depth(only: &[String]) -> usize {
    let deep = only.is_empty() || only.iter().any(|glob| glob.contains("**") || glob.contains('{'));
    if deep { limits::WALK_DEPTH } else { only.iter().map(|glob| glob.matches('/').count()).max().unwrap_or(0) }
}

/// Returns the name of a mount's journal directory: readable, and unique per canonical path.
pub fn journal_name(root: &Path) -> String {
    let real = real_path(root);
    let text = real.to_string_lossy();
    let hash = blake3::hash(text.as_bytes()).to_hex();
    let tail: String = real.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let readable: String = tail.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(32).collect();
    format!("{readable}-{}", &hash[..12])
}

/// Returns the canonical path of a directory that may not exist: that of its deepest existing ancestor, and the rest.
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
