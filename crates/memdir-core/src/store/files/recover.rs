//! Recovery after a crash: the next writer of a mount settles the interrupted change, in every mount that it touched.
//!
//! The change is committed once all of its parts are recorded: a file that still has its old content gets the new one. If a part is
//! missing or failed, the files that have the new content get the old one back. The outcome follows from the journals alone, so
//! that processes that can reach only some of the mounts agree on it. A file that has neither content was changed by another
//! program and stays as it is.

use super::{
    FileStore, Lock, atomic,
    change::{put_now, read_now},
    contain::{Links, Root},
    journal::{ChangePart, Draft, FileRecord, Journal, Lookup, Placed, Progress},
    real_path,
};
use crate::{
    base::{
        error::{Error, Result},
        version::Version,
    },
    store::Role,
};
use std::{collections::BTreeSet, os::unix::fs::MetadataExt as _, path::Path};

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
    /// Contents that other programs saved and that no file has any more, each with the position of its file.
    displaced: Vec<(usize, Vec<u8>)>,
    _lock: Option<Lock>,
}

enum PartJournal {
    /// The journal of a mount of this space that is locked already.
    Mounted(usize),
    /// A journal that was opened by its path.
    Opened(Box<Journal>),
}

/// A file of an interrupted change that must be written or removed.
struct FileToSettle {
    /// The positions of its part and of its file.
    part: usize,
    file: usize,
    rel: String,
    /// The version that it has.
    replaces: Option<Version>,
    bytes: Option<Vec<u8>>,
}

impl PartState {
    fn with_journal<T>(&mut self, store: &FileStore, work: impl FnOnce(&mut Journal, &Lookup) -> Result<T>) -> Result<T> {
        match &mut self.journal {
            PartJournal::Mounted(mount) => work(&mut store.journal(*mount), &self.lookup),
            PartJournal::Opened(journal) => work(journal, &self.lookup),
        }
    }

    /// Describes an error without the directory, if the mount may not be in this space.
    fn explain(&self, error: Error) -> Error {
        match (&self.journal, error) {
            (PartJournal::Opened(_), Error::Io { source, .. }) => Error::Unavailable {
                what: "an interrupted change of several mounts".into(),
                why: format!("its other mount cannot be written: {source}; correct that and try again"),
            },
            (_, error) => error,
        }
    }

    fn progress(&self) -> Option<Progress> {
        if let Lookup::Recorded(placed) = &self.lookup { Some(placed.progress) } else { None }
    }

    /// The record, if this process has to settle it.
    fn unsettled(&self) -> Option<&Placed> {
        match &self.lookup {
            Lookup::Recorded(placed) if self.is_locked && placed.progress.is_unsettled() => Some(placed),
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
        }
    }

    /// Settles the interrupted changes of locked mounts. Before anything is appended to a journal, the change of its last record is
    /// settled in every mount that can be reached.
    pub(super) fn recover(&self, locked: &BTreeSet<usize>) -> Result<()> {
        for mount in locked {
            self.journal(*mount).ready_to_write()?;
        }
        for mount in locked {
            loop {
                let Some(placed) = self.journal(*mount).unfinished()? else { break };
                self.settle(locked, *mount, placed)?;
                self.journal(*mount).ready_to_write()?;
            }
            let last = self.journal(*mount).shared_last();
            if let Some(placed) = last {
                if self.is_open_elsewhere(locked, &placed) {
                    self.settle(locked, *mount, placed)?;
                }
                self.journal(*mount).last_is_settled();
            }
        }
        Ok(())
    }

    /// Whether another part of a settled change is still open in a mount that is not locked yet.
    fn is_open_elsewhere(&self, locked: &BTreeSet<usize>, placed: &Placed) -> bool {
        let is_locked = |part: &&ChangePart| locked.iter().any(|mount| self.mounts[*mount].root.path() == part.root);
        placed.record.parts.iter().filter(|part| !is_locked(part)).any(|part| {
            let mut journal = Journal::new(part.journal.clone(), u64::MAX);
            let open = journal.ready_to_read().and_then(|_| journal.unfinished());
            matches!(open, Ok(Some(open)) if open.record.id == placed.record.id)
        })
    }

    fn settle(&self, locked: &BTreeSet<usize>, mount: usize, placed: Placed) -> Result<()> {
        let id = placed.record.id.clone();
        let mut parts = self.parts(locked, mount, placed);
        for part in &mut parts {
            if let Some(placed) = part.unsettled().cloned() {
                part.displaced = self.displaced_by_crash(part, &placed)?;
                // Files of these names are written again below.
                sweep(&part.root, &placed, &["-back", "-undo"])?;
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
        files.sort_by_key(|file| file.bytes.is_none());
        for file in files {
            let part = &mut parts[file.part];
            let temp = atomic::temp_name(&format!("{id}-undo"), file.file);
            let saved = put_now(&part.root, &file.rel, file.replaces, file.bytes.as_deref(), temp).map_err(|error| part.explain(error))?;
            part.displaced.extend(saved.into_iter().map(|bytes| (file.file, bytes)));
        }
        let progress = if outcome == Settlement::RollBack { Progress::Void } else { Progress::Done };
        for part in &mut parts {
            if let Some(placed) = part.unsettled().cloned() {
                self.finish(part, &placed, progress)?;
            }
        }
        Ok(())
    }

    /// Returns the saves of other programs that a change, or its rollback, replaced just before it crashed: a temporary file has them,
    /// and they are neither the old nor the new version, nor the beginning of one that was being written.
    fn displaced_by_crash(&self, part: &mut PartState, placed: &Placed) -> Result<Vec<(usize, Vec<u8>)>> {
        let mut displaced = Vec::new();
        for (n, file) in placed.record.files.iter().enumerate() {
            for suffix in ["", "-back", "-undo"] {
                let temp = atomic::temp_name(&format!("{}{suffix}", placed.record.id), n);
                let Some(left) = atomic::leftover(&part.root.open()?, &file.p, &temp) else { continue };
                let version = Some(Version::from_content(&left));
                if version == file.before || version == file.after {
                    continue;
                }
                let now = read_now(&part.root, &file.p).ok().flatten();
                let texts = part.with_journal(self, |journal, _| {
                    let made = journal.text_to_make(placed, n, now.as_deref()).ok().flatten();
                    Ok([made, journal.text_to_put_back(placed, n, now.as_deref()).ok().flatten(), now])
                })?;
                if !texts.iter().flatten().any(|text| text.starts_with(&left)) {
                    displaced.push((n, left));
                }
            }
        }
        Ok(displaced)
    }

    /// Marks a part as settled, records what other programs saved, and removes what the change left.
    fn finish(&self, part: &mut PartState, placed: &Placed, progress: Progress) -> Result<()> {
        let displaced = std::mem::take(&mut part.displaced);
        // Before the record is settled, because later no process looks for them; but after what they contain is recorded.
        if displaced.is_empty() {
            sweep(&part.root, placed, &[""])?;
        }
        prune(part);
        part.with_journal(self, |journal, _| {
            journal.finish(placed, progress)?;
            for (n, bytes) in &displaced {
                let found =
                    Draft { path: &placed.record.files[*n].p, role: Role::Memory, before: Some((bytes, placed.record.at)), after: None };
                // Best effort: the change itself is settled.
                let _ = journal.record_found(&found);
            }
            Ok(())
        })?;
        if displaced.is_empty() { Ok(()) } else { sweep(&part.root, placed, &[""]) }
    }

    /// Collects the parts of a change, this one first.
    fn parts(&self, locked: &BTreeSet<usize>, mount: usize, placed: Placed) -> Vec<PartState> {
        let own = self.mounts[mount].root.path();
        let (id, at) = (placed.record.id.clone(), placed.record.at);
        let mut others = placed.record.parts.clone();
        let mut unknown = 0;
        // Records of older versions have only the roots: a mount outside this space cannot be found by them.
        for root in &placed.record.peers {
            match self.mounts.iter().position(|mount| mount.root.path() == root) {
                Some(mount) => others.push(self.part(mount)),
                None => unknown += 1,
            }
        }
        let own_part = PartState {
            root: self.mounts[mount].root.clone(),
            journal: PartJournal::Mounted(mount),
            lookup: Lookup::Recorded(Box::new(placed)),
            is_locked: true,
            keeps_folders: self.mounts[mount].keeps_folders,
            displaced: Vec::new(),
            _lock: None,
        };
        let mut parts = vec![own_part];
        for part in others.iter().filter(|part| part.root != own) {
            let here = locked.iter().find(|mount| self.mounts[**mount].root.path() == part.root);
            parts.push(match here {
                Some(mount) => PartState {
                    root: self.mounts[*mount].root.clone(),
                    lookup: self.journal(*mount).find(&id, at).unwrap_or(Lookup::Uncertain),
                    journal: PartJournal::Mounted(*mount),
                    is_locked: true,
                    keeps_folders: self.mounts[*mount].keeps_folders,
                    displaced: Vec::new(),
                    _lock: None,
                },
                None => {
                    let shares_lock = locked.iter().any(|mount| self.mounts[*mount].lock == part.lock);
                    open_part(part, shares_lock, &id, at)
                }
            });
        }
        for _ in 0..unknown {
            parts.push(PartState {
                root: Root::new(Default::default(), Links::default()),
                journal: PartJournal::Mounted(mount),
                lookup: Lookup::Uncertain,
                is_locked: false,
                keeps_folders: true,
                displaced: Vec::new(),
                _lock: None,
            });
        }
        parts
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
                let bytes = match to {
                    None => None,
                    Some(_) => {
                        let text = part.with_journal(self, |journal, _| match forward {
                            true => journal.text_to_make(&placed, n, now.as_deref()),
                            false => journal.text_to_put_back(&placed, n, now.as_deref()),
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
                plan.push(FileToSettle { part: at, file: n, rel: file.p.clone(), replaces: from, bytes });
            }
        }
        Ok(Some(plan))
    }
}

fn decide(parts: &[PartState]) -> Settlement {
    let has = |wanted: &[Progress]| parts.iter().any(|part| part.progress().is_some_and(|progress| wanted.contains(&progress)));
    if has(&[Progress::Done]) {
        Settlement::Complete
    } else if has(&[Progress::Void, Progress::Failed]) || parts.iter().any(|part| matches!(part.lookup, Lookup::Absent)) {
        Settlement::RollBack
    } else if parts.iter().any(|part| matches!(part.lookup, Lookup::Uncertain)) {
        Settlement::KeepBoth
    } else {
        Settlement::Complete
    }
}

/// Whether every file of the parts has its old content.
fn is_untouched(parts: &[PartState]) -> bool {
    for part in parts {
        for file in part.unsettled().into_iter().flat_map(|placed| &placed.record.files) {
            if !read_now(&part.root, &file.p).is_ok_and(|now| now.as_deref().map(Version::from_content) == file.before) {
                return false;
            }
        }
    }
    true
}

/// Opens a part of a change that is not in this space, or not locked. Never waits: a mount that another process uses is settled by
/// that process. A mount that does not exist any more, or that this user may not write, keeps its open record; its next writer
/// comes to the same outcome.
fn open_part(part: &ChangePart, shares_lock: bool, id: &str, at: i64) -> PartState {
    let mut journal = Journal::new(part.journal.clone(), u64::MAX);
    let is_writable = rustix::fs::access(&part.root, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK).is_ok();
    let trusted = part.root.is_dir() && is_writable && real_path(&part.root) == part.root && is_private(&part.journal);
    let lock = if trusted && !shares_lock { Lock::try_acquire(&part.lock) } else { None };
    let mut is_locked = trusted && (shares_lock || lock.is_some());
    // A journal that was deleted must not be created again: it would look as if it never had the record.
    let lookup = if journal.exists() {
        is_locked = is_locked && journal.ready_to_write().is_ok();
        journal.ready_to_read().and_then(|_| journal.find(id, at)).unwrap_or(Lookup::Uncertain)
    } else {
        Lookup::Uncertain
    };
    let links = Links { inside: part.inside, roots: part.links.clone(), fixed: false };
    PartState {
        root: Root::new(part.root.clone(), links),
        journal: PartJournal::Opened(Box::new(journal)),
        lookup,
        is_locked,
        keeps_folders: false,
        displaced: Vec::new(),
        _lock: lock,
    }
}

/// Whether only this user can have written the files of a directory: a record leads to other directories, so that another user's
/// must not be followed.
fn is_private(dir: &Path) -> bool {
    dir.metadata().is_ok_and(|meta| meta.uid() == rustix::process::geteuid().as_raw() && meta.mode() & 0o022 == 0)
}

/// Removes temporary files of a change.
fn sweep(root: &Root, placed: &Placed, suffixes: &[&str]) -> Result<()> {
    let rels: Vec<String> = placed.record.files.iter().map(|file| file.p.clone()).collect();
    let open = root.open()?;
    for suffix in suffixes {
        atomic::sweep(&open, &format!("{}{suffix}", placed.record.id), &rels);
    }
    Ok(())
}

/// Removes directories that the change created and that are empty now.
fn prune(part: &PartState) {
    let files: &[FileRecord] = part.unsettled().map_or(&[], |placed| &placed.record.files);
    let Ok(open) = part.root.open() else { return };
    for file in files.iter().filter(|_| !part.keeps_folders) {
        if matches!(read_now(&part.root, &file.p), Ok(None)) {
            atomic::prune(&open, &file.p);
        }
    }
}
