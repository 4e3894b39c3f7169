//! The file of the journal: consecutive records, each with its length at both ends and a checksum. Only the state byte of a record
//! is ever changed in place. A record that was torn by a crash is the last one and is truncated.

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
}

impl Progress {
    /// Whether recovery has to check the files of the record before anything else is written.
    pub(crate) fn is_unsettled(self) -> bool {
        matches!(self, Progress::Open | Progress::Failed)
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
    /// Roots of the other mounts the same change touches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) peers: Vec<PathBuf>,
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
}

fn memory() -> Role {
    Role::Memory
}
fn is_memory(role: &Role) -> bool {
    *role == Role::Memory
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
}

const HEAD: &[u8; 16] = b"memdir journal1\n";
/// The bytes before the first record: the head and the random name of the log.
pub(crate) const START: u64 = 32;
const MARK: u8 = 0xA5;
/// Mark, state, two lengths.
const FRONT: u64 = 10;
/// Checksum and whole length.
const BACK: u64 = 12;

/// An open journal file.
#[derive(Debug)]
pub(crate) struct Log {
    file: File,
    pub(crate) path: PathBuf,
    pub(crate) name: [u8; 16],
    pub(crate) writable: bool,
}

impl Log {
    /// Opens a journal file; `None` if it is not one.
    pub(crate) fn open(path: &Path, write: bool) -> io::Result<Option<Log>> {
        let file = File::options().read(true).write(write).open(path)?;
        let mut head = [0; START as usize];
        if file.read_exact_at(&mut head, 0).is_err() || &head[..16] != HEAD {
            return Ok(None);
        }
        let mut name = [0; 16];
        name.copy_from_slice(&head[16..]);
        Ok(Some(Log { file, path: path.to_owned(), name, writable: write }))
    }

    pub(crate) fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// The length of the log when it was last compacted.
    pub(crate) fn floor(&self) -> u64 {
        number(&self.name[8..])
    }

    pub(crate) fn inode(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.ino())
    }

    /// Reads the record at an offset; fails if it is torn or damaged.
    pub(crate) fn at(&self, offset: u64) -> Result<Placed> {
        let mut front = [0; FRONT as usize];
        self.read(&mut front, offset)?;
        let whole = FRONT + number(&front[2..6]) + number(&front[6..10]) + BACK;
        if front[0] != MARK || offset + whole > self.len().map_err(|e| Error::io("read", &self.path, e))? {
            return Err(self.damaged(offset));
        }
        let mut bytes = vec![0; whole as usize];
        self.read(&mut bytes, offset)?;
        self.parse(&bytes, offset)
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
        let front = bytes.get(..FRONT as usize).filter(|front| front[0] == MARK).ok_or_else(damaged)?;
        let (header_len, payload_len) = (number(&front[2..6]), number(&front[6..10]));
        let rest = &bytes[FRONT as usize..];
        let body = rest.get(..(header_len + payload_len) as usize).ok_or_else(damaged)?;
        let back = rest.get(body.len()..body.len() + BACK as usize).ok_or_else(damaged)?;
        let end = offset + FRONT + header_len + payload_len + BACK;
        if back[..8] != checksum(&front[2..], body) || number(&back[8..]) != end - offset {
            return Err(damaged());
        }
        let record = serde_json::from_slice(&body[..header_len as usize]).map_err(|_| damaged())?;
        let progress = match front[1] {
            0 => Progress::Open,
            1 => Progress::Done,
            2 => Progress::Void,
            3 => Progress::Failed,
            _ => return Err(damaged()),
        };
        Ok(Placed { offset, end, progress, record, payload: offset + FRONT + header_len })
    }

    /// Reads the record that ends at `end`.
    pub(crate) fn before(&self, end: u64) -> Result<Placed> {
        let mut back = [0; 4];
        if end < START + FRONT + BACK {
            return Err(self.damaged(end));
        }
        self.read(&mut back, end - 4)?;
        let offset = end.checked_sub(number(&back)).filter(|at| *at >= START).ok_or_else(|| self.damaged(end))?;
        let placed = self.at(offset)?;
        if placed.end == end { Ok(placed) } else { Err(self.damaged(end)) }
    }

    /// Reads the payload of one file of a record.
    pub(crate) fn payload(&self, placed: &Placed, file: usize) -> Result<Vec<u8>> {
        let skip: u64 = placed.record.files[..file].iter().map(|f| f.n).sum();
        let mut bytes = vec![0; placed.record.files[file].n as usize];
        self.read(&mut bytes, placed.payload + skip)?;
        Ok(bytes)
    }

    /// Appends frames and syncs them.
    pub(crate) fn append(&self, at: u64, frames: &[u8]) -> io::Result<()> {
        fault::point()?;
        self.file.write_all_at(frames, at)?;
        fault::point()?;
        self.file.sync_data()
    }

    /// Sets the state of a record; needs no disk space. Not synced: recovery derives a lost state from the files.
    pub(crate) fn note(&self, offset: u64, progress: Progress) -> io::Result<()> {
        self.file.write_all_at(&[progress as u8], offset + 1)
    }

    /// Truncates the log.
    pub(crate) fn cut(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    fn read(&self, into: &mut [u8], at: u64) -> Result<()> {
        self.file.read_exact_at(into, at).map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => self.damaged(at),
            _ => Error::io("read", &self.path, e),
        })
    }

    fn damaged(&self, at: u64) -> Error {
        Error::Corrupt { what: self.path.display().to_string(), why: format!("the record at byte {at} is incomplete") }
    }
}

/// Returns the first bytes of a log: the magic, a random name, and the length after the last compaction.
pub(crate) fn head(floor: u64) -> Result<Vec<u8>> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|e| Error::Unavailable { what: "random numbers".into(), why: e.to_string() })?;
    Ok([HEAD.as_slice(), &random, &floor.to_be_bytes()].concat())
}

/// Encodes a record.
pub(crate) fn frame(record: &Record, payload: &[u8], progress: Progress) -> Vec<u8> {
    let header = serde_json::to_vec(record).unwrap_or_default();
    let mut out = Vec::with_capacity(header.len() + payload.len() + 24);
    out.extend_from_slice(&[MARK, progress as u8]);
    out.extend_from_slice(&(header.len() as u32).to_be_bytes());
    out.extend_from_slice(&(payload.len() as u32).to_be_bytes());
    out.extend_from_slice(&header);
    out.extend_from_slice(payload);
    let sum = checksum(&out[2..FRONT as usize], &out[FRONT as usize..]);
    out.extend_from_slice(&sum);
    out.extend_from_slice(&((out.len() + 4) as u32).to_be_bytes());
    out
}

fn checksum(lengths: &[u8], body: &[u8]) -> [u8; 8] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(lengths).update(body);
    let mut sum = [0; 8];
    sum.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    sum
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |n, byte| n << 8 | u64::from(*byte))
}
