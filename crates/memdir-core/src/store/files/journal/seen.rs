//! What the files in the journal looked like when they were last compared with it, so that the next comparison reads only files that
//! may have changed. Derived: without it, every file is read once. An invalid table is ignored.

use super::{Journal, RecordState, frame::START, log::LogPiece};
use crate::{
    base::{disk, error::Result, version::Version},
    store::Stamp,
};
use std::{collections::BTreeMap, io::Write as _};

const HEAD: &[u8; 16] = b"memdir seen   1\n";
/// The name of the table in the directory of a journal.
const SEEN_FILE: &str = "seen";
/// Head, the log's name, covered length, checksum.
const FRONT: usize = 16 + 16 + 8 + 8;
/// A file that changed this shortly before it was read may change again without a new stamp.
const RACY_NS: i64 = 2_000_000_000;

/// The state of one file when it was last compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SeenFile {
    /// Not compared since its last record.
    Unknown,
    /// It did not exist, as recorded.
    Absent,
    /// It had this stamp and the recorded version.
    Present(Stamp, Version),
}

/// The files in a journal, with their states.
#[derive(Debug, Default)]
pub(crate) struct SeenFiles {
    log: [u8; 16],
    /// The end of the newest record that is included.
    covered: u64,
    pub(crate) files: BTreeMap<String, SeenFile>,
    is_changed: bool,
}

impl SeenFiles {
    /// Loads the table and includes what was recorded since. The journal must be open.
    pub(crate) fn load(journal: &Journal) -> Result<SeenFiles> {
        let Some(opened) = &journal.opened else { return Ok(SeenFiles::default()) };
        let saved = std::fs::read(journal.dir.join(SEEN_FILE)).ok().and_then(|bytes| SeenFiles::parse(&bytes)).unwrap_or_default();
        if saved.log == opened.log.name && saved.covered <= opened.covered {
            let mut seen = saved;
            seen.catch_up(journal)?;
            return Ok(seen);
        }
        // Another log, for example a compacted one: a file whose recorded version is that of its stamp is still known.
        let mut seen = SeenFiles { log: opened.log.name, covered: START, files: BTreeMap::new(), is_changed: true };
        let mut latest: BTreeMap<String, Option<Version>> = BTreeMap::new();
        journal.records_from(START, &mut |path, after| {
            latest.insert(path.to_owned(), after);
        })?;
        seen.files = latest
            .into_iter()
            .map(|(path, after)| {
                let state = match (saved.files.get(&path), after) {
                    (Some(SeenFile::Absent), None) => SeenFile::Absent,
                    (Some(SeenFile::Present(stamp, version)), Some(after)) if *version == after => SeenFile::Present(*stamp, *version),
                    _ => SeenFile::Unknown,
                };
                (path, state)
            })
            .collect();
        seen.covered = opened.covered;
        Ok(seen)
    }

    /// Includes what was recorded since the table was made.
    pub(crate) fn catch_up(&mut self, journal: &Journal) -> Result<()> {
        let Some(opened) = &journal.opened else { return Ok(()) };
        if opened.log.name != self.log || opened.covered == self.covered {
            return Ok(());
        }
        let files = &mut self.files;
        journal.records_from(self.covered, &mut |path, _| {
            files.insert(path.to_owned(), SeenFile::Unknown);
        })?;
        self.covered = opened.covered;
        self.is_changed = true;
        Ok(())
    }

    /// Sets the state of a file.
    pub(crate) fn set(&mut self, path: &str, state: SeenFile) {
        match self.files.get_mut(path) {
            Some(known) if *known == state => {}
            Some(known) => {
                *known = state;
                self.is_changed = true;
            }
            None => {
                self.files.insert(path.to_owned(), state);
                self.is_changed = true;
            }
        }
    }

    /// Saves the table if it changed. `started_ns` is a time before the first file was read. Best effort.
    pub(crate) fn save(&self, journal: &Journal, started_ns: i64) {
        if self.is_changed {
            // Any process may replace the table at any time: each version of it is true.
            let _ = disk::replace(&journal.dir.join(SEEN_FILE), disk::Replace::DERIVED, |file| file.write_all(&self.to_bytes(started_ns)));
        }
    }

    fn to_bytes(&self, started_ns: i64) -> Vec<u8> {
        let mut entries = Vec::with_capacity(self.files.len() * 96);
        for (path, state) in &self.files {
            entries.extend_from_slice(&(path.len() as u32).to_be_bytes());
            entries.extend_from_slice(path.as_bytes());
            match state {
                SeenFile::Absent => entries.push(1),
                SeenFile::Present(stamp, version) if stamp.mtime_ns.max(stamp.ctime_ns) <= started_ns.saturating_sub(RACY_NS) => {
                    entries.push(2);
                    entries.extend_from_slice(&stamp.size.to_be_bytes());
                    entries.extend_from_slice(&stamp.mtime_ns.to_be_bytes());
                    entries.extend_from_slice(&stamp.ctime_ns.to_be_bytes());
                    entries.extend_from_slice(&stamp.inode.to_be_bytes());
                    entries.extend_from_slice(&version.to_bytes());
                }
                SeenFile::Unknown | SeenFile::Present(..) => entries.push(0),
            }
        }
        let mut bytes = [HEAD.as_slice(), &self.log, &self.covered.to_be_bytes()].concat();
        bytes.extend_from_slice(&super::table::checksum(&bytes, &entries));
        bytes.extend_from_slice(&entries);
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<SeenFiles> {
        let (front, mut rest) = bytes.split_at_checked(FRONT)?;
        if &front[..16] != HEAD || front[40..48] != super::table::checksum(&front[..40], rest) {
            return None;
        }
        let mut seen = SeenFiles { log: front[16..32].try_into().ok()?, covered: number(&front[32..40])?, ..SeenFiles::default() };
        let mut take = |len: usize| {
            let (part, left) = rest.split_at_checked(len)?;
            rest = left;
            Some(part)
        };
        while let Some(len) = take(4) {
            let len = u32::from_be_bytes(len.try_into().ok()?) as usize;
            let path = std::str::from_utf8(take(len)?).ok()?.to_owned();
            let state = match take(1)? {
                [1] => SeenFile::Absent,
                [2] => {
                    let stamp = Stamp {
                        size: number(take(8)?)?,
                        mtime_ns: number(take(8)?)?.cast_signed(),
                        ctime_ns: number(take(8)?)?.cast_signed(),
                        inode: number(take(8)?)?,
                    };
                    SeenFile::Present(stamp, Version::from_bytes(take(16)?.try_into().ok()?))
                }
                _ => SeenFile::Unknown,
            };
            seen.files.insert(path, state);
        }
        Some(seen)
    }
}

fn number(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(bytes.try_into().ok()?))
}

impl Journal {
    /// Calls `each` with the files of the applied records from an offset on, oldest first, and their versions after the record.
    fn records_from(&self, offset: u64, each: &mut dyn FnMut(&str, Option<Version>)) -> Result<()> {
        let Some(opened) = &self.opened else { return Ok(()) };
        opened.log.pieces(offset, opened.covered, &mut |piece| {
            match piece {
                LogPiece::Record(placed) if placed.state == RecordState::Done => {
                    placed.record.files.iter().for_each(|file| each(&file.p, file.after));
                }
                LogPiece::Record(placed) if placed.state == RecordState::Unknown => self.notice_damage(placed.offset, 1),
                LogPiece::Record(_) => {}
                LogPiece::Hole(start, end) => self.notice_damage(start, opened.log.records_in((start, end))?),
            }
            Ok(())
        })
    }

    /// Whether a record that was met, or the last one, is damaged: then the newest version of a file may be unknown.
    pub(crate) fn is_damaged(&self) -> Result<bool> {
        let Some(opened) = &self.opened else { return Ok(false) };
        Ok(self.damaged() > 0 || (opened.log.is_whole_tail(opened.covered)? && opened.log.at(opened.covered).is_err()))
    }

    /// Returns the last version that a file had, with its size in bytes, even if the file was removed since.
    pub(crate) fn last_existing(&self, path: &str) -> Result<Option<(Version, u64)>> {
        let mut found = None;
        self.for_each_of_file(path, |placed, n| {
            let file = &placed.record.files[n];
            found = file.after.map(|after| (after, file.pre + file.n + file.suf));
            found.is_none()
        })?;
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(time: i64) -> Stamp {
        Stamp { size: 7, mtime_ns: time, ctime_ns: -1, inode: u64::MAX }
    }

    #[test]
    fn a_table_is_read_as_it_was_saved_and_ignored_if_damaged() {
        let files = [
            ("a.md".to_owned(), SeenFile::Present(stamp(5), Version::from_content(b"a"))),
            ("ä/b.md".to_owned(), SeenFile::Absent),
            ("c.md".to_owned(), SeenFile::Unknown),
        ];
        let seen = SeenFiles { log: [3; 16], covered: 99, files: files.clone().into(), is_changed: true };
        let bytes = seen.to_bytes(RACY_NS + 5);
        let read = SeenFiles::parse(&bytes).unwrap();
        assert_eq!((read.log, read.covered, read.files), ([3; 16], 99, files.into()));
        for at in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1;
            assert!(SeenFiles::parse(&bytes).is_none(), "{at}");
            assert!(SeenFiles::parse(&bytes[..at]).is_none(), "{at}");
        }
    }

    #[test]
    fn a_file_that_just_changed_is_read_again() {
        let file = SeenFile::Present(stamp(6), Version::from_content(b"a"));
        let seen = SeenFiles { files: [("a.md".to_owned(), file)].into(), ..SeenFiles::default() };
        assert_eq!(SeenFiles::parse(&seen.to_bytes(RACY_NS + 5)).unwrap().files["a.md"], SeenFile::Unknown);
    }
}
