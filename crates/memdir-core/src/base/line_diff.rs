//! Compares texts line by line. The only implementation of line diffs: one comparison of numbered lines, whatever is compared.

use super::visible::visible_bytes;
use imara_diff::{Algorithm, Diff, InternedInput};
use std::{fmt::Write, hash::Hash, ops::Range};

/// Unchanged lines shown before and after a change.
const CONTEXT: usize = 3;

/// Lines that were replaced, added (`old` is empty) or removed (`new` is empty). All other lines are equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedLines {
    /// The lines of the old text, counted from 0.
    pub old: Range<usize>,
    /// The lines of the new text that take their place.
    pub new: Range<usize>,
}

/// Returns where two texts differ, in order.
pub fn changed_lines<T: AsRef<[u8]> + Eq + Hash + Copy + Default>(old: &[T], new: &[T]) -> Vec<ChangedLines> {
    let mut input = InternedInput::default();
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let lines = |range: Range<u32>| range.start as usize..range.end as usize;
    diff.hunks().map(|hunk| ChangedLines { old: lines(hunk.before), new: lines(hunk.after) }).collect()
}

/// Returns the unified diff of two texts with three lines of context; empty only if they are equal, byte for byte. Bytes that are not valid
/// UTF-8 are shown in hexadecimal: texts that differ only in them must not look equal.
pub fn unified(old_name: &str, new_name: &str, old: impl AsRef<[u8]>, new: impl AsRef<[u8]>) -> String {
    let (old, new): (Vec<&[u8]>, Vec<&[u8]>) = (lines(old.as_ref()), lines(new.as_ref()));
    let changes = changed_lines(&old, &new);
    if changes.is_empty() {
        return String::new();
    }
    let mut text = format!("--- {old_name}\n+++ {new_name}\n");
    // Changes whose context would overlap are shown together.
    for group in changes.chunk_by(|a, b| b.old.start - a.old.end <= 2 * CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let before = first.old.start.min(CONTEXT);
        let after = (old.len() - last.old.end).min(CONTEXT);
        let from = first.old.start - before..last.old.end + after;
        let to = first.new.start - before..last.new.end + after;
        let _ = writeln!(text, "@@ -{} +{} @@", place(&from), place(&to));
        let mut next = from.start;
        for change in group {
            add(&mut text, ' ', &old[next..change.old.start]);
            add(&mut text, '-', &old[change.old.clone()]);
            add(&mut text, '+', &new[change.new.clone()]);
            next = change.old.end;
        }
        add(&mut text, ' ', &old[next..from.end]);
    }
    text
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

fn add(text: &mut String, mark: char, lines: &[&[u8]]) {
    for line in lines {
        text.push(mark);
        text.push_str(&visible_bytes(line));
        if !line.ends_with(b"\n") {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// Formats lines as a unified diff does: the first one, counted from 1, and their number unless it is 1. No lines are placed after the line
/// before them.
fn place(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::{ChangedLines, changed_lines, unified};

    #[test]
    fn lines_are_shown_with_their_context() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl";
        let new = "A\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\n";
        insta::assert_snapshot!(unified("a/x.md", "b/x.md", old, new), @r"
        --- a/x.md
        +++ b/x.md
        @@ -1,4 +1,4 @@
        -a
        +A
         b
         c
         d
        @@ -9,4 +9,5 @@
         i
         j
         k
        -l
        \ No newline at end of file
        +l
        +m
        ");
        assert_eq!(unified("a", "b", old, old), "");
        assert_eq!(unified("a", "b", b"caf\xe9\n", b"caf\xe8\n"), "--- a\n+++ b\n@@ -1 +1 @@\n-caf<0xE9>\n+caf<0xE8>\n");
        assert_eq!(unified("a", "b", "", "x\r\n"), "--- a\n+++ b\n@@ -0,0 +1 @@\n+x\r\n");
        assert_eq!(unified("a", "b", "x\n", ""), "--- a\n+++ b\n@@ -1 +0,0 @@\n-x\n");
    }

    #[test]
    fn changes_closer_than_their_contexts_are_shown_together() {
        let text = |changed: [usize; 2]| -> String {
            (0..20).map(|line| format!("{line}{}\n", if changed.contains(&line) { " changed" } else { "" })).collect()
        };
        let old = text([20, 20]);
        assert_eq!(unified("a", "b", &old, text([5, 12])).matches("@@ -").count(), 1);
        assert_eq!(unified("a", "b", &old, text([5, 13])).matches("@@ -").count(), 2);
        assert_eq!(
            changed_lines(&["a", "b", "c"], &["a", "c", "d"]),
            [ChangedLines { old: 1..2, new: 1..1 }, ChangedLines { old: 3..3, new: 2..3 }]
        );
    }
}
