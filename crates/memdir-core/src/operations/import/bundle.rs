//! Bundles: many memories in one file, as Markdown for people or JSON for programs, read back byte for byte. Pure.

use super::{ImportFile, Incoming};
use crate::base::{
    error::Problem,
    steps,
    text::{self, LineCounter, truncate_bytes},
};
use serde::{Deserialize, Serialize};

const HEAD: &str = "<!-- memdir bundle 1";
const MARK: &str = "<!-- memory ";

#[derive(Serialize, Deserialize)]
struct Json {
    memdir_bundle: u32,
    memories: Vec<JsonMemory>,
}

#[derive(Serialize, Deserialize)]
struct JsonMemory {
    path: String,
    text: String,
}

/// Writes memories as one Markdown file.
pub fn markdown(memories: &[(&str, &str)]) -> String {
    let mut out = format!("{HEAD}: {}; `memdir import` reads it -->\n", text::counted(memories.len() as u64, "memory", "memories"));
    for (path, text) in memories {
        let end = if text.ends_with('\n') { "" } else { "\n" };
        out.push_str(&format!("\n{MARK}{} {path} -->\n{text}{end}", text.len()));
    }
    out
}

/// Writes memories as one JSON file.
pub fn json(memories: &[(&str, &str)]) -> String {
    let memories = memories.iter().map(|(path, text)| JsonMemory { path: (*path).into(), text: (*text).into() });
    let bundle = Json { memdir_bundle: 1, memories: memories.collect() };
    serde_json::to_string_pretty(&bundle).unwrap_or_default() + "\n"
}

/// Reads a bundle of either format, or returns `None` if it is not one.
pub(super) fn read(text: &str) -> Option<ImportFile> {
    let from = "a memdir bundle";
    if text.starts_with(HEAD) {
        let (memories, problems) = read_markdown(text);
        return Some(ImportFile { from, memories, problems });
    }
    let bundle: Json = serde_json::from_str(text).ok()?;
    let memories = bundle.memories.into_iter().map(|memory| Incoming { name: memory.path, text: memory.text });
    Some(ImportFile { from, memories: memories.collect(), problems: Vec::new() })
}

fn read_markdown(text: &str) -> (Vec<Incoming>, Vec<Problem>) {
    let mut memories = Vec::new();
    let mut problems = Vec::new();
    let mut lines = LineCounter::new(text);
    let mut rest = next_mark(text, text.find('\n').map_or(text.len(), |at| at + 1));
    while let Some(at) = rest {
        let line_end = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
        let start = line_end;
        let Some((bytes, name)) = mark(text[at..line_end].trim_end()) else {
            problems.push(Problem::at(lines.line_at(at), "invalid memory header; the text up to the next header was skipped"));
            rest = next_mark(text, start);
            continue;
        };
        let counted = start.checked_add(bytes).filter(|end| is_end(text, *end));
        // The bundle was edited by hand and the length is wrong: the memory extends to the next header.
        let end = counted.unwrap_or_else(|| next_mark(text, start).map_or(text.len(), |next| before_gap(text, next)));
        memories.push(Incoming { name, text: text[start..end].to_owned() });
        rest = next_mark(text, end);
    }
    (memories, problems)
}

/// The line ends that may precede a header. Every header is looked up after them, so the list must be short.
const MARK_GAP_BYTES: usize = 64;

/// Whether the end of a memory is followed by the next header or the end of the file.
fn is_end(text: &str, at: usize) -> bool {
    text.get(at..).is_some_and(|rest| {
        // A bundle has one empty line here, one edited by hand perhaps a few.
        let gap = truncate_bytes(rest, MARK_GAP_BYTES);
        let rest = &rest[gap.len() - gap.trim_start_matches(['\n', '\r']).len()..];
        rest.is_empty() || rest.starts_with(MARK)
    })
}

/// The offset of the next header line at or after `from`.
fn next_mark(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let found = at + text.get(at..)?.find(MARK)?;
        steps::count(found - at + MARK.len());
        if found == 0 || text.as_bytes()[found - 1] == b'\n' {
            return Some(found);
        }
        at = found + MARK.len();
    }
}

fn before_gap(text: &str, at: usize) -> usize {
    let before = &text[..at];
    ["\r\n", "\n"].into_iter().find(|end| before.ends_with(&format!("\n{end}"))).map_or(at, |end| at - end.len())
}

fn mark(line: &str) -> Option<(usize, String)> {
    let inner = line.strip_prefix(MARK)?.strip_suffix(" -->")?;
    let (bytes, name) = inner.split_once(' ')?;
    Some((bytes.parse().ok()?, name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bundles_are_read_back_byte_for_byte(memories in prop::collection::vec(("[a-zé ]{1,8}(/[a-z]{1,4})?", "([a-zé\n\r -]|<!-- memory 3 x -->\n|\n<!-- memory){0,12}"), 0..5)) {
            let given: Vec<(&str, &str)> = memories.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
            for bundle in [markdown(&given), json(&given)] {
                let taken = read(&bundle).unwrap();
                let read: Vec<(&str, &str)> = taken.memories.iter().map(|memory| (memory.name.as_str(), memory.text.as_str())).collect();
                prop_assert_eq!(&read, &given);
            }
        }
    }

    #[test]
    fn a_bundle_edited_by_hand_is_still_read() {
        let bundle = markdown(&[("a.md", "one\n"), ("b.md", "two\n")]).replace("one\n", "one\nand more\n");
        let taken = read(&bundle).unwrap();
        assert_eq!(
            taken.memories,
            [("a.md", "one\nand more\n"), ("b.md", "two\n")].map(|(name, text)| Incoming { name: name.into(), text: text.into() })
        );
    }
}
