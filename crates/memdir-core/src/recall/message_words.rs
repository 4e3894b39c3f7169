//! The words of a message, by sentence.

use super::{
    sentences,
    words::{is_filler, is_small_number, is_telling},
};
use crate::base::text::is_unspaced;
use crate::search::analysis::{self, Analyser, Word};
use rustc_hash::FxHashMap;

/// Sentences that are scored at the beginning and at the end of a long message. There are never more than 64 in all.
const SENTENCES_AT_EACH_END: usize = 20;
/// Messages up to this length are searched for mistyped words: longer ones are pasted, not typed.
const TYPED_BYTES: usize = 1_500;

/// A word of the message.
pub(super) struct MessageWord {
    pub(super) stem: String,
    /// As written, in lower case; for mistyped words.
    pub(super) written: String,
    pub(super) kind: WordKind,
    /// The sentences that have it, a bit for each.
    pub(super) sentences: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WordKind {
    /// Says what the message is about.
    Telling,
    /// A pair of characters of a script without spaces: many together say what the message is about.
    Pair,
    /// A number that may distinguish memories that are otherwise alike.
    Number,
    /// A part of a `camelCase` word.
    Part,
}

/// The words of a message by sentence, each number once.
pub(super) struct MessageWords {
    pub(super) words: Vec<MessageWord>,
    pub(super) sentences: Vec<Vec<usize>>,
    /// The number of sentences with a telling word.
    pub(super) count: usize,
    /// Whether it is in another language than English.
    pub(super) is_foreign: bool,
    /// Whether it was typed: a long message is pasted.
    pub(super) is_typed: bool,
}

impl MessageWords {
    pub(super) fn read(message: &str) -> Self {
        let mut analyser = Analyser::default();
        let mut read = MessageWords {
            words: Vec::new(),
            sentences: Vec::new(),
            count: 0,
            is_foreign: message.contains(['¿', '¡']) || message.chars().any(is_unspaced),
            is_typed: message.len() < TYPED_BYTES,
        };
        let mut numbers: FxHashMap<String, usize> = FxHashMap::default();
        let (mut fillers, mut stops) = (0, 0);
        for sentence in sentences(message) {
            let mut ids: Vec<usize> = Vec::new();
            for run in analysis::runs(sentence) {
                let (words, parts) = analyser.words_and_codes(run);
                for word in &words {
                    stops += usize::from(word.stop);
                    fillers += usize::from(is_filler(&word.stem));
                }
                let parts = parts.into_iter().map(|stem| (Word { stem, stop: false }, true));
                for (word, is_part) in words.into_iter().map(|word| (word, false)).chain(parts) {
                    let Some(kind) = kind(&word, is_part) else { continue };
                    let id = *numbers.entry(word.stem.clone()).or_insert_with(|| {
                        read.words.push(MessageWord { stem: word.stem.clone(), written: run.to_lowercase(), kind, sentences: 0 });
                        read.words.len() - 1
                    });
                    if read.words[id].kind == WordKind::Part {
                        read.words[id].kind = kind;
                    }
                    if !ids.contains(&id) {
                        ids.push(id);
                    }
                }
            }
            if ids.iter().any(|id| matches!(read.words[*id].kind, WordKind::Telling | WordKind::Pair)) {
                read.sentences.push(ids);
            }
        }
        read.is_foreign |= fillers > stops;
        read.count = read.sentences.len();
        if read.count > 2 * SENTENCES_AT_EACH_END {
            read.sentences.drain(SENTENCES_AT_EACH_END..read.count - SENTENCES_AT_EACH_END);
        }
        // Two or three sentences are often one question.
        if (2..=3).contains(&read.count) {
            let mut whole: Vec<usize> = read.sentences.iter().flatten().copied().collect();
            whole.sort_unstable();
            whole.dedup();
            read.sentences.push(whole);
        }
        for (at, ids) in read.sentences.iter().enumerate() {
            ids.iter().for_each(|id| read.words[*id].sentences |= 1 << at);
        }
        read
    }
}

fn kind(word: &Word, is_part: bool) -> Option<WordKind> {
    let is_pair = word.stem.chars().next().is_some_and(is_unspaced);
    match is_part {
        false if is_small_number(&word.stem) => Some(WordKind::Number),
        _ if !is_telling(word) => None,
        true => word.stem.bytes().all(|byte| byte.is_ascii_alphanumeric()).then_some(WordKind::Part),
        false if is_pair => Some(WordKind::Pair),
        false => Some(WordKind::Telling),
    }
}
