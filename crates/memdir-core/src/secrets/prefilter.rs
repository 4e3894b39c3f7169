//! Decides in a nanosecond whether the literal of a rule may begin at a byte. The table is computed at compile time: an automaton
//! over the same literals took longer to build than a small command takes to run.

use super::rules::RULES;

/// One bit for each hash of the first three bytes of a literal.
static BEGINS: [u64; 256] = begins();

/// Whether a literal may begin with these three bytes. False positives are rare; false negatives are impossible.
pub(super) fn may_begin(three: &[u8]) -> bool {
    let slot = slot(three[0], three[1], three[2]);
    BEGINS[slot / 64] >> (slot % 64) & 1 == 1
}

/// The rules with a literal that `bytes` begin with.
pub(super) fn rules_at(bytes: &[u8]) -> impl Iterator<Item = usize> {
    // Three bytes are compared in place; only a literal that matches them is worth a call.
    let begins = |literal: &&str| bytes[..3] == literal.as_bytes()[..3] && bytes.starts_with(literal.as_bytes());
    RULES.iter().enumerate().filter(move |(_, rule)| rule.literals.iter().any(begins)).map(|(at, _)| at)
}

const fn slot(a: u8, b: u8, c: u8) -> usize {
    let three = (a as u32) << 16 | (b as u32) << 8 | c as u32;
    (three.wrapping_mul(0x9e37_79b1) >> 18) as usize
}

const fn begins() -> [u64; 256] {
    let mut bits = [0; 256];
    let mut rule = 0;
    while rule < RULES.len() {
        let mut literal = 0;
        while literal < RULES[rule].literals.len() {
            let bytes = RULES[rule].literals[literal].as_bytes();
            let slot = slot(bytes[0], bytes[1], bytes[2]);
            bits[slot / 64] |= 1 << (slot % 64);
            literal += 1;
        }
        rule += 1;
    }
    bits
}
