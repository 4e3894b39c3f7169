//! Which names of a mount are visible and which are writable: patterns, globs, closed folders. The same rules for every store.

use super::mount::{ClosedFolder, Mount};
use crate::{
    base::{
        error::{Error, ReadOnlyCause, Result},
        limits,
        path::MemoryPath,
    },
    store::{Access, MountInfo},
};
use fancy_regex::{Regex, RegexBuilder};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// The compiled rules of a mount.
#[derive(Debug)]
pub struct MountRules {
    hidden: bool,
    read_only: Patterns,
    ignored: Patterns,
    /// The patterns of another system's settings.
    foreign_read_only: Patterns,
    foreign_ignored: Patterns,
    closed: Vec<ClosedFolder>,
    /// The mount's globs, which match names with `inside`, and those of the narrowed space.
    only: [Option<GlobSet>; 2],
    /// The path of the root inside the mount whose globs these are, with a slash; or empty.
    inside: String,
    /// The first parts of all globs in `only`, if they are literal names: no other directory has to be visited.
    first_components: Option<Vec<String>>,
    depth: usize,
}

/// Returns globs for a name and everything under it.
fn part_globs(name: &str) -> [String; 3] {
    let escaped = crate::base::glob::escape(name);
    [escaped.clone(), format!("{escaped}.md"), format!("{escaped}/**")]
}

impl MountRules {
    /// Compiles the rules of a mount.
    pub fn new(mount: &Mount) -> Result<Self> {
        let part: Vec<String> = mount.part.iter().flat_map(|name| part_globs(name)).collect();
        // The globs of an outer mount say nothing about the first parts and the depth of names here.
        let whole_only = if mount.inside.is_empty() { mount.only.as_slice() } else { &[] };
        Ok(MountRules {
            hidden: mount.hidden,
            read_only: Patterns::new("read-only pattern", mount, &mount.read_only)?,
            ignored: Patterns::new("ignored pattern", mount, &mount.ignored)?,
            foreign_read_only: Patterns::for_whole_names("read-only pattern", mount, &mount.foreign_read_only)?,
            foreign_ignored: Patterns::for_whole_names("ignored pattern", mount, &mount.foreign_ignored)?,
            closed: mount.closed.clone(),
            only: [globs(&mount.only)?, globs(&part)?],
            first_components: first_components(if part.is_empty() { whole_only } else { &part }),
            depth: depth(whole_only),
            inside: if mount.inside.is_empty() { String::new() } else { format!("{}/", mount.inside) },
        })
    }

    /// Whether hidden directories are entered.
    pub(crate) fn enters_hidden(&self) -> bool {
        self.hidden
    }

    /// Whether globs select the visible files.
    pub(crate) fn has_globs(&self) -> bool {
        self.only.iter().any(Option::is_some)
    }

    /// Whether the mount's own patterns ignore a name.
    pub(crate) fn ignores(&self, name: &str) -> bool {
        self.ignored.is_match(name)
    }

    /// The maximum depth of visible files.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Whether a path, relative to the mount and with its extension, is ignored or outside the globs.
    pub fn hides(&self, rel: &str) -> bool {
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
    pub fn hides_folder(&self, rel: &str) -> bool {
        let [_, part] = &self.only;
        if self.ignored.list.is_empty() && self.foreign_ignored.list.is_empty() && part.is_none() {
            return false;
        }
        let inside = format!("{rel}/any");
        self.is_ignored(&inside) || part.as_ref().is_some_and(|part| !part.is_match(&inside))
    }

    /// Whether a directory, relative to the mount, can contain visible files.
    pub fn enters(&self, rel: &str) -> bool {
        let first = rel.split('/').next().unwrap_or(rel);
        self.first_components.as_ref().is_none_or(|all| all.iter().any(|known| known == first))
    }

    /// Fails if a path, relative to the mount, is not writable. `exists` is whether the file exists, for folders in which only new
    /// files are refused.
    pub fn check_writable(&self, info: &MountInfo, rel: &str, exists: &dyn Fn() -> Result<bool>) -> Result<()> {
        let name = crate::base::path::strip_md(rel);
        let shown = || MemoryPath::parse(rel).map_or_else(|_| rel.to_owned(), |path| path.prefixed(&info.prefix).to_string());
        if info.access == Access::ReadOnly {
            return Err(Error::ReadOnly {
                path: shown(),
                why: format!("its mount {:?} is read-only", info.root),
                cause: ReadOnlyCause::Mount,
            });
        }
        if self.read_only.is_match(name) || self.foreign_read_only.is_match(name) {
            return Err(Error::ReadOnly {
                path: shown(),
                why: "a read-only pattern matches its name".into(),
                cause: ReadOnlyCause::Pattern,
            });
        }
        let closed = self.closed.iter().find(|closed| rel.strip_prefix(closed.folder.as_str()).is_some_and(|rest| rest.starts_with('/')));
        if let Some(ClosedFolder { why, cause, .. }) = closed
            && !exists()?
        {
            return Err(Error::ReadOnly { path: shown(), why: why.clone(), cause: cause.clone() });
        }
        if self.hides(rel) {
            let [_, part] = &self.only;
            let (why, cause) = match part {
                _ if self.is_ignored(name) => ("the name is excluded by an `ignored` pattern", ReadOnlyCause::Name),
                // `--only` of the command or the server, or a header of the session, narrowed the space.
                Some(part) if !part.is_match(rel) => ("access is restricted to other names", ReadOnlyCause::NotSelected),
                _ => ("the name is excluded by the mount's `only` setting", ReadOnlyCause::Name),
            };
            return Err(Error::ReadOnly { path: shown(), why: why.into(), cause });
        }
        if !self.hidden && rel.rsplit_once('/').is_some_and(|(dirs, _)| dirs.split('/').any(|dir| dir.starts_with('.'))) {
            return Err(Error::explained_path(
                shown(),
                "it is in a hidden directory, which is never listed; use a directory name without a leading dot",
            ));
        }
        Ok(())
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

/// Whether files with this name or under it can match the globs. Compares only the first path components.
pub(crate) fn may_match(globs: &[String], name: &str) -> bool {
    let first = name.split('/').next().unwrap_or(name);
    first_components(globs).is_none_or(|all| all.iter().any(|known| known == first || *known == format!("{first}.md")))
}

/// Returns the first path component of each glob, if all of them are literal.
fn first_components(globs: &[String]) -> Option<Vec<String>> {
    let literal = |glob: &String| {
        let first = glob.split('/').next().unwrap_or(glob);
        (!first.contains(['*', '?', '[', '{', '\\'])).then(|| first.to_owned())
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
