//! Parses the output of `git diff --unified=0`. Parsing never fails: what is not understood is skipped.

use crate::base::steps;

/// One file of a change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedFile {
    /// Its path before; `None` if the change adds it.
    pub old: Option<String>,
    /// Its path after; `None` if the change removes it.
    pub new: Option<String>,
    /// The changed lines before, each as first and last; an insertion after a line is `(line + 1, line)`.
    pub hunks: Vec<(u64, u64)>,
    /// The removed lines.
    pub removed: Vec<String>,
    /// The added lines.
    pub added: Vec<String>,
}

impl ChangedFile {
    /// Whether the change edits one of these lines of the file before. A binary file has no hunks and counts as changed.
    pub fn touches(&self, (first, last): (u64, u64)) -> bool {
        let is_whole = self.hunks.is_empty() && (self.new.is_none() || self.new == self.old);
        let overlaps = |(from, to): &(u64, u64)| match from > to {
            true => first < *from && *from <= last,
            false => *from <= last && first <= *to,
        };
        is_whole || self.new.is_none() || self.hunks.iter().any(overlaps)
    }
}

/// Parses a diff with paths that begin with `a/` and `b/`.
pub fn parse_diff(diff: &str) -> Vec<ChangedFile> {
    let mut files: Vec<ChangedFile> = Vec::new();
    let mut left = (0u64, 0u64);
    for line in diff.lines() {
        steps::count(line.len());
        // Lines of a hunk are counted, so that a removed line `-- a/x` is not taken for a header.
        if let (Some(file), true) = (files.last_mut(), left != (0, 0)) {
            match line.as_bytes().first() {
                Some(b'-') if left.0 > 0 => {
                    left.0 -= 1;
                    file.removed.push(line[1..].to_owned());
                }
                Some(b'+') if left.1 > 0 => {
                    left.1 -= 1;
                    file.added.push(line[1..].to_owned());
                }
                Some(b'\\') => {}
                _ => left = (0, 0),
            }
            if line.starts_with(['-', '+', '\\']) {
                continue;
            }
        }
        if let Some(paths) = line.strip_prefix("diff --git ") {
            let (old, new) = header_paths(paths);
            files.push(ChangedFile { old, new, ..ChangedFile::default() });
        } else if let Some(file) = files.last_mut() {
            read_header(line, file, &mut left);
        }
    }
    files.retain(|file| file.old.is_some() || file.new.is_some());
    files
}

fn read_header(line: &str, file: &mut ChangedFile, left: &mut (u64, u64)) {
    if line.starts_with("new file mode") {
        file.old = None;
    } else if line.starts_with("deleted file mode") {
        file.new = None;
    } else if let Some(path) = line.strip_prefix("rename from ") {
        file.old = Some(unquoted(path));
    } else if let Some(path) = line.strip_prefix("rename to ") {
        file.new = Some(unquoted(path));
    } else if let Some(path) = line.strip_prefix("--- ").and_then(|path| named(path, "a/")) {
        file.old = Some(path);
    } else if let Some(path) = line.strip_prefix("+++ ").and_then(|path| named(path, "b/")) {
        file.new = Some(path);
    } else if let Some((old, new)) = hunk(line) {
        *left = (old.1, new.1);
        file.hunks.push(if old.1 == 0 { (old.0 + 1, old.0) } else { (old.0, old.0 + old.1 - 1) });
    }
}

/// `a/x b/x`. Two different paths are named again by the lines that follow.
fn header_paths(paths: &str) -> (Option<String>, Option<String>) {
    let half = paths.len() / 2;
    let (old, new) = match (paths.get(..half), paths.get(half + 1..)) {
        (Some(old), Some(new)) => (old, new),
        _ => return (None, None),
    };
    match (named(old, "a/"), named(new, "b/")) {
        (Some(old), Some(new)) if old == new => (Some(old), Some(new)),
        _ => (None, None),
    }
}

/// Returns a path without its prefix, or `None` for `/dev/null`.
fn named(path: &str, prefix: &str) -> Option<String> {
    unquoted(path.trim_end_matches('\t')).strip_prefix(prefix).map(str::to_owned)
}

/// Undoes the quotes in which git puts a path with special characters.
fn unquoted(path: &str) -> String {
    let Some(inner) = path.strip_prefix('"').and_then(|path| path.strip_suffix('"')) else { return path.to_owned() };
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    if let Some(next @ b'0'..=b'7') = rest.peek().copied() {
                        value = value * 8 + u32::from(next - b'0');
                        rest.next();
                    }
                }
                bytes.push(value as u8);
            }
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// `@@ -3,2 +4 @@`: start and number of lines, before and after.
fn hunk(line: &str) -> Option<((u64, u64), (u64, u64))> {
    let (old, new) = line.strip_prefix("@@ -")?.split_once(" @@")?.0.split_once(" +")?;
    let range = |text: &str| {
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    };
    Some((range(old)?, range(new)?))
}

#[cfg(test)]
mod tests {
    use super::{ChangedFile, parse_diff};

    #[test]
    fn a_diff_of_git_is_parsed() {
        let diff = "diff --git a/src/db.rs b/src/db.rs\nindex 1..2 100644\n--- a/src/db.rs\n+++ b/src/db.rs\n@@ -3,2 +3 @@ fn x()\n-old one\n--- a/two\n+new\n@@ -9,0 +9,1 @@\n+more\n\\ No newline at end of file\ndiff --git a/gone.rs b/gone.rs\ndeleted file mode 100644\n--- a/gone.rs\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\ndiff --git a/a b.txt b/c d.txt\nsimilarity index 100%\nrename from a b.txt\nrename to c d.txt\ndiff --git \"a/\\303\\244.md\" \"b/\\303\\244.md\"\nnew file mode 100644\n--- /dev/null\n+++ \"b/\\303\\244.md\"\n@@ -0,0 +1 @@\n+x\ndiff --git a/p.png b/p.png\nBinary files a/p.png and b/p.png differ\n";
        let texts = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        let file = |old: Option<&str>, new: Option<&str>| ChangedFile {
            old: old.map(str::to_owned),
            new: new.map(str::to_owned),
            ..ChangedFile::default()
        };
        let files = parse_diff(diff);
        assert_eq!(
            files,
            [
                ChangedFile {
                    hunks: vec![(3, 4), (10, 9)],
                    removed: texts(&["old one", "-- a/two"]),
                    added: texts(&["new", "more"]),
                    ..file(Some("src/db.rs"), Some("src/db.rs"))
                },
                ChangedFile { hunks: vec![(1, 1)], removed: texts(&["x"]), ..file(Some("gone.rs"), None) },
                file(Some("a b.txt"), Some("c d.txt")),
                ChangedFile { hunks: vec![(1, 0)], added: texts(&["x"]), ..file(None, Some("ä.md")) },
                file(Some("p.png"), Some("p.png")),
            ]
        );
        let touches = |lines| files[0].touches(lines);
        assert_eq!(
            [touches((1, 2)), touches((4, 5)), touches((9, 10)), touches((8, 9)), touches((10, 11))],
            [false, true, true, false, false]
        );
        assert!(files[4].touches((1, 1)) && !files[2].touches((1, 1)), "a binary file changes as a whole, a renamed one does not");
        assert_eq!(parse_diff("no diff\n+++ b/x\n@@ -1 +1 @@\n"), []);
    }
}
