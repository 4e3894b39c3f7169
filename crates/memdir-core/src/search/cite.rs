//! Which lines of a long unit are shown: those that answer. Short units are shown whole.

use crate::{
    base::text::{LineRange, line_start},
    search::analysis::{Analyser, Sink, Word},
};
use rustc_hash::FxHashMap;

/// A unit up to this size is shown whole.
const WHOLE_LINES: u64 = 16;
const WHOLE_BYTES: usize = 1_600;
/// Lines of a longer one that are shown.
const SHOWN_LINES: usize = 8;

/// The query's stems and what each weighs.
pub(super) struct Weights<'a> {
    places: FxHashMap<&'a str, usize>,
    weights: Vec<f32>,
}

impl<'a> Weights<'a> {
    /// At most 64 stems count: [`crate::search::query::MOST_TERMS`].
    pub(super) fn new(stems: impl Iterator<Item = (&'a str, f32)>) -> Self {
        let (names, weights): (Vec<&str>, Vec<f32>) = stems.take(64).unzip();
        Weights { places: names.into_iter().zip(0..).collect(), weights }
    }

    /// What a set of stems weighs.
    fn of(&self, set: u64) -> f32 {
        self.weights.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1).map(|(_, weight)| weight).sum()
    }
}

/// The stems of the query a text has, as a set.
struct Set<'w, 'a> {
    weights: &'w Weights<'a>,
    set: u64,
}

impl Sink for Set<'_, '_> {
    fn word(&mut self, word: &Word) {
        if let Some(at) = self.weights.places.get(word.stem.as_str()) {
            self.set |= 1 << at;
        }
    }

    fn code(&mut self, _code: &str) {}
}

/// The lines of a unit to show. Always inside the unit, never empty.
pub(super) fn lines(text: &str, first: u64, last: u64, weights: &Weights<'_>, analyser: &mut Analyser) -> LineRange {
    let whole = LineRange { first, last: Some(last) };
    let unit = whole.of(text);
    if last - first < WHOLE_LINES && unit.len() <= WHOLE_BYTES {
        return whole;
    }
    let sets: Vec<u64> = unit
        .lines()
        .map(|line| {
            let mut set = Set { weights, set: 0 };
            analyser.feed(line, &mut set);
            set.set
        })
        .collect();
    let best = best_window(&sets, weights);
    LineRange { first: first + best.start as u64, last: Some(first + best.end as u64 - 1) }
}

/// The run of lines whose distinct stems weigh most; of equals the first, and without lines at its ends that add nothing.
fn best_window(sets: &[u64], weights: &Weights<'_>) -> std::ops::Range<usize> {
    let mut best = (0.0, 0..SHOWN_LINES.min(sets.len()).max(1));
    for start in (0..sets.len()).filter(|start| sets[*start] != 0) {
        let (mut seen, mut end) = (0, start + 1);
        for (at, set) in sets.iter().enumerate().skip(start).take(SHOWN_LINES) {
            if set & !seen != 0 {
                seen |= set;
                end = at + 1;
            }
        }
        let sum = weights.of(seen);
        if sum > best.0 {
            best = (sum, start..end);
        }
    }
    best.1
}

/// The headings above a line, from the outermost: by levels, code fences aside.
pub(super) fn headings(text: &str, line: u64) -> Vec<String> {
    let mut path: Vec<(usize, String)> = Vec::new();
    let mut fence: Option<&str> = None;
    for text in text[..line_start(text, line + 1)].lines() {
        let trimmed = text.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            _ => {}
        }
        let level = trimmed.bytes().take_while(|b| *b == b'#').count();
        if fence.is_none() && (1..=6).contains(&level) && trimmed[level..].starts_with(' ') {
            path.retain(|(above, _)| *above < level);
            path.push((level, trimmed[level..].trim().trim_end_matches('#').trim_end().to_owned()));
        }
    }
    path.into_iter().map(|(_, text)| text).collect()
}
