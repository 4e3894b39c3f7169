//! The attributes of every document of a segment, in columns that are mapped and need no work at open.
//!
//! A file is one document for the whole file, followed by one for each of its units: so the file's document is `ord` positions
//! before a unit's, and a unit's neighbours are the documents beside it.

use crate::{
    errors::{corrupt, corrupt_index},
    files,
    hash::{lower_bound, path_hash},
    vectors::Key,
};
use bytemuck::{AnyBitPattern, NoUninit, Pod, Zeroable};
use memdir_core::{
    Result,
    internal::{
        base::raw::AlignedBytes,
        search::index::{IndexFile, Sketch},
    },
};
use std::path::Path;

/// The flag of a unit in which an assistant speaks.
pub(super) const ASSISTANT: u8 = 1;
/// The flag of a pure pointer: its `hash` is that of the file it points to.
pub(super) const POINTER: u8 = 2;

const MAGIC: [u8; 8] = *b"mdunits1";

#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct TableHeader {
    magic: [u8; 8],
    docs: u64,
    keyed: u64,
    crc: u64,
}

/// Columns that are not written yet, with one value per document.
#[derive(Debug, Default)]
pub(super) struct SegmentColumns {
    /// The hash of the file's name, or of a pointer's target.
    pub(super) hash: Vec<u64>,
    pub(super) key: Vec<Key>,
    pub(super) sketch: Vec<Sketch>,
    /// 0 for a file, otherwise the number of the unit in its file, from 1.
    pub(super) ord: Vec<u32>,
    /// The number of words of the unit, or of the whole file.
    pub(super) body: Vec<u32>,
    pub(super) pairs: Vec<u32>,
    pub(super) title: Vec<u32>,
    pub(super) first: Vec<u32>,
    pub(super) last: Vec<u32>,
    pub(super) day: Vec<u32>,
    pub(super) flags: Vec<u8>,
}

impl SegmentColumns {
    pub(super) fn len(&self) -> usize {
        self.hash.len()
    }

    /// Adds the documents of a file whose name has this hash.
    pub(super) fn push_file(&mut self, file: &IndexFile, hash: u64, file_words: u32) {
        self.hash.push(hash);
        self.key.push(Key([0; 16]));
        self.sketch.push(Sketch::default());
        self.body.push(file_words);
        self.flags.push(0);
        for column in [&mut self.ord, &mut self.pairs, &mut self.title, &mut self.first, &mut self.last, &mut self.day] {
            column.push(0);
        }
        for (unit, ord) in file.units.iter().zip(1..) {
            let target = unit.points_to.as_deref().map(path_hash);
            self.hash.push(target.unwrap_or(hash));
            self.key.push(if target.is_some() { Key([0; 16]) } else { unit.key });
            self.sketch.push(unit.sketch);
            self.ord.push(ord);
            self.body.push(unit.body.count);
            self.pairs.push(unit.body.kept.saturating_sub(1));
            self.title.push(unit.title.count);
            self.first.push(unit.first);
            self.last.push(unit.last);
            self.day.push(unit.day.map_or(0, |day| day.pack().get()));
            self.flags.push(if unit.assistant { ASSISTANT } else { 0 } | if target.is_some() { POINTER } else { 0 });
        }
    }

    /// Copies one document of another table.
    pub(super) fn push_doc(&mut self, from: &ColumnTable, doc: usize) {
        self.hash.push(from.hash()[doc]);
        self.key.push(from.key()[doc]);
        self.sketch.push(from.sketch()[doc]);
        self.ord.push(from.ord()[doc]);
        self.body.push(from.body()[doc]);
        self.pairs.push(from.pairs()[doc]);
        self.title.push(from.title()[doc]);
        self.first.push(from.first()[doc]);
        self.last.push(from.last()[doc]);
        self.day.push(from.day()[doc]);
        self.flags.push(from.flags()[doc]);
    }

    /// Returns the columns as one aligned block.
    pub(super) fn finish(&self) -> Vec<u64> {
        let mut by_key: Vec<u32> = (0..self.len() as u32).filter(|doc| self.key[*doc as usize] != Key([0; 16])).collect();
        by_key.sort_unstable_by_key(|doc| (self.key[*doc as usize], *doc));
        let mut bytes = vec![0u8; size_of::<TableHeader>()];
        fn put<T: NoUninit>(bytes: &mut Vec<u8>, column: &[T]) {
            bytes.extend_from_slice(bytemuck::cast_slice(column));
            bytes.resize(bytes.len().next_multiple_of(8), 0);
        }
        put(&mut bytes, &self.hash);
        put(&mut bytes, &self.key);
        put(&mut bytes, &self.sketch);
        for column in [&self.ord, &self.body, &self.pairs, &self.title, &self.first, &self.last, &self.day, &by_key] {
            put(&mut bytes, column);
        }
        put(&mut bytes, &self.flags);
        let crc = u64::from(crc32fast::hash(&bytes[size_of::<TableHeader>()..]));
        let header = TableHeader { magic: MAGIC, docs: self.len() as u64, keyed: by_key.len() as u64, crc };
        bytes[..size_of::<TableHeader>()].copy_from_slice(bytemuck::bytes_of(&header));
        let mut block = vec![0u64; bytes.len() / 8];
        bytemuck::cast_slice_mut::<u64, u8>(&mut block).copy_from_slice(&bytes);
        block
    }
}

/// The columns of one segment, mapped or in memory.
pub(super) struct ColumnTable {
    bytes: AlignedBytes,
    docs: usize,
    keyed: usize,
}

impl ColumnTable {
    pub(super) fn owned(columns: &SegmentColumns) -> ColumnTable {
        let block = columns.finish();
        let header: TableHeader = *bytemuck::from_bytes(&bytemuck::cast_slice::<u64, u8>(&block)[..size_of::<TableHeader>()]);
        ColumnTable { bytes: AlignedBytes::Owned(block), docs: header.docs as usize, keyed: header.keyed as usize }
    }

    /// Maps a table with this number of documents. Checks only its header and size: the caller has checked its mark.
    pub(super) fn open(path: &Path, docs: u32) -> Result<ColumnTable> {
        let (mapped, _) = files::map(path)?.ok_or_else(|| corrupt_index(format!("{} is missing", path.display())))?;
        let header = mapped.get(..size_of::<TableHeader>()).map(bytemuck::pod_read_unaligned::<TableHeader>);
        let header = header.filter(|h| h.magic == MAGIC && h.docs == u64::from(docs) && h.keyed <= h.docs);
        let header = header.ok_or_else(|| corrupt(path, "its header does not match the index"))?;
        let table = ColumnTable { bytes: AlignedBytes::Mapped(mapped), docs: header.docs as usize, keyed: header.keyed as usize };
        if table.flags_at() + table.docs.next_multiple_of(8) != table.all().len() {
            return Err(corrupt(path, "its size does not match its header"));
        }
        Ok(table)
    }

    /// Whether the checksum is correct. Reads every byte.
    pub(super) fn is_whole(&self) -> bool {
        let header: TableHeader = bytemuck::pod_read_unaligned(&self.all()[..size_of::<TableHeader>()]);
        u64::from(crc32fast::hash(&self.all()[size_of::<TableHeader>()..])) == header.crc
    }

    pub(super) fn docs(&self) -> usize {
        self.docs
    }

    fn all(&self) -> &[u8] {
        &self.bytes
    }

    fn column<T: AnyBitPattern>(&self, at: usize, count: usize) -> &[T] {
        bytemuck::cast_slice(&self.all()[at..at + count * size_of::<T>()])
    }

    /// Returns the offset of the n-th column of numbers.
    fn numbers_at(&self, n: usize) -> usize {
        size_of::<TableHeader>() + self.docs * (8 + 16 + 32) + n * (self.docs * 4).next_multiple_of(8)
    }

    fn flags_at(&self) -> usize {
        self.numbers_at(7) + (self.keyed * 4).next_multiple_of(8)
    }

    pub(super) fn hash(&self) -> &[u64] {
        self.column(size_of::<TableHeader>(), self.docs)
    }

    pub(super) fn key(&self) -> &[Key] {
        self.column(size_of::<TableHeader>() + self.docs * 8, self.docs)
    }

    pub(super) fn sketch(&self) -> &[Sketch] {
        self.column(size_of::<TableHeader>() + self.docs * 24, self.docs)
    }

    pub(super) fn ord(&self) -> &[u32] {
        self.column(self.numbers_at(0), self.docs)
    }

    pub(super) fn body(&self) -> &[u32] {
        self.column(self.numbers_at(1), self.docs)
    }

    pub(super) fn pairs(&self) -> &[u32] {
        self.column(self.numbers_at(2), self.docs)
    }

    pub(super) fn title(&self) -> &[u32] {
        self.column(self.numbers_at(3), self.docs)
    }

    pub(super) fn first(&self) -> &[u32] {
        self.column(self.numbers_at(4), self.docs)
    }

    pub(super) fn last(&self) -> &[u32] {
        self.column(self.numbers_at(5), self.docs)
    }

    pub(super) fn day(&self) -> &[u32] {
        self.column(self.numbers_at(6), self.docs)
    }

    pub(super) fn flags(&self) -> &[u8] {
        self.column(self.flags_at(), self.docs)
    }

    fn by_key(&self) -> &[u32] {
        self.column(self.numbers_at(7), self.keyed)
    }

    /// Returns the documents whose text has this key.
    pub(super) fn with_key(&self, key: &Key) -> &[u32] {
        let (by_key, keys) = (self.by_key(), self.key());
        let at = |n: usize| keys[by_key[n] as usize];
        let leading = u64::from_be_bytes([key.0[0], key.0[1], key.0[2], key.0[3], key.0[4], key.0[5], key.0[6], key.0[7]]);
        let first = lower_bound(by_key.len(), leading, |n| at(n) < *key);
        let count = by_key[first..].iter().take_while(|doc| keys[**doc as usize] == *key).count();
        &by_key[first..first + count]
    }
}
