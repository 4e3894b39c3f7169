//! Makes a table: rows of the one before that are still current, and new ones. The numbers of stems are given anew, in the order of
//! their texts, so stems that no memory has any more disappear.

use super::{
    RowExtra,
    data::{Posting, StemInfo, TableBytes, TableView},
    fields::{Fields, LINE, NAME, PART, count_of, length_factor},
};
use crate::{
    recall::words::{is_everyday, is_small_number},
    search::analysis::rarity,
    store::Stamp,
};
use rustc_hash::FxHashMap;

/// A table that grows row by row, in the order of the paths.
pub(super) struct TableBuilder<'a> {
    old: TableView<'a>,
    /// For each row of the old table: its stems, each with its fields.
    old_words: Vec<Vec<(u32, u8)>>,
    /// The stems that the old table does not have.
    new_stems: Vec<String>,
    numbers: FxHashMap<String, u32>,
    rows: Vec<NewRow>,
}

/// A row with provisional numbers of its stems: those of the old table, then those of the new stems.
struct NewRow {
    path: String,
    stamp: [u64; 5],
    body_words: u32,
    words: Vec<(u32, u8)>,
    cues: Vec<Vec<u32>>,
    lines: Vec<(String, Vec<u32>)>,
}

impl<'a> TableBuilder<'a> {
    pub(super) fn new(old: TableView<'a>) -> Self {
        let mut old_words = vec![Vec::new(); old.rows()];
        for id in 0..old.stems() as u32 {
            for posting in old.postings(id) {
                let places = posting.places & !LINE;
                if let Some(words) = old_words.get_mut(posting.row as usize).filter(|_| places != 0) {
                    words.push((id, places));
                }
            }
        }
        TableBuilder { old, old_words, new_stems: Vec::new(), numbers: FxHashMap::default(), rows: Vec::new() }
    }

    /// The number of rows so far.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Adds a row of the old table.
    pub(super) fn copy(&mut self, row: usize) {
        let details = self.old.details(row);
        self.rows.push(NewRow {
            path: self.old.path(row).to_owned(),
            stamp: self.old.stamp(row),
            body_words: self.old.body_words(row),
            words: std::mem::take(&mut self.old_words[row]),
            cues: details.cues().map(<[u32]>::to_vec).collect(),
            lines: details.lines().map(|(target, ids)| (target.to_owned(), ids.to_vec())).collect(),
        });
    }

    /// Adds a new row.
    pub(super) fn push(&mut self, path: &str, stamp: Stamp, seen_ns: i64, fields: &Fields) {
        let row = NewRow {
            path: path.to_owned(),
            stamp: pack_stamp(stamp, seen_ns),
            body_words: fields.body_words,
            words: fields.words.iter().map(|(stem, places)| (self.number(stem), *places)).collect(),
            cues: fields.cues.iter().map(|cue| self.numbers_of(cue)).collect(),
            lines: fields.lines.iter().map(|(target, stems)| (target.clone(), self.numbers_of(stems))).collect(),
        };
        self.rows.push(row);
    }

    fn numbers_of(&mut self, stems: &[String]) -> Vec<u32> {
        stems.iter().map(|stem| self.number(stem)).collect()
    }

    fn number(&mut self, stem: &str) -> u32 {
        if let Some(id) = self.old.find(stem.as_bytes()).or_else(|| self.numbers.get(stem).copied()) {
            return id;
        }
        let id = (self.old.stems() + self.new_stems.len()) as u32;
        self.new_stems.push(stem.to_owned());
        self.numbers.insert(stem.to_owned(), id);
        id
    }

    fn stem(&self, id: u32) -> &[u8] {
        let new = (id as usize).checked_sub(self.old.stems());
        new.map_or_else(|| self.old.stem(id), |at| self.new_stems[at].as_bytes())
    }

    fn info(&self, id: u32) -> StemInfo {
        match (id as usize).checked_sub(self.old.stems()) {
            None => StemInfo { is_in_line: false, ..self.old.info(id) },
            Some(at) => {
                let stem = &self.new_stems[at];
                StemInfo { share: rarity::share_of_texts(stem), is_everyday: is_everyday(stem), is_in_line: false }
            }
        }
    }

    /// Gives the stems that are used their final numbers: the order of their texts. Returns the old numbers in that order.
    fn renumber(&mut self) -> Vec<u32> {
        let mut used = vec![false; self.old.stems() + self.new_stems.len()];
        let mut use_all = |ids: &[u32]| ids.iter().for_each(|id| used[*id as usize] = true);
        for row in &self.rows {
            row.words.iter().for_each(|(id, _)| use_all(&[*id]));
            row.cues.iter().chain(row.lines.iter().map(|(_, ids)| ids)).for_each(|ids| use_all(ids));
        }
        let mut order: Vec<u32> = (0..used.len() as u32).filter(|id| used[*id as usize]).collect();
        order.sort_by(|a, b| self.stem(*a).cmp(self.stem(*b)));
        let mut numbers = vec![0; used.len()];
        order.iter().zip(0..).for_each(|(old, new)| numbers[*old as usize] = new);
        let renumber = |ids: &mut Vec<u32>| {
            ids.iter_mut().for_each(|id| *id = numbers[*id as usize]);
            ids.sort_unstable();
        };
        for row in &mut self.rows {
            row.words.iter_mut().for_each(|(id, _)| *id = numbers[*id as usize]);
            row.cues.iter_mut().chain(row.lines.iter_mut().map(|(_, ids)| ids)).for_each(renumber);
        }
        order
    }

    /// Marks the stems of entrypoint lines in the memories that the lines point to.
    fn mark_lines(&mut self, infos: &mut [StemInfo]) {
        let lines: Vec<(String, Vec<u32>)> = self.rows.iter().flat_map(|row| row.lines.iter().cloned()).collect();
        for (target, ids) in lines {
            ids.iter().for_each(|id| infos[*id as usize].is_in_line = true);
            let Ok(row) = self.rows.binary_search_by(|row| row.path.as_str().cmp(&target)) else { continue };
            let words = &mut self.rows[row].words;
            for id in ids {
                match words.iter_mut().find(|(known, _)| *known == id) {
                    Some((_, places)) => *places |= LINE,
                    None => words.push((id, LINE)),
                }
            }
        }
    }

    /// The whole table; `None` if it is too large for its file.
    pub(super) fn finish(mut self, extras: &[RowExtra], is_memory: &[bool]) -> Option<TableBytes> {
        let order = self.renumber();
        let mut infos: Vec<StemInfo> = order.iter().map(|id| self.info(*id)).collect();
        let (mut stems, mut stem_ends) = (Vec::new(), Vec::new());
        for id in &order {
            stems.extend_from_slice(self.stem(*id));
            stem_ends.push(stems.len() as u32);
        }
        self.mark_lines(&mut infos);
        let (posting_ends, postings) = self.postings(infos.len());
        let frequencies = self.frequencies(infos.len(), is_memory);
        let counted: Vec<u8> = is_memory.iter().map(|is| u8::from(*is)).collect();
        let (mut paths, mut path_ends) = (Vec::new(), Vec::new());
        let (mut details, mut detail_ends, mut targets) = (Vec::new(), Vec::new(), Vec::new());
        for row in &self.rows {
            paths.extend_from_slice(row.path.as_bytes());
            path_ends.push(paths.len() as u32);
            let is_of_name = |(id, places): &&(u32, u8)| {
                let is_number = || std::str::from_utf8(stem_text(&stems, &stem_ends, *id)).is_ok_and(is_small_number);
                places & NAME != 0 && places & PART == 0 && !is_number()
            };
            push_list(&mut details, &row.words.iter().filter(is_of_name).map(|(id, _)| *id).collect::<Vec<_>>());
            details.push(row.cues.len() as u32);
            row.cues.iter().for_each(|cue| push_list(&mut details, cue));
            for (target, ids) in &row.lines {
                details.push(targets.len() as u32);
                targets.extend_from_slice(target.as_bytes());
                details.push(targets.len() as u32);
                push_list(&mut details, ids);
            }
            detail_ends.push(details.len() as u32);
        }
        let stamps: Vec<[u64; 5]> = self.rows.iter().map(|row| row.stamp).collect();
        let body_words: Vec<u32> = self.rows.iter().map(|row| row.body_words).collect();
        let shares: Vec<f32> = infos.iter().map(|info| info.share).collect();
        let flags: Vec<u8> = infos.iter().map(|info| info.flags()).collect();
        let extras = if extras.is_empty() { Vec::new() } else { serde_json::to_vec(extras).ok()? };
        TableBytes::join([
            bytemuck::cast_slice(&stamps),
            bytemuck::cast_slice(&path_ends),
            bytemuck::cast_slice(&body_words),
            bytemuck::cast_slice(&detail_ends),
            bytemuck::cast_slice(&stem_ends),
            bytemuck::cast_slice(&posting_ends),
            bytemuck::cast_slice(&shares),
            bytemuck::cast_slice(&frequencies),
            bytemuck::cast_slice(&postings),
            bytemuck::cast_slice(&details),
            &flags,
            &counted,
            &paths,
            &stems,
            &targets,
            &extras,
        ])
    }

    /// In how many memories each stem is.
    fn frequencies(&self, stems: usize, is_memory: &[bool]) -> Vec<f32> {
        let mut sums = vec![0.0; stems];
        for row in self.rows.iter().zip(is_memory).filter(|(_, is_memory)| **is_memory).map(|(row, _)| row) {
            let body = length_factor(row.body_words);
            row.words.iter().for_each(|(id, places)| sums[*id as usize] += count_of(*places, body));
        }
        sums
    }

    /// The memories of each stem, in the order of the rows, and where each list ends.
    fn postings(&self, stems: usize) -> (Vec<u32>, Vec<u32>) {
        let mut next = vec![0_u32; stems];
        let words = || self.rows.iter().zip(0..).flat_map(|(row, at)| row.words.iter().map(move |word| (at, *word)));
        words().for_each(|(_, (id, _))| next[id as usize] += 1);
        let mut total = 0;
        for count in &mut next {
            total += std::mem::replace(count, total);
        }
        let mut postings = vec![0; total as usize];
        for (row, (id, places)) in words() {
            let at = &mut next[id as usize];
            postings[*at as usize] = Posting { row, places }.pack();
            *at += 1;
        }
        // What was the next place of each list is its end now.
        (next, postings)
    }
}

fn stem_text<'a>(stems: &'a [u8], ends: &[u32], id: u32) -> &'a [u8] {
    let start = (id as usize).checked_sub(1).map_or(0, |before| ends[before]);
    &stems[start as usize..ends[id as usize] as usize]
}

fn push_list(into: &mut Vec<u32>, list: &[u32]) {
    into.push(list.len() as u32);
    into.extend_from_slice(list);
}

/// A stamp and the time at which it was read, as they are stored.
pub(super) fn pack_stamp(stamp: Stamp, seen_ns: i64) -> [u64; 5] {
    [stamp.size, stamp.mtime_ns.cast_unsigned(), stamp.ctime_ns.cast_unsigned(), stamp.inode, seen_ns.cast_unsigned()]
}

/// The stamp, and when it was read.
pub(super) fn unpack_stamp(stored: [u64; 5]) -> (Stamp, i64) {
    let [size, mtime, ctime, inode, seen] = stored;
    (Stamp { size, mtime_ns: mtime.cast_signed(), ctime_ns: ctime.cast_signed(), inode }, seen.cast_signed())
}
