//! Recovery after a crash: the next writer of a mount settles the interrupted change, in every mount that it touched.
//!
//! The change is committed once all of its parts are recorded: a file that still has its old content gets the new one. If a part is
//! missing or failed, the files that have the new content get the old one back. The outcome follows from the journals alone, so
//! that processes that can reach only some of the mounts agree on it. A file that has neither content was changed by another
//! program and stays as it is. If the directory of a mount was replaced since, the files there are not those of the change, and it is
//! rolled back.

use super::{
    FileStore, Lock,
    change::{prune_above, put_now, read_now},
    contain::Root,
    journal::{ChangePart, FileDraft, FileRecord, Journal, JournalRecord, Lookup, PlacedRecord, RecordState},
    temps::{self, ChangeTempName, keep_save, leftovers},
};
use crate::base::sort::SharedSort as _;
use crate::{
    base::{
        error::{Error, Result},
        version::Version,
    },
    store::{
        Role,
        mount::{Links, real_path},
    },
};
use std::{collections::BTreeSet, os::unix::fs::MetadataExt as _, path::Path};

/// For which call an interrupted change is settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Settler {
    /// A change, which must not fail because a temporary file cannot be removed.
    Writer,
    /// A read, which leaves to the next writer what it cannot do completely.
    Reader,
}

/// The outcome of an interrupted change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Settlement {
    /// Every file gets its new content.
    Complete,
    /// Every file gets its old content.
    RollBack,
    /// Nothing is known about another part: what the change wrote stays, and what it removed is restored. A memory may be in two
    /// places then, but never in none.
    KeepBoth,
}

/// One mount of an interrupted change.
struct PartState {
    root: Root,
    journal: PartJournal,
    lookup: Lookup,
    /// Whether the mount is locked, so that its files and its record may be changed.
    is_locked: bool,
    /// Whether folders without files stay.
    keeps_folders: bool,
    /// Whether another directory is at the place of the root since the change, without the change's files.
    is_replaced: bool,
    /// Contents that other programs saved and that no file has any more.
    displaced: Vec<DisplacedSave>,
    _lock: Option<Lock>,
}

/// What another program saved and no file has any more.
struct DisplacedSave {
    /// The position of its file.
    file: usize,
    bytes: Vec<u8>,
    /// Whether the change replaced it last, so that a rollback restores it.
    is_last: bool,
}

enum PartJournal {
    /// The journal of a mount of this space that is locked already.
    Mounted(usize),
    /// A journal that was opened by its path.
    Opened(Box<Journal>),
}

/// A file of an interrupted change that must be written or removed.
struct FileToSettle {
    /// The position of its part.
    part: usize,
    temp: ChangeTempName,
    rel: String,
    /// The version that it has.
    replaces: Option<Version>,
    bytes: Option<Vec<u8>>,
}

impl PartState {
    /// A part without displaced saves, in a directory that was not replaced.
    fn new(root: Root, journal: PartJournal, lookup: Lookup) -> PartState {
        PartState { root, journal, lookup, is_locked: false, keeps_folders: true, is_replaced: false, displaced: Vec::new(), _lock: None }
    }

    /// Checks whether the root is still the directory of the change. A directory in which all files are as the change made them is:
    /// the mount may have been copied.
    fn look_at_root(mut self) -> PartState {
        if let Lookup::Recorded(placed) = &self.lookup {
            let recorded = own_part(&placed.record, self.root.path()).map_or(0, |part| part.inode);
            let now = self.root.open().and_then(|open| open.identity()).map_or(recorded, |(_, inode)| inode);
            self.is_replaced = recorded != 0 && recorded != now && !has_all(&self.root, &placed.record, |file| file.after);
        }
        self
    }

    fn with_journal<T>(&mut self, store: &FileStore, work: impl FnOnce(&mut Journal, &Lookup) -> Result<T>) -> Result<T> {
        match &mut self.journal {
            PartJournal::Mounted(mount) => work(&mut store.journal(*mount), &self.lookup),
            PartJournal::Opened(journal) => work(journal, &self.lookup),
        }
    }

    /// Describes an error without the directory, if the mount may not be in this space.
    fn explain(&self, error: Error) -> Error {
        match (&self.journal, error) {
            (PartJournal::Opened(_), Error::Io { source, .. }) => Error::explained_unavailable(
                "cannot finish an interrupted change to several memory directories",
                format!("cannot write to another directory of that change ({source}); make it writable, then try again"),
            ),
            (_, error) => error,
        }
    }

    fn state(&self) -> Option<RecordState> {
        if let Lookup::Recorded(placed) = &self.lookup { Some(placed.state) } else { None }
    }

    /// The record, if this process has to settle it.
    fn unsettled(&self) -> Option<&PlacedRecord> {
        match &self.lookup {
            Lookup::Recorded(placed) if self.is_locked && placed.state.is_unsettled() => Some(placed),
            _ => None,
        }
    }
}

impl FileStore {
    /// Describes a mount for the other parts of a change.
    pub(super) fn part(&self, mount: usize) -> ChangePart {
        let mounted = &self.mounts[mount];
        let links = mounted.root.links();
        ChangePart {
            root: mounted.root.path().to_owned(),
            journal: self.journal(mount).dir().to_owned(),
            lock: mounted.lock.clone(),
            inside: links.inside,
            links: links.roots.iter().filter(|root| root.to_str().is_some()).cloned().collect(),
            inode: 0,
            keeps_folders: mounted.keeps_folders,
            temps: String::new(),
            position: None,
        }
    }

    /// Settles the interrupted changes of locked mounts. Before anything is appended to a journal, the change of its last record is
    /// settled in every mount that can be reached.
    pub(super) fn recover(&self, locked: &BTreeSet<usize>, settler: Settler) -> Result<()> {
        for mount in locked {
            self.journal(*mount).ready_to_write()?;
        }
        for mount in locked {
            loop {
                let Some(placed) = self.journal(*mount).unfinished()? else { break };
                self.settle(locked, *mount, placed, settler)?;
                self.journal(*mount).ready_to_write()?;
            }
            let last = self.journal(*mount).shared_last();
            if let Some(placed) = last {
                if self.is_open_elsewhere(locked, &placed) {
                    self.settle(locked, *mount, placed, settler)?;
                }
                self.journal(*mount).last_is_settled();
            }
        }
        Ok(())
    }

    /// Whether another part of a settled change is still open in a mount that is not locked yet.
    fn is_open_elsewhere(&self, locked: &BTreeSet<usize>, placed: &PlacedRecord) -> bool {
        let is_locked = |part: &&ChangePart| locked.iter().any(|mount| self.mounts[*mount].root.path() == part.root);
        placed.record.parts.iter().filter(|part| !is_locked(part)).any(|part| {
            let mut journal = Journal::new(part.journal.clone(), u64::MAX);
            let open = journal.ready_to_read().and_then(|_| journal.unfinished());
            matches!(open, Ok(Some(open)) if open.record.id == placed.record.id)
        })
    }

    fn settle(&self, locked: &BTreeSet<usize>, mount: usize, placed: PlacedRecord, settler: Settler) -> Result<()> {
        let mut parts = self.parts(locked, mount, placed)?;
        for part in &mut parts {
            if let Some(placed) = part.unsettled().cloned() {
                self.find_displaced(part, &placed)?;
                if settler == Settler::Reader && !part.displaced.is_empty() {
                    return Err(Error::unavailable("a change was interrupted", "the next command that writes will repair it"));
                }
                // Files of these names are written again below.
                sweep(&part.root, &placed, &["-back", "-undo"], settler)?;
            }
        }
        let mut outcome = decide(&parts);
        let mut plan = self.plan(&mut parts, outcome)?;
        if plan.is_none() {
            outcome = Settlement::KeepBoth;
            plan = self.plan(&mut parts, outcome)?;
        }
        if outcome == Settlement::Complete && parts.iter().all(|part| part.unsettled().is_some()) && is_untouched(&parts) {
            // Nothing was written yet, and no other process can be settling the change.
            outcome = Settlement::RollBack;
            plan = None;
        }
        let mut files = plan.unwrap_or_default();
        // What is written comes before what is removed: the text of a moved memory is never in neither place.
        files.shared_sort_by_key(|file| file.bytes.is_none());
        for file in files {
            let part = &mut parts[file.part];
            let mut saved = Vec::new();
            let temp = file.temp.with("-undo");
            let put = put_now(&part.root, &file.rel, file.replaces, file.bytes.as_deref(), temp, &mut saved);
            for bytes in saved {
                // Kept on disk, because what follows may fail.
                keep_save(&part.root, &file.rel, &file.temp, &bytes)?;
                part.displaced.push(DisplacedSave { file: file.temp.file, bytes, is_last: false });
            }
            put.map_err(|error| part.explain(error))?;
        }
        let state = if outcome == Settlement::RollBack { RecordState::Void } else { RecordState::Done };
        for part in &mut parts {
            if let Some(placed) = part.unsettled().cloned() {
                self.finish(part, &placed, state, settler)?;
            }
        }
        Ok(())
    }

    /// Finds the saves of other programs that a change, its rollback or its recovery replaced just before it crashed: a temporary file
    /// has them, and they are neither the old nor the new version, nor the beginning of one that was being written. Those in files whose
    /// names recovery needs are kept in others.
    fn find_displaced(&self, part: &mut PartState, placed: &PlacedRecord) -> Result<()> {
        for (n, file) in placed.record.files.iter().enumerate() {
            let temp = temp_name(&placed.record, part.root.path(), n);
            let now = read_now(&part.root, &file.p).ok().flatten();
            let is_made = now.as_deref().map(Version::from_content) == file.after;
            for purpose in ["", "-back", "-undo"] {
                for left in leftovers(&part.root, &file.p, &temp.with(purpose))? {
                    let version = Some(Version::from_content(&left));
                    if version == file.before || version == file.after {
                        continue;
                    }
                    // Before the exchange the file has not its new content, and the temporary file may have the beginning of it.
                    let is_replaced = purpose.is_empty() && is_made;
                    let texts = part.with_journal(self, |journal, _| {
                        let made = journal.text_to_make(placed, n, now.as_deref()).ok().flatten();
                        Ok([made, journal.text_to_restore(placed, n, now.as_deref()).ok().flatten(), now.clone()])
                    })?;
                    if !is_replaced && texts.iter().flatten().any(|text| text.starts_with(&left)) {
                        continue;
                    }
                    if !purpose.is_empty() {
                        keep_save(&part.root, &file.p, &temp, &left)?;
                        temps::remove(&part.root, &file.p, &temp.with(purpose))?;
                    } else {
                        part.displaced.push(DisplacedSave { file: n, bytes: left, is_last: is_replaced });
                    }
                }
            }
            for name in temp.saves() {
                let saves = leftovers(&part.root, &file.p, &name)?;
                if saves.is_empty() {
                    break;
                }
                part.displaced.extend(saves.into_iter().map(|bytes| DisplacedSave { file: n, bytes, is_last: false }));
            }
        }
        Ok(())
    }

    /// Marks a part as settled, records what other programs saved, and removes what the change left.
    fn finish(&self, part: &mut PartState, placed: &PlacedRecord, state: RecordState, settler: Settler) -> Result<()> {
        let displaced = std::mem::take(&mut part.displaced);
        // Before the record is settled, because later no process looks for them; but after what they contain is recorded.
        if displaced.is_empty() {
            sweep(&part.root, placed, &[""], settler)?;
        }
        prune(part);
        part.with_journal(self, |journal, _| {
            journal.finish(placed, state)?;
            for save in &displaced {
                let before = Some((save.bytes.as_slice(), placed.record.at));
                let found = FileDraft { path: &placed.record.files[save.file].p, role: Role::Memory, before, after: None };
                // Best effort: the change itself is settled.
                let _ = journal.record_found(&found);
            }
            Ok(())
        })?;
        if displaced.is_empty() {
            return Ok(());
        }
        sweep(&part.root, placed, &[""], settler)?;
        for (n, file) in placed.record.files.iter().enumerate() {
            let temp = temp_name(&placed.record, part.root.path(), n);
            let mut saves = temp.saves();
            while let Some(name) = saves.next()
                && !leftovers(&part.root, &file.p, &name)?.is_empty()
            {
                sweep_one(&part.root, &file.p, &name, settler)?;
            }
        }
        Ok(())
    }

    /// Collects the parts of a change, this one first.
    fn parts(&self, locked: &BTreeSet<usize>, mount: usize, placed: PlacedRecord) -> Result<Vec<PartState>> {
        let own = self.mounts[mount].root.path();
        let id = placed.record.id.clone();
        let mut others = placed.record.parts.clone();
        let mut unknown = 0;
        // Records of older versions have only the roots: a mount outside this space cannot be found by them.
        for root in &placed.record.peers {
            match self.mounts.iter().position(|mount| mount.root.path() == root) {
                Some(mount) => others.push(self.part(mount)),
                None => unknown += 1,
            }
        }
        let here = |mount: usize, lookup: Lookup| {
            let part = PartState::new(self.mounts[mount].root.clone(), PartJournal::Mounted(mount), lookup);
            PartState { is_locked: true, keeps_folders: self.mounts[mount].keeps_folders, ..part }.look_at_root()
        };
        let mut parts = vec![here(mount, Lookup::Recorded(Box::new(placed)))];
        for part in others.iter().filter(|part| part.root != own) {
            let state = match locked.iter().find(|mount| self.mounts[**mount].root.path() == part.root) {
                Some(mount) => {
                    let found = lookup(&self.journal(*mount), &id, part)?;
                    here(*mount, found)
                }
                None => {
                    let shares_lock = locked.iter().any(|mount| self.mounts[*mount].lock == part.lock);
                    open_part(part, shares_lock, &id)?
                }
            };
            parts.push(state);
        }
        for _ in 0..unknown {
            parts.push(PartState::new(Root::new(Default::default(), Links::default()), PartJournal::Mounted(mount), Lookup::Uncertain));
        }
        Ok(parts)
    }

    /// Returns the files to write or remove. `None` if a text that the outcome needs is damaged.
    fn plan(&self, parts: &mut [PartState], outcome: Settlement) -> Result<Option<Vec<FileToSettle>>> {
        let mut plan = Vec::new();
        for (at, part) in parts.iter_mut().enumerate() {
            let Some(placed) = part.unsettled().cloned() else { continue };
            for (n, file) in placed.record.files.iter().enumerate() {
                let now = match read_now(&part.root, &file.p) {
                    // Another program replaced the file by a link or a directory.
                    Err(Error::BadPath { .. }) => continue,
                    now => now?,
                };
                let version = now.as_deref().map(Version::from_content);
                let forward = match outcome {
                    Settlement::Complete => true,
                    Settlement::RollBack => false,
                    Settlement::KeepBoth => file.after.is_some(),
                };
                let (from, to) = if forward { (file.before, file.after) } else { (file.after, file.before) };
                if version != from || from == to {
                    continue;
                }
                // A rollback restores what another program saved just before the change.
                let save = part.displaced.iter().find(|save| save.is_last && save.file == n && !forward);
                let bytes = match to {
                    None => None,
                    Some(_) if save.is_some() => save.map(|save| save.bytes.clone()),
                    Some(_) => {
                        let text = part.with_journal(self, |journal, _| match forward {
                            true => journal.text_to_make(&placed, n, now.as_deref()),
                            false => journal.text_to_restore(&placed, n, now.as_deref()),
                        });
                        match text {
                            Ok(Some(text)) => Some(text),
                            // The file stays as it is.
                            Ok(None) | Err(Error::Corrupt { .. }) if outcome != Settlement::Complete => continue,
                            Ok(None) | Err(Error::Corrupt { .. }) => return Ok(None),
                            Err(e) => return Err(e),
                        }
                    }
                };
                let temp = temp_name(&placed.record, part.root.path(), n);
                plan.push(FileToSettle { part: at, temp, rel: file.p.clone(), replaces: from, bytes });
            }
        }
        Ok(Some(plan))
    }
}

fn decide(parts: &[PartState]) -> Settlement {
    let has = |wanted: &[RecordState]| parts.iter().any(|part| part.state().is_some_and(|state| wanted.contains(&state)));
    if has(&[RecordState::Done]) {
        Settlement::Complete
    } else if has(&[RecordState::Void, RecordState::Failed])
        || parts.iter().any(|part| matches!(part.lookup, Lookup::Absent) || part.is_replaced)
    {
        Settlement::RollBack
    } else if parts.iter().any(|part| matches!(part.lookup, Lookup::Uncertain)) {
        Settlement::KeepBoth
    } else {
        Settlement::Complete
    }
}

/// Whether every file of the parts has its old content.
fn is_untouched(parts: &[PartState]) -> bool {
    parts
        .iter()
        .filter_map(|part| Some((part, part.unsettled()?)))
        .all(|(part, placed)| has_all(&part.root, &placed.record, |file| file.before))
}

/// Whether every file of a part has this version.
fn has_all(root: &Root, record: &JournalRecord, version: impl Fn(&FileRecord) -> Option<Version>) -> bool {
    let has = |file: &FileRecord| read_now(root, &file.p).is_ok_and(|now| now.as_deref().map(Version::from_content) == version(file));
    record.files.iter().all(has)
}

/// Returns the description of a mount in a record.
fn own_part<'a>(record: &'a JournalRecord, root: &Path) -> Option<&'a ChangePart> {
    record.parts.iter().find(|part| part.root == root)
}

/// Returns the names of the temporary files of a part's n-th file.
fn temp_name(record: &JournalRecord, root: &Path, file: usize) -> ChangeTempName {
    ChangeTempName { stem: format!("{}{}", record.id, own_part(record, root).map_or("", |part| &part.temps)), file }
}

/// Looks up a part of a change. A damaged journal may have had it; one that cannot be read now leaves the change open.
fn lookup(journal: &Journal, id: &str, part: &ChangePart) -> Result<Lookup> {
    match journal.find(id, part.position.as_ref()) {
        Err(Error::Corrupt { .. }) => Ok(Lookup::Uncertain),
        Err(Error::Io { source, .. }) => Err(unreadable(&source)),
        found => found,
    }
}

/// The error for a journal that cannot be read. It does not name the journal, which may be that of a mount outside this space.
fn unreadable(source: &std::io::Error) -> Error {
    Error::explained_unavailable(
        "cannot finish an interrupted change to several memory directories",
        format!("cannot read the journal of another directory of that change ({source}); make it readable, then try again"),
    )
}

/// Opens a part of a change that is not in this space, or not locked. Never waits: a mount that another process uses is settled by
/// that process. A mount that no longer exists, or that this user may not write, keeps its open record; its next writer
/// comes to the same outcome.
fn open_part(part: &ChangePart, shares_lock: bool, id: &str) -> Result<PartState> {
    let mut journal = Journal::new(part.journal.clone(), u64::MAX);
    let is_writable = rustix::fs::access(&part.root, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK).is_ok();
    let trusted = part.root.is_dir() && is_writable && real_path(&part.root) == part.root && is_private(&part.journal);
    let lock = if trusted && !shares_lock { Lock::try_acquire(&part.lock) } else { None };
    let mut is_locked = trusted && (shares_lock || lock.is_some());
    // A journal that was deleted must not be created again: it would look as if it never had the record.
    let found = if journal.exists().map_err(|e| unreadable(&e))? {
        is_locked = is_locked && journal.ready_to_write().is_ok();
        match journal.ready_to_read() {
            Err(Error::Io { source, .. }) => return Err(unreadable(&source)),
            Err(_) => Lookup::Uncertain,
            Ok(_) => lookup(&journal, id, part)?,
        }
    } else {
        Lookup::Uncertain
    };
    let links = Links { inside: part.inside, roots: part.links.clone(), fixed: false };
    let state = PartState::new(Root::new(part.root.clone(), links), PartJournal::Opened(Box::new(journal)), found).look_at_root();
    // A directory that replaced the mount's is left alone.
    Ok(PartState { is_locked: is_locked && !state.is_replaced, keeps_folders: part.keeps_folders, _lock: lock, ..state })
}

/// Whether only this user can have written the files of a directory: a record leads to other directories, so that another user's
/// must not be followed.
fn is_private(dir: &Path) -> bool {
    dir.metadata().is_ok_and(|meta| meta.uid() == rustix::process::geteuid().as_raw() && meta.mode() & 0o022 == 0)
}

/// Removes temporary files of a change.
fn sweep(root: &Root, placed: &PlacedRecord, purposes: &[&str], settler: Settler) -> Result<()> {
    for (n, file) in placed.record.files.iter().enumerate() {
        let temp = temp_name(&placed.record, root.path(), n);
        for purpose in purposes {
            sweep_one(root, &file.p, &temp.with(purpose), settler)?;
        }
    }
    Ok(())
}

/// Removes a temporary file. A writer leaves one that it may not remove to `memdir doctor --fix`.
fn sweep_one(root: &Root, rel: &str, temp: &str, settler: Settler) -> Result<()> {
    match temps::remove(root, rel, temp) {
        Err(error) if settler == Settler::Reader => Err(error),
        _ => Ok(()),
    }
}

/// Removes directories that the change created and that are empty now.
fn prune(part: &PartState) {
    let files: &[FileRecord] = part.unsettled().map_or(&[], |placed| &placed.record.files);
    for file in files.iter().filter(|_| !part.keeps_folders) {
        if matches!(read_now(&part.root, &file.p), Ok(None)) {
            prune_above(&part.root, &file.p);
        }
    }
}
