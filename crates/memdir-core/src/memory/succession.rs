//! Which memory replaces which. Derived from `supersedes` and `superseded_by` of all memories of a mount. Pure.
//!
//! A memory replaces memories of its own mount only: otherwise a memory that other people wrote could hide the person's own.

use super::links;
use crate::base::path::MemoryPath;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What one memory says about others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuccessionFields {
    /// The memory.
    pub path: MemoryPath,
    /// The names that it supersedes, as written.
    pub supersedes: Vec<String>,
    /// The names that it is superseded by, as written.
    pub superseded_by: Vec<String>,
}

/// The successors of memories.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Successions {
    /// For each replaced memory those that replace it directly.
    direct: BTreeMap<MemoryPath, BTreeSet<MemoryPath>>,
}

impl Successions {
    /// Collects the successions. `find` returns the path of the memory with a name, if it exists and is in the same mount as the
    /// memory that names it.
    pub fn new<'a>(
        fields: impl IntoIterator<Item = &'a SuccessionFields>,
        find: impl Fn(&MemoryPath, &str) -> Option<MemoryPath>,
    ) -> Successions {
        let mut out = Successions::default();
        for one in fields {
            let named = |written: &String| links::wiki_names(written, &one.path).find_map(|name| find(&one.path, &name));
            for old in one.supersedes.iter().filter_map(named).filter(|old| *old != one.path) {
                out.direct.entry(old).or_default().insert(one.path.clone());
            }
            for new in one.superseded_by.iter().filter_map(named).filter(|new| *new != one.path) {
                out.direct.entry(one.path.clone()).or_default().insert(new);
            }
        }
        out
    }

    /// Collects the successions among memories of several mounts. `mount_of` returns the prefix of the mount of a memory.
    pub fn among<'a>(
        fields: &[SuccessionFields],
        memories: impl Iterator<Item = &'a MemoryPath>,
        mount_of: &dyn Fn(&MemoryPath) -> Option<&'a str>,
    ) -> Successions {
        let names: HashMap<&str, &MemoryPath> = memories.map(|path| (path.name(), path)).collect();
        let in_mount = |holder: &MemoryPath, name: &str| names.get(name).filter(|path| mount_of(path) == mount_of(holder));
        Successions::new(fields, |holder, name| in_mount(holder, name).map(|path| (*path).clone()))
    }

    /// Whether no memory is replaced.
    pub fn is_empty(&self) -> bool {
        self.direct.is_empty()
    }

    /// The replaced memories, in the order of their names.
    pub fn replaced(&self) -> impl Iterator<Item = &MemoryPath> {
        self.direct.keys()
    }

    /// Returns the memory that finally replaces this one; `None` if it is not replaced, or if the successions are a circle. Of several
    /// successors the first name counts.
    pub fn successor<'a>(&'a self, path: &'a MemoryPath) -> Option<&'a MemoryPath> {
        let mut seen = BTreeSet::from([path]);
        let mut last = path;
        while let Some(next) = self.direct.get(last).and_then(BTreeSet::first) {
            if !seen.insert(next) {
                return None;
            }
            last = next;
        }
        (last != path).then_some(last)
    }

    /// Whether the successions of this memory lead back to it.
    pub fn is_circular(&self, path: &MemoryPath) -> bool {
        self.direct.contains_key(path) && self.successor(path).is_none()
    }
}
