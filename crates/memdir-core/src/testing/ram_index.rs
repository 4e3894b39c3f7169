//! An index in memory that scans everything: slow and simple, the reference for every other index.

use crate::{
    base::{error::Result, stamp::Stamp, version::Version},
    search::{
        embed::{Key, Vector},
        index::{
            Batch, Counts, FileWriter, Index, IndexChange, IndexFile, IndexMatches, IndexQuery, IndexSize, IndexUnit, IndexView, KnownFile,
            Parts, STOP_MARK, TermCount, Totals, UnitCandidate, Wait, Words,
        },
        ranking::{self, FieldWeight},
    },
    store::mounts,
};
use std::{
    any::Any,
    collections::{BTreeMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

type RamFiles = BTreeMap<String, Arc<IndexFile>>;

/// An index in memory.
#[derive(Debug, Default)]
pub struct RamIndex {
    files: Mutex<RamFiles>,
}

#[derive(Debug, Clone)]
struct RamView(RamFiles);

struct RamBatch<'a> {
    files: MutexGuard<'a, RamFiles>,
    next: RamFiles,
}

#[derive(Default)]
struct RamWriter(Vec<Arc<IndexFile>>);

impl Index for RamIndex {
    fn view(&self) -> Result<Arc<dyn IndexView>> {
        Ok(Arc::new(RamView(self.files.lock().unwrap_or_else(PoisonError::into_inner).clone())))
    }

    fn overlay(&self, base: &Arc<dyn IndexView>, changes: &[IndexChange]) -> Result<Arc<dyn IndexView>> {
        let mut files = base.as_any().downcast_ref::<RamView>().map(|view| view.0.clone()).unwrap_or_default();
        for change in changes {
            match change {
                IndexChange::Put(file) => drop(files.insert(file.path.clone(), file.clone())),
                IndexChange::Remove(path) => drop(files.remove(path)),
            }
        }
        Ok(Arc::new(RamView(files)))
    }

    fn begin(&self, _wait: Wait, _is_cancelled: &dyn Fn() -> bool) -> Result<Option<Box<dyn Batch + '_>>> {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let next = files.clone();
        Ok(Some(Box::new(RamBatch { files, next })))
    }

    fn forget(&self) -> Result<()> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).clear();
        Ok(())
    }

    fn size(&self) -> IndexSize {
        IndexSize::default()
    }
}

impl Batch for RamBatch<'_> {
    fn view(&self) -> Arc<dyn IndexView> {
        Arc::new(RamView(self.files.clone()))
    }

    fn writer(&self, _files: usize) -> Result<Box<dyn FileWriter>> {
        Ok(Box::new(RamWriter::default()))
    }

    fn remove(&mut self, path: &str) {
        self.next.remove(path);
    }

    fn seen(&mut self, path: &str, stamp: Stamp, seen_ns: i64) {
        if let Some(file) = self.next.get_mut(path) {
            *file = Arc::new(IndexFile { stamp, seen_ns, ..IndexFile::clone(file) });
        }
    }

    fn embedded(&mut self, path: &str, version: Version, vectors: Vec<(Key, Vector)>) {
        let known: BTreeMap<Key, Vector> = vectors.into_iter().chain(all_vectors(&self.next)).collect();
        if let Some(file) = self.next.get_mut(path).filter(|file| file.version == version) {
            let mut changed = IndexFile::clone(file);
            for unit in &mut changed.units {
                unit.vector = known.get(&unit.key).cloned();
            }
            *file = Arc::new(changed);
        }
    }

    fn commit(mut self: Box<Self>, written: Vec<Box<dyn FileWriter>>) -> Result<()> {
        for writer in written {
            let writer = writer.into_any().downcast::<RamWriter>();
            for file in writer.map(|writer| writer.0).unwrap_or_default() {
                self.next.insert(file.path.clone(), file);
            }
        }
        *self.files = std::mem::take(&mut self.next);
        Ok(())
    }
}

impl FileWriter for RamWriter {
    fn put(&mut self, file: Arc<IndexFile>) -> Result<()> {
        self.0.push(file);
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

fn all_vectors(files: &RamFiles) -> impl Iterator<Item = (Key, Vector)> {
    files.values().flat_map(|file| &file.units).filter_map(|unit| Some((unit.key, unit.vector.clone()?)))
}

fn known(file: &IndexFile) -> KnownFile {
    KnownFile {
        stamp: file.stamp,
        seen_ns: file.seen_ns,
        version: file.version,
        kind: file.kind,
        validity: file.validity,
        units: file.units.len() as u32,
        unembedded: file.units.iter().any(|unit| unit.vector.is_none() && unit.points_to.is_none()),
    }
}

impl IndexView for RamView {
    fn known(&self, path: &str) -> Option<KnownFile> {
        self.0.get(path).map(|file| known(file))
    }

    fn each_file(&self, each: &mut dyn FnMut(&str, KnownFile)) {
        self.0.iter().for_each(|(path, file)| each(path, known(file)));
    }

    fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for file in self.0.values() {
            let sum = |of: fn(&IndexUnit) -> u32| file.units.iter().map(of).map(u64::from).sum();
            totals.add(&Totals {
                files: 1,
                units: file.units.len() as u64,
                body: sum(|unit| unit.body.count),
                pairs: sum(|unit| unit.body.kept.saturating_sub(1)),
                title: sum(|unit| unit.title.count),
                file: u64::from(file_words(file)),
                counted_files: u64::from(file.is_counted()),
                counted_units: u64::from(file.counted_units()),
            });
        }
        totals
    }

    fn has_vector(&self, key: &Key) -> bool {
        all_vectors(&self.0).any(|(known, _)| known == *key)
    }

    fn vectors(&self) -> u64 {
        all_vectors(&self.0).map(|(key, _)| key).collect::<HashSet<Key>>().len() as u64
    }

    fn ask<'a>(&'a self, ask: &'a IndexQuery<'a>) -> Result<Box<dyn IndexMatches + 'a>> {
        let units = || self.0.values().flat_map(|file| &file.units);
        let holding = |holds: &dyn Fn(&IndexUnit) -> bool| units().filter(|unit| holds(unit)).count() as u64;
        let term = |term: &String| TermCount {
            body: holding(&|unit| times(&unit.body.stems, term) > 0),
            title: holding(&|unit| times(&unit.title.stems, term) > 0),
            code: holding(&|unit| times(&unit.codes, term) > 0),
            file: self.0.values().filter(|file| file_times(file, term) > 0).count() as u64,
            cue: self.0.values().filter(|file| times(&file.cues, term) > 0).count() as u64,
        };
        let counts = Counts {
            totals: self.totals(),
            terms: ask.terms.iter().map(term).collect(),
            codes: ask.codes.iter().map(|code| holding(&|unit| times(&unit.codes, code) > 0)).collect(),
            pairs: ask.pairs.iter().map(|(a, b)| holding(&|unit| pair_times(&unit.body, &ask.terms[*a], &ask.terms[*b]) > 0)).collect(),
        };
        Ok(Box::new(RamAsked { view: self, ask, counts }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

struct RamAsked<'a> {
    view: &'a RamView,
    ask: &'a IndexQuery<'a>,
    counts: Counts,
}

impl IndexMatches for RamAsked<'_> {
    fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Returns every unit with a matching word or a cosine, not only the best.
    fn candidates(&self, counts: &Counts) -> Result<Vec<UnitCandidate>> {
        let mut all = Vec::new();
        for file in self.view.0.values().filter(|file| self.ask.files.is_none_or(|files| files(&file.path, &known(file)))) {
            let body = |unit: &IndexUnit| if self.points(file, unit) { 0.0 } else { self.body(unit, counts) };
            let bodies: Vec<f32> = file.units.iter().map(body).collect();
            for (at, unit) in file.units.iter().enumerate().filter(|(_, unit)| self.may_answer(file, unit)) {
                let beside = |at: Option<usize>| at.and_then(|at| bodies.get(at)).copied().unwrap_or(0.0);
                let date = if bodies[at] > 0.0 { self.ask.time.matches(unit.day) } else { 0.0 };
                let own = self.own(unit, counts);
                let cue = if ranking::has_cues(at == 0, bodies[at], own.code) { self.cue(file, counts) } else { 0.0 };
                let parts = Parts {
                    body: bodies[at],
                    neighbour: beside(at.checked_sub(1)).max(beside(Some(at + 1))),
                    parent: self.parent(file, counts),
                    pointer: self.pointer(file, counts),
                    cue,
                    date,
                    ..own
                };
                let cosine = self.ask.vector.and_then(|query| unit.vector.as_ref().map(|vector| query.cosine(vector)));
                if ranking::lexical_score(&parts, unit.assistant) > 0.0 || cosine.is_some() {
                    all.push(UnitCandidate {
                        path: file.path.clone(),
                        version: file.version,
                        modified_ns: file.stamp.mtime_ns,
                        kind: file.kind,
                        first: unit.first,
                        last: unit.last,
                        day: unit.day,
                        assistant: unit.assistant,
                        parts,
                        cosine,
                        sketch: unit.sketch,
                        key: unit.key,
                    });
                }
            }
        }
        Ok(all)
    }
}

impl RamAsked<'_> {
    fn may_answer(&self, file: &IndexFile, unit: &IndexUnit) -> bool {
        let has = |word: &String| times(&unit.body.stems, word) > 0;
        let refused =
            self.ask.without.iter().any(|word| has(word) || times(&unit.codes, word) > 0) || !self.ask.must.iter().flatten().all(has);
        let young = self.ask.since.is_none_or(|since| unit.day.map_or(file.stamp.mtime_ns >= since.ns, |day| day >= since.day));
        !refused && !self.points(file, unit) && young
    }

    /// Whether a unit of the entrypoint or a page is a pointer to a file that exists.
    fn points(&self, file: &IndexFile, unit: &IndexUnit) -> bool {
        let main = mounts::choose_entrypoint(|name| self.view.0.contains_key(name));
        (file.path == main || mounts::is_page_name(&file.path))
            && unit.points_to.as_ref().is_some_and(|target| self.view.0.contains_key(target))
    }

    fn body(&self, unit: &IndexUnit, counts: &Counts) -> f32 {
        let field = FieldWeight::new(counts.totals.body, counts.totals.units);
        self.sum(
            |term, count| ranking::idf(counts.totals.units, count.body) * bm25(field, times(&unit.body.stems, term), unit.body.count),
            counts,
        )
    }

    fn own(&self, unit: &IndexUnit, counts: &Counts) -> Parts {
        let all = counts.totals.units;
        let title = FieldWeight::new(counts.totals.title, all);
        let pair = FieldWeight::new(counts.totals.pairs, all);
        let pairs = self.ask.pairs.iter().zip(&counts.pairs).map(|((a, b), holding)| {
            ranking::idf(all, *holding)
                * bm25(pair, pair_times(&unit.body, &self.ask.terms[*a], &self.ask.terms[*b]), unit.body.kept.saturating_sub(1))
        });
        let code = |code: &str, holding| match times(&unit.codes, code) {
            0 => 0.0,
            times => ranking::idf(all, holding) * ranking::flat_term(times),
        };
        Parts {
            title: self
                .sum(|term, count| ranking::idf(all, count.title) * bm25(title, times(&unit.title.stems, term), unit.title.count), counts),
            pair: pairs.sum(),
            code: self.sum(|term, count| code(term, count.code), counts)
                + self.ask.codes.iter().zip(&counts.codes).map(|(c, n)| code(c, *n)).sum::<f32>(),
            ..Parts::default()
        }
    }

    fn parent(&self, file: &IndexFile, counts: &Counts) -> f32 {
        let field = FieldWeight::new(counts.totals.file, counts.totals.files);
        self.sum(
            |term, count| ranking::idf(counts.totals.files, count.file) * bm25(field, file_times(file, term), file_words(file)),
            counts,
        )
    }

    fn cue(&self, file: &IndexFile, counts: &Counts) -> f32 {
        let term = |term: &str, count: &TermCount| match times(&file.cues, term) {
            0 => 0.0,
            times => ranking::term_idf(counts.totals.units, count) * ranking::flat_term(times),
        };
        self.sum(term, counts)
    }

    fn pointer(&self, file: &IndexFile, counts: &Counts) -> f32 {
        let main = mounts::choose_entrypoint(|name| self.view.0.contains_key(name));
        let entrypoints = self.view.0.values().filter(|file| file.path == main || mounts::is_page_name(&file.path));
        let lines = entrypoints.flat_map(|file| &file.units).filter(|unit| unit.points_to.as_deref() == Some(file.path.as_str()));
        lines.map(|unit| self.body(unit, counts)).sum()
    }

    fn sum(&self, each: impl Fn(&str, &TermCount) -> f32, counts: &Counts) -> f32 {
        self.ask.terms.iter().zip(&counts.terms).map(|(term, count)| each(term, count)).sum()
    }
}

fn bm25(field: FieldWeight, times: u32, length: u32) -> f32 {
    if times == 0 { 0.0 } else { field.term(times, length) }
}

fn split_stems(stems: &str) -> impl Iterator<Item = &str> {
    stems.split(' ').filter(|word| !word.is_empty()).map(|word| word.strip_prefix(STOP_MARK).unwrap_or(word))
}

fn times(stems: &str, term: &str) -> u32 {
    split_stems(stems).filter(|word| *word == term).count() as u32
}

fn file_times(file: &IndexFile, term: &str) -> u32 {
    times(&file.head.stems, term) + file.units.iter().filter(|unit| unit.in_file).map(|unit| times(&unit.body.stems, term)).sum::<u32>()
}

fn file_words(file: &IndexFile) -> u32 {
    file.head.count + file.units.iter().filter(|unit| unit.in_file).map(|unit| unit.body.count).sum::<u32>()
}

/// Counts how often `b` is the next word after `a` that is not a stop word. A stop word has the position of the next other word.
fn pair_times(body: &Words, a: &str, b: &str) -> u32 {
    let mut next = 0u32;
    let mut places = (Vec::new(), Vec::new());
    for word in body.stems.split(' ').filter(|word| !word.is_empty()) {
        let stem = word.strip_prefix(STOP_MARK);
        let name = stem.unwrap_or(word);
        if name == a {
            places.0.push(next);
        }
        if name == b {
            places.1.push(next);
        }
        next += u32::from(stem.is_none());
    }
    places.0.iter().filter(|at| places.1.contains(&(*at + 1))).count() as u32
}
