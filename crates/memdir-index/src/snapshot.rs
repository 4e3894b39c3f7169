//! What the index knew at one moment: some segments, which of their documents live, and the vectors beside them.

use super::{
    ask::AskedSnapshot,
    segment::{NewSegment, Segment, SegmentWriter},
    state::{FileRow, State},
};
use crate::vectors::{Key, Vectors};
use memdir_core::{
    base::error::Result,
    search::{
        embed::Vector,
        index::{Ask, Asked, IndexChange, Known, Totals, View},
    },
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::{any::Any, sync::Arc};

/// A view of the index. Never changes.
pub(super) struct Snapshot {
    pub(super) state: Arc<State>,
    pub(super) parts: Vec<Living>,
    pub(super) vectors: Option<Arc<Vectors>>,
    pub(super) overlay: Overlay,
    pub(super) embedder: u64,
    totals: Totals,
}

/// A segment and its dead documents: no bits at all when none is dead.
pub(super) struct Living {
    pub(super) segment: Arc<Segment>,
    pub(super) dead: Arc<[u64]>,
}

/// Files that are newer than the state.
#[derive(Default)]
pub(super) struct Overlay {
    /// Files that hide those of the state, by the hash of their names; nothing for one that is gone.
    rows: FxHashMap<u64, Option<(FileRow, String)>>,
    pub(super) vectors: FxHashMap<Key, Vector>,
}

impl Snapshot {
    pub(super) fn new(state: Arc<State>, parts: Vec<Living>, vectors: Option<Arc<Vectors>>, embedder: u64) -> Self {
        let totals = state.totals();
        Snapshot { state, parts, vectors, overlay: Overlay::default(), embedder, totals }
    }

    /// This view with some files changed. The view itself must be one without changes.
    pub(super) fn with(&self, changes: &[IndexChange]) -> Result<Snapshot> {
        let mut writer = SegmentWriter::new(None, self.embedder, changes.len());
        let mut overlay = Overlay::default();
        for change in changes {
            match change {
                IndexChange::Put(file) => writer.add(file)?,
                IndexChange::Remove(path) => drop(overlay.rows.insert(super::hash(path), None)),
            }
        }
        let (written, vectors) = writer.finish()?;
        overlay.vectors.extend(vectors);
        let mut parts: Vec<Living> =
            self.parts.iter().map(|part| Living { segment: part.segment.clone(), dead: part.dead.clone() }).collect();
        for NewSegment { segment, rows } in written {
            let number = parts.len() as u32;
            overlay.rows.extend(rows.into_iter().map(|(row, name)| (row.hash, Some((FileRow { segment: number, ..row }, name)))));
            parts.push(Living { segment, dead: Arc::default() });
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
        Ok(Snapshot { state: self.state.clone(), parts, vectors: self.vectors.clone(), overlay, embedder: self.embedder, totals })
    }

    /// The file whose name has this hash, and its name.
    pub(super) fn find(&self, hash: u64) -> Option<(&FileRow, &str)> {
        match self.overlay.rows.get(&hash) {
            Some(row) => row.as_ref().map(|(row, name)| (row, name.as_str())),
            None => self.state.find(hash).map(|row| (row, self.state.name(row))),
        }
    }
}

/// Dead bits with a file's documents among them.
pub(super) fn with_dead(dead: &Arc<[u64]>, docs: usize, row: &FileRow) -> Arc<[u64]> {
    let mut bits = if dead.is_empty() { vec![0; docs.div_ceil(64)] } else { dead.to_vec() };
    for doc in row.first_doc as usize..(row.first_doc + 1 + row.units) as usize {
        if let Some(word) = bits.get_mut(doc / 64) {
            *word |= 1 << (doc % 64);
        }
    }
    bits.into()
}

impl View for Snapshot {
    fn known(&self, path: &str) -> Option<Known> {
        self.find(super::hash(path)).filter(|(_, name)| *name == path).map(|(row, _)| row.known(self.embedder))
    }

    fn each_file(&self, each: &mut dyn FnMut(&str, Known)) {
        let hidden: FxHashSet<u64> = self.overlay.rows.keys().copied().collect();
        for row in self.state.rows().iter().filter(|row| !hidden.contains(&row.hash)) {
            each(self.state.name(row), row.known(self.embedder));
        }
        for (row, name) in self.overlay.rows.values().flatten() {
            each(name, row.known(self.embedder));
        }
    }

    fn totals(&self) -> Totals {
        self.totals
    }

    fn has_vector(&self, key: &Key) -> bool {
        self.overlay.vectors.contains_key(key) || self.vectors.as_ref().is_some_and(|vectors| vectors.find(key).is_some())
    }

    fn ask<'a>(&'a self, ask: &'a Ask<'a>) -> Result<Box<dyn Asked + 'a>> {
        Ok(Box::new(AskedSnapshot::new(self, ask)?))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
