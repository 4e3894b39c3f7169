//! Which lines of a long unit are shown: those that answer. Short units are shown whole.

use crate::{
    analyse::Analyser,
    text::{LineRange, line_start},
};
use std::collections::HashMap;

/// A unit up to this size is shown whole.
const WHOLE_LINES: u64 = 16;
const WHOLE_BYTES: usize = 1_600;
/// Lines of a longer one that are shown.
const SHOWN_LINES: usize = 8;

/// The lines of a unit to show, by the weights of the query's stems. Always inside the unit, never empty.
pub(super) fn lines(text: &str, first: u64, last: u64, weights: &HashMap<&str, f32>, analyser: &mut Analyser) -> LineRange {
    let whole = LineRange { first, last: Some(last) };
    let unit = whole.of(text);
    if last - first < WHOLE_LINES && unit.len() <= WHOLE_BYTES {
        return whole;
    }
    let lines: Vec<&str> = unit.lines().collect();
    let found: Vec<Vec<String>> = lines.iter().map(|line| stems(line, weights, analyser)).collect();
    let best = best_window(&found, weights);
    let shown = best.start..best.end;
    LineRange { first: first + shown.start as u64, last: Some(first + shown.end as u64 - 1) }
}

/// The query's stems a line has.
fn stems(line: &str, weights: &HashMap<&str, f32>, analyser: &mut Analyser) -> Vec<String> {
    let mut stems: Vec<String> =
        analyser.words(line).into_iter().map(|word| word.stem).filter(|stem| weights.contains_key(stem.as_str())).collect();
    stems.sort_unstable();
    stems.dedup();
    stems
}

/// The run of lines whose distinct stems weigh most; of equals the first, and without lines at its ends that add nothing.
fn best_window(found: &[Vec<String>], weights: &HashMap<&str, f32>) -> std::ops::Range<usize> {
    let mut best = (0.0, 0..SHOWN_LINES.min(found.len()));
    for start in 0..found.len() {
        if found[start].is_empty() {
            continue;
        }
        let mut seen: Vec<&str> = Vec::new();
        let (mut sum, mut end) = (0.0, start + 1);
        for (at, stems) in found.iter().enumerate().skip(start).take(SHOWN_LINES) {
            let new: Vec<&str> = stems.iter().map(String::as_str).filter(|stem| !seen.contains(stem)).collect();
            if !new.is_empty() {
                sum += new.iter().filter_map(|stem| weights.get(stem)).sum::<f32>();
                seen.extend(new);
                end = at + 1;
            }
        }
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
