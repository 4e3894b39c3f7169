//! Repair of a damaged journal: the damaged bytes are kept in a file of their own, and the log is written without them. Every other
//! record stays.

use super::{
    Journal, Progress,
    log::{LogPiece, START},
    not_open,
    retain::{Rewrite, Texts},
};
use crate::base::error::{Error, Result};
use std::collections::HashSet;

impl Journal {
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
                    let progress = match placed.progress {
                        Progress::Unknown if applied.contains(&placed.offset) => Progress::Done,
                        Progress::Unknown => {
                            aside.extend(opened.log.bytes(placed.offset, placed.end)?);
                            return Ok(());
                        }
                        known => known,
                    };
                    // A change that was rolled back must not become the base of later texts.
                    let bodies = if progress == Progress::Done {
                        texts.learn(&opened.log, &placed)?
                    } else {
                        Texts::default().learn(&opened.log, &placed)?
                    };
                    rewrite.copy(&placed.record, &bodies, progress);
                }
            }
            Ok(())
        })?;
        let path = opened.log.path.clone();
        if !aside.is_empty() {
            self.keep_damaged(&aside)?;
        }
        let _ = std::fs::remove_file(self.dir.join("heads"));
        if !rewrite.save(&path)? {
            return Err(Error::Unavailable {
                what: path.display().to_string(),
                why: "it cannot be rewritten; check the disk space".into(),
            });
        }
        self.opened = None;
        self.damage.borrow_mut().clear();
        self.ready_to_write()?;
        Ok(damaged)
    }
}
