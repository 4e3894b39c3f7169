//! The mounts of a store: each is a namespace of the tenant, with the same rules as a directory.

use memdir_core::internal::base::sort::SharedSort as _;
use memdir_core::{
    ClosedFolder, Error, FileEdit, MemoryPath, Mount, MountInfo, Result, Version,
    internal::store::{
        mounts::{self, Prefixed},
        rules::MountRules,
    },
};
use std::path::PathBuf;

/// A namespace and how it is mounted.
#[derive(Debug, Clone)]
pub struct NamespaceMount {
    /// The name of the namespace in its tenant, such as `projects/shop`.
    pub namespace: String,
    /// The prefix, the access and the rules. Its directories are not used.
    pub mount: Mount,
    /// Whether the caller is a reviewer: then its changes are made at once, even if the namespace is under review.
    pub reviews: bool,
    /// The person who makes the changes. If set, a change fails once the person was removed or erased, even while it waits for a lock.
    pub person: Option<String>,
    /// The group whose roles apply. If set with the person, the role is checked again when a change by a reviewer has its locks.
    pub group: Option<String>,
    /// The whole mount, if `mount` is a part of it.
    pub whole: Option<Mount>,
}

impl NamespaceMount {
    /// Creates a writable mount with an entrypoint, for a reviewer.
    pub fn new(prefix: &str, namespace: &str) -> Self {
        NamespaceMount {
            namespace: namespace.to_owned(),
            mount: Mount::new(prefix, "", ""),
            reviews: true,
            person: None,
            group: None,
            whole: None,
        }
    }

    /// Narrows the mount to a part of it.
    pub fn narrowed(&self, part: Mount) -> Self {
        let whole = (!part.part.is_empty()).then(|| self.mount.clone());
        NamespaceMount { mount: part, whole, ..self.clone() }
    }

    /// Returns the whole mount, with the access that the caller has to the part.
    pub(crate) fn to_whole(&self) -> Self {
        let mount = self.whole.as_ref().unwrap_or(&self.mount).clone();
        NamespaceMount { mount: Mount { access: self.mount.access, ..mount }, whole: None, ..self.clone() }
    }
}

impl NamespaceMount {
    /// Creates the mount of a namespace of a team: of a person, an agent, a project or a group.
    pub fn of_team(namespace: &str) -> Self {
        let parts: Vec<&str> = namespace.split('/').collect();
        match parts[..] {
            ["people", _] => NamespaceMount::new("user", namespace),
            ["people", _, "agents", agent] => NamespaceMount::new(&format!("agent/{agent}"), namespace),
            ["groups", _] => NamespaceMount::new("team", namespace),
            _ => {
                let mut mount = NamespaceMount::new("", namespace);
                mount.mount.is_foreign = true;
                mount.mount.closed.push(ClosedFolder::of_agents_with_token());
                mount
            }
        }
    }
}

/// The mounts of one caller.
#[derive(Debug)]
pub(crate) struct CallerSpace {
    pub(crate) tenant: String,
    /// The person whose changes these are.
    pub(crate) person: Option<String>,
    pub(crate) mounts: Vec<OpenMount>,
    pub(crate) infos: Vec<MountInfo>,
}

/// A mount with its compiled rules.
#[derive(Debug)]
pub(crate) struct OpenMount {
    pub(crate) namespace: String,
    pub(crate) rules: MountRules,
    pub(crate) shows_all: bool,
    /// Whether the caller is a reviewer.
    pub(crate) reviews: bool,
    /// The group whose roles apply.
    pub(crate) group: Option<String>,
}

/// A file: the position of its mount, and the path there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamespaceFile {
    pub(crate) mount: usize,
    pub(crate) rel: String,
}

/// One file of a change that is about to be written.
pub(crate) struct FileWrite {
    pub(crate) spot: NamespaceFile,
    pub(crate) edit: FileEdit,
    pub(crate) before: Option<Version>,
}

impl CallerSpace {
    pub(crate) fn new(tenant: &str, mounts: &[NamespaceMount]) -> Result<Self> {
        let mut mounts: Vec<&NamespaceMount> = mounts.iter().collect();
        mounts.shared_sort_by_key(|mount| mount.mount.prefix());
        let mut space = CallerSpace { tenant: tenant.to_owned(), person: None, mounts: Vec::new(), infos: Vec::new() };
        for NamespaceMount { namespace, mount, reviews, person, group, .. } in mounts {
            space.person = space.person.or_else(|| person.clone());
            MemoryPath::parse(namespace).map_err(|error| Error::bad_input("namespace", error.to_string()))?;
            let info = mount.info(root(tenant, namespace));
            let shows_all = info.rules.is_empty() && mount.part.is_empty();
            let (namespace, rules, group) = (namespace.clone(), MountRules::new(mount)?, group.clone());
            space.mounts.push(OpenMount { namespace, rules, shows_all, reviews: *reviews, group });
            space.infos.push(info);
        }
        mounts::check_prefixes(&space.infos)?;
        Ok(space)
    }

    /// Returns the mount that owns a path, and the path there.
    pub(crate) fn spot(&self, path: &MemoryPath) -> Result<NamespaceFile> {
        mounts::owner(&self.infos, path).map(|(mount, rel)| NamespaceFile { mount, rel: rel.to_owned() })
    }

    /// Returns the visible names of files that a name may mean: the exact one first, then the one with `.md`.
    pub(crate) fn spellings(&self, spot: &NamespaceFile) -> Vec<String> {
        let mut all = mounts::spellings(&spot.rel);
        all.retain(|rel| !self.mounts[spot.mount].rules.hides(rel));
        all
    }

    /// Returns the name of a file in the space.
    pub(crate) fn named(&self, mount: usize, rel: &str) -> Result<MemoryPath> {
        Ok(MemoryPath::parse(rel)?.prefixed(&self.infos[mount].prefix))
    }

    /// Fails if a file is not writable. `exists` is whether it exists.
    pub(crate) fn check_writable(&self, spot: &NamespaceFile, exists: &dyn Fn() -> Result<bool>) -> Result<()> {
        self.mounts[spot.mount].rules.check_writable(&self.infos[spot.mount], &spot.rel, exists)
    }

    pub(crate) fn namespace(&self, spot: &NamespaceFile) -> &str {
        &self.mounts[spot.mount].namespace
    }

    /// The namespaces of all mounts, sorted, without duplicates.
    pub(crate) fn namespaces(&self) -> Vec<String> {
        let mut all: Vec<String> = self.mounts.iter().map(|mount| mount.namespace.clone()).collect();
        all.shared_sort();
        all.dedup();
        all
    }
}

/// Returns the path by which callers know a namespace. It is not a directory. Indexes are shared by this path, so that no two namespaces
/// have the same: a slash in the name of a tenant is written differently.
pub(crate) fn root(tenant: &str, namespace: &str) -> PathBuf {
    let tenant = tenant.replace('%', "%25").replace('/', "%2F");
    PathBuf::from(format!("postgres:{tenant}/{namespace}"))
}
