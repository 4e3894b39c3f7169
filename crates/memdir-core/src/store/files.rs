//! The file store: memories as files in directories, which a person can open in an editor. Knows files, locks and the journal;
//! never parses a memory.

mod atomic;
mod change;
mod contain;
pub(crate) mod fault;
mod history;
mod journal;
mod lock;
mod mount;
mod recover;
mod walk;

use crate::{
    base::{
        error::{Error, Problem, Result},
        limits,
        path::MemoryPath,
        version::Version,
    },
    store::{
        Access, Change, ChangeFilter, Entry, Intent, JournalSize, MountInfo, Plan, Stamp, Store, Stored, View, Walk, mounts, stop::Stop,
    },
};
use change::Locked;
pub use contain::Links;
pub use history::JournalDamage;
use journal::Journal;
use lock::Lock;
use mount::Mounted;
pub use mount::{Mount, check_pattern, journal_name, real_path};
use std::{
    collections::BTreeSet,
    fs::File,
    io::Read as _,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use unicode_normalization::UnicodeNormalization as _;

/// The store of a space of directories. A handle: its clones for cancellable calls share everything but the [`Stop`].
#[derive(Debug)]
pub struct FileStore {
    mounts: Arc<[Mounted]>,
    infos: Arc<[MountInfo]>,
    journals: Arc<[Mutex<Journal>]>,
    stop: Stop,
}

/// A file of a mount: the position of the mount, and the path below its root.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Spot {
    mount: usize,
    rel: String,
}

impl FileStore {
    /// Opens a space. Missing directories of writable mounts are created, unless the mount is `late`. If that fails, the cause is
    /// among [`FileStore::problems`], reads find nothing there, and the first write returns the error.
    pub fn open(mounts: &[Mount]) -> Result<Self> {
        let mut mounts: Vec<(Mounted, Journal)> = mounts
            .iter()
            .map(|mount| Ok((Mounted::open(mount)?, Journal::new(mount.journal.clone(), mount.journal_bytes))))
            .collect::<Result<_>>()?;
        mounts.sort_by(|a, b| a.0.info.prefix.cmp(&b.0.info.prefix));
        let (mounts, journals): (Vec<Mounted>, Vec<Journal>) = mounts.into_iter().unzip();
        mount::check_apart(&mounts)?;
        let infos = mounts.iter().map(|mount| mount.info.clone()).collect();
        let journals = journals.into_iter().map(Mutex::new).collect();
        Ok(FileStore { mounts: mounts.into(), infos, journals, stop: Stop::default() })
    }

    /// The problems met while opening.
    pub fn problems(&self) -> Vec<Problem> {
        self.mounts.iter().filter_map(|mount| mount.trouble.as_ref()).map(Problem::whole).collect()
    }

    /// Returns the mount that owns a path, and the path there.
    fn spot(&self, path: &MemoryPath) -> Result<Spot> {
        match mounts::locate_index(&self.infos, path.as_str()) {
            Some((mount, rel)) => Ok(Spot { mount, rel: rel.to_owned() }),
            None => {
                let known: Vec<String> = self.infos.iter().map(|mount| format!("{}/", mount.prefix)).collect();
                Err(Error::bad_path(path.as_str(), format!("it is not in a mount; names here begin with {}", known.join(", "))))
            }
        }
    }

    fn named(&self, mount: usize, rel: &str) -> Result<MemoryPath> {
        Ok(MemoryPath::parse(rel)?.prefixed(&self.mounts[mount].info.prefix))
    }

    fn read(&self, spot: &Spot, names: Names) -> Result<Option<Stored>> {
        let mount = &self.mounts[spot.mount];
        let open = match mount.root.open() {
            Ok(open) => open,
            Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(e),
        };
        let spellings: Vec<String> = spellings(&spot.rel).into_iter().filter(|rel| !mount.hides(rel)).collect();
        // The exact bytes of both spellings first: directories are scanned only if neither exists.
        for rel in &spellings {
            if let Some(file) = open.file(rel.as_bytes())? {
                return read_file(File::from(file), self.named(spot.mount, rel)?).map(Some);
            }
        }
        for rel in &spellings {
            if let Some(disk) = on_disk(&open, rel, names)?
                && let Some(file) = open.file(&disk)?
            {
                return read_file(File::from(file), self.named(spot.mount, rel)?).map(Some);
            }
        }
        Ok(None)
    }

    fn walk(&self, under: &str) -> Result<Walk> {
        let mut all = Walk::default();
        for mount in self.mounts.iter() {
            let prefix = mount.info.prefix.as_str();
            let Some(rel) = below(under, prefix) else { continue };
            if mount.info.apart && !under.starts_with(prefix) {
                continue;
            }
            let open = match mount.root.open() {
                Ok(open) => open,
                Err(Error::Io { source, .. }) if mount.late && source.kind() == std::io::ErrorKind::NotFound => continue,
                Err(e) => {
                    all.problems.push(Problem::whole(mount.trouble.clone().unwrap_or_else(|| e.to_string())));
                    continue;
                }
            };
            let rules = walk::Rules {
                hidden: mount.hidden,
                hides: &|rel| mount.hides(rel),
                enters: &|rel| mount.enters(rel),
                depth: mount.depth(),
            };
            let found = walk::walk(&open, mount.root.links().inside, rel, prefix, &rules)?;
            all.entries.extend(found.entries);
            all.folders.extend(found.folders);
            all.problems.extend(found.problems);
            all.left_out += found.left_out;
        }
        all.entries.sort_by(|a: &Entry, b: &Entry| a.path.cmp(&b.path));
        all.entries.dedup_by(|a, b| a.path == b.path);
        all.folders.sort_by(|a: &Entry, b: &Entry| a.path.cmp(&b.path));
        Ok(all)
    }

    fn journal(&self, mount: usize) -> MutexGuard<'_, Journal> {
        // After a panic the journal catches up from what is on disk.
        self.journals[self.journal_owner(mount)].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first mount with the same root: mounts that show different files of one directory share its journal.
    fn journal_owner(&self, mount: usize) -> usize {
        let root = self.mounts[mount].root.path();
        self.mounts[..mount].iter().position(|other| other.root.path() == root).unwrap_or(mount)
    }

    /// Locks mounts, always in the same order, and settles changes that a crash interrupted.
    fn lock(&self, wanted: &BTreeSet<usize>) -> Result<Locked<'_>> {
        let mut dirs: Vec<&std::path::Path> = wanted.iter().map(|n| self.mounts[*n].lock.as_path()).collect();
        dirs.sort_by_key(|dir| lock::order(dir));
        dirs.dedup();
        for n in wanted {
            if let Some(why) = self.mounts[*n].cannot_make() {
                return Err(Error::Unavailable { what: self.mounts[*n].root.path().display().to_string(), why });
            }
        }
        let locks = dirs.iter().map(|dir| Lock::acquire(dir)).collect::<Result<Vec<_>>>()?;
        self.recover(wanted)?;
        Ok(Locked { store: self, mounts: wanted.clone(), _locks: locks })
    }
}

impl View for FileStore {
    fn mounts(&self) -> &[MountInfo] {
        &self.infos
    }

    fn get(&self, path: &MemoryPath) -> Result<Option<Stored>> {
        self.stop.check()?;
        self.read(&self.spot(path)?, Names::Compared)
    }

    fn list(&self, under: &str) -> Result<Walk> {
        self.stop.check()?;
        self.walk(under)
    }

    fn stamps(&self, paths: &[MemoryPath]) -> Result<Vec<Option<Stamp>>> {
        self.stop.check()?;
        let mut opened: Option<(usize, contain::Open<'_>)> = None;
        let mut stamps = Vec::with_capacity(paths.len());
        for path in paths {
            let spot = self.spot(path)?;
            let open = match opened.take() {
                Some((mount, open)) if mount == spot.mount => open,
                _ => match self.mounts[spot.mount].root.open() {
                    Ok(open) => open,
                    Err(_) => {
                        stamps.push(None);
                        continue;
                    }
                },
            };
            stamps.push(open.stat(spot.rel.as_bytes())?.map(|stat| walk::stamp(&stat)));
            opened = Some((spot.mount, open));
        }
        Ok(stamps)
    }

    fn check_writable(&self, path: &MemoryPath) -> Result<()> {
        let spot = self.spot(path)?;
        self.mounts[spot.mount].check_writable(&spot.rel)
    }
}

impl Store for FileStore {
    fn change(&self, intent: &Intent, touches: &[MemoryPath], plan: &mut Plan<'_>) -> Result<Change> {
        self.stop.check()?;
        let mounts: BTreeSet<usize> = touches.iter().map(|path| Ok(self.spot(path)?.mount)).collect::<Result<_>>()?;
        for path in touches {
            let spot = self.spot(path)?;
            // A read-only mount is refused before anything is locked or created.
            if self.mounts[spot.mount].info.access == Access::ReadOnly {
                self.mounts[spot.mount].check_writable(&spot.rel)?;
            }
        }
        let locked = self.lock(&mounts)?;
        let edits = plan(&locked)?;
        // The last moment at which nothing has been written.
        self.stop.check()?;
        locked.make(intent, edits)
    }

    fn changes(&self, filter: &ChangeFilter) -> Result<Vec<Change>> {
        self.stop.check()?;
        self.history(filter)
    }

    fn text_at(&self, path: &MemoryPath, version: Version) -> Result<Option<Vec<u8>>> {
        self.stop.check()?;
        self.old_text(path, version)
    }

    fn notice(&self, path: &MemoryPath) {
        // Best effort by contract: the next change of the file records it anyway.
        let _ = self.notice_change(path);
    }

    fn marks(&self) -> Vec<Option<Stamp>> {
        (0..self.mounts.len()).map(|mount| self.journal(mount).mark()).collect()
    }

    fn journal_size(&self) -> Result<JournalSize> {
        self.size_of_journals()
    }

    fn damaged_records(&self) -> u64 {
        (0..self.mounts.len()).filter(|mount| self.journal_owner(*mount) == *mount).map(|mount| self.journal(mount).damaged()).sum()
    }

    fn with_stop(&self, stop: &Stop) -> Arc<dyn Store> {
        Arc::new(FileStore { mounts: self.mounts.clone(), infos: self.infos.clone(), journals: self.journals.clone(), stop: stop.clone() })
    }
}

/// How a name is looked up if no file has exactly its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    /// Directories are scanned for a name that is equal in NFC.
    Compared,
    /// Only names with characters outside ASCII cause a scan: a write must not scan its directory.
    ByBytes,
}

/// Returns the exact name, then the name with `.md`.
fn spellings(rel: &str) -> Vec<String> {
    let mut all = vec![rel.to_owned()];
    if crate::base::path::strip_md(rel).len() == rel.len() {
        all.push(format!("{rel}.md"));
    }
    all
}

/// Returns the bytes on disk of a name that may be stored in another Unicode normalization form.
fn on_disk(open: &contain::Open<'_>, rel: &str, names: Names) -> Result<Option<Vec<u8>>> {
    if rel.is_ascii() && names == Names::ByBytes {
        return Ok(None);
    }
    let mut disk: Vec<u8> = Vec::new();
    for part in rel.split('/') {
        let Some(dir) = open.dir(&disk)? else { return Ok(None) };
        let Ok(entries) = rustix::fs::Dir::read_from(&dir) else { return Ok(None) };
        let same = |name: &[u8]| name == part.as_bytes() || std::str::from_utf8(name).is_ok_and(|name| name.nfc().eq(part.chars()));
        let mut matching: Vec<Vec<u8>> =
            entries.flatten().map(|entry| entry.file_name().to_bytes().to_vec()).filter(|name| same(name)).collect();
        matching.sort_by_key(|name| (name != part.as_bytes(), name.clone()));
        let Some(name) = matching.into_iter().next() else { return Ok(None) };
        if !disk.is_empty() {
            disk.push(b'/');
        }
        disk.extend_from_slice(&name);
    }
    Ok(Some(disk))
}

fn read_file(mut file: File, path: MemoryPath) -> Result<Stored> {
    let fail = |e| Error::io("read", path.as_str(), e);
    let stat = rustix::fs::fstat(&file).map_err(|e| fail(e.into()))?;
    let stamp = walk::stamp(&stat);
    if stamp.size > limits::READ_FILE_BYTES {
        return Err(Error::TooLarge { what: path.to_string(), size: stamp.size, limit: limits::READ_FILE_BYTES });
    }
    let mut bytes = Vec::with_capacity(stamp.size as usize + 1);
    file.read_to_end(&mut bytes).map_err(fail)?;
    Ok(Stored { version: Version::from_content(&bytes), path, bytes, stamp })
}

/// Returns the part of `under` below the mount with this prefix; `None` if the mount has nothing under it.
fn below<'a>(under: &'a str, prefix: &str) -> Option<&'a str> {
    if under.is_empty()
        || prefix == under
        || (prefix.len() > under.len() && prefix.starts_with(under) && prefix.as_bytes()[under.len()] == b'/')
    {
        return Some("");
    }
    if prefix.is_empty() {
        return Some(under);
    }
    under.strip_prefix(prefix)?.strip_prefix('/')
}
