//! The units that may be answers: every living unit is weighed by all its words, the best and the nearest are kept.
//!
//! Postings are read block by block into one array of sums. That is three times faster than a top-k collector, gives
//! exact lengths and our own statistics, and brings every neighbour's and every file's sum for nothing.

use super::{
    ask::{AskedSnapshot, each_block, look_up},
    schema::{BODY, CODE, FILE, TITLE},
    segment::is_dead,
    table::{ASSISTANT, POINTER, Table},
};
use crate::{
    scan::Near,
    vectors::{Key, Vectors},
};
use memdir_core::{
    base::{day::Day, error::Result, version::Version},
    search::{
        index::{Candidate, Counts, Parts, TermCount},
        ranking::{self, Field},
    },
    store::mounts,
};
use rustc_hash::FxHashMap;
use std::{cell::RefCell, cmp::Ordering};

/// Units kept by words, and by meaning. Fixed, so that asking for more answers never changes the first ones.
const BEST: usize = 150;
const NEAREST: usize = 100;
/// Rows looked at for them at first.
const MORE: usize = 130;
/// Units kept where all words of a phrase must be there: the phrase itself is looked for in their text.
const BEST_OF_PHRASE: usize = 2_000;
/// Units with one and the same text that are kept.
const ALIKE: usize = 16;

/// A document's sums: body, title, pairs, codes; of a file's document: the whole file, its pointers.
type Sums = [f32; 4];

thread_local! {
    // A fresh array of this size costs more in page faults than the whole scoring.
    static SUMS: RefCell<Vec<Sums>> = const { RefCell::new(Vec::new()) };
}

pub(super) fn of(asked: &AskedSnapshot<'_>, counts: &Counts) -> Result<Vec<Candidate>> {
    SUMS.with(|sums| {
        let mut sums = sums.try_borrow_mut().map_err(|_| memdir_core::base::error::Error::Unavailable {
            what: "search".into(),
            why: "a search began inside another".into(),
        })?;
        let mut scoring = Scoring::new(asked, &mut sums);
        scoring.weigh(counts)?;
        scoring.point();
        let best = scoring.best();
        let nearest = scoring.nearest()?;
        scoring.finish(best, nearest)
    })
}

struct Scoring<'a> {
    asked: &'a AskedSnapshot<'a>,
    sums: &'a mut Vec<Sums>,
    /// Where each segment's documents begin in `sums`.
    bases: Vec<usize>,
    /// Units that may not be answers: a bit pattern of what they lack. Empty when nothing is demanded.
    refused: Vec<bool>,
    /// Pointers whose files exist: their words count for the file.
    pointers: Vec<usize>,
}

impl<'a> Scoring<'a> {
    fn new(asked: &'a AskedSnapshot<'a>, sums: &'a mut Vec<Sums>) -> Self {
        let mut all = 0;
        let mut bases = Vec::with_capacity(asked.snapshot.parts.len());
        for part in &asked.snapshot.parts {
            bases.push(all);
            all += part.segment.docs();
        }
        sums.clear();
        sums.resize(all, [0.0; 4]);
        Scoring { asked, sums, bases, refused: Vec::new(), pointers: Vec::new() }
    }

    fn table(&self, part: usize) -> &'a Table {
        &self.asked.snapshot.parts[part].segment.table
    }

    /// The segment of a place in `sums`, and the document in it.
    fn locate(&self, at: usize) -> (usize, usize) {
        let part = self.bases.partition_point(|base| *base <= at) - 1;
        (part, at - self.bases[part])
    }

    fn weigh(&mut self, counts: &Counts) -> Result<()> {
        let totals = &counts.totals;
        let body = Field::new(totals.body, totals.units);
        let title = Field::new(totals.title, totals.units);
        let pair = Field::new(totals.pairs, totals.units);
        let file = Field::new(totals.file, totals.files);
        for (number, found) in self.asked.found.iter().enumerate() {
            let segment = &*self.asked.snapshot.parts[number].segment;
            let table = &segment.table;
            let base = self.bases[number];
            let sums = &mut self.sums[base..base + segment.docs()];
            let (bodies, titles, pairs) = (table.body(), table.title(), table.pairs());
            let none = TermCount::default();
            for (at, infos) in found.terms.iter().enumerate() {
                let count = counts.terms.get(at).unwrap_or(&none);
                let add = |field, slot: usize, lengths: &[u32], weight: Field, idf: f32, sums: &mut [Sums]| {
                    let Some(info) = &infos[slot.min(1) + if field == FILE { 3 } else { 0 }] else { return Ok(()) };
                    each_block(segment, field, info, |docs, freqs| {
                        for (doc, times) in docs.iter().zip(freqs) {
                            sums[*doc as usize][slot] += idf * weight.term(*times, lengths[*doc as usize]);
                        }
                    })
                };
                add(BODY, 0, bodies, body, ranking::idf(totals.units, count.body), sums)?;
                add(TITLE, 1, titles, title, ranking::idf(totals.units, count.title), sums)?;
                add(FILE, 0, bodies, file, ranking::idf(totals.files, count.file), sums)?;
                add_code(segment, infos[2].as_ref(), ranking::idf(totals.units, count.code), sums)?;
            }
            for (at, info) in found.codes.iter().enumerate() {
                let holding = counts.codes.get(at).copied().unwrap_or(0);
                add_code(segment, info.as_ref(), ranking::idf(totals.units, holding), sums)?;
            }
            for (at, docs) in found.pairs.iter().enumerate() {
                let idf = ranking::idf(totals.units, counts.pairs.get(at).copied().unwrap_or(0));
                for (doc, times) in docs {
                    sums[*doc as usize][2] += idf * pair.term(*times, pairs[*doc as usize]);
                }
            }
        }
        self.refuse()
    }

    /// Marks the units that have a word they must not have, or lack one they must have.
    fn refuse(&mut self) -> Result<()> {
        let ask = self.asked.ask;
        if ask.without.is_empty() && ask.must.is_empty() {
            return Ok(());
        }
        self.refused = vec![false; self.sums.len()];
        for (part, base) in self.asked.snapshot.parts.iter().zip(&self.bases) {
            let refused = &mut self.refused[*base..*base + part.segment.docs()];
            for word in ask.without {
                for field in [BODY, CODE] {
                    if let Some(info) = look_up(&part.segment, field, word)? {
                        each_block(&part.segment, field, &info, |docs, _| docs.iter().for_each(|doc| refused[*doc as usize] = true))?;
                    }
                }
            }
            let mut has = vec![false; refused.len()];
            for word in ask.must.iter().flatten() {
                has.fill(false);
                if let Some(info) = look_up(&part.segment, BODY, word)? {
                    each_block(&part.segment, BODY, &info, |docs, _| docs.iter().for_each(|doc| has[*doc as usize] = true))?;
                }
                refused.iter_mut().zip(&has).for_each(|(refused, has)| *refused |= !has);
            }
        }
        Ok(())
    }

    /// Gives the words of the entrypoint's pure pointers to the files they name.
    fn point(&mut self) {
        let snapshot = self.asked.snapshot;
        let pages = |name: &'static str| (1..).map(move |n| mounts::page_name(name, n)).map_while(|page| snapshot.find(super::hash(&page)));
        let main = mounts::choose_entrypoint(|name| snapshot.find(super::hash(name)).is_some());
        let entrypoints = [mounts::ENTRYPOINT_FILE, mounts::FALLBACK_ENTRYPOINT_FILE];
        for (row, _) in snapshot.find(super::hash(main)).into_iter().chain(entrypoints.into_iter().flat_map(pages)) {
            let (part, table) = (row.segment as usize, self.table(row.segment as usize));
            for doc in row.first_doc as usize + 1..(row.first_doc + 1 + row.units) as usize {
                if table.flags()[doc] & POINTER == 0 {
                    continue;
                }
                let Some((target, _)) = snapshot.find(table.hash()[doc]) else { continue };
                let at = self.bases[part] + doc;
                // They count there and nowhere else: not for the lines beside the pointer.
                let words = std::mem::take(&mut self.sums[at][0]);
                self.sums[self.bases[target.segment as usize] + target.first_doc as usize][1] += words;
                self.pointers.push(at);
            }
        }
        self.pointers.sort_unstable();
    }

    /// The units with the best words, as places in `sums`.
    fn best(&self) -> Vec<usize> {
        let most = if self.asked.ask.must.is_empty() { BEST } else { BEST_OF_PHRASE };
        let mut best = Best { most, kept: Vec::new(), threshold: 0.0 };
        let mut allowed = FxHashMap::default();
        for (number, part) in self.asked.snapshot.parts.iter().enumerate() {
            let (table, base) = (&part.segment.table, self.bases[number]);
            let (ords, flags, days) = (table.ord(), table.flags(), table.day());
            let sums = &self.sums[base..base + ords.len()];
            let timed = self.asked.ask.time.is_some();
            let (mut file, mut before): (Sums, f32) = ([0.0; 4], 0.0);
            for (doc, own) in sums.iter().enumerate() {
                if ords[doc] == 0 {
                    (file, before) = (*own, 0.0);
                    continue;
                }
                let after = sums.get(doc + 1).filter(|_| ords[doc + 1] > 1).map_or(0.0, |next| next[0]);
                // Most units cannot be among the best; that must be cheap to see.
                let at_most = ranking::words_at_most(own, before.max(after), file[0], file[1], timed);
                before = own[0];
                if at_most <= best.threshold {
                    continue;
                }
                let parts = self.parts(base, table, doc, &file, if timed { days[doc] } else { 0 });
                let words = ranking::words(&parts, flags[doc] & ASSISTANT != 0);
                if words > best.threshold && self.may_answer(number, doc, &mut allowed) {
                    best.push((words, base + doc), |a, b| self.in_order(a, b));
                }
            }
        }
        best.finish(|a, b| self.in_order(a, b)).into_iter().map(|(_, at)| at).collect()
    }

    /// The signals of a unit whose file has the sums `file`.
    #[inline]
    fn parts(&self, base: usize, table: &Table, doc: usize, file: &Sums, day: u32) -> Parts {
        let [body, title, pair, code] = self.sums[base + doc];
        let ords = table.ord();
        let before = if ords[doc] > 1 { self.sums[base + doc - 1][0] } else { 0.0 };
        let after = if ords.get(doc + 1).is_some_and(|ord| *ord > 1) { self.sums[base + doc + 1][0] } else { 0.0 };
        let date = if day != 0 && body > 0.0 { self.asked.ask.time.matches(Day::unpack(day)) } else { 0.0 };
        Parts { body, title, pair, code, neighbour: before.max(after), parent: file[0], pointer: file[1], date }
    }

    /// Whether a unit lives, is asked for and is not refused.
    fn may_answer(&self, number: usize, doc: usize, allowed: &mut FxHashMap<u64, bool>) -> bool {
        let part = &self.asked.snapshot.parts[number];
        let table = &part.segment.table;
        let at = self.bases[number] + doc;
        if is_dead(&part.dead, doc) || self.refused.get(at).is_some_and(|refused| *refused) || self.pointers.binary_search(&at).is_ok() {
            return false;
        }
        let ask = self.asked.ask;
        let hash = table.hash()[doc - table.ord()[doc] as usize];
        if let Some(files) = ask.files {
            let may = *allowed.entry(hash).or_insert_with(|| {
                self.asked.snapshot.find(hash).is_some_and(|(row, name)| files(name, &row.known(self.asked.snapshot.embedder)))
            });
            if !may {
                return false;
            }
        }
        ask.since.is_none_or(|since| match Day::unpack(table.day()[doc]) {
            Some(day) => day >= since.day,
            None => self.asked.snapshot.find(hash).is_some_and(|(row, _)| row.mtime_ns >= since.ns),
        })
    }

    /// Of two alike, the one whose path and line come first: never by document, whose order is chance.
    fn in_order(&self, a: &(f32, usize), b: &(f32, usize)) -> Ordering {
        b.0.total_cmp(&a.0).then_with(|| self.place(a.1).cmp(&self.place(b.1)))
    }

    fn place(&self, at: usize) -> (&str, u32) {
        let (part, doc) = self.locate(at);
        let table = self.table(part);
        let hash = table.hash()[doc - table.ord()[doc] as usize];
        (self.asked.snapshot.find(hash).map_or("", |(_, name)| name), table.first()[doc])
    }

    /// The units nearest in meaning, with their cosines.
    fn nearest(&self) -> Result<Vec<(f32, usize)>> {
        let Some(query) = self.asked.ask.vector else { return Ok(Vec::new()) };
        let snapshot = self.asked.snapshot;
        let mut allowed = FxHashMap::default();
        let mut found: Vec<(f32, usize)> = Vec::new();
        if let Some(vectors) = snapshot.vectors.as_ref().filter(|vectors| vectors.dim() == query.dim()) {
            // Asking about every row is slow, and nearly all rows are of living units that may answer: look at some more
            // than wanted first, and ask about each only where that was not enough.
            let many = vectors.nearest_of_all(query, MORE)?;
            let all = many.len() < MORE;
            let living = self.of_rows(vectors, &many, &mut allowed);
            found = match all || living.len() >= NEAREST {
                true => living,
                false => {
                    let mut keep = |row| vectors.key(row).is_some_and(|key| self.has_key(&key, &mut allowed));
                    let near = vectors.nearest(query, NEAREST, &mut keep)?;
                    self.of_rows(vectors, &near, &mut allowed)
                }
            };
        }
        for (key, vector) in snapshot.overlay.vectors.iter().filter(|(_, vector)| vector.dim() == query.dim()) {
            let cosine = query.cosine(vector);
            found.extend(self.with_key(key, cosine, &mut allowed));
        }
        found.sort_unstable_by(|a, b| self.in_order(a, b));
        found.truncate(NEAREST);
        Ok(found)
    }

    /// The units of some rows that may answer, those of the overlay aside.
    fn of_rows(&self, vectors: &Vectors, near: &[Near], allowed: &mut FxHashMap<u64, bool>) -> Vec<(f32, usize)> {
        let mut found = Vec::with_capacity(near.len());
        for near in near {
            let Some(key) = vectors.key(near.row).filter(|key| !self.asked.snapshot.overlay.vectors.contains_key(key)) else { continue };
            found.extend(self.with_key(&key, near.cosine, allowed));
        }
        found
    }

    /// The units that may answer and whose text has this key, as places in `sums` with the text's cosine; of many the first.
    fn with_key(&self, key: &Key, cosine: f32, allowed: &mut FxHashMap<u64, bool>) -> Vec<(f32, usize)> {
        let mut found = Vec::new();
        for (number, part) in self.asked.snapshot.parts.iter().enumerate() {
            let docs = part.segment.table.with_key(key).iter().filter(|doc| self.may_answer(number, **doc as usize, allowed));
            found.extend(docs.map(|doc| (cosine, self.bases[number] + *doc as usize)));
        }
        if found.len() > ALIKE {
            found.sort_unstable_by(|a, b| self.in_order(a, b));
            found.truncate(ALIKE);
        }
        found
    }

    fn has_key(&self, key: &Key, allowed: &mut FxHashMap<u64, bool>) -> bool {
        if self.asked.snapshot.overlay.vectors.contains_key(key) {
            return false;
        }
        let mut parts = self.asked.snapshot.parts.iter().enumerate();
        parts.any(|(number, part)| part.segment.table.with_key(key).iter().any(|doc| self.may_answer(number, *doc as usize, allowed)))
    }

    fn finish(&self, best: Vec<usize>, nearest: Vec<(f32, usize)>) -> Result<Vec<Candidate>> {
        let known: FxHashMap<usize, f32> = nearest.iter().map(|(cosine, at)| (*at, *cosine)).collect();
        let mut all: Vec<usize> = best.into_iter().chain(known.keys().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().map(|at| self.candidate(at, known.get(&at).copied())).collect()
    }

    fn candidate(&self, at: usize, cosine: Option<f32>) -> Result<Candidate> {
        let (number, doc) = self.locate(at);
        let (table, base) = (self.table(number), self.bases[number]);
        let file_doc = doc - table.ord()[doc] as usize;
        let (row, name) = self.asked.snapshot.find(table.hash()[file_doc]).ok_or_else(|| memdir_core::base::error::Error::Corrupt {
            what: "the search index".into(),
            why: "a unit belongs to no file".into(),
        })?;
        Ok(Candidate {
            path: name.to_owned(),
            version: Version::from_bytes(row.version),
            modified_ns: row.mtime_ns,
            kind: row.kind(),
            first: table.first()[doc],
            last: table.last()[doc],
            day: Day::unpack(table.day()[doc]),
            assistant: table.flags()[doc] & ASSISTANT != 0,
            parts: self.parts(base, table, doc, &self.sums[base + file_doc], table.day()[doc]),
            cosine: match cosine {
                None => self.cosine(&table.key()[doc])?,
                known => known,
            },
            sketch: table.sketch()[doc],
            key: table.key()[doc],
        })
    }

    fn cosine(&self, key: &Key) -> Result<Option<f32>> {
        let Some(query) = self.asked.ask.vector else { return Ok(None) };
        let snapshot = self.asked.snapshot;
        if let Some(vector) = snapshot.overlay.vectors.get(key).filter(|vector| vector.dim() == query.dim()) {
            return Ok(Some(query.cosine(vector)));
        }
        let vectors = snapshot.vectors.as_ref().filter(|vectors| vectors.dim() == query.dim());
        let row = vectors.and_then(|vectors| vectors.find(key).map(|row| (vectors, row)));
        row.map(|(vectors, row)| vectors.cosine(query, row)).transpose()
    }
}

fn add_code(segment: &super::segment::Segment, info: Option<&tantivy::postings::TermInfo>, idf: f32, sums: &mut [Sums]) -> Result<()> {
    let Some(info) = info else { return Ok(()) };
    each_block(segment, CODE, info, |docs, freqs| {
        for (doc, times) in docs.iter().zip(freqs) {
            sums[*doc as usize][3] += idf * ranking::flat_term(*times);
        }
    })
}

/// Keeps some more than wanted and cuts seldom.
struct Best {
    most: usize,
    kept: Vec<(f32, usize)>,
    threshold: f32,
}

impl Best {
    fn push(&mut self, item: (f32, usize), order: impl Fn(&(f32, usize), &(f32, usize)) -> Ordering) {
        self.kept.push(item);
        if self.kept.len() >= 4 * self.most {
            self.cut(order);
        }
    }

    fn cut(&mut self, order: impl Fn(&(f32, usize), &(f32, usize)) -> Ordering) {
        if self.kept.len() > self.most {
            let (_, last, _) = self.kept.select_nth_unstable_by(self.most - 1, order);
            // What only equals the last one may still come before it by its path.
            self.threshold = last.0.next_down();
            self.kept.truncate(self.most);
        }
    }

    fn finish(mut self, order: impl Fn(&(f32, usize), &(f32, usize)) -> Ordering) -> Vec<(f32, usize)> {
        self.cut(order);
        self.kept
    }
}
