//! What the memories know of the words of a message: which stem each word means, and what a match of it is worth.

use super::{
    message_words::{MessageWord, MessageWords, WordKind},
    table::{LINE, Posting, RecallTable, TableView, count_of, length_factor},
    typo,
    words::{is_everyday, is_mistyped_common_word},
};
use crate::search::analysis::rarity;
use std::cell::Cell;

/// How much an everyday word counts, relative to another one.
const EVERYDAY_WEIGHT: f32 = 0.7;

/// What the memories know of the words of a message.
pub(super) struct StoreWords<'a> {
    pub(super) view: TableView<'a>,
    pub(super) message: MessageWords,
    /// The number of memories.
    pub(super) memories: usize,
    /// For each row that is a memory: how much a word of its body counts.
    body_factors: Vec<Option<f32>>,
    /// Whether the table has the frequencies of stems.
    has_frequencies: bool,
    /// The rarity of a stem that one memory has and English does not.
    rarest: f32,
    /// For each stem of the table: its weight once it is known, since many memories share a word.
    weights: Vec<Cell<Option<f32>>>,
    /// For each word of the message: the stem of the table it means, and how certainly.
    pub(super) matches: Vec<StemMatch>,
}

/// What a word of the message means in the store.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum StemMatch {
    /// A stem of the store, and how much a match counts.
    Known { id: u32, certainty: f32 },
    /// Nothing in the store.
    Unknown,
    /// A mistyped word that says nothing about the topic.
    Ignored,
}

impl StemMatch {
    /// How much a match counts.
    pub(super) fn certainty(self) -> f32 {
        match self {
            StemMatch::Known { certainty, .. } => certainty,
            StemMatch::Unknown | StemMatch::Ignored => 0.0,
        }
    }
}

impl<'a> StoreWords<'a> {
    pub(super) fn read(table: &'a RecallTable, message: MessageWords) -> Self {
        let view = table.view();
        let factor = |row: usize| table.is_memory(row).then(|| length_factor(view.body_words(row)));
        let body_factors: Vec<Option<f32>> = (0..view.rows()).map(factor).collect();
        let memories = body_factors.iter().flatten().count();
        let rarest = rarity::idf(memories as f32, 1.0, 0.0);
        let weights = vec![Cell::new(None); view.stems()];
        let has_frequencies = table.has_frequencies();
        let mut store = StoreWords { view, message, memories, body_factors, has_frequencies, rarest, weights, matches: Vec::new() };
        store.matches = store.meanings();
        store
    }

    /// How much a word of the body of a row counts: one of many says less about what it is about. `None` if the row is not a memory.
    pub(super) fn body_factor(&self, row: u32) -> Option<f32> {
        self.body_factors.get(row as usize).copied().flatten()
    }

    /// What each word of the message means in the store.
    fn meanings(&self) -> Vec<StemMatch> {
        let known = |word: &MessageWord| {
            let id = self.view.find(word.stem.as_bytes()).filter(|id| self.is_known(*id))?;
            Some(StemMatch::Known { id, certainty: if word.kind == WordKind::Part { 0.5 } else { 1.0 } })
        };
        let may_be_typo = |word: &MessageWord| {
            self.message.is_typed
                && word.kind == WordKind::Telling
                && word.stem.len() >= 4
                && word.stem.bytes().all(|byte| byte.is_ascii_alphabetic())
        };
        let meaning = |word: &MessageWord| match known(word) {
            Some(matches) => matches,
            None if may_be_typo(word) => self.correct(word),
            None => StemMatch::Unknown,
        };
        self.message.words.iter().map(meaning).collect()
    }

    /// Whether a memory has a stem. The words of entrypoint lines are known too, even if no memory has them.
    fn is_known(&self, id: u32) -> bool {
        let in_memory = || self.view.postings(id).any(|posting| posting.places & !LINE != 0 && self.body_factor(posting.row).is_some());
        self.view.info(id).is_in_line || in_memory()
    }

    /// Returns the correction of a word that no memory has.
    fn correct(&self, word: &MessageWord) -> StemMatch {
        if is_mistyped_common_word(&word.written) {
            return StemMatch::Ignored;
        }
        let rank = |id: u32| {
            let stem = std::str::from_utf8(self.view.stem(id)).unwrap_or_default();
            let closeness = typo::closeness(&word.stem, stem, self.message.is_foreign)?;
            let frequency = self.frequency(id);
            (frequency > 0.0).then(|| (closeness, stem.len().abs_diff(word.stem.len()), frequency, id))
        };
        // The numbers of the stems are in the order of their texts.
        let best =
            self.near(&word.stem).filter_map(rank).min_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)).then(a.3.cmp(&b.3)));
        best.map_or(StemMatch::Unknown, |(.., id)| StemMatch::Known { id, certainty: 0.8 })
    }

    /// The stems of which a mistyped word may be a typo: those with its first letter, and those with one other letter there. The letters
    /// of the word are ASCII.
    fn near(&self, stem: &str) -> impl Iterator<Item = u32> {
        let bytes = stem.as_bytes();
        let first = bytes[0];
        let same = self.view.first_from(&[first])..self.view.first_from(&[first + 1]);
        let others = (b'0'..=b'9').chain(b'a'..=b'z').filter(move |letter| *letter != first);
        let replaced = others.clone().map(|letter| [&[letter], &bytes[1..]].concat());
        let added = others.map(|letter| [&[letter], bytes].concat());
        let left_out = [bytes[1..].to_vec(), [&[bytes[1], first], &bytes[2..]].concat()];
        let changed: Vec<u32> = replaced.chain(added).chain(left_out).filter_map(|text| self.view.find(&text)).collect();
        let other_first = |id: &u32| self.view.stem(*id).first() != Some(&first);
        let changed: Vec<u32> = changed.into_iter().filter(other_first).collect();
        same.chain(changed)
    }

    /// In how many memories a stem is, without cues. A word of a long body counts less.
    fn frequency(&self, id: u32) -> f32 {
        if self.has_frequencies {
            return self.view.frequency(id);
        }
        let count = |posting: Posting| Some(count_of(posting.places, self.body_factor(posting.row)?));
        self.view.postings(id).filter_map(count).sum()
    }

    /// The weight of a stem: 1 for one that a single memory has and English does not.
    pub(super) fn weight(&self, id: u32) -> f32 {
        let Some(known) = self.weights.get(id as usize) else { return 0.0 };
        known.get().unwrap_or_else(|| {
            let info = self.view.info(id);
            let everyday = if info.is_everyday { EVERYDAY_WEIGHT } else { 1.0 };
            let weight = everyday * self.idf(self.frequency(id), info.share) / self.rarest;
            known.set(Some(weight));
            weight
        })
    }

    /// What a message loses by a word that no memory has.
    pub(super) fn unknown_weight(&self, stem: &str) -> f32 {
        let everyday = if is_everyday(stem) { EVERYDAY_WEIGHT } else { 1.0 };
        0.5 * everyday * self.idf(0.0, rarity::share_of_texts(stem)) / self.rarest
    }

    fn idf(&self, frequency: f32, share: f32) -> f32 {
        rarity::idf(self.memories as f32, frequency, share)
    }
}
