//! Word pieces, from tables sorted when the crate was built. Allocates nothing and has nothing to load.

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// The piece of a word that cannot be put together from the vocabulary.
pub(crate) const UNKNOWN: u16 = 100;
/// Words of more characters are unknown.
const LONGEST_WORD: usize = 100;

/// Calls `each` with the pieces of a word that was normalised and split off before: the longest entry it begins with,
/// then the longest continuation, and so on. A word that does not work out to its end is one unknown piece.
pub(crate) fn pieces(word: &str, each: &mut dyn FnMut(u16)) {
    let mut found = [0; LONGEST_WORD];
    let mut count = 0;
    let mut rest = word.as_bytes();
    let mut table = &STARTS;
    let known = rest.len() <= LONGEST_WORD || word.chars().count() <= LONGEST_WORD;
    while known && !rest.is_empty() {
        let Some((length, id)) = table.longest(rest) else { break };
        found[count] = id;
        count += 1;
        rest = &rest[length..];
        table = &CONTINUATIONS;
    }
    if !rest.is_empty() {
        return each(UNKNOWN);
    }
    found[..count].iter().for_each(|id| each(*id));
}

/// Texts and their ids. Made by the build script.
pub(crate) struct Table {
    text: &'static [u8],
    ends: &'static [u32],
    ids: &'static [u16],
    /// The longest other entry that each entry begins with.
    parents: &'static [u16],
    /// Where the entries that begin with each byte begin.
    first: &'static [u16; 257],
}

impl Table {
    /// The longest entry that `text` begins with: its length and id.
    ///
    /// Every entry that `text` begins with also begins the last entry that is not greater than `text`: whatever lies
    /// between a text and its beginning in order begins with it too. So one search and a short walk up suffice.
    fn longest(&self, text: &[u8]) -> Option<(usize, u16)> {
        let byte = usize::from(*text.first()?);
        let (mut low, mut high) = (usize::from(self.first[byte]), usize::from(self.first[byte + 1]));
        let bottom = low;
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.entry(middle) <= text { low = middle + 1 } else { high = middle }
        }
        let mut at = if low > bottom { low - 1 } else { return None };
        loop {
            let entry = self.entry(at);
            if text.starts_with(entry) {
                return Some((entry.len(), self.ids[at]));
            }
            at = usize::from(*self.parents.get(at)?);
        }
    }

    /// The text of an entry; of one past the end, nothing that a text could begin with.
    fn entry(&self, at: usize) -> &'static [u8] {
        let Some(end) = self.ends.get(at) else { return b"\xff" };
        let begin = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.text[begin as usize..*end as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    const VOCAB: &str = include_str!("../model/vocab.txt");

    fn of(word: &str) -> Vec<u16> {
        let mut all = Vec::new();
        pieces(word, &mut |id| all.push(id));
        all
    }

    /// The definition: try every length, the longest first.
    fn by_definition(vocab: &HashMap<&str, u16>, word: &str) -> Vec<u16> {
        let (mut all, mut rest) = (Vec::new(), word);
        while !rest.is_empty() {
            let ends = rest.char_indices().rev().map(|(i, c)| i + c.len_utf8());
            let prefix = if rest.len() == word.len() { "" } else { "##" };
            let found = ends.into_iter().find_map(|end| Some((end, *vocab.get(format!("{prefix}{}", &rest[..end]).as_str())?)));
            let Some((end, id)) = found else { return vec![UNKNOWN] };
            all.push(id);
            rest = &rest[end..];
        }
        all
    }

    #[test]
    fn every_word_and_every_two_entries_joined_split_as_the_definition_says() {
        let lines: Vec<&str> = VOCAB.lines().collect();
        let vocab: HashMap<&str, u16> = lines.iter().zip(0u16..).map(|(l, i)| (*l, i)).collect();
        for (i, line) in lines.iter().enumerate().filter(|(_, l)| !l.starts_with('[')) {
            let bare = line.strip_prefix("##").unwrap_or(line);
            let other = lines[(i * 7919 + 13) % lines.len()].trim_start_matches(['#', '[']);
            for word in [bare.to_owned(), format!("{bare}{other}"), format!("{other}{bare}x"), format!("{bare}\u{1f980}")] {
                assert_eq!(of(&word), by_definition(&vocab, &word), "{word}");
            }
        }
    }

    #[test]
    fn marks_of_the_source_model_are_no_words() {
        for (id, mark) in (0u16..).zip(VOCAB.lines()).filter(|(id, l)| *id != UNKNOWN && l.len() > 2 && l.starts_with('[')) {
            assert!(!of(mark).contains(&id), "{mark}");
        }
        assert_eq!(VOCAB.lines().nth(UNKNOWN.into()), Some("[UNK]"));
    }

    #[test]
    fn words_longer_than_100_characters_are_unknown() {
        assert_eq!(of(&"a".repeat(101)), [UNKNOWN]);
        assert!(of(&"a".repeat(100)).len() > 1);
        assert!(!of(&"ä".repeat(100)).is_empty());
    }
}
