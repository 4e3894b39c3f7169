//! Finds the symbols that belong to the project: those next to one of its paths. A symbol on its own may belong to a library, a
//! database or the environment, so its absence means nothing. Pure.

use super::mentions::{MentionKind, in_code, path};
use crate::{base::steps, memory::lines::FenceScanner};

/// Maximum number of words between a symbol and its path, as in "is defined in".
const BETWEEN: usize = 3;

/// Words that mark something as absent, unwanted or planned.
const DENIES: &[&str] =
    &["never", "not", "no", "don't", "avoid", "instead", "without", "unlike", "should", "add", "todo", "planned", "plan"];

/// Returns the symbols next to a path with a folder, each with that path.
pub(super) fn beside_paths(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut fences = FenceScanner::default();
    for line in text.lines() {
        if !fences.is_code(line) {
            found.extend(in_line(&pieces(line)));
        }
    }
    found
}

/// A token of a line.
enum LineToken {
    Symbol(String),
    Path(String),
    Word,
    /// Other code, which does not count as a word between.
    Code,
    /// The end of a sentence.
    End,
    Denial,
}

fn in_line(pieces: &[LineToken]) -> Vec<(String, String)> {
    if pieces.iter().any(|piece| matches!(piece, LineToken::Denial)) {
        return Vec::new();
    }
    let before = nearest(pieces.iter());
    let mut behind = nearest(pieces.iter().rev());
    behind.reverse();
    let beside = before.into_iter().zip(behind).map(|(before, behind)| before.or(behind));
    let symbol = |(piece, path): (&LineToken, Option<&str>)| match piece {
        LineToken::Symbol(name) => Some((name.clone(), path?.to_owned())),
        _ => None,
    };
    pieces.iter().zip(beside).filter_map(symbol).collect()
}

/// For every piece the last path before it, if that is near enough.
fn nearest<'a>(pieces: impl Iterator<Item = &'a LineToken>) -> Vec<Option<&'a str>> {
    let (mut path, mut words) = (None, 0);
    let before = |piece: &'a LineToken| {
        let before = path;
        steps::count(1);
        match piece {
            LineToken::Path(next) => (path, words) = (Some(next.as_str()), 0),
            LineToken::Word if words < BETWEEN => words += 1,
            LineToken::Word | LineToken::End | LineToken::Denial => path = None,
            LineToken::Symbol(_) | LineToken::Code => {}
        }
        before
    };
    pieces.map(before).collect()
}

fn pieces(line: &str) -> Vec<LineToken> {
    let mut out = Vec::new();
    for (at, part) in line.split('`').enumerate() {
        if at % 2 == 0 {
            part.split_whitespace().for_each(|word| prose(word, &mut out));
            continue;
        }
        out.push(match in_code(part.trim()) {
            Some((MentionKind::Symbol, name)) => LineToken::Symbol(name),
            Some((MentionKind::Path, path)) if path.contains('/') => LineToken::Path(path),
            _ => LineToken::Code,
        });
    }
    out
}

fn prose(word: &str, out: &mut Vec<LineToken>) {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && !"/_".contains(c));
    if let Some(path) = path(bare).filter(|path| path.contains('/')) {
        out.push(LineToken::Path(path));
    } else if DENIES.contains(&bare.to_lowercase().as_str()) {
        out.push(LineToken::Denial);
    } else if !bare.is_empty() {
        out.push(LineToken::Word);
    }
    if word.ends_with(['.', ';', '!', '?']) {
        out.push(LineToken::End);
    }
}
