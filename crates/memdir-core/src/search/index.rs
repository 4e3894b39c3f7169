//! The [`Index`] trait: the search index of one mount, which maps words to lines. It is derived data and can always be rebuilt from
//! the files. An index never reads a memory and never uses a store.

use crate::{
    base::{
        day::{Day, NamedTime},
        error::Result,
        stamp::Stamp,
        version::Version,
    },
    memory::{
        Kind,
        validity::{MemoryStatus, Outdated, Validity, outdated_by_status},
    },
    search::embed::{Key, Vector},
    store::mounts,
};
use jiff::{ToSpan as _, civil::Date};
use std::{sync::Arc, time::SystemTime};

/// The search index of one mount. Names in it are relative to the mount.
///
/// The contract, which one test checks for every implementation:
/// - A [`IndexView`] never changes. `view` returns the newest one, with everything that any process committed before the call.
/// - What a view returns depends on its files alone, not on their history: an index that was updated and one that was rebuilt give
///   the same numbers.
/// - `begin` returns the only writer, and waits for other writers as `wait` demands. The changes of a batch become visible all at
///   once when it is committed. A batch that is dropped changes nothing.
/// - An overlay is visible to its owner only.
/// - Damage never leads to wrong results: an index that cannot be trusted is empty and has a damage report.
pub trait Index: Send + Sync {
    /// Returns the newest view.
    fn view(&self) -> Result<Arc<dyn IndexView>>;

    /// Returns a view with some files changed on top, in memory.
    fn overlay(&self, base: &Arc<dyn IndexView>, changes: &[IndexChange]) -> Result<Arc<dyn IndexView>>;

    /// Begins to change the index. `None` if another process is writing and `wait` is [`Wait::No`], or `is_cancelled` returns true
    /// meanwhile.
    fn begin(&self, wait: Wait, is_cancelled: &dyn Fn() -> bool) -> Result<Option<Box<dyn Batch + '_>>>;

    /// Frees what is kept in memory between calls. The next view opens the index again.
    fn close(&self) {}

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

    /// Its size on disk.
    fn size(&self) -> IndexSize;

    /// When a batch was last committed, or `None` if that is not known or never happened.
    fn changed(&self) -> Option<SystemTime> {
        None
    }
}

/// Whether to wait for another writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Wait until it is done.
    Yes,
    /// Do not wait.
    No,
}

/// The size of an index on disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct IndexSize {
    /// Bytes of all its files.
    pub bytes: u64,
    /// The number of files.
    pub files: u64,
    /// The number of segments.
    pub segments: u64,
}

/// A change of an index, under the writer's lock.
pub trait Batch {
    /// The newest view, which no other process changes during this batch.
    fn view(&self) -> Arc<dyn IndexView>;

    /// Returns a writer for new or changed files. Several may work in parallel, each on its thread; a file replaces the one of its name
    /// when the batch is committed. `files` is the approximate number of files to come.
    fn writer(&self, files: usize) -> Result<Box<dyn FileWriter>>;

    /// Removes a file.
    fn remove(&mut self, path: &str);

    /// Records that a file was checked and is still the indexed version.
    fn seen(&mut self, path: &str, stamp: Stamp, seen_ns: i64);

    /// Adds vectors to a file that was indexed, in this version, before it was embedded. Then all of its units have one.
    fn embedded(&mut self, path: &str, version: Version, vectors: Vec<(Key, Vector)>);

    /// Makes all changes visible at once.
    fn commit(self: Box<Self>, written: Vec<Box<dyn FileWriter>>) -> Result<()>;
}

/// Writes files into an index.
pub trait FileWriter: Send {
    /// Adds one file.
    fn put(&mut self, file: Arc<IndexFile>) -> Result<()>;

    /// Finishes the added files on the thread of the caller, so that the commit has less to do.
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

/// A file prepared for the index: its words, not its text.
#[derive(Debug, Clone)]
pub struct IndexFile {
    /// Its name in the mount.
    pub path: String,
    /// Its stamp when it was read.
    pub stamp: Stamp,
    /// When it was read, nanoseconds since 1970.
    pub seen_ns: i64,
    /// The version that was read.
    pub version: Version,
    /// Its type.
    pub kind: Option<Kind>,
    /// How far it can be trusted.
    pub validity: IndexedValidity,
    /// Name, description and file name.
    pub head: Words,
    /// The stems of its cues, between blanks. They are in no other field, so that they change neither the words nor the text of a
    /// unit.
    pub cues: String,
    /// Its units, in the order of lines.
    pub units: Vec<IndexUnit>,
}

impl IndexFile {
    /// The number of units with content, not counting lines that only point to a file.
    pub fn counted_units(&self) -> u32 {
        self.units.iter().filter(|unit| unit.points_to.is_none()).count() as u32
    }

    /// Whether it counts as a file for users: an entrypoint that consists of generated lines does not.
    pub fn is_counted(&self) -> bool {
        !mounts::is_pointer_file_name(&self.path) || self.counted_units() > 0
    }
}

/// What an index keeps of the [`Validity`] of a memory. The names of other memories are read from the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IndexedValidity {
    /// Whether its status is `deprecated`.
    pub deprecated: bool,
    /// The last day on which it is taken for true.
    pub stale_after: Option<Date>,
    /// Whether it names memories that it replaces or is replaced by.
    pub names_others: bool,
}

impl IndexedValidity {
    const DAY_ONE: Date = Date::constant(1970, 1, 1);
    const DEPRECATED: u32 = 1;
    const NAMES_OTHERS: u32 = 2;

    /// Whether the memory ranks behind others today.
    pub fn outdated(self, today: impl FnOnce() -> Date) -> Option<Outdated> {
        outdated_by_status(self.deprecated, self.stale_after, today)
    }

    /// Packs it into 24 bits. A day before 1970 becomes the first day of 1970.
    pub fn pack(self) -> u32 {
        let day = |date: Date| date.since(Self::DAY_ONE).map_or(0, |span| span.get_days().max(0) as u32);
        let days = self.stale_after.map_or(0, |date| (day(date) + 1).min((1 << 22) - 1));
        days << 2 | if self.deprecated { Self::DEPRECATED } else { 0 } | if self.names_others { Self::NAMES_OTHERS } else { 0 }
    }

    /// Unpacks it.
    pub fn unpack(bits: u32) -> Self {
        let stale_after = (bits >> 2).checked_sub(1).and_then(|days| Self::DAY_ONE.checked_add((days as i32).days()).ok());
        IndexedValidity { deprecated: bits & Self::DEPRECATED != 0, stale_after, names_others: bits & Self::NAMES_OTHERS != 0 }
    }
}

impl From<&Validity> for IndexedValidity {
    fn from(validity: &Validity) -> Self {
        IndexedValidity {
            deprecated: validity.status == Some(MemoryStatus::Deprecated),
            stale_after: validity.stale_after,
            names_others: !validity.supersedes.is_empty() || !validity.superseded_by.is_empty(),
        }
    }
}

/// Words in the form of the index: stems separated by spaces, those of stop words with [`STOP_MARK`] before them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    /// The stems.
    pub stems: String,
    /// Their number.
    pub count: u32,
    /// The number of those that are not stop words.
    pub kept: u32,
}

/// The prefix of the stem of a stop word in [`Words::stems`].
pub const STOP_MARK: char = '\u{1}';

impl Words {
    /// Appends a word.
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

/// One unit of a file, prepared for the index.
#[derive(Debug, Clone)]
pub struct IndexUnit {
    /// Its first line, 1-based.
    pub first: u32,
    /// Its last line, inclusive.
    pub last: u32,
    /// Its date.
    pub day: Option<Day>,
    /// Whether it is an assistant's turn.
    pub assistant: bool,
    /// Whether its words count among those of the whole file.
    pub in_file: bool,
    /// The name of the file that it points to, if it does nothing else.
    pub points_to: Option<String>,
    /// Its words.
    pub body: Words,
    /// The words of its headings, its speaker, and the file's name and description.
    pub title: Words,
    /// Its codes, between blanks.
    pub codes: String,
    /// For the detection of near duplicates: see [`Sketch`].
    pub sketch: Sketch,
    /// The key of the text that is embedded.
    pub key: Key,
    /// The vector of that text, if there is one.
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
    /// Adds the hash of a word.
    pub fn add(&mut self, hash: u32) {
        // The last value is the largest: nearly every hash stops here.
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

/// An immutable snapshot of an index.
pub trait IndexView: Send + Sync {
    /// Returns what was recorded when a file was indexed.
    fn known(&self, path: &str) -> Option<KnownFile>;

    /// Calls `each` with every file, in no particular order.
    fn each_file(&self, each: &mut dyn FnMut(&str, KnownFile));

    /// The names of the files that name memories which they replace or are replaced by, in no particular order.
    fn naming_others(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.each_file(&mut |name, known| {
            if known.validity.names_others {
                names.push(name.to_owned());
            }
        });
        names
    }

    /// The sums over all files and units.
    fn totals(&self) -> Totals;

    /// An upper estimate of the bytes of memory that it uses, mapped files included.
    fn resident_bytes(&self) -> u64 {
        0
    }

    /// Whether there is a vector for a text.
    fn has_vector(&self, key: &Key) -> bool;

    /// The number of vectors of its units. Looks at every unit.
    fn vectors(&self) -> u64;

    /// Looks up a query's words.
    fn ask<'a>(&'a self, ask: &'a IndexQuery<'a>) -> Result<Box<dyn IndexMatches + 'a>>;

    /// For the implementation that made it.
    fn as_any(&self) -> &dyn std::any::Any;
}

/// What was recorded when a file was indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownFile {
    /// Its stamp.
    pub stamp: Stamp,
    /// When it was read, nanoseconds since 1970.
    pub seen_ns: i64,
    /// The indexed version.
    pub version: Version,
    /// Its type.
    pub kind: Option<Kind>,
    /// How far it can be trusted.
    pub validity: IndexedValidity,
    /// The number of its units.
    pub units: u32,
    /// Whether one of its units has no vector.
    pub unembedded: bool,
}

/// Sums over the live units and files of an index, on which average lengths and frequencies are based.
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
    /// Files as users count them: without entrypoints that consist of generated lines.
    pub counted_files: u64,
    /// Units with content: without lines that only point to a file.
    pub counted_units: u64,
}

impl Totals {
    /// Adds the sums of another index.
    pub fn add(&mut self, other: &Totals) {
        self.each(other, |a, b| a + b);
    }

    /// Subtracts sums.
    pub fn sub(&mut self, other: &Totals) {
        self.each(other, u64::saturating_sub);
    }

    fn each(&mut self, other: &Totals, with: impl Fn(u64, u64) -> u64) {
        let own: &mut [u64] = bytemuck::cast_slice_mut(std::slice::from_mut(self));
        let others: &[u64] = bytemuck::cast_slice(std::slice::from_ref(other));
        own.iter_mut().zip(others).for_each(|(a, b)| *a = with(*a, *b));
    }
}

/// A query in the form of the index.
pub struct IndexQuery<'a> {
    /// Stems.
    pub terms: &'a [String],
    /// Codes.
    pub codes: &'a [String],
    /// Adjacent words, as indexes into `terms`.
    pub pairs: &'a [(usize, usize)],
    /// Units with one of these words or codes are excluded.
    pub without: &'a [String],
    /// Units must have all words of each of these.
    pub must: &'a [Vec<String>],
    /// The month and year that the query names.
    pub time: NamedTime,
    /// The query's vector.
    pub vector: Option<&'a Vector>,
    /// Which files may be hits, by name and what was recorded of them. `None` means all.
    pub files: Option<&'a (dyn Fn(&str, &KnownFile) -> bool + Sync)>,
    /// The earliest date of a hit; for units without a date, the time of their file.
    pub since: Option<Since>,
}

/// The earliest time of a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Since {
    /// For units with a date.
    pub day: Day,
    /// For the others: nanoseconds since 1970.
    pub ns: i64,
}

/// The matches of a query in one view.
pub trait IndexMatches {
    /// How often its words occur.
    fn counts(&self) -> &Counts;

    /// Returns the best units by words and the nearest ones by meaning. `counts` are those of all views that are searched together. The
    /// number of candidates does not depend on the requested number of hits.
    fn candidates(&self, counts: &Counts) -> Result<Vec<UnitCandidate>>;
}

/// How often words occur in live units and files. Adds up over indexes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counts {
    /// The sums of the index.
    pub totals: Totals,
    /// For each term.
    pub terms: Vec<TermCount>,
    /// For each code, the number of units that have it.
    pub codes: Vec<u64>,
    /// For each pair, the number of units that have it.
    pub pairs: Vec<u64>,
}

/// The number of units and files that have a term.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TermCount {
    /// Units that have it in their own words.
    pub body: u64,
    /// Units that have it in their title.
    pub title: u64,
    /// Units that have it as a code.
    pub code: u64,
    /// Files.
    pub file: u64,
    /// Files that have it in a cue.
    pub cue: u64,
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
            a.cue += b.cue;
        }
    }
}

/// A unit that may be a hit, with everything its rank depends on.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitCandidate {
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
    /// Its date.
    pub day: Option<Day>,
    /// Whether it is an assistant's turn.
    pub assistant: bool,
    /// Its lexical signals.
    pub parts: Parts,
    /// The cosine with the query, if both have a vector.
    pub cosine: Option<f32>,
    /// For the detection of near duplicates.
    pub sketch: Sketch,
    /// The key of its text.
    pub key: Key,
}

/// The lexical signals of a unit, before they are weighted.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Parts {
    /// Its own words.
    pub body: f32,
    /// Its headings, speaker and the file's name and description.
    pub title: f32,
    /// Words that are adjacent as in the query.
    pub pair: f32,
    /// Identifiers and parts of them.
    pub code: f32,
    /// The words of the better of its two neighbours.
    pub neighbour: f32,
    /// The words of the whole file.
    pub parent: f32,
    /// The words of the entrypoint line that points to the file.
    pub pointer: f32,
    /// The words of the file's cues. They count for its first unit, and for units that have a word of the query themselves.
    pub cue: f32,
    /// Whether its date is the one that the query names.
    pub date: f32,
}
