//! Changes by other programs: compares the files in a mount's journal with the disk and records what differs, so that the history
//! shows it and undo can revert it. Looks at one `stat` per file and reads only files whose stamp is new. Never changes a memory.

use super::{
    FileStore, Lock, Spot,
    change::open_exact,
    contain::{OpenRoot, split},
    journal::{FileDraft, FoundChange, SeenFile, SeenFiles},
    recover::Settler,
    walk,
};
use crate::base::sort::SharedSort as _;
use crate::{
    base::{
        error::{Error, Result},
        path::MemoryPath,
        version::Version,
    },
    store::{Access, Role, Stamp, Stored},
};
use jiff::Timestamp;
use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, FileType, statat},
    io::Errno,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::SystemTime,
};

/// The bytes of changed files that are recorded with one sync.
const AT_ONCE: usize = 8 << 20;

/// What a `stat` reports about a file.
pub(super) enum StatResult {
    Absent,
    Regular(Stamp),
    /// A link or a special file: only opening it shows what it is.
    Other,
    /// Its directory cannot be read.
    Unreadable,
}

/// One file that another program changed, as it is now.
struct OutsideFile {
    rel: String,
    now: Option<Stored>,
}

impl FileStore {
    /// Records what other programs did to the files in the journals. `now` is the current time. Without `wait`, a mount that another
    /// process is changing is skipped.
    pub(super) fn record_outside(&self, now: Timestamp, wait: bool) -> Result<()> {
        for owner in (0..self.mounts.len()).filter(|mount| self.journal_owner(*mount) == *mount) {
            self.stop.check()?;
            // Best effort otherwise: a journal that cannot be read or written is reported by the command itself.
            if let Err(error @ Error::Busy { .. }) = self.record_outside_of(owner, now, wait) {
                return Err(error);
            }
        }
        Ok(())
    }

    fn record_outside_of(&self, owner: usize, now: Timestamp, wait: bool) -> Result<()> {
        let sharing = self.writable_mounts_at(owner);
        if sharing.is_empty() {
            return Ok(());
        }
        let open = self.mounts[owner].root.open()?;
        let mut seen = {
            let mut journal = self.journal(owner);
            if !journal.ready_to_read()? {
                return Ok(());
            }
            SeenFiles::load(&journal)?
        };
        let started_ns = i64::try_from(now.as_nanosecond()).unwrap_or(i64::MAX);
        let unrecorded = self.unrecorded_files(owner, &open, &sharing, &mut seen)?;
        if self.journal(owner).is_damaged()? {
            // What looks like a change of another program may be the change of memdir whose record is damaged.
            return Ok(());
        }
        if !unrecorded.is_empty() {
            let dir = &self.mounts[owner].lock;
            let lock = if wait { Some(Lock::acquire(dir, self.stop.lock_deadline(), &self.stop)?) } else { Lock::try_acquire(dir) };
            if lock.is_some() {
                match self.recover(&[owner].into(), if wait { Settler::Writer } else { Settler::Reader }) {
                    // An interrupted change that is left to the next writer: its files may look like those of another program.
                    Err(_) if !wait => return Ok(()),
                    settled => settled?,
                }
                let last_change_ns = self.journal(owner).mark().map_or(0, |stamp| stamp.mtime_ns);
                self.record_unrecorded(owner, &OutsideTimes { open: &open, last_change_ns }, &unrecorded, &sharing, &mut seen)?;
            }
        }
        seen.save(&self.journal(owner), started_ns);
        Ok(())
    }

    /// Sets the modification times of files that have these versions. Their content is compared under the lock, so that the file of a
    /// later save keeps its time.
    pub(super) fn set_file_times(&self, files: &[(MemoryPath, Version, Timestamp)]) -> Result<()> {
        let spots = files.iter().map(|(path, ..)| self.spot(path)).collect::<Result<Vec<Spot>>>()?;
        let _locked = self.lock(&spots.iter().map(|spot| spot.mount).collect())?;
        for (spot, (_, version, at)) in spots.iter().zip(files) {
            self.stop.check()?;
            self.mounts[spot.mount].check_writable(&spot.rel)?;
            if self.read_exact(spot)?.is_some_and(|stored| stored.version == *version)
                && let Some(file) = open_exact(&self.mounts[spot.mount].root.open()?, &spot.rel)?
            {
                file.set_modified(SystemTime::from(*at)).map_err(|e| Error::io("set the modification time of", spot.rel.as_str(), e))?;
            }
        }
        Ok(())
    }

    /// The writable mounts of the same directory, which share a journal.
    fn writable_mounts_at(&self, owner: usize) -> Vec<usize> {
        let same = |mount: &usize| self.journal_owner(*mount) == owner && self.mounts[*mount].info.access == Access::ReadWrite;
        (0..self.mounts.len()).filter(same).collect()
    }

    /// Returns the visible files that are not as recorded, read without a lock: a change of memdir may be in progress.
    fn unrecorded_files(&self, owner: usize, open: &OpenRoot<'_>, sharing: &[usize], seen: &mut SeenFiles) -> Result<Vec<String>> {
        let mut directory = Directory::default();
        let mut doubtful = Vec::new();
        let (mut visible, mut absent) = (0, 0);
        for (rel, known) in &seen.files {
            if sharing.iter().all(|mount| self.mounts[*mount].hides(rel)) {
                continue;
            }
            let found = directory.stat(open, rel);
            visible += 1;
            absent += usize::from(matches!(found, StatResult::Absent));
            match (found, known) {
                (StatResult::Absent, SeenFile::Absent) | (StatResult::Unreadable, _) => {}
                (StatResult::Regular(stamp), SeenFile::Present(known, _)) if stamp == *known => {}
                _ => doubtful.push(rel.clone()),
            }
        }
        // Without a single file the directory was moved or is not mounted: nothing was deleted.
        let is_empty = |mount: &usize| self.walk(&self.infos[*mount].prefix).is_ok_and(|walk| walk.entries.is_empty());
        if visible == absent && sharing.iter().all(is_empty) {
            return Ok(Vec::new());
        }
        let mut unrecorded = Vec::new();
        for rel in doubtful {
            self.stop.check()?;
            let Ok(now) = self.read_exact(&Spot { mount: owner, rel: rel.clone() }) else { continue };
            let recorded = self.journal(owner).latest(&rel)?;
            if recorded == Some(now.as_ref().map(|stored| stored.version)) {
                seen.set(&rel, state(now.as_ref()));
            } else {
                unrecorded.push(rel);
            }
        }
        Ok(unrecorded)
    }

    /// Compares files again and records those that differ. Only for the holder of the mount's lock.
    fn record_unrecorded(
        &self,
        owner: usize,
        times: &OutsideTimes<'_>,
        unrecorded: &[String],
        sharing: &[usize],
        seen: &mut SeenFiles,
    ) -> Result<()> {
        if self.journal(owner).unfinished()?.is_some() {
            // A change of several mounts that cannot be settled here: nothing may be recorded after it.
            return Ok(());
        }
        seen.catch_up(&self.journal(owner))?;
        let (mut edited, mut created, mut removed) = (Vec::new(), Vec::new(), Vec::new());
        let mut bytes = 0;
        for rel in unrecorded {
            self.stop.check()?;
            let Ok(now) = self.read_exact(&Spot { mount: owner, rel: rel.clone() }) else { continue };
            let recorded = self.journal(owner).latest(rel)?.flatten();
            let file = OutsideFile { rel: rel.clone(), now };
            match (recorded, &file.now) {
                (None, None) => seen.set(rel, SeenFile::Absent),
                (Some(recorded), Some(stored)) if recorded == stored.version => seen.set(rel, state(Some(stored))),
                (None, Some(_)) => created.push(file),
                (Some(_), None) => removed.push(file),
                (Some(_), Some(stored)) => {
                    bytes += stored.bytes.len();
                    edited.push(file);
                }
            }
            if bytes > AT_ONCE {
                self.record_batch(owner, times, std::mem::take(&mut edited).into_iter().map(|file| vec![file]).collect(), seen)?;
                bytes = 0;
            }
        }
        let moved = self.moved(owner, &removed, sharing, seen, &mut created)?;
        let pairs = removed.into_iter().zip(moved).map(|(from, to)| std::iter::once(from).chain(to).collect());
        let single = edited.into_iter().chain(created).map(|file| vec![file]);
        self.record_batch(owner, times, single.chain(pairs).collect(), seen)?;
        self.journal(owner).tidy();
        Ok(())
    }

    /// Finds the new names of removed files: a file that has the version of the removed one and that the journal does not have, or not
    /// any more. Takes such files out of `created`.
    fn moved(
        &self,
        owner: usize,
        removed: &[OutsideFile],
        sharing: &[usize],
        seen: &SeenFiles,
        created: &mut Vec<OutsideFile>,
    ) -> Result<Vec<Option<OutsideFile>>> {
        let mut moved: Vec<Option<OutsideFile>> = removed.iter().map(|_| None).collect();
        let mut sought: BTreeMap<[u8; 16], Vec<usize>> = BTreeMap::new();
        let mut sizes = BTreeSet::new();
        for (n, file) in removed.iter().enumerate().rev() {
            if let Some((version, size)) = self.journal(owner).last_existing(&file.rel)? {
                sought.entry(version.to_bytes()).or_default().push(n);
                sizes.insert(size);
            }
        }
        let mut take = |version: Version| sought.get_mut(&version.to_bytes()).and_then(Vec::pop);
        for file in std::mem::take(created) {
            match file.now.as_ref().and_then(|stored| take(stored.version)) {
                Some(n) => moved[n] = Some(file),
                None => created.push(file),
            }
        }
        if sizes.is_empty() {
            return Ok(moved);
        }
        for mount in sharing {
            for entry in self.walk(&self.infos[*mount].prefix)?.entries {
                let spot = self.spot(&entry.path)?;
                if spot.mount == *mount
                    && !seen.files.contains_key(&spot.rel)
                    && sizes.contains(&entry.stamp.size)
                    && let Ok(Some(now)) = self.read_exact(&spot)
                    && let Some(n) = take(now.version)
                {
                    moved[n] = Some(OutsideFile { rel: spot.rel, now: Some(now) });
                }
            }
        }
        Ok(moved)
    }

    /// Records changes in the order of their times. A change has one file, or the old and the new name of a renamed one.
    fn record_batch(&self, owner: usize, times: &OutsideTimes<'_>, batch: Vec<Vec<OutsideFile>>, seen: &mut SeenFiles) -> Result<()> {
        let time = |file: &OutsideFile| file.now.as_ref().map_or_else(|| times.gone_at(&file.rel), |stored| stored.stamp.changed_ms());
        let mut drafts: Vec<(i64, Vec<FileDraft<'_>>)> =
            batch.iter().map(|files| (files.iter().map(time).max().unwrap_or(0), files.iter().map(draft).collect())).collect();
        drafts.shared_sort_by_key(|(at, _)| *at);
        let changes: Vec<FoundChange<'_>> = drafts.iter().map(|(at, drafts)| FoundChange { drafts, at: *at }).collect();
        self.journal(owner).record_all_found(&changes)?;
        // First the new records, which mark their files as unknown, then what was just read.
        seen.catch_up(&self.journal(owner))?;
        for file in batch.iter().flatten() {
            seen.set(&file.rel, state(file.now.as_ref()));
        }
        Ok(())
    }
}

fn draft(file: &OutsideFile) -> FileDraft<'_> {
    let before = file.now.as_ref().map(|stored| (stored.bytes.as_slice(), stored.stamp.changed_ms()));
    FileDraft { path: &file.rel, role: Role::Memory, before, after: None }
}

fn state(now: Option<&Stored>) -> SeenFile {
    now.map_or(SeenFile::Absent, |stored| SeenFile::Present(stored.stamp, stored.version))
}

/// Tells when other programs removed files.
struct OutsideTimes<'a> {
    open: &'a OpenRoot<'a>,
    /// When memdir's last change of the mount was complete.
    last_change_ns: i64,
}

impl OutsideTimes<'_> {
    /// Returns when a name was removed, in milliseconds: the last change of the deepest directory above it that exists. If a change of
    /// memdir came later, the removal was before it, and its time is unknown (0).
    fn gone_at(&self, rel: &str) -> i64 {
        let mut parent = rel.as_bytes();
        loop {
            parent = split(parent).0;
            if let Ok(Some(dir)) = self.open.dir(parent) {
                let changed_ns = rustix::fs::fstat(&dir).map_or(0, |stat| walk::stamp(&stat).mtime_ns);
                return if changed_ns > self.last_change_ns { changed_ns / 1_000_000 } else { 0 };
            }
            if parent.is_empty() {
                return 0;
            }
        }
    }
}

/// The directory that was opened last: names are sorted, so that most of them are in the directory of the one before.
#[derive(Default)]
pub(super) struct Directory {
    name: Vec<u8>,
    opened: Option<std::result::Result<Option<OwnedFd>, ()>>,
}

impl Directory {
    pub(super) fn stat(&mut self, open: &OpenRoot<'_>, rel: &str) -> StatResult {
        let (parent, name) = split(rel.as_bytes());
        if self.opened.is_none() || self.name != parent {
            self.name = parent.to_vec();
            self.opened = Some(open.dir(parent).map_err(drop));
        }
        match &self.opened {
            Some(Ok(Some(dir))) => match statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => StatResult::Regular(walk::stamp(&stat)),
                Ok(_) => StatResult::Other,
                Err(Errno::NOENT) => StatResult::Absent,
                Err(_) => StatResult::Unreadable,
            },
            Some(Ok(None)) => StatResult::Absent,
            Some(Err(())) | None => StatResult::Unreadable,
        }
    }
}
