//! Forgetting: the log is written anew without the texts that have certain words. The changes stay, with their times and actors; a
//! version whose text is forgotten says so. This is the only operation that removes something from the history on purpose.

use super::{
    Journal, Progress,
    frame::START,
    log::LogPiece,
    new_id, not_open,
    retain::{FileBody, Rewrite, Texts},
    write_new,
};
use crate::base::{
    error::{Error, Result},
    phrase::Phrase,
};
use std::{
    collections::{HashMap, HashSet},
    fs,
    path::PathBuf,
};

impl Journal {
    /// Returns the number of versions and names that have the words.
    pub(crate) fn count_with(&self, phrase: &Phrase) -> Result<usize> {
        let Some(opened) = &self.opened else { return Ok(0) };
        // Nearly every journal has none of the words, and the texts need not be put together. A text may be recorded in pieces, so the
        // bytes alone decide nothing if a first piece of the words is in them.
        let (_, count) = self.without(phrase)?;
        let damaged = self.damaged_with(phrase).len();
        let tail = opened.log.bytes(opened.covered, opened.log.len().map_err(|e| Error::io("read", &opened.log.path, e))?)?;
        Ok(count + damaged + usize::from(phrase.is_in(&tail)))
    }

    /// Rewrites the log without the texts that have the words, and returns their number. Only for the holder of the mount's lock, with
    /// no unfinished change. The new log replaces the old one in one step.
    pub(crate) fn forget(&mut self, phrase: &Phrase) -> Result<usize> {
        self.ready_to_write()?;
        if self.unfinished()?.is_some() {
            return Err(Error::Unavailable {
                what: format!("the journal in {:?}", self.dir),
                why: "its last change is not settled".into(),
            });
        }
        // Damaged bytes are set aside, where they are forgotten as a whole.
        self.repair()?;
        let (rewrite, count) = self.without(phrase)?;
        let mut forgotten = count;
        if count > 0 {
            let path = self.opened.as_ref().ok_or_else(not_open)?.log.path.clone();
            let _ = fs::remove_file(self.dir.join("heads"));
            if !rewrite.save(&path)? {
                let why = "it cannot be rewritten; check the disk space".into();
                return Err(Error::Unavailable { what: path.display().to_string(), why });
            }
            self.opened = None;
            self.ready_to_write()?;
        }
        for damaged in self.damaged_with(phrase) {
            // Its number stays in use: it tells recovery that records were lost.
            write_new(&damaged, b"").map_err(|e| Error::io("write", &damaged, e))?;
            forgotten += 1;
        }
        // Both are derived, and name files.
        for name in ["heads", "seen"] {
            let path = self.dir.join(name);
            if fs::read(&path).is_ok_and(|bytes| phrase.is_in(&bytes)) {
                fs::remove_file(&path).map_err(|e| Error::io("remove", &path, e))?;
            }
        }
        Ok(forgotten)
    }

    /// Writes the log anew in memory, and returns the number of texts and names that are not in it any more.
    fn without(&self, phrase: &Phrase) -> Result<(Rewrite, usize)> {
        let opened = self.opened.as_ref().ok_or_else(not_open)?;
        let (mut rewrite, mut texts, mut count) = (Rewrite::default(), Texts::default(), 0);
        let mut names: HashMap<String, String> = HashMap::new();
        let mut forgotten_files: HashSet<String> = HashSet::new();
        opened.log.pieces(START, opened.covered, &mut |piece| {
            let LogPiece::Record(placed) = piece else { return Ok(()) };
            if placed.progress != Progress::Done {
                // A change that was rolled back is dropped, as by a compaction.
                count += usize::from(phrase.is_in(opened.log.bytes(placed.offset, placed.end)?));
                return Ok(());
            }
            let mut bodies = texts.learn(&opened.log, &placed)?;
            let mut record = placed.record.clone();
            for (file, body) in record.files.iter_mut().zip(&mut bodies) {
                let is_forgotten = match body {
                    FileBody::Text(known) => phrase.is_in(&known.bytes),
                    FileBody::Removed { last } => {
                        if last.as_ref().is_some_and(|known| phrase.is_in(&known.bytes)) {
                            *last = None;
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
                if phrase.is_in(&file.p) {
                    let name = match names.get(&file.p) {
                        Some(name) => name.clone(),
                        None => names.entry(file.p.clone()).or_insert(format!("forgotten/{}.md", new_id()?)).clone(),
                    };
                    file.p = name;
                    count += 1;
                }
            }
            if let Some(name) = phrase.redact(&record.by.name) {
                record.by.name = name;
                count += 1;
            }
            rewrite.copy(&record, &bodies, Progress::Done);
            Ok(())
        })?;
        Ok((rewrite, count))
    }

    /// The files with damaged bytes that have the words.
    fn damaged_with(&self, phrase: &Phrase) -> Vec<PathBuf> {
        let numbered = (1..).map(|n| self.dir.join(format!("damaged-{n}.log"))).take_while(|path| path.exists());
        numbered.filter(|path| fs::read(path).is_ok_and(|bytes| phrase.is_in(&bytes))).collect()
    }
}
