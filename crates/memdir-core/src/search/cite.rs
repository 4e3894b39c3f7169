//! Selects the lines of a long unit that are shown: those that answer the query, and the heading above them if it is near. Short
//! units are shown whole. A heading is never shown alone.

use crate::{
    base::text::{LineRange, line_start},
    memory::{
        chunk,
        lines::{self, FenceScanner},
    },
    search::analysis::{Analyser, TokenSink, Word},
};
use rustc_hash::FxHashMap;

/// A unit up to this size is shown whole.
const WHOLE_LINES: u64 = 16;
const WHOLE_BYTES: usize = 1_600;
/// Lines of a longer one that are shown.
const SHOWN_LINES: usize = 8;
/// Lines from the heading of a longer one to the last that answers, up to which all of them are shown, if they have no more than
/// [`WHOLE_BYTES`].
const HEADED_LINES: usize = 32;

/// The query's stems with the weight of each.
pub(super) struct TermWeights<'a> {
    places: FxHashMap<&'a str, usize>,
    weights: Vec<f32>,
}

impl<'a> TermWeights<'a> {
    /// At most 64 stems are weighted: [`crate::search::query::MAX_TERMS`].
    pub(super) fn new(stems: impl Iterator<Item = (&'a str, f32)>) -> Self {
        let (names, weights): (Vec<&str>, Vec<f32>) = stems.take(64).unzip();
        TermWeights { places: names.into_iter().zip(0..).collect(), weights }
    }

    /// The weight of a set of stems.
    fn sum(&self, set: u64) -> f32 {
        self.weights.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1).map(|(_, weight)| weight).sum()
    }
}

/// Collects the stems of the query that a text has, as a bit set.
struct TermSet<'w, 'a> {
    weights: &'w TermWeights<'a>,
    set: u64,
}

impl TokenSink for TermSet<'_, '_> {
    fn word(&mut self, word: &Word) {
        if let Some(at) = self.weights.places.get(word.stem.as_str()) {
            self.set |= 1 << at;
        }
    }

    fn code(&mut self, _code: &str) {}
}

/// Collects the stems and codes of the query that a text has, as a bit set.
struct EvidenceSet<'w, 'a>(TermSet<'w, 'a>);

impl TokenSink for EvidenceSet<'_, '_> {
    fn word(&mut self, word: &Word) {
        self.0.word(word);
    }

    fn code(&mut self, code: &str) {
        if let Some(at) = self.0.weights.places.get(code) {
            self.0.set |= 1 << at;
        }
    }
}

/// Returns the weight of the stems and codes of the query that any of the texts has.
pub(super) fn matched_weight<'t>(texts: impl IntoIterator<Item = &'t str>, weights: &TermWeights<'_>, analyser: &mut Analyser) -> f32 {
    let mut found = EvidenceSet(TermSet { weights, set: 0 });
    texts.into_iter().for_each(|text| analyser.feed(text, &mut found));
    weights.sum(found.0.set)
}

/// Returns the lines of a unit to show, always inside of it and never empty.
pub(super) fn best_lines(text: &str, first: u64, last: u64, weights: &TermWeights<'_>, analyser: &mut Analyser) -> LineRange {
    let whole = LineRange { first, last: Some(last) };
    let unit = whole.slice(text);
    if last - first < WHOLE_LINES && unit.len() <= WHOLE_BYTES {
        return whole;
    }
    let sets: Vec<u64> = unit
        .lines()
        .map(|line| {
            let mut set = TermSet { weights, set: 0 };
            analyser.feed(line, &mut set);
            set.set
        })
        .collect();
    // The words of the heading are the context of every line below it: they do not choose among the lines.
    let head = Some(chunk::head_lines(unit)).filter(|head| *head < sets.len()).unwrap_or(0);
    let best = best_window(&sets[head..], weights);
    let (start, end) = (head + best.start, head + best.end);
    let headed = start == head || (end <= HEADED_LINES && line_start(unit, end as u64 + 1) <= WHOLE_BYTES);
    let start = if headed && head > 0 { 0 } else { start };
    LineRange { first: first + start as u64, last: Some(first + end as u64 - 1) }
}

/// The run of lines whose distinct stems weigh most: the first of equals, without lines at its ends that add nothing.
fn best_window(sets: &[u64], weights: &TermWeights<'_>) -> std::ops::Range<usize> {
    let mut best = (0.0, 0..SHOWN_LINES.min(sets.len()).max(1));
    for start in (0..sets.len()).filter(|start| sets[*start] != 0) {
        let (mut seen, mut end) = (0, start + 1);
        for (at, set) in sets.iter().enumerate().skip(start).take(SHOWN_LINES) {
            if set & !seen != 0 {
                seen |= set;
                end = at + 1;
            }
        }
        let sum = weights.sum(seen);
        if sum > best.0 {
            best = (sum, start..end);
        }
    }
    best.1
}

/// The headings above a line of the body, from the outermost. Lines before `body_line` are frontmatter, where `#` begins a
/// comment.
pub(super) fn headings(text: &str, body_line: u64, line: u64) -> Vec<String> {
    let mut path: Vec<(u8, &str)> = Vec::new();
    let mut fences = FenceScanner::default();
    let start = line_start(text, body_line).min(text.len());
    for line in text[start..line_start(text, line + 1).max(start)].lines() {
        if !fences.is_code(line)
            && let Some(heading) = lines::heading(line)
        {
            path.retain(|(above, _)| *above < heading.level);
            path.push((heading.level, heading.text));
        }
    }
    path.into_iter().map(|(_, text)| text.to_owned()).collect()
}
