//! The pieces of words met before. Bounded and without any upkeep: a word has one place, and takes it.

use crate::vocab;

/// Bytes of a word that is kept; longer ones are rare and looked up each time.
const LONGEST: usize = 15;
/// Pieces of a word that are kept.
const MOST: usize = 7;
/// Places: a power of two; 256 kB in all, which a second-level cache holds.
const PLACES: usize = 1 << 13;

/// Pieces of words. Memory is touched only where words land.
pub(crate) struct WordCache {
    /// Length, then the word's bytes. Length 0: free.
    words: Vec<[u8; 16]>,
    /// Count, then the pieces.
    pieces: Vec<[u16; 8]>,
}

impl WordCache {
    pub(crate) fn new() -> Self {
        WordCache { words: vec![[0; 16]; PLACES], pieces: vec![[0; 8]; PLACES] }
    }

    /// Appends the pieces of a normalised word.
    pub(crate) fn pieces(&mut self, word: &str, into: &mut Vec<u32>) {
        if word.len() > LONGEST {
            return vocab::pieces(word, &mut |id| into.push(id.into()));
        }
        let mut key = [0; 16];
        key[0] = word.len() as u8;
        key[1..=word.len()].copy_from_slice(word.as_bytes());
        let place = place(&key);
        if self.words[place] != key {
            let first = into.len();
            vocab::pieces(word, &mut |id| into.push(id.into()));
            return self.keep(place, key, &into[first..]);
        }
        let [count, pieces @ ..] = &self.pieces[place];
        into.extend(pieces[..usize::from(*count).min(MOST)].iter().map(|p| u32::from(*p)));
    }

    fn keep(&mut self, place: usize, key: [u8; 16], pieces: &[u32]) {
        if pieces.len() <= MOST {
            let kept = &mut self.pieces[place];
            kept[0] = pieces.len() as u16;
            kept[1..].iter_mut().zip(pieces).for_each(|(kept, piece)| *kept = *piece as u16);
            self.words[place] = key;
        }
    }
}

fn place(key: &[u8; 16]) -> usize {
    let whole = u128::from_le_bytes(*key);
    let (low, high) = (whole as u64, (whole >> 64) as u64);
    let mixed = (low ^ high.rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> (64 - PLACES.trailing_zeros())) as usize
}
