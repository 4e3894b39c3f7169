//! How often, and how large, the prompt was loaded: one line each in `loads.jsonl`. Numbers only, and only on this machine.

use memdir_core::{
    base::{
        disk::{self, Replace},
        version::Version,
    },
    prompt::Load,
    store::Store,
};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

/// Bytes after which the older half is dropped: some ten thousand loads.
const MOST: u64 = 2 << 20;

/// What was counted, by mode.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Loads {
    pub(crate) modes: BTreeMap<String, Counted>,
}

/// The loads of one mode.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Counted {
    pub(crate) loads: u64,
    pub(crate) bytes: u64,
    pub(crate) largest: u64,
    pub(crate) cut_by_lines: u64,
    pub(crate) cut_by_bytes: u64,
    /// The newest one.
    pub(crate) last: Option<Load>,
}

/// A load as it is kept.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    /// Whose it was. Lines from before there was one are nobody's.
    #[serde(default)]
    space: String,
    #[serde(flatten)]
    load: Load,
}

/// What tells one space from another: its directories, and what of them is open. A hash, so that the file names no directory.
pub(crate) fn space(store: &dyn Store) -> String {
    let mounts = store.mounts().iter().map(|mount| format!("{}={}={}", mount.prefix, mount.root.display(), mount.rules));
    let mut mounts: Vec<String> = mounts.collect();
    mounts.sort();
    Version::of(mounts.join("\n").as_bytes()).to_string()
}

/// Counts a load of a space. Best effort, after the answer is out: nobody waits for it, and nothing fails by it.
pub(crate) fn count(home: &Path, space: &str, load: &Load) {
    let path = file(home);
    if fs::metadata(&path).is_ok_and(|meta| meta.len() > MOST) {
        drop_older_half(&path);
    }
    let line = Line { space: space.to_owned(), load: load.clone() };
    if let (Ok(mut line), Ok(mut file)) = (serde_json::to_vec(&line), disk::append_private_file(&path)) {
        line.push(b'\n');
        // One write, so that lines of several processes do not mix.
        let _ = file.write_all(&line);
    }
}

/// What was counted so far of a space.
pub(crate) fn read(home: &Path, space: &str) -> Loads {
    let mut loads = Loads::default();
    let text = fs::read_to_string(file(home)).unwrap_or_default();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
    for Line { load, .. } in lines.filter(|line| line.space == space) {
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
