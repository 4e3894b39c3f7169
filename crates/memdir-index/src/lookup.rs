//! Looks up the terms of a query in every segment, and counts the live units and files that contain them.

use crate::{
    errors::read_error,
    schema::{BODY, CODE, CUE, FILE, TITLE},
    segment::{Segment, is_dead},
    snapshot::{IndexSnapshot, LiveSegment},
};
use memdir_core::{
    Result,
    internal::search::index::{Counts, IndexQuery, TermCount},
};
use tantivy::{
    DocSet as _, TERMINATED,
    postings::{Postings as _, TermInfo},
    schema::{Field, IndexRecordOption},
};

/// Where the terms of a query are in one segment.
pub(super) struct SegmentMatches {
    /// For each term: its postings in bodies, titles, codes, whole files and cues.
    pub(super) terms: Vec<[Option<TermInfo>; 5]>,
    /// For each code: its postings.
    pub(super) codes: Vec<Option<TermInfo>>,
    /// For each pair: the live units that contain it, and how often.
    pub(super) pairs: Vec<Vec<(u32, u32)>>,
}

/// Looks up the terms of a query in all segments of a snapshot, and counts the units and files that contain them.
pub(super) fn look_up_query(snapshot: &IndexSnapshot, ask: &IndexQuery<'_>) -> Result<(Vec<SegmentMatches>, Counts)> {
    let mut counts = Counts {
        totals: snapshot.totals,
        terms: vec![TermCount::default(); ask.terms.len()],
        codes: vec![0; ask.codes.len()],
        pairs: vec![0; ask.pairs.len()],
    };
    let matches = snapshot.parts.iter().map(|part| SegmentMatches::new(part, ask, &mut counts)).collect::<Result<_>>()?;
    Ok((matches, counts))
}

impl SegmentMatches {
    fn new(part: &LiveSegment, ask: &IndexQuery<'_>, counts: &mut Counts) -> Result<SegmentMatches> {
        let segment = &*part.segment;
        let mut terms = Vec::with_capacity(ask.terms.len());
        for (term, count) in ask.terms.iter().zip(&mut counts.terms) {
            let infos = [
                look_up(segment, BODY, term)?,
                look_up(segment, TITLE, term)?,
                look_up(segment, CODE, term)?,
                look_up(segment, FILE, term)?,
                look_up(segment, CUE, term)?,
            ];
            count.body += live_count(part, BODY, infos[0].as_ref())?;
            count.title += live_count(part, TITLE, infos[1].as_ref())?;
            count.code += live_count(part, CODE, infos[2].as_ref())?;
            count.file += live_count(part, FILE, infos[3].as_ref())?;
            count.cue += live_count(part, CUE, infos[4].as_ref())?;
            terms.push(infos);
        }
        let mut codes = Vec::with_capacity(ask.codes.len());
        for (code, count) in ask.codes.iter().zip(&mut counts.codes) {
            let info = look_up(segment, CODE, code)?;
            *count += live_count(part, CODE, info.as_ref())?;
            codes.push(info);
        }
        let mut pairs = Vec::with_capacity(ask.pairs.len());
        for ((a, b), count) in ask.pairs.iter().zip(&mut counts.pairs) {
            let docs = match (&terms[*a][0], &terms[*b][0]) {
                (Some(a), Some(b)) => adjacent(part, a, b)?,
                _ => Vec::new(),
            };
            *count += docs.len() as u64;
            pairs.push(docs);
        }
        Ok(SegmentMatches { terms, codes, pairs })
    }
}

/// Returns the postings of a term in a field, or `None` if the segment does not contain it.
pub(super) fn look_up(segment: &Segment, field: Field, term: &str) -> Result<Option<TermInfo>> {
    segment.field(field).terms().get(term.as_bytes()).map_err(read_error(&segment.root))
}

/// Calls `each` with every block of documents and their term frequencies.
#[inline]
pub(super) fn each_block(segment: &Segment, field: Field, info: &TermInfo, mut each: impl FnMut(&[u32], &[u32])) -> Result<()> {
    let mut blocks =
        segment.field(field).read_block_postings_from_terminfo(info, IndexRecordOption::WithFreqs).map_err(read_error(&segment.root))?;
    while !blocks.docs().is_empty() {
        each(blocks.docs(), blocks.freqs());
        blocks.advance();
    }
    Ok(())
}

/// Counts the live documents that contain a term.
fn live_count(part: &LiveSegment, field: Field, info: Option<&TermInfo>) -> Result<u64> {
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

/// Returns the live units in which one term follows another, ignoring stop words, and how often.
fn adjacent(part: &LiveSegment, a: &TermInfo, b: &TermInfo) -> Result<Vec<(u32, u32)>> {
    let read = |info| {
        part.segment
            .field(BODY)
            .read_postings_from_terminfo(info, IndexRecordOption::WithFreqsAndPositions)
            .map_err(read_error(&part.segment.root))
    };
    let (mut first, mut second) = (read(a)?, read(b)?);
    let (mut left, mut right) = (Vec::new(), Vec::new());
    let mut units = Vec::new();
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
                let times = count_successors(&left, &right);
                if times > 0 {
                    units.push((x, times));
                }
            }
            x = first.advance();
            y = second.advance();
        }
    }
    Ok(units)
}

/// Counts the elements of the sorted `left` whose successor is in the sorted `right`.
fn count_successors(left: &[u32], right: &[u32]) -> u32 {
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
