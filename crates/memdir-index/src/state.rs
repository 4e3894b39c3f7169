//! The state of an index in one file, replaced by rename: the current segments, their deleted documents, and the indexed files.
//! Any other file in the directory is either listed here or unused.

use crate::{
    errors::corrupt,
    files::{self, Mark},
    hash::lower_bound,
};
use bytemuck::{Pod, Zeroable};
use memdir_core::{
    Kind, Result, Version,
    internal::{
        base::{raw::Mapped, stamp::Stamp},
        search::index::{IndexedValidity, KnownFile, Totals},
    },
};
use std::{
    borrow::Cow,
    path::Path,
    sync::{Arc, OnceLock},
};

const MAGIC: [u8; 8] = *b"mdstate4";

/// The extensions of a segment's files: Tantivy's, and our table.
pub(super) const PARTS: [&str; 7] = ["term", "idx", "pos", "store", "fast", "fieldnorm", "units"];

#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct StateHeader {
    magic: [u8; 8],
    /// The CRC-32 of everything after it, in the low half.
    crc: u64,
    fingerprint: [u8; 16],
    generation: u64,
    totals: Totals,
    /// The vectors that the state requires.
    vectors: RequiredVectors,
    segments: u64,
    dead: u64,
    rows: u64,
    names: u64,
}

/// The vectors that a state requires: the tag of their embedder, and the generation they must have reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct RequiredVectors {
    pub(super) embedder: u64,
    pub(super) generation: u64,
}

/// The entry of a segment in the state.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct SegmentRow {
    pub(super) id: [u8; 32],
    pub(super) docs: u32,
    /// The number of deleted documents.
    pub(super) dead: u32,
    /// The offset of its bits among all deletion bits, in words of 64; it has none if `dead` is 0.
    pub(super) dead_at: u64,
    pub(super) marks: [Mark; PARTS.len()],
}

impl SegmentRow {
    /// The size of its files; 0 for a segment in memory.
    pub(super) fn file_bytes(&self) -> u64 {
        self.marks.iter().map(Mark::size).sum()
    }

    pub(super) fn name(&self) -> &str {
        std::str::from_utf8(&self.id).unwrap_or("")
    }
}

/// The entry of an indexed file in the state.
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
    /// The tag of the embedder by which all its units have vectors; 0 if some have none.
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
    /// The number of its type in the low byte; above it the packed validity.
    pub(super) kind: u32,
    pub(super) counted_files: u32,
    pub(super) counted_units: u32,
}

impl FileRow {
    pub(super) fn known(&self, embedder: u64) -> KnownFile {
        KnownFile {
            stamp: Stamp { size: self.size, mtime_ns: self.mtime_ns, ctime_ns: self.ctime_ns, inode: self.inode },
            seen_ns: self.seen_ns,
            version: Version::from_bytes(self.version),
            kind: self.kind(),
            validity: self.validity(),
            units: self.units,
            unembedded: self.embedder != embedder,
        }
    }

    pub(super) fn kind(&self) -> Option<Kind> {
        ((self.kind & 0xff) as usize).checked_sub(1).and_then(|at| Kind::ALL.get(at).copied())
    }

    pub(super) fn validity(&self) -> IndexedValidity {
        IndexedValidity::unpack(self.kind >> 8)
    }

    /// The type and the validity of a file as one number.
    pub(super) fn kind_number(kind: Option<Kind>, validity: IndexedValidity) -> u32 {
        let kind = kind.and_then(|kind| Kind::ALL.iter().position(|k| *k == kind)).map_or(0, |at| at as u32 + 1);
        kind | validity.pack() << 8
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
            counted_files: self.counted_files.into(),
            counted_units: self.counted_units.into(),
        }
    }
}

/// A state that is not written yet.
#[derive(Debug, Default)]
pub(super) struct NewState<'a> {
    pub(super) generation: u64,
    pub(super) vectors: RequiredVectors,
    pub(super) segments: Vec<(SegmentRow, Arc<[u64]>)>,
    /// The files with their names; sorted when written.
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
        let mut header = StateHeader {
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
        bytes[..size_of::<StateHeader>()].copy_from_slice(bytemuck::bytes_of(&header));
        files::replace(path, &bytes)
    }
}

/// A state on disk, mapped; empty if the index was never written.
pub(super) struct MappedState {
    bytes: Option<Mapped>,
    header: StateHeader,
    /// The mark of the file: another mark means another state.
    pub(super) mark: Mark,
    /// The rows of the files that name other memories; looked up once.
    naming_others: OnceLock<Vec<u32>>,
}

/// Why a state with another fingerprint is not opened.
pub(super) const OTHER_VERSION: &str = "it was created by another version of memdir";

impl MappedState {
    pub(super) fn empty() -> MappedState {
        MappedState { bytes: None, header: StateHeader::zeroed(), mark: Mark::zeroed(), naming_others: OnceLock::new() }
    }

    /// Maps the state; empty if it does not exist. Returns [`Error::Corrupt`](memdir_core::Error::Corrupt) if it is damaged or
    /// of another version.
    pub(super) fn open(path: &Path, fingerprint: [u8; 16]) -> Result<MappedState> {
        let Some((mapped, mark)) = files::map(path)? else { return Ok(MappedState::empty()) };
        let header = mapped.get(..size_of::<StateHeader>()).map(bytemuck::pod_read_unaligned::<StateHeader>).filter(|h| h.magic == MAGIC);
        let header = header.ok_or_else(|| corrupt(path, "it is not a search index state file"))?;
        if header.fingerprint != fingerprint {
            return Err(corrupt(path, OTHER_VERSION));
        }
        if u64::from(crc32fast::hash(&mapped[16..])) != header.crc {
            return Err(corrupt(path, "checksum mismatch"));
        }
        let state = MappedState { bytes: Some(mapped), header, mark, naming_others: OnceLock::new() };
        match state.names_at() + header.names as usize == state.all().len() {
            true => Ok(state),
            false => Err(corrupt(path, "its size does not match its header")),
        }
    }

    fn all(&self) -> &[u8] {
        self.bytes.as_deref().unwrap_or(&[])
    }

    fn part<T: bytemuck::AnyBitPattern>(&self, at: usize, count: u64) -> &[T] {
        if count == 0 { &[] } else { bytemuck::cast_slice(&self.all()[at..at + count as usize * size_of::<T>()]) }
    }

    fn dead_at(&self) -> usize {
        size_of::<StateHeader>() + self.header.segments as usize * size_of::<SegmentRow>()
    }

    fn rows_at(&self) -> usize {
        self.dead_at() + self.header.dead as usize * 8
    }

    fn names_at(&self) -> usize {
        self.rows_at() + self.header.rows as usize * size_of::<FileRow>()
    }

    /// The size of its file.
    pub(super) fn file_bytes(&self) -> u64 {
        self.mark.size()
    }

    pub(super) fn generation(&self) -> u64 {
        self.header.generation
    }

    pub(super) fn totals(&self) -> Totals {
        self.header.totals
    }

    pub(super) fn vectors(&self) -> RequiredVectors {
        self.header.vectors
    }

    pub(super) fn segments(&self) -> &[SegmentRow] {
        self.part(size_of::<StateHeader>(), self.header.segments)
    }

    /// Returns the deletion bits of a segment; empty if no document is deleted.
    pub(super) fn dead(&self, segment: &SegmentRow) -> &[u64] {
        if segment.dead == 0 {
            return &[];
        }
        let all: &[u64] = self.part(self.dead_at(), self.header.dead);
        let at = segment.dead_at as usize;
        all.get(at..at + (segment.docs as usize).div_ceil(64)).unwrap_or(&[])
    }

    /// Returns the files, ordered by the hashes of their names.
    pub(super) fn rows(&self) -> &[FileRow] {
        self.part(self.rows_at(), self.header.rows)
    }

    /// Returns the files that name memories which they replace or are replaced by.
    pub(super) fn naming_others(&self) -> impl Iterator<Item = &FileRow> {
        let rows = self.rows();
        let naming = self
            .naming_others
            .get_or_init(|| rows.iter().zip(0..).filter(|(row, _)| row.validity().names_others).map(|(_, at)| at).collect());
        naming.iter().filter_map(|at| rows.get(*at as usize))
    }

    pub(super) fn name(&self, row: &FileRow) -> &str {
        let at = self.names_at() + row.name_at as usize;
        self.all().get(at..at + row.name_len as usize).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or("")
    }

    pub(super) fn find(&self, hash: u64) -> Option<&FileRow> {
        let rows = self.rows();
        let at = lower_bound(rows.len(), hash, |at| rows[at].hash < hash);
        rows.get(at).filter(|row| row.hash == hash)
    }
}
