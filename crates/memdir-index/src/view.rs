//! A snapshot as the [`IndexView`] of the index: what is indexed, and queries.

use crate::{
    candidates::candidates,
    hash::path_hash,
    lookup::{SegmentMatches, look_up_query},
    segment::is_dead,
    snapshot::{IndexSnapshot, LiveSegment},
};
use memdir_core::{
    Result,
    internal::search::{
        embed::Key,
        index::{Counts, IndexMatches, IndexQuery, IndexView, KnownFile, Totals, UnitCandidate},
    },
};
use rustc_hash::FxHashSet;
use std::any::Any;

impl IndexView for IndexSnapshot {
    fn known(&self, path: &str) -> Option<KnownFile> {
        self.find(path_hash(path)).filter(|(_, name)| *name == path).map(|(row, _)| row.known(self.embedder))
    }

    fn each_file(&self, each: &mut dyn FnMut(&str, KnownFile)) {
        let hidden: FxHashSet<u64> = self.overlay.rows.keys().copied().collect();
        for row in self.state.rows().iter().filter(|row| !hidden.contains(&row.hash)) {
            each(self.state.name(row), row.known(self.embedder));
        }
        for (row, name) in self.overlay.rows.values().flatten() {
            each(name, row.known(self.embedder));
        }
    }

    fn naming_others(&self) -> Vec<String> {
        let state = self.state.naming_others().filter(|row| !self.overlay.rows.contains_key(&row.hash));
        let overlay = self.overlay.rows.values().flatten().filter(|(row, _)| row.validity().names_others);
        state.map(|row| self.state.name(row).to_owned()).chain(overlay.map(|(_, name)| name.clone())).collect()
    }

    fn totals(&self) -> Totals {
        self.totals
    }

    fn resident_bytes(&self) -> u64 {
        // A segment of the overlay has no files; its words take about this much.
        const OVERLAY_DOC_BYTES: u64 = 1 << 10;
        let segment = |part: &LiveSegment| match part.segment.row.file_bytes() {
            0 => part.segment.docs() as u64 * OVERLAY_DOC_BYTES,
            bytes => bytes,
        };
        let segments: u64 = self.parts.iter().map(segment).sum();
        segments + self.state.file_bytes() + self.vectors.as_ref().map_or(0, |vectors| vectors.bytes())
    }

    fn has_vector(&self, key: &Key) -> bool {
        self.overlay.vectors.contains_key(key) || self.vectors.as_ref().is_some_and(|vectors| vectors.find(key).is_some())
    }

    fn vectors(&self) -> u64 {
        let mut keys: FxHashSet<&Key> = FxHashSet::default();
        for part in &self.parts {
            let table = &part.segment.table;
            // The first document of a file is the file itself.
            let live = (0..part.segment.docs()).filter(|doc| table.ord()[*doc] > 0 && !is_dead(&part.dead, *doc));
            keys.extend(live.map(|doc| &table.key()[doc]).filter(|key| self.has_vector(key)));
        }
        keys.len() as u64
    }

    fn ask<'a>(&'a self, ask: &'a IndexQuery<'a>) -> Result<Box<dyn IndexMatches + 'a>> {
        let (matches, counts) = look_up_query(self, ask)?;
        Ok(Box::new(AskedSnapshot { snapshot: self, ask, matches, counts }))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A query whose terms were looked up in a snapshot.
struct AskedSnapshot<'a> {
    snapshot: &'a IndexSnapshot,
    ask: &'a IndexQuery<'a>,
    matches: Vec<SegmentMatches>,
    counts: Counts,
}

impl IndexMatches for AskedSnapshot<'_> {
    fn counts(&self) -> &Counts {
        &self.counts
    }

    fn candidates(&self, counts: &Counts) -> Result<Vec<UnitCandidate>> {
        candidates(self.snapshot, self.ask, &self.matches, counts)
    }
}
