//! Looks up a query's words in every segment and counts how many living units and files have them.

use super::{
    candidates, damage_io,
    schema::{BODY, CODE, FILE, TITLE},
    segment::{Segment, is_dead},
    snapshot::{Living, Snapshot},
};
use memdir_core::{
    base::error::Result,
    search::index::{Ask, Asked, Candidate, Counts, TermCount},
};
use tantivy::{
    DocSet as _, TERMINATED,
    postings::{Postings as _, TermInfo},
    schema::{Field, IndexRecordOption},
};

/// A query, looked up.
pub(super) struct AskedSnapshot<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) ask: &'a Ask<'a>,
    pub(super) found: Vec<Found>,
    counts: Counts,
}

/// Where a segment has the query's words.
pub(super) struct Found {
    /// For each term: in bodies, titles, codes and whole files.
    pub(super) terms: Vec<[Option<TermInfo>; 4]>,
    pub(super) codes: Vec<Option<TermInfo>>,
    /// For each pair: the living units that have it, and how often.
    pub(super) pairs: Vec<Vec<(u32, u32)>>,
}

impl<'a> AskedSnapshot<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, ask: &'a Ask<'a>) -> Result<Self> {
        let mut counts = Counts {
            totals: memdir_core::search::index::View::totals(snapshot),
            terms: vec![TermCount::default(); ask.terms.len()],
            codes: vec![0; ask.codes.len()],
            pairs: vec![0; ask.pairs.len()],
        };
        let found = snapshot.parts.iter().map(|part| Found::of(part, ask, &mut counts)).collect::<Result<_>>()?;
        Ok(AskedSnapshot { snapshot, ask, found, counts })
    }
}

impl Asked for AskedSnapshot<'_> {
    fn counts(&self) -> &Counts {
        &self.counts
    }

    fn candidates(&self, counts: &Counts) -> Result<Vec<Candidate>> {
        candidates::of(self, counts)
    }
}

impl Found {
    fn of(part: &Living, ask: &Ask<'_>, counts: &mut Counts) -> Result<Found> {
        let segment = &*part.segment;
        let mut terms = Vec::with_capacity(ask.terms.len());
        for (term, count) in ask.terms.iter().zip(&mut counts.terms) {
            let infos = [
                look_up(segment, BODY, term)?,
                look_up(segment, TITLE, term)?,
                look_up(segment, CODE, term)?,
                look_up(segment, FILE, term)?,
            ];
            count.body += living(part, BODY, infos[0].as_ref())?;
            count.title += living(part, TITLE, infos[1].as_ref())?;
            count.code += living(part, CODE, infos[2].as_ref())?;
            count.file += living(part, FILE, infos[3].as_ref())?;
            terms.push(infos);
        }
        let mut codes = Vec::with_capacity(ask.codes.len());
        for (code, count) in ask.codes.iter().zip(&mut counts.codes) {
            let info = look_up(segment, CODE, code)?;
            *count += living(part, CODE, info.as_ref())?;
            codes.push(info);
        }
        let mut pairs = Vec::with_capacity(ask.pairs.len());
        for ((a, b), count) in ask.pairs.iter().zip(&mut counts.pairs) {
            let docs = match (&terms[*a][0], &terms[*b][0]) {
                (Some(a), Some(b)) => side_by_side(part, a, b)?,
                _ => Vec::new(),
            };
            *count += docs.len() as u64;
            pairs.push(docs);
        }
        Ok(Found { terms, codes, pairs })
    }
}

pub(super) fn look_up(segment: &Segment, field: Field, term: &str) -> Result<Option<TermInfo>> {
    segment.field(field).terms().get(term.as_bytes()).map_err(damage_io)
}

/// Calls `each` with every block of documents and their frequencies.
#[inline]
pub(super) fn each_block(segment: &Segment, field: Field, info: &TermInfo, mut each: impl FnMut(&[u32], &[u32])) -> Result<()> {
    let mut blocks = segment.field(field).read_block_postings_from_terminfo(info, IndexRecordOption::WithFreqs).map_err(damage_io)?;
    while !blocks.docs().is_empty() {
        each(blocks.docs(), blocks.freqs());
        blocks.advance();
    }
    Ok(())
}

/// How many living documents have a term.
fn living(part: &Living, field: Field, info: Option<&TermInfo>) -> Result<u64> {
    let Some(info) = info else { return Ok(0) };
    if part.dead.is_empty() {
        return Ok(u64::from(info.doc_freq));
    }
    let mut count = 0;
    each_block(&part.segment, field, info, |docs, _| {
        count += docs.iter().filter(|doc| !is_dead(&part.dead, **doc as usize)).count() as u64;
    })?;
    Ok(count)
}

/// The living units in which one term follows another, stop words aside, and how often.
fn side_by_side(part: &Living, a: &TermInfo, b: &TermInfo) -> Result<Vec<(u32, u32)>> {
    let read =
        |info| part.segment.field(BODY).read_postings_from_terminfo(info, IndexRecordOption::WithFreqsAndPositions).map_err(damage_io);
    let (mut first, mut second) = (read(a)?, read(b)?);
    let (mut left, mut right) = (Vec::new(), Vec::new());
    let mut found = Vec::new();
    let (mut x, mut y) = (first.doc(), second.doc());
    while x != TERMINATED && y != TERMINATED {
        if x < y {
            x = first.seek(y);
        } else if y < x {
            y = second.seek(x);
        } else {
            if !is_dead(&part.dead, x as usize) {
                first.positions(&mut left);
                second.positions(&mut right);
                let times = follows(&left, &right);
                if times > 0 {
                    found.push((x, times));
                }
            }
            x = first.advance();
            y = second.advance();
        }
    }
    Ok(found)
}

/// How many of the sorted `left` have their successor in the sorted `right`.
fn follows(left: &[u32], right: &[u32]) -> u32 {
    let mut rest = right.iter().copied().peekable();
    let mut times = 0;
    for position in left {
        while rest.peek().is_some_and(|r| *r <= *position) {
            rest.next();
        }
        times += u32::from(rest.peek() == Some(&(position + 1)));
    }
    times
}
