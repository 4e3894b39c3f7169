//! Forgetting: the log is written anew without the texts that have certain words. The changes stay, with their times and actors; a
//! version whose text is forgotten says so. This is the only operation that removes something from the history on purpose.

use super::{
    Journal, RecordState,
    frame::START,
    log::LogPiece,
    new_id, not_open,
    record::{ChangePart, JournalRecord},
    retain::{FileBody, Rewrite, Texts},
    texts as journal_texts, write_new,
};
use crate::base::error::{Error, Result};
use crate::memory::phrase::Phrase;
use std::{
    collections::{HashMap, HashSet},
    fs, io,
    path::{Path, PathBuf},
};

/// A log without the words.
struct Rewritten {
    rewrite: Rewrite,
    /// The number of texts and names that are not in it any more.
    count: usize,
    /// The names of the files whose texts had the words.
    files: HashSet<String>,
}

impl Journal {
    /// Returns the number of versions and names that have the words.
    pub(crate) fn count_with(&self, phrase: &Phrase) -> Result<usize> {
        let Some(opened) = &self.opened else { return Ok(0) };
        let Rewritten { count, .. } = self.without(phrase, &HashSet::new())?;
        let damaged = self.damaged_with(phrase).len();
        let tail = opened.log.bytes(opened.covered, opened.log.len().map_err(|e| Error::io("read", &opened.log.path, e))?)?;
        Ok(count + damaged + usize::from(phrase.is_in(&tail)))
    }

    /// Whether a record names a directory with the words: changes of several mounts do. They are needed to settle such a change, so
    /// they stay while the directory exists. Damaged bytes count as well.
    pub(crate) fn names_directory(&self, phrase: &Phrase) -> Result<bool> {
        let Some(opened) = &self.opened else { return Ok(false) };
        let mut is_named = false;
        opened.log.pieces(START, opened.covered, &mut |piece| {
            is_named |= match piece {
                LogPiece::Hole(from, end) => phrase.is_in(opened.log.bytes(from, end)?),
                LogPiece::Record(placed) => {
                    let mut paths = placed.record.peers.iter().chain(placed.record.parts.iter().flat_map(part_paths));
                    paths.any(|path| has(phrase, path))
                }
            };
            Ok(())
        })?;
        Ok(is_named)
    }

    /// Rewrites the log without the texts that have the words, and returns their number. Only for the holder of the mount's lock, with
    /// no unfinished change. The new log replaces the old one in one step. With `derived_names`, the names of files follow from their
    /// texts and are forgotten with them.
    pub(crate) fn forget(&mut self, phrase: &Phrase, derived_names: bool) -> Result<usize> {
        self.ready_to_write()?;
        if self.unfinished()?.is_some() {
            return Err(Error::unavailable(format!("the last change in the journal in {:?}", self.dir), "it is incomplete"));
        }
        // Damaged bytes are set aside, where they are forgotten as a whole.
        self.repair()?;
        let Rewritten { mut rewrite, mut count, files } = self.without(phrase, &HashSet::new())?;
        if derived_names && !files.is_empty() {
            Rewritten { rewrite, count, .. } = self.without(phrase, &files)?;
        }
        let mut forgotten = count;
        if count > 0 {
            let path = self.opened.as_ref().ok_or_else(not_open)?.log.path.clone();
            let _ = fs::remove_file(self.dir.join("heads"));
            rewrite.save(&path)?;
            self.opened = None;
            self.ready_to_write()?;
        }
        for damaged in self.damaged_with(phrase) {
            // Its number stays in use: it shows recovery that records were lost.
            write_new(&damaged, b"").map_err(|e| Error::io("write", &damaged, e))?;
            forgotten += 1;
        }
        // Both are derived, and name files.
        for name in ["heads", "seen"] {
            let path = self.dir.join(name);
            if (derived_names && count > 0) || fs::read(&path).is_ok_and(|bytes| phrase.is_in(&bytes)) {
                match fs::remove_file(&path) {
                    Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(Error::io("remove", &path, e)),
                    _ => {}
                }
            }
        }
        Ok(forgotten)
    }

    /// Writes the log anew in memory, without texts that have the words, and without names that have them or are among `names`.
    fn without(&self, phrase: &Phrase, names: &HashSet<String>) -> Result<Rewritten> {
        let opened = self.opened.as_ref().ok_or_else(not_open)?;
        let (mut rewrite, mut texts, mut count, mut only_before) = (Rewrite::default(), Texts::default(), 0, 0);
        let mut new_names: HashMap<String, String> = HashMap::new();
        let mut forgotten_files: HashSet<String> = HashSet::new();
        opened.log.pieces(START, opened.covered, &mut |piece| {
            let LogPiece::Record(placed) = piece else { return Ok(()) };
            if placed.state != RecordState::Done {
                // A change that was rolled back is dropped, as by a compaction.
                count += usize::from(phrase.is_in(opened.log.bytes(placed.offset, placed.end)?));
                return Ok(());
            }
            let mut bodies = texts.learn(&opened.log, &placed)?;
            let mut record = placed.record.clone();
            for (n, (file, body)) in record.files.iter_mut().zip(&mut bodies).enumerate() {
                let is_forgotten = match body {
                    FileBody::Text(known) => {
                        let before = journal_texts::text_before(&opened.log, &placed, n, Some(known))?;
                        let has_words =
                            before.is_some_and(|before| phrase.is_in(&before.bytes)) || phrase.is_in(opened.log.payload(&placed, n)?.1);
                        only_before += usize::from(has_words);
                        phrase.is_in(&known.bytes)
                    }
                    FileBody::Removed { last } => {
                        if last.as_ref().is_some_and(|known| phrase.is_in(&known.bytes)) {
                            *last = None;
                            forgotten_files.insert(file.p.clone());
                            count += 1;
                        }
                        false
                    }
                    // Pieces of a text that cannot be put together may have a part of the words.
                    FileBody::Raw(new, old) => {
                        !file.forgotten && (phrase.is_in(&*new) || phrase.is_in(&*old) || forgotten_files.contains(&file.p))
                    }
                };
                if is_forgotten {
                    forgotten_files.insert(file.p.clone());
                    (file.forgotten, file.pre, file.suf, file.n, file.depth, file.back) = (true, 0, 0, 0, 0, None);
                    *body = FileBody::Raw(Vec::new(), Vec::new());
                    count += 1;
                }
                if phrase.is_in(&file.p) || names.contains(&file.p) {
                    let name = match new_names.get(&file.p) {
                        Some(name) => name.clone(),
                        None => new_names.entry(file.p.clone()).or_insert(format!("forgotten/{}.md", new_id()?)).clone(),
                    };
                    file.p = name;
                    count += 1;
                }
            }
            count += forget_gone_directories(&mut record, phrase);
            if let Some(name) = phrase.redact(&record.by.name) {
                record.by.name = name;
                count += 1;
            }
            rewrite.copy(&record, &bodies, RecordState::Done);
            Ok(())
        })?;
        // The text before a change is that of another record, which is counted, unless that one is forgotten already. The new log has
        // only what follows from its own records.
        Ok(Rewritten { rewrite, count: if count == 0 { only_before } else { count }, files: forgotten_files })
    }

    /// The files with damaged bytes that have the words.
    fn damaged_with(&self, phrase: &Phrase) -> Vec<PathBuf> {
        let numbered = (1..).map(|n| self.dir.join(format!("damaged-{n}.log"))).take_while(|path| path.exists());
        numbered.filter(|path| fs::read(path).is_ok_and(|bytes| phrase.is_in(&bytes))).collect()
    }
}

/// The paths in a part of a change.
fn part_paths(part: &ChangePart) -> impl Iterator<Item = &PathBuf> {
    [&part.root, &part.journal, &part.lock].into_iter().chain(&part.links)
}

fn has(phrase: &Phrase, path: &Path) -> bool {
    phrase.is_in(path.as_os_str().as_encoded_bytes())
}

/// Redacts the paths of directories that have the words and do not exist any more: the change is made, and nothing is left to be settled
/// there. Returns the number of directories.
fn forget_gone_directories(record: &mut JournalRecord, phrase: &Phrase) -> usize {
    let is_forgotten = |root: &Path| !root.exists();
    let mut count = record.peers.len();
    record.peers.retain(|peer| !(has(phrase, peer) && is_forgotten(peer)));
    count -= record.peers.len();
    for part in record.parts.iter_mut().filter(|part| is_forgotten(&part.root)) {
        if part_paths(part).any(|path| has(phrase, path)) {
            let redact = |path: &Path| phrase.redact(&path.to_string_lossy()).map_or_else(|| path.to_owned(), PathBuf::from);
            (part.root, part.journal, part.lock) = (redact(&part.root), redact(&part.journal), redact(&part.lock));
            part.links.clear();
            count += 1;
        }
    }
    count
}
