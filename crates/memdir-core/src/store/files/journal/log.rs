//! The file of the journal: consecutive records, each with its length at both ends and a checksum. Only the state of a record is
//! ever changed in place; it is four bytes that depend on the checksum, so that a flipped bit in them is noticed too. A record that
//! was torn by a crash is the last one and is truncated. A damaged record is skipped: the next valid one is searched for.

use super::super::fault;
use crate::{
    base::{
        error::{Error, Result},
        version::Version,
    },
    store::{Actor, Role, Verb},
};
use serde::{Deserialize, Serialize};
use std::{
    fs::File,
    io,
    os::unix::fs::{FileExt as _, MetadataExt as _},
    path::{Path, PathBuf},
};

/// The state of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Recorded; its files may not be written yet.
    Open = 0,
    /// Applied: its files have the new content.
    Done = 1,
    /// Rolled back before it was acknowledged.
    Void = 2,
    /// Failed, and not rolled back yet.
    Failed = 3,
    /// The state is damaged; the record itself is not.
    Unknown = 4,
}

impl Progress {
    /// Whether recovery has to check the files of the record before anything else is written.
    pub(crate) fn is_unsettled(self) -> bool {
        matches!(self, Progress::Open | Progress::Failed | Progress::Unknown)
    }
}

/// One change in one mount.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) id: String,
    /// Milliseconds since 1970.
    pub(crate) at: i64,
    pub(crate) by: Actor,
    pub(crate) verb: Verb,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) undoes: Option<String>,
    pub(crate) files: Vec<FileRecord>,
    /// Roots of the other mounts the same change touches, in records of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) peers: Vec<PathBuf>,
    /// All parts of a change of several mounts, with this one; empty for a change of one mount.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) parts: Vec<ChangePart>,
    /// Whether compaction dropped other files of the change, or the text before it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) cut: bool,
}

impl Record {
    /// The roots of the mounts the change touches, which may include the record's own.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &Path> {
        self.peers.iter().map(PathBuf::as_path).chain(self.parts.iter().map(|part| part.root.as_path()))
    }
}

/// One mount of a change of several mounts: what a process needs to settle the change there without any other configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChangePart {
    /// The canonical root of the mount.
    #[serde(with = "path_bytes")]
    pub(crate) root: PathBuf,
    /// The directory of its journal.
    #[serde(with = "path_bytes")]
    pub(crate) journal: PathBuf,
    /// The directory whose lock protects the mount.
    #[serde(with = "path_bytes")]
    pub(crate) lock: PathBuf,
    /// Whether links that stay below the root are followed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) inside: bool,
    /// The directories into which links that lead out are followed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) links: Vec<PathBuf>,
}

/// Paths in JSON: a string, or the bytes of a path that is not UTF-8.
mod path_bytes {
    use serde::{Deserialize, Deserializer, Serialize as _, Serializer};
    use std::{
        ffi::OsString,
        os::unix::ffi::{OsStrExt as _, OsStringExt as _},
        path::{Path, PathBuf},
    };

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum PathOrBytes {
        Text(PathBuf),
        Bytes(Vec<u8>),
    }

    pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        match path.to_str() {
            Some(text) => text.serialize(serializer),
            None => path.as_os_str().as_bytes().serialize(serializer),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        Ok(match PathOrBytes::deserialize(deserializer)? {
            PathOrBytes::Text(path) => path,
            PathOrBytes::Bytes(bytes) => OsString::from_vec(bytes).into(),
        })
    }
}

/// What a change does to one file. Its new text is `before[..pre] + payload + before[len - suf..]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileRecord {
    /// Path in the mount.
    pub(crate) p: String,
    #[serde(rename = "r", default = "memory", skip_serializing_if = "is_memory")]
    pub(crate) role: Role,
    #[serde(rename = "b", default, skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<Version>,
    #[serde(rename = "a", default, skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<Version>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) pre: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) suf: u64,
    /// Bytes of payload.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) n: u64,
    /// The offset of the previous record of the same file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) prev: Option<u64>,
    /// The number of records back to the last complete text.
    #[serde(default, skip_serializing_if = "is_zero32")]
    pub(crate) depth: u32,
    /// How the old text follows from the new one, so that a version is found from both sides of a damaged record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) back: Option<BackDifference>,
}

impl FileRecord {
    /// The bytes of its payload: those of the new text, then those of the old one.
    fn payload_len(&self) -> u64 {
        self.n + self.back.as_ref().map_or(0, |back| back.n)
    }
}

/// The old text is `after[..pre] + payload + after[len - suf..]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BackDifference {
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) pre: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) suf: u64,
    /// Bytes of payload, after those of the new text.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) n: u64,
}

fn memory() -> Role {
    Role::Memory
}
fn is_memory(role: &Role) -> bool {
    *role == Role::Memory
}
fn is_false(flag: &bool) -> bool {
    !flag
}
fn is_zero(n: &u64) -> bool {
    *n == 0
}
fn is_zero32(n: &u32) -> bool {
    *n == 0
}

/// A record with its position.
#[derive(Debug, Clone)]
pub(crate) struct Placed {
    pub(crate) offset: u64,
    pub(crate) end: u64,
    pub(crate) progress: Progress,
    pub(crate) record: Record,
    /// The offset of the payload.
    pub(crate) payload: u64,
    sum: [u8; 8],
    layout: RecordLayout,
}

const HEAD: &[u8; 16] = b"memdir journal1\n";
/// The bytes before the first record: the head and the random name of the log.
pub(crate) const START: u64 = 32;
/// Checksum and whole length.
const BACK: u64 = 12;

/// How a record begins. Records of both layouts may be in one log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecordLayout {
    /// Mark, one byte of state outside the checksum, two lengths. Only read.
    Plain,
    /// Mark, four bytes of state derived from the checksum, two lengths. The checksum depends on the offset of the record, so that
    /// a copy of a journal inside a memory is never mistaken for a record.
    Sealed,
}

impl RecordLayout {
    fn from_mark(mark: u8) -> Option<RecordLayout> {
        match mark {
            0xA5 => Some(RecordLayout::Plain),
            0xA6 => Some(RecordLayout::Sealed),
            _ => None,
        }
    }

    /// The bytes of the state.
    fn state_len(self) -> usize {
        if self == RecordLayout::Plain { 1 } else { 4 }
    }

    /// The bytes before the header: mark, state, two lengths.
    fn front_len(self) -> usize {
        1 + self.state_len() + 8
    }

    fn checksum(self, offset: u64, lengths: &[u8], body: &[u8]) -> [u8; 8] {
        let mut hasher = blake3::Hasher::new();
        if self == RecordLayout::Sealed {
            hasher.update(&offset.to_be_bytes());
        }
        hasher.update(lengths).update(body);
        first_bytes(&hasher)
    }

    fn state(self, bytes: &[u8], sum: [u8; 8]) -> Progress {
        let all = [Progress::Open, Progress::Done, Progress::Void, Progress::Failed];
        all.into_iter().find(|progress| self.state_bytes(*progress, sum) == bytes).unwrap_or(Progress::Unknown)
    }

    fn state_bytes(self, progress: Progress, sum: [u8; 8]) -> Vec<u8> {
        if self == RecordLayout::Plain {
            return vec![progress as u8];
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update(&sum).update(&[progress as u8]);
        first_bytes::<4>(&hasher).to_vec()
    }
}

fn first_bytes<const N: usize>(hasher: &blake3::Hasher) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&hasher.finalize().as_bytes()[..N]);
    bytes
}

/// The beginning of a record: its layout and the lengths of header and payload.
struct Front {
    layout: RecordLayout,
    header: u64,
    payload: u64,
}

impl Front {
    fn parse(bytes: &[u8]) -> Option<Front> {
        let layout = RecordLayout::from_mark(*bytes.first()?)?;
        let lengths = bytes.get(1 + layout.state_len()..layout.front_len())?;
        Some(Front { layout, header: number(&lengths[..4]), payload: number(&lengths[4..]) })
    }

    /// The length of the whole record.
    fn whole(&self) -> u64 {
        self.layout.front_len() as u64 + self.header + self.payload + BACK
    }
}

/// A piece of the log.
pub(crate) enum LogPiece {
    Record(Box<Placed>),
    /// Damaged bytes between two offsets.
    Hole(u64, u64),
}

/// An open journal file.
#[derive(Debug)]
pub(crate) struct Log {
    file: File,
    pub(crate) path: PathBuf,
    pub(crate) name: [u8; 16],
    pub(crate) writable: bool,
    pub(crate) damaged_head: bool,
}

impl Log {
    /// Opens a journal file; `None` if it is not one. Records after a damaged head are enough.
    pub(crate) fn open(path: &Path, write: bool) -> io::Result<Option<Log>> {
        let file = File::options().read(true).write(write).open(path)?;
        let mut head = [0; START as usize];
        if file.read_exact_at(&mut head, 0).is_err() {
            return Ok(None);
        }
        let mut name = [0; 16];
        name.copy_from_slice(&head[16..]);
        let damaged_head = &head[..16] != HEAD;
        let log = Log { file, path: path.to_owned(), name, writable: write, damaged_head };
        // Without its head and first record it is still a journal if any later record is whole.
        let has_record = || log.at(START).is_ok() || log.len().is_ok_and(|len| matches!(log.resync(START, len), Ok(Some(_))));
        Ok(if damaged_head && !has_record() { None } else { Some(log) })
    }

    pub(crate) fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
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
    pub(crate) fn at(&self, offset: u64) -> Result<Placed> {
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
        Ok(Front::parse(&front).map(|front| front.whole()).filter(|whole| offset + whole <= len))
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
                if RecordLayout::from_mark(*byte).is_some() && self.framed_end(offset)?.is_some() && self.at(offset).is_ok() {
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

    /// The number of records in a damaged piece, as far as it can be told.
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
    pub(crate) fn settled_from(&self, offset: u64, each: &mut dyn FnMut(&Placed)) -> Result<()> {
        const AT_ONCE: u64 = 1 << 20;
        let len = self.len().map_err(|e| Error::io("read", &self.path, e))?;
        let mut bytes = vec![0; len.saturating_sub(offset).min(AT_ONCE) as usize];
        self.read(&mut bytes, offset)?;
        let mut at = 0;
        while let Ok(placed) = self.parse(&bytes[at..], offset + at as u64) {
            if placed.progress.is_unsettled() {
                break;
            }
            each(&placed);
            at = (placed.end - offset) as usize;
        }
        Ok(())
    }

    /// Parses the record at the beginning of `bytes`.
    fn parse(&self, bytes: &[u8], offset: u64) -> Result<Placed> {
        let damaged = || self.damaged(offset);
        let front = Front::parse(bytes).ok_or_else(damaged)?;
        let layout = front.layout;
        let (state, rest) = bytes[1..].split_at(layout.state_len());
        let (lengths, rest) = rest.split_at(8);
        let body = rest.get(..(front.header + front.payload) as usize).ok_or_else(damaged)?;
        let back = rest.get(body.len()..body.len() + BACK as usize).ok_or_else(damaged)?;
        let sum = layout.checksum(offset, lengths, body);
        if back[..8] != sum || number(&back[8..]) != front.whole() {
            return Err(damaged());
        }
        let record: Record = serde_json::from_slice(&body[..front.header as usize]).map_err(|_| damaged())?;
        if record.files.iter().map(FileRecord::payload_len).sum::<u64>() > front.payload {
            return Err(damaged());
        }
        Ok(Placed {
            offset,
            end: offset + front.whole(),
            progress: layout.state(state, sum),
            record,
            payload: offset + layout.front_len() as u64 + front.header,
            sum,
            layout,
        })
    }

    /// Reads the record that ends at `end`.
    pub(crate) fn before(&self, end: u64) -> Result<Placed> {
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
    pub(crate) fn payload(&self, placed: &Placed, file: usize) -> Result<(Vec<u8>, Vec<u8>)> {
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
    pub(crate) fn note(&self, placed: &Placed, progress: Progress) -> io::Result<()> {
        fault::kill_point();
        self.file.write_all_at(&placed.layout.state_bytes(progress, placed.sum), placed.offset + 1)?;
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
        Error::Corrupt { what: self.path.display().to_string(), why: format!("the record at byte {at} is damaged") }
    }
}

/// Returns the first bytes of a log: the magic, a random name, and the length after the last compaction.
pub(crate) fn head(floor: u64) -> Result<Vec<u8>> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|e| Error::Unavailable { what: "random numbers".into(), why: e.to_string() })?;
    Ok([HEAD.as_slice(), &random, &floor.to_be_bytes()].concat())
}

/// Encodes a record for an offset of the log.
pub(crate) fn frame(record: &Record, payload: &[u8], progress: Progress, offset: u64) -> Vec<u8> {
    let layout = RecordLayout::Sealed;
    let header = serde_json::to_vec(record).unwrap_or_default();
    let mut lengths = (header.len() as u32).to_be_bytes().to_vec();
    lengths.extend_from_slice(&(payload.len() as u32).to_be_bytes());
    let body = [header.as_slice(), payload].concat();
    let sum = layout.checksum(offset, &lengths, &body);
    let mut out = Vec::with_capacity(body.len() + 25);
    out.push(0xA6);
    out.extend_from_slice(&layout.state_bytes(progress, sum));
    out.extend_from_slice(&lengths);
    out.extend_from_slice(&body);
    out.extend_from_slice(&sum);
    out.extend_from_slice(&((out.len() + 4) as u32).to_be_bytes());
    out
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |n, byte| n << 8 | u64::from(*byte))
}
