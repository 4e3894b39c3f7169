//! The file store: memories as files in directories, which a person can open in an editor. Knows files, locks and the journal;
//! never parses a memory.

mod atomic;
mod change;
mod contain;
pub(crate) mod fault;
mod forget;
mod history;
mod journal;
mod leftovers;
mod lock;
mod mounted;
mod outside;
mod recover;
mod temps;
mod walk;

use crate::base::sort::SharedSort as _;
use crate::{
    base::{
        error::{Error, Problem, Result},
        limits, observe,
        path::MemoryPath,
        time::Deadline,
        version::Version,
    },
    memory::phrase::Phrase,
    store::{
        Access, Change, ChangeCursor, ChangeFilter, ChangePage, Entry, Intent, JournalSize, MountInfo, Plan, Stamp, Store, Stored, View,
        Walk, mount::Mount, mounts, stop::Stop,
    },
};
use change::LockedMounts;
pub use forget::{JOURNAL_FILE, count_in_journal, forget_in_journal, is_in_journal};
pub use history::JournalDamage;
use jiff::Timestamp;
use journal::Journal;
pub use leftovers::LeftoverFiles;
use lock::Lock;
use mounted::FileMount;
use recover::Settler;
use std::{
    collections::BTreeSet,
    fs::File,
    io::Read as _,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use unicode_normalization::UnicodeNormalization as _;

/// The store of a space of directories. A handle: its clones for cancellable calls share everything but the [`Stop`].
#[derive(Debug)]
pub struct FileStore {
    mounts: Arc<[FileMount]>,
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
        let mut mounts: Vec<(FileMount, Journal)> = mounts
            .iter()
            .map(|mount| Ok((FileMount::open(mount)?, Journal::new(mount.journal.clone(), mount.journal_bytes))))
            .collect::<Result<_>>()?;
        mounts.shared_sort_by(|a, b| a.0.info.prefix.cmp(&b.0.info.prefix));
        let (mounts, journals): (Vec<FileMount>, Vec<Journal>) = mounts.into_iter().unzip();
        let infos: Arc<[MountInfo]> = mounts.iter().map(|mount| mount.info.clone()).collect();
        mounts::check_prefixes(&infos)?;
        mounted::check_apart(&mounts)?;
        let journals = journals.into_iter().map(Mutex::new).collect();
        Ok(FileStore { mounts: mounts.into(), infos, journals, stop: Stop::default() })
    }

    /// The problems met while opening.
    pub fn problems(&self) -> Vec<Problem> {
        self.mounts.iter().filter_map(|mount| mount.trouble.as_ref()).map(Problem::whole).collect()
    }

    /// Returns the mount that owns a path, and the path there.
    fn spot(&self, path: &MemoryPath) -> Result<Spot> {
        mounts::owner(&self.infos, path).map(|(mount, rel)| Spot { mount, rel: rel.to_owned() })
    }

    fn named(&self, mount: usize, rel: &str) -> Result<MemoryPath> {
        Ok(MemoryPath::parse(rel)?.prefixed(&self.mounts[mount].info.prefix))
    }

    fn read(&self, spot: &Spot) -> Result<Option<Stored>> {
        let mount = &self.mounts[spot.mount];
        let open = match mount.root.open() {
            Ok(open) => open,
            Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(e),
        };
        let spellings: Vec<String> = mounts::spellings(&spot.rel).into_iter().filter(|rel| !mount.hides(rel)).collect();
        // The exact bytes of both spellings first: other Unicode forms are looked for only if neither exists.
        for rel in &spellings {
            if let Some(file) = open.file(rel.as_bytes())? {
                return read_file(File::from(file), self.named(spot.mount, rel)?).map(Some);
            }
        }
        for rel in spellings.iter().filter(|rel| !rel.is_ascii()) {
            if let Some(file) = open.file(rel.nfd().collect::<String>().as_bytes())? {
                return read_file(File::from(file), self.named(spot.mount, rel)?).map(Some);
            }
        }
        for rel in spellings.iter().filter(|rel| !rel.is_ascii()) {
            let disk = on_disk(&open, rel)?;
            if disk != rel.as_bytes()
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
            let Some(rel) = mounts::below_prefix(under, prefix) else { continue };
            if mount.info.apart && !under.starts_with(prefix) {
                continue;
            }
            let open = match mount.root.open() {
                Ok(open) => open,
                Err(Error::Io { source, .. }) if mount.late && source.kind() == std::io::ErrorKind::NotFound => continue,
                Err(e) => {
                    all.problems.push(Problem::whole(mount.trouble.clone().unwrap_or_else(|| e.to_string())));
                    all.unlisted.push(prefix.to_owned());
                    continue;
                }
            };
            let rules = walk::WalkRules {
                hidden: mount.rules.enters_hidden(),
                hides: &|rel| mount.hides(rel),
                hides_folder: &|rel| mount.rules.hides_folder(rel),
                enters: &|rel| mount.rules.enters(rel),
                depth: mount.rules.depth(),
                stop: &self.stop,
            };
            let found = walk::walk(&open, mount.root.links().inside, rel, prefix, &rules)?;
            all.entries.extend(found.entries);
            all.folders.extend(found.folders);
            all.problems.extend(found.problems);
            all.unlisted.extend(found.unlisted);
            all.left_out += found.left_out;
        }
        all.entries.sort_by(|a: &Entry, b: &Entry| a.path.cmp(&b.path));
        all.entries.dedup_by(|a, b| a.path == b.path);
        all.folders.shared_sort_by(|a: &Entry, b: &Entry| a.path.cmp(&b.path));
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

    /// Locks mounts, always in the same order, and settles changes that a crash interrupted. All locks together are waited for until
    /// one deadline.
    fn lock(&self, wanted: &BTreeSet<usize>) -> Result<LockedMounts<'_>> {
        let mut created = Vec::new();
        let locked = self.lock_all(wanted, self.stop.lock_deadline(), &mut created);
        if locked.is_err() {
            // A directory that was created for nothing; the system keeps one that is not empty.
            for root in created {
                let _ = rustix::fs::rmdir(root);
            }
        }
        locked
    }

    fn lock_all<'a>(&'a self, wanted: &BTreeSet<usize>, deadline: Deadline, created: &mut Vec<&'a Path>) -> Result<LockedMounts<'a>> {
        for mount in wanted.iter().map(|n| &self.mounts[*n]) {
            if mount.make()? {
                created.push(mount.root.path());
            }
        }
        let mut dirs: Vec<&Path> = wanted.iter().map(|n| self.mounts[*n].lock.as_path()).collect();
        dirs.shared_sort_by_key(|dir| lock::order(dir));
        dirs.dedup();
        let locks = dirs.iter().map(|dir| Lock::acquire(dir, deadline, &self.stop)).collect::<Result<Vec<_>>>()?;
        // Before recovery: a directory that replaces a root from now on is not the one that is locked.
        let locked = LockedMounts::new(self, wanted.clone(), locks)?;
        self.recover(wanted, Settler::Writer)?;
        Ok(locked)
    }
}

impl View for FileStore {
    fn mounts(&self) -> &[MountInfo] {
        &self.infos
    }

    fn get(&self, path: &MemoryPath) -> Result<Option<Stored>> {
        self.stop.check()?;
        self.read(&self.spot(path)?)
    }

    fn list(&self, under: &str) -> Result<Walk> {
        self.stop.check()?;
        self.walk(under)
    }

    fn stamps(&self, paths: &[MemoryPath]) -> Result<Vec<Option<Stamp>>> {
        self.stop.check()?;
        let mut opened: Option<(usize, contain::OpenRoot<'_>, outside::Directory)> = None;
        let mut stamps = Vec::with_capacity(paths.len());
        for path in paths {
            let spot = self.spot(path)?;
            let (open, mut directory) = match opened.take() {
                Some((mount, open, directory)) if mount == spot.mount => (open, directory),
                _ => match self.mounts[spot.mount].root.open() {
                    Ok(open) => (open, outside::Directory::default()),
                    Err(_) => {
                        stamps.push(None);
                        continue;
                    }
                },
            };
            stamps.push(match directory.stat(&open, &spot.rel) {
                outside::StatResult::Regular(stamp) => Some(stamp),
                // The file may have its name in another Unicode form.
                outside::StatResult::Absent if !spot.rel.is_ascii() => {
                    open.stat(&on_disk(&open, &spot.rel)?)?.map(|stat| walk::stamp(&stat))
                }
                outside::StatResult::Absent | outside::StatResult::Other => None,
                // Once more, for the error.
                outside::StatResult::Unreadable => open.stat(spot.rel.as_bytes())?.map(|stat| walk::stamp(&stat)),
            });
            opened = Some((spot.mount, open, directory));
        }
        Ok(stamps)
    }

    fn last_recorded(&self, path: &MemoryPath) -> Result<Option<(Version, u64)>> {
        let spot = self.spot(path)?;
        let mut journal = self.journal(spot.mount);
        if self.mounts[spot.mount].hides(&spot.rel) || !journal.ready_to_read()? {
            return Ok(None);
        }
        journal.last_existing(&spot.rel)
    }

    fn check_writable(&self, path: &MemoryPath) -> Result<()> {
        let spot = self.spot(path)?;
        self.mounts[spot.mount].check_writable(&spot.rel)
    }

    fn check_stopped(&self) -> Result<()> {
        self.stop.check()
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
        if let Some(made) = intent.key.as_ref().map(|key| self.made_for(key)).transpose()?.flatten() {
            return Ok(made);
        }
        let mut attempts = limits::CHANGE_ATTEMPTS;
        loop {
            let edits = plan(&locked)?;
            // The last moment at which nothing has been written.
            self.stop.check()?;
            attempts -= 1;
            match locked.make(intent, edits) {
                // Another program saved a file that the plan had read; nothing was changed.
                Err(failed) if failed.raced && attempts > 0 => locked.forget_reads(),
                made => return made.map_err(|failed| failed.error),
            }
        }
    }

    fn changes(&self, filter: &ChangeFilter) -> Result<Vec<Change>> {
        self.stop.check()?;
        self.history(filter)
    }

    fn changes_since(&self, after: Option<&ChangeCursor>, most: usize) -> Result<ChangePage> {
        self.stop.check()?;
        self.history_since(after, most)
    }

    fn newest_cursor(&self) -> Result<ChangeCursor> {
        self.stop.check()?;
        self.newest_place()
    }

    fn text_at(&self, path: &MemoryPath, version: Version) -> Result<Option<Vec<u8>>> {
        self.stop.check()?;
        self.old_text(path, version)
    }

    fn count_in_history(&self, phrase: &Phrase) -> Result<usize> {
        FileStore::count_in_history(self, phrase)
    }

    fn forget_in_history(&self, phrase: &Phrase) -> Result<usize> {
        FileStore::forget_in_history(self, phrase)
    }

    fn notice(&self, path: &MemoryPath) {
        // Best effort by contract: the next change of the file records it anyway.
        let _ = self.notice_change(path);
    }

    fn record_outside_changes(&self, now: Timestamp, wait: bool) -> Result<()> {
        self.record_outside(now, wait)
    }

    fn marks(&self) -> Vec<Option<Stamp>> {
        (0..self.mounts.len()).map(|mount| self.journal(mount).mark()).collect()
    }

    fn journal_size(&self) -> Result<JournalSize> {
        self.size_of_journals()
    }

    fn set_modified(&self, files: &[(MemoryPath, Version, Timestamp)]) -> Result<()> {
        self.set_file_times(files)
    }

    fn change_folders(&self, make: &[MemoryPath], remove: &[MemoryPath]) -> Result<()> {
        self.stop.check()?;
        let spots = |paths: &[MemoryPath]| paths.iter().map(|path| self.spot(path)).collect::<Result<Vec<Spot>>>();
        let (make, remove) = (spots(make)?, spots(remove)?);
        for spot in make.iter().chain(&remove) {
            self.mounts[spot.mount].check_writable(&format!("{}/any", spot.rel))?;
        }
        let _locked = self.lock(&make.iter().chain(&remove).map(|spot| spot.mount).collect())?;
        for spot in make {
            // The place of a file in the folder is created, and no file.
            let open = self.mounts[spot.mount].root.open()?;
            open.place(&on_disk(&open, &format!("{}/any", spot.rel))?, true)?;
        }
        for spot in remove {
            let open = self.mounts[spot.mount].root.open()?;
            atomic::remove_empty(&open, &on_disk(&open, &spot.rel)?, 0);
        }
        Ok(())
    }

    fn damaged_records(&self) -> u64 {
        (0..self.mounts.len()).filter(|mount| self.journal_owner(*mount) == *mount).map(|mount| self.journal(mount).damaged()).sum()
    }

    fn with_stop(&self, stop: &Stop) -> Arc<dyn Store> {
        Arc::new(FileStore { mounts: self.mounts.clone(), infos: self.infos.clone(), journals: self.journals.clone(), stop: stop.clone() })
    }
}

/// Returns the bytes on disk of a name that may be stored in another Unicode normalization form. Parts that do not exist are as in
/// the name, below the parts that do.
fn on_disk(open: &contain::OpenRoot<'_>, rel: &str) -> Result<Vec<u8>> {
    Ok(all_on_disk(open, rel)?.swap_remove(0))
}

/// Returns all places of a name: its folder may exist in both Unicode forms. If the file exists, these are the places where it does,
/// else those where it may have been. Only the directory of a part with characters outside ASCII is scanned, and only if neither its
/// composed nor its decomposed form exists: a name that does not exist costs no more than one that does.
fn all_on_disk(open: &contain::OpenRoot<'_>, rel: &str) -> Result<Vec<Vec<u8>>> {
    if rel.is_ascii() {
        return Ok(vec![rel.into()]);
    }
    let join = |above: &[u8], name: &[u8]| if above.is_empty() { name.to_vec() } else { [above, b"/", name].concat() };
    let mut found: Vec<Vec<u8>> = vec![Vec::new()];
    let mut rest = rel;
    while !rest.is_empty() {
        let (part, after) = rest.split_once('/').unwrap_or((rest, ""));
        let mut next = Vec::new();
        for above in &found {
            // A part that has one form is not looked for, unless it decides between two folders.
            let names = if part.is_ascii() && found.len() == 1 { vec![part.into()] } else { part_on_disk(open, above, part)? };
            next.extend(names.iter().map(|name| join(above, name)));
        }
        if next.is_empty() {
            break;
        }
        (found, rest) = (next, after);
    }
    if !rest.is_empty() {
        found.iter_mut().for_each(|above| *above = join(above, rest.as_bytes()));
    }
    Ok(found)
}

fn part_on_disk(open: &contain::OpenRoot<'_>, above: &[u8], part: &str) -> Result<Vec<Vec<u8>>> {
    let Some(dir) = open.dir(above)? else { return Ok(Vec::new()) };
    let mut forms = vec![part.to_owned()];
    if !part.is_ascii() {
        forms.push(part.nfd().collect());
        forms.dedup();
    }
    forms.retain(|form| rustix::fs::statat(&dir, form.as_str(), rustix::fs::AtFlags::SYMLINK_NOFOLLOW).is_ok());
    if !forms.is_empty() || part.is_ascii() {
        return Ok(forms.into_iter().map(String::into_bytes).collect());
    }
    observe::directory_read();
    let Ok(entries) = rustix::fs::Dir::read_from(&dir) else { return Ok(Vec::new()) };
    let same = |name: &[u8]| std::str::from_utf8(name).is_ok_and(|name| name.nfc().eq(part.chars()));
    Ok(entries.flatten().map(|entry| entry.file_name().to_bytes().to_vec()).filter(|name| same(name)).min().into_iter().collect())
}

fn read_file(file: File, path: MemoryPath) -> Result<Stored> {
    observe::file_read();
    let fail = |e| Error::io("read", path.as_str(), e);
    let stat = rustix::fs::fstat(&file).map_err(|e| fail(e.into()))?;
    let stamp = walk::stamp(&stat);
    let too_large = |size| Error::TooLarge { what: path.to_string(), size, limit: limits::READ_FILE_BYTES };
    if stamp.size > limits::READ_FILE_BYTES {
        return Err(too_large(stamp.size));
    }
    // Files that the kernel makes report no size.
    if stamp.size == 0
        && let Some(kind) = contain::special_file_system(&file)
    {
        return Err(Error::bad_path(path.as_str(), format!("it is on a special file system ({kind})")));
    }
    let mut bytes = Vec::with_capacity(stamp.size as usize + 1);
    // A file may grow while it is read, and its size may be wrong.
    file.take(limits::READ_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(fail)?;
    if bytes.len() as u64 > limits::READ_FILE_BYTES {
        return Err(too_large(bytes.len() as u64));
    }
    Ok(Stored { version: Version::from_content(&bytes), path, bytes, stamp })
}
