//! One change of an index, under its lock: new segments, deleted documents, merges, then one new state, then the removal of old files.

use super::TantivyIndex;
use crate::{
    errors::corrupt,
    files,
    hash::path_hash,
    segment::{self, NewSegment, Segment, SegmentWriter},
    snapshot::{IndexSnapshot, LiveSegment, with_dead},
    state::{FileRow, NewState, PARTS, RequiredVectors},
    vectors::{Key, Vectors},
};
use memdir_core::{
    Error, Result, Version,
    internal::{
        base::{
            disk::{self, FileLock},
            limits, raw,
            stamp::Stamp,
            time::Deadline,
        },
        search::{
            embed::Vector,
            index::{Batch, FileWriter, IndexFile, IndexView, Wait},
        },
    },
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::{any::Any, borrow::Cow, fs, sync::Arc, time::Duration};

/// The maximum number of segments: each costs time at open and in every lookup.
const MAX_SEGMENTS: usize = 6;
/// The number of live documents up to which segments of similar size are merged at once. Larger segments are merged only if
/// there are too many.
const SMALL_DOCS: usize = 20_000;

/// A change that is not committed yet. Holds the lock until it is dropped.
pub(super) struct DiskBatch<'a> {
    index: &'a TantivyIndex,
    _lock: FileLock,
    base: Arc<IndexSnapshot>,
    /// The pages of mapped files that were lost before it began.
    lost: u64,
    removed: Vec<String>,
    seen: Vec<(String, Stamp, i64)>,
    embedded: Vec<(u64, Version)>,
    vectors: Vec<(Key, Vector)>,
}

impl<'a> DiskBatch<'a> {
    pub(super) fn begin(index: &'a TantivyIndex, wait: Wait, is_cancelled: &dyn Fn() -> bool) -> Result<Option<Self>> {
        files::create_dir(&index.root)?;
        let path = index.root.join("lock");
        let wait = if index.waits { wait } else { Wait::No };
        let longest = if wait == Wait::No { 0 } else { limits::LOCK_WAIT_SECS };
        let deadline = Deadline::after(Duration::from_secs(longest));
        let file = disk::open_lock_file(&path, 0o600).map_err(|source| Error::io("lock", &path, source))?;
        let lock = match FileLock::acquire_file_until(file, deadline, is_cancelled) {
            Ok(Some(lock)) => lock,
            Ok(None) if wait == Wait::No || is_cancelled() => return Ok(None),
            Ok(None) => {
                let holder = fs::File::open(&path).ok().and_then(|file| disk::lock_holder(&file));
                return Err(Error::Busy { path: index.root.clone(), waited_secs: limits::LOCK_WAIT_SECS, holder });
            }
            Err(source) => return Err(Error::io("lock", path, source)),
        };
        let lost = raw::lost_pages();
        let base = index.snapshot()?;
        Ok(Some(DiskBatch {
            index,
            _lock: lock,
            base,
            lost,
            removed: Vec::new(),
            seen: Vec::new(),
            embedded: Vec::new(),
            vectors: Vec::new(),
        }))
    }

    /// Stores new vectors. Returns `None` without an embedder.
    fn add_vectors(&self, new: &[(Key, Vector)]) -> Result<Option<Vectors>> {
        let Some((id, dim)) = &self.index.embedder else { return Ok(None) };
        let dir = self.index.vectors_dir();
        let vectors = match Vectors::open(&dir, id, *dim) {
            Err(Error::Corrupt { .. }) => {
                Vectors::clear(&dir)?;
                Vectors::open(&dir, id, *dim)?
            }
            opened => opened?,
        };
        if new.is_empty() { Ok(Some(vectors)) } else { vectors.add(new).map(Some) }
    }
}

struct Writer(SegmentWriter);

impl FileWriter for Writer {
    fn put(&mut self, file: Arc<IndexFile>) -> Result<()> {
        self.0.add(&file)
    }

    fn flush(&mut self) -> Result<()> {
        self.0.finish_one()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl Batch for DiskBatch<'_> {
    fn view(&self) -> Arc<dyn IndexView> {
        self.base.clone()
    }

    fn writer(&self, files: usize) -> Result<Box<dyn FileWriter>> {
        Ok(Box::new(Writer(SegmentWriter::new(Some(&self.index.root), self.index.tag, files))))
    }

    fn remove(&mut self, path: &str) {
        self.removed.push(path.to_owned());
    }

    fn seen(&mut self, path: &str, stamp: Stamp, seen_ns: i64) {
        self.seen.push((path.to_owned(), stamp, seen_ns));
    }

    fn embedded(&mut self, path: &str, version: Version, vectors: Vec<(Key, Vector)>) {
        self.embedded.push((path_hash(path), version));
        self.vectors.extend(vectors);
    }

    fn commit(mut self: Box<Self>, written: Vec<Box<dyn FileWriter>>) -> Result<()> {
        let mut new = Vec::new();
        let mut vectors = std::mem::take(&mut self.vectors);
        for writer in written {
            if let Ok(writer) = writer.into_any().downcast::<Writer>() {
                let (segments, more) = writer.0.finish()?;
                new.extend(segments);
                vectors.extend(more);
            }
        }
        let vectors = self.add_vectors(&vectors)?;
        let base = self.base.clone();
        let mut next = NextState::new(&base);
        self.removed.iter().for_each(|path| next.remove(path_hash(path)));
        new.into_iter().for_each(|segment| next.add(segment));
        for (path, stamp, seen_ns) in &self.seen {
            if let Some((row, _)) = next.rows.get_mut(&path_hash(path)) {
                row.set_stamp(*stamp, *seen_ns);
            }
        }
        for (row, version) in &self.embedded {
            if let Some((row, _)) = next.rows.get_mut(row).filter(|(row, _)| row.version == version.to_bytes()) {
                row.embedder = self.index.tag;
            }
        }
        next.merge(&self.index.root)?;
        let names: FxHashSet<String> = next.parts.iter().map(|part| part.segment.row.name().to_owned()).collect();
        // Without an embedder the vectors of the last one stay required.
        let mut required = base.state.vectors();
        if let Some(vectors) = vectors {
            required = RequiredVectors { embedder: self.index.tag, generation: next.compact(vectors)?.generation() };
        }
        // What was read of a file that was truncated meanwhile is zeros, and must not become a valid index.
        if raw::lost_pages() != self.lost {
            return Err(corrupt(&self.index.root, "one of its files was truncated while it was being read"));
        }
        next.finish(base.state.generation() + 1, required).write(&self.index.state_path(), TantivyIndex::fingerprint())?;
        self.index.remove_unused(&names);
        Ok(())
    }
}

impl TantivyIndex {
    /// Removes segments that the state does not list, and the vectors of other embedders. The caller holds the lock.
    fn remove_unused(&self, names: &FxHashSet<String>) {
        let vectors = self.vectors_dir();
        for entry in fs::read_dir(&self.root).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            match name.split_once('.') {
                Some((id, part)) if PARTS.contains(&part) && !names.contains(id) => drop(fs::remove_file(path)),
                None if name.starts_with("vectors-") && self.embedder.is_some() && path != vectors => drop(fs::remove_dir_all(path)),
                _ => {}
            }
        }
    }
}

/// The next state.
struct NextState<'a> {
    parts: Vec<LiveSegment>,
    rows: FxHashMap<u64, (FileRow, Cow<'a, str>)>,
}

impl<'a> NextState<'a> {
    fn new(base: &'a IndexSnapshot) -> Self {
        let parts = base.parts.iter().map(|part| LiveSegment { segment: part.segment.clone(), dead: part.dead.clone() }).collect();
        let rows = base.state.rows().iter().map(|row| (row.hash, (*row, Cow::Borrowed(base.state.name(row))))).collect();
        NextState { parts, rows }
    }

    fn remove(&mut self, hash: u64) {
        if let Some((row, _)) = self.rows.remove(&hash) {
            let part = &mut self.parts[row.segment as usize];
            part.dead = with_dead(&part.dead, part.segment.docs(), &row);
        }
    }

    fn add(&mut self, new: NewSegment) {
        let number = self.parts.len() as u32;
        self.parts.push(LiveSegment { segment: new.segment, dead: Arc::default() });
        for (row, name) in new.rows {
            self.remove(row.hash);
            self.rows.insert(row.hash, (FileRow { segment: number, ..row }, name.into()));
        }
    }

    /// Merges segments so that there are few and most of their documents are live.
    fn merge(&mut self, root: &std::path::Path) -> Result<()> {
        let together = self.to_merge();
        let emptied: Vec<usize> = (0..self.parts.len()).filter(|at| self.live_docs(*at) == 0).collect();
        let merged = match together.is_empty() {
            true => None,
            false => {
                let parts: Vec<(&Segment, &[u64])> =
                    together.iter().map(|at| (&*self.parts[*at].segment, &*self.parts[*at].dead)).collect();
                Some(segment::merge(root, &parts)?)
            }
        };
        let is_removed = |at: usize| together.contains(&at) || emptied.contains(&at);
        if together.is_empty() && emptied.is_empty() {
            return Ok(());
        }
        // The old numbers of the segments that stay, in order: their new numbers are their positions here.
        let stay: Vec<usize> = (0..self.parts.len()).filter(|at| !is_removed(*at)).collect();
        let renumber: FxHashMap<u32, u32> = stay.iter().zip(0..).map(|(old, new)| (*old as u32, new)).collect();
        for (row, _) in self.rows.values_mut() {
            if let Some(new) = renumber.get(&row.segment) {
                row.segment = *new;
            }
        }
        let mut at = 0;
        self.parts.retain(|_| {
            at += 1;
            !is_removed(at - 1)
        });
        if let Some(merged) = merged {
            let number = self.parts.len() as u32;
            for doc in (0..merged.docs()).filter(|doc| merged.table.ord()[*doc] == 0) {
                if let Some((row, _)) = self.rows.get_mut(&merged.table.hash()[doc]) {
                    (row.segment, row.first_doc) = (number, doc as u32);
                }
            }
            self.parts.push(LiveSegment { segment: Arc::new(merged), dead: Arc::default() });
        }
        Ok(())
    }

    fn live_docs(&self, at: usize) -> usize {
        let part = &self.parts[at];
        part.segment.docs() - part.dead.iter().map(|word| word.count_ones() as usize).sum::<usize>()
    }

    /// Selects the segments to merge: the smallest ones, as long as the next is of similar size or there are too many segments; or
    /// one segment whose documents are mostly deleted.
    fn to_merge(&self) -> Vec<usize> {
        let mut by_size: Vec<(usize, usize)> =
            (0..self.parts.len()).map(|at| (self.live_docs(at), at)).filter(|(docs, _)| *docs > 0).collect();
        by_size.sort_unstable();
        let (mut sum, mut count) = (0, 0);
        for (at, (docs, _)) in by_size.iter().enumerate() {
            let is_similar = at == 0 || (*docs <= 2 * sum && sum + docs <= SMALL_DOCS);
            let too_many = by_size.len() - count.max(1) + 1 > MAX_SEGMENTS;
            if !is_similar && !too_many {
                break;
            }
            sum += docs;
            count += 1;
        }
        if count >= 2 {
            return by_size[..count].iter().map(|(_, at)| *at).collect();
        }
        by_size.iter().map(|(_, at)| *at).filter(|at| 2 * self.live_docs(*at) < self.parts[*at].segment.docs()).take(1).collect()
    }

    /// Removes unused vectors once they outnumber the used ones.
    fn compact(&self, vectors: Vectors) -> Result<Vectors> {
        let units: usize = self.rows.values().map(|(row, _)| row.units as usize).sum();
        if vectors.len() <= 2 * units + 1_000 {
            return Ok(vectors);
        }
        let mut live = FxHashSet::default();
        for part in &self.parts {
            let keys = part.segment.table.key();
            live.extend((0..keys.len()).filter(|doc| !segment::is_dead(&part.dead, *doc)).map(|doc| keys[doc]));
        }
        vectors.compact(&mut |key| live.contains(key))
    }

    fn finish(self, generation: u64, vectors: RequiredVectors) -> NewState<'a> {
        let segments = self.parts.iter().map(|part| {
            let mut row = part.segment.row;
            row.dead = part.dead.iter().map(|word| word.count_ones()).sum();
            (row, part.dead.clone())
        });
        NewState { generation, vectors, segments: segments.collect(), rows: self.rows.into_values().collect() }
    }
}
