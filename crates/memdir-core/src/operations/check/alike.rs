//! Texts that say the same: memories that are nearly equal, and memories that repeat the project's instructions.

use std::collections::{HashMap, HashSet};

/// Words of a run that is compared. Shorter runs are idioms, longer ones miss small changes.
const RUN: usize = 5;
/// Part of all runs of two texts that must be shared for them to be nearly the same.
const SAME: f64 = 0.7;
/// A run that more texts have than this is a form, not content.
const COMMON: usize = 20;
/// Words a line must have before repeating it counts.
const LINE_WORDS: usize = 7;

/// Pairs of texts that are nearly the same, by their places, with the shared part in percent.
pub fn pairs(texts: &[&str]) -> Vec<(usize, usize, u8)> {
    let runs: Vec<HashSet<u64>> = texts.iter().map(|text| runs(text)).collect();
    let mut holders: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, set) in runs.iter().enumerate() {
        set.iter().for_each(|run| holders.entry(*run).or_default().push(at));
    }
    let mut shared: HashMap<(usize, usize), usize> = HashMap::new();
    for together in holders.values().filter(|together| (2..=COMMON).contains(&together.len())) {
        for (n, first) in together.iter().enumerate() {
            together[n + 1..].iter().for_each(|second| *shared.entry((*first, *second)).or_default() += 1);
        }
    }
    let mut out: Vec<(usize, usize, u8)> = Vec::new();
    for ((first, second), count) in shared {
        let all = runs[first].len() + runs[second].len() - count;
        let part = count as f64 / all as f64;
        if part >= SAME {
            out.push((first, second, (part * 100.0).round() as u8));
        }
    }
    out.sort_unstable();
    out
}

/// Lines of a text that stand word for word in one of the instruction files: the line, and the file's name.
pub(super) fn repeats<'a>(text: &str, instructions: &[(&'a str, HashSet<String>)]) -> Vec<(u64, &'a str)> {
    let mut out = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        let Some(plain) = plain(content) else { continue };
        if let Some((name, _)) = instructions.iter().find(|(_, lines)| lines.contains(&plain)) {
            out.push((line, *name));
        }
    }
    out
}

/// The lines of an instruction file in the form in which they are compared.
pub(super) fn lines_of(text: &str) -> HashSet<String> {
    text.lines().filter_map(plain).collect()
}

fn plain(line: &str) -> Option<String> {
    let words: Vec<String> = words(line).collect();
    (words.len() >= LINE_WORDS).then(|| words.join(" "))
}

fn runs(text: &str) -> HashSet<u64> {
    let words: Vec<String> = words(text).collect();
    words.windows(RUN).map(|run| hash(&run.join(" "))).collect()
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

fn hash(text: &str) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..8]);
    u64::from_le_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::{lines_of, pairs, repeats};

    #[test]
    fn nearly_equal_texts_are_paired() {
        let one = "The release goes out on the first Monday of the month after the smoke tests have passed on staging and ops agreed.";
        let two = one.replace("Monday", "Tuesday").replace("agreed", "said yes");
        let other = "Ada prefers short answers and no emoji; explain borrow checker errors slowly, she is new to the language.";
        assert_eq!(pairs(&[one, other, one, "", "short"]), [(0, 2, 100)]);
        assert_eq!(pairs(&[one, other]), []);
        assert_eq!(pairs(&[one, &two]), [], "half the runs differ");
        let long = format!("{one} {other} {}", other.replace("Ada", "Bob"));
        assert_eq!(pairs(&[&long, &long.replace("ops", "they")]).len(), 1);
    }

    #[test]
    fn lines_of_the_instructions_are_recognised_whatever_their_marks() {
        let agents = lines_of("# Rules\n- **Always** run `cargo fmt` before you commit anything.\n- Be kind.\n");
        let text = "Always run cargo fmt before you commit anything\nBe kind.\nAlways run cargo fmt sometimes, before you commit\n";
        assert_eq!(repeats(text, &[("AGENTS.md", agents)]), [(1, "AGENTS.md")]);
    }
}
