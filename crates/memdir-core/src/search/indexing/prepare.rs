//! Prepares a memory's text for the index: units, words, vectors. Pure: the same bytes give the same result.

use crate::search::embed::Key;
use crate::{
    base::{day::Day, limits, path::strip_md, text},
    entrypoint,
    memory::{
        Memory,
        chunk::{Chunks, Unit, UnitKind},
    },
    search::{
        analysis::{Analyser, TokenSink, Word},
        embed::{EmbedRole, Embedder, Vector, WordSum},
        index::{IndexFile, IndexUnit, IndexedValidity, STOP_MARK, Sketch, Words},
    },
    store::{Stored, mounts},
};
use std::{
    borrow::Cow,
    hash::{Hash as _, Hasher as _},
};

/// Bytes of a unit's title (name, description, headings) in the index; a file with many units has shorter ones, so that together
/// they stay below [`INDEXED_TITLES_BYTES`].
const INDEXED_TITLE_BYTES: usize = 4 << 10;
/// Bytes of all titles of one file in the index: every unit repeats its title, so a small file could have a large index.
const INDEXED_TITLES_BYTES: usize = 16 << 20;

/// Prepares files, one after the other. Keep one per thread: it caches words.
pub struct Preparer<'e> {
    analyser: Analyser,
    vectors: VectorSource<'e>,
}

/// The source of the vectors of units.
enum VectorSource<'e> {
    None,
    Sum(Box<dyn WordSum + 'e>),
    Embedder(&'e dyn Embedder),
}

/// The text of a unit that is embedded: the headings above it, then its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitText {
    /// Its first line, 1-based.
    pub first: u32,
    /// Its last line, inclusive.
    pub last: u32,
    /// The key of its vector.
    pub key: Key,
    /// The text.
    pub text: String,
}

impl<'e> Preparer<'e> {
    /// Creates a preparer. With an instant embedder units get their vectors at once; otherwise they have none yet.
    pub fn new(embedder: Option<&'e dyn Embedder>) -> Self {
        let vectors = match embedder.filter(|embedder| embedder.is_instant()) {
            None => VectorSource::None,
            Some(embedder) => embedder.word_sum().map_or(VectorSource::Embedder(embedder), VectorSource::Sum),
        };
        Preparer { analyser: Analyser::default(), vectors }
    }

    /// Prepares a file, whose name in the mount is `path`.
    pub fn prepare(&mut self, path: &str, stored: &Stored, seen_ns: i64) -> IndexFile {
        let (decoded, _) = text::decode(&stored.bytes);
        let (memory, _) = Memory::parse(&decoded);
        let chunks = Chunks::new(&decoded, memory.body_first_line() as u32);
        let starts = line_starts(&decoded);
        let file_name = strip_md(path.rsplit('/').next().unwrap_or(path));
        let mut file = IndexFile {
            path: path.to_owned(),
            stamp: stored.stamp,
            seen_ns,
            version: stored.version,
            kind: memory.kind(),
            validity: IndexedValidity::from(&memory.validity()),
            head: self.index_words([memory.name().unwrap_or(file_name), memory.description().unwrap_or("")]),
            cues: self.index_words(memory.cues().iter().map(String::as_str)).stems,
            units: Vec::with_capacity(chunks.units.len()),
        };
        let file_day = memory.raw("date").and_then(Day::find).or_else(|| Day::find(file_name));
        let headings: Vec<Words> = chunks.headings.iter().map(|heading| self.index_words([heading.text.as_str()])).collect();
        let points = mounts::is_pointer_file_name(path);
        let title_bytes = (INDEXED_TITLES_BYTES / chunks.units.len().max(1)).clamp(limits::HEADING_BYTES, INDEXED_TITLE_BYTES);
        for unit in &chunks.units {
            let lines = |first: u32| &decoded[starts[first as usize - 1]..starts[unit.last as usize]];
            // The headings above a turn are its title, not part of what the speaker wrote.
            let own = lines(if unit.kind == UnitKind::Turn { unit.own } else { unit.first });
            // The frame that memdir writes around the lines of an entrypoint is not content.
            if points && own.lines().all(entrypoint::is_frame) {
                continue;
            }
            // A heading at the end of the file belongs to the last line.
            let line = own.split("\n#").next().unwrap_or(own);
            let points_to = if points && unit.kind == UnitKind::Item { entrypoint::pointer(line) } else { None };
            let mut found = UnitWords::default();
            if points {
                own.lines().filter(|line| !entrypoint::is_frame(line)).for_each(|line| self.analyser.feed(line, &mut found));
            } else {
                self.analyser.feed(own, &mut found);
            }
            let embedded = unit_text(&chunks, unit, own);
            let vector = if points_to.is_none() { self.vector(&embedded.text) } else { None };
            file.units.push(IndexUnit {
                first: unit.first,
                last: unit.last,
                day: unit.day.or(file_day),
                assistant: unit.speaker.as_ref().is_some_and(|speaker| speaker.assistant),
                in_file: points_to.is_none() && !unit.speaker.as_ref().is_some_and(|speaker| speaker.assistant),
                points_to,
                title: self.title(&chunks, unit, &file.head, &headings, title_bytes),
                body: found.words,
                codes: found.codes,
                sketch: found.sketch,
                key: embedded.key,
                vector,
            });
        }
        file
    }

    fn vector(&mut self, text: &str) -> Option<Vector> {
        match &mut self.vectors {
            VectorSource::None => None,
            VectorSource::Sum(sum) => {
                sum.add_text(text);
                Some(sum.finish())
            }
            // After a failure the unit has no vector and is embedded later.
            VectorSource::Embedder(embedder) => {
                embedder.embed(EmbedRole::Passage, &[text]).ok().and_then(|vectors| vectors.into_iter().next())
            }
        }
    }

    fn index_words<'t>(&mut self, texts: impl IntoIterator<Item = &'t str>) -> Words {
        let mut found = UnitWords::default();
        texts.into_iter().for_each(|text| self.analyser.feed(text, &mut found));
        found.words
    }

    /// The words of the title: name and description, headings from the outermost, speaker.
    fn title(&mut self, chunks: &Chunks, unit: &Unit, head: &Words, headings: &[Words], max_bytes: usize) -> Words {
        let mut title = shortened(head, max_bytes).into_owned();
        let mut path: Vec<usize> = std::iter::successors(unit.heading, |&at| chunks.headings[at].parent).collect();
        path.reverse();
        for at in path {
            let room = max_bytes.saturating_sub(title.stems.len());
            append(&mut title, &shortened(&headings[at], room));
        }
        if let Some(speaker) = &unit.speaker {
            append(&mut title, &self.index_words([speaker.name.as_str()]));
        }
        title
    }
}

/// Returns the texts of a file's units, in order, with the keys that [`Preparer::prepare`] gives them.
pub fn unit_texts(decoded: &str) -> Vec<UnitText> {
    let (memory, _) = Memory::parse(decoded);
    let chunks = Chunks::new(decoded, memory.body_first_line() as u32);
    let starts = line_starts(decoded);
    let text = |unit: &Unit| {
        let first = if unit.kind == UnitKind::Turn { unit.own } else { unit.first };
        unit_text(&chunks, unit, &decoded[starts[first as usize - 1]..starts[unit.last as usize]])
    };
    chunks.units.iter().map(text).collect()
}

fn unit_text(chunks: &Chunks, unit: &Unit, own: &str) -> UnitText {
    let mut text = String::new();
    if unit.kind != UnitKind::Turn {
        let above =
            std::iter::successors(unit.heading, |&at| chunks.headings[at].parent).filter(|at| chunks.headings[*at].line < unit.first);
        let mut above: Vec<usize> = above.collect();
        above.reverse();
        for at in above {
            text.push_str(&chunks.headings[at].text);
            text.push('\n');
        }
    }
    text.push_str(own);
    UnitText { first: unit.first, last: unit.last, key: Key::from_text(&text), text }
}

/// The start of each line, and the end of the last one.
fn line_starts(text: &str) -> Vec<usize> {
    let mut starts: Vec<usize> =
        std::iter::once(0).chain(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| at + 1)).collect();
    if starts.last() != Some(&text.len()) {
        starts.push(text.len());
    }
    starts
}

/// The first words that fit in a number of bytes.
fn shortened(words: &Words, max_bytes: usize) -> Cow<'_, Words> {
    if words.stems.len() <= max_bytes {
        return Cow::Borrowed(words);
    }
    let end = words.stems[..text::floor_char_boundary(&words.stems, max_bytes)].rfind(' ').unwrap_or(0);
    let stems = words.stems[..end].to_owned();
    let all = || stems.split(' ').filter(|stem| !stem.is_empty());
    let (count, kept) = (all().count() as u32, all().filter(|stem| !stem.starts_with(STOP_MARK)).count() as u32);
    Cow::Owned(Words { stems, count, kept })
}

fn append(words: &mut Words, more: &Words) {
    if more.count == 0 {
        return;
    }
    if words.count > 0 {
        words.stems.push(' ');
    }
    words.stems.push_str(&more.stems);
    words.count += more.count;
    words.kept += more.kept;
}

/// Collects the words of a unit.
#[derive(Default)]
struct UnitWords {
    words: Words,
    codes: String,
    sketch: Sketch,
}

impl TokenSink for UnitWords {
    fn word(&mut self, word: &Word) {
        self.words.push(&word.stem, word.stop);
        if !word.stop {
            let mut hasher = rustc_hash::FxHasher::default();
            word.stem.hash(&mut hasher);
            self.sketch.add((hasher.finish() >> 32) as u32);
        }
    }

    fn code(&mut self, code: &str) {
        if !self.codes.is_empty() {
            self.codes.push(' ');
        }
        self.codes.push_str(code);
    }
}
