//! The journal of one mount: a record of every change, with the text of each file. It is written before the files, so that
//! recovery can tell a complete change from an interrupted one. It lies outside the mount and is never searched.

mod log;
mod retain;
mod table;

use crate::{
    base::{
        disk::{self, Replace, TempName},
        error::{Error, Result},
        limits,
        version::Version,
    },
    store::{Actor, Role, Stamp, Verb},
};
pub(crate) use log::{FileRecord, Placed, Progress, Record};
use log::{Log, START, frame};
use std::{
    collections::HashMap,
    io::{self, Write as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};
use table::Table;

/// One file of a change, as it is recorded.
pub(crate) struct Draft<'a> {
    pub(crate) path: &'a str,
    pub(crate) role: Role,
    /// The current content, with its modification time in milliseconds.
    pub(crate) before: Option<(&'a [u8], i64)>,
    pub(crate) after: Option<&'a [u8]>,
}

/// The journal of one mount.
#[derive(Debug)]
pub(crate) struct Journal {
    dir: PathBuf,
    /// The size in bytes beyond which the oldest changes are dropped.
    limit: u64,
    opened: Option<Opened>,
}

#[derive(Debug)]
struct Opened {
    log: Log,
    inode: u64,
    /// The end of the last settled record.
    covered: u64,
    table: Table,
    /// The newest record of each file since the table was written.
    recent: HashMap<u64, u64>,
    since_table: usize,
}

impl Journal {
    pub(crate) fn new(dir: PathBuf, limit: u64) -> Self {
        Journal { dir, limit, opened: None }
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
    pub(crate) fn unfinished(&self) -> Result<Option<Placed>> {
        let Some(opened) = &self.opened else { return Ok(None) };
        if opened.covered >= opened.log.len().map_err(|e| Error::io("read", &opened.log.path, e))? {
            return Ok(None);
        }
        Ok(opened.log.at(opened.covered).ok().filter(|placed| placed.progress.is_unsettled()))
    }

    /// Returns the newest recorded version of a file: `None` if the journal does not have the file, `Some(None)` if it was removed.
    pub(crate) fn latest(&self, path: &str) -> Result<Option<Option<Version>>> {
        Ok(self.newest(path)?.map(|(placed, n)| placed.record.files[n].after))
    }

    /// Records a change that is about to be applied; changes by other programs to its files are recorded before it.
    pub(crate) fn begin(&mut self, mut record: Record, drafts: &[Draft<'_>], progress: Progress) -> Result<Placed> {
        let found = self.external_changes(drafts)?;
        let opened = self.opened.as_ref().ok_or_else(not_open)?;
        let mut frames = Vec::new();
        let mut found_at = None;
        if let Some((found, payload)) = found {
            found_at = Some((opened.covered, found.files.iter().map(|f| f.p.clone()).collect::<Vec<_>>()));
            frames = frame(&found, &payload, Progress::Done);
        }
        let offset = opened.covered + frames.len() as u64;
        let mut payload = Vec::new();
        for draft in drafts {
            let base = match &found_at {
                Some((at, paths)) if paths.iter().any(|p| p == draft.path) => Some((*at, 0)),
                _ => self.newest(draft.path)?.map(|(placed, n)| (placed.offset, placed.record.files[n].depth)),
            };
            record.files.push(file_record(draft, base, &mut payload));
        }
        frames.extend_from_slice(&frame(&record, &payload, progress));
        self.append(&frames)?;
        if let Some((at, _)) = found_at {
            self.learn_at(at)?;
        }
        let placed = self.opened.as_ref().ok_or_else(not_open)?.log.at(offset)?;
        if progress == Progress::Done {
            self.learn_at(offset)?;
        }
        Ok(placed)
    }

    /// Marks an open record as done or void.
    pub(crate) fn finish(&mut self, placed: &Placed, progress: Progress) -> Result<()> {
        let opened = self.opened.as_mut().ok_or_else(not_open)?;
        opened.log.note(placed.offset, progress).map_err(|e| Error::io("write", &opened.log.path, e))?;
        self.learn_at(placed.offset)?;
        self.tidy();
        Ok(())
    }

    /// Marks an open record as failed: its files may have to be restored.
    pub(crate) fn failed(&self, placed: &Placed) {
        if let Some(opened) = &self.opened {
            // If this fails too, the record stays open, and recovery looks at its files.
            let _ = opened.log.note(placed.offset, Progress::Failed);
        }
    }

    /// Records the version another program wrote, if it is new.
    pub(crate) fn record_found(&mut self, draft: &Draft<'_>) -> Result<()> {
        let Some((found, payload)) = self.external_changes(std::slice::from_ref(draft))? else { return Ok(()) };
        let at = self.opened.as_ref().ok_or_else(not_open)?.covered;
        self.append(&frame(&found, &payload, Progress::Done))?;
        self.learn_at(at)
    }

    /// Calls `each` with the records from the newest to the oldest, without void ones, until it returns `false`.
    pub(crate) fn newest_first(&self, mut each: impl FnMut(&Placed) -> bool) -> Result<()> {
        let Some(opened) = &self.opened else { return Ok(()) };
        let mut end = opened.covered;
        while end > START {
            let placed = opened.log.before(end)?;
            if placed.progress == Progress::Done && !each(&placed) {
                break;
            }
            end = placed.offset;
        }
        Ok(())
    }

    /// Calls `each` with the records of one file, from the newest to the oldest, until it returns `false`.
    pub(crate) fn for_each_of_file(&self, path: &str, mut each: impl FnMut(&Placed, usize) -> bool) -> Result<()> {
        let mut at = self.newest(path)?;
        while let Some((placed, n)) = at {
            if !each(&placed, n) {
                break;
            }
            at = match placed.record.files[n].prev {
                Some(prev) => self.file_at(prev, path)?,
                None => None,
            };
        }
        Ok(())
    }

    /// Returns the content of a file at a version.
    pub(crate) fn text(&self, path: &str, version: Version) -> Result<Option<Vec<u8>>> {
        let mut chain: Vec<(Placed, usize)> = Vec::new();
        self.for_each_of_file(path, |placed, n| {
            let file = &placed.record.files[n];
            if chain.is_empty() && file.after != Some(version) {
                return true;
            }
            chain.push((placed.clone(), n));
            file.depth > 0
        })?;
        let Some(opened) = &self.opened else { return Ok(None) };
        let mut text: Option<Vec<u8>> = None;
        for (placed, n) in chain.iter().rev() {
            let file = &placed.record.files[*n];
            let payload = opened.log.payload(placed, *n)?;
            text = Some(apply(text.as_deref().unwrap_or_default(), file, payload));
        }
        match text {
            Some(text) if Version::from_content(&text) == version => Ok(Some(text)),
            Some(_) => Err(Error::Corrupt {
                what: opened.log.path.display().to_string(),
                why: format!("version {version} of {path} cannot be restored"),
            }),
            None => Ok(None),
        }
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
        self.dir.join("changes.log")
    }

    fn ready(&mut self, write: bool) -> Result<()> {
        let path = self.log_path();
        let on_disk = path.metadata().map(|meta| meta.ino()).ok();
        if self.opened.as_ref().is_none_or(|opened| Some(opened.inode) != on_disk || (write && !opened.log.writable)) {
            self.opened = None;
            if on_disk.is_none() && !write {
                return Ok(());
            }
            if on_disk.is_none() {
                create(&self.dir, &path)?;
            }
            match Log::open(&path, write).map_err(|e| Error::io("open the journal", &path, e))? {
                Some(log) => self.opened = Some(Opened::new(log, &self.dir)?),
                None if write => return self.set_aside(),
                None => return Ok(()),
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
                Ok(placed) if placed.progress.is_unsettled() => return Ok(()),
                Ok(placed) => self.learn(&placed),
                // A reader may see a record that is just being written.
                Err(Error::Corrupt { .. }) if !write => return Ok(()),
                Err(Error::Corrupt { .. }) if is_torn(&opened.log, at, len) => {
                    return opened.log.cut(at).map_err(|e| Error::io("repair the journal", &opened.log.path, e));
                }
                Err(Error::Corrupt { .. }) => return self.set_aside(),
                Err(e) => return Err(e),
            }
        }
    }

    /// Renames a damaged journal and creates a new one.
    fn set_aside(&mut self) -> Result<()> {
        self.opened = None;
        let path = self.log_path();
        let aside = (1..).map(|n| self.dir.join(format!("damaged-{n}.log"))).find(|path| !path.exists());
        if let Some(aside) = aside {
            rename(&path, &aside)?;
        }
        self.ready(true)
    }

    /// Returns a record of what other programs did to the files of a change.
    fn external_changes(&self, drafts: &[Draft<'_>]) -> Result<Option<(Record, Vec<u8>)>> {
        let mut payload = Vec::new();
        let mut files = Vec::new();
        let mut at = 0;
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
            });
        }
        if files.is_empty() {
            return Ok(None);
        }
        let by = Actor { name: "another program".into(), session: None };
        let record = Record { id: new_id()?, at, by, verb: Verb::Found, undoes: None, files, peers: Vec::new() };
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

    fn learn(&mut self, placed: &Placed) {
        let Some(opened) = &mut self.opened else { return };
        if placed.progress == Progress::Done {
            for file in &placed.record.files {
                opened.recent.insert(table::key(&file.p), placed.offset);
            }
            opened.since_table += 1;
        }
        opened.covered = placed.end;
    }

    /// Writes the table and compacts the log when they are due. Best effort: both can be done later.
    fn tidy(&mut self) {
        let Some(opened) = &mut self.opened else { return };
        if opened.since_table >= limits::JOURNAL_TABLE_EVERY {
            opened.write_table(&self.dir);
        }
        if opened.covered > self.limit && retain::compact(&self.dir, &opened.log, opened.covered, self.limit).unwrap_or(false) {
            self.opened = None;
            let _ = self.ready(true);
        }
    }

    fn newest(&self, path: &str) -> Result<Option<(Placed, usize)>> {
        let Some(opened) = &self.opened else { return Ok(None) };
        let key = table::key(path);
        match opened.recent.get(&key).copied().or_else(|| opened.table.get(key)) {
            Some(offset) => self.file_at(offset, path),
            None => Ok(None),
        }
    }

    fn file_at(&self, offset: u64, path: &str) -> Result<Option<(Placed, usize)>> {
        let Some(opened) = &self.opened else { return Ok(None) };
        let placed = opened.log.at(offset)?;
        let n = placed.record.files.iter().position(|file| file.p == path);
        Ok(n.map(|n| (placed, n)))
    }

    fn explain(&self, error: Error) -> Error {
        match error {
            Error::Io { source, .. } => Error::Unavailable {
                what: format!("cannot write the journal in {:?}", self.dir),
                why: format!("{source}; to move the journal, set journal = \"PATH\" for this mount"),
            },
            other => other,
        }
    }
}

impl Opened {
    fn new(log: Log, dir: &Path) -> Result<Self> {
        let inode = log.inode().map_err(|e| Error::io("open the journal", &log.path, e))?;
        let len = log.len().map_err(|e| Error::io("open the journal", &log.path, e))?;
        let table = Table::load(&dir.join("heads"), log.name).filter(|table| table.covered <= len).unwrap_or_default();
        let covered = table.covered.max(START);
        Ok(Opened { log, inode, covered, table, recent: HashMap::new(), since_table: 0 })
    }

    fn write_table(&mut self, dir: &Path) {
        self.table = self.table.merged(&self.recent, self.covered);
        self.recent.clear();
        self.since_table = 0;
        // Derived: without the table, opening reads the log from its beginning.
        let _ = self.table.save(&dir.join("heads"), self.log.name);
    }
}

/// Generates the id of a change: eight letters and digits without look-alikes.
pub(crate) fn new_id() -> Result<String> {
    const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|e| Error::Unavailable { what: "random numbers".into(), why: e.to_string() })?;
    Ok(random.iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect())
}

fn not_open() -> Error {
    Error::Unavailable { what: "the journal".into(), why: "it is not open".into() }
}

fn file_record(draft: &Draft<'_>, base: Option<(u64, u32)>, payload: &mut Vec<u8>) -> FileRecord {
    let (old, new) = (draft.before.map_or(&[][..], |(bytes, _)| bytes), draft.after.unwrap_or_default());
    let (pre, suf) = match base {
        Some((_, depth)) if depth < limits::JOURNAL_CHAIN && draft.before.is_some() && draft.after.is_some() => common(old, new),
        _ => (0, 0),
    };
    // A difference that shares little with the old text is not worth a longer chain.
    let (pre, suf) = if pre + suf >= new.len() / 2 { (pre, suf) } else { (0, 0) };
    let middle = &new[pre..new.len() - suf];
    payload.extend_from_slice(middle);
    let whole = pre + suf == 0;
    FileRecord {
        p: draft.path.to_owned(),
        role: draft.role,
        before: draft.before.map(|(bytes, _)| Version::from_content(bytes)),
        after: draft.after.map(Version::from_content),
        pre: pre as u64,
        suf: suf as u64,
        n: middle.len() as u64,
        prev: base.map(|(offset, _)| offset),
        depth: if whole { 0 } else { base.map_or(0, |(_, depth)| depth + 1) },
    }
}

/// Returns the lengths of the common prefix and suffix of two texts, without overlap.
fn common(old: &[u8], new: &[u8]) -> (usize, usize) {
    let pre = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - pre;
    let suf = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    (pre, suf)
}

fn apply(before: &[u8], file: &FileRecord, payload: Vec<u8>) -> Vec<u8> {
    if file.depth == 0 {
        return payload;
    }
    let pre = before.get(..file.pre as usize).unwrap_or_default();
    let suf = before.len().checked_sub(file.suf as usize).and_then(|at| before.get(at..)).unwrap_or_default();
    [pre, &payload, suf].concat()
}

/// Whether the bytes from `at` on are a record that a crash cut short: no complete record follows.
fn is_torn(log: &Log, at: u64, len: u64) -> bool {
    const LOOK: u64 = 1 << 20;
    (at + 1..len.min(at + LOOK)).all(|offset| log.at(offset).is_err()) && len - at <= 2 * limits::DIALECT_FILE_BYTES as u64 + LOOK
}

fn create(dir: &Path, path: &Path) -> Result<()> {
    disk::create_private_dir(dir).map_err(|e| Error::io("create the journal in", dir, e))?;
    write_new(path, &log::head(0)?).map_err(|e| Error::io("create the journal", path, e))
}

/// Replaces a file of the journal. Only for the holder of the mount's lock.
fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    disk::replace(path, Replace { temp: TempName::Reused, ..Replace::DURABLE }, |file| file.write_all(bytes))
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    rustix::fs::rename(from, to).map_err(|e| Error::io("set aside", from, e.into()))
}
