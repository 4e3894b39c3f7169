//! The same random history on every store: in memory, over directories, on PostgreSQL. Every answer and every state is the same.

use crate::support::{TENANT, TestDatabase, check_sequences, path};
use jiff::{Timestamp, tz::TimeZone};
use memdir_core::{
    Actor, ChangeFilter, Clock, Delete, Edit, FileStore, Import, Incoming, List, Memdir, MemoryPath, Mount, Needle, Phrase, Read, Store,
    UndoTarget, Write, WriteMode, testing::RamStore,
};
use memdir_postgres::{NamespaceMount, PostgresStore};
use proptest::{
    collection::vec,
    prelude::{Just, Strategy, any, prop_oneof},
    sample::select,
    test_runner::{Config, TestRunner},
};
use serde_json::{Value, json};
use std::sync::{
    Arc,
    atomic::{AtomicI64, AtomicU32, Ordering},
};

/// One step of a history.
#[derive(Debug, Clone)]
enum Step {
    Write { name: &'static str, text: String, mode: WriteMode },
    Edit { name: &'static str, with: String },
    Rename { from: &'static str, to: &'static str },
    Delete { name: &'static str },
    Import { names: Vec<&'static str> },
    Undo { by: Target },
    Redo { by: Target },
    Restore { name: &'static str, version: usize },
    Forget,
    Repair,
    Propose { actor: &'static str },
}

/// What an undo names.
#[derive(Debug, Clone, Copy)]
enum Target {
    Mine,
    Last,
    /// The n-th newest change.
    Nth(usize),
}

/// Names that collide, nest and need normalization; the last ones are in a second mount, if there is one. A file at the place of a folder
/// is refused in other words on disk, by the operating system.
const NAMES: [&str; 9] = ["a", "deep/b", "deep/er/c", "über/ö", "deep", "A", "user/a", "user/deep/b", "user/日本"];

fn step(names: &'static [&'static str], other: Step) -> impl Strategy<Value = Step> {
    let name = move || select(names);
    let words = || {
        select(vec![
            "tea", "the old deploy key", "[[deep/b]] says so", "Zanzibar 7", "日本\r\n\r\nline", "---\nname: x\ntype: user\n---\n\nbody",
        ])
    };
    let text = move || vec(words(), 1..4).prop_map(|words| words.join("\n") + "\n");
    let mode = || select(vec![WriteMode::Create, WriteMode::Replace, WriteMode::Append]);
    let target = || prop_oneof![2 => Just(Target::Mine), 1 => Just(Target::Last), 2 => (0..6usize).prop_map(Target::Nth)];
    prop_oneof![
        8 => (name(), text(), mode()).prop_map(|(name, text, mode)| Step::Write { name, text, mode }),
        2 => (name(), words()).prop_map(|(name, with)| Step::Edit { name, with: with.into() }),
        3 => (name(), name()).prop_map(|(from, to)| Step::Rename { from, to }),
        2 => name().prop_map(|name| Step::Delete { name }),
        1 => vec(name(), 1..4).prop_map(|names| Step::Import { names }),
        4 => target().prop_map(|by| Step::Undo { by }),
        3 => target().prop_map(|by| Step::Redo { by }),
        2 => (name(), any::<usize>()).prop_map(|(name, version)| Step::Restore { name, version }),
        1 => Just(other),
        1 => Just(Step::Repair),
        2 => select(vec!["ada", "bob"]).prop_map(|actor| Step::Propose { actor }),
    ]
}

/// A clock with a second for each step: changes of equal times have no order among the journals of directories.
struct StepClock(AtomicI64);

impl Clock for StepClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.0.load(Ordering::Relaxed)).unwrap()
    }

    fn zone(&self) -> TimeZone {
        TimeZone::UTC
    }
}

/// A store under test, with the actor of its next step.
struct Subject {
    name: &'static str,
    clock: Arc<StepClock>,
    memdir: Memdir,
    /// The ids of its changes, oldest first.
    ids: Vec<String>,
}

impl Subject {
    fn new(name: &'static str, store: Arc<dyn Store>) -> Subject {
        let clock = Arc::new(StepClock(AtomicI64::new(1_772_000_000)));
        let memdir = Memdir::with_clock(store, Actor { name: "ada".into(), session: None }, clock.clone());
        Subject { name, clock, memdir, ids: Vec::new() }
    }

    /// Makes one step and returns its answer, without what differs by nature: ids and ages.
    fn make(&mut self, step: &Step) -> String {
        self.clock.0.fetch_add(1, Ordering::Relaxed);
        let answer = match self.answer(step) {
            Ok(answer) => format!("{answer:#}"),
            Err(error) => format!("{}: {error}", error.code()),
        };
        for change in self.memdir.store().changes(&ChangeFilter::default()).unwrap().into_iter().rev() {
            if !self.ids.contains(&change.id.0) {
                self.ids.push(change.id.0);
            }
        }
        self.neutral(answer)
    }

    fn neutral(&self, mut text: String) -> String {
        for (n, id) in self.ids.iter().enumerate() {
            text = text.replace(id.as_str(), &format!("change-{n}"));
        }
        text
    }

    fn answer(&mut self, step: &Step) -> memdir_core::Result<Value> {
        let memdir = &self.memdir;
        let target = |by: &Target| match by {
            Target::Mine => UndoTarget::Mine,
            Target::Last => UndoTarget::Last,
            Target::Nth(n) => UndoTarget::Id(self.ids.iter().rev().nth(*n).cloned().unwrap_or("nothing".into())),
        };
        Ok(match step {
            Step::Write { name, text, mode } => {
                let saved = memdir.write(&Write { mode: *mode, ..Write::create(path(name), text.clone()) })?;
                let mut value = json!(saved);
                // Nothing was changed, so this id is of no change.
                if !memdir.store().changes(&ChangeFilter::default())?.iter().any(|change| Some(&change.id) == saved.change.as_ref()) {
                    value["change"] = Value::Null;
                }
                value
            }
            Step::Edit { name, with } => {
                let needle = Needle::Literal("old".into());
                json!(memdir.edit(&Edit { path: path(name), needle, with: with.clone(), all: true, expect: None, final_newline: false })?)
            }
            Step::Rename { from, to } => json!(memdir.rename(&path(from), &path(to))?),
            Step::Delete { name } => json!(memdir.delete(&Delete { path: path(name), expect: None })?),
            Step::Import { names } => {
                let memory = |name: &&str| Incoming { name: (*name).into(), text: format!("imported {name}\n") };
                json!(memdir.import(&Import { memories: names.iter().map(memory).collect(), ..Import::default() })?)
            }
            Step::Undo { by } => json!(memdir.undo(&target(by))?),
            Step::Redo { by } => json!(memdir.redo(&target(by))?),
            Step::Restore { name, version } => {
                let versions = versions(memdir, &path(name))?;
                let Some(version) = versions.get(version % versions.len().max(1)) else { return Ok(Value::Null) };
                json!(memdir.restore(&path(name), version)?)
            }
            Step::Forget => {
                let phrase = Phrase::parse("Zanzibar")?;
                let forgotten = memdir.forget(&phrase)?;
                // The number of versions depends on how a store keeps them.
                json!(format!("{:?} {}", forgotten.redacted, forgotten.removed))
            }
            Step::Repair => json!(memdir.repair(true)?),
            Step::Propose { actor } => {
                self.memdir = memdir.for_actor(Actor { name: (*actor).into(), session: None });
                Value::Null
            }
        })
    }

    /// Everything that can be asked about the state.
    fn state(&self, names: &[&str]) -> String {
        let memdir = &self.memdir;
        let store = memdir.store();
        let walk = store.list("").unwrap();
        let mut state: Vec<Value> = Vec::new();
        for entry in &walk.entries {
            let stored = store.get(&entry.path).unwrap().unwrap();
            state.push(json!([entry.path.as_str(), entry.stamp.size, stored.version, String::from_utf8_lossy(&stored.bytes)]));
            let several = store.get_many(std::slice::from_ref(&entry.path)).unwrap();
            assert_eq!(several, [Some(stored)]);
        }
        state.push(json!(walk.problems.iter().map(|problem| format!("{problem:?}")).collect::<Vec<_>>()));
        for under in ["deep", "user", "deep/er", "a"] {
            let listed = store.list(under).unwrap().entries;
            state.push(json!(listed.iter().map(|entry| entry.path.as_str()).collect::<Vec<_>>()));
        }
        state.push(json!(memdir.history(&ChangeFilter::default()).unwrap()));
        state.push(json!(memdir.history(&ChangeFilter { most: 3, ..ChangeFilter::default() }).unwrap()));
        for name in names {
            let filter = ChangeFilter { path: Some(path(name)), ..ChangeFilter::default() };
            state.push(json!([name, memdir.history(&filter).unwrap()]));
            for version in versions(memdir, &path(name)).unwrap() {
                let text = store.text_at(&path(name), version.parse().unwrap());
                state.push(json!([
                    version,
                    text.map(|text| text.map(|text| String::from_utf8_lossy(&text).into_owned())).map_err(|e| e.to_string())
                ]));
            }
            state.push(json!(memdir.read(&Read::all(path(name))).map(|reading| reading.content).map_err(|error| error.to_string())));
        }
        state.push(json!(store.journal_size().unwrap().changes));
        let listing = memdir.list(&List { details: true, ..List::default() }).unwrap();
        state.push(json!(listing.memories.iter().map(|memory| json!([memory.name, memory.bytes, memory.description])).collect::<Vec<_>>()));
        for mount in store.mounts() {
            state.push(json!(memdir.entrypoint(&mount.prefix).unwrap().content));
        }
        self.neutral(format!("{:#}", Value::Array(state)))
    }
}

/// The versions that the history has of a file, oldest first.
fn versions(memdir: &Memdir, path: &MemoryPath) -> memdir_core::Result<Vec<String>> {
    let filter = ChangeFilter { path: Some(path.clone()), ..ChangeFilter::default() };
    let changes = memdir.store().changes(&filter)?;
    let files = changes.iter().rev().flat_map(|change| &change.files).filter(|file| file.path.name() == path.name());
    Ok(files.filter_map(|file| file.after).map(|version| version.to_string()).collect())
}

/// Runs random histories on all subjects and compares them after every step.
fn compare(other: Step, names: &'static [&'static str], subjects: impl Fn() -> Vec<Subject>) {
    let config = Config { cases: 20, failure_persistence: None, max_shrink_iters: 300, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let outcome = runner.run(&vec(step(names, other), 1..20), |steps| {
        let mut subjects = subjects();
        // The whole state takes a hundred questions.
        let is_looked_at = |n: usize| n % 4 == 3 || n + 1 == steps.len();
        for (n, step) in steps.iter().enumerate() {
            let answers: Vec<(String, String)> = subjects
                .iter_mut()
                .map(|subject| (subject.make(step), if is_looked_at(n) { subject.state(names) } else { String::new() }))
                .collect();
            for (subject, answer) in subjects.iter().zip(&answers).skip(1) {
                let differs = |what: &str, a: &str, b: &str| {
                    let at = a.lines().zip(b.lines()).position(|(a, b)| a != b).unwrap_or(0).saturating_sub(3);
                    let part = |text: &str| text.lines().skip(at).take(12).collect::<Vec<_>>().join("\n");
                    format!("{what} step {n} {step:?}\n{}:\n{}\nfiles:\n{}", subject.name, part(a), part(b))
                };
                proptest::prop_assert!(answer.0 == answers[0].0, "{}", differs("the answer to", &answer.0, &answers[0].0));
                proptest::prop_assert!(answer.1 == answers[0].1, "{}", differs("the state after", &answer.1, &answers[0].1));
            }
        }
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

fn next(name: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{name}/{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

#[test]
fn one_mount_is_the_same_in_memory_on_disk_and_on_postgres() {
    let Some(test) = TestDatabase::new() else { return };
    let home = tempfile::tempdir().unwrap();
    // The store in memory does not forget, and reports no names that differ only in case.
    compare(Step::Repair, &NAMES[..5], || {
        let dir = home.path().join(next("files"));
        let files = FileStore::open(&[Mount::new("", dir.join("memory"), dir.join("journal"))]).unwrap();
        vec![
            Subject::new("files", Arc::new(files)),
            Subject::new("PostgreSQL", Arc::new(test.store(&next("projects")))),
            Subject::new("RAM", Arc::new(RamStore::default())),
        ]
    });
    check_sequences(&test.url);
}

#[test]
fn two_mounts_are_the_same_on_disk_and_on_postgres() {
    let Some(test) = TestDatabase::new() else { return };
    let home = tempfile::tempdir().unwrap();
    compare(Step::Forget, &NAMES, || {
        let dir = home.path().join(next("files"));
        let mount = |prefix: &str, name: &str| Mount::new(prefix, dir.join(name), dir.join(format!("journal-{name}")));
        let files = FileStore::open(&[mount("", "project"), mount("user", "user")]).unwrap();
        let mounts = [NamespaceMount::new("", &next("projects")), NamespaceMount::new("user", &next("people"))];
        let postgres = PostgresStore::open(test.database(), TENANT, &mounts).unwrap();
        vec![Subject::new("files", Arc::new(files)), Subject::new("PostgreSQL", Arc::new(postgres))]
    });
    check_sequences(&test.url);
}
