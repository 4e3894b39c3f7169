//! The file of the journal: consecutive records, each with its length at both ends and a checksum. Only the state of a record is
//! ever changed in place; it is four bytes that depend on the checksum, so that a flipped bit in them is noticed too. A record that
//! was torn by a crash is the last one and is truncated. A damaged record is skipped: the next valid one is searched for.

use super::{
    super::fault,
    frame::{BACK, HEAD, PlacedRecord, RecordStart, START, is_mark, number},
    record::{FileRecord, RecordState},
};
use crate::base::error::{Error, Result};
use std::{
    fs::File,
    io,
    os::unix::fs::{FileExt as _, MetadataExt as _},
    path::{Path, PathBuf},
};

/// A piece of the log.
pub(crate) enum LogPiece {
    Record(Box<PlacedRecord>),
    /// Damaged bytes between two offsets.
    Hole(u64, u64),
}

/// An open journal file.
#[derive(Debug)]
pub(crate) struct JournalFile {
    file: File,
    pub(crate) path: PathBuf,
    pub(crate) name: [u8; 16],
    pub(crate) writable: bool,
    pub(crate) damaged_head: bool,
}

impl JournalFile {
    /// Opens a journal file; `None` if it is not one. Records after a damaged head are enough.
    pub(crate) fn open(path: &Path, write: bool) -> io::Result<Option<JournalFile>> {
        let file = File::options().read(true).write(write).open(path)?;
        let mut head = [0; START as usize];
        if file.read_exact_at(&mut head, 0).is_err() {
            return Ok(None);
        }
        let mut name = [0; 16];
        name.copy_from_slice(&head[16..]);
        let damaged_head = &head[..16] != HEAD;
        let log = JournalFile { file, path: path.to_owned(), name, writable: write, damaged_head };
        // Without its head and first record it is still a journal if any later record is whole.
        let has_record = || log.at(START).is_ok() || log.len().is_ok_and(|len| matches!(log.resync(START, len), Ok(Some(_))));
        Ok(if damaged_head && !has_record() { None } else { Some(log) })
    }

    pub(crate) fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// The random name of the log.
    pub(crate) fn random_name(&self) -> u64 {
        number(&self.name[..8])
    }

    /// The length of the log when it was last compacted, unless it is damaged.
    pub(crate) fn floor(&self) -> u64 {
        let floor = number(&self.name[8..]);
        if self.len().is_ok_and(|len| floor <= len) { floor } else { 0 }
    }

    pub(crate) fn inode(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.ino())
    }

    /// Reads the record at an offset; fails if it is torn or damaged.
    pub(crate) fn at(&self, offset: u64) -> Result<PlacedRecord> {
        let whole = self.whole_at(offset)?.ok_or_else(|| self.damaged(offset))?;
        let mut bytes = vec![0; whole as usize];
        self.read(&mut bytes, offset)?;
        self.parse(&bytes, offset)
    }

    /// Returns the length of the record at an offset according to its front, if the log is long enough for it.
    fn whole_at(&self, offset: u64) -> Result<Option<u64>> {
        let mut front = [0; 13];
        self.read(&mut front, offset)?;
        let len = self.len().map_err(|e| Error::io("read", &self.path, e))?;
        Ok(RecordStart::parse(&front).map(|front| front.whole()).filter(|whole| offset + whole <= len))
    }

    /// Returns the end of the record at an offset if both of its lengths agree, although its content may be damaged.
    pub(crate) fn framed_end(&self, offset: u64) -> Result<Option<u64>> {
        let whole = match self.whole_at(offset) {
            Ok(Some(whole)) => whole,
            Ok(None) | Err(Error::Corrupt { .. }) => return Ok(None),
            Err(e) => return Err(e),
        };
        let mut back = [0; 4];
        self.read(&mut back, offset + whole - 4)?;
        Ok((number(&back) == whole).then_some(offset + whole))
    }

    /// Whether the bytes from an offset to the end are a whole record, as one of its two lengths says, and not one that a crash cut
    /// short or that is just being written.
    pub(crate) fn is_whole_tail(&self, offset: u64) -> Result<bool> {
        let len = self.len().map_err(|e| Error::io("read", &self.path, e))?;
        if len < offset + BACK + 10 {
            return Ok(false);
        }
        let mut back = [0; 4];
        self.read(&mut back, len - 4)?;
        Ok(number(&back) == len - offset || self.whole_at(offset)? == Some(len - offset))
    }

    /// Finds the first valid record after a damaged one. A record whose lengths agree is skipped as a whole.
    pub(crate) fn resync(&self, damaged: u64, end: u64) -> Result<Option<u64>> {
        const AT_ONCE: u64 = 1 << 20;
        let mut from = damaged + 1;
        let mut framed = damaged;
        while let Some(after) = self.framed_end(framed)?.filter(|after| *after < end) {
            if self.at(after).is_ok() {
                return Ok(Some(after));
            }
            framed = after;
        }
        while from < end {
            let mut bytes = vec![0; (end - from).min(AT_ONCE) as usize];
            self.read(&mut bytes, from)?;
            for (n, byte) in bytes.iter().enumerate() {
                let offset = from + n as u64;
                // The length at the end is compared first: the content of almost no candidate is read.
                if is_mark(*byte) && self.framed_end(offset)?.is_some() && self.at(offset).is_ok() {
                    return Ok(Some(offset));
                }
            }
            from += bytes.len() as u64;
        }
        Ok(None)
    }

    /// Calls `each` with the records and the damaged pieces between two offsets, from the oldest to the newest.
    pub(crate) fn pieces(&self, from: u64, end: u64, each: &mut dyn FnMut(LogPiece) -> Result<()>) -> Result<()> {
        let mut at = from;
        while at < end {
            match self.at(at) {
                Ok(placed) => {
                    at = placed.end;
                    each(LogPiece::Record(Box::new(placed)))?;
                }
                Err(Error::Corrupt { .. }) => {
                    let next = self.resync(at, end)?.unwrap_or(end);
                    each(LogPiece::Hole(at, next))?;
                    at = next;
                }
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Returns the number of records in a damaged piece, if it can be determined.
    pub(crate) fn records_in(&self, hole: (u64, u64)) -> Result<u64> {
        let (mut at, mut count) = (hole.0, 1);
        while let Some(after) = self.framed_end(at)?.filter(|after| *after < hole.1) {
            at = after;
            count += 1;
        }
        Ok(count)
    }

    /// Reads the bytes between two offsets.
    pub(crate) fn bytes(&self, from: u64, end: u64) -> Result<Vec<u8>> {
        let mut bytes = vec![0; (end - from) as usize];
        self.read(&mut bytes, from)?;
        Ok(bytes)
    }

    /// Calls `each` with the records from an offset on, with one read for all of them instead of several for each. Stops before the
    /// first record that is unsettled, torn, or beyond the bytes that are read at once.
    pub(crate) fn settled_from(&self, offset: u64, each: &mut dyn FnMut(&PlacedRecord)) -> Result<()> {
        const AT_ONCE: u64 = 1 << 20;
        let len = self.len().map_err(|e| Error::io("read", &self.path, e))?;
        let mut bytes = vec![0; len.saturating_sub(offset).min(AT_ONCE) as usize];
        self.read(&mut bytes, offset)?;
        let mut at = 0;
        while let Ok(placed) = self.parse(&bytes[at..], offset + at as u64) {
            if placed.state.is_unsettled() {
                break;
            }
            each(&placed);
            at = (placed.end - offset) as usize;
        }
        Ok(())
    }

    fn parse(&self, bytes: &[u8], offset: u64) -> Result<PlacedRecord> {
        PlacedRecord::parse(bytes, offset).ok_or_else(|| self.damaged(offset))
    }

    /// Reads the record that ends at `end`.
    pub(crate) fn before(&self, end: u64) -> Result<PlacedRecord> {
        let mut back = [0; 4];
        if end < START + BACK + 10 {
            return Err(self.damaged(end));
        }
        self.read(&mut back, end - 4)?;
        let offset = end.checked_sub(number(&back)).filter(|at| *at >= START).ok_or_else(|| self.damaged(end))?;
        let placed = self.at(offset)?;
        if placed.end == end { Ok(placed) } else { Err(self.damaged(end)) }
    }

    /// Reads the payload of one file of a record: the bytes of its new text, and those of its old one.
    pub(crate) fn payload(&self, placed: &PlacedRecord, file: usize) -> Result<(Vec<u8>, Vec<u8>)> {
        let skip: u64 = placed.record.files[..file].iter().map(FileRecord::payload_len).sum();
        let mut bytes = vec![0; placed.record.files[file].payload_len() as usize];
        self.read(&mut bytes, placed.payload + skip)?;
        let old = bytes.split_off(placed.record.files[file].n as usize);
        Ok((bytes, old))
    }

    /// Appends frames and syncs them.
    pub(crate) fn append(&self, at: u64, frames: &[u8]) -> io::Result<()> {
        fault::point()?;
        // A process may be killed in the middle of a write.
        let (half, rest) = frames.split_at(if fault::ENABLED { frames.len() / 2 } else { 0 });
        self.file.write_all_at(half, at)?;
        fault::kill_point();
        self.file.write_all_at(rest, at + half.len() as u64)?;
        fault::point()?;
        self.file.sync_data()
    }

    /// Sets the state of a record; needs no disk space. Not synced: recovery derives a lost state from the journals and the files.
    pub(crate) fn note(&self, placed: &PlacedRecord, state: RecordState) -> io::Result<()> {
        fault::kill_point();
        self.file.write_all_at(&placed.state_bytes(state), placed.offset + 1)?;
        fault::kill_point();
        Ok(())
    }

    /// Makes the states of all records durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        fault::kill_point();
        self.file.sync_data()
    }

    /// Truncates the log.
    pub(crate) fn cut(&self, len: u64) -> io::Result<()> {
        fault::kill_point();
        self.file.set_len(len)
    }

    fn read(&self, into: &mut [u8], at: u64) -> Result<()> {
        self.file.read_exact_at(into, at).map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => self.damaged(at),
            _ => Error::io("read", &self.path, e),
        })
    }

    fn damaged(&self, at: u64) -> Error {
        Error::Corrupt { names_step: false, what: self.path.display().to_string(), why: format!("the record at byte {at} is invalid") }
    }
}
