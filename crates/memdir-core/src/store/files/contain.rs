//! Opens files below a root and nothing else. The kernel refuses `..`, absolute paths and links that lead out in the same call
//! that opens the file (`openat2`), so that there is no race between check and use. Never writes a file.

use super::fault;
use crate::base::{
    disk::{self, DirMode, READ_DIR},
    error::{Error, NameProblem, Result},
};
use crate::store::mount::Links;
use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{self, AtFlags, FileType, Mode, OFlags},
    io::Errno,
};
use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

/// A directory in which names are resolved, by its canonical path. It is opened for every operation, and no part of the path may
/// have become a symbolic link: a checkout can replace a directory of a running server by a link to a private one. A directory that
/// replaces the old one, as a checkout of another branch makes, is used.
#[derive(Debug, Clone)]
pub(crate) struct Root {
    path: PathBuf,
    links: Links,
    /// Whether new files and directories have the permissions that the umask leaves, instead of private ones.
    shared: bool,
}

/// An opened root.
pub(crate) struct OpenRoot<'a> {
    root: &'a Root,
    pub(crate) fd: OwnedFd,
}

/// A directory and the name of a file in it, ready for `openat` and `renameat`.
pub(crate) struct FileLocation {
    pub(crate) dir: OwnedFd,
    pub(crate) name: Vec<u8>,
}

/// Never blocks on a FIFO and never acquires a controlling terminal.
const READ_FILE: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);
/// The maximum number of links one name may lead through.
const LINK_HOPS: usize = 8;

impl Root {
    pub(crate) fn new(path: PathBuf, links: Links) -> Self {
        Root { path, links, shared: false }
    }

    /// Returns the root with the permissions of new files and directories: private ones, or what the umask leaves.
    pub(crate) fn shared(self, shared: bool) -> Self {
        Root { shared, ..self }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn links(&self) -> &Links {
        &self.links
    }

    pub(crate) fn open(&self) -> Result<OpenRoot<'_>> {
        match disk::open_canonical_dir(&self.path) {
            Ok(fd) => Ok(OpenRoot { root: self, fd }),
            Err(Errno::LOOP) => Err(self.replaced_by_link()),
            Err(errno) => Err(Error::io("open", &self.path, errno.into())),
        }
    }

    fn replaced_by_link(&self) -> Error {
        let link = self.path.ancestors().filter(|part| part.is_symlink()).last().unwrap_or(&self.path);
        let why = if self.links.fixed {
            "links are not followed in a repository's memories; replace the link with a directory"
        } else {
            "the path was a directory when memdir opened it; to use the link target, restart memdir"
        };
        Error::explained_unavailable(format!("{link:?} is a symbolic link"), why)
    }
}

/// Returns the name of the file system of an open file if its files are made by the kernel when they are read: they have no size,
/// and reading one may never end.
#[cfg(target_os = "linux")]
pub(crate) fn special_file_system(file: impl AsFd) -> Option<&'static str> {
    const SPECIAL: [(u32, &str); 20] = [
        (0x9FA0, "proc"),
        (0x6265_6572, "sysfs"),
        (0x1CD1, "devpts"),
        (0x0027_E0EB, "cgroup"),
        (0x6367_7270, "cgroup2"),
        (0x6462_6720, "debugfs"),
        (0x7472_6163, "tracefs"),
        (0x7363_6673, "securityfs"),
        (0x6165_676C, "pstore"),
        (0xCAFE_4A11, "bpf"),
        (0x6265_6570, "configfs"),
        (0xDE5E_81E4, "efivarfs"),
        (0xF97C_FF8C, "selinuxfs"),
        (0x4341_5D53, "smackfs"),
        (0x6573_5543, "fusectl"),
        (0x4249_4E4D, "binfmt_misc"),
        (0x1980_0202, "mqueue"),
        (0x6E73_6673, "nsfs"),
        (0x6759_6969, "rpc_pipefs"),
        (0x9584_58F6, "hugetlbfs"),
    ];
    let kind = fs::fstatfs(file).ok()?.f_type as u32;
    SPECIAL.iter().find(|(magic, _)| *magic == kind).map(|(_, name)| *name)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn special_file_system(_file: impl AsFd) -> Option<&'static str> {
    None
}

impl OpenRoot<'_> {
    /// Opens a file for reading; `None` if it does not exist or is a directory.
    pub(crate) fn file(&self, rel: &[u8]) -> Result<Option<OwnedFd>> {
        let fd = match self.open_at(rel, READ_FILE) {
            Ok(fd) => fd,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::ISDIR | Errno::NAMETOOLONG) => return Ok(None),
            Err(errno) => match self.through_link(rel, errno)? {
                Some((root, rest)) => return root.open()?.file(&rest),
                None => return Err(self.refusal("read", rel, errno)),
            },
        };
        let stat = fs::fstat(&fd).map_err(|e| self.io("read", rel, e))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(Some(fd)),
            FileType::Directory => Ok(None),
            _ => Err(Error::BadPath { path: lossy(rel), why: "it is not a regular file".into(), problem: NameProblem::NotRegular }),
        }
    }

    /// Opens a directory below the root; `b""` is the root.
    pub(crate) fn dir(&self, rel: &[u8]) -> Result<Option<OwnedFd>> {
        if rel.is_empty() {
            return self.again().map(Some).map_err(|e| self.io("open", rel, e));
        }
        match self.open_at(rel, READ_DIR) {
            Ok(fd) => Ok(Some(fd)),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG) => Ok(None),
            Err(errno) => match self.through_link(rel, errno)? {
                Some((root, rest)) => root.open()?.dir(&rest),
                None => Err(self.refusal("open", rel, errno)),
            },
        }
    }

    /// Returns the metadata of a regular file, without following links.
    pub(crate) fn stat(&self, rel: &[u8]) -> Result<Option<fs::Stat>> {
        let (parent, name) = split(rel);
        let above = if parent.is_empty() { None } else { Some(self.dir(parent)?) };
        let stat = match &above {
            None => fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW),
            Some(Some(dir)) => fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW),
            Some(None) => return Ok(None),
        };
        match stat {
            Ok(stat) => Ok(Some(stat).filter(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.io("read the metadata of", rel, errno)),
        }
    }

    /// Returns the directory of a file (created if `make`) and its name there. A link at the end is followed if the
    /// mount allows it, so that writing changes its target.
    pub(crate) fn place(&self, rel: &[u8], make: bool) -> Result<Option<FileLocation>> {
        let (parent, name) = split(rel);
        let dir = match self.dir(parent)? {
            Some(dir) => dir,
            None if make => self.make_dir(parent)?,
            None => return Ok(None),
        };
        if !is_link(&dir, name) {
            return Ok(Some(FileLocation { dir, name: name.to_vec() }));
        }
        // The place is where the link ends, if it may be followed.
        let (root, rest) = self.end_of_link(rel, LINK_HOPS)?;
        match root {
            Some(root) => root.open()?.place(&rest, false),
            None => self.place(&rest, false),
        }
    }

    /// Returns the place of the name itself: removing a link never removes its target.
    pub(crate) fn own_place(&self, rel: &[u8]) -> Result<Option<FileLocation>> {
        let (parent, name) = split(rel);
        Ok(self.dir(parent)?.map(|dir| FileLocation { dir, name: name.to_vec() }))
    }

    fn make_dir(&self, rel: &[u8]) -> Result<OwnedFd> {
        let (parent, name) = split(rel);
        let above = match self.dir(parent)? {
            Some(dir) => dir,
            None => self.make_dir(parent)?,
        };
        let shown = self.root.path.join(OsStr::from_bytes(parent));
        let mode = if self.root.shared { DirMode::Umask } else { DirMode::Private };
        let made = fault::point().and_then(|()| disk::create_dir_at(&above, name, mode, &shown));
        made.map_err(|e| Error::io("create", self.root.path.join(OsStr::from_bytes(rel)), e))?;
        self.dir(rel)?.ok_or_else(|| Error::below_file(lossy(rel)))
    }

    /// Opens the root's directory again, for reading its entries.
    fn again(&self) -> rustix::io::Result<OwnedFd> {
        fs::openat(&self.fd, c".", READ_DIR, Mode::empty())
    }

    /// Whether new files have the permissions that the umask leaves.
    pub(crate) fn is_shared(&self) -> bool {
        self.root.shared
    }

    /// The device and inode of the root's directory.
    pub(crate) fn identity(&self) -> Result<(u64, u64)> {
        let stat = fs::fstat(&self.fd).map_err(|e| self.io("look at", b"", e))?;
        Ok((stat.st_dev, stat.st_ino))
    }

    fn open_at(&self, rel: &[u8], flags: OFlags) -> rustix::io::Result<OwnedFd> {
        open_beneath(&self.fd, rel, flags, self.root.links.inside)
    }

    /// Returns the target of a refused name, if it leads through a link into one of the allowed roots.
    fn through_link(&self, rel: &[u8], errno: Errno) -> Result<Option<(Root, Vec<u8>)>> {
        if !matches!(errno, Errno::XDEV | Errno::LOOP) || self.root.links.roots.is_empty() {
            return Ok(None);
        }
        let Some((link, rest)) = self.first_link(rel) else { return Ok(None) };
        let target = self.link_target(&link)?;
        let joined = if rest.is_empty() { target } else { target.join(OsStr::from_bytes(&rest)) };
        Ok(self.allowed(&joined))
    }

    /// Returns the allowed root that contains an absolute path, and the path below it.
    fn allowed(&self, target: &Path) -> Option<(Root, Vec<u8>)> {
        self.root.links.roots.iter().find_map(|allowed| {
            let real = allowed.canonicalize().ok()?;
            let rest = target.strip_prefix(&real).or_else(|_| target.strip_prefix(allowed)).ok()?;
            let links = Links { roots: Vec::new(), ..self.root.links.clone() };
            Some((Root::new(real, links), rest.as_os_str().as_bytes().to_vec()))
        })
    }

    /// Returns the first part of `rel` that is a link, and the rest.
    fn first_link(&self, rel: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
        let mut dir = self.again().ok()?;
        let mut done: Vec<u8> = Vec::new();
        let mut parts = rel.split(|b| *b == b'/').peekable();
        while let Some(part) = parts.next() {
            if !done.is_empty() {
                done.push(b'/');
            }
            done.extend_from_slice(part);
            if is_link(&dir, part) {
                let rest: Vec<&[u8]> = parts.collect();
                return Some((done, rest.join(&b'/')));
            }
            dir = fs::openat(&dir, part, READ_DIR | OFlags::NOFOLLOW, Mode::empty()).ok()?;
        }
        None
    }

    /// Returns the absolute target of a link below the root, without following further links.
    fn link_target(&self, link: &[u8]) -> Result<PathBuf> {
        let target = fs::readlinkat(&self.fd, link, Vec::new()).map_err(|e| self.io("read the symbolic link", link, e))?;
        let target = Path::new(OsStr::from_bytes(target.to_bytes()));
        let from = self.root.path.join(OsStr::from_bytes(split(link).0));
        Ok(normalize(&from.join(target)))
    }

    /// Resolves a link at the end of `rel`: below this root (`None`) or below an allowed one.
    fn end_of_link(&self, rel: &[u8], hops: usize) -> Result<(Option<Root>, Vec<u8>)> {
        if hops == 0 {
            return Err(self.refusal("write", rel, Errno::LOOP));
        }
        let target = self.link_target(rel)?;
        if let Ok(rest) = target.strip_prefix(&self.root.path) {
            if !self.root.links.inside {
                return Err(self.refusal("write", rel, Errno::LOOP));
            }
            let rest = rest.as_os_str().as_bytes().to_vec();
            let (parent, name) = split(&rest);
            let again = self.dir(parent)?.is_some_and(|dir| is_link(&dir, name));
            return if again { self.end_of_link(&rest, hops - 1) } else { Ok((None, rest)) };
        }
        match self.allowed(&target) {
            Some((root, rest)) => Ok((Some(root), rest)),
            None => Err(self.refusal("write", rel, Errno::XDEV)),
        }
    }

    fn refusal(&self, doing: &'static str, rel: &[u8], errno: Errno) -> Error {
        let linked = matches!(errno, Errno::XDEV | Errno::LOOP).then(|| self.first_link(rel)).flatten();
        let Some((link, _)) = linked else { return self.io(doing, rel, errno) };
        let link_name = lossy(&link);
        let why = match self.link_target(&link) {
            Ok(_) if self.root.links.fixed => {
                format!(
                    "{link_name} is a symbolic link, and links are not followed in a repository's memories; replace it with a regular file or directory"
                )
            }
            // Only links that stay inside are followed, and only so many of them.
            Ok(target) if target.starts_with(&self.root.path) && self.root.links.inside => {
                format!(
                    "{link_name} is a symbolic link that leads outside the directory through another link, or is part of a loop; remove it, or point it directly at a file in the directory"
                )
            }
            Ok(target) if target.starts_with(&self.root.path) => {
                format!(
                    "{link_name} is a symbolic link; to follow links within this directory, set `follow_links = true` in its `[[mounts]]` entry in memdir's config.toml"
                )
            }
            Ok(target) => {
                let into = if target.is_dir() { &*target } else { target.parent().unwrap_or(&target) };
                let into = into.display().to_string();
                let root = self.root.path.display().to_string();
                format!(
                    "{link_name} is a symbolic link that points outside the directory; to allow it, add `link_roots = [{into:?}]` to the `[[mounts]]` entry \
                     with `path = {root:?}` in memdir's config.toml"
                )
            }
            Err(Error::Io { source, .. }) => format!("{link_name} is a symbolic link that cannot be read: {source}; remove or replace it"),
            Err(_) => format!("{link_name} is a symbolic link that cannot be read; remove or replace it"),
        };
        Error::BadPath { path: lossy(rel), why, problem: NameProblem::Link }
    }

    fn io(&self, doing: &'static str, rel: &[u8], errno: Errno) -> Error {
        Error::io(doing, self.root.path.join(OsStr::from_bytes(rel)), errno.into())
    }
}

/// Opens `rel` below `dir` with one call if the kernel supports it, else part by part, without following links.
fn open_beneath(dir: &OwnedFd, rel: &[u8], flags: OFlags, follow: bool) -> rustix::io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::ResolveFlags;
        let mut how = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        if !follow {
            how |= ResolveFlags::NO_SYMLINKS;
        }
        // A concurrent rename elsewhere in the tree makes the kernel return EAGAIN, which asks for a retry.
        for _ in 0..64 {
            match fs::openat2(dir, rel, flags, Mode::empty(), how) {
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(Errno::NOSYS | Errno::PERM | Errno::OPNOTSUPP) => break,
                answer => return answer,
            }
        }
    }
    let _ = follow;
    open_by_parts(dir, rel, flags)
}

fn open_by_parts(dir: &OwnedFd, rel: &[u8], flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let (parent, name) = split(rel);
    let mut at = dir.try_clone().map_err(|_| Errno::MFILE)?;
    for part in parent.split(|b| *b == b'/').filter(|part| !part.is_empty()) {
        if part == b".." {
            return Err(Errno::XDEV);
        }
        at = fs::openat(&at, part, READ_DIR | OFlags::NOFOLLOW, Mode::empty()).map_err(|e| not_dir_or_link(&at, part, e))?;
    }
    fs::openat(&at, name, flags | OFlags::NOFOLLOW, Mode::empty())
}

/// Opening a link with O_DIRECTORY|O_NOFOLLOW returns ENOTDIR; returns ELOOP for links instead.
fn not_dir_or_link(dir: &OwnedFd, part: &[u8], errno: Errno) -> Errno {
    if errno == Errno::NOTDIR && is_link(dir, part) { Errno::LOOP } else { errno }
}

pub(crate) fn is_link(dir: impl AsFd, name: &[u8]) -> bool {
    fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
}

/// Splits a path into its directory and its last part.
pub(crate) fn split(rel: &[u8]) -> (&[u8], &[u8]) {
    match rel.iter().rposition(|b| *b == b'/') {
        Some(at) => (&rel[..at], &rel[at + 1..]),
        None => (b"", rel),
    }
}

pub(crate) fn lossy(rel: &[u8]) -> String {
    String::from_utf8_lossy(rel).into_owned()
}

/// Resolves `.` and `..` of an absolute path lexically.
fn normalize(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                out.pop();
            }
            std::path::Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}
