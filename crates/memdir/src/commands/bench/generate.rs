//! Generated memories for benchmarks: the same in every run, with word frequencies as in natural language.

use super::random::Random;
use std::{fs, io, path::Path};

/// Stop words.
const COMMON: &[&str] = &[
    "the", "of", "and", "to", "in", "is", "that", "for", "it", "was", "on", "with", "we", "as", "are", "this", "be", "at", "not", "by",
    "from", "have", "or", "an", "they", "which", "one", "you", "were", "all", "her", "there", "been", "their", "has", "when", "who",
    "will", "more", "if", "no", "out", "so", "what",
];

const BEGINNINGS: &[&str] = &[
    "ac", "ba", "ca", "de", "el", "fa", "ga", "ho", "in", "ja", "ka", "lu", "ma", "no", "or", "pa", "qui", "re", "sa", "te", "un", "va",
    "wi", "yo", "ze", "sto", "pre", "tra", "con", "dis", "fro", "gli",
];
const MIDDLES: &[&str] = &["la", "ri", "no", "ti", "ver", "mon", "ser", "ta", "co", "du", "li", "pen", "ga", "mi", "ro", "sel"];
const ENDS: &[&str] = &["t", "ne", "ment", "ing", "er", "le", "ck", "sh", "ly", "ion", "al", "ed", "s", "ry", "m", "te"];

/// A vocabulary, with the most frequent words first.
pub(super) struct Vocabulary {
    words: Vec<String>,
}

impl Vocabulary {
    pub(super) fn new() -> Self {
        let mut words: Vec<String> = COMMON.iter().map(|word| (*word).to_owned()).collect();
        for middle in MIDDLES {
            for end in ENDS {
                words.extend(BEGINNINGS.iter().map(|beginning| format!("{beginning}{middle}{end}")));
            }
        }
        Vocabulary { words }
    }

    /// A random word, with a frequency by its rank in the vocabulary.
    pub(super) fn word(&self, random: &mut Random) -> &str {
        // Zipf's law: the logarithm of the rank is uniformly distributed.
        let rank = ((self.words.len() as f64).powf(random.fraction()) - 1.0) as usize;
        &self.words[rank.min(self.words.len() - 1)]
    }

    /// A random word that is not a stop word.
    pub(super) fn content_word(&self, random: &mut Random) -> &str {
        loop {
            let word = self.word(random);
            if !COMMON.contains(&word) {
                return word;
            }
        }
    }

    fn sentence(&self, words: u64, random: &mut Random) -> String {
        let mut sentence: Vec<&str> = (0..words).map(|_| self.word(random)).collect();
        sentence.push(self.content_word(random));
        format!("{}.", sentence.join(" "))
    }
}

/// Writes `files` memories of about ten units each, and returns their size in bytes.
#[expect(clippy::disallowed_methods, reason = "files of a benchmark, in its own directory")]
pub(super) fn memories(root: &Path, files: u32, words: &Vocabulary) -> io::Result<u64> {
    let mut bytes = 0;
    for n in 0..files {
        let folder = root.join(format!("topic-{:02}", n % 40));
        if n < 40 {
            fs::create_dir_all(&folder)?;
        }
        let text = memory(n, words);
        bytes += text.len() as u64;
        fs::write(folder.join(format!("note-{n:05}.md")), text)?;
    }
    Ok(bytes)
}

/// One memory.
pub(super) fn memory(n: u32, words: &Vocabulary) -> String {
    let random = &mut Random::new(u64::from(n) + 1);
    let title = format!("{} {} {}", words.content_word(random), words.content_word(random), n);
    let kind = ["user", "feedback", "project", "reference"][n as usize % 4];
    let mut text = format!("---\nname: {title}\ndescription: {}\ntype: {kind}\n---\n\n# {title}\n\n", words.sentence(8, random));
    for part in 0..3 {
        text.push_str(&format!("## {} {part}\n\n", words.content_word(random)));
        let sentences: Vec<String> = (0..6).map(|_| words.sentence(10 + random.below(12), random)).collect();
        text.push_str(&format!("{}\n\n", sentences.join(" ")));
        for _ in 0..2 {
            let sentences: Vec<String> = (0..3).map(|_| words.sentence(8 + random.below(10), random)).collect();
            text.push_str(&format!("- {}\n", sentences.join(" ")));
        }
        text.push('\n');
    }
    text.push_str(&format!("{}\n", words.sentence(30, random)));
    text
}

/// A query of one to eight words.
pub(super) fn query(words: &Vocabulary, random: &mut Random) -> String {
    let mut query: Vec<&str> = (0..random.below(7)).map(|_| words.word(random)).collect();
    query.push(words.content_word(random));
    query.join(" ")
}
