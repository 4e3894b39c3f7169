//! The seam to the search index of one mount: which words stand in which lines. Never truth: everything in it can be made
//! again from the files. An index never reads a memory and never knows a store.

use crate::{
    base::{
        day::{Day, NamedTime},
        error::Result,
        stamp::Stamp,
        version::Version,
    },
    entrypoint,
    memory::Kind,
    search::embed::{Key, Vector},
};
use std::sync::Arc;

/// The search index of one mount. Names in it are relative to the mount.
///
/// The contract, which one test checks for every implementation:
/// - A [`View`] never changes. `view` gives the newest one, with all that any process applied before the call.
/// - What a view answers depends on its files alone, not on how they came there: an index that was updated and one that was
///   made anew give the same numbers.
/// - `begin` gives the one writer there is, waiting for others as long as `wait` says. What a batch does is seen by nobody
///   before it is committed, and then at once. A batch that is dropped has done nothing.
/// - An overlay is seen by nobody but its owner.
/// - Damage is never an answer: an index that cannot be trusted is empty, and says so.
pub trait Index: Send + Sync {
    /// What is there now.
    fn view(&self) -> Result<Arc<dyn View>>;

    /// A view with some files changed on top, in memory.
    fn overlay(&self, base: &Arc<dyn View>, changes: &[IndexChange]) -> Result<Arc<dyn View>>;

    /// Begins to change the index. Nothing if another process is at it and we do not wait.
    fn begin(&self, wait: Wait) -> Result<Option<Box<dyn Batch + '_>>>;

    /// Discards what is there, so that the next view is empty. For an index that gave impossible answers.
    fn forget(&self) -> Result<()>;

    /// Returns why the index had to be discarded since the last call, or `None` if it was intact. What was made by another
    /// version is not damage.
    fn damage_report(&self) -> Option<String> {
        None
    }

    /// Whether every byte is as it was written. Reads all of them.
    fn is_whole(&self) -> bool {
        true
    }

    /// How much it holds on disk.
    fn size(&self) -> IndexSize;
}

/// Whether to wait for another writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Until it is done.
    Yes,
    /// Not at all.
    No,
}

/// How much an index holds on disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct IndexSize {
    /// Bytes of all its files.
    pub bytes: u64,
    /// How many files.
    pub files: u64,
    /// Parts that are searched one after the other.
    pub segments: u64,
}

/// One change to an index, under the writer's lock.
pub trait Batch {
    /// What is there now: nobody else changes it while this batch lives.
    fn view(&self) -> Arc<dyn View>;

    /// A writer for new or changed files. Several may work at once, each on its thread; a file that is put replaces the one
    /// of its name when the batch is committed. `files` is about how many it will get.
    fn writer(&self, files: usize) -> Result<Box<dyn FileWriter>>;

    /// Takes a file out.
    fn remove(&mut self, path: &str);

    /// Notes that a file, seen again, is still the version that is indexed.
    fn seen(&mut self, path: &str, stamp: Stamp, seen_ns: i64);

    /// Brings in the vectors of a file that was indexed, in this version, before it could be embedded. With them, and those
    /// that were there, all of its units have one.
    fn embedded(&mut self, path: &str, version: Version, vectors: Vec<(Key, Vector)>);

    /// Makes everything visible at once.
    fn commit(self: Box<Self>, written: Vec<Box<dyn FileWriter>>) -> Result<()>;
}

/// Writes files into an index.
pub trait FileWriter: Send {
    /// Takes one file in.
    fn put(&mut self, file: Arc<IndexFile>) -> Result<()>;

    /// Finishes what was put, on the thread of the caller: the commit has less to do then.
    fn flush(&mut self) -> Result<()>;

    /// For the implementation that made it.
    fn into_any(self: Box<Self>) -> Box<dyn std::any::Any>;
}

/// A change to an overlay.
#[derive(Debug, Clone)]
pub enum IndexChange {
    /// The file is this now.
    Put(Arc<IndexFile>),
    /// The file is gone.
    Remove(String),
}

/// A file made ready for the index: its words, not its text.
#[derive(Debug, Clone)]
pub struct IndexFile {
    /// Its name in the mount.
    pub path: String,
    /// What the file system said when it was read.
    pub stamp: Stamp,
    /// When it was read, nanoseconds since 1970.
    pub seen_ns: i64,
    /// The version that was read.
    pub version: Version,
    /// Its type.
    pub kind: Option<Kind>,
    /// Name, description and file name.
    pub head: Words,
    /// Its units, in the order of lines.
    pub units: Vec<IndexUnit>,
}

impl IndexFile {
    /// Units that do more than point to a file.
    pub fn told_units(&self) -> u32 {
        self.units.iter().filter(|unit| unit.points_to.is_none()).count() as u32
    }

    /// Whether people are told of it: somebody wrote something into it. What memdir keeps for itself is no file of theirs.
    pub fn is_told(&self) -> bool {
        !entrypoint::holds_lines(&self.path) || self.told_units() > 0
    }
}

/// Words as the index takes them: stems between blanks, those of stop words behind [`STOP_MARK`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    /// The stems.
    pub stems: String,
    /// How many.
    pub count: u32,
    /// How many of them are no stop words.
    pub kept: u32,
}

/// What stands before the stem of a stop word in [`Words::stems`].
pub const STOP_MARK: char = '\u{1}';

impl Words {
    /// Adds a word at the end.
    pub fn push(&mut self, stem: &str, stop: bool) {
        if !self.stems.is_empty() {
            self.stems.push(' ');
        }
        if stop {
            self.stems.push(STOP_MARK);
        }
        self.stems.push_str(stem);
        self.count += 1;
        self.kept += u32::from(!stop);
    }
}

/// One unit of a file, made ready for the index.
#[derive(Debug, Clone)]
pub struct IndexUnit {
    /// Its first line, 1-based.
    pub first: u32,
    /// Its last line, inclusive.
    pub last: u32,
    /// Its day.
    pub day: Option<Day>,
    /// Whether an assistant speaks.
    pub assistant: bool,
    /// Whether its words count among those of the whole file.
    pub in_file: bool,
    /// The name in the mount of the file it points to, if it does nothing else.
    pub points_to: Option<String>,
    /// Its words.
    pub body: Words,
    /// The words of its headings, its speaker, and the file's name and description.
    pub title: Words,
    /// Its codes, between blanks.
    pub codes: String,
    /// For telling near duplicates: see [`Sketch`].
    pub sketch: Sketch,
    /// The key of the text that is embedded for it.
    pub key: Key,
    /// That text's vector, if there is one.
    pub vector: Option<Vector>,
}

/// The smallest hashes of a unit's distinct words: texts that share nearly all of them are nearly the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct Sketch([u32; 8]);

impl Default for Sketch {
    fn default() -> Self {
        Sketch([u32::MAX; 8])
    }
}

impl Sketch {
    /// Takes in the hash of a word.
    pub fn add(&mut self, hash: u32) {
        // The last value is the largest: nearly every hash ends here.
        if hash >= self.0[7] {
            return;
        }
        if let Err(at) = self.0.binary_search(&hash) {
            self.0.copy_within(at..7, at + 1);
            self.0[at] = hash;
        }
    }

    /// Whether the two texts have nearly the same words.
    pub fn is_near(&self, other: &Sketch) -> bool {
        let shared = self.0.iter().filter(|hash| **hash != u32::MAX && other.0.contains(hash)).count();
        let most = |s: &Sketch| s.0.iter().filter(|hash| **hash != u32::MAX).count();
        let (own, others) = (most(self), most(other));
        own > 0 && if own == 8 && others == 8 { shared >= 7 } else { own == others && shared == own }
    }
}

/// What an index knew at one moment.
pub trait View: Send + Sync {
    /// How a file was when it was indexed.
    fn known(&self, path: &str) -> Option<Known>;

    /// Every file, in no order.
    fn each_file(&self, each: &mut dyn FnMut(&str, Known));

    /// How many files and units.
    fn totals(&self) -> Totals;

    /// Whether there is a vector for a text.
    fn has_vector(&self, key: &Key) -> bool;

    /// Looks up a query's words.
    fn ask<'a>(&'a self, ask: &'a Ask<'a>) -> Result<Box<dyn Asked + 'a>>;

    /// For the implementation that made it.
    fn as_any(&self) -> &dyn std::any::Any;
}

/// How a file was when it was indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// What the file system said of it.
    pub stamp: Stamp,
    /// When, nanoseconds since 1970.
    pub seen_ns: i64,
    /// The version that is indexed.
    pub version: Version,
    /// Its type.
    pub kind: Option<Kind>,
    /// Its units.
    pub units: u32,
    /// Whether one of its units has no vector.
    pub unembedded: bool,
}

/// Sums over the living units and files of an index: what average lengths and frequencies are measured by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Totals {
    /// Files.
    pub files: u64,
    /// Units.
    pub units: u64,
    /// Words of all units.
    pub body: u64,
    /// Pairs of all units.
    pub pairs: u64,
    /// Title words of all units.
    pub title: u64,
    /// Words of all whole files.
    pub file: u64,
    /// Files somebody wrote something into: what people are told. An entrypoint with nothing but lines that point is none.
    pub told_files: u64,
    /// Units that do more than point to a file.
    pub told_units: u64,
}

impl Totals {
    /// Adds another index's.
    pub fn add(&mut self, other: &Totals) {
        self.each(other, |a, b| a + b);
    }

    /// Takes some away again.
    pub fn sub(&mut self, other: &Totals) {
        self.each(other, u64::saturating_sub);
    }

    fn each(&mut self, other: &Totals, with: impl Fn(u64, u64) -> u64) {
        let own: &mut [u64] = bytemuck::cast_slice_mut(std::slice::from_mut(self));
        let others: &[u64] = bytemuck::cast_slice(std::slice::from_ref(other));
        own.iter_mut().zip(others).for_each(|(a, b)| *a = with(*a, *b));
    }
}

/// What is asked of an index.
pub struct Ask<'a> {
    /// Stems.
    pub terms: &'a [String],
    /// Codes.
    pub codes: &'a [String],
    /// Places in `terms` of words that stand side by side.
    pub pairs: &'a [(usize, usize)],
    /// Units with one of these words or codes are no answer.
    pub without: &'a [String],
    /// Units must hold all words of each of these.
    pub must: &'a [Vec<String>],
    /// The month and year that are named.
    pub time: NamedTime,
    /// The query's vector.
    pub vector: Option<&'a Vector>,
    /// Which files may be answers, by name and what is known of them. Nothing means all.
    pub files: Option<&'a (dyn Fn(&str, &Known) -> bool + Sync)>,
    /// The earliest day an answer may have: units without a day go by the time of their file.
    pub since: Option<Since>,
}

/// The earliest time of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Since {
    /// For units that have a day.
    pub day: Day,
    /// For the others: nanoseconds since 1970.
    pub ns: i64,
}

/// A query's words, looked up in one view.
pub trait Asked {
    /// How often they occur.
    fn counts(&self) -> &Counts;

    /// The best units by words, and the nearest ones by meaning. `counts` are those of all views that are searched together.
    /// How many there are does not depend on how many are wanted in the end.
    fn candidates(&self, counts: &Counts) -> Result<Vec<Candidate>>;
}

/// How often words occur, in living units and files. Adds up over indexes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counts {
    /// The sums everything is measured by.
    pub totals: Totals,
    /// For each term.
    pub terms: Vec<TermCount>,
    /// For each code: units that hold it.
    pub codes: Vec<u64>,
    /// For each pair: units that hold it.
    pub pairs: Vec<u64>,
}

/// Units and files that hold a term.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TermCount {
    /// Units, in their own words.
    pub body: u64,
    /// Units, in their title.
    pub title: u64,
    /// Units, as a code.
    pub code: u64,
    /// Files.
    pub file: u64,
}

impl Counts {
    /// Adds another index's counts of the same query.
    pub fn add(&mut self, other: &Counts) {
        self.totals.add(&other.totals);
        let sum = |into: &mut Vec<u64>, from: &[u64]| {
            into.resize(from.len().max(into.len()), 0);
            into.iter_mut().zip(from).for_each(|(a, b)| *a += b);
        };
        sum(&mut self.codes, &other.codes);
        sum(&mut self.pairs, &other.pairs);
        self.terms.resize(other.terms.len().max(self.terms.len()), TermCount::default());
        for (a, b) in self.terms.iter_mut().zip(&other.terms) {
            a.body += b.body;
            a.title += b.title;
            a.code += b.code;
            a.file += b.file;
        }
    }
}

/// A unit that may be an answer, with everything its rank depends on.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Its file's name in the mount.
    pub path: String,
    /// The version of the file it was indexed from.
    pub version: Version,
    /// When its file was last changed, nanoseconds since 1970.
    pub modified_ns: i64,
    /// The type of its memory.
    pub kind: Option<Kind>,
    /// Its first line, 1-based.
    pub first: u32,
    /// Its last line, inclusive.
    pub last: u32,
    /// Its day.
    pub day: Option<Day>,
    /// Whether an assistant speaks.
    pub assistant: bool,
    /// How well its words fit.
    pub parts: Parts,
    /// The cosine with the query, where both have a vector.
    pub cosine: Option<f32>,
    /// For telling near duplicates.
    pub sketch: Sketch,
    /// The key of its text.
    pub key: Key,
}

/// The signals of a unit, before they are weighed.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Parts {
    /// Its own words.
    pub body: f32,
    /// Its headings, speaker and the file's name and description.
    pub title: f32,
    /// Words side by side, as in the query.
    pub pair: f32,
    /// Identifiers and parts of them.
    pub code: f32,
    /// The words of the better of its two neighbours.
    pub neighbour: f32,
    /// The words of the whole file.
    pub parent: f32,
    /// The words of the entrypoint line that points to the file.
    pub pointer: f32,
    /// Whether it is of the time the query names.
    pub date: f32,
}
