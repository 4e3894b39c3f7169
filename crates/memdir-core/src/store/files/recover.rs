//! Recovery after a crash: the next holder of a mount's lock completes or rolls back the interrupted change. A file is changed
//! only if it still has the version in the record; later changes by other programs are kept.

use super::{
    FileStore, Spot, atomic,
    journal::{Placed, Progress},
};
use crate::base::{error::Result, version::Version};
use std::collections::BTreeSet;

/// The state of a file of an unfinished change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Now {
    Before,
    After,
    Other,
}

impl FileStore {
    /// Settles the open records of locked mounts. Returns the mounts that must be locked too because the same change affects them;
    /// nothing is done before.
    pub(super) fn recover(&self, locked: &BTreeSet<usize>) -> Result<BTreeSet<usize>> {
        let mut open: Vec<(usize, Placed)> = Vec::new();
        for mount in locked {
            let mut journal = self.journal(*mount);
            journal.ready_to_write()?;
            open.extend(journal.unfinished()?.map(|placed| (*mount, placed)));
        }
        let peers: BTreeSet<usize> = open
            .iter()
            .flat_map(|(_, placed)| &placed.record.peers)
            .filter_map(|root| self.mounts.iter().position(|mount| mount.root.path() == root))
            .collect();
        if !peers.is_subset(locked) {
            return Ok(peers);
        }
        let ids: BTreeSet<String> = open.iter().map(|(_, placed)| placed.record.id.clone()).collect();
        for id in ids {
            let parts: Vec<&(usize, Placed)> = open.iter().filter(|(_, placed)| placed.record.id == id).collect();
            self.settle(&id, &parts)?;
        }
        Ok(BTreeSet::new())
    }

    /// If all files are new, the change is complete. If any is old, it was not acknowledged and is rolled back.
    fn settle(&self, id: &str, parts: &[&(usize, Placed)]) -> Result<()> {
        let mut files: Vec<(Spot, Now, usize, usize)> = Vec::new();
        let mut displaced: Vec<(Spot, Vec<u8>)> = Vec::new();
        for (part, (mount, placed)) in parts.iter().enumerate() {
            // What an earlier recovery left; the temporary files of the change itself are looked at first.
            self.sweep_temps(*mount, placed, &["-back", "-undo"])?;
            for (n, file) in placed.record.files.iter().enumerate() {
                let spot = Spot { mount: *mount, rel: file.p.clone() };
                let now = self.read_exact(&spot)?.map(|stored| stored.version);
                let now = if now == file.after {
                    Now::After
                } else if now == file.before {
                    Now::Before
                } else {
                    Now::Other
                };
                if now == Now::After {
                    displaced.extend(self.displaced_by_crash(&spot, id, n, file.before)?);
                }
                files.push((spot, now, part, n));
            }
        }
        let failed = parts.iter().any(|(_, placed)| placed.progress == Progress::Failed);
        let made = !failed && files.iter().all(|(_, now, ..)| *now != Now::Before) && !self.lacks_a_part(id, parts)?;
        if !made {
            for (spot, now, part, n) in &files {
                if *now == Now::After {
                    let (before, after) = (parts[*part].1.record.files[*n].before, parts[*part].1.record.files[*n].after);
                    let bytes = match before {
                        Some(version) => self.journal(spot.mount).text(&spot.rel, version)?,
                        None => None,
                    };
                    if before.is_none() || bytes.is_some() {
                        let saved = self.put_now(spot, after, bytes.as_deref(), &format!("{id}-undo"))?;
                        displaced.extend(saved.into_iter().map(|bytes| (spot.clone(), bytes)));
                    }
                }
            }
        }
        // Before the record is settled, because later no process looks for them; but after what they contain is recorded.
        let keep = !displaced.is_empty();
        if !keep {
            self.clean_up(parts, made)?;
        }
        for (mount, placed) in parts {
            self.journal(*mount).finish(placed, if made { Progress::Done } else { Progress::Void })?;
        }
        let at = parts.iter().map(|(_, placed)| placed.record.at).max().unwrap_or(0);
        displaced.iter().for_each(|(spot, bytes)| self.record_content(spot, bytes, at));
        if keep { self.clean_up(parts, made) } else { Ok(()) }
    }

    /// Removes the temporary files of a change that crashed, and the directories that it created for nothing.
    fn clean_up(&self, parts: &[&(usize, Placed)], made: bool) -> Result<()> {
        for (mount, placed) in parts {
            self.sweep_temps(*mount, placed, &[""])?;
            if !made {
                let open = self.mounts[*mount].root.open()?;
                placed.record.files.iter().filter(|file| file.before.is_none()).for_each(|file| atomic::prune(&open, &file.p));
            }
        }
        Ok(())
    }

    /// Returns the save of another program that a change replaced just before it crashed: the temporary file has it, and it is not
    /// the version that the change expected.
    fn displaced_by_crash(&self, spot: &Spot, id: &str, n: usize, before: Option<Version>) -> Result<Option<(Spot, Vec<u8>)>> {
        let left = atomic::leftover(&self.mounts[spot.mount].root.open()?, &spot.rel, &atomic::temp_name(id, n));
        Ok(left.filter(|bytes| Some(Version::from_content(bytes)) != before).map(|bytes| (spot.clone(), bytes)))
    }

    /// Removes the temporary files that a change left.
    fn sweep_temps(&self, mount: usize, placed: &Placed, suffixes: &[&str]) -> Result<()> {
        let open = self.mounts[mount].root.open()?;
        let rels: Vec<String> = placed.record.files.iter().map(|file| file.p.clone()).collect();
        for suffix in suffixes {
            atomic::sweep(&open, &format!("{}{suffix}", placed.record.id), &rels);
        }
        Ok(())
    }

    /// Whether a mount of the change has no record of it: then its files are old, and the change was not applied.
    fn lacks_a_part(&self, id: &str, parts: &[&(usize, Placed)]) -> Result<bool> {
        for root in parts.iter().flat_map(|(_, placed)| &placed.record.peers) {
            let Some(peer) = self.mounts.iter().position(|mount| mount.root.path() == root) else { continue };
            if parts.iter().any(|(mount, _)| *mount == peer) {
                continue;
            }
            let mut done = false;
            self.journal(peer).newest_first(|placed| {
                done = placed.record.id == id;
                !done
            })?;
            if !done {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
