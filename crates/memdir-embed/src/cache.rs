//! A direct-mapped cache of the pieces of words: bounded, without eviction bookkeeping. A new word replaces the one in its slot.

use crate::vocab;

/// The maximum number of bytes of a cached word; longer ones are rare and looked up each time.
const MAX_WORD_BYTES: usize = 15;
/// The maximum number of pieces of a cached word.
const MAX_PIECES: usize = 7;
/// The number of slots, a power of two: 256 kB in all, which fits into a second-level cache.
const SLOTS: usize = 1 << 13;

/// Pieces of words by slot. Memory is touched only in slots that are used.
pub(crate) struct WordCache {
    /// Length, then the word's bytes. Length 0: free.
    words: Vec<[u8; 16]>,
    /// Count, then the pieces.
    pieces: Vec<[u16; 8]>,
}

impl WordCache {
    pub(crate) fn new() -> Self {
        WordCache { words: vec![[0; 16]; SLOTS], pieces: vec![[0; 8]; SLOTS] }
    }

    /// Appends the pieces of a normalised word.
    pub(crate) fn pieces(&mut self, word: &str, into: &mut Vec<u32>) {
        if word.len() > MAX_WORD_BYTES {
            return vocab::pieces(word, &mut |id| into.push(id.into()));
        }
        let mut key = [0; 16];
        key[0] = word.len() as u8;
        key[1..=word.len()].copy_from_slice(word.as_bytes());
        let slot = slot(&key);
        if self.words[slot] != key {
            let first = into.len();
            vocab::pieces(word, &mut |id| into.push(id.into()));
            return self.keep(slot, key, &into[first..]);
        }
        let [count, pieces @ ..] = &self.pieces[slot];
        into.extend(pieces[..usize::from(*count).min(MAX_PIECES)].iter().map(|p| u32::from(*p)));
    }

    fn keep(&mut self, slot: usize, key: [u8; 16], pieces: &[u32]) {
        if pieces.len() <= MAX_PIECES {
            let kept = &mut self.pieces[slot];
            kept[0] = pieces.len() as u16;
            kept[1..].iter_mut().zip(pieces).for_each(|(kept, piece)| *kept = *piece as u16);
            self.words[slot] = key;
        }
    }
}

fn slot(key: &[u8; 16]) -> usize {
    let whole = u128::from_le_bytes(*key);
    let (low, high) = (whole as u64, (whole >> 64) as u64);
    let mixed = (low ^ high.rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> (64 - SLOTS.trailing_zeros())) as usize
}
