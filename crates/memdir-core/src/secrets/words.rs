//! Tells in a nanosecond whether a rule's word may begin at a byte. The table is made by the compiler, so that nothing is
//! built at run time: an automaton over the same words took longer to build than a small command takes to run.

use super::rules::RULES;

/// One bit for each hash of three bytes that some word begins with.
static BEGINS: [u64; 256] = begins();

/// Whether a word may begin with these three bytes. False hits are rare; misses are impossible.
pub(super) fn may_begin(three: &[u8]) -> bool {
    let slot = slot(three[0], three[1], three[2]);
    BEGINS[slot / 64] >> (slot % 64) & 1 == 1
}

/// The rules one of whose words begins these bytes.
pub(super) fn at(bytes: &[u8]) -> impl Iterator<Item = usize> {
    // Three bytes are compared in place; only a word that begins so is worth a call.
    let begins = |word: &&str| bytes[..3] == word.as_bytes()[..3] && bytes.starts_with(word.as_bytes());
    RULES.iter().enumerate().filter(move |(_, rule)| rule.words.iter().any(begins)).map(|(at, _)| at)
}

const fn slot(a: u8, b: u8, c: u8) -> usize {
    let three = (a as u32) << 16 | (b as u32) << 8 | c as u32;
    (three.wrapping_mul(0x9e37_79b1) >> 18) as usize
}

const fn begins() -> [u64; 256] {
    let mut bits = [0; 256];
    let mut rule = 0;
    while rule < RULES.len() {
        let mut word = 0;
        while word < RULES[rule].words.len() {
            let bytes = RULES[rule].words[word].as_bytes();
            let slot = slot(bytes[0], bytes[1], bytes[2]);
            bits[slot / 64] |= 1 << (slot % 64);
            word += 1;
        }
        rule += 1;
    }
    bits
}
