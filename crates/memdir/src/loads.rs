//! How often, and how large, the prompt was loaded: one line each in `loads.jsonl`. Numbers only, and only on this machine.

use memdir_core::prompt::Load;
use serde::Serialize;
use std::{
    collections::BTreeMap,
    fs::{self, OpenOptions},
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
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

/// Counts a load. Best effort, after the answer is out: nobody waits for it, and nothing fails by it.
pub(crate) fn count(home: &Path, load: &Load) {
    let path = file(home);
    if fs::metadata(&path).is_ok_and(|meta| meta.len() > MOST) {
        drop_older_half(&path);
    }
    if let (Ok(mut line), Ok(mut file)) = (serde_json::to_vec(load), OpenOptions::new().create(true).append(true).mode(0o600).open(&path)) {
        line.push(b'\n');
        // One write, so that lines of several processes do not mix.
        let _ = file.write_all(&line);
    }
}

/// What was counted so far.
pub(crate) fn read(home: &Path) -> Loads {
    let mut loads = Loads::default();
    for load in fs::read_to_string(file(home)).unwrap_or_default().lines().filter_map(|line| serde_json::from_str::<Load>(line).ok()) {
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
    let Ok(mut temp) = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(path)) else { return };
    if temp.write_all(&text.as_bytes()[from..]).is_ok() {
        let _ = temp.persist(path);
    }
}
