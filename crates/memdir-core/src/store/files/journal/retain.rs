//! Compaction of the journal: the oldest changes are dropped, the newest version of everything is kept, also of deleted memories.

use super::{
    Draft, Placed, Progress, Record, apply, file_record,
    log::{FileRecord, Log, START, frame},
    write_new,
};
use crate::base::{error::Result, limits};
use std::{collections::HashMap, path::Path};

/// Rewrites the log without its oldest changes. Returns `false` if nothing can be dropped.
pub(crate) fn compact(dir: &Path, log: &Log, covered: u64, limit: u64) -> Result<bool> {
    // A log that could not shrink much is compacted again only after it has doubled.
    let from = if covered > 2 * log.floor() { keep_from(log, covered, limit)? } else { START };
    if from <= START {
        return Ok(false);
    }
    let mut rewrite = Rewrite { out: Vec::new(), bases: HashMap::new() };
    let mut texts: HashMap<String, Text> = HashMap::new();
    let mut at = START;
    let mut kept = false;
    while at < covered {
        let placed = log.at(at)?;
        if placed.offset >= from && !kept {
            rewrite.write_bases(&texts);
            kept = true;
        }
        if placed.progress == Progress::Done {
            let bodies = learn(log, &placed, &mut texts)?;
            if kept {
                rewrite.copy(&placed.record, &bodies);
            }
        }
        at = placed.end;
    }
    let head = super::log::head(START + rewrite.out.len() as u64)?;
    // The table belongs to the old log; with its other name it would be ignored anyway.
    let _ = std::fs::remove_file(dir.join("heads"));
    Ok(write_new(&log.path, &[head.as_slice(), &rewrite.out].concat()).is_ok())
}

/// The newest text of one file, the record that wrote it, and the text before a removal.
struct Text {
    bytes: Option<Vec<u8>>,
    last: Vec<u8>,
    record: Record,
    file: FileRecord,
}

/// Returns the first record to keep: the newest ones up to half of the limit, and all that are young enough, as long as the log is
/// below four times the limit.
fn keep_from(log: &Log, covered: u64, limit: u64) -> Result<u64> {
    let newest = log.before(covered)?;
    let young = newest.record.at - limits::JOURNAL_DAYS * 86_400_000;
    let half = covered.saturating_sub(limit / 2);
    let mut at = START;
    while at < covered {
        let placed = log.at(at)?;
        if placed.offset >= half || (placed.record.at >= young && covered < 4 * limit) {
            return Ok(placed.offset);
        }
        at = placed.end;
    }
    Ok(START)
}

/// Updates `texts` with a record; returns the new text of each of its files.
fn learn(log: &Log, placed: &Placed, texts: &mut HashMap<String, Text>) -> Result<Vec<Option<Vec<u8>>>> {
    let mut bodies = Vec::new();
    for (n, file) in placed.record.files.iter().enumerate() {
        let known = texts.get(&file.p);
        let bytes = match file.after {
            None => None,
            Some(_) => {
                let before = known.and_then(|text| text.bytes.as_deref()).unwrap_or_default();
                Some(apply(before, file, log.payload(placed, n)?))
            }
        };
        let last = bytes.clone().or_else(|| known.map(|text| text.last.clone())).unwrap_or_default();
        texts.insert(file.p.clone(), Text { bytes: bytes.clone(), last, record: placed.record.clone(), file: file.clone() });
        bodies.push(bytes);
    }
    Ok(bodies)
}

struct Rewrite {
    out: Vec<u8>,
    /// The newest record of each file in the new log.
    bases: HashMap<String, Base>,
}

struct Base {
    offset: u64,
    depth: u32,
    text: Option<Vec<u8>>,
}

impl Rewrite {
    /// Writes the newest version of every file before the kept records, each in its own record with the id of its change.
    fn write_bases(&mut self, texts: &HashMap<String, Text>) {
        let mut paths: Vec<&String> = texts.keys().collect();
        paths.sort_by_key(|path| (texts[*path].record.at, *path));
        for path in paths {
            let text = &texts[path];
            let mut record = text.record.clone();
            record.peers.clear();
            record.files = vec![text.file.clone()];
            if text.bytes.is_none() {
                self.copy(&record, &[Some(text.last.clone())]);
            }
            self.copy(&record, std::slice::from_ref(&text.bytes));
        }
    }

    fn copy(&mut self, record: &Record, bodies: &[Option<Vec<u8>>]) {
        let mut record = record.clone();
        let mut payload = Vec::new();
        let at = START + self.out.len() as u64;
        for (file, body) in record.files.iter_mut().zip(bodies) {
            let known = self.bases.get(&file.p);
            let before = known.and_then(|base| base.text.as_deref()).map(|text| (text, 0));
            let draft = Draft { path: &file.p, role: file.role, before, after: body.as_deref() };
            *file = file_record(&draft, known.map(|base| (base.offset, base.depth)), &mut payload);
        }
        self.out.extend_from_slice(&frame(&record, &payload, Progress::Done));
        for (file, body) in record.files.iter().zip(bodies) {
            self.bases.insert(file.p.clone(), Base { offset: at, depth: file.depth, text: body.clone() });
        }
    }
}
