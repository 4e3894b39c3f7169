//! The file of the table, which is mapped and read without decoding it. Stems are sorted, and each has the list of the memories it is in,
//! so a recall touches only what its message asks for.

use crate::base::raw::{self, AlignedBytes};
use std::{fs::File, ops::Range, path::Path};

/// A table of another format is ignored. It changes with the analysis of words and with the lists of common words, too.
const FORMAT: &[u8; 16] = b"memdir recall 4\n";
/// A table of a machine with another byte order is ignored.
const BYTE_ORDER: u32 = 0x0102_0304;
/// Where the bytes begin that the checksum covers: after the format, the byte order and the checksum.
const SUMMED: usize = 24;
/// The beginning of the first section: the checksum is followed by the length of each section.
const FRONT: usize = SUMMED + SECTIONS * 4;

/// The sections, in the order of the file. Each begins at a multiple of eight bytes.
#[derive(Clone, Copy)]
pub(super) enum Section {
    /// For each row: size, modification, change, inode, and when it was read.
    Stamps,
    /// For each row: where its path ends.
    PathEnds,
    /// For each row: the number of words of its body.
    BodyWords,
    /// For each row: where its details end.
    DetailEnds,
    /// For each stem: where its text ends.
    StemEnds,
    /// For each stem: where its list of memories ends.
    PostingEnds,
    /// For each stem: the share of English texts that have it.
    Shares,
    /// For each stem: in how many memories it is.
    Frequencies,
    /// The lists of memories: each a row and the fields of it that have the stem.
    Postings,
    /// Of each row the stems of its name, of its cues, and of its lines if it is an entrypoint.
    Details,
    /// For each stem: what else is known of it.
    Flags,
    /// For each row: whether it counted as a memory when the frequencies were counted.
    Counted,
    /// The paths of the rows.
    Paths,
    /// The texts of the stems.
    Stems,
    /// The paths that lines of entrypoints point to.
    Targets,
    /// Rules, pins and validity, as JSON: few memories have any.
    Extras,
}

const SECTIONS: usize = 16;
/// The number of bits of a posting that say which fields have the stem; the others are the row.
const FIELD_BITS: u32 = 6;
/// An everyday word.
const STEM_EVERYDAY: u8 = 1;
/// In a line of an entrypoint.
const IN_LINE: u8 = 2;

/// A stem in a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::recall) struct Posting {
    /// The row of the memory.
    pub(in crate::recall) row: u32,
    /// The fields that have the stem.
    pub(in crate::recall) places: u8,
}

impl Posting {
    pub(super) fn pack(self) -> u32 {
        (self.row << FIELD_BITS) | u32::from(self.places)
    }

    fn unpack(packed: u32) -> Posting {
        Posting { row: packed >> FIELD_BITS, places: (packed & ((1 << FIELD_BITS) - 1)) as u8 }
    }
}

/// What is known of a stem besides its text.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::recall) struct StemInfo {
    /// The share of English texts that have it.
    pub(in crate::recall) share: f32,
    /// Whether it belongs to an everyday word.
    pub(in crate::recall) is_everyday: bool,
    /// Whether a line of an entrypoint has it.
    pub(in crate::recall) is_in_line: bool,
}

impl StemInfo {
    pub(super) fn flags(self) -> u8 {
        (u8::from(self.is_everyday) * STEM_EVERYDAY) | (u8::from(self.is_in_line) * IN_LINE)
    }
}

/// The bytes of a table: mapped from its file, or just made.
#[derive(Debug)]
pub(super) struct TableBytes {
    bytes: AlignedBytes,
    sections: [Range<usize>; SECTIONS],
}

impl Default for TableBytes {
    fn default() -> Self {
        TableBytes { bytes: AlignedBytes::Owned(Vec::new()), sections: std::array::from_fn(|_| 0..0) }
    }
}

impl TableBytes {
    /// Maps the file of a table. Returns `None` if there is none, or if it is damaged or has another format.
    pub(super) fn open(file: &Path) -> Option<TableBytes> {
        let lost = raw::lost_pages();
        let table = TableBytes::new(AlignedBytes::Mapped(raw::map_file(&File::open(file).ok()?).ok()?))?;
        (raw::lost_pages() == lost).then_some(table)
    }

    /// Joins the sections of a new table.
    pub(super) fn join(contents: [&[u8]; SECTIONS]) -> Option<TableBytes> {
        let length = FRONT.next_multiple_of(8) + contents.iter().map(|bytes| bytes.len().next_multiple_of(8)).sum::<usize>();
        let mut made = vec![0_u64; length / 8];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut made);
        bytes[..16].copy_from_slice(FORMAT);
        bytes[16..20].copy_from_slice(&BYTE_ORDER.to_ne_bytes());
        let mut start = FRONT.next_multiple_of(8);
        for (at, content) in contents.into_iter().enumerate() {
            let front = SUMMED + at * 4;
            bytes[front..front + 4].copy_from_slice(&u32::try_from(content.len()).ok()?.to_ne_bytes());
            bytes[start..start + content.len()].copy_from_slice(content);
            start += content.len().next_multiple_of(8);
        }
        let sum = crc32fast::hash(&bytes[SUMMED..]);
        bytes[20..SUMMED].copy_from_slice(&sum.to_ne_bytes());
        TableBytes::new(AlignedBytes::Owned(made))
    }

    /// Checks the bytes of a table, and finds its sections.
    fn new(bytes: AlignedBytes) -> Option<TableBytes> {
        let all = &*bytes;
        let number = |at: usize| Some(u32::from_ne_bytes(all.get(at..at + 4)?.try_into().ok()?));
        let is_whole = all.starts_with(FORMAT) && number(16)? == BYTE_ORDER && number(20)? == crc32fast::hash(all.get(SUMMED..)?);
        if !is_whole {
            return None;
        }
        let mut sections = std::array::from_fn(|_| 0..0);
        let mut start = FRONT.next_multiple_of(8);
        for (at, section) in sections.iter_mut().enumerate() {
            let end = start.checked_add(number(SUMMED + at * 4)? as usize)?;
            *section = start..end;
            start = end.next_multiple_of(8);
        }
        (start == all.len()).then_some(TableBytes { bytes, sections })
    }

    /// All bytes, for the file.
    pub(super) fn all(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes of one section.
    pub(super) fn section(&self, section: Section) -> &[u8] {
        self.all().get(self.sections[section as usize].clone()).unwrap_or_default()
    }

    fn numbers<T: bytemuck::AnyBitPattern>(&self, section: Section) -> &[T] {
        bytemuck::try_cast_slice(self.section(section)).unwrap_or_default()
    }

    /// The sections as lists. Nothing that is read from them leaves its list, whatever the file has.
    pub(super) fn view(&self) -> TableView<'_> {
        TableView {
            stamps: self.numbers(Section::Stamps),
            path_ends: self.numbers(Section::PathEnds),
            body_words: self.numbers(Section::BodyWords),
            detail_ends: self.numbers(Section::DetailEnds),
            stem_ends: self.numbers(Section::StemEnds),
            posting_ends: self.numbers(Section::PostingEnds),
            shares: self.numbers(Section::Shares),
            frequencies: self.numbers(Section::Frequencies),
            postings: self.numbers(Section::Postings),
            details: self.numbers(Section::Details),
            flags: self.section(Section::Flags),
            counted: self.section(Section::Counted),
            paths: self.section(Section::Paths),
            stems: self.section(Section::Stems),
            targets: self.section(Section::Targets),
        }
    }
}

/// The words of a table.
#[derive(Debug, Clone, Copy)]
pub(in crate::recall) struct TableView<'a> {
    stamps: &'a [[u64; 5]],
    path_ends: &'a [u32],
    body_words: &'a [u32],
    detail_ends: &'a [u32],
    stem_ends: &'a [u32],
    posting_ends: &'a [u32],
    shares: &'a [f32],
    frequencies: &'a [f32],
    postings: &'a [u32],
    details: &'a [u32],
    flags: &'a [u8],
    counted: &'a [u8],
    paths: &'a [u8],
    stems: &'a [u8],
    targets: &'a [u8],
}

impl<'a> TableView<'a> {
    /// The number of rows.
    pub(in crate::recall) fn rows(self) -> usize {
        self.path_ends.len()
    }

    /// The path of a row.
    pub(in crate::recall) fn path(self, row: usize) -> &'a str {
        std::str::from_utf8(part(self.paths, self.path_ends, row)).unwrap_or_default()
    }

    /// The stamp of a row, and when it was read.
    pub(super) fn stamp(self, row: usize) -> [u64; 5] {
        self.stamps.get(row).copied().unwrap_or_default()
    }

    /// The number of words of the body of a row.
    pub(in crate::recall) fn body_words(self, row: usize) -> u32 {
        self.body_words.get(row).copied().unwrap_or_default()
    }

    /// The number of stems.
    pub(in crate::recall) fn stems(self) -> usize {
        self.stem_ends.len()
    }

    /// The text of a stem.
    pub(in crate::recall) fn stem(self, id: u32) -> &'a [u8] {
        part(self.stems, self.stem_ends, id as usize)
    }

    /// The first stem that is not before a text.
    pub(in crate::recall) fn first_from(self, text: &[u8]) -> u32 {
        let (mut low, mut high) = (0, self.stems() as u32);
        while low < high {
            let middle = u32::midpoint(low, high);
            if self.stem(middle) < text {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The number of a stem.
    pub(in crate::recall) fn find(self, stem: &[u8]) -> Option<u32> {
        let id = self.first_from(stem);
        ((id as usize) < self.stems() && self.stem(id) == stem).then_some(id)
    }

    /// What is known of a stem.
    pub(in crate::recall) fn info(self, id: u32) -> StemInfo {
        let flags = self.flags.get(id as usize).copied().unwrap_or_default();
        StemInfo {
            share: self.shares.get(id as usize).copied().unwrap_or_default(),
            is_everyday: flags & STEM_EVERYDAY != 0,
            is_in_line: flags & IN_LINE != 0,
        }
    }

    /// Whether the frequencies were counted with these rows as memories.
    pub(super) fn counted_with(self, is_memory: &[bool]) -> bool {
        self.counted.len() == is_memory.len() && self.counted.iter().zip(is_memory).all(|(counted, is)| (*counted != 0) == *is)
    }

    /// In how many memories a stem is, as it was counted with the table.
    pub(in crate::recall) fn frequency(self, id: u32) -> f32 {
        self.frequencies.get(id as usize).copied().unwrap_or_default()
    }

    /// The memories that have a stem, in the order of their rows.
    pub(in crate::recall) fn postings(self, id: u32) -> impl Iterator<Item = Posting> + 'a {
        part(self.postings, self.posting_ends, id as usize).iter().map(|packed| Posting::unpack(*packed))
    }

    /// The stems of the parts of a row.
    pub(in crate::recall) fn details(self, row: usize) -> RowDetails<'a> {
        let mut rest = Numbers(part(self.details, self.detail_ends, row));
        let name = rest.list();
        let cues = rest.next();
        RowDetails { name, cues, rest, targets: self.targets }
    }
}

/// The stems of the parts of a row.
#[derive(Debug, Clone, Copy)]
pub(in crate::recall) struct RowDetails<'a> {
    /// The telling stems of the name.
    pub(in crate::recall) name: &'a [u32],
    /// The number of cues.
    cues: u32,
    rest: Numbers<'a>,
    targets: &'a [u8],
}

impl<'a> RowDetails<'a> {
    /// The stems of each cue.
    pub(in crate::recall) fn cues(self) -> impl ExactSizeIterator<Item = &'a [u32]> {
        let mut rest = self.rest;
        // A cue is at least one number long.
        (0..(self.cues as usize).min(rest.0.len())).map(move |_| rest.list())
    }

    /// The lines of an entrypoint: the path each points to, and its stems.
    pub(super) fn lines(self) -> impl Iterator<Item = (&'a str, &'a [u32])> {
        let mut rest = self.rest;
        self.cues().for_each(|_| {
            rest.list();
        });
        std::iter::from_fn(move || {
            if rest.0.is_empty() {
                return None;
            }
            let (start, end) = (rest.next() as usize, rest.next() as usize);
            let target = self.targets.get(start..end).and_then(|target| std::str::from_utf8(target).ok());
            Some((target.unwrap_or_default(), rest.list()))
        })
    }
}

/// Numbers that are read one after the other.
#[derive(Debug, Clone, Copy)]
struct Numbers<'a>(&'a [u32]);

impl<'a> Numbers<'a> {
    fn next(&mut self) -> u32 {
        self.0.split_off_first().copied().unwrap_or_default()
    }

    /// A list, with its length before it.
    fn list(&mut self) -> &'a [u32] {
        let length = (self.next() as usize).min(self.0.len());
        let (list, rest) = self.0.split_at(length);
        self.0 = rest;
        list
    }
}

/// One of many lists that are stored one after the other.
fn part<'a, T>(all: &'a [T], ends: &[u32], at: usize) -> &'a [T] {
    let start = at.checked_sub(1).and_then(|before| ends.get(before)).map_or(0, |end| *end as usize);
    let end = ends.get(at).map_or(0, |end| *end as usize);
    all.get(start..end).unwrap_or_default()
}
