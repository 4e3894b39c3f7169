//! A sorted table of the newest record of each file, so that opening a long journal reads little. Derived from the log; an invalid
//! table is ignored.

use super::frame::number;
use std::{collections::HashMap, io, path::Path};

const HEAD: &[u8; 16] = b"memdir heads  1\n";
const ENTRY: usize = 16;
/// Head, the log's name, covered length, checksum.
const FRONT: usize = 16 + 16 + 8 + 8;

/// The newest record of each file before the offset `covered`.
#[derive(Debug, Default)]
pub(crate) struct RecordTable {
    pub(crate) covered: u64,
    /// Pairs of key and offset, eight bytes each, sorted by key.
    entries: Vec<u8>,
}

/// Returns the key of a file: a part of the hash of its path.
pub(crate) fn key(path: &str) -> u64 {
    let hash = blake3::hash(path.as_bytes());
    number(&hash.as_bytes()[..8])
}

impl RecordTable {
    pub(crate) fn load(path: &Path, log: [u8; 16]) -> Option<RecordTable> {
        let bytes = std::fs::read(path).ok()?;
        let (front, entries) = bytes.split_at_checked(FRONT)?;
        let whole = &front[..16] == HEAD
            && front[16..32] == log
            && front[40..48] == checksum(&front[..40], entries)
            && entries.len().is_multiple_of(ENTRY);
        whole.then(|| RecordTable { covered: number(&front[32..40]), entries: entries.to_vec() })
    }

    pub(crate) fn save(&self, path: &Path, log: [u8; 16]) -> io::Result<()> {
        let mut bytes = [HEAD.as_slice(), &log, &self.covered.to_be_bytes()].concat();
        bytes.extend_from_slice(&checksum(&bytes, &self.entries));
        bytes.extend_from_slice(&self.entries);
        super::write_new(path, &bytes)
    }

    pub(crate) fn get(&self, key: u64) -> Option<u64> {
        let (mut low, mut high) = (0, self.entries.len() / ENTRY);
        while low < high {
            let middle = usize::midpoint(low, high);
            let entry = &self.entries[middle * ENTRY..(middle + 1) * ENTRY];
            match number(&entry[..8]).cmp(&key) {
                std::cmp::Ordering::Equal => return Some(number(&entry[8..])),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// Returns the table with newer entries.
    pub(crate) fn merged(&self, newer: &HashMap<u64, u64>, covered: u64) -> RecordTable {
        let mut all: Vec<(u64, u64)> = self
            .entries
            .chunks_exact(ENTRY)
            .map(|entry| (number(&entry[..8]), number(&entry[8..])))
            .filter(|(key, _)| !newer.contains_key(key))
            .chain(newer.iter().map(|(key, offset)| (*key, *offset)))
            .collect();
        all.sort_unstable();
        let entries = all.iter().flat_map(|(key, offset)| [key.to_be_bytes(), offset.to_be_bytes()]).flatten().collect();
        RecordTable { covered, entries }
    }
}

pub(super) fn checksum(front: &[u8], entries: &[u8]) -> [u8; 8] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(front).update(entries);
    let mut sum = [0; 8];
    sum.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    sum
}
