//! Anchored sources: whether the lines of a project's file that a memory rests on have changed since. Pure; the versions of the file come
//! from a [`FileHistory`].

use crate::{
    base::{
        limits,
        line_diff::{ChangedLines, changed_lines},
    },
    memory::{
        Memory,
        validity::{SourceRef, Validity},
    },
};
use serde::Serialize;
use std::ops::Range;

/// The versions of a project's files. Commands implement it with git; hooks, tools and searches have none.
pub trait FileHistory {
    /// Returns the texts of a file from the content with this hash on, oldest first: one for each commit that changed it, and the one in
    /// the checkout last if that differs. `None` in place of a text means that the file does not exist. `None` if the content is unknown.
    fn versions_since(&self, path: &str, blob: &str) -> Option<Vec<Option<String>>>;

    /// Returns the hash of a file's content in the checkout, if it exists.
    fn current_blob(&self, path: &str) -> Option<String>;
}

/// An anchored source and whether its lines changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AnchorState {
    /// The source as the memory names it.
    pub source: String,
    /// Whether its lines changed.
    #[serde(flatten)]
    pub outcome: AnchorOutcome,
}

/// Whether the lines of an anchored source changed, if that is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum AnchorOutcome {
    /// The lines did not change.
    Unchanged {
        /// Where they are now, if the source names lines.
        #[serde(skip_serializing_if = "Option::is_none")]
        lines: Option<String>,
    },
    /// The lines changed.
    Changed {
        /// The number of versions that changed them: commits, and the checkout if it is not committed.
        commits: usize,
        /// Where they are now, if the source names lines and some are left.
        #[serde(skip_serializing_if = "Option::is_none")]
        lines: Option<String>,
    },
    /// The file no longer exists.
    Gone,
    /// It cannot be looked up: its content is not in the repository.
    Unknown,
    /// It cannot be looked up: the project has no repository, or git is not used here.
    #[serde(rename = "unknown")]
    NoHistory,
}

impl AnchorState {
    /// Whether the memory no longer rests on what it names.
    pub fn is_broken(&self) -> bool {
        matches!(self.outcome, AnchorOutcome::Changed { .. } | AnchorOutcome::Gone)
    }

    /// Describes the outcome in one sentence.
    pub fn describe(&self) -> String {
        let source = &self.source;
        match &self.outcome {
            AnchorOutcome::Unchanged { lines: Some(lines) } if !source.ends_with(&format!(":{lines}")) => {
                format!("{source}: unchanged, now at {} {lines}", if lines.contains('-') { "lines" } else { "line" })
            }
            AnchorOutcome::Unchanged { .. } => format!("{source}: unchanged"),
            AnchorOutcome::Changed { commits: 1, .. } => format!("{source}: changed once since this version"),
            AnchorOutcome::Changed { commits, .. } => format!("{source}: changed {commits} times since this version"),
            AnchorOutcome::Gone => format!("{source}: the file no longer exists"),
            AnchorOutcome::Unknown => format!("{source}: cannot be checked, because it is not in the project's git history"),
            AnchorOutcome::NoHistory => format!("{source}: cannot be checked, because no git history is available here"),
        }
    }
}

/// Looks up the anchored sources of a memory.
pub(super) fn anchor_states(validity: &Validity, history: Option<&dyn FileHistory>) -> Vec<AnchorState> {
    let state = |(path, blob, lines): (&str, &str, Option<(u64, u64)>)| {
        let source = SourceRef::File { path: path.to_owned(), blob: Some(blob.to_owned()), lines }.to_string();
        let outcome = match history.map(|history| history.versions_since(path, blob)) {
            None => AnchorOutcome::NoHistory,
            Some(None) => AnchorOutcome::Unknown,
            Some(Some(versions)) => outcome(&versions, lines),
        };
        AnchorState { source, outcome }
    };
    validity.anchors().take(limits::VALIDITY_ITEMS).map(state).collect()
}

/// Returns a memory's text whose anchored sources name the files as they are now. A source whose file or lines no longer exist stays, and
/// so does one that cannot be looked up.
pub(super) fn with_current_anchors(text: &str, anchors: &[AnchorState], history: &dyn FileHistory) -> String {
    let (memory, _) = Memory::parse(text);
    let Some(raw) = memory.raw("sources") else { return text.to_owned() };
    let mut renewed = raw.to_owned();
    for anchor in anchors {
        let SourceRef::File { path, blob: Some(blob), lines } = SourceRef::parse(&anchor.source) else { continue };
        let now = match &anchor.outcome {
            AnchorOutcome::Unchanged { lines } | AnchorOutcome::Changed { lines, .. } => lines,
            AnchorOutcome::Gone | AnchorOutcome::Unknown | AnchorOutcome::NoHistory => continue,
        };
        if lines.is_some() && now.is_none() {
            continue;
        }
        let Some(current) = history.current_blob(&path).filter(|current| !current.starts_with(&blob)) else { continue };
        let short = current.get(..blob.len().max(7)).unwrap_or(&current);
        let place = now.as_ref().map_or(String::new(), |lines| format!(":{lines}"));
        let current = SourceRef::parse(&format!("{path}@{short}{place}")).to_string();
        renewed = renewed.replacen(&anchor.source, &current, 1);
    }
    // The field is the first place with this value, because the frontmatter comes first.
    if renewed == raw { text.to_owned() } else { text.replacen(raw, &renewed, 1) }
}

/// Follows lines through the versions of a file.
fn outcome(versions: &[Option<String>], lines: Option<(u64, u64)>) -> AnchorOutcome {
    let Some(Some(first)) = versions.first() else { return AnchorOutcome::Unknown };
    if versions.last().is_some_and(Option::is_none) {
        return AnchorOutcome::Gone;
    }
    let texts: Vec<&str> = versions.iter().flatten().map(String::as_str).collect();
    let count = first.lines().count();
    // Lines that the file never had cannot have stayed the same.
    if lines.is_some_and(|(from, _)| from as usize > count) {
        return AnchorOutcome::Unknown;
    }
    let (from, to) = lines.map_or((0, count), |(from, to)| ((from as usize - 1).min(count), (to as usize).min(count)));
    let mut range = from..to;
    let mut commits = 0;
    for pair in texts.windows(2).filter(|pair| pair[0] != pair[1]) {
        let (old, new): (Vec<&str>, Vec<&str>) = (pair[0].lines().collect(), pair[1].lines().collect());
        let (mapped, is_changed) = follow(&changed_lines(&old, &new), range);
        range = mapped;
        // Without lines the source is the whole file, which every difference changes.
        commits += usize::from(is_changed || lines.is_none());
    }
    // As a source is written: one line has no range.
    let lines = lines.filter(|_| !range.is_empty()).map(|_| match range.len() {
        1 => range.end.to_string(),
        _ => format!("{}-{}", range.start + 1, range.end),
    });
    match commits {
        0 => AnchorOutcome::Unchanged { lines },
        commits => AnchorOutcome::Changed { commits, lines },
    }
}

/// Maps a range of old lines to new lines, and returns whether one of them changed.
fn follow(changes: &[ChangedLines], range: Range<usize>) -> (Range<usize>, bool) {
    let (mut start, mut end, mut is_changed) = (range.start, range.end, false);
    for ChangedLines { old, new } in changes {
        // Lines added between two of the range change it; lines added before or after it do not.
        let touches = if old.is_empty() { range.start < old.start } else { range.start < old.end } && old.start < range.end;
        is_changed |= touches;
        if old.end <= range.start {
            start = new.end + (range.start - old.end);
        } else if old.start <= range.start {
            start = new.start;
        }
        if old.start < range.end || old.end <= range.start {
            end = if range.end <= old.end && !old.is_empty() { new.end } else { new.end + (range.end - old.end) };
        }
    }
    (start..end.max(start), is_changed)
}

#[cfg(test)]
mod tests {
    use super::{AnchorOutcome, outcome};

    fn followed(versions: &[&str], lines: Option<(u64, u64)>) -> AnchorOutcome {
        outcome(&versions.iter().map(|text| Some((*text).to_owned())).collect::<Vec<_>>(), lines)
    }

    #[test]
    fn lines_are_followed_through_insertions_and_changes() {
        let first = "a\nb\nc\nd\n";
        let unchanged = |lines: &str| AnchorOutcome::Unchanged { lines: Some(lines.to_owned()) };
        assert_eq!(followed(&[first], Some((2, 3))), unchanged("2-3"));
        assert_eq!(followed(&[first, "x\na\nb\nc\nd\n", "x\ny\na\nb\nc\ne\n"], Some((2, 3))), unchanged("4-5"));
        assert_eq!(
            followed(&[first, "a\nb\nx\nc\nd\n"], Some((2, 3))),
            AnchorOutcome::Changed { commits: 1, lines: Some("2-4".into()) },
            "between them"
        );
        assert_eq!(
            followed(&[first, "a\nB\nc\nd\n", "z\na\nB\nc\nd\n", "z\na\nB\nC\nd\n"], Some((2, 3))),
            AnchorOutcome::Changed { commits: 2, lines: Some("3-4".into()) }
        );
        assert_eq!(followed(&[first, "a\nd\n"], Some((2, 3))), AnchorOutcome::Changed { commits: 1, lines: None });
        assert_eq!(followed(&[first, "a\nb\nc\nd\ne\n"], None), AnchorOutcome::Changed { commits: 1, lines: None }, "the whole file");
        assert_eq!(followed(&[first, first], None), AnchorOutcome::Unchanged { lines: None });
        assert_eq!(
            followed(&[first, "b\nc\n"], Some((2, 9))),
            AnchorOutcome::Changed { commits: 1, lines: Some("1-2".into()) },
            "lines beyond the end"
        );
        assert_eq!(outcome(&[Some(first.into()), None], Some((1, 1))), AnchorOutcome::Gone);
        assert_eq!(outcome(&[None], None), AnchorOutcome::Unknown);
        assert_eq!(followed(&[first], Some((99, 100))), AnchorOutcome::Unknown, "lines that never were");
    }
}
