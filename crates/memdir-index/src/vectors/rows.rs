//! One immutable file of rows, mapped: sorted keys, their scales, their values. Never changed once it has its name.
//!
//! Layout, in the byte order of the machine (a file of another byte order fails the format check and is rebuilt):
//! ```text
//!   0  magic "MEMDIRVC"
//!   8  u32 format, u32 dimension
//!  16  u64 rows
//!  24  embedder's hash, 16 bytes
//!  40  hash of everything after the header, 16 bytes
//!  56  hash of the header up to here, 16 bytes; zeros up to 128
//! 128  keys, 16 bytes each, ascending
//!   …  scales, f32 each; zeros up to a multiple of 64
//!   …  rows, one byte per value
//! ```

use super::{Key, list};
use crate::errors::corrupt;
use memdir_core::{
    Error, Result,
    internal::{
        base::raw::{Mapped, Simd, map_file},
        search::embed::{EmbedderId, Vector, unit_scale},
    },
};
use std::{
    fs,
    io::{self, BufWriter, Seek, Write},
    ops::Range,
    path::Path,
};

const MAGIC: &[u8; 8] = b"MEMDIRVC";
const FORMAT: u32 = 1;
const HEADER: usize = 128;
/// The length of the part of the header that its own hash covers.
const HASHED: usize = 56;

/// A row to write: its key, its scale, its values.
pub(super) type VectorRow<'a> = (Key, f32, &'a [i8]);

/// A file of rows, sorted by their keys.
#[derive(Debug)]
pub struct RowFile {
    bytes: Mapped,
    layout: Layout,
}

impl RowFile {
    /// Maps a file and checks its header and length.
    pub(super) fn open(file: &fs::File, path: &Path, embedder: &EmbedderId, dim: usize) -> Result<Self> {
        let bytes = map_file(file).map_err(|source| Error::Io { doing: "memory-map", path: path.to_owned(), source })?;
        let header = bytes.first_chunk::<HEADER>().ok_or_else(|| corrupt(path, "it is shorter than its header"))?;
        if header[HASHED..HASHED + 16] != hash(&header[..HASHED]) {
            return Err(corrupt(path, "checksum mismatch in its header"));
        }
        if &header[..8] != MAGIC || number(&header[8..12]) != u64::from(FORMAT) {
            return Err(corrupt(path, "it has an unknown format"));
        }
        if header[24..40] != embedder.hash() || number(&header[12..16]) != dim as u64 {
            return Err(corrupt(path, "its embedder or dimension does not match the file list"));
        }
        let layout = usize::try_from(number(&header[16..24])).ok().and_then(|rows| Layout::new(rows, dim));
        match layout {
            Some(layout) if layout.rows.end == bytes.len() => Ok(RowFile { bytes, layout }),
            _ => Err(corrupt(path, "its size does not match its header")),
        }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.layout.count
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the keys, ascending.
    pub fn keys(&self) -> &[Key] {
        bytemuck::cast_slice(&self.bytes[self.layout.keys.clone()])
    }

    /// Returns the factors by which the values of each row are multiplied.
    pub fn scales(&self) -> &[f32] {
        bytemuck::cast_slice(&self.bytes[self.layout.scales.clone()])
    }

    /// Returns the values of all rows, one row after the other.
    pub fn rows(&self) -> &[i8] {
        bytemuck::cast_slice(&self.bytes[self.layout.rows.clone()])
    }

    /// Returns the values of one row.
    ///
    /// # Panics
    /// If the row does not exist.
    pub fn row(&self, row: usize) -> &[i8] {
        &self.rows()[row * self.layout.dim..][..self.layout.dim]
    }

    /// Returns the row of a key. Keys are hashes and evenly distributed: the key itself gives its approximate position, and the search
    /// widens from there, touching a page or two instead of the dozen of a binary search.
    pub fn find(&self, key: &Key) -> Option<u32> {
        let keys = self.keys();
        let guess = ((u128::from(leading(key)) * keys.len() as u128) >> 64) as usize;
        let (mut low, mut high) = (guess, guess);
        let mut step = 8;
        while low > 0 && keys[low - 1] >= *key {
            low = low.saturating_sub(step);
            step *= 2;
        }
        step = 8;
        while high < keys.len() && keys[high] < *key {
            high = (high + step).min(keys.len());
            step *= 2;
        }
        // A damaged table may be unsorted; then the search may miss the key, but never fails.
        let at = low + keys.get(low..(high + 1).min(keys.len()))?.partition_point(|k| k < key);
        (keys.get(at) == Some(key)).then_some(at as u32)
    }

    /// Returns the cosine with one row, or `None` if the row is damaged.
    pub(super) fn cosine(&self, query: &Vector, row: usize) -> Option<f32> {
        if !self.is_sound(row) {
            return None;
        }
        let mut dot = [0];
        Simd::best().dots(query.row(), self.row(row), &mut dot);
        Some(query.scale() * self.scales()[row] * dot[0] as f32)
    }

    /// Whether the scale of a row normalizes it, which is almost never true of damaged bytes.
    pub(super) fn is_sound(&self, row: usize) -> bool {
        unit_scale(self.row(row)) == self.scales()[row]
    }

    /// Whether the checksum is correct. Reads every byte.
    pub(super) fn is_whole(&self) -> bool {
        self.bytes[40..56] == hash(&self.bytes[HEADER..])
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = VectorRow<'_>> {
        (0..self.len()).map(|i| (self.keys()[i], self.scales()[i], self.row(i)))
    }
}

/// Writes a file of rows, which must be sorted by key, each key once.
pub(super) fn write(dir: &Path, name: &str, embedder: &EmbedderId, dim: usize, rows: &[VectorRow<'_>]) -> Result<()> {
    let layout = Layout::new(rows.len(), dim).ok_or_else(|| corrupt(dir, "too many vectors for one file"))?;
    list::write_whole(dir, name, |file| {
        file.write_all(&[0; HEADER])?;
        let mut body = Hashing { file: BufWriter::with_capacity(1 << 16, &mut *file), hasher: blake3::Hasher::new() };
        rows.iter().try_for_each(|(key, ..)| body.write_all(&key.0))?;
        rows.iter().try_for_each(|(_, scale, _)| body.write_all(&scale.to_ne_bytes()))?;
        body.write_all(&[0; 64][..layout.rows.start - layout.scales.end])?;
        rows.iter().try_for_each(|(.., row)| body.write_all(bytemuck::cast_slice(row)))?;
        body.flush()?;
        let body_hash = body.hasher.finalize();
        drop(body);
        file.rewind()?;
        file.write_all(&header(embedder, dim, rows.len(), &body_hash.as_bytes()[..16]))
    })
}

fn header(embedder: &EmbedderId, dim: usize, rows: usize, body_hash: &[u8]) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(MAGIC);
    header[8..12].copy_from_slice(&FORMAT.to_ne_bytes());
    header[12..16].copy_from_slice(&(dim as u32).to_ne_bytes());
    header[16..24].copy_from_slice(&(rows as u64).to_ne_bytes());
    header[24..40].copy_from_slice(&embedder.hash());
    header[40..56].copy_from_slice(body_hash);
    let own = hash(&header[..HASHED]);
    header[HASHED..HASHED + 16].copy_from_slice(&own);
    header
}

/// The offsets of the parts of a file.
#[derive(Debug)]
struct Layout {
    count: usize,
    dim: usize,
    keys: Range<usize>,
    scales: Range<usize>,
    rows: Range<usize>,
}

impl Layout {
    /// Returns `None` if the numbers are out of range: row numbers have 32 bits.
    fn new(count: usize, dim: usize) -> Option<Self> {
        u32::try_from(count).ok()?;
        let keys = HEADER..HEADER.checked_add(count.checked_mul(16)?)?;
        let scales = keys.end..keys.end.checked_add(count.checked_mul(4)?)?;
        let start = scales.end.checked_next_multiple_of(64)?;
        let rows = start..start.checked_add(count.checked_mul(dim)?)?;
        Some(Layout { count, dim, keys, scales, rows })
    }
}

struct Hashing<W> {
    file: W,
    hasher: blake3::Hasher,
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.hasher.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn hash(bytes: &[u8]) -> [u8; 16] {
    let mut short = [0; 16];
    short.copy_from_slice(&blake3::hash(bytes).as_bytes()[..16]);
    short
}

fn leading(key: &Key) -> u64 {
    key.0.first_chunk().map_or(0, |first| u64::from_be_bytes(*first))
}

/// Decodes an integer of four or eight bytes in the machine's byte order.
fn number(bytes: &[u8]) -> u64 {
    match (<[u8; 4]>::try_from(bytes), <[u8; 8]>::try_from(bytes)) {
        (Ok(four), _) => u64::from(u32::from_ne_bytes(four)),
        (_, Ok(eight)) => u64::from_ne_bytes(eight),
        _ => 0,
    }
}
