//! The candidates of a query: every live unit is scored by all its terms, and the best by words and the nearest by meaning are returned.
//!
//! Postings are read block by block into one array of sums. That is three times faster than a top-k collector, gives
//! exact lengths and our own statistics, and computes the sums of every neighbour and every file at no extra cost.

use crate::{
    errors::corrupt_index,
    hash::path_hash,
    lookup::{SegmentMatches, each_block, look_up},
    scan::Near,
    schema::{BODY, CODE, CUE, FILE, TITLE},
    segment::{Segment, is_dead},
    snapshot::IndexSnapshot,
    table::{ASSISTANT, ColumnTable, POINTER},
    vectors::{Key, Vectors},
};
use memdir_core::{
    Error, Result, Version,
    internal::{
        base::day::Day,
        search::{
            index::{Counts, IndexQuery, Parts, TermCount, UnitCandidate},
            ranking::{self, FieldWeight},
        },
        store::mounts,
    },
};
use rustc_hash::FxHashMap;
use std::{cell::RefCell, cmp::Ordering};
use tantivy::{postings::TermInfo, schema::Field};

/// The number of candidates by words, and by meaning. Fixed, so that asking for more results never changes the first ones.
const BEST: usize = 150;
const NEAREST: usize = 100;
/// The number of nearest rows that are fetched first to find them.
const FIRST_ROWS: usize = 130;
/// The number of candidates by words if a phrase is required: the phrase itself is searched for in their text.
const BEST_WITH_PHRASE: usize = 2_000;
/// The maximum number of candidates with the same text.
const MAX_SAME_TEXT: usize = 16;

/// The sums of a document: body, title, pairs, codes; of a file's document: the whole file, its pointers, its cues.
type Sums = [f32; 4];

thread_local! {
    // A fresh array of this size costs more in page faults than the whole scoring.
    static SUMS: RefCell<Vec<Sums>> = const { RefCell::new(Vec::new()) };
}

/// Returns the candidates of a query, whose terms were looked up as `matches`, in no order.
pub(super) fn candidates(
    snapshot: &IndexSnapshot,
    ask: &IndexQuery<'_>,
    matches: &[SegmentMatches],
    counts: &Counts,
) -> Result<Vec<UnitCandidate>> {
    SUMS.with(|sums| {
        let nested = |_| Error::unavailable("cannot search", "nested searches are not supported");
        let mut sums = sums.try_borrow_mut().map_err(nested)?;
        let mut scoring = Scoring::new(snapshot, ask, matches, &mut sums);
        scoring.sum_terms(counts)?;
        scoring.apply_pointers();
        let best = scoring.best();
        let nearest = scoring.nearest()?;
        scoring.finish(best, nearest)
    })
}

struct Scoring<'a> {
    snapshot: &'a IndexSnapshot,
    ask: &'a IndexQuery<'a>,
    matches: &'a [SegmentMatches],
    sums: &'a mut Vec<Sums>,
    /// The offset of each segment's documents in `sums`.
    bases: Vec<usize>,
    /// Whether each unit is excluded by the query. Empty if the query excludes and requires nothing.
    excluded: Vec<bool>,
    /// Pointers whose files exist: their terms count for the file.
    pointers: Vec<usize>,
}

impl<'a> Scoring<'a> {
    fn new(snapshot: &'a IndexSnapshot, ask: &'a IndexQuery<'a>, matches: &'a [SegmentMatches], sums: &'a mut Vec<Sums>) -> Self {
        let mut all = 0;
        let mut bases = Vec::with_capacity(snapshot.parts.len());
        for part in &snapshot.parts {
            bases.push(all);
            all += part.segment.docs();
        }
        sums.clear();
        sums.resize(all, [0.0; 4]);
        Scoring { snapshot, ask, matches, sums, bases, excluded: Vec::new(), pointers: Vec::new() }
    }

    fn table(&self, part: usize) -> &'a ColumnTable {
        &self.snapshot.parts[part].segment.table
    }

    /// Returns the segment of a position in `sums`, and the document in it.
    fn locate(&self, at: usize) -> (usize, usize) {
        let part = self.bases.partition_point(|base| *base <= at) - 1;
        (part, at - self.bases[part])
    }

    /// Adds the terms of the query to the sums of all documents.
    fn sum_terms(&mut self, counts: &Counts) -> Result<()> {
        let totals = &counts.totals;
        let body = FieldWeight::new(totals.body, totals.units);
        let title = FieldWeight::new(totals.title, totals.units);
        let pair = FieldWeight::new(totals.pairs, totals.units);
        let file = FieldWeight::new(totals.file, totals.files);
        for (number, matches) in self.matches.iter().enumerate() {
            let segment = &*self.snapshot.parts[number].segment;
            let table = &segment.table;
            let base = self.bases[number];
            let sums = &mut self.sums[base..base + segment.docs()];
            let (bodies, titles, pairs) = (table.body(), table.title(), table.pairs());
            let none = TermCount::default();
            for (at, infos) in matches.terms.iter().enumerate() {
                let count = counts.terms.get(at).unwrap_or(&none);
                let add = |field, slot: usize, lengths: &[u32], weight: FieldWeight, idf: f32, sums: &mut [Sums]| {
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
                add_flat(segment, (CODE, 3), infos[2].as_ref(), ranking::idf(totals.units, count.code), sums)?;
                add_flat(segment, (CUE, 2), infos[4].as_ref(), ranking::term_idf(totals.units, count), sums)?;
            }
            for (at, info) in matches.codes.iter().enumerate() {
                let units = counts.codes.get(at).copied().unwrap_or(0);
                add_flat(segment, (CODE, 3), info.as_ref(), ranking::idf(totals.units, units), sums)?;
            }
            for (at, docs) in matches.pairs.iter().enumerate() {
                let idf = ranking::idf(totals.units, counts.pairs.get(at).copied().unwrap_or(0));
                for (doc, times) in docs {
                    sums[*doc as usize][2] += idf * pair.term(*times, pairs[*doc as usize]);
                }
            }
        }
        self.exclude()
    }

    /// Marks the units that contain an excluded word, or lack a required one.
    fn exclude(&mut self) -> Result<()> {
        let ask = self.ask;
        if ask.without.is_empty() && ask.must.is_empty() {
            return Ok(());
        }
        self.excluded = vec![false; self.sums.len()];
        for (part, base) in self.snapshot.parts.iter().zip(&self.bases) {
            let excluded = &mut self.excluded[*base..*base + part.segment.docs()];
            for word in ask.without {
                for field in [BODY, CODE] {
                    if let Some(info) = look_up(&part.segment, field, word)? {
                        each_block(&part.segment, field, &info, |docs, _| docs.iter().for_each(|doc| excluded[*doc as usize] = true))?;
                    }
                }
            }
            let mut has = vec![false; excluded.len()];
            for word in ask.must.iter().flatten() {
                has.fill(false);
                if let Some(info) = look_up(&part.segment, BODY, word)? {
                    each_block(&part.segment, BODY, &info, |docs, _| docs.iter().for_each(|doc| has[*doc as usize] = true))?;
                }
                excluded.iter_mut().zip(&has).for_each(|(excluded, has)| *excluded |= !has);
            }
        }
        Ok(())
    }

    /// Adds the terms of pure pointers in entrypoints to the files they point to.
    fn apply_pointers(&mut self) {
        let snapshot = self.snapshot;
        let pages = |name: &'static str| (1..).map(move |n| mounts::page_name(name, n)).map_while(|page| snapshot.find(path_hash(&page)));
        let main = mounts::choose_entrypoint(|name| snapshot.find(path_hash(name)).is_some());
        let entrypoints = [mounts::ENTRYPOINT_FILE, mounts::FALLBACK_ENTRYPOINT_FILE];
        for (row, _) in snapshot.find(path_hash(main)).into_iter().chain(entrypoints.into_iter().flat_map(pages)) {
            let (part, table) = (row.segment as usize, self.table(row.segment as usize));
            for doc in row.first_doc as usize + 1..(row.first_doc + 1 + row.units) as usize {
                if table.flags()[doc] & POINTER == 0 {
                    continue;
                }
                let Some((target, _)) = snapshot.find(table.hash()[doc]) else { continue };
                let at = self.bases[part] + doc;
                // They count for the file only, not for the lines beside the pointer.
                let sum = std::mem::take(&mut self.sums[at][0]);
                self.sums[self.bases[target.segment as usize] + target.first_doc as usize][1] += sum;
                self.pointers.push(at);
            }
        }
        self.pointers.sort_unstable();
    }

    /// Returns the units with the best scores by words, as positions in `sums`.
    fn best(&self) -> Vec<usize> {
        let max = if self.ask.must.is_empty() { BEST } else { BEST_WITH_PHRASE };
        let mut best = TopUnits { max, units: Vec::new(), threshold: 0.0 };
        let mut allowed = FxHashMap::default();
        for (number, part) in self.snapshot.parts.iter().enumerate() {
            let (table, base) = (&part.segment.table, self.bases[number]);
            let (ords, flags, days) = (table.ord(), table.flags(), table.day());
            let sums = &self.sums[base..base + ords.len()];
            let timed = self.ask.time.is_some();
            let (mut file, mut before): (Sums, f32) = ([0.0; 4], 0.0);
            for (doc, own) in sums.iter().enumerate() {
                if ords[doc] == 0 {
                    (file, before) = (*own, 0.0);
                    continue;
                }
                let after = sums.get(doc + 1).filter(|_| ords[doc + 1] > 1).map_or(0.0, |next| next[0]);
                // Most units cannot be among the best, which must be cheap to find out.
                let at_most = ranking::words_at_most(own, before.max(after), &[file[0], file[1], file[2]], timed);
                before = own[0];
                if at_most <= best.threshold {
                    continue;
                }
                let parts = self.parts(base, table, doc, &file, if timed { days[doc] } else { 0 });
                let words = ranking::lexical_score(&parts, flags[doc] & ASSISTANT != 0);
                if words > best.threshold && self.is_allowed(number, doc, &mut allowed) {
                    best.push((words, base + doc), |a, b| self.in_order(a, b));
                }
            }
        }
        best.finish(|a, b| self.in_order(a, b)).into_iter().map(|(_, at)| at).collect()
    }

    /// Returns the signals of a unit whose file has the sums `file`.
    #[inline]
    fn parts(&self, base: usize, table: &ColumnTable, doc: usize, file: &Sums, day: u32) -> Parts {
        let [body, title, pair, code] = self.sums[base + doc];
        let ords = table.ord();
        let before = if ords[doc] > 1 { self.sums[base + doc - 1][0] } else { 0.0 };
        let after = if ords.get(doc + 1).is_some_and(|ord| *ord > 1) { self.sums[base + doc + 1][0] } else { 0.0 };
        let date = if day != 0 && body > 0.0 { self.ask.time.matches(Day::unpack(day)) } else { 0.0 };
        let cue = if ranking::has_cues(ords[doc] == 1, body, code) { file[2] } else { 0.0 };
        Parts { body, title, pair, code, neighbour: before.max(after), parent: file[0], pointer: file[1], cue, date }
    }

    /// Whether a unit is live, passes the filters of the query and is not excluded.
    fn is_allowed(&self, number: usize, doc: usize, allowed: &mut FxHashMap<u64, bool>) -> bool {
        let part = &self.snapshot.parts[number];
        let table = &part.segment.table;
        let at = self.bases[number] + doc;
        if is_dead(&part.dead, doc) || self.excluded.get(at).is_some_and(|excluded| *excluded) || self.pointers.binary_search(&at).is_ok() {
            return false;
        }
        let ask = self.ask;
        let hash = table.hash()[doc - table.ord()[doc] as usize];
        if let Some(files) = ask.files {
            let is_allowed = *allowed
                .entry(hash)
                .or_insert_with(|| self.snapshot.find(hash).is_some_and(|(row, name)| files(name, &row.known(self.snapshot.embedder))));
            if !is_allowed {
                return false;
            }
        }
        ask.since.is_none_or(|since| match Day::unpack(table.day()[doc]) {
            Some(day) => day >= since.day,
            None => self.snapshot.find(hash).is_some_and(|(row, _)| row.mtime_ns >= since.ns),
        })
    }

    /// Orders by score, then by path and line; never by document, whose order is arbitrary.
    fn in_order(&self, a: &(f32, usize), b: &(f32, usize)) -> Ordering {
        b.0.total_cmp(&a.0).then_with(|| self.place(a.1).cmp(&self.place(b.1)))
    }

    fn place(&self, at: usize) -> (&str, u32) {
        let (part, doc) = self.locate(at);
        let table = self.table(part);
        let hash = table.hash()[doc - table.ord()[doc] as usize];
        (self.snapshot.find(hash).map_or("", |(_, name)| name), table.first()[doc])
    }

    /// Returns the units nearest in meaning, with their cosines.
    fn nearest(&self) -> Result<Vec<(f32, usize)>> {
        let Some(query) = self.ask.vector else { return Ok(Vec::new()) };
        let snapshot = self.snapshot;
        let mut allowed = FxHashMap::default();
        let mut found: Vec<(f32, usize)> = Vec::new();
        if let Some(vectors) = snapshot.vectors.as_ref().filter(|vectors| vectors.dim() == query.dim()) {
            // Filtering every row is slow, and nearly all rows belong to live units that are allowed: a few more rows than
            // needed are fetched without a filter first, and the filter is used only if they were not enough.
            let first = vectors.nearest_of_all(query, FIRST_ROWS)?;
            let is_all = first.len() < FIRST_ROWS;
            let allowed_units = self.units_of_rows(vectors, &first, &mut allowed);
            found = match is_all || allowed_units.len() >= NEAREST {
                true => allowed_units,
                false => {
                    let mut filter = |row| vectors.key(row).is_some_and(|key| self.has_unit_with_key(&key, &mut allowed));
                    let near = vectors.nearest(query, NEAREST, &mut filter)?;
                    self.units_of_rows(vectors, &near, &mut allowed)
                }
            };
        }
        for (key, vector) in snapshot.overlay.vectors.iter().filter(|(_, vector)| vector.dim() == query.dim()) {
            let cosine = query.cosine(vector);
            found.extend(self.units_with_key(key, cosine, &mut allowed));
        }
        found.sort_unstable_by(|a, b| self.in_order(a, b));
        found.truncate(NEAREST);
        Ok(found)
    }

    /// Returns the allowed units of some rows, except rows that the overlay replaces.
    fn units_of_rows(&self, vectors: &Vectors, near: &[Near], allowed: &mut FxHashMap<u64, bool>) -> Vec<(f32, usize)> {
        let mut found = Vec::with_capacity(near.len());
        for near in near {
            let Some(key) = vectors.key(near.row).filter(|key| !self.snapshot.overlay.vectors.contains_key(key)) else { continue };
            found.extend(self.units_with_key(&key, near.cosine, allowed));
        }
        found
    }

    /// Returns the allowed units whose text has this key, as positions in `sums` with the text's cosine: the first
    /// [`MAX_SAME_TEXT`] by path and line.
    fn units_with_key(&self, key: &Key, cosine: f32, allowed: &mut FxHashMap<u64, bool>) -> Vec<(f32, usize)> {
        let mut found = Vec::new();
        for (number, part) in self.snapshot.parts.iter().enumerate() {
            let docs = part.segment.table.with_key(key).iter().filter(|doc| self.is_allowed(number, **doc as usize, allowed));
            found.extend(docs.map(|doc| (cosine, self.bases[number] + *doc as usize)));
        }
        if found.len() > MAX_SAME_TEXT {
            found.sort_unstable_by(|a, b| self.in_order(a, b));
            found.truncate(MAX_SAME_TEXT);
        }
        found
    }

    fn has_unit_with_key(&self, key: &Key, allowed: &mut FxHashMap<u64, bool>) -> bool {
        if self.snapshot.overlay.vectors.contains_key(key) {
            return false;
        }
        let mut parts = self.snapshot.parts.iter().enumerate();
        parts.any(|(number, part)| part.segment.table.with_key(key).iter().any(|doc| self.is_allowed(number, *doc as usize, allowed)))
    }

    fn finish(&self, best: Vec<usize>, nearest: Vec<(f32, usize)>) -> Result<Vec<UnitCandidate>> {
        let known: FxHashMap<usize, f32> = nearest.iter().map(|(cosine, at)| (*at, *cosine)).collect();
        let mut all: Vec<usize> = best.into_iter().chain(known.keys().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().map(|at| self.candidate(at, known.get(&at).copied())).collect()
    }

    fn candidate(&self, at: usize, cosine: Option<f32>) -> Result<UnitCandidate> {
        let (number, doc) = self.locate(at);
        let (table, base) = (self.table(number), self.bases[number]);
        let file_doc = doc - table.ord()[doc] as usize;
        let (row, name) = self.snapshot.find(table.hash()[file_doc]).ok_or_else(|| corrupt_index("a chunk does not belong to any file"))?;
        Ok(UnitCandidate {
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
        let Some(query) = self.ask.vector else { return Ok(None) };
        let snapshot = self.snapshot;
        if let Some(vector) = snapshot.overlay.vectors.get(key).filter(|vector| vector.dim() == query.dim()) {
            return Ok(Some(query.cosine(vector)));
        }
        let vectors = snapshot.vectors.as_ref().filter(|vectors| vectors.dim() == query.dim());
        let row = vectors.and_then(|vectors| vectors.find(key).map(|row| (vectors, row)));
        row.map(|(vectors, row)| vectors.cosine(query, row)).transpose()
    }
}

/// Adds a term of a field whose length does not count to a slot of the sums.
fn add_flat(segment: &Segment, (field, slot): (Field, usize), info: Option<&TermInfo>, idf: f32, sums: &mut [Sums]) -> Result<()> {
    let Some(info) = info else { return Ok(()) };
    each_block(segment, field, info, |docs, freqs| {
        for (doc, times) in docs.iter().zip(freqs) {
            sums[*doc as usize][slot] += idf * ranking::flat_term(*times);
        }
    })
}

/// Collects the best units: stores a few times more than needed and truncates rarely.
struct TopUnits {
    max: usize,
    units: Vec<(f32, usize)>,
    threshold: f32,
}

impl TopUnits {
    fn push(&mut self, item: (f32, usize), order: impl Fn(&(f32, usize), &(f32, usize)) -> Ordering) {
        self.units.push(item);
        if self.units.len() >= 4 * self.max {
            self.truncate(order);
        }
    }

    fn truncate(&mut self, order: impl Fn(&(f32, usize), &(f32, usize)) -> Ordering) {
        if self.units.len() > self.max {
            let (_, last, _) = self.units.select_nth_unstable_by(self.max - 1, order);
            // A unit with the same score as the last one may still come before it by its path.
            self.threshold = last.0.next_down();
            self.units.truncate(self.max);
        }
    }

    fn finish(mut self, order: impl Fn(&(f32, usize), &(f32, usize)) -> Ordering) -> Vec<(f32, usize)> {
        self.truncate(order);
        self.units
    }
}
