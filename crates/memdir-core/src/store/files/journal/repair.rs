//! Damage in a journal: it is noticed and skipped, a torn end is truncated, and a repair keeps the damaged bytes in a file of their own
//! and writes the log without them. Every other record stays.

use super::{
    Journal, LastRecord, RecordState,
    frame::START,
    log::LogPiece,
    not_open,
    retain::{Rewrite, Texts},
    write_new,
};
use crate::base::error::{Error, Result};
use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

impl Journal {
    /// Returns the damaged pieces before an offset.
    pub(super) fn holes(&self, end: u64) -> Result<Vec<(u64, u64)>> {
        let Some(opened) = &self.opened else { return Ok(Vec::new()) };
        let mut holes = Vec::new();
        opened.log.pieces(START, end, &mut |piece| {
            if let LogPiece::Hole(start, end) = piece {
                holes.push((start, end));
            }
            Ok(())
        })?;
        Ok(holes)
    }

    pub(super) fn notice_damage(&self, offset: u64, records: u64) {
        self.damage.borrow_mut().insert(offset, records);
    }

    pub(super) fn skip_damage(&mut self, at: u64, next: u64) -> Result<()> {
        let Some(opened) = &mut self.opened else { return Ok(()) };
        let records = opened.log.records_in((at, next))?;
        opened.covered = next;
        opened.last = LastRecord::Alone;
        self.notice_damage(at, records);
        Ok(())
    }

    /// Truncates a record that a crash tore. Bytes that look like a whole record are kept in a file of their own.
    pub(super) fn cut_end(&mut self, at: u64) -> Result<()> {
        let Some(opened) = &self.opened else { return Ok(()) };
        if opened.log.is_whole_tail(at)? {
            let len = opened.log.len().map_err(|e| Error::io("read", &opened.log.path, e))?;
            let bytes = opened.log.bytes(at, len)?;
            self.keep_damaged(&bytes)?;
            self.notice_damage(at, 1);
        }
        opened.log.cut(at).map_err(|e| Error::io("repair the journal", &opened.log.path, e))
    }

    /// Renames a journal that cannot be read and creates a new one.
    pub(super) fn set_aside(&mut self) -> Result<()> {
        self.opened = None;
        self.notice_damage(0, 1);
        if let Some(aside) = self.damaged_path() {
            rename(&self.log_path(), &aside)?;
        }
        self.ready(true)
    }

    /// A name for damaged bytes that is not in use.
    fn damaged_path(&self) -> Option<PathBuf> {
        (1..).map(|n| self.dir.join(format!("damaged-{n}.log"))).find(|path| !path.exists())
    }

    /// The number of files with damaged bytes.
    pub(super) fn damaged_files(&self) -> u64 {
        (1..).take_while(|n| self.dir.join(format!("damaged-{n}.log")).exists()).count() as u64
    }

    /// Keeps damaged bytes in a file beside the log.
    fn keep_damaged(&self, bytes: &[u8]) -> Result<()> {
        match self.damaged_path() {
            Some(path) => write_new(&path, bytes).map_err(|e| Error::io("save the damaged part of the journal in", path, e)),
            None => Ok(()),
        }
    }

    /// Reads the whole log and returns the number of damaged records.
    pub(crate) fn count_damage(&self) -> Result<u64> {
        let Some(opened) = &self.opened else { return Ok(0) };
        self.newest_first(&|_| false, |_, _| true)?;
        for hole in self.holes(opened.covered)? {
            self.notice_damage(hole.0, opened.log.records_in(hole)?);
        }
        Ok(self.damaged())
    }

    /// Sets damaged records aside and returns their number. Only for the holder of the mount's lock, with no unfinished change.
    pub(crate) fn repair(&mut self) -> Result<u64> {
        self.ready_to_write()?;
        let damaged = self.count_damage()?;
        if damaged == 0 {
            return Ok(0);
        }
        let opened = self.opened.as_ref().ok_or_else(not_open)?;
        // A record to which another one refers was applied, whatever became of its state.
        let mut applied: HashSet<u64> = HashSet::new();
        opened.log.pieces(START, opened.covered, &mut |piece| {
            if let LogPiece::Record(placed) = piece {
                applied.extend(placed.record.files.iter().filter_map(|file| file.prev));
            }
            Ok(())
        })?;
        let (mut rewrite, mut texts, mut aside) = (Rewrite::default(), Texts::default(), Vec::new());
        if opened.log.damaged_head {
            aside.extend(opened.log.bytes(0, START)?);
        }
        opened.log.pieces(START, opened.covered, &mut |piece| {
            match piece {
                LogPiece::Hole(start, end) => aside.extend(opened.log.bytes(start, end)?),
                LogPiece::Record(placed) => {
                    let state = match placed.state {
                        RecordState::Unknown if applied.contains(&placed.offset) => RecordState::Done,
                        RecordState::Unknown => {
                            aside.extend(opened.log.bytes(placed.offset, placed.end)?);
                            return Ok(());
                        }
                        known => known,
                    };
                    // A change that was rolled back must not become the base of later texts.
                    let bodies = if state == RecordState::Done {
                        texts.learn(&opened.log, &placed)?
                    } else {
                        Texts::default().learn(&opened.log, &placed)?
                    };
                    rewrite.copy(&placed.record, &bodies, state);
                }
            }
            Ok(())
        })?;
        let path = opened.log.path.clone();
        if !aside.is_empty() {
            self.keep_damaged(&aside)?;
        }
        let _ = std::fs::remove_file(self.dir.join("heads"));
        rewrite.save(&path)?;
        self.opened = None;
        self.damage.borrow_mut().clear();
        self.ready_to_write()?;
        Ok(damaged)
    }
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    rustix::fs::rename(from, to).map_err(|e| Error::io("set aside", from, e.into()))
}
