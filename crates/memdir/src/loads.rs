//! Counts how often the prompt was loaded, and its size: one line per load in `loads.jsonl`. Contains sizes, counts
//! and times, never text, and stays on this machine.

use memdir_core::internal::base::sort::SharedSort as _;
use memdir_core::{
    PromptLoad, Source, Store, Version,
    internal::base::disk::{self, FileLock, LockWait, Replace},
};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

/// Size in bytes above which the older half is dropped: about ten thousand loads.
const MAX_BYTES: u64 = 2 << 20;

/// The counts of each mode.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Loads {
    pub(crate) modes: BTreeMap<String, LoadCounts>,
}

/// The counts of one mode.
#[derive(Debug, Default, Serialize)]
pub(crate) struct LoadCounts {
    pub(crate) loads: u64,
    pub(crate) bytes: u64,
    pub(crate) largest: u64,
    pub(crate) cut_by_lines: u64,
    pub(crate) cut_by_bytes: u64,
    /// The last load.
    pub(crate) last: Option<PromptLoad>,
}

/// One line of the file.
#[derive(Debug, Serialize, Deserialize)]
struct LoadLine {
    /// The space of the load; empty in lines of older versions, which are not counted.
    #[serde(default)]
    space: String,
    #[serde(flatten)]
    load: PromptLoad,
}

/// Identifies a space by its directories and their rules. A hash, so that the file contains no paths.
pub(crate) fn space(store: &dyn Store) -> String {
    let mounts = store
        .mounts()
        .iter()
        .filter(|mount| mount.source != Source::Inbox)
        .map(|mount| format!("{}={}={}", mount.prefix, mount.root.display(), mount.rules));
    let mut mounts: Vec<String> = mounts.collect();
    mounts.shared_sort();
    Version::from_content(mounts.join("\n").as_bytes()).to_string()
}

/// Counts a load of a space. Best effort: runs after the output is printed, and errors are ignored.
pub(crate) fn count(home: &Path, space: &str, load: &PromptLoad) {
    let path = file(home);
    if !home.is_dir() {
        return;
    }
    // Without the lock, a line that is appended while the older half is dropped would be lost.
    let Ok(_lock) = FileLock::for_update(&path, LockWait::BEST_EFFORT) else { return };
    if fs::metadata(&path).is_ok_and(|meta| meta.len() > MAX_BYTES) {
        drop_older_half(&path);
    }
    let line = LoadLine { space: space.to_owned(), load: load.clone() };
    if let (Ok(mut line), Ok(mut file)) = (serde_json::to_vec(&line), disk::append_private_file(&path)) {
        line.push(b'\n');
        let _ = file.write_all(&line);
    }
}

/// Reads the counts of a space.
pub(crate) fn read(home: &Path, space: &str) -> Loads {
    let mut loads = Loads::default();
    let text = fs::read_to_string(file(home)).unwrap_or_default();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<LoadLine>(line).ok());
    for LoadLine { load, .. } in lines.filter(|line| line.space == space) {
        let mode = loads.modes.entry(load.mode.clone()).or_default();
        mode.loads += 1;
        mode.bytes += load.bytes;
        mode.largest = mode.largest.max(load.bytes);
        mode.cut_by_lines += u64::from(load.cut_by_lines);
        mode.cut_by_bytes += u64::from(load.cut_by_bytes);
        mode.last = Some(load);
    }
    loads
}

fn file(home: &Path) -> PathBuf {
    home.join("loads.jsonl")
}

fn drop_older_half(path: &Path) {
    let Ok(text) = fs::read_to_string(path) else { return };
    let from = text[text.len() / 2..].find('\n').map_or(text.len(), |at| text.len() / 2 + at + 1);
    let _ = disk::replace(path, Replace::DERIVED, |file| file.write_all(&text.as_bytes()[from..]));
}
