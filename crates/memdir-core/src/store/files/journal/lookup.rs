//! Finds records: of a change, of a file, and all of them from the newest to the oldest, past damaged ones.

use super::{
    Journal,
    frame::{PlacedRecord, START},
    log::LogPiece,
    record::{JournalRecord, LogPosition, RecordState},
    table,
};
use crate::base::{
    error::{Error, Result},
    version::Version,
};

/// What a journal knows of a change.
#[derive(Debug)]
pub(crate) enum Lookup {
    Recorded(Box<PlacedRecord>),
    /// It was never recorded here.
    Absent,
    /// Its record may have been here: records were dropped or damaged.
    Uncertain,
}

impl Journal {
    /// Looks up a change. With the position of the journal before the change, damage and compactions before it do not matter; times
    /// are not compared, because clocks are set back.
    pub(crate) fn find(&self, id: &str, position: Option<&LogPosition>) -> Result<Lookup> {
        let Some(opened) = &self.opened else { return Ok(Lookup::Uncertain) };
        let len = opened.log.len().map_err(|e| Error::io("read", &opened.log.path, e))?;
        let position = position.filter(|position| position.log == opened.log.random_name() && position.next <= len);
        let mut found = None;
        let mut is_uncertain = self.damaged_files() > position.map_or(0, |position| position.damaged);
        let from = position.map_or(opened.covered, |position| position.next);
        opened.log.pieces(from, len, &mut |piece| {
            match piece {
                LogPiece::Record(placed) if placed.record.id == id => found = Some(placed),
                LogPiece::Record(_) => {}
                // At the end there may be a record that a crash tore, or that is just being written.
                LogPiece::Hole(start, end) => is_uncertain |= end < len || opened.log.is_whole_tail(start)?,
            }
            Ok(())
        })?;
        if found.is_none() && position.is_none() {
            // The log was rewritten since, or the change was recorded by an older version.
            is_uncertain |= opened.log.floor() > START;
            self.walk_back(from, &mut |piece| {
                match piece {
                    LogPiece::Record(placed) if placed.record.id == id => found = Some(placed),
                    LogPiece::Record(_) => {}
                    LogPiece::Hole(..) => is_uncertain = true,
                }
                found.is_none()
            })?;
        }
        Ok(match found {
            Some(placed) => Lookup::Recorded(placed),
            None if is_uncertain => Lookup::Uncertain,
            None => Lookup::Absent,
        })
    }

    /// Returns the newest recorded version of a file: `None` if the journal does not have the file, `Some(None)` if it was removed.
    pub(crate) fn latest(&self, path: &str) -> Result<Option<Option<Version>>> {
        Ok(self.newest(path)?.map(|(placed, n)| placed.record.files[n].after))
    }

    /// Calls `each` with the applied changes from the newest to the oldest, and whether a damaged record is newer, until it returns
    /// `false`. A part of a change of several mounts counts as applied if `is_applied` says so, even if it is still open here.
    pub(crate) fn newest_first(
        &self,
        is_applied: &dyn Fn(&JournalRecord) -> bool,
        mut each: impl FnMut(&PlacedRecord, bool) -> bool,
    ) -> Result<()> {
        let Some(opened) = &self.opened else { return Ok(()) };
        let open = self.unfinished()?.filter(|placed| is_applied(&placed.record));
        if open.is_some_and(|placed| !each(&placed, false)) {
            return Ok(());
        }
        // A whole record with a wrong checksum at the end is damaged, and not one that is being written.
        let mut beneath = opened.log.is_whole_tail(opened.covered)? && opened.log.at(opened.covered).is_err();
        if beneath {
            self.notice_damage(opened.covered, 1);
        }
        self.walk_back(opened.covered, &mut |piece| match piece {
            LogPiece::Record(placed) if placed.state == RecordState::Done => each(&placed, beneath),
            LogPiece::Record(placed) => {
                if placed.state == RecordState::Unknown {
                    self.notice_damage(placed.offset, 1);
                    beneath = true;
                }
                true
            }
            LogPiece::Hole(..) => {
                beneath = true;
                true
            }
        })
    }

    /// Calls `each` with the records and damaged pieces before an offset, from the newest to the oldest, until it returns `false`.
    pub(super) fn walk_back(&self, from: u64, each: &mut dyn FnMut(LogPiece) -> bool) -> Result<()> {
        let Some(opened) = &self.opened else { return Ok(()) };
        let mut holes: Option<Vec<(u64, u64)>> = None;
        let mut end = from;
        while end > START {
            let piece = match opened.log.before(end) {
                Ok(placed) => LogPiece::Record(Box::new(placed)),
                Err(Error::Corrupt { .. }) => {
                    // Only a pass from the beginning finds where the damage begins.
                    let holes = match &mut holes {
                        Some(holes) => holes,
                        None => holes.insert(self.holes(end)?),
                    };
                    let (start, _) = holes.iter().copied().find(|hole| hole.1 == end).unwrap_or((START, end));
                    LogPiece::Hole(start, end)
                }
                Err(e) => return Err(e),
            };
            end = match &piece {
                LogPiece::Record(placed) => placed.offset,
                LogPiece::Hole(start, _) => *start,
            };
            if let LogPiece::Hole(start, end) = &piece {
                self.notice_damage(*start, opened.log.records_in((*start, *end))?);
            }
            if !each(piece) {
                break;
            }
        }
        Ok(())
    }

    /// Calls `each` with the records of one file, from the newest to the oldest, until it returns `false`.
    pub(crate) fn for_each_of_file(&self, path: &str, mut each: impl FnMut(&PlacedRecord, usize) -> bool) -> Result<()> {
        let mut at = self.newest(path)?;
        while let Some((placed, n)) = at {
            if !each(&placed, n) {
                break;
            }
            at = match placed.record.files[n].prev {
                Some(prev) => self.file_at(prev, path, placed.offset)?,
                None => None,
            };
        }
        Ok(())
    }

    pub(super) fn newest(&self, path: &str) -> Result<Option<(PlacedRecord, usize)>> {
        let Some(opened) = &self.opened else { return Ok(None) };
        let key = table::key(path);
        match opened.recent.get(&key).copied().or_else(|| opened.table.get(key)) {
            Some(offset) => self.file_at(offset, path, opened.covered),
            None => Ok(None),
        }
    }

    /// Returns the record of a file at an offset. If it is damaged: the next older one before `end` that has the file.
    fn file_at(&self, offset: u64, path: &str, end: u64) -> Result<Option<(PlacedRecord, usize)>> {
        let Some(opened) = &self.opened else { return Ok(None) };
        let position = |placed: &PlacedRecord| placed.record.files.iter().position(|file| file.p == path);
        match opened.log.at(offset) {
            Ok(placed) => {
                let n = position(&placed);
                return Ok(n.map(|n| (placed, n)));
            }
            Err(Error::Corrupt { .. }) => {}
            Err(e) => return Err(e),
        }
        let mut found = None;
        self.walk_back(end, &mut |piece| {
            if let LogPiece::Record(placed) = piece
                && placed.state == RecordState::Done
                && let Some(n) = position(&placed)
            {
                found = Some((*placed, n));
            }
            found.is_none()
        })?;
        Ok(found)
    }
}
