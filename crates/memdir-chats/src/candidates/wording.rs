//! The words of a sentence for a comparison with another: whether two sentences say the same, or the opposite in almost the same words.
//! Pure.

use super::{
    lexicon::Language,
    sentence::Sentence,
    typed::{is_cjk, split_words},
};
use std::collections::BTreeSet;

/// The share of words, and of words and pairs together, that near duplicates have in common.
const MIN_WORDS: f64 = 0.6;
const MIN_TOGETHER: f64 = 0.5;
/// Words of a sentence that are compared.
const MAX_WORDS: usize = 60;
/// Characters at the beginning that forms of one word share: "message", "messages".
const STEM_CHARS: usize = 4;

/// The words of a sentence that count in a comparison.
pub(super) struct Wording {
    pub(super) words: BTreeSet<String>,
    pairs: BTreeSet<(String, String)>,
    numbers: BTreeSet<String>,
    /// The words in order, without those of scripts that have no spaces; and whether each follows the last negation or contrast.
    order: Vec<(String, bool)>,
    /// The single characters of scripts without spaces.
    characters: BTreeSet<char>,
    negations: usize,
}

impl Wording {
    pub(super) fn new(sentence: &Sentence<'_>) -> Wording {
        let language = sentence.language;
        let all = split_words(&sentence.rest.replace("do not", "don't").replace("Do not", "don't"));
        let kept: Vec<String> = all.into_iter().filter(|word| !language.light.contains(&word.as_str())).take(MAX_WORDS).collect();
        let turns = |word: &String| is_negation(word, language) || is_contrast(word, language);
        // At the end, "instead" does not qualify the words around it.
        let before_end = kept.len() - usize::from(kept.last().is_some_and(|last| is_contrast(last, language)));
        let last_turn = kept[..before_end].iter().rposition(turns);
        let spaced = kept.iter().enumerate().filter(|(_, word)| !word.contains(is_cjk) && !turns(word));
        Wording {
            pairs: kept.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect(),
            numbers: kept.iter().filter(|word| word.chars().any(|c| c.is_ascii_digit())).cloned().collect(),
            order: spaced.map(|(at, word)| (word.clone(), last_turn.is_some_and(|turn| at > turn))).collect(),
            characters: sentence.rest.chars().filter(|c| is_cjk(*c) && !"请要的了吧请，、".contains(*c)).collect(),
            negations: if language.is_unspaced {
                language.negations.iter().map(|part| sentence.rest.matches(part).count()).sum()
            } else {
                kept.iter().filter(|word| is_negation(word, language)).count()
            },
            words: kept.into_iter().collect(),
        }
    }

    /// Whether most words are the same.
    pub(super) fn is_alike(&self, other: &Wording) -> bool {
        let words = jaccard(&self.words, &other.words);
        words >= MIN_WORDS && (words + jaccard(&self.pairs, &other.pairs)) / 2.0 >= MIN_TOGETHER
    }

    /// Whether two sentences agree in what a single word changes: numbers, negations, a replaced word, exchanged words.
    pub(super) fn may_equal(&self, other: &Wording) -> bool {
        self.numbers == other.numbers && self.negations == other.negations && !self.replaces(other) && !self.exchanges(other)
    }

    /// Whether both have a word of their own: one was replaced by another. One that only says more does not contradict.
    fn replaces(&self, other: &Wording) -> bool {
        let own = |a: &Wording, b: &Wording| {
            let has_form = |word: &str| b.order.iter().any(|(other, _)| is_same_stem(word, other));
            a.order.iter().any(|(word, _)| !has_form(word)) || a.characters.iter().any(|c| !b.characters.contains(c))
        };
        own(self, other) && own(other, self)
    }

    /// Whether shared words changed places: around a negation ("main, never develop"), or two with each other.
    fn exchanges(&self, other: &Wording) -> bool {
        let sides = |wording: &Wording, word: &str| {
            let of_word = wording.order.iter().filter(|(other, _)| other == word);
            of_word.fold((false, false), |(before, after), (_, is_after)| (before || !is_after, after || *is_after))
        };
        let shared = |a: &Wording, b: &Wording| -> Vec<String> {
            a.order.iter().filter(|(word, _)| b.words.contains(word)).map(|(word, _)| word.clone()).collect()
        };
        let (mine, theirs) = (shared(self, other), shared(other, self));
        if mine.iter().any(|word| sides(self, word) != sides(other, word)) {
            return true;
        }
        let moved: Vec<usize> = (0..mine.len().min(theirs.len())).filter(|&at| mine[at] != theirs[at]).collect();
        matches!(moved[..], [a, b] if mine[a] == theirs[b] && mine[b] == theirs[a])
    }
}

fn is_negation(word: &str, language: &Language) -> bool {
    word.ends_with("n't") || language.negations.contains(&word)
}

fn is_contrast(word: &str, language: &Language) -> bool {
    language.contrasts.iter().any(|phrase| phrase.split(' ').next() == Some(word))
}

fn is_same_stem(a: &str, b: &str) -> bool {
    let shared = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let longest = a.chars().count().max(b.chars().count());
    a == b || (shared >= STEM_CHARS && longest - shared <= 2)
}

fn jaccard<T: Ord>(a: &BTreeSet<T>, b: &BTreeSet<T>) -> f64 {
    let shared = a.intersection(b).count();
    let all = a.len() + b.len() - shared;
    if all == 0 { 0.0 } else { shared as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_word_changes_is_not_the_same() {
        let wording = |text: &'static str| Wording::new(&Sentence::new(text));
        for (a, b, is_same) in [
            ("Use pnpm instead of npm here.", "use pnpm here instead of npm", true),
            ("Never use any in TypeScript, define a type.", "never use `any` in typescript, define a type instead", true),
            ("Never commit secrets to main.", "don't commit secrets to main", true),
            ("Write commit messages in English", "Write the commit message in English!", true),
            ("Use pnpm instead of npm here.", "Use npm instead of pnpm here.", false),
            ("Always deploy from main, never from develop.", "Always deploy from develop, never from main.", false),
            ("Run the formatter before the linter.", "Run the linter before the formatter.", false),
            ("You can use the staging database.", "You can't use the staging database.", false),
            ("Use snake_case for column names.", "Use camelCase for column names.", false),
            ("Use port 5433 for staging.", "Use port 5434 for staging.", false),
            ("Nutze niemals npm hier.", "Nutze immer npm hier.", false),
            ("必须使用 npm 安装依赖", "不要使用 npm 安装依赖", false),
        ] {
            assert_eq!(wording(a).may_equal(&wording(b)), is_same, "{a} / {b}");
        }
    }
}
