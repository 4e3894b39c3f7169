//! The words of one memory, by field.

use crate::{
    base::{path::MemoryPath, text},
    entrypoint,
    memory::Memory,
    recall::words::{is_small_number, is_telling},
    search::analysis::{Analyser, TokenSink, Word},
    store::{Store, mounts},
};
use rustc_hash::FxHashMap;

/// In the file name or the title.
pub(in crate::recall) const NAME: u8 = 1;
/// In the description or the entrypoint line.
pub(in crate::recall) const ABOUT: u8 = 2;
/// In the body.
pub(in crate::recall) const BODY: u8 = 4;
/// In a cue.
const CUE: u8 = 8;
/// Only as a part of a `camelCase` word.
pub(in crate::recall) const PART: u8 = 16;
/// In a line of an entrypoint that points to the memory.
pub(in crate::recall) const LINE: u8 = 32;

/// How much of a body counts. A word of a longer body weighs next to nothing.
const BODY_BYTES: usize = 64 << 10;

/// How much a word of a body counts: one of many says little about the topic.
pub(in crate::recall) fn length_factor(words: u32) -> f32 {
    (40.0 / (words as f32).max(1.0)).min(1.0).sqrt()
}

/// What a memory adds to the frequency of a stem that is in these fields. Cues and entrypoint lines add nothing.
pub(in crate::recall) fn count_of(places: u8, body_factor: f32) -> f32 {
    match places {
        places if places & (NAME | ABOUT) != 0 => 1.0,
        places if places & BODY != 0 => body_factor,
        _ => 0.0,
    }
}

/// The words of one file.
#[derive(Debug, Default)]
pub(super) struct Fields {
    /// Each stem once, with the fields it is in.
    pub(super) words: Vec<(String, u8)>,
    /// The number of words of the body.
    pub(super) body_words: u32,
    /// The stems of each cue.
    pub(super) cues: Vec<Vec<String>>,
    /// For an entrypoint or page: the stems of each line, with the memory it points to.
    pub(super) lines: Vec<(String, Vec<String>)>,
}

impl Fields {
    pub(super) fn of_memory(path: &MemoryPath, memory: &Memory, analyser: &mut Analyser) -> Fields {
        let mut words = Collected::default();
        let file_name = path.name().rsplit('/').next().unwrap_or_default();
        words.add(file_name, NAME, analyser);
        words.add(memory.name().unwrap_or_default(), NAME, analyser);
        words.add(memory.description().unwrap_or_default(), ABOUT, analyser);
        words.count = 0;
        let body = memory.body();
        words.add(&body[..text::floor_char_boundary(body, BODY_BYTES.min(body.len()))], BODY, analyser);
        let body_words = words.count;
        let cues: Vec<Vec<String>> = memory.cues().iter().map(|cue| words.add(cue, CUE, analyser)).collect();
        Fields { words: words.into_list(), body_words, cues, lines: Vec::new() }
    }

    pub(super) fn of_entrypoint(store: &dyn Store, path: &MemoryPath, memory: &Memory, analyser: &mut Analyser) -> Fields {
        let prefix = mounts::mount_of(store, path).map(|mount| mount.prefix.clone()).unwrap_or_default();
        let line = |line: &str, analyser: &mut Analyser| {
            let target = MemoryPath::parse(&entrypoint::pointer(line)?).ok()?.prefixed(&prefix);
            let stems = Collected::default().add(line, ABOUT, analyser);
            Some((target.as_str().to_owned(), stems))
        };
        let lines = memory.body().lines().filter_map(|text| line(text, analyser)).collect();
        Fields { lines, ..Fields::default() }
    }
}

#[derive(Default)]
struct Collected {
    places: FxHashMap<String, u8>,
    count: u32,
}

impl Collected {
    /// Adds the words of a text; returns its telling stems, each once.
    fn add(&mut self, text: &str, field: u8, analyser: &mut Analyser) -> Vec<String> {
        let mut sink = FieldSink { into: self, field, telling: Vec::new() };
        analyser.feed(text, &mut sink);
        let mut telling = sink.telling;
        telling.sort_unstable();
        telling.dedup();
        telling
    }

    fn into_list(self) -> Vec<(String, u8)> {
        let mut list: Vec<(String, u8)> = self.places.into_iter().collect();
        list.sort_unstable();
        list
    }
}

struct FieldSink<'a> {
    into: &'a mut Collected,
    field: u8,
    telling: Vec<String>,
}

impl TokenSink for FieldSink<'_> {
    fn word(&mut self, word: &Word) {
        self.into.count += 1;
        if is_telling(word) || is_small_number(&word.stem) {
            // Written as a word somewhere: no longer only a part.
            let places = self.into.places.entry(word.stem.clone()).or_default();
            *places = (*places | self.field) & !PART;
            if !is_small_number(&word.stem) {
                self.telling.push(word.stem.clone());
            }
        }
    }

    fn code(&mut self, code: &str) {
        // Identifiers as written are found by their words; here only the parts of camelCase are new.
        if code.bytes().all(|byte| byte.is_ascii_alphanumeric()) && is_telling(&Word { stem: code.to_owned(), stop: false }) {
            let places = self.into.places.entry(code.to_owned()).or_insert(PART);
            *places |= self.field;
        }
    }
}
