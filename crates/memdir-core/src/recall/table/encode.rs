//! The file of the table. The words are one dictionary of stems and, for each memory, the numbers of its stems: a table of a
//! thousand memories is read in a fraction of a millisecond.

use super::{RecallTable, TableRow, fields::Fields};
use rustc_hash::FxHashMap;
use std::io;

/// A table of another format is ignored.
const FORMAT: &[u8; 16] = b"memdir recall 2\n";
/// The format, the length of the rows, and the checksums of rows and words.
const FRONT: usize = 16 + 4 + 8 + 8;

/// The words of all memories.
#[derive(Debug, Default)]
pub(in crate::recall) struct WordTable {
    /// Every stem once, one after the other.
    stems: String,
    /// Where each stem ends.
    ends: Vec<u32>,
    /// The encoded words of each row, one after the other.
    rows: Vec<u8>,
    /// Where the words of each row end.
    row_ends: Vec<u32>,
}

/// The words of one memory.
#[derive(Debug, Clone, Copy)]
pub(in crate::recall) struct RowWords<'a> {
    /// The number of words of the body.
    pub(in crate::recall) body_words: u32,
    ids: &'a [u8],
    places: &'a [u8],
    cues: &'a [u8],
    lines: &'a [u8],
}

impl<'a> RowWords<'a> {
    /// The stems, each with the fields it is in.
    pub(in crate::recall) fn words(self) -> impl Iterator<Item = (u32, u8)> + 'a {
        numbers(self.ids).zip(self.places.iter().copied())
    }

    /// The stems of each cue.
    pub(in crate::recall) fn cues(self) -> impl Iterator<Item = impl Iterator<Item = u32> + 'a> + 'a {
        let mut rest = Cursor(self.cues);
        std::iter::from_fn(move || rest.list().map(numbers))
    }

    /// The lines of an entrypoint: the memory each points to, and its stems.
    pub(in crate::recall) fn lines(self) -> impl Iterator<Item = (&'a str, impl Iterator<Item = u32> + 'a)> + 'a {
        let mut rest = Cursor(self.lines);
        std::iter::from_fn(move || {
            let target = rest.bytes()?;
            Some((std::str::from_utf8(target).unwrap_or_default(), numbers(rest.list()?)))
        })
    }

    fn decode(bytes: &'a [u8]) -> Option<Self> {
        let mut rest = Cursor(bytes);
        let body_words = rest.number()?;
        let ids = rest.list()?;
        let places = rest.take(ids.len() / 4)?;
        let cues = rest.bytes()?;
        Some(RowWords { body_words, ids, places, cues, lines: rest.0 })
    }
}

impl WordTable {
    pub(super) fn stems(&self) -> impl Iterator<Item = &str> {
        slices(&self.ends).map(|(start, end)| self.stems.get(start..end).unwrap_or_default())
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = RowWords<'_>> {
        let empty = RowWords { body_words: 0, ids: &[], places: &[], cues: &[], lines: &[] };
        (0..self.row_ends.len()).map(move |at| RowWords::decode(self.row(at)).unwrap_or(empty))
    }

    /// Starts a table that keeps the numbers of the stems of this one, so that its rows can be copied.
    pub(super) fn successor(&self) -> WordTableBuilder {
        let numbers = self.stems().zip(0..).map(|(stem, id)| (stem.to_owned(), id)).collect();
        let table = WordTable { stems: self.stems.clone(), ends: self.ends.clone(), ..WordTable::default() };
        WordTableBuilder { table, numbers }
    }

    fn row(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).map_or(0, |before| self.row_ends[before] as usize);
        self.rows.get(start..self.row_ends[at] as usize).unwrap_or_default()
    }

    /// Renumbers the stems without those that no row uses any more, once they are the greater part.
    fn compacted(self) -> WordTable {
        let mut used = vec![false; self.ends.len()];
        let ids = |row: RowWords<'_>| {
            let cues = row.cues().flatten().collect::<Vec<_>>();
            let lines = row.lines().flat_map(|(_, ids)| ids.collect::<Vec<_>>()).collect::<Vec<_>>();
            row.words().map(|(id, _)| id).chain(cues).chain(lines).collect::<Vec<_>>()
        };
        self.rows().flat_map(ids).for_each(|id| used[id as usize] = true);
        if used.iter().filter(|used| **used).count() * 2 >= used.len() {
            return self;
        }
        let stems: Vec<&str> = self.stems().collect();
        let name = |ids: &mut dyn Iterator<Item = u32>| ids.map(|id| stems[id as usize].to_owned()).collect::<Vec<_>>();
        let mut built = WordTable::default().successor();
        for row in self.rows() {
            built.push(&Fields {
                words: row.words().map(|(id, places)| (stems[id as usize].to_owned(), places)).collect(),
                body_words: row.body_words,
                cues: row.cues().map(|mut ids| name(&mut ids)).collect(),
                lines: row.lines().map(|(target, mut ids)| (target.to_owned(), name(&mut ids))).collect(),
            });
        }
        built.table
    }
}

/// A table that grows row by row.
pub(super) struct WordTableBuilder {
    table: WordTable,
    numbers: FxHashMap<String, u32>,
}

impl WordTableBuilder {
    /// Adds a row of the table this one succeeds.
    pub(super) fn copy(&mut self, from: &WordTable, at: usize) {
        self.table.rows.extend_from_slice(from.row(at));
        self.table.row_ends.push(self.table.rows.len() as u32);
    }

    /// Adds a new row.
    pub(super) fn push(&mut self, fields: &Fields) {
        let mut row = fields.body_words.to_le_bytes().to_vec();
        self.push_list(&mut row, fields.words.iter().map(|(stem, _)| stem));
        row.extend(fields.words.iter().map(|(_, places)| *places));
        let mut cues = Vec::new();
        fields.cues.iter().for_each(|cue| self.push_list(&mut cues, cue.iter()));
        push_bytes(&mut row, &cues);
        for (target, stems) in &fields.lines {
            push_bytes(&mut row, target.as_bytes());
            self.push_list(&mut row, stems.iter());
        }
        self.table.rows.extend_from_slice(&row);
        self.table.row_ends.push(self.table.rows.len() as u32);
    }

    pub(super) fn finish(self) -> WordTable {
        self.table.compacted()
    }

    fn push_list<'a>(&mut self, into: &mut Vec<u8>, stems: impl ExactSizeIterator<Item = &'a String>) {
        into.extend_from_slice(&(stems.len() as u32 * 4).to_le_bytes());
        for stem in stems {
            let id = self.number(stem);
            into.extend_from_slice(&id.to_le_bytes());
        }
    }

    fn number(&mut self, stem: &str) -> u32 {
        if let Some(id) = self.numbers.get(stem) {
            return *id;
        }
        let id = self.table.ends.len() as u32;
        self.table.stems.push_str(stem);
        self.table.ends.push(self.table.stems.len() as u32);
        self.numbers.insert(stem.to_owned(), id);
        id
    }
}

/// Encodes a table.
pub(super) fn encode(table: &RecallTable) -> io::Result<Vec<u8>> {
    let rows = serde_json::to_vec(&table.rows)?;
    let mut words = Vec::new();
    push_bytes(&mut words, table.words.stems.as_bytes());
    push_bytes(&mut words, &table.words.ends.iter().flat_map(|end| end.to_le_bytes()).collect::<Vec<_>>());
    push_bytes(&mut words, &table.words.row_ends.iter().flat_map(|end| end.to_le_bytes()).collect::<Vec<_>>());
    push_bytes(&mut words, &table.words.rows);
    let mut out = Vec::with_capacity(FRONT + rows.len() + words.len());
    out.extend_from_slice(FORMAT);
    out.extend_from_slice(&(rows.len() as u32).to_le_bytes());
    out.extend_from_slice(&checksum(&rows));
    out.extend_from_slice(&checksum(&words));
    out.extend_from_slice(&rows);
    out.extend_from_slice(&words);
    Ok(out)
}

/// Decodes a table; `None` if it is damaged or has another format.
pub(super) fn decode(bytes: Vec<u8>) -> Option<RecallTable> {
    let (front, rest) = bytes.split_at_checked(FRONT)?;
    let mut front = Cursor(front.strip_prefix(FORMAT)?);
    let (rows, words) = rest.split_at_checked(front.number()? as usize)?;
    if front.take(8)? != checksum(rows) || front.take(8)? != checksum(words) {
        return None;
    }
    let rows: Vec<TableRow> = serde_json::from_slice(rows).ok()?;
    let mut words = Cursor(words);
    let stems = std::str::from_utf8(words.bytes()?).ok()?.to_owned();
    let (ends, row_ends) = (numbers(words.bytes()?).collect(), numbers(words.bytes()?).collect::<Vec<u32>>());
    let words = WordTable { stems, ends, row_ends, rows: words.bytes()?.to_vec() };
    (words.row_ends.len() == rows.len()).then_some(RecallTable { rows, words })
}

fn checksum(bytes: &[u8]) -> [u8; 8] {
    let mut sum = [0; 8];
    sum.copy_from_slice(&blake3::hash(bytes).as_bytes()[..8]);
    sum
}

fn push_bytes(into: &mut Vec<u8>, bytes: &[u8]) {
    into.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    into.extend_from_slice(bytes);
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    bytes.chunks_exact(4).map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
}

/// Pairs of start and end from a list of ends.
fn slices(ends: &[u32]) -> impl Iterator<Item = (usize, usize)> + '_ {
    std::iter::once(0).chain(ends.iter().map(|end| *end as usize)).zip(ends.iter().map(|end| *end as usize))
}

/// Reads numbers and byte strings, each with its length before it.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        numbers(self.take(4)?).next()
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = self.number()?;
        self.take(len as usize)
    }

    /// The bytes of a list of numbers.
    fn list(&mut self) -> Option<&'a [u8]> {
        self.bytes()
    }
}
