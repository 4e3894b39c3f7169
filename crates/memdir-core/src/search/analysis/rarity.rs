//! How common a word is in English whatever the store holds. In a store of fifty notes nearly every word is rare; this distinguishes
//! words that are rare everywhere from words that are rare only here.

/// Entries of six bytes, sorted by their first four: a hash of a stem, and the position of its most common form among the words of
/// the built-in model, which are sorted by how often they are used. Generated and checked by the tests of memdir-embed.
const TABLE: &[u8] = include_bytes!("common-words.bin");
const ENTRY: usize = 6;
/// The position of the first word of the language; before it are marks and single characters.
const FIRST_WORD: u16 = 1996;

/// Estimates the share of texts that contain a word, from 0 for a word that is not in the list.
pub fn share_of_texts(stem: &str) -> f32 {
    let key = stem_key(stem);
    let (mut low, mut high) = (0, TABLE.len() / ENTRY);
    while low < high {
        let middle = usize::midpoint(low, high);
        let entry = &TABLE[middle * ENTRY..(middle + 1) * ENTRY];
        match entry[..4].cmp(&key) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
            // Zipf's law, with an offset and a cap that were fitted to recall, not to texts.
            std::cmp::Ordering::Equal => return (600.0 / f32::from(u16::from_be_bytes([entry[4], entry[5]]) - 996)).min(0.4),
        }
    }
    0.0
}

/// Texts that hold a word as often as English texts do, imagined beside those of the store: rarity in a small store is mostly chance.
const PRIOR_TEXTS: f32 = 50.0;

/// The inverse document frequency of a word that `frequency` of `texts` texts and this share of all English texts hold.
pub fn idf(texts: f32, frequency: f32, share: f32) -> f32 {
    let (texts, holding) = (texts + PRIOR_TEXTS, frequency + PRIOR_TEXTS * share);
    (1.0 + (texts - holding + 0.5).max(0.5) / (holding + 0.5)).ln()
}

/// How much a match of a word proves, from 0 to 1: as much as its rarity, relative to a word that one text holds and English does not.
pub fn evidence(texts: u64, frequency: u64, stem: &str) -> f32 {
    idf(texts as f32, frequency as f32, share_of_texts(stem)) / idf(texts as f32, 1.0, 0.0)
}

/// Makes the table from the words of a vocabulary, each with its position and its stem.
pub fn make_table<'a>(words: impl Iterator<Item = (u16, &'a str)>) -> Vec<u8> {
    let mut best: std::collections::BTreeMap<[u8; 4], u16> = std::collections::BTreeMap::new();
    for (position, stem) in words.filter(|(position, _)| *position >= FIRST_WORD) {
        let known = best.entry(stem_key(stem)).or_insert(position);
        *known = position.min(*known);
    }
    best.into_iter()
        .flat_map(|(key, position)| [key[0], key[1], key[2], key[3], position.to_be_bytes()[0], position.to_be_bytes()[1]])
        .collect()
}

fn stem_key(stem: &str) -> [u8; 4] {
    let hash = blake3::hash(stem.as_bytes());
    let bytes = hash.as_bytes();
    [bytes[0], bytes[1], bytes[2], bytes[3]]
}

#[test]
fn common_words_are_common() {
    assert_eq!(share_of_texts("time"), 0.4);
    assert!(share_of_texts("databas") > 0.0 && share_of_texts("databas") < 0.4);
    assert_eq!(share_of_texts("kubectl"), 0.0);
}
