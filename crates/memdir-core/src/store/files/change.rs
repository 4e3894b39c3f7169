//! One change from its plan to its end: checked, recorded, written to temporary files, renamed into place and synced; or none of
//! it.

use super::{
    FileStore, Names, Spot, atomic,
    contain::{Open, Root},
    journal::{self, ChangePart, Draft, Placed, Progress, Record},
    lock::Lock,
    on_disk, read_file,
};
use crate::{
    base::{
        error::{Error, Result},
        limits,
        path::MemoryPath,
        version::Version,
    },
    store::{Change, ChangeId, FileChange, FileEdit, Intent, MountInfo, Stamp, Stored, View, Walk},
};
use std::{collections::BTreeSet, fs::File};

/// Locked mounts: the view of a plan, and the way its edits are applied.
pub(super) struct Locked<'a> {
    pub(super) store: &'a FileStore,
    pub(super) mounts: BTreeSet<usize>,
    pub(super) _locks: Vec<Lock>,
}

impl View for Locked<'_> {
    fn mounts(&self) -> &[MountInfo] {
        &self.store.infos
    }

    fn get(&self, path: &MemoryPath) -> Result<Option<Stored>> {
        self.store.stop.check()?;
        self.store.read(&self.store.spot(path)?, Names::ByBytes)
    }

    fn list(&self, under: &str) -> Result<Walk> {
        self.store.stop.check()?;
        self.store.walk(under)
    }

    fn stamps(&self, paths: &[MemoryPath]) -> Result<Vec<Option<Stamp>>> {
        self.store.stamps(paths)
    }

    fn check_writable(&self, path: &MemoryPath) -> Result<()> {
        self.store.check_writable(path)
    }
}

/// One file of a change that is about to be applied.
struct Edit {
    spot: Spot,
    edit: FileEdit,
    before: Option<Stored>,
}

impl Locked<'_> {
    pub(super) fn make(&self, intent: &Intent, edits: Vec<FileEdit>) -> Result<Change> {
        let edits = self.check(edits)?;
        let id = journal::new_id()?;
        let mut change = Change {
            id: ChangeId(id),
            at: intent.at,
            actor: intent.actor.clone(),
            verb: intent.verb,
            undoes: intent.undoes.clone(),
            files: edits.iter().map(file_change).collect(),
            elsewhere: Vec::new(),
            incomplete: false,
            after_damage: false,
        };
        if edits.is_empty() {
            return Ok(change);
        }
        let touched: BTreeSet<usize> = edits.iter().map(|edit| self.store.journal_owner(edit.spot.mount)).collect();
        let mut open: Vec<(usize, Placed)> = Vec::new();
        let made = match self.record(&change, &touched, &edits, &mut open) {
            Ok(()) => self.apply(&change.id.0, &edits, &open),
            Err(error) => Err(Failed { error, as_before: true }),
        };
        for (mount, placed) in &open {
            let mut journal = self.store.journal(*mount);
            // If this state is lost, recovery derives it from the other journals and the files.
            let _ = match &made {
                Ok(()) => journal.finish(placed, Progress::Done),
                Err(failed) if failed.as_before => journal.finish(placed, Progress::Void),
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
        made.map_err(|failed| failed.error)?;
        change.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(change)
    }

    /// Refuses edits of read-only files; drops edits that change nothing.
    fn check(&self, edits: Vec<FileEdit>) -> Result<Vec<Edit>> {
        let mut checked = Vec::new();
        for edit in edits {
            let spot = self.store.spot(&edit.path)?;
            self.store.mounts[spot.mount].check_writable(&spot.rel)?;
            if !self.mounts.contains(&spot.mount) {
                return Err(Error::Unavailable { what: edit.path.to_string(), why: "its mount is not locked for this change".into() });
            }
            let size = edit.bytes.as_ref().map_or(0, Vec::len);
            if size > limits::MEMORY_BYTES {
                return Err(Error::TooLarge { what: edit.path.to_string(), size: size as u64, limit: limits::MEMORY_BYTES as u64 });
            }
            let before = self.store.read_exact(&spot)?;
            if before.as_ref().map(|stored| &stored.bytes) != edit.bytes.as_ref() {
                checked.push(Edit { spot, edit, before });
            }
        }
        Ok(checked)
    }

    fn record(&self, change: &Change, touched: &BTreeSet<usize>, edits: &[Edit], open: &mut Vec<(usize, Placed)>) -> Result<()> {
        // Every part names all of them, so that a process that sees only one mount can settle the whole change.
        let parts: Vec<ChangePart> = if touched.len() > 1 { touched.iter().map(|n| self.store.part(*n)).collect() } else { Vec::new() };
        for mount in touched {
            let is_here = |edit: &&Edit| self.store.journal_owner(edit.spot.mount) == *mount;
            let drafts: Vec<Draft<'_>> = edits.iter().filter(is_here).map(draft).collect();
            let record = Record {
                id: change.id.0.clone(),
                at: change.at.as_millisecond(),
                by: change.actor.clone(),
                verb: change.verb,
                undoes: change.undoes.as_ref().map(|id| id.0.clone()),
                files: Vec::new(),
                peers: Vec::new(),
                parts: parts.clone(),
                cut: false,
            };
            let placed = self.store.journal(*mount).begin(record, &drafts, Progress::Open)?;
            open.push((*mount, placed));
        }
        Ok(())
    }

    /// Writes temporary files, renames them into place and syncs. On failure every file gets its old content back; before that the
    /// change is marked as failed, so that after a crash in between it is rolled back and not completed.
    fn apply(&self, id: &str, edits: &[Edit], open: &[(usize, Placed)]) -> Result<(), Failed> {
        let mut steps = Vec::new();
        if let Err(error) = self.prepare(id, edits, &mut steps) {
            steps.iter().for_each(atomic::Step::discard);
            self.prune(edits.iter().filter(|edit| edit.before.is_none()));
            return Err(Failed { error, as_before: true });
        }
        if let Err((committed, error)) = commit_all(&steps) {
            if let Some((mount, placed)) = open.first() {
                self.store.journal(*mount).failed(placed);
            }
            steps[committed..].iter().for_each(atomic::Step::discard);
            let as_before = self.put_back(id, &edits[..committed]).is_ok();
            self.prune(edits.iter().filter(|edit| edit.before.is_none()));
            return Err(Failed { error, as_before });
        }
        self.prune(edits.iter().filter(|edit| edit.edit.bytes.is_none()));
        Ok(())
    }

    /// Removes directories that are empty without these files.
    fn prune<'a>(&self, edits: impl Iterator<Item = &'a Edit>) {
        for edit in edits {
            if let Ok(open) = self.store.mounts[edit.spot.mount].root.open() {
                atomic::prune(&open, &edit.spot.rel);
            }
        }
    }

    fn prepare(&self, id: &str, edits: &[Edit], steps: &mut Vec<atomic::Step>) -> Result<()> {
        let mut numbers = vec![0; self.store.mounts.len()];
        for Edit { spot, edit, .. } in edits {
            let mount = &self.store.mounts[spot.mount];
            let open = mount.root.open()?;
            let disk = on_disk(&open, &spot.rel, Names::ByBytes)?.unwrap_or_else(|| spot.rel.clone().into_bytes());
            let number = &mut numbers[self.store.journal_owner(spot.mount)];
            let temp = atomic::temp_name(id, *number);
            *number += 1;
            steps.extend(atomic::prepare(&open, &disk, edit.bytes.as_deref(), temp, mount.root.path().join(&spot.rel))?);
        }
        Ok(())
    }

    /// Restores the old content of files.
    fn put_back(&self, id: &str, edits: &[Edit]) -> Result<()> {
        let mut numbers = vec![0; self.store.mounts.len()];
        for edit in edits {
            let before = edit.before.as_ref().map(|stored| stored.bytes.as_slice());
            let number = &mut numbers[self.store.journal_owner(edit.spot.mount)];
            let temp = atomic::temp_name(&format!("{id}-back"), *number);
            *number += 1;
            put_now(&self.store.mounts[edit.spot.mount].root, &edit.spot.rel, before, temp)?;
        }
        Ok(())
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
}

/// Opens the file of exactly that name below a root.
pub(super) fn open_exact(open: &Open<'_>, rel: &str) -> Result<Option<File>> {
    let disk = on_disk(open, rel, Names::ByBytes)?.unwrap_or_else(|| rel.to_owned().into_bytes());
    Ok(open.file(&disk)?.map(File::from))
}

/// Writes or removes one file, durably, without a journal record.
pub(super) fn put_now(root: &Root, rel: &str, bytes: Option<&[u8]>, temp: String) -> Result<()> {
    let open = root.open()?;
    let disk = on_disk(&open, rel, Names::ByBytes)?.unwrap_or_else(|| rel.to_owned().into_bytes());
    if let Some(step) = atomic::prepare(&open, &disk, bytes, temp, root.path().join(rel))? {
        if let Err(error) = step.commit() {
            step.discard();
            return Err(error);
        }
        step.sync()?;
    }
    if bytes.is_none() {
        atomic::prune(&open, rel);
    }
    Ok(())
}

/// A change that failed.
struct Failed {
    error: Error,
    /// Whether every file has its old content.
    as_before: bool,
}

/// Commits and syncs prepared steps; on failure returns how many are committed.
fn commit_all(steps: &[atomic::Step]) -> Result<(), (usize, Error)> {
    for (n, step) in steps.iter().enumerate() {
        step.commit().map_err(|e| (n, e))?;
    }
    let mut synced = BTreeSet::new();
    for step in steps {
        if synced.insert(step.directory()) {
            step.sync().map_err(|e| (steps.len(), e))?;
        }
    }
    Ok(())
}

fn file_change(edit: &Edit) -> FileChange {
    FileChange {
        path: edit.edit.path.clone(),
        role: edit.edit.role,
        before: edit.before.as_ref().map(|stored| stored.version),
        after: edit.edit.bytes.as_deref().map(Version::from_content),
    }
}

fn draft(edit: &Edit) -> Draft<'_> {
    Draft {
        path: &edit.spot.rel,
        role: edit.edit.role,
        before: edit.before.as_ref().map(|stored| (stored.bytes.as_slice(), stored.stamp.mtime_ns / 1_000_000)),
        after: edit.edit.bytes.as_deref(),
    }
}
