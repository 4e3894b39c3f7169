//! One change from its plan to its end: checked, recorded, written to temporary files, renamed into place and synced; or none of
//! it.

use super::{
    FileStore, Spot, all_on_disk,
    atomic::{self, Committed},
    contain::{OpenRoot, Root},
    journal::{self, ChangePart, FileDraft, JournalRecord, PlacedRecord, RecordState},
    lock::Lock,
    on_disk, read_file,
    temps::{ChangeTempName, keep_save},
};
use crate::base::sort::SharedSort as _;
use crate::{
    base::{
        error::{Error, Result},
        limits,
        path::MemoryPath,
        version::Version,
    },
    store::{Change, ChangeId, FileChange, FileEdit, IdempotencyKey, Intent, MountInfo, Role, Stamp, Stored, View, Walk, mounts},
};
use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::Read as _,
    path::Path,
};

/// Locked mounts: the view of a plan, and the way its edits are applied.
pub(super) struct LockedMounts<'a> {
    pub(super) store: &'a FileStore,
    pub(super) mounts: BTreeSet<usize>,
    _locks: Vec<Lock>,
    /// The directories of the locked mounts, by device and inode.
    roots: BTreeMap<usize, (u64, u64)>,
    /// The versions that the plan read.
    reads: RefCell<BTreeMap<MemoryPath, Option<Version>>>,
}

impl View for LockedMounts<'_> {
    fn mounts(&self) -> &[MountInfo] {
        &self.store.infos
    }

    fn get(&self, path: &MemoryPath) -> Result<Option<Stored>> {
        self.store.stop.check()?;
        let stored = self.store.read(&self.store.spot(path)?)?;
        let mut reads = self.reads.borrow_mut();
        match &stored {
            Some(stored) => drop(reads.entry(stored.path.clone()).or_insert(Some(stored.version))),
            None => {
                for name in mounts::spellings(path.as_str()).iter().filter_map(|name| MemoryPath::parse(name).ok()) {
                    reads.entry(name).or_insert(None);
                }
            }
        }
        Ok(stored)
    }

    fn list(&self, under: &str) -> Result<Walk> {
        self.store.stop.check()?;
        self.store.walk(under)
    }

    fn stamps(&self, paths: &[MemoryPath]) -> Result<Vec<Option<Stamp>>> {
        self.store.stamps(paths)
    }

    fn last_recorded(&self, path: &MemoryPath) -> Result<Option<(Version, u64)>> {
        self.store.last_recorded(path)
    }

    fn check_writable(&self, path: &MemoryPath) -> Result<()> {
        self.store.check_writable(path)
    }

    fn check_stopped(&self) -> Result<()> {
        self.store.check_stopped()
    }
}

/// One file of a change that is about to be applied.
struct PendingEdit {
    spot: Spot,
    edit: FileEdit,
    before: Option<Stored>,
}

impl<'a> LockedMounts<'a> {
    /// Takes the identities of the roots, which must still be the directories that are locked.
    pub(super) fn new(store: &'a FileStore, mounts: BTreeSet<usize>, locks: Vec<Lock>) -> Result<Self> {
        let roots = mounts.iter().map(|n| Ok((*n, store.mounts[*n].root.open()?.identity()?))).collect::<Result<_>>()?;
        if let Some(lock) = locks.iter().find(|lock| !lock.is_current()) {
            return Err(replaced(lock.dir()));
        }
        Ok(LockedMounts { store, mounts, _locks: locks, roots, reads: RefCell::default() })
    }

    /// Forgets what a plan read, before it is called again.
    pub(super) fn forget_reads(&self) {
        self.reads.borrow_mut().clear();
    }

    pub(super) fn make(&self, intent: &Intent, edits: Vec<FileEdit>) -> Result<Change, Failed> {
        let edits = self.check(edits)?;
        let id = journal::new_id()?;
        let mut change = Change {
            id: ChangeId(id),
            at: intent.at,
            actor: intent.actor.clone(),
            verb: intent.verb,
            undoes: intent.undoes.clone(),
            reviewer: None,
            files: edits.iter().map(file_change).collect(),
            elsewhere: Vec::new(),
            incomplete: false,
            after_damage: false,
        };
        if edits.is_empty() {
            return Ok(change);
        }
        let touched: BTreeSet<usize> = edits.iter().map(|edit| self.store.journal_owner(edit.spot.mount)).collect();
        let parts = self.parts(&touched);
        let temps = self.temp_names(&change.id.0, &parts, &edits);
        let mut open: Vec<(usize, PlacedRecord)> = Vec::new();
        let mut steps: Vec<Option<atomic::AtomicStep>> = Vec::new();
        let recorded = self.record(&change, intent.key.as_ref(), &touched, &parts, &edits, &mut open).map_err(Failed::from);
        let is_recorded = recorded.is_ok();
        let made = recorded.and_then(|()| self.apply(&temps, &edits, &open, &mut steps));
        let clean = || {
            steps.iter().flatten().for_each(atomic::AtomicStep::discard);
            self.prune(edits.iter().filter(|edit| edit.before.is_none() && !self.store.mounts[edit.spot.mount].keeps_folders));
        };
        // Before the record is settled, because later no process looks for temporary files; but after what they contain is recorded.
        if let Err(failed) = &made
            && is_recorded
            && failed.as_before
            && failed.displaced.is_empty()
        {
            clean();
        }
        for (mount, placed) in &open {
            let mut journal = self.store.journal(*mount);
            // If this state is lost, recovery derives it from the other journals and the files.
            let _ = match &made {
                Ok(()) => journal.finish(placed, RecordState::Done),
                Err(failed) if failed.as_before => journal.finish(placed, RecordState::Void),
                // Neither applied nor rolled back: the next holder of the lock rolls it back.
                Err(_) => {
                    journal.failed(placed);
                    Ok(())
                }
            };
        }
        // Only now: compaction must not drop a record while another part of its change is open.
        for (mount, _) in &open {
            self.store.journal(*mount).tidy();
        }
        let at = intent.at.as_millisecond();
        if let Err(failed) = &made {
            for (n, bytes) in &failed.displaced {
                if failed.as_before {
                    self.store.record_content(&edits[*n].spot, bytes, at);
                } else {
                    // Nothing is recorded after a record that is not settled: recovery does it.
                    let _ = keep_save(&self.store.mounts[edits[*n].spot.mount].root, &edits[*n].spot.rel, &temps[*n], bytes);
                }
            }
            if failed.as_before && !failed.displaced.is_empty() {
                clean();
            }
        }
        made?;
        for (step, edit) in steps.iter().zip(&edits) {
            if let Some(bytes) = step.as_ref().and_then(atomic::AtomicStep::saved_late) {
                self.store.record_content(&edit.spot, &bytes, at);
            }
        }
        change.files.shared_sort_by(|a, b| a.path.cmp(&b.path));
        Ok(change)
    }

    /// Refuses edits of read-only files and of files that changed since the plan read them; drops edits that change nothing.
    fn check(&self, edits: Vec<FileEdit>) -> Result<Vec<PendingEdit>, Failed> {
        let mut checked = Vec::new();
        for edit in edits {
            let spot = self.store.spot(&edit.path)?;
            self.store.mounts[spot.mount].check_writable(&spot.rel)?;
            if !self.mounts.contains(&spot.mount) {
                let why = "internal error: the mount of this memory is not locked for this change";
                return Err(Error::unavailable(edit.path.to_string(), why).into());
            }
            mounts::check_size(&self.store.infos[spot.mount], &edit)?;
            let before = self.store.read_exact(&spot)?;
            let now = before.as_ref().map(|stored| stored.version);
            if let Some(read) = self.reads.borrow().get(&edit.path).copied().filter(|read| *read != now) {
                return Err(Failed::raced(&edit.path, read, now));
            }
            if before.as_ref().map(|stored| &stored.bytes) != edit.bytes.as_ref() {
                checked.push(PendingEdit { spot, edit, before });
            }
        }
        Ok(checked)
    }

    /// Describes the mounts of a change of several mounts. Every part names all of them, so that a process that sees only one mount can
    /// settle the whole change.
    fn parts(&self, touched: &BTreeSet<usize>) -> Vec<ChangePart> {
        if touched.len() < 2 {
            return Vec::new();
        }
        let part = |(n, mount): (usize, &usize)| {
            // The guard of the journal is dropped here.
            let position = self.store.journal(*mount).position();
            let temps = if n == 0 { String::new() } else { format!("-m{n}") };
            let inode = self.roots.get(mount).map_or(0, |(_, inode)| *inode);
            ChangePart { temps, inode, position, ..self.store.part(*mount) }
        };
        touched.iter().enumerate().map(part).collect()
    }

    /// Returns the names of the temporary files, one for each edit.
    fn temp_names(&self, id: &str, parts: &[ChangePart], edits: &[PendingEdit]) -> Vec<ChangeTempName> {
        let mut numbers = vec![0; self.store.mounts.len()];
        let name = |edit: &PendingEdit| {
            let part = parts.iter().find(|part| part.root == self.store.mounts[edit.spot.mount].root.path());
            let number = &mut numbers[self.store.journal_owner(edit.spot.mount)];
            *number += 1;
            ChangeTempName { stem: format!("{id}{}", part.map_or("", |part| &part.temps)), file: *number - 1 }
        };
        edits.iter().map(name).collect()
    }

    fn record(
        &self,
        change: &Change,
        key: Option<&IdempotencyKey>,
        touched: &BTreeSet<usize>,
        parts: &[ChangePart],
        edits: &[PendingEdit],
        open: &mut Vec<(usize, PlacedRecord)>,
    ) -> Result<()> {
        let key = key.map(|key| (key.hash(), key.request_hash()));
        for mount in touched {
            let is_here = |edit: &&PendingEdit| self.store.journal_owner(edit.spot.mount) == *mount;
            let drafts: Vec<FileDraft<'_>> = edits.iter().filter(is_here).map(draft).collect();
            let record = JournalRecord {
                id: change.id.0.clone(),
                at: change.at.as_millisecond(),
                by: change.actor.clone(),
                verb: change.verb,
                undoes: change.undoes.as_ref().map(|id| id.0.clone()),
                key: key.clone(),
                files: Vec::new(),
                peers: Vec::new(),
                parts: parts.to_vec(),
                cut: false,
            };
            let placed = self.store.journal(*mount).begin(record, &drafts, RecordState::Open)?;
            open.push((*mount, placed));
        }
        Ok(())
    }

    /// Writes temporary files, exchanges them with the files and syncs. On failure every file gets its old content back, or keeps
    /// that of another program that saved it meanwhile; before that the change is marked as failed, so that after a crash in between
    /// it is rolled back and not completed. The caller discards the steps.
    fn apply(
        &self,
        temps: &[ChangeTempName],
        edits: &[PendingEdit],
        open: &[(usize, PlacedRecord)],
        steps: &mut Vec<Option<atomic::AtomicStep>>,
    ) -> Result<(), Failed> {
        self.prepare(temps, edits, steps)?;
        if let Err((committed, mut failed)) = commit_all(steps, edits) {
            if let Some((mount, placed)) = open.first() {
                self.store.journal(*mount).failed(placed);
            }
            failed.as_before &= self.restore_old_content(temps, &edits[..committed], &mut failed.displaced).is_ok();
            // A record that is not settled must not be followed by another one.
            failed.raced &= failed.as_before;
            return Err(failed);
        }
        self.prune(edits.iter().filter(|edit| edit.edit.bytes.is_none() && !self.store.mounts[edit.spot.mount].keeps_folders));
        Ok(())
    }

    /// Removes directories that are empty without these files.
    fn prune<'e>(&self, edits: impl Iterator<Item = &'e PendingEdit>) {
        for edit in edits {
            prune_above(&self.store.mounts[edit.spot.mount].root, &edit.spot.rel);
        }
    }

    /// Writes the temporary files. A file to remove whose folder is gone has no step.
    fn prepare(&self, temps: &[ChangeTempName], edits: &[PendingEdit], steps: &mut Vec<Option<atomic::AtomicStep>>) -> Result<()> {
        for (PendingEdit { spot, edit, .. }, temp) in edits.iter().zip(temps) {
            let mount = &self.store.mounts[spot.mount];
            let open = mount.root.open()?;
            if Some(&open.identity()?) != self.roots.get(&spot.mount) {
                // Another process may hold the lock of the directory that is there now.
                return Err(replaced(mount.root.path()));
            }
            let disk = on_disk(&open, &spot.rel)?;
            steps.push(atomic::prepare(&open, &disk, edit.bytes.as_deref(), temp.with(""), mount.root.path().join(&spot.rel))?);
        }
        Ok(())
    }

    /// Restores the old content of files: of all that it can, even if one fails. What is written comes before what is removed: the
    /// text of a moved memory is never in neither place. Adds contents that other programs saved meanwhile and that no file has any
    /// more.
    fn restore_old_content(&self, temps: &[ChangeTempName], edits: &[PendingEdit], displaced: &mut Vec<(usize, Vec<u8>)>) -> Result<()> {
        let mut order: Vec<usize> = (0..edits.len()).collect();
        order.shared_sort_by_key(|n| edits[*n].before.is_none());
        let mut outcome = Ok(());
        for n in order {
            let edit = &edits[n];
            let before = edit.before.as_ref().map(|stored| stored.bytes.as_slice());
            let made = edit.edit.bytes.as_deref().map(Version::from_content);
            let mount = &self.store.mounts[edit.spot.mount];
            let mut saved = Vec::new();
            let put = put_now(&mount.root, &edit.spot.rel, made, before, temps[n].with("-back"), &mut saved);
            if before.is_none() && !mount.keeps_folders {
                prune_above(&mount.root, &edit.spot.rel);
            }
            displaced.extend(saved.into_iter().map(|bytes| (n, bytes)));
            outcome = outcome.and(put);
        }
        outcome
    }
}

fn replaced(root: &Path) -> Error {
    Error::explained_unavailable(root.display().to_string(), "the directory was replaced during the change; try again")
}

/// Removes the directories above a file that does not exist, as far as they are empty.
pub(super) fn prune_above(root: &Root, rel: &str) {
    if let Ok(open) = root.open() {
        // Best effort: a directory that cannot be looked at stays.
        all_on_disk(&open, rel).unwrap_or_default().iter().for_each(|disk| atomic::prune(&open, disk));
    }
}

impl FileStore {
    /// Reads the file of exactly that name, with its extension.
    pub(super) fn read_exact(&self, spot: &Spot) -> Result<Option<Stored>> {
        match open_exact(&self.mounts[spot.mount].root.open()?, &spot.rel)? {
            Some(file) => read_file(file, self.named(spot.mount, &spot.rel)?).map(Some),
            None => Ok(None),
        }
    }

    /// Records a content that another program saved and that the file no longer has; `at` is in milliseconds. Best effort: nothing
    /// is recorded after a record that is not settled.
    pub(super) fn record_content(&self, spot: &Spot, bytes: &[u8], at: i64) {
        let mut journal = self.journal(spot.mount);
        if matches!(journal.unfinished(), Ok(None)) {
            let _ = journal.record_found(&FileDraft { path: &spot.rel, role: Role::Memory, before: Some((bytes, at)), after: None });
        }
    }
}

/// Opens the file of exactly that name below a root.
pub(super) fn open_exact(open: &OpenRoot<'_>, rel: &str) -> Result<Option<File>> {
    Ok(open.file(&on_disk(open, rel)?)?.map(File::from))
}

/// Reads the file of exactly that name below a root. A file that is larger than memdir reads has the content of its beginning, which
/// is not a version that memdir wrote.
pub(super) fn read_now(root: &Root, rel: &str) -> Result<Option<Vec<u8>>> {
    let open = root.open()?;
    let Some(file) = open_exact(&open, rel)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(limits::READ_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|e| Error::io("read", root.path().join(rel), e))?;
    Ok(Some(bytes))
}

/// Writes or removes one file that has the version `replaces`, durably, without a journal record. If another program saves the
/// file meanwhile, it keeps that content. Adds contents that other programs saved and that the file no longer has.
pub(super) fn put_now(
    root: &Root,
    rel: &str,
    replaces: Option<Version>,
    bytes: Option<&[u8]>,
    temp: String,
    displaced: &mut Vec<Vec<u8>>,
) -> Result<()> {
    let now = read_now(root, rel)?;
    if now.as_deref().map(Version::from_content) != replaces {
        return Ok(());
    }
    let open = root.open()?;
    let Some(step) = atomic::prepare(&open, &on_disk(&open, rel)?, bytes, temp, root.path().join(rel))? else { return Ok(()) };
    let committed = step.commit(now.as_deref(), bytes);
    if let Ok(Committed::Stuck(errno, saved)) = committed {
        // The temporary file has what was replaced; recovery looks at it.
        displaced.extend(saved);
        return Err(step.revert_failed(errno));
    }
    step.discard();
    if let Committed::Raced(saved) = committed? {
        displaced.extend(saved);
    }
    step.sync()
}

/// A change that failed.
pub(super) struct Failed {
    pub(super) error: Error,
    /// Whether every file has its old content.
    as_before: bool,
    /// Whether another program changed a file meanwhile, so that the change can be planned again.
    pub(super) raced: bool,
    /// Contents that other programs saved and that no file has any more, each with the position of its edit.
    displaced: Vec<(usize, Vec<u8>)>,
}

impl Failed {
    fn raced(path: &MemoryPath, expected: Option<Version>, found: Option<Version>) -> Self {
        let error = match expected {
            Some(expected) => Error::Changed { path: path.clone(), expected, found },
            None => Error::Exists { path: path.clone() },
        };
        Failed { raced: true, ..error.into() }
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Failed { error, as_before: true, raced: false, displaced: Vec::new() }
    }
}

/// Commits and syncs prepared steps; on failure returns how many are committed.
fn commit_all(steps: &[Option<atomic::AtomicStep>], edits: &[PendingEdit]) -> Result<(), (usize, Failed)> {
    for (n, (step, edit)) in steps.iter().zip(edits).enumerate() {
        let Some(step) = step else { continue };
        let before = edit.before.as_ref();
        match step.commit(before.map(|stored| stored.bytes.as_slice()), edit.edit.bytes.as_deref()) {
            Ok(Committed::Done) => {}
            Ok(Committed::Stuck(errno, displaced)) => {
                let displaced = displaced.into_iter().map(|bytes| (n, bytes)).collect();
                return Err((n, Failed { as_before: false, displaced, ..step.revert_failed(errno).into() }));
            }
            Ok(Committed::Raced(displaced)) => {
                let displaced = displaced.into_iter().map(|bytes| (n, bytes)).collect();
                return Err((n, Failed { displaced, ..Failed::raced(&edit.edit.path, before.map(|stored| stored.version), None) }));
            }
            Err(error) => return Err((n, error.into())),
        }
    }
    // The replaced contents are removed before the sync, so that a power failure leaves no temporary file.
    steps.iter().flatten().for_each(atomic::AtomicStep::discard);
    let mut synced = BTreeSet::new();
    for step in steps.iter().flatten() {
        if synced.insert(step.directory()) {
            step.sync().map_err(|e| (steps.len(), e.into()))?;
        }
    }
    Ok(())
}

fn file_change(edit: &PendingEdit) -> FileChange {
    FileChange {
        path: edit.edit.path.clone(),
        role: edit.edit.role,
        before: edit.before.as_ref().map(|stored| stored.version),
        after: edit.edit.bytes.as_deref().map(Version::from_content),
    }
}

fn draft(edit: &PendingEdit) -> FileDraft<'_> {
    FileDraft {
        path: &edit.spot.rel,
        role: edit.edit.role,
        before: edit.before.as_ref().map(|stored| (stored.bytes.as_slice(), stored.stamp.changed_ms())),
        after: edit.edit.bytes.as_deref(),
    }
}
