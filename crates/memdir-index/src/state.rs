//! The state of an index in one file, replaced by rename: which segments count, which of their documents are dead, and
//! which files are indexed as what. Everything else in the directory is either named here or litter.

use super::files::{self, Mark, corrupt};
use bytemuck::{Pod, Zeroable};
use memdir_core::{
    base::{error::Result, raw::Mapped, stamp::Stamp, version::Version},
    memory::Kind,
    search::index::{Known, Totals},
};
use std::{borrow::Cow, path::Path, sync::Arc};

const MAGIC: [u8; 8] = *b"mdstate3";

/// The files of a segment: Tantivy's and ours.
pub(super) const PARTS: [&str; 7] = ["term", "idx", "pos", "store", "fast", "fieldnorm", "units"];

#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Header {
    magic: [u8; 8],
    /// Of everything behind it, in the low half.
    crc: u64,
    fingerprint: [u8; 16],
    generation: u64,
    totals: Totals,
    /// The embedder whose vectors belong to it, and the generation they must have reached.
    vectors: Reached,
    segments: u64,
    dead: u64,
    rows: u64,
    names: u64,
}

/// Vectors a state relies on: of which embedder, by the beginning of its hash, and how far they were written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Reached {
    pub(super) embedder: u64,
    pub(super) generation: u64,
}

/// A segment, as the state tells it.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct SegmentRow {
    pub(super) id: [u8; 32],
    pub(super) docs: u32,
    /// Dead documents.
    pub(super) dead: u32,
    /// Where its bits begin among all dead bits, in words of 64; it has some only if `dead` is not 0.
    pub(super) dead_at: u64,
    pub(super) marks: [Mark; PARTS.len()],
}

impl SegmentRow {
    pub(super) fn name(&self) -> &str {
        std::str::from_utf8(&self.id).unwrap_or("")
    }
}

/// A file, as it was indexed.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct FileRow {
    pub(super) hash: u64,
    pub(super) size: u64,
    pub(super) mtime_ns: i64,
    pub(super) ctime_ns: i64,
    pub(super) inode: u64,
    pub(super) seen_ns: i64,
    pub(super) version: [u8; 16],
    /// The embedder whose vectors all its units have, by the beginning of its hash; 0 if none.
    pub(super) embedder: u64,
    pub(super) name_at: u32,
    pub(super) name_len: u32,
    pub(super) segment: u32,
    pub(super) first_doc: u32,
    pub(super) units: u32,
    pub(super) body: u32,
    pub(super) pairs: u32,
    pub(super) title: u32,
    pub(super) file: u32,
    pub(super) kind: u32,
    pub(super) told_files: u32,
    pub(super) told_units: u32,
}

impl FileRow {
    pub(super) fn known(&self, embedder: u64) -> Known {
        Known {
            stamp: Stamp { size: self.size, mtime_ns: self.mtime_ns, ctime_ns: self.ctime_ns, inode: self.inode },
            seen_ns: self.seen_ns,
            version: Version::from_bytes(self.version),
            kind: self.kind(),
            units: self.units,
            unembedded: self.embedder != embedder,
        }
    }

    pub(super) fn kind(&self) -> Option<Kind> {
        (self.kind as usize).checked_sub(1).and_then(|at| Kind::ALL.get(at).copied())
    }

    pub(super) fn kind_number(kind: Option<Kind>) -> u32 {
        kind.and_then(|kind| Kind::ALL.iter().position(|k| *k == kind)).map_or(0, |at| at as u32 + 1)
    }

    pub(super) fn set_stamp(&mut self, stamp: Stamp, seen_ns: i64) {
        (self.size, self.mtime_ns, self.ctime_ns, self.inode) = (stamp.size, stamp.mtime_ns, stamp.ctime_ns, stamp.inode);
        self.seen_ns = seen_ns;
    }

    pub(super) fn totals(&self) -> Totals {
        Totals {
            files: 1,
            units: self.units.into(),
            body: self.body.into(),
            pairs: self.pairs.into(),
            title: self.title.into(),
            file: self.file.into(),
            told_files: self.told_files.into(),
            told_units: self.told_units.into(),
        }
    }
}

/// A state in the making.
#[derive(Debug, Default)]
pub(super) struct NewState<'a> {
    pub(super) generation: u64,
    pub(super) vectors: Reached,
    pub(super) segments: Vec<(SegmentRow, Arc<[u64]>)>,
    /// With their names; sorted when written.
    pub(super) rows: Vec<(FileRow, Cow<'a, str>)>,
}

impl NewState<'_> {
    pub(super) fn write(mut self, path: &Path, fingerprint: [u8; 16]) -> Result<()> {
        self.rows.sort_unstable_by(|(a, a_name), (b, b_name)| (a.hash, a_name).cmp(&(b.hash, b_name)));
        let (mut dead, mut names, mut totals) = (Vec::<u64>::new(), String::new(), Totals::default());
        for (segment, bits) in &mut self.segments {
            segment.dead_at = dead.len() as u64;
            if segment.dead > 0 {
                dead.extend_from_slice(bits);
            }
        }
        for (row, name) in &mut self.rows {
            (row.name_at, row.name_len) = (names.len() as u32, name.len() as u32);
            names.push_str(name);
            totals.add(&row.totals());
        }
        let segments: Vec<SegmentRow> = self.segments.iter().map(|(row, _)| *row).collect();
        let rows: Vec<FileRow> = self.rows.iter().map(|(row, _)| *row).collect();
        let mut header = Header {
            magic: MAGIC,
            crc: 0,
            fingerprint,
            generation: self.generation,
            totals,
            vectors: self.vectors,
            segments: segments.len() as u64,
            dead: dead.len() as u64,
            rows: rows.len() as u64,
            names: names.len() as u64,
        };
        let parts: [&[u8]; 4] =
            [bytemuck::cast_slice(&segments), bytemuck::cast_slice(&dead), bytemuck::cast_slice(&rows), names.as_bytes()];
        let mut bytes = bytemuck::bytes_of(&header).to_vec();
        parts.iter().for_each(|part| bytes.extend_from_slice(part));
        header.crc = u64::from(crc32fast::hash(&bytes[16..]));
        bytes[..size_of::<Header>()].copy_from_slice(bytemuck::bytes_of(&header));
        files::replace(path, &bytes)
    }
}

/// A state as it is on disk, mapped. An index that was never written has none.
pub(super) struct State {
    bytes: Option<Mapped>,
    header: Header,
    /// Which file this is: another mark, another state.
    pub(super) mark: Mark,
}

/// Why a state with another fingerprint is not opened.
pub(super) const OTHER_VERSION: &str = "it was made by another version of memdir";

impl State {
    pub(super) fn empty() -> State {
        State { bytes: None, header: Header::zeroed(), mark: Mark::zeroed() }
    }

    /// Maps the state. `Corrupt` if it is damaged or of another form; empty if it is not there.
    pub(super) fn open(path: &Path, fingerprint: [u8; 16]) -> Result<State> {
        let Some((mapped, mark)) = files::map(path)? else { return Ok(State::empty()) };
        let header = mapped.get(..size_of::<Header>()).map(bytemuck::pod_read_unaligned::<Header>).filter(|h| h.magic == MAGIC);
        let header = header.ok_or_else(|| corrupt(path, "it is not a state of a search index"))?;
        if header.fingerprint != fingerprint {
            return Err(corrupt(path, OTHER_VERSION));
        }
        if u64::from(crc32fast::hash(&mapped[16..])) != header.crc {
            return Err(corrupt(path, "its checksum is wrong"));
        }
        let state = State { bytes: Some(mapped), header, mark };
        match state.names_at() + header.names as usize == state.all().len() {
            true => Ok(state),
            false => Err(corrupt(path, "its size is not that of its parts")),
        }
    }

    fn all(&self) -> &[u8] {
        self.bytes.as_deref().unwrap_or(&[])
    }

    fn part<T: bytemuck::AnyBitPattern>(&self, at: usize, count: u64) -> &[T] {
        if count == 0 { &[] } else { bytemuck::cast_slice(&self.all()[at..at + count as usize * size_of::<T>()]) }
    }

    fn dead_at(&self) -> usize {
        size_of::<Header>() + self.header.segments as usize * size_of::<SegmentRow>()
    }

    fn rows_at(&self) -> usize {
        self.dead_at() + self.header.dead as usize * 8
    }

    fn names_at(&self) -> usize {
        self.rows_at() + self.header.rows as usize * size_of::<FileRow>()
    }

    pub(super) fn generation(&self) -> u64 {
        self.header.generation
    }

    pub(super) fn totals(&self) -> Totals {
        self.header.totals
    }

    pub(super) fn vectors(&self) -> Reached {
        self.header.vectors
    }

    pub(super) fn segments(&self) -> &[SegmentRow] {
        self.part(size_of::<Header>(), self.header.segments)
    }

    /// The dead bits of a segment; none if nothing in it is dead.
    pub(super) fn dead(&self, segment: &SegmentRow) -> &[u64] {
        if segment.dead == 0 {
            return &[];
        }
        let all: &[u64] = self.part(self.dead_at(), self.header.dead);
        let at = segment.dead_at as usize;
        all.get(at..at + (segment.docs as usize).div_ceil(64)).unwrap_or(&[])
    }

    /// The files, in the order of the hashes of their names.
    pub(super) fn rows(&self) -> &[FileRow] {
        self.part(self.rows_at(), self.header.rows)
    }

    pub(super) fn name(&self, row: &FileRow) -> &str {
        let at = self.names_at() + row.name_at as usize;
        self.all().get(at..at + row.name_len as usize).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or("")
    }

    pub(super) fn find(&self, hash: u64) -> Option<&FileRow> {
        let rows = self.rows();
        // Hashes are spread evenly, so the place is nearly known: a few steps instead of seventeen.
        let guess = ((u128::from(hash) * rows.len() as u128) >> 64) as usize;
        let (mut low, mut high, mut step) = (guess, guess, 4);
        while low > 0 && rows[low - 1].hash >= hash {
            low = low.saturating_sub(step);
            step *= 2;
        }
        step = 4;
        while high < rows.len() && rows[high].hash < hash {
            high = (high + step).min(rows.len());
            step *= 2;
        }
        let at = low + rows[low..high].partition_point(|row| row.hash < hash);
        rows.get(at).filter(|row| row.hash == hash)
    }
}
