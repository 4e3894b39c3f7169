//! The command `view`: a directory two levels deep with sizes, or a file with numbered lines.

use super::{super::rest_is_in, GivenPath, PATH, VIEW_RANGE, failure};
use crate::{
    base::{error::Result, limits, path::MemoryPath, text},
    operations::raw_files,
    store::{Stored, View},
    tools::{ToolContext, args::ToolArguments},
};
use std::{collections::BTreeMap, fmt::Write as _};

/// Maximum number of lines of a file.
const LINES: u64 = 999_999;
/// Levels below the directory that are shown.
const LEVELS: usize = 2;
/// Maximum number of rows.
const ROWS: usize = 5_000;

pub(super) fn view(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<String> {
    let given = GivenPath::parse(args, &PATH)?;
    let range = range(args);
    let store = caller.memdir.store();
    let Some(path) = &given.path else { return directory(store, "", &given.shown) };
    match raw_files::get(store, path).map_err(|error| given.reworded(error))? {
        Some(stored) => file(caller, &given, &stored, range),
        None if raw_files::is_folder(store, path)? => directory(store, path.as_str(), &given.shown),
        None => Err(given.missing()),
    }
}

/// The first and last line, or `None` unless exactly two numbers were given.
fn range(args: &ToolArguments<'_>) -> Option<(i64, i64)> {
    let (_, value) = args.value(&VIEW_RANGE)?;
    match value.as_array()?.as_slice() {
        [first, last] => Some((first.as_i64()?, last.as_i64()?)),
        _ => None,
    }
}

fn file(caller: &ToolContext, given: &GivenPath, stored: &Stored, range: Option<(i64, i64)>) -> Result<String> {
    let (content, _) = text::decode(&stored.bytes);
    if content.matches('\n').count() as u64 >= LINES {
        return Err(failure(format!("File {} exceeds maximum line limit of 999,999 lines.", given.shown)));
    }
    let first = range.map_or(1, |(first, _)| u64::try_from(first).unwrap_or(1).max(1));
    let last = match range {
        None | Some((_, -1)) => None,
        // As in the reference, a negative last line counts from the end.
        Some((_, last)) if last < 0 => {
            let count = content.split('\n').count() as u64;
            Some(count.saturating_sub(last.unsigned_abs()))
        }
        Some((_, last)) => Some(last.unsigned_abs()),
    };
    let lines = numbered(&content, first, last);
    let part = text::truncate_chars(&lines, first, limits::DIALECT_CHARS);
    let mut out = format!("Here's the content of {} with line numbers:\n{}", given.shown, part.text);
    // No range reaches the end of a line that is too long by itself.
    if let Some(line) = part.split {
        let _ = write!(out, "\n{}", rest_is_in(caller, &stored.path, line, part.left_chars));
    } else if let Some(next) = part.next_line {
        let _ = write!(out, "[{} more characters: view_range [{next}, -1] shows the rest]", part.left_chars);
    }
    Ok(out)
}

/// Numbers lines. As in the reference, the empty text after a final line feed counts as a line.
pub(super) fn numbered(content: &str, first: u64, last: Option<u64>) -> String {
    let lines = content.split('\n').zip(1_u64..).skip_while(|(_, n)| *n < first).take_while(|(_, n)| last.is_none_or(|last| *n <= last));
    lines.map(|(line, n)| format!("{n:>6}\t{line}")).collect::<Vec<_>>().join("\n")
}

fn directory(view: &dyn View, under: &str, shown: &str) -> Result<String> {
    let walk = view.list(under)?;
    let below = |path: &MemoryPath| if under.is_empty() { Some(path.clone()) } else { path.strip_prefix(under) };
    let mut rows: BTreeMap<Vec<String>, (u64, bool)> = BTreeMap::new();
    let mut own = None;
    for entry in &walk.entries {
        let Some(rel) = below(&entry.path).filter(|rel| !rel.parts().any(|part| part.starts_with('.'))) else { continue };
        let parts: Vec<String> = rel.parts().map(ToOwned::to_owned).collect();
        for depth in 1..parts.len().min(LEVELS + 1) {
            rows.entry(parts[..depth].to_vec()).or_insert((0, true));
        }
        if parts.len() <= LEVELS {
            rows.insert(parts, (entry.stamp.size, false));
        }
    }
    for folder in &walk.folders {
        if folder.path.as_str() == under {
            own = Some(folder.stamp.size);
        }
        let parts: Option<Vec<String>> = below(&folder.path).map(|rel| rel.parts().map(ToOwned::to_owned).collect());
        let is_shown = |parts: &Vec<String>| parts.len() <= LEVELS && !parts.iter().any(|part| part.starts_with('.'));
        if let Some(parts) = parts.filter(is_shown) {
            rows.insert(parts, (folder.stamp.size, true));
        }
    }
    let own = own.or_else(|| root_size(view)).unwrap_or(0);
    let mut out =
        format!("Here're the files and directories up to 2 levels deep in {shown}, excluding hidden items:\n{}\t{shown}", size(own));
    for (parts, (bytes, is_folder)) in rows.iter().take(ROWS) {
        let _ = write!(out, "\n{}\t{shown}/{}{}", size(*bytes), parts.join("/"), if *is_folder { "/" } else { "" });
    }
    if rows.len() > ROWS {
        let _ = write!(out, "\n({} more items; view a subdirectory to list its items)", rows.len() - ROWS);
    }
    Ok(out)
}

/// The size that the file system reports for the root directory.
fn root_size(view: &dyn View) -> Option<u64> {
    let root = &view.mounts().first()?.root;
    std::fs::metadata(root).ok().map(|meta| meta.len())
}

/// Formats a size as `0B`, `28B`, `1.5K`: base 1024, with one decimal unless it is 0.
fn size(bytes: u64) -> String {
    let mut units = ["B", "K", "M", "G"].into_iter();
    let mut unit = units.next().unwrap_or_default();
    let mut value = bytes as f64;
    for larger in units {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = larger;
    }
    if value.fract() == 0.0 { format!("{value:.0}{unit}") } else { format!("{value:.1}{unit}") }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_written_as_in_the_reference() {
        let shown: Vec<String> = [0, 1, 28, 1023, 1024, 1536, 4096, 1 << 20, (1 << 20) + 1, 3 << 30].into_iter().map(size).collect();
        assert_eq!(shown, ["0B", "1B", "28B", "1023B", "1K", "1.5K", "4K", "1M", "1.0M", "3G"]);
    }
}
