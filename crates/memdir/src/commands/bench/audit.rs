//! What torture left: every acknowledged change must be there, exactly; one that was cut off may be there or not, but
//! whole; every memory has one line; the journal opens; nothing else lies about.

use super::{
    deeds::{self, Model, SHARED_BOARD, SHARED_LOG, Step, Unsure},
    worker,
};
use crate::{args::Deed, exit::Failure};
use memdir_core::{base::path::strip_md, memdir::Memdir, operations::list::List, store::ChangeFilter};
use serde::Serialize;
use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

/// The outcome.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Audit {
    /// Acknowledged changes by kind.
    pub(crate) acknowledged: BTreeMap<String, u64>,
    /// Memories and lines that must be there.
    pub(crate) expected: u64,
    /// Of these, there as they should be.
    pub(crate) kept: u64,
    /// Not there, or with an older text.
    pub(crate) lost: Vec<String>,
    /// There in part, mixed or twice.
    pub(crate) torn: Vec<String>,
    /// Changes that were cut off, and left whole.
    pub(crate) unsure: u64,
    /// Memories that are not reachable from the entrypoint exactly once, and lines that lead nowhere.
    pub(crate) entrypoint: Vec<String>,
    /// What is wrong with the journal.
    pub(crate) journal: Vec<String>,
    /// Files nobody should have left.
    pub(crate) litter: Vec<String>,
}

impl Audit {
    /// Whether everything is as it must be.
    pub(crate) fn is_clean(&self) -> bool {
        self.lost.is_empty() && self.torn.is_empty() && self.entrypoint.is_empty() && self.journal.is_empty() && self.litter.is_empty()
    }
}

/// Looks at everything.
pub(crate) fn audit(work: &Path, processes: u32, mix: &[Deed]) -> Result<Audit, Failure> {
    let memdir = worker::open(work, "audit")?;
    let mut found = files(&memdir)?;
    let mut audit = Audit::default();
    let log = found.remove(SHARED_LOG).unwrap_or_default();
    let board = found.remove(SHARED_BOARD).unwrap_or_default();
    let mut lines: HashMap<&str, u64> = HashMap::new();
    log.lines().for_each(|line| *lines.entry(line).or_default() += 1);
    for process in 0..processes {
        let model = deeds::replay(process, mix, &std::fs::read_to_string(worker::log(work, process)).unwrap_or_default());
        for (deed, count) in &model.acknowledged {
            *audit.acknowledged.entry(format!("{deed:?}").to_lowercase()).or_default() += count;
        }
        audit.memories(process, &model, &mut found);
        audit.appended(process, &model, &mut lines);
        audit.board(process, &model, &board);
    }
    audit.torn.extend(lines.keys().map(|line| format!("{SHARED_LOG}: {line:?} was never written so")));
    audit.torn.extend(found.keys().map(|name| format!("{name} was never written so")));
    audit.entrypoint(&memdir, work)?;
    audit.journal(&memdir);
    audit.litter(&worker::memory(work));
    Ok(audit)
}

fn files(memdir: &Memdir) -> Result<BTreeMap<String, String>, Failure> {
    let mut found = BTreeMap::new();
    for memory in memdir.list(&List::default())?.memories {
        if let Some(stored) = memdir.store().get(&memory.path)? {
            found.insert(memory.path.name().to_owned(), String::from_utf8_lossy(&stored.bytes).into_owned());
        }
    }
    Ok(found)
}

impl Audit {
    fn memories(&mut self, process: u32, model: &Model, found: &mut BTreeMap<String, String>) {
        for (name, text) in &model.texts {
            self.expected += 1;
            match found.remove(name) {
                Some(there) if there == *text => self.kept += 1,
                Some(there) if text.starts_with(&there) || !there.contains("end of") => self.torn.push(name.clone()),
                Some(_) | None => self.lost.push(name.clone()),
            }
        }
        for unsure in &model.unsure {
            if outcome(process, unsure, found) {
                self.unsure += 1;
            } else {
                self.torn.push(format!("process {process}, change {}, which was cut off: {:?}", unsure.n, unsure.step));
            }
        }
    }

    fn appended(&mut self, process: u32, model: &Model, lines: &mut HashMap<&str, u64>) {
        let mut take = |n: u64| lines.remove(deeds::line(process, n).trim_end()).unwrap_or(0);
        for n in &model.appended {
            self.expected += 1;
            match take(*n) {
                1 => self.kept += 1,
                0 => self.lost.push(format!("{SHARED_LOG}: process {process} change {n}")),
                times => self.torn.push(format!("{SHARED_LOG}: process {process} change {n} is there {times} times")),
            }
        }
        for unsure in model.unsure.iter().filter(|unsure| unsure.step == Step::Append) {
            if take(unsure.n) > 1 {
                self.torn.push(format!("{SHARED_LOG}: process {process} change {} is there twice", unsure.n));
            }
        }
    }

    fn board(&mut self, process: u32, model: &Model, board: &str) {
        let mark = format!("process {process}: ");
        let there: Vec<&str> = board.lines().filter(|line| line.starts_with(&mark)).collect();
        let later = model.unsure.iter().filter(|unsure| unsure.step == Step::Board && unsure.n > model.board).map(|unsure| unsure.n);
        let lawful: Vec<String> = std::iter::once(model.board).chain(later).map(|n| deeds::board_line(process, n)).collect();
        self.expected += 1;
        match there.as_slice() {
            [line] if lawful.iter().any(|lawful| lawful == line) => self.kept += 1,
            [line] => self.lost.push(format!("{SHARED_BOARD}: {line:?} instead of {lawful:?}")),
            _ => self.torn.push(format!("{SHARED_BOARD}: {} lines of process {process}", there.len())),
        }
    }

    /// Counts links in the files themselves, without asking the code that wrote them.
    fn entrypoint(&mut self, memdir: &Memdir, work: &Path) -> Result<(), Failure> {
        let root = worker::memory(work);
        let mut reached: HashMap<String, u64> = HashMap::new();
        let mut pages = vec!["MEMORY.md".to_owned()];
        while let Some(page) = pages.pop() {
            let text = std::fs::read_to_string(root.join(&page)).unwrap_or_default();
            for target in targets(&text) {
                if memdir_core::store::mounts::is_page_name(&target) {
                    pages.push(target);
                } else {
                    *reached.entry(strip_md(&target).to_owned()).or_default() += 1;
                }
            }
        }
        for memory in memdir.list(&List::default())?.memories {
            match reached.remove(&memory.name) {
                Some(1) => {}
                times => self.entrypoint.push(format!("{} has {} lines", memory.name, times.unwrap_or(0))),
            }
        }
        self.entrypoint.extend(reached.keys().map(|name| format!("a line leads to {name}, which is not there")));
        Ok(())
    }

    fn journal(&mut self, memdir: &Memdir) {
        let acknowledged: u64 = self.acknowledged.values().sum();
        match memdir.history(&ChangeFilter::default()) {
            // One more is the board itself.
            Ok(changes) if (changes.len() as u64) > acknowledged => {}
            Ok(changes) => self.journal.push(format!("it knows {} changes of {acknowledged}", changes.len())),
            Err(error) => self.journal.push(error.to_string()),
        }
    }

    fn litter(&mut self, dir: &Path) {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.path().is_dir() {
                self.litter(&entry.path());
            } else if name.starts_with('.') {
                self.litter.push(entry.path().display().to_string());
            }
        }
    }
}

/// Whether a change that was cut off left one of its two lawful states; takes its files out of `found`.
fn outcome(process: u32, unsure: &Unsure, found: &mut BTreeMap<String, String>) -> bool {
    let before = unsure.before.as_ref();
    match &unsure.step {
        Step::Append | Step::Board => true,
        Step::Save { name } => found.remove(name).is_none_or(|there| there == deeds::text(process, unsure.n)),
        Step::Edit { name } => {
            let there = found.remove(name);
            there.as_ref() == before || there == before.map(|text| deeds::edited(text, unsure.n))
        }
        Step::Rename { name, to } => {
            let (old, new) = (found.remove(name), found.remove(to));
            (old.as_ref() == before && new.is_none()) || (old.is_none() && new.as_ref() == before)
        }
        Step::Delete { name } => {
            let there = found.remove(name);
            there.is_none() || there.as_ref() == before
        }
    }
}

/// Where the links of a text lead.
fn targets(text: &str) -> Vec<String> {
    let behind = text.split("](").skip(1);
    behind.filter_map(|rest| rest.split_once(')')).map(|(target, _)| target.trim_matches(['<', '>']).to_owned()).collect()
}

/// An audit that cannot fail proves nothing.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::TortureWorker;
    use clap::ValueEnum as _;
    use std::fs;

    const MIX: &[Deed] = &[Deed::Save, Deed::Append, Deed::Edit];

    /// One process's work, then what `spoil` does to it.
    fn after(spoil: impl Fn(&Path)) -> Audit {
        let work = tempfile::tempdir().unwrap();
        super::super::torture::board(work.path(), 1).unwrap();
        worker::run(&TortureWorker { work: work.path().to_owned(), number: 0, until: 12, mix: MIX.to_vec() }).unwrap();
        spoil(work.path());
        audit(work.path(), 1, MIX).unwrap()
    }

    fn replace(path: &Path, from: &str, to: &str) {
        let text = fs::read_to_string(path).unwrap();
        assert!(text.contains(from), "{from} is not in {text}");
        #[expect(clippy::disallowed_methods, reason = "this test damages memories on purpose")]
        fs::write(path, text.replacen(from, to, 1)).unwrap();
    }

    #[test]
    fn what_is_whole_is_clean() {
        let audit = after(|_| {});
        assert!(audit.is_clean(), "{audit:#?}");
        assert_eq!((audit.expected, audit.kept), (9, 9));
        assert_eq!(Deed::value_variants().len(), 5, "a new deed needs its audit");
    }

    #[test]
    fn every_kind_of_damage_is_found() {
        let memory = |work: &Path, name: &str| worker::memory(work).join(name);
        let lost = after(|work| fs::remove_file(memory(work, "process-0/change-6.md")).unwrap());
        assert_eq!((lost.lost.len(), lost.entrypoint.len()), (1, 1), "{lost:#?}");
        let torn = after(|work| replace(&memory(work, "process-0/change-9.md"), "end of 0-9\n", ""));
        assert_eq!(torn.torn, ["process-0/change-9"]);
        let old = after(|work| replace(&memory(work, "process-0/change-9.md"), "change 9", "change 8"));
        assert_eq!(old.lost, ["process-0/change-9"]);
        let line = after(|work| replace(&memory(work, "shared/log.md"), &deeds::line(0, 4), ""));
        assert_eq!(line.lost, ["shared/log: process 0 change 4"]);
        let twice = after(|work| replace(&memory(work, "shared/log.md"), &deeds::line(0, 4), &deeds::line(0, 4).repeat(2)));
        assert_eq!(twice.torn, ["shared/log: process 0 change 4 is there 2 times"]);
        let board = after(|work| replace(&memory(work, "shared/board.md"), "process 0: 8;", "process 0: 2;"));
        assert_eq!(board.lost.len(), 1, "{board:#?}");
        let unlisted = after(|work| replace(&memory(work, "MEMORY.md"), "(process-0/change-0.md)", "(process-0/change-6.md)"));
        assert_eq!(unlisted.entrypoint.len(), 2, "{unlisted:#?}");
        let litter = after(|work| drop(fs::File::create(memory(work, "process-0/.memdir-x-0.tmp")).unwrap()));
        assert_eq!(litter.litter.len(), 1, "{litter:#?}");
        let journal = after(|work| fs::remove_dir_all(work.join("home/journal")).unwrap());
        assert_eq!(journal.journal.len(), 1, "{journal:#?}");
    }
}
