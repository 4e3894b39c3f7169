//! The audit after a torture run. Every acknowledged change must be present and exact; an interrupted one may be present or not, but
//! never in part. Every memory has one entrypoint line, the journal opens, and no temporary files are left.

use super::{
    changes::{self, ChangeStep, Model, SHARED_BOARD, SHARED_LOG, Unsure},
    worker,
};
use crate::{args::ChangeKind, exit::Failure};
use memdir_core::{ChangeFilter, ChangeId, Delete, List, Memdir, MemoryPath, Write, internal::base::path::strip_md};
use serde::Serialize;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::Path,
};

/// The result of an audit.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Audit {
    /// Acknowledged changes by kind.
    pub(crate) acknowledged: BTreeMap<String, u64>,
    /// Number of memories and lines that must be present.
    pub(crate) expected: u64,
    /// Number of these that are present and exact.
    pub(crate) kept: u64,
    /// Missing, or with an older text.
    pub(crate) lost: Vec<String>,
    /// Present in part, mixed, or more than once.
    pub(crate) torn: Vec<String>,
    /// Number of interrupted changes that left a consistent state.
    pub(crate) unsure: u64,
    /// Memories that the entrypoint does not list exactly once, and lines without a memory.
    pub(crate) entrypoint: Vec<String>,
    /// Errors of the journal.
    pub(crate) journal: Vec<String>,
    /// Leftover temporary files.
    pub(crate) litter: Vec<String>,
}

impl Audit {
    /// Whether there are no findings.
    pub(crate) fn is_clean(&self) -> bool {
        self.lost.is_empty() && self.torn.is_empty() && self.entrypoint.is_empty() && self.journal.is_empty() && self.litter.is_empty()
    }
}

/// Audits the memory and the logs of all processes.
pub(crate) fn audit(work: &Path, processes: u32, mix: &[ChangeKind]) -> Result<Audit, Failure> {
    let memdir = worker::open(work, changes::mounts(mix), "audit")?;
    settle(&memdir, mix)?;
    let mut found = files(&memdir)?;
    let mut audit = Audit::default();
    let log = found.remove(SHARED_LOG).unwrap_or_default();
    let board = found.remove(SHARED_BOARD).unwrap_or_default();
    let mut lines: HashMap<&str, u64> = HashMap::new();
    log.lines().for_each(|line| *lines.entry(line).or_default() += 1);
    for process in 0..processes {
        let model = changes::replay(process, mix, &std::fs::read_to_string(worker::log(work, process)).unwrap_or_default());
        for (kind, count) in &model.acknowledged {
            *audit.acknowledged.entry(format!("{kind:?}").to_lowercase()).or_default() += count;
        }
        audit.memories(process, &model, &mut found);
        audit.appended(process, &model, &mut lines);
        audit.board(process, &model, &board);
    }
    audit.torn.extend(lines.keys().map(|line| format!("{SHARED_LOG}: unexpected line {line:?}")));
    audit.torn.extend(found.keys().map(|name| format!("{name}: unexpected text")));
    for prefix in changes::mounts(mix) {
        audit.entrypoint(&memdir, work, prefix)?;
        audit.find_leftovers(&worker::root(work, prefix));
    }
    audit.journal(&memdir);
    for prefix in changes::mounts(mix) {
        audit.shared_changes(&memdir, &worker::open(work, &[prefix], "audit")?);
    }
    Ok(audit)
}

/// Makes a change in every mount, as the next writer would, so that what was interrupted last is settled. A log has no line in the
/// entrypoint, which stays as it is.
fn settle(memdir: &Memdir, mix: &[ChangeKind]) -> Result<(), Failure> {
    for prefix in changes::mounts(mix) {
        let name = if prefix.is_empty() { "logs/settled".to_owned() } else { format!("{prefix}/logs/settled") };
        memdir.write(&Write::create(MemoryPath::parse(&name)?, "settled"))?;
        memdir.delete(&Delete { path: MemoryPath::parse(&name)?, expect: None })?;
    }
    Ok(())
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
                Some(actual) if actual == *text => self.kept += 1,
                Some(actual) if text.starts_with(&actual) || !actual.contains("end of") => self.torn.push(name.clone()),
                Some(_) | None => self.lost.push(name.clone()),
            }
        }
        for unsure in &model.unsure {
            if is_consistent(process, unsure, found) {
                self.unsure += 1;
            } else {
                self.torn.push(format!("process {process}, change {}, interrupted: {:?}", unsure.n, unsure.step));
            }
        }
    }

    fn appended(&mut self, process: u32, model: &Model, lines: &mut HashMap<&str, u64>) {
        let mut occurrences = |n: u64| lines.remove(changes::line(process, n).trim_end()).unwrap_or(0);
        for n in &model.appended {
            self.expected += 1;
            match occurrences(*n) {
                1 => self.kept += 1,
                0 => self.lost.push(format!("{SHARED_LOG}: process {process} change {n}")),
                times => self.torn.push(format!("{SHARED_LOG}: process {process} change {n} occurs {times} times")),
            }
        }
        for unsure in model.unsure.iter().filter(|unsure| unsure.step == ChangeStep::Append) {
            if occurrences(unsure.n) > 1 {
                self.torn.push(format!("{SHARED_LOG}: process {process} change {} occurs twice", unsure.n));
            }
        }
    }

    fn board(&mut self, process: u32, model: &Model, board: &str) {
        let mark = format!("process {process}: ");
        let actual: Vec<&str> = board.lines().filter(|line| line.starts_with(&mark)).collect();
        let later = model.unsure.iter().filter(|unsure| unsure.step == ChangeStep::Board && unsure.n > model.board).map(|unsure| unsure.n);
        let valid: Vec<String> = std::iter::once(model.board).chain(later).map(|n| changes::board_line(process, n)).collect();
        self.expected += 1;
        match actual.as_slice() {
            [line] if valid.iter().any(|valid| valid == line) => self.kept += 1,
            [line] => self.lost.push(format!("{SHARED_BOARD}: {line:?} instead of {valid:?}")),
            _ => self.torn.push(format!("{SHARED_BOARD}: {} lines of process {process}", actual.len())),
        }
    }

    /// Counts the links in the files, independently of the code that wrote them.
    fn entrypoint(&mut self, memdir: &Memdir, work: &Path, prefix: &str) -> Result<(), Failure> {
        let root = worker::root(work, prefix);
        let mut reached: HashMap<String, u64> = HashMap::new();
        let mut pages = vec!["MEMORY.md".to_owned()];
        while let Some(page) = pages.pop() {
            let text = std::fs::read_to_string(root.join(&page)).unwrap_or_default();
            for target in targets(&text) {
                if memdir_core::internal::store::mounts::is_page_name(&target) {
                    pages.push(target);
                } else {
                    *reached.entry(strip_md(&target).to_owned()).or_default() += 1;
                }
            }
        }
        for memory in memdir.list(&List::default())?.memories {
            let (mount, name) = changes::split(&memory.name);
            match if mount == prefix { reached.remove(name) } else { Some(1) } {
                Some(1) => {}
                times => self.entrypoint.push(format!("{} has {} lines", memory.name, times.unwrap_or(0))),
            }
        }
        self.entrypoint.extend(reached.keys().map(|name| format!("a line links to {name}, which does not exist")));
        Ok(())
    }

    fn journal(&mut self, memdir: &Memdir) {
        // What an editor did is recorded only when memdir meets it.
        let by_memdir = |(kind, count): (&String, &u64)| if kind == "editor" { 0 } else { *count };
        let acknowledged: u64 = self.acknowledged.iter().map(by_memdir).sum();
        match memdir.history(&ChangeFilter::default()) {
            Ok(changes) => {
                // The creation of the board is one more change.
                if changes.len() as u64 <= acknowledged {
                    self.journal.push(format!("{} of {acknowledged} changes", changes.len()));
                }
                let mut seen = HashSet::new();
                self.journal
                    .extend(changes.iter().filter(|change| !seen.insert(&change.id)).map(|change| format!("{} is shown twice", change.id)));
                self.journal
                    .extend(changes.iter().filter(|change| change.incomplete).map(|change| format!("a part of {} is missing", change.id)));
            }
            Err(error) => self.journal.push(error.to_string()),
        }
        if memdir.store().damaged_records() > 0 {
            self.journal.push(format!("{} damaged records", memdir.store().damaged_records()));
        }
    }

    /// Every change that one mount shares with others is in the history of all of them.
    fn shared_changes(&mut self, all: &Memdir, one: &Memdir) {
        match (all.history(&ChangeFilter::default()), one.history(&ChangeFilter::default())) {
            (Ok(all), Ok(one)) => {
                let whole: HashSet<&ChangeId> = all.iter().map(|change| &change.id).collect();
                let missing = one.iter().filter(|change| !whole.contains(&change.id));
                self.journal.extend(missing.map(|change| format!("{} is only in one mount", change.id)));
            }
            (Err(error), _) | (_, Err(error)) => self.journal.push(error.to_string()),
        }
    }

    fn find_leftovers(&mut self, dir: &Path) {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.path().is_dir() {
                self.find_leftovers(&entry.path());
            } else if name.starts_with('.') {
                self.litter.push(entry.path().display().to_string());
            }
        }
    }
}

/// Whether an interrupted change left one of its two valid states. Removes its files from `found`.
fn is_consistent(process: u32, unsure: &Unsure, found: &mut BTreeMap<String, String>) -> bool {
    let before = unsure.before.as_ref();
    match &unsure.step {
        ChangeStep::Append | ChangeStep::Board => true,
        ChangeStep::Save { name } => found.remove(name).is_none_or(|actual| actual == changes::text(process, unsure.n)),
        ChangeStep::Edit { name } | ChangeStep::Editor { name } => {
            let actual = found.remove(name);
            actual.as_ref() == before || actual == before.map(|text| changes::edited(text, unsure.n))
        }
        ChangeStep::Rename { name, to } | ChangeStep::Move { name, to, .. } => {
            let (old, new) = (found.remove(name), found.remove(to));
            (old.as_ref() == before && new.is_none()) || (old.is_none() && new.as_ref() == before)
        }
        ChangeStep::Delete { name } => {
            let actual = found.remove(name);
            actual.is_none() || actual.as_ref() == before
        }
    }
}

/// The targets of the links in a text.
fn targets(text: &str) -> Vec<String> {
    let links = text.split("](").skip(1);
    links.filter_map(|rest| rest.split_once(')')).map(|(target, _)| target.trim_matches(['<', '>']).to_owned()).collect()
}

/// The audit itself is tested, since an audit that never fails proves nothing.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::TortureWorkerArgs;
    use clap::ValueEnum as _;
    use std::fs;

    const MIX: &[ChangeKind] = &[ChangeKind::Save, ChangeKind::Append, ChangeKind::Edit];
    /// Changes over several mounts.
    const MOVES: &[ChangeKind] = &[ChangeKind::Save, ChangeKind::Move, ChangeKind::Undo, ChangeKind::Redo, ChangeKind::Editor];

    /// The audit of one process's changes after `damage`.
    fn after(damage: impl Fn(&Path)) -> Audit {
        after_mix(MIX, damage)
    }

    fn after_mix(mix: &[ChangeKind], damage: impl Fn(&Path)) -> Audit {
        let work = tempfile::tempdir().unwrap();
        super::super::torture::board(work.path(), 1).unwrap();
        worker::run(&TortureWorkerArgs { work: work.path().to_owned(), number: 0, until: 12, mix: mix.to_vec() }).unwrap();
        damage(work.path());
        audit(work.path(), 1, mix).unwrap()
    }

    /// Every memory below a directory.
    fn memories(dir: &Path) -> Vec<std::path::PathBuf> {
        let entries = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
        entries.flat_map(|path| if path.is_dir() { memories(&path) } else { vec![path] }).collect()
    }

    #[test]
    fn a_memory_that_is_in_neither_or_in_both_mounts_is_found() {
        let clean = after_mix(MOVES, |_| {});
        assert!(clean.is_clean(), "{clean:#?}");
        let moved = |work: &Path| {
            let all = changes::MOUNTS.iter().flat_map(|prefix| memories(&worker::root(work, prefix).join("process-0")));
            all.into_iter().next().unwrap()
        };
        let lost = after_mix(MOVES, |work| fs::remove_file(moved(work)).unwrap());
        assert_eq!((lost.lost.len(), lost.entrypoint.len()), (1, 1), "{lost:#?}");
        let twice = after_mix(MOVES, |work| assert!(fs::copy(moved(work), worker::root(work, "team").join("copy.md")).is_ok()));
        assert_eq!((twice.torn.len(), twice.lost.len()), (1, 0), "{twice:#?}");
        let journal = after_mix(MOVES, |work| {
            let log = fs::read_dir(work.join("home/journal"))
                .unwrap()
                .flatten()
                .find(|dir| dir.file_name().to_string_lossy().starts_with("team"));
            fs::remove_dir_all(log.unwrap().path()).unwrap();
        });
        assert!(!journal.journal.is_empty(), "{journal:#?}");
    }

    fn replace(path: &Path, from: &str, to: &str) {
        let text = fs::read_to_string(path).unwrap();
        assert!(text.contains(from), "{from} is not in {text}");
        #[expect(clippy::disallowed_methods, reason = "this test damages memories on purpose")]
        fs::write(path, text.replacen(from, to, 1)).unwrap();
    }

    #[test]
    fn an_undamaged_run_has_no_findings() {
        let audit = after(|_| {});
        assert!(audit.is_clean(), "{audit:#?}");
        assert_eq!((audit.expected, audit.kept), (9, 9));
        assert_eq!(ChangeKind::value_variants().len(), 9, "a new kind of change needs its audit");
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
        let line = after(|work| replace(&memory(work, "shared/log.md"), &changes::line(0, 4), ""));
        assert_eq!(line.lost, ["shared/log: process 0 change 4"]);
        let twice = after(|work| replace(&memory(work, "shared/log.md"), &changes::line(0, 4), &changes::line(0, 4).repeat(2)));
        assert_eq!(twice.torn, ["shared/log: process 0 change 4 occurs 2 times"]);
        let board = after(|work| replace(&memory(work, "shared/board.md"), "process 0: 8;", "process 0: 2;"));
        assert_eq!(board.lost.len(), 1, "{board:#?}");
        let unlisted = after(|work| replace(&memory(work, "MEMORY.md"), "(process-0/change-0.md)", "(process-0/change-6.md)"));
        assert_eq!(unlisted.entrypoint.len(), 2, "{unlisted:#?}");
        let with_leftover = after(|work| drop(fs::File::create(memory(work, "process-0/.memdir-x-0.tmp")).unwrap()));
        assert_eq!(with_leftover.litter.len(), 1, "{with_leftover:#?}");
        let journal = after(|work| fs::remove_dir_all(work.join("home/journal")).unwrap());
        assert_eq!(journal.journal.len(), 1, "{journal:#?}");
    }
}
