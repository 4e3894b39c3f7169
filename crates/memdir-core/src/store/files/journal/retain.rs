//! Compaction of the journal: the oldest changes are dropped, the newest version of every memory is kept, including deleted ones.

use super::{
    FileDraft, JournalRecord, PlacedRecord, RecordState,
    frame::{START, frame, head},
    log::JournalFile,
    record::FileRecord,
    texts::{self, KnownText},
    write_new,
};
use crate::base::error::{Error, Result};
use crate::base::sort::SharedSort as _;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs::File,
    path::{Path, PathBuf},
    rc::Rc,
};

/// Days for which a change is kept in the history whatever the size of the journal, unless that reaches `HARD_LIMIT_FACTOR` times its
/// limit.
const JOURNAL_DAYS: i64 = 90;
/// How many times its limit a journal may have while its changes are young.
const HARD_LIMIT_FACTOR: u64 = 4;

/// Rewrites the log without its oldest changes. Returns `false` if nothing can be dropped; fails if a record is damaged.
pub(crate) fn compact(dir: &Path, log: &JournalFile, covered: u64, limit: u64) -> Result<bool> {
    // A log that could not shrink much is compacted again only after it has doubled.
    let from = if covered > 2 * log.floor() { keep_from(log, covered, limit)? } else { START };
    if from <= START {
        return Ok(false);
    }
    let mut rewrite = Rewrite::default();
    let mut texts = Texts::default();
    let mut peers: BTreeSet<PathBuf> = BTreeSet::new();
    let mut at = START;
    let mut kept = false;
    while at < covered {
        let placed = log.at(at)?;
        if placed.offset >= from && !kept {
            rewrite.write_bases(log, &texts)?;
            kept = true;
        }
        at = placed.end;
        if placed.state != RecordState::Done {
            continue;
        }
        let bodies = texts.learn(log, &placed)?;
        if kept {
            rewrite.copy(&placed.record, &bodies, RecordState::Done);
        } else {
            peers.extend(placed.record.parts.iter().map(|part| part.journal.clone()).filter(|peer| peer != dir));
        }
    }
    // The other mounts of a change must never need a record that is dropped here, even after a power failure.
    for peer in peers {
        let _ = File::open(peer.join(super::LOG_FILE)).and_then(|file| file.sync_data());
    }
    // The table belongs to the old log; with its other name it would be ignored anyway.
    let _ = std::fs::remove_file(dir.join("heads"));
    match rewrite.save(&log.path) {
        Ok(()) => Ok(true),
        // The disk may be full; a later change tries again.
        Err(Error::Io { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns the first record to keep: the newest ones up to half of the limit, and all that are young enough, as long as the log is
/// below `HARD_LIMIT_FACTOR` times the limit.
fn keep_from(log: &JournalFile, covered: u64, limit: u64) -> Result<u64> {
    let newest = log.before(covered)?;
    let young = newest.record.at - JOURNAL_DAYS * 86_400_000;
    let half = covered.saturating_sub(limit / 2);
    let mut at = START;
    while at < covered {
        let placed = log.at(at)?;
        if placed.offset >= half || (placed.record.at >= young && covered < HARD_LIMIT_FACTOR * limit) {
            return Ok(placed.offset);
        }
        at = placed.end;
    }
    Ok(START)
}

/// What a record does to one file, independent of its position in a log.
#[derive(Debug, Clone)]
pub(super) enum FileBody {
    Removed {
        last: Option<KnownText>,
    },
    Text(KnownText),
    /// The differences as they are recorded: the text does not follow from older records.
    Raw(Vec<u8>, Vec<u8>),
}

/// The newest version of each file while the log is read from its beginning.
#[derive(Default)]
pub(super) struct Texts(HashMap<String, Newest>);

struct Newest {
    body: FileBody,
    placed: Rc<PlacedRecord>,
    n: usize,
}

impl Texts {
    /// Adds a record; returns what it does to each of its files.
    pub(super) fn learn(&mut self, log: &JournalFile, placed: &PlacedRecord) -> Result<Vec<FileBody>> {
        let shared = Rc::new(placed.clone());
        let mut bodies = Vec::new();
        for (n, file) in placed.record.files.iter().enumerate() {
            let before = self.0.get(&file.p).and_then(|newest| match &newest.body {
                FileBody::Text(known) => Some(known),
                _ => None,
            });
            let body = match (texts::text_after(log, placed, n, before)?, file.after) {
                (Some(known), _) => FileBody::Text(known),
                (None, None) => {
                    let last = before.filter(|known| Some(known.version) == file.before).cloned();
                    FileBody::Removed { last: if last.is_some() { last } else { texts::text_before(log, placed, n, None)? } }
                }
                (None, Some(_)) => {
                    let (new, old) = log.payload(placed, n)?;
                    FileBody::Raw(new, old)
                }
            };
            self.0.insert(file.p.clone(), Newest { body: body.clone(), placed: shared.clone(), n });
            bodies.push(body);
        }
        Ok(bodies)
    }
}

/// A log that is being written anew.
#[derive(Default)]
pub(super) struct Rewrite {
    out: Vec<u8>,
    /// The newest record of each file in the new log.
    bases: HashMap<String, RewriteBase>,
}

struct RewriteBase {
    offset: u64,
    depth: u32,
    text: Option<KnownText>,
}

impl Rewrite {
    /// Writes the newest version of every file before the kept records, in records with the ids of their changes.
    fn write_bases(&mut self, log: &JournalFile, texts: &Texts) -> Result<()> {
        let mut records: BTreeMap<u64, Vec<&Newest>> = BTreeMap::new();
        for newest in texts.0.values() {
            records.entry(newest.placed.offset).or_default().push(newest);
        }
        for mut files in records.into_values() {
            files.shared_sort_by_key(|newest| newest.n);
            let Some(first) = files.first() else { continue };
            let mut record = first.placed.record.clone();
            let all = record.files.len();
            record.files = files.iter().map(|newest| newest.placed.record.files[newest.n].clone()).collect();
            let mut bodies: Vec<FileBody> = files.iter().map(|newest| newest.body.clone()).collect();
            for (newest, body) in files.iter().zip(&mut bodies) {
                if let FileBody::Removed { last } = body
                    && last.is_none()
                {
                    *last = texts::text_before(log, &newest.placed, newest.n, None)?;
                }
            }
            let lost =
                |(file, body): (&FileRecord, &FileBody)| file.before.is_some() && !matches!(body, FileBody::Removed { last: Some(_) });
            record.cut |= record.files.len() < all || record.files.iter().zip(&bodies).any(lost);
            self.copy(&record, &bodies, RecordState::Done);
        }
        Ok(())
    }

    /// Copies a record, with differences that follow from the records in the new log.
    pub(super) fn copy(&mut self, record: &JournalRecord, bodies: &[FileBody], state: RecordState) {
        let mut record = record.clone();
        let mut payload = Vec::new();
        let at = START + self.out.len() as u64;
        let mut bases = Vec::new();
        for (file, body) in record.files.iter_mut().zip(bodies) {
            let known = self.bases.get(&file.p);
            let base = known.map(|base| (base.offset, base.depth));
            let before = known.and_then(|base| base.text.as_ref()).filter(|text| Some(text.version) == file.before);
            let before = match body {
                FileBody::Removed { last } => before.or(last.as_ref()).filter(|text| Some(text.version) == file.before),
                _ => before,
            };
            let (old, role, version) = (before.map(|text| (text.bytes.as_slice(), 0)), file.role, file.before);
            let path = file.p.clone();
            *file = match body {
                FileBody::Text(text) => {
                    texts::file_record(&FileDraft { path: &path, role, before: old, after: Some(&text.bytes) }, base, &mut payload)
                }
                FileBody::Removed { .. } => {
                    texts::file_record(&FileDraft { path: &path, role, before: old, after: None }, base, &mut payload)
                }
                FileBody::Raw(new, back) => {
                    payload.extend_from_slice(new);
                    payload.extend_from_slice(back);
                    FileRecord { prev: base.map(|(offset, _)| offset), ..file.clone() }
                }
            };
            // The version before is known even if its text is not in the new log.
            file.before = version;
            let text = if let FileBody::Text(text) = body { Some(text.clone()) } else { None };
            bases.push((path, RewriteBase { offset: at, depth: file.depth, text }));
        }
        self.out.extend_from_slice(&frame(&record, &payload, state, at));
        if state == RecordState::Done {
            self.bases.extend(bases);
        }
    }

    /// Replaces the log.
    pub(super) fn save(&self, path: &Path) -> Result<()> {
        let head = head(START + self.out.len() as u64)?;
        write_new(path, &[head.as_slice(), &self.out].concat()).map_err(|e| Error::io("rewrite the journal", path, e))
    }
}
