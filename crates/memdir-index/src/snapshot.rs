//! The index at one moment: its segments, their deleted documents, and the vectors.

use crate::{
    hash::path_hash,
    segment::{NewSegment, Segment, SegmentWriter},
    state::{FileRow, MappedState},
    vectors::{Key, Vectors},
};
use memdir_core::{
    Result,
    internal::search::{
        embed::Vector,
        index::{IndexChange, Totals},
    },
};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The content of the index at one moment. Never changes.
pub(super) struct IndexSnapshot {
    pub(super) state: Arc<MappedState>,
    pub(super) parts: Vec<LiveSegment>,
    pub(super) vectors: Option<Arc<Vectors>>,
    pub(super) overlay: SnapshotOverlay,
    pub(super) embedder: u64,
    pub(super) totals: Totals,
}

/// A segment and the bits of its deleted documents, which are empty if none is deleted.
pub(super) struct LiveSegment {
    pub(super) segment: Arc<Segment>,
    pub(super) dead: Arc<[u64]>,
}

/// Files that are newer than the state, in memory.
#[derive(Default)]
pub(super) struct SnapshotOverlay {
    /// Files that replace those of the state, by the hash of their names; `None` for a removed file.
    pub(super) rows: FxHashMap<u64, Option<(FileRow, String)>>,
    pub(super) vectors: FxHashMap<Key, Vector>,
}

impl IndexSnapshot {
    pub(super) fn new(state: Arc<MappedState>, parts: Vec<LiveSegment>, vectors: Option<Arc<Vectors>>, embedder: u64) -> Self {
        let totals = state.totals();
        IndexSnapshot { state, parts, vectors, overlay: SnapshotOverlay::default(), embedder, totals }
    }

    /// Returns this snapshot with some files changed. The snapshot itself must have no overlay.
    pub(super) fn with(&self, changes: &[IndexChange]) -> Result<IndexSnapshot> {
        let mut writer = SegmentWriter::new(None, self.embedder, changes.len());
        let mut overlay = SnapshotOverlay::default();
        for change in changes {
            match change {
                IndexChange::Put(file) => writer.add(file)?,
                IndexChange::Remove(path) => drop(overlay.rows.insert(path_hash(path), None)),
            }
        }
        let (written, vectors) = writer.finish()?;
        overlay.vectors.extend(vectors);
        let mut parts: Vec<LiveSegment> =
            self.parts.iter().map(|part| LiveSegment { segment: part.segment.clone(), dead: part.dead.clone() }).collect();
        for NewSegment { segment, rows } in written {
            let number = parts.len() as u32;
            overlay.rows.extend(rows.into_iter().map(|(row, name)| (row.hash, Some((FileRow { segment: number, ..row }, name)))));
            parts.push(LiveSegment { segment, dead: Arc::default() });
        }
        let mut totals = self.totals;
        for (hash, row) in &overlay.rows {
            if let Some(old) = self.state.find(*hash) {
                totals.sub(&old.totals());
                let part = &mut parts[old.segment as usize];
                part.dead = with_dead(&part.dead, part.segment.docs(), old);
            }
            if let Some((row, _)) = row {
                totals.add(&row.totals());
            }
        }
        Ok(IndexSnapshot { state: self.state.clone(), parts, vectors: self.vectors.clone(), overlay, embedder: self.embedder, totals })
    }

    /// Returns the file whose name has this hash, and its name.
    pub(super) fn find(&self, hash: u64) -> Option<(&FileRow, &str)> {
        match self.overlay.rows.get(&hash) {
            Some(row) => row.as_ref().map(|(row, name)| (row, name.as_str())),
            None => self.state.find(hash).map(|row| (row, self.state.name(row))),
        }
    }
}

/// Adds a file's documents to the bits of deleted documents.
pub(super) fn with_dead(dead: &Arc<[u64]>, docs: usize, row: &FileRow) -> Arc<[u64]> {
    let mut bits = if dead.is_empty() { vec![0; docs.div_ceil(64)] } else { dead.to_vec() };
    for doc in row.first_doc as usize..(row.first_doc + 1 + row.units) as usize {
        if let Some(word) = bits.get_mut(doc / 64) {
            *word |= 1 << (doc % 64);
        }
    }
    bits.into()
}
