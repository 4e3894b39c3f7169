//! A mount in use: its directory, opened, with its rules.

use super::contain::Root;
use crate::{
    base::{
        disk::{self, DirMode},
        error::{Error, Result},
    },
    store::{
        Access, MountInfo,
        mount::{Mount, real_path},
        rules::MountRules,
    },
};
use std::path::{Path, PathBuf};

/// A mount in use.
#[derive(Debug)]
pub(crate) struct FileMount {
    pub(crate) info: MountInfo,
    pub(crate) root: Root,
    pub(crate) rules: MountRules,
    pub(crate) lock: PathBuf,
    /// Why its directory could not be created.
    pub(crate) trouble: Option<String>,
    /// Whether its directory is created by the first write.
    pub(crate) late: bool,
    shared: bool,
    /// Whether folders stay when their last file is removed.
    pub(crate) keeps_folders: bool,
}

impl FileMount {
    pub(crate) fn open(mount: &Mount) -> Result<Self> {
        // The canonical path, so that a link to the directory has the same lock. A repository's directory is not resolved: a link on
        // the way is refused when the directory is opened.
        let root = if mount.links.fixed { mount.root.clone() } else { real_path(&mount.root) };
        let trouble = if mount.late { None } else { make_root(mount.access, mount.shared, &root) };
        Ok(FileMount {
            info: mount.info(root.clone()),
            rules: MountRules::new(mount)?,
            lock: mount.lock.as_ref().map_or_else(|| root.clone(), |dir| real_path(dir)),
            root: Root::new(root, mount.links.clone()).shared(mount.shared),
            trouble,
            late: mount.late,
            shared: mount.shared,
            keeps_folders: mount.keeps_folders,
        })
    }

    /// Whether a path, relative to the mount and with its extension, is ignored or outside the globs.
    pub(crate) fn hides(&self, rel: &str) -> bool {
        self.rules.hides(rel)
    }

    /// Fails if a path, relative to the mount, is not writable.
    pub(crate) fn check_writable(&self, rel: &str) -> Result<()> {
        self.rules.check_writable(&self.info, rel, &|| Ok(self.root.path().join(rel).is_file()))
    }

    /// Fails if its directory does not exist and cannot be created, or cannot be opened. Returns whether it was created.
    pub(crate) fn make(&self) -> Result<bool> {
        let unavailable = |why: String| Error::unavailable(self.root.path().display().to_string(), why);
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
}

/// Fails if a mount lies inside another one: a file would have two names and two locks. Allowed is a mount at the place its prefix
/// leads to, in a mount that ignores it: its files have the same names either way.
pub(crate) fn check_apart(mounts: &[FileMount]) -> Result<()> {
    for (i, a) in mounts.iter().enumerate() {
        for b in &mounts[i + 1..] {
            let (inner, outer) = if a.root.path().starts_with(b.root.path()) { (a, b) } else { (b, a) };
            let filtered = inner.rules.has_globs() || outer.rules.has_globs() || is_nested(inner, outer);
            if inner.root.path().starts_with(outer.root.path()) && !filtered {
                let (inner, outer) = (inner.root.path(), outer.root.path());
                let why = match inner == outer {
                    true => format!("{} is mounted twice; mount it only once", inner.display()),
                    false => format!("{} is inside {}; mount only one of them", inner.display(), outer.display()),
                };
                return Err(Error::bad_input("mounts", why));
            }
        }
    }
    Ok(())
}

fn is_nested(inner: &FileMount, outer: &FileMount) -> bool {
    let Some(rel) = inner.root.path().strip_prefix(outer.root.path()).ok().and_then(Path::to_str) else { return false };
    let named = if outer.info.prefix.is_empty() { rel.to_owned() } else { format!("{}/{rel}", outer.info.prefix) };
    !rel.is_empty() && inner.info.prefix == named && outer.rules.ignores(&format!("{rel}/any"))
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
