//! Decides in a nanosecond whether the literal of a rule may begin at a byte. The tables are computed at compile time: an automaton
//! over the same literals took longer to build than a small command takes to run.

use super::rules::RULES;

/// One bit for each hash of the first three bytes of a literal.
static BEGINS: [u64; SLOTS / 64] = begins();
/// The literals of all rules as pairs of indexes, ordered by their bucket, and the first of each bucket. So the time does not grow
/// with the number of rules.
static LITERALS: [(u8, u8); COUNT] = literals();
static BUCKETS: [u16; BUCKET_COUNT + 1] = buckets();

const SLOTS: usize = 1 << 14;
const BUCKET_COUNT: usize = 1 << 9;
const COUNT: usize = count();

/// Whether a literal may begin with these three bytes. False positives are rare; false negatives are impossible.
pub(super) fn may_begin(three: &[u8]) -> bool {
    let slot = slot(three[0], three[1], three[2]);
    BEGINS[slot / 64] >> (slot % 64) & 1 == 1
}

/// The rules with a literal that `bytes`, at least three, begin with. A rule with several such literals is returned for each.
pub(super) fn rules_at(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let bucket = bucket(bytes);
    let range = BUCKETS[bucket] as usize..BUCKETS[bucket + 1] as usize;
    let begins = |(rule, literal): &(u8, u8)| bytes.starts_with(RULES[*rule as usize].literals[*literal as usize].as_bytes());
    LITERALS[range].iter().filter(move |pair| begins(pair)).map(|(rule, _)| *rule as usize)
}

const fn slot(a: u8, b: u8, c: u8) -> usize {
    let three = (a as u32) << 16 | (b as u32) << 8 | c as u32;
    (three.wrapping_mul(0x9e37_79b1) >> 18) as usize
}

const fn bucket(bytes: &[u8]) -> usize {
    slot(bytes[0], bytes[1], bytes[2]) / (SLOTS / BUCKET_COUNT)
}

const fn count() -> usize {
    let (mut count, mut rule) = (0, 0);
    while rule < RULES.len() {
        count += RULES[rule].literals.len();
        rule += 1;
    }
    count
}

const fn begins() -> [u64; SLOTS / 64] {
    let mut bits = [0; SLOTS / 64];
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

/// The first literal of each bucket: the number of literals in the buckets before it.
const fn buckets() -> [u16; BUCKET_COUNT + 1] {
    let mut firsts = [0; BUCKET_COUNT + 1];
    let mut rule = 0;
    while rule < RULES.len() {
        let mut literal = 0;
        while literal < RULES[rule].literals.len() {
            firsts[bucket(RULES[rule].literals[literal].as_bytes()) + 1] += 1;
            literal += 1;
        }
        rule += 1;
    }
    let mut at = 1;
    while at <= BUCKET_COUNT {
        firsts[at] += firsts[at - 1];
        at += 1;
    }
    firsts
}

const fn literals() -> [(u8, u8); COUNT] {
    let mut next = buckets();
    let mut ordered = [(0, 0); COUNT];
    let mut rule = 0;
    while rule < RULES.len() {
        let mut literal = 0;
        while literal < RULES[rule].literals.len() {
            let bucket = bucket(RULES[rule].literals[literal].as_bytes());
            ordered[next[bucket] as usize] = (rule as u8, literal as u8);
            next[bucket] += 1;
            literal += 1;
        }
        rule += 1;
    }
    ordered
}
