//! How well a memory fits a message. A message is not a query: each of its sentences is scored alone, and the best one counts. The
//! coefficients were fitted to labelled prompts of developers; `docs/explanation` has the numbers.

use super::{
    sentences,
    table::{ABOUT, BODY, NAME, PART, RecallTable, RowWords, TableRow},
    typo,
    words::{is_everyday, is_filler, is_mistyped_common_word, is_small_number, is_telling},
};
use crate::search::analysis::{self, Analyser, Word, rarity};
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::cell::Cell;

/// The number of memories below which the bar does not depend on the size of the store.
const SMALL_STORE: f32 = 60.0;
/// A memory this far below the best one is not shown beside it.
const BELOW_BEST: f32 = 3.0;
/// More sentences than this do not raise the bar further: the question in a long message is no less a question.
const MANY_SENTENCES: f32 = 8.0;
/// Sentences that are scored at the beginning and at the end of a long message.
const SENTENCES_AT_EACH_END: usize = 20;
/// Messages up to this length are searched for mistyped words: longer ones are pasted, not typed.
const TYPED_BYTES: usize = 1_500;
/// How much an everyday word counts, relative to another one.
const EVERYDAY: f32 = 0.7;

/// The terms of a score, and what a memory needs to be recalled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct RecallFeatures {
    /// The share of the sentence's weight that the memory has.
    pub cover: f32,
    /// The weight of the matched words, at most 3.
    pub mass: f32,
    /// The share of the memory's name that the sentence has.
    pub name: f32,
    /// The share of its best cue that the sentence has.
    pub cue: f32,
    /// The number of sentences that could ask for something.
    pub sentences: usize,
    /// The sum: a memory is recalled from 0 on.
    pub score: f32,
}

impl RecallFeatures {
    fn sum(mut self, has_cues: bool, memories: usize) -> Self {
        let terms = 5.5 * self.cover + 2.9 * self.mass + 2.8 * self.name + 2.0 * self.cue;
        let bar = if has_cues { 5.8 } else { 5.35 };
        let size = 0.15 * ((memories as f32).max(SMALL_STORE) / SMALL_STORE).ln();
        self.score = terms - 0.7 * (self.sentences as f32).min(MANY_SENTENCES).ln() - bar - size;
        self
    }
}

/// A memory with its score.
#[derive(Debug, Clone)]
pub(super) struct ScoredRow {
    /// Its position in the table.
    pub(super) row: usize,
    pub(super) features: RecallFeatures,
    /// The words of the message that it has, the weightiest first.
    pub(super) matched: Vec<(String, f32)>,
}

/// Scores all memories that share a word with a message, best first. `counts` says which rows of the table are memories.
pub(super) fn score_all(table: &RecallTable, message: &str, counts: &dyn Fn(usize) -> bool) -> Vec<ScoredRow> {
    let words = MessageWords::read(message);
    if words.sentences.is_empty() {
        return Vec::new();
    }
    let store = StoreWords::read(table, words, counts);
    let mut scored = store.score(table);
    scored.sort_by(|a, b| b.features.score.total_cmp(&a.features.score).then(a.row.cmp(&b.row)));
    scored
}

/// The memories that are recalled, of those scored.
pub(super) fn recalled(scored: &[ScoredRow]) -> &[ScoredRow] {
    let bar = bar(scored);
    &scored[..scored.iter().take_while(|one| one.features.score >= bar).count()]
}

/// The score that a memory needs beside the best one.
pub(super) fn bar(scored: &[ScoredRow]) -> f32 {
    scored.first().map_or(0.0, |best| (best.features.score - BELOW_BEST).max(0.0))
}

/// A word of the message.
struct MessageWord {
    stem: String,
    /// As written, in lower case; for mistyped words.
    written: String,
    kind: WordKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WordKind {
    /// Says what the message is about.
    Telling,
    /// A pair of characters of a script without spaces: many together say what the message is about.
    Pair,
    /// A number that may tell memories apart that are alike.
    Number,
    /// A part of a `camelCase` word.
    Part,
}

/// The words of a message by sentence, each number once.
struct MessageWords {
    words: Vec<MessageWord>,
    sentences: Vec<Vec<usize>>,
    /// The number of sentences with a telling word.
    count: usize,
    is_foreign: bool,
    is_typed: bool,
}

impl MessageWords {
    fn read(message: &str) -> Self {
        let mut analyser = Analyser::default();
        let mut read = MessageWords {
            words: Vec::new(),
            sentences: Vec::new(),
            count: 0,
            is_foreign: message.contains(['¿', '¡']) || message.chars().any(analysis::is_unspaced),
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
                        read.words.push(MessageWord { stem: word.stem.clone(), written: run.to_lowercase(), kind });
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
        read
    }
}

fn kind(word: &Word, is_part: bool) -> Option<WordKind> {
    let is_pair = word.stem.chars().next().is_some_and(analysis::is_unspaced);
    match is_part {
        false if is_small_number(&word.stem) => Some(WordKind::Number),
        _ if !is_telling(word) => None,
        true => word.stem.bytes().all(|byte| byte.is_ascii_alphanumeric()).then_some(WordKind::Part),
        false if is_pair => Some(WordKind::Pair),
        false => Some(WordKind::Telling),
    }
}

/// What the memories know of the words of a message.
struct StoreWords<'a> {
    message: MessageWords,
    counts: &'a dyn Fn(usize) -> bool,
    /// The stems of the table.
    stems: Vec<&'a str>,
    /// The number of memories.
    memories: usize,
    /// For each stem of the table: in how many memories it is, without cues.
    frequencies: Vec<f32>,
    /// For each stem of the table: its weight once it is known, since many memories share a word.
    weights: Vec<Cell<Option<f32>>>,
    /// For each word of the message: the stem of the table it means, and how surely.
    meant: Vec<Meant>,
    /// For each stem of the table: the word of the message that means it.
    asked: FxHashMap<u32, usize>,
    /// Entrypoint lines with words of the message: the stems in the line of each memory.
    lines: FxHashMap<String, Vec<u32>>,
}

/// What a word of the message means in the store.
#[derive(Clone, Copy, PartialEq)]
enum Meant {
    /// A stem of the store, and how much a match counts.
    Known { id: u32, surely: f32 },
    /// Nothing in the store.
    Unknown,
    /// A mistyped word that says nothing about the topic.
    Ignored,
}

impl Meant {
    /// How much a match counts.
    fn surely(self) -> f32 {
        match self {
            Meant::Known { surely, .. } => surely,
            Meant::Unknown | Meant::Ignored => 0.0,
        }
    }
}

impl<'a> StoreWords<'a> {
    fn read(table: &'a RecallTable, message: MessageWords, counts: &'a dyn Fn(usize) -> bool) -> Self {
        let stems: Vec<&str> = table.stems().collect();
        let mut frequencies = vec![0.0; stems.len()];
        let mut elsewhere = vec![false; stems.len()];
        let mut memories = 0;
        for (_, (_, words)) in table.rows().enumerate().filter(|(at, _)| counts(*at)) {
            memories += 1;
            let body = length_factor(words.body_words);
            for (id, places) in words.words() {
                if places & (NAME | ABOUT) != 0 {
                    frequencies[id as usize] += 1.0;
                } else if places & BODY != 0 {
                    frequencies[id as usize] += body;
                } else {
                    elsewhere[id as usize] = true;
                }
            }
        }
        // The words of entrypoint lines are known too, even if no memory has them.
        for id in table.rows().flat_map(|(_, words)| words.lines()).flat_map(|(_, ids)| ids.collect::<Vec<_>>()) {
            elsewhere[id as usize] = true;
        }
        let mut store = StoreWords {
            message,
            counts,
            stems,
            memories,
            weights: vec![Cell::new(None); frequencies.len()],
            frequencies,
            meant: Vec::new(),
            asked: FxHashMap::default(),
            lines: FxHashMap::default(),
        };
        store.meant = store.meanings(&elsewhere);
        store.asked = store.asked();
        store.lines = store.lines(table);
        store
    }

    /// What each word of the message means in the store.
    fn meanings(&self, elsewhere: &[bool]) -> Vec<Meant> {
        let words = &self.message.words;
        let places: FxHashMap<&str, usize> = words.iter().enumerate().map(|(at, word)| (word.stem.as_str(), at)).collect();
        let mut meant = vec![Meant::Unknown; words.len()];
        for (id, stem) in self.stems.iter().enumerate().filter(|(id, _)| self.frequencies[*id] > 0.0 || elsewhere[*id]) {
            if let Some(at) = places.get(stem) {
                meant[*at] = Meant::Known { id: id as u32, surely: if words[*at].kind == WordKind::Part { 0.5 } else { 1.0 } };
            }
        }
        if self.message.is_typed {
            let may_be_typo = |word: &MessageWord| {
                word.kind == WordKind::Telling && word.stem.len() >= 4 && word.stem.bytes().all(|byte| byte.is_ascii_alphabetic())
            };
            for (meaning, word) in meant.iter_mut().zip(words).filter(|(meaning, word)| **meaning == Meant::Unknown && may_be_typo(word)) {
                *meaning = correct(word, &self.stems, &self.frequencies, self.message.is_foreign);
            }
        }
        meant
    }

    /// The word of the message that means each stem, the surest one.
    fn asked(&self) -> FxHashMap<u32, usize> {
        let mut asked: FxHashMap<u32, usize> = FxHashMap::default();
        for (at, meaning) in self.meant.iter().enumerate() {
            if let Meant::Known { id, surely } = meaning {
                let known = asked.entry(*id).or_insert(at);
                if self.meant[*known].surely() < *surely {
                    *known = at;
                }
            }
        }
        asked
    }

    fn lines(&self, table: &RecallTable) -> FxHashMap<String, Vec<u32>> {
        let mut lines: FxHashMap<String, Vec<u32>> = FxHashMap::default();
        for (target, ids) in table.rows().flat_map(|(_, words)| words.lines()) {
            let hit: Vec<u32> = ids.filter(|id| self.asked.contains_key(id)).collect();
            if !hit.is_empty() {
                lines.entry(target.to_owned()).or_default().extend(hit);
            }
        }
        lines
    }

    fn score(&self, table: &RecallTable) -> Vec<ScoredRow> {
        let sentences: Vec<SentenceWeight> = self.message.sentences.iter().map(|ids| self.sentence(ids)).collect();
        let rows = table.rows().enumerate().filter(|(at, _)| (self.counts)(*at));
        rows.filter_map(|(at, (row, words))| {
            let memory = self.memory(row, words)?;
            let (features, matched) = sentences.iter().filter_map(|sentence| self.fit(&memory, sentence)).reduce(better)?;
            Some(ScoredRow { row: at, features, matched })
        })
        .collect()
    }

    /// What a memory has of the message; `None` if that is nothing.
    fn memory(&self, row: &TableRow, words: RowWords<'_>) -> Option<MatchedMemory> {
        let line = self.lines.get(row.path.as_str()).map_or(&[][..], Vec::as_slice);
        let mut hits: Vec<Hit> = Vec::new();
        for (id, places) in words.words() {
            if let Some(word) = self.asked.get(&id) {
                hits.push(Hit { id, word: *word, places: if line.contains(&id) { places | ABOUT } else { places } });
            }
        }
        for id in line {
            if hits.iter().all(|hit| hit.id != *id) {
                hits.push(Hit { id: *id, word: self.asked[id], places: ABOUT });
            }
        }
        if hits.iter().all(|hit| self.message.words[hit.word].kind == WordKind::Number) {
            return None;
        }
        let of_name = |(id, places): &(u32, u8)| places & NAME != 0 && places & PART == 0 && !is_small_number(self.stems[*id as usize]);
        let name_weight: f32 = words.words().filter(of_name).map(|(id, _)| self.weight(id)).sum();
        Some(MatchedMemory {
            hits,
            name_weight: name_weight.max(0.5),
            body_factor: 0.9 * length_factor(words.body_words),
            cues: words.cues().map(Iterator::collect).collect(),
        })
    }

    /// How well a memory fits one sentence, with the matched words; `None` if they have nothing in common.
    fn fit(&self, memory: &MatchedMemory, sentence: &SentenceWeight) -> Option<(RecallFeatures, Vec<(String, f32)>)> {
        let (mut mass, mut number, mut in_name) = (0.0, 0.0, 0.0);
        let mut matched = Vec::new();
        let mut values: Vec<(u32, f32)> = Vec::new();
        for hit in memory.hits.iter().filter(|hit| sentence.words.contains(&hit.word)) {
            let surely = self.meant[hit.word].surely();
            let surely = if hit.places & PART != 0 { surely.min(0.5) } else { surely };
            let value = surely * self.weight(hit.id) * self.script_factor(hit.word);
            let field = match hit.places {
                places if places & (NAME | ABOUT) != 0 => 1.0,
                places if places & BODY != 0 => memory.body_factor,
                _ => 0.8,
            };
            if self.message.words[hit.word].kind == WordKind::Number {
                number += 0.5 * value * field;
                continue;
            }
            mass += value * field;
            if hit.places & NAME != 0 {
                in_name += value;
            }
            values.push((hit.id, value));
            matched.push((self.message.words[hit.word].stem.clone(), value * field));
        }
        if mass <= 0.0 {
            return None;
        }
        mass += number;
        let least = if self.message.count == 1 { 0.6 } else { 1.2 };
        let features = RecallFeatures {
            cover: (mass / sentence.weight.max(least)).min(1.0),
            mass: mass.min(3.0),
            name: (in_name / memory.name_weight).min(1.0),
            cue: memory.cues.iter().map(|cue| self.cue(cue, &values)).fold(0.0, f32::max),
            sentences: self.message.count,
            score: 0.0,
        };
        matched.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Some((features.sum(!memory.cues.is_empty(), self.memories), matched))
    }

    /// The share of a cue that is matched. One word of several is chance.
    fn cue(&self, cue: &[u32], values: &[(u32, f32)]) -> f32 {
        let matched: Vec<f32> = values.iter().filter(|(id, _)| cue.contains(id)).map(|(_, value)| *value).collect();
        if matched.is_empty() || (matched.len() == 1 && cue.len() > 1) {
            return 0.0;
        }
        let whole: f32 = cue.iter().map(|id| self.weight(*id)).sum();
        (matched.iter().sum::<f32>() / whole.max(0.5)).min(1.0)
    }

    /// The weight of all words of a sentence: what a memory would have to match.
    fn sentence(&self, ids: &[usize]) -> SentenceWeight {
        let (mut known, mut unknown) = (0.0, 0.0);
        for at in ids {
            let word = &self.message.words[*at];
            match (word.kind, self.meant[*at]) {
                (WordKind::Number | WordKind::Part, _) | (_, Meant::Ignored) => {}
                (_, Meant::Known { id, .. }) => known += self.weight(id) * self.script_factor(*at),
                (WordKind::Pair, Meant::Unknown) if self.message.is_foreign => unknown += 0.08,
                (_, Meant::Unknown) if self.message.is_foreign => unknown += 0.05,
                (_, Meant::Unknown) => {
                    let everyday = if is_everyday(&word.stem) { EVERYDAY } else { 1.0 };
                    unknown += 0.5 * everyday * self.idf(0.0, rarity::share_of_texts(&word.stem)) / self.idf(1.0, 0.0);
                }
            }
        }
        if self.message.is_foreign {
            unknown = unknown.min(0.6);
        }
        SentenceWeight { words: ids.to_vec(), weight: known + unknown }
    }

    fn script_factor(&self, word: usize) -> f32 {
        if self.message.words[word].kind == WordKind::Pair { 0.35 } else { 1.0 }
    }

    /// The weight of a stem: 1 for one that a single memory has and English does not.
    fn weight(&self, id: u32) -> f32 {
        let known = &self.weights[id as usize];
        known.get().unwrap_or_else(|| {
            let stem = self.stems[id as usize];
            let everyday = if is_everyday(stem) { EVERYDAY } else { 1.0 };
            let weight = everyday * self.idf(self.frequencies[id as usize], rarity::share_of_texts(stem)) / self.idf(1.0, 0.0);
            known.set(Some(weight));
            weight
        })
    }

    fn idf(&self, frequency: f32, share: f32) -> f32 {
        rarity::idf(self.memories as f32, frequency, share)
    }
}

fn better(a: (RecallFeatures, Vec<(String, f32)>), b: (RecallFeatures, Vec<(String, f32)>)) -> (RecallFeatures, Vec<(String, f32)>) {
    if b.0.score > a.0.score { b } else { a }
}

/// A memory with words of the message.
struct MatchedMemory {
    hits: Vec<Hit>,
    /// The weight of its name.
    name_weight: f32,
    /// How much a word of its body counts: one of many says less about what it is about.
    body_factor: f32,
    cues: Vec<Vec<u32>>,
}

/// A sentence, with the weight of its words.
struct SentenceWeight {
    words: Vec<usize>,
    weight: f32,
}

/// A word of the message in a memory.
struct Hit {
    id: u32,
    word: usize,
    places: u8,
}

/// How much a word of a body counts: one of many says little about the topic.
fn length_factor(words: u32) -> f32 {
    (40.0 / (words as f32).max(1.0)).min(1.0).sqrt()
}

/// Returns what a word that no memory has was meant as.
fn correct(word: &MessageWord, stems: &[&str], frequencies: &[f32], is_foreign: bool) -> Meant {
    if is_mistyped_common_word(&word.written) {
        return Meant::Ignored;
    }
    let rank = |(id, stem): (usize, &&str)| {
        let closeness = typo::closeness(&word.stem, stem, is_foreign)?;
        Some((closeness, stem.len().abs_diff(word.stem.len()), frequencies[id], id))
    };
    let used = stems.iter().enumerate().filter(|(id, _)| frequencies[*id] > 0.0);
    let best =
        used.filter_map(rank).min_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)).then_with(|| stems[a.3].cmp(stems[b.3])));
    best.map_or(Meant::Unknown, |(.., id)| Meant::Known { id: id as u32, surely: 0.8 })
}
