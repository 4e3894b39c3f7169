//! How a record is encoded: mark, state, two lengths, header, payload, checksum, and the whole length once more.

use super::record::{FileRecord, JournalRecord, RecordState};
use crate::base::error::{Error, Result};

pub(super) const HEAD: &[u8; 16] = b"memdir journal1\n";
/// The bytes before the first record: the head and the random name of the log.
pub(crate) const START: u64 = 32;
/// Checksum and whole length.
pub(super) const BACK: u64 = 12;

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

    fn state(self, bytes: &[u8], sum: [u8; 8]) -> RecordState {
        let all = [RecordState::Open, RecordState::Done, RecordState::Void, RecordState::Failed];
        all.into_iter().find(|state| self.state_bytes(*state, sum) == bytes).unwrap_or(RecordState::Unknown)
    }

    fn state_bytes(self, state: RecordState, sum: [u8; 8]) -> Vec<u8> {
        if self == RecordLayout::Plain {
            return vec![state as u8];
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update(&sum).update(&[state as u8]);
        first_bytes::<4>(&hasher).to_vec()
    }
}

fn first_bytes<const N: usize>(hasher: &blake3::Hasher) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&hasher.finalize().as_bytes()[..N]);
    bytes
}

/// The beginning of a record: its layout and the lengths of header and payload.
pub(super) struct RecordStart {
    layout: RecordLayout,
    header: u64,
    payload: u64,
}

impl RecordStart {
    pub(super) fn parse(bytes: &[u8]) -> Option<RecordStart> {
        let layout = RecordLayout::from_mark(*bytes.first()?)?;
        let lengths = bytes.get(1 + layout.state_len()..layout.front_len())?;
        Some(RecordStart { layout, header: number(&lengths[..4]), payload: number(&lengths[4..]) })
    }

    /// The length of the whole record.
    pub(super) fn whole(&self) -> u64 {
        self.layout.front_len() as u64 + self.header + self.payload + BACK
    }
}

/// A record with its position.
#[derive(Debug, Clone)]
pub(crate) struct PlacedRecord {
    pub(crate) offset: u64,
    pub(crate) end: u64,
    pub(crate) state: RecordState,
    pub(crate) record: JournalRecord,
    /// The offset of the payload.
    pub(crate) payload: u64,
    sum: [u8; 8],
    layout: RecordLayout,
}

impl PlacedRecord {
    /// Parses the record at the beginning of `bytes`, which are at an offset of the log; `None` if it is torn or damaged.
    pub(super) fn parse(bytes: &[u8], offset: u64) -> Option<PlacedRecord> {
        let front = RecordStart::parse(bytes)?;
        let layout = front.layout;
        let (state, rest) = bytes[1..].split_at(layout.state_len());
        let (lengths, rest) = rest.split_at(8);
        let body = rest.get(..(front.header + front.payload) as usize)?;
        let back = rest.get(body.len()..body.len() + BACK as usize)?;
        let sum = layout.checksum(offset, lengths, body);
        if back[..8] != sum || number(&back[8..]) != front.whole() {
            return None;
        }
        let record: JournalRecord = serde_json::from_slice(&body[..front.header as usize]).ok()?;
        if record.files.iter().map(FileRecord::payload_len).sum::<u64>() > front.payload {
            return None;
        }
        Some(PlacedRecord {
            offset,
            end: offset + front.whole(),
            state: layout.state(state, sum),
            record,
            payload: offset + layout.front_len() as u64 + front.header,
            sum,
            layout,
        })
    }

    /// The bytes of a state of this record.
    pub(super) fn state_bytes(&self, state: RecordState) -> Vec<u8> {
        self.layout.state_bytes(state, self.sum)
    }
}

/// Whether a record can begin with this byte.
pub(super) fn is_mark(byte: u8) -> bool {
    RecordLayout::from_mark(byte).is_some()
}

/// Returns the first bytes of a log: the magic, a random name, and the length after the last compaction.
pub(crate) fn head(floor: u64) -> Result<Vec<u8>> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|e| Error::unavailable("random numbers", e.to_string()))?;
    Ok([HEAD.as_slice(), &random, &floor.to_be_bytes()].concat())
}

/// Encodes a record for an offset of the log.
pub(crate) fn frame(record: &JournalRecord, payload: &[u8], state: RecordState, offset: u64) -> Vec<u8> {
    let layout = RecordLayout::Sealed;
    let header = serde_json::to_vec(record).unwrap_or_default();
    let mut lengths = (header.len() as u32).to_be_bytes().to_vec();
    lengths.extend_from_slice(&(payload.len() as u32).to_be_bytes());
    let body = [header.as_slice(), payload].concat();
    let sum = layout.checksum(offset, &lengths, &body);
    let mut out = Vec::with_capacity(body.len() + 25);
    out.push(0xA6);
    out.extend_from_slice(&layout.state_bytes(state, sum));
    out.extend_from_slice(&lengths);
    out.extend_from_slice(&body);
    out.extend_from_slice(&sum);
    out.extend_from_slice(&((out.len() + 4) as u32).to_be_bytes());
    out
}

/// Reads a big-endian number.
pub(super) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |n, byte| n << 8 | u64::from(*byte))
}
