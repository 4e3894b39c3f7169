//! The journal of one mount: a record of every change, with the text of each file. It is written before the files, so that
//! recovery can tell a complete change from an interrupted one. It lies outside the mount and is never searched. A damaged record is
//! skipped and counted; everything else stays usable.

mod forget;
mod frame;
mod log;
mod lookup;
mod record;
mod repair;
mod retain;
mod seen;
mod table;
mod texts;

use crate::{
    base::{
        disk::{self, Replace, TempName},
        error::{Error, Result},
        version::Version,
    },
    store::{Actor, ChangeId, Role, Stamp, Verb},
};
pub(crate) use frame::PlacedRecord;
use frame::{START, frame};
use log::JournalFile;
pub(crate) use lookup::Lookup;
pub(crate) use record::{ChangePart, FileRecord, JournalRecord, LogPosition, RecordState};
pub(crate) use seen::{SeenFile, SeenFiles};
use std::{
    cell::RefCell,
    collections::{BTreeMap, HashMap},
    io::{self, Write as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};
use table::RecordTable;

/// Records after which the table of newest versions is written, so that opening reads little.
const JOURNAL_TABLE_EVERY: usize = 200;

/// The name of the log in the directory of a journal.
pub(super) const LOG_FILE: &str = "changes.log";

/// One file of a change, as it is recorded.
pub(crate) struct FileDraft<'a> {
    pub(crate) path: &'a str,
    pub(crate) role: Role,
    /// The current content, with the time of its last change in milliseconds.
    pub(crate) before: Option<(&'a [u8], i64)>,
    pub(crate) after: Option<&'a [u8]>,
}

/// What another program did to a few files at once.
pub(crate) struct FoundChange<'a> {
    /// The files as they are now.
    pub(crate) drafts: &'a [FileDraft<'a>],
    /// The earliest time of the change, in milliseconds; 0 if unknown.
    pub(crate) at: i64,
}

/// The journal of one mount.
#[derive(Debug)]
pub(crate) struct Journal {
    dir: PathBuf,
    /// The size in bytes beyond which the oldest changes are dropped.
    limit: u64,
    opened: Option<Opened>,
    /// The offsets of the damaged pieces that were met, with the number of records in each.
    damage: RefCell<BTreeMap<u64, u64>>,
}

#[derive(Debug)]
struct Opened {
    log: JournalFile,
    inode: u64,
    /// The end of the last settled record.
    covered: u64,
    table: RecordTable,
    /// The newest record of each file since the table was written.
    recent: HashMap<u64, u64>,
    since_table: usize,
    last: LastRecord,
    /// Whether compaction failed because a record is damaged. It is not tried again.
    cannot_compact: bool,
}

/// What is known of the last settled record.
#[derive(Debug)]
enum LastRecord {
    Unread,
    /// It belongs to a change of this mount only.
    Alone,
    /// It is a part of a change of several mounts.
    Shared(Box<PlacedRecord>),
}

impl Journal {
    pub(crate) fn new(dir: PathBuf, limit: u64) -> Self {
        Journal { dir, limit, opened: None, damage: RefCell::default() }
    }

    /// The directory of the journal.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether the journal exists. Fails if that is unknown, for example because its directory may not be entered.
    pub(crate) fn exists(&self) -> io::Result<bool> {
        match self.log_path().metadata() {
            Ok(meta) => Ok(meta.is_file()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// The number of damaged records that were met.
    pub(crate) fn damaged(&self) -> u64 {
        self.damage.borrow().values().sum()
    }

    /// Opens the journal for a change, creates it if necessary, and reads what other processes wrote. Only for the holder of the
    /// mount's lock.
    pub(crate) fn ready_to_write(&mut self) -> Result<()> {
        self.ready(true).map_err(|e| self.explain(e))
    }

    /// Opens the journal for reading, if it exists, and reads what other processes wrote.
    pub(crate) fn ready_to_read(&mut self) -> Result<bool> {
        self.ready(false)?;
        Ok(self.opened.is_some())
    }

    /// Returns the unfinished change at the end.
    pub(crate) fn unfinished(&self) -> Result<Option<PlacedRecord>> {
        let Some(opened) = &self.opened else { return Ok(None) };
        if opened.covered >= opened.log.len().map_err(|e| Error::io("read", &opened.log.path, e))? {
            return Ok(None);
        }
        Ok(opened.log.at(opened.covered).ok().filter(|placed| placed.state.is_unsettled()))
    }

    /// Returns the last settled record if it is a part of a change of several mounts.
    pub(crate) fn shared_last(&mut self) -> Option<PlacedRecord> {
        let opened = self.opened.as_mut()?;
        if matches!(opened.last, LastRecord::Unread) {
            let last = if opened.covered > START { opened.log.before(opened.covered).ok() } else { None };
            opened.last = LastRecord::from_record(last.as_ref());
        }
        match &opened.last {
            LastRecord::Shared(placed) => Some((**placed).clone()),
            LastRecord::Unread | LastRecord::Alone => None,
        }
    }

    /// Notes that all parts of the last change are settled.
    pub(crate) fn last_is_settled(&mut self) {
        if let Some(opened) = &mut self.opened {
            opened.last = LastRecord::Alone;
        }
    }

    /// Returns where the next record will begin.
    pub(crate) fn position(&self) -> Option<LogPosition> {
        let opened = self.opened.as_ref()?;
        Some(LogPosition { log: opened.log.random_name(), next: opened.covered, damaged: self.damaged_files() })
    }

    /// Records a change that is about to be applied; changes by other programs to its files are recorded before it.
    pub(crate) fn begin(&mut self, mut record: JournalRecord, drafts: &[FileDraft<'_>], state: RecordState) -> Result<PlacedRecord> {
        let found = self.external_changes(drafts, 0)?;
        let opened = self.opened.as_ref().ok_or_else(not_open)?;
        let mut frames = Vec::new();
        let mut found_at = None;
        if let Some((found, payload)) = found {
            found_at = Some((opened.covered, found.files.iter().map(|f| f.p.clone()).collect::<Vec<_>>()));
            frames = frame(&found, &payload, RecordState::Done, opened.covered);
        }
        let offset = opened.covered + frames.len() as u64;
        let mut payload = Vec::new();
        for draft in drafts {
            let base = match &found_at {
                Some((at, paths)) if paths.iter().any(|p| p == draft.path) => Some((*at, 0)),
                _ => self.newest(draft.path)?.map(|(placed, n)| (placed.offset, placed.record.files[n].depth)),
            };
            record.files.push(texts::file_record(draft, base, &mut payload));
        }
        frames.extend_from_slice(&frame(&record, &payload, state, offset));
        self.append(&frames)?;
        if let Some((at, _)) = found_at {
            self.learn_at(at)?;
        }
        let placed = self.opened.as_ref().ok_or_else(not_open)?.log.at(offset)?;
        if state == RecordState::Done {
            self.learn_at(offset)?;
        }
        Ok(placed)
    }

    /// Marks an open record as done or void.
    pub(crate) fn finish(&mut self, placed: &PlacedRecord, state: RecordState) -> Result<()> {
        let opened = self.opened.as_mut().ok_or_else(not_open)?;
        opened.log.note(placed, state).map_err(|e| Error::io("write", &opened.log.path, e))?;
        // A record after the covered part is read in its turn.
        if placed.offset == opened.covered { self.learn_at(placed.offset) } else { Ok(()) }
    }

    /// Marks an open record as failed, durably: its files have to be restored.
    pub(crate) fn failed(&self, placed: &PlacedRecord) {
        if let Some(opened) = &self.opened {
            // If this fails too, the record stays open, and recovery looks at its files.
            let _ = opened.log.note(placed, RecordState::Failed).and_then(|()| opened.log.sync());
        }
    }

    /// Records the version another program wrote, if it is new.
    pub(crate) fn record_found(&mut self, draft: &FileDraft<'_>) -> Result<()> {
        self.record_all_found(&[FoundChange { drafts: std::slice::from_ref(draft), at: 0 }])
    }

    /// Records what other programs did, each change in a record of its own, with one sync for all of them.
    pub(crate) fn record_all_found(&mut self, changes: &[FoundChange<'_>]) -> Result<()> {
        let mut end = self.opened.as_ref().ok_or_else(not_open)?.covered;
        let (mut frames, mut offsets) = (Vec::new(), Vec::new());
        for change in changes {
            if let Some((found, payload)) = self.external_changes(change.drafts, change.at)? {
                let record = frame(&found, &payload, RecordState::Done, end);
                offsets.push(end);
                end += record.len() as u64;
                frames.extend_from_slice(&record);
            }
        }
        if !frames.is_empty() {
            self.append(&frames)?;
        }
        offsets.into_iter().try_for_each(|at| self.learn_at(at))
    }

    /// Returns the stamp of the log, which grows with every record.
    pub(crate) fn mark(&self) -> Option<Stamp> {
        let stat = rustix::fs::stat(self.log_path()).ok()?;
        Some(super::walk::stamp(&stat))
    }

    /// The size on disk.
    pub(crate) fn bytes(&self) -> u64 {
        self.opened.as_ref().and_then(|opened| opened.log.len().ok()).unwrap_or(0)
    }

    fn log_path(&self) -> PathBuf {
        self.dir.join(LOG_FILE)
    }

    fn ready(&mut self, write: bool) -> Result<()> {
        let path = self.log_path();
        let on_disk = match path.metadata() {
            Ok(meta) => Some(meta.ino()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => return Err(Error::io("open the journal", &path, e)),
        };
        if self.opened.as_ref().is_none_or(|opened| Some(opened.inode) != on_disk || (write && !opened.log.writable)) {
            self.opened = None;
            if on_disk.is_none() && !write {
                return Ok(());
            }
            if on_disk.is_none() {
                create(&self.dir, &path)?;
            }
            match JournalFile::open(&path, write).map_err(|e| Error::io("open the journal", &path, e))? {
                Some(log) => {
                    if log.damaged_head {
                        self.notice_damage(0, 1);
                    }
                    self.opened = Some(Opened::new(log, &self.dir)?);
                }
                None if write => return self.set_aside(),
                None => {
                    let why = "its beginning cannot be read; set it aside with: memdir doctor --fix".into();
                    return Err(Error::Corrupt { what: path.display().to_string(), why, names_step: true });
                }
            }
        }
        self.catch_up(write)
    }

    /// Reads the records of other processes. A writer also repairs a torn end.
    fn catch_up(&mut self, write: bool) -> Result<()> {
        if let Some(opened) = &self.opened {
            let mut new = Vec::new();
            opened.log.settled_from(opened.covered, &mut |placed| new.push(placed.clone()))?;
            new.iter().for_each(|placed| self.learn(placed));
        }
        loop {
            let Some(opened) = &self.opened else { return Ok(()) };
            let len = opened.log.len().map_err(|e| Error::io("read the journal", &opened.log.path, e))?;
            let at = opened.covered;
            if at >= len {
                return Ok(());
            }
            match opened.log.at(at) {
                // An unknown state of the last record is derived from the files; an older one is damage.
                Ok(placed) if placed.state == RecordState::Unknown && opened.log.at(placed.end).is_ok() => {
                    self.notice_damage(at, 1);
                    self.learn(&placed);
                }
                Ok(placed) if placed.state.is_unsettled() => return Ok(()),
                Ok(placed) => self.learn(&placed),
                Err(Error::Corrupt { .. }) => match opened.log.resync(at, len)? {
                    Some(next) => self.skip_damage(at, next)?,
                    // A reader may see a record that is just being written.
                    None if !write => return Ok(()),
                    None => return self.cut_end(at),
                },
                Err(e) => return Err(e),
            }
        }
    }

    /// Returns a record of what other programs did to the files of a change, at the earliest at a time in milliseconds.
    fn external_changes(&self, drafts: &[FileDraft<'_>], earliest: i64) -> Result<Option<(JournalRecord, Vec<u8>)>> {
        let mut payload = Vec::new();
        let mut files = Vec::new();
        let mut at = earliest;
        for draft in drafts {
            let now = draft.before.map(|(bytes, _)| Version::from_content(bytes));
            let newest = self.newest(draft.path)?;
            let known = newest.as_ref().and_then(|(placed, n)| placed.record.files[*n].after);
            if known == now {
                continue;
            }
            // The time of a removal is unknown; it is at least the time of the last record.
            let last = newest.as_ref().map_or(0, |(placed, _)| placed.record.at);
            at = at.max(draft.before.map_or(last, |(_, at)| at));
            let bytes = draft.before.map_or(&[][..], |(bytes, _)| bytes);
            payload.extend_from_slice(bytes);
            files.push(FileRecord {
                p: draft.path.to_owned(),
                role: newest.as_ref().map_or(draft.role, |(placed, n)| placed.record.files[*n].role),
                before: known,
                after: now,
                pre: 0,
                suf: 0,
                n: bytes.len() as u64,
                prev: newest.map(|(placed, _)| placed.offset),
                depth: 0,
                back: None,
                forgotten: false,
            });
        }
        if files.is_empty() {
            return Ok(None);
        }
        let by = Actor { name: "another program".into(), session: None };
        let record = JournalRecord {
            id: new_id()?,
            at,
            by,
            verb: Verb::Found,
            undoes: None,
            key: None,
            files,
            peers: Vec::new(),
            parts: Vec::new(),
            cut: false,
        };
        Ok(Some((record, payload)))
    }

    fn append(&mut self, frames: &[u8]) -> Result<()> {
        let opened = self.opened.as_ref().ok_or_else(not_open)?;
        opened.log.append(opened.covered, frames).map_err(|e| {
            // The partial record is truncated; if this fails too, the next writer does it.
            let _ = opened.log.cut(opened.covered);
            self.explain(Error::io("write the journal", self.log_path(), e))
        })
    }

    /// Reads a settled record into memory.
    fn learn_at(&mut self, offset: u64) -> Result<()> {
        let placed = self.opened.as_ref().ok_or_else(not_open)?.log.at(offset)?;
        self.learn(&placed);
        Ok(())
    }

    fn learn(&mut self, placed: &PlacedRecord) {
        let Some(opened) = &mut self.opened else { return };
        if placed.state == RecordState::Done {
            for file in &placed.record.files {
                opened.recent.insert(table::key(&file.p), placed.offset);
            }
            opened.since_table += 1;
        }
        opened.covered = placed.end;
        opened.last = LastRecord::from_record(Some(placed));
    }

    /// Writes the table and compacts the log when they are due, after every part of a change is settled. Best effort: both can be
    /// done later.
    pub(crate) fn tidy(&mut self) {
        let Some(opened) = &mut self.opened else { return };
        if opened.since_table >= JOURNAL_TABLE_EVERY {
            opened.write_table(&self.dir);
        }
        if opened.covered <= self.limit || opened.cannot_compact {
            return;
        }
        match retain::compact(&self.dir, &opened.log, opened.covered, self.limit) {
            Ok(true) => {
                self.opened = None;
                let _ = self.ready(true);
            }
            Ok(false) => {}
            Err(_) => opened.cannot_compact = true,
        }
    }

    fn explain(&self, error: Error) -> Error {
        match error {
            Error::Io { source, .. } => Error::explained_unavailable(
                format!("cannot write the journal in {:?}", self.dir),
                format!("{source}; to move the journal, set `journal = \"PATH\"` for this mount"),
            ),
            other => other,
        }
    }
}

impl Opened {
    fn new(log: JournalFile, dir: &Path) -> Result<Self> {
        let inode = log.inode().map_err(|e| Error::io("open the journal", &log.path, e))?;
        let len = log.len().map_err(|e| Error::io("open the journal", &log.path, e))?;
        let table = RecordTable::load(&dir.join("heads"), log.name).filter(|table| table.covered <= len).unwrap_or_default();
        let covered = table.covered.max(START);
        let recent = HashMap::new();
        Ok(Opened { log, inode, covered, table, recent, since_table: 0, last: LastRecord::Unread, cannot_compact: false })
    }

    fn write_table(&mut self, dir: &Path) {
        self.table = self.table.merged(&self.recent, self.covered);
        self.recent.clear();
        self.since_table = 0;
        // Derived: without the table, opening reads the log from its beginning.
        let _ = self.table.save(&dir.join("heads"), self.log.name);
    }
}

impl LastRecord {
    fn from_record(placed: Option<&PlacedRecord>) -> LastRecord {
        match placed {
            Some(placed) if placed.record.parts.len() > 1 => LastRecord::Shared(Box::new(placed.clone())),
            _ => LastRecord::Alone,
        }
    }
}

/// Generates the id of a change: eight letters and digits without look-alikes.
pub(crate) fn new_id() -> Result<String> {
    ChangeId::generate().map(|id| id.0)
}

fn not_open() -> Error {
    Error::unavailable("the journal", "it is not open")
}

fn create(dir: &Path, path: &Path) -> Result<()> {
    disk::create_private_dir(dir).map_err(|e| Error::io("create the journal in", dir, e))?;
    super::fault::kill_point();
    write_new(path, &frame::head(0)?).map_err(|e| Error::io("create the journal", path, e))
}

/// Replaces a file of the journal. Only for the holder of the mount's lock.
fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    disk::replace(path, Replace { temp: TempName::Reused, ..Replace::DURABLE }, |file| file.write_all(bytes))
}
