//! Finds texts with the same content: nearly identical memories, and memories that repeat the project's instruction files.

use crate::base::text::lower_case_words;
use std::collections::{HashMap, HashSet};

/// Words per shingle. Shorter shingles are idioms, longer ones miss small changes.
const SHINGLE_WORDS: usize = 5;
/// Minimum Jaccard similarity of the shingles of two nearly identical texts.
const MIN_SIMILARITY: f64 = 0.7;
/// A shingle in more texts than this is boilerplate.
const COMMON: usize = 20;
/// Minimum number of words of a repeated line.
const LINE_WORDS: usize = 7;

/// Returns the pairs of nearly identical texts by index, with their similarity in percent.
pub(super) fn near_duplicates(texts: &[&str]) -> Vec<(usize, usize, u8)> {
    let shingles: Vec<HashSet<u64>> = texts.iter().map(|text| shingles(text)).collect();
    let mut holders: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, set) in shingles.iter().enumerate() {
        set.iter().for_each(|shingle| holders.entry(*shingle).or_default().push(at));
    }
    let mut shared: HashMap<(usize, usize), usize> = HashMap::new();
    for together in holders.values().filter(|together| (2..=COMMON).contains(&together.len())) {
        for (n, first) in together.iter().enumerate() {
            together[n + 1..].iter().for_each(|second| *shared.entry((*first, *second)).or_default() += 1);
        }
    }
    let mut out: Vec<(usize, usize, u8)> = Vec::new();
    for ((first, second), count) in shared {
        let all = shingles[first].len() + shingles[second].len() - count;
        let part = count as f64 / all as f64;
        if part >= MIN_SIMILARITY {
            out.push((first, second, (part * 100.0).round() as u8));
        }
    }
    out.sort_unstable();
    out
}

/// Returns the lines of a text that are in an instruction file word for word, each with the name of that file.
pub(super) fn repeats<'a>(text: &str, instructions: &[(&'a str, HashSet<String>)]) -> Vec<(u64, &'a str)> {
    let mut out = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        let Some(normalised) = normalised(content) else { continue };
        if let Some((name, _)) = instructions.iter().find(|(_, lines)| lines.contains(&normalised)) {
            out.push((line, *name));
        }
    }
    out
}

/// The normalised lines of an instruction file.
pub(super) fn normalised_lines(text: &str) -> HashSet<String> {
    text.lines().filter_map(normalised).collect()
}

fn normalised(line: &str) -> Option<String> {
    let words: Vec<String> = lower_case_words(line).collect();
    (words.len() >= LINE_WORDS).then(|| words.join(" "))
}

fn shingles(text: &str) -> HashSet<u64> {
    let words: Vec<String> = lower_case_words(text).collect();
    words.windows(SHINGLE_WORDS).map(|shingle| hash(&shingle.join(" "))).collect()
}

fn hash(text: &str) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..8]);
    u64::from_le_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::{near_duplicates, normalised_lines, repeats};

    #[test]
    fn nearly_equal_texts_are_paired() {
        let one = "The release goes out on the first Monday of the month after the smoke tests have passed on staging and ops agreed.";
        let two = one.replace("Monday", "Tuesday").replace("agreed", "said yes");
        let other = "Ada prefers short answers and no emoji; explain borrow checker errors slowly, she is new to the language.";
        assert_eq!(near_duplicates(&[one, other, one, "", "short"]), [(0, 2, 100)]);
        assert_eq!(near_duplicates(&[one, other]), []);
        assert_eq!(near_duplicates(&[one, &two]), [], "half the shingles differ");
        let long = format!("{one} {other} {}", other.replace("Ada", "Bob"));
        assert_eq!(near_duplicates(&[&long, &long.replace("ops", "they")]).len(), 1);
    }

    #[test]
    fn lines_of_the_instructions_are_recognised_whatever_their_marks() {
        let agents = normalised_lines("# Rules\n- **Always** run `cargo fmt` before you commit anything.\n- Be kind.\n");
        let text = "Always run cargo fmt before you commit anything\nBe kind.\nAlways run cargo fmt sometimes, before you commit\n";
        assert_eq!(repeats(text, &[("AGENTS.md", agents)]), [(1, "AGENTS.md")]);
    }
}
