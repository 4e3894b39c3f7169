//! The ledger: what is counted, what a rename and a delete do to counts, twenty processes, kill -9, and rules that need a decision.

use crate::support::{self, Desk};
use jiff::{Timestamp, ToSpan as _};
use memdir_core::{
    Actor, Candidate, Delete, FileStore, Memdir, MemoryPath, Mount, Read, Search, UndoTarget, Write,
    internal::{
        base::disk::LockWait,
        operations::ledger::{MemoryUse, SpaceUses, UseKind, UseLedger, rule_candidates, tripwire_id},
    },
    testing::FixedClock,
};
use serde_json::json;
use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
};
use tempfile::TempDir;

fn path(name: &str) -> MemoryPath {
    MemoryPath::parse(name).unwrap()
}

fn start() -> Timestamp {
    support::NOW.parse().unwrap()
}

/// A space of two mounts whose clock is so many days after the start.
fn open(dir: &Path, day: i64) -> Memdir {
    let mount = |prefix: &str, name: &str| Mount::new(prefix, dir.join(name), dir.join(format!("journal-{name}")));
    let store = FileStore::open(&[mount("", "project"), mount("user", "user")]).unwrap();
    let clock = Arc::new(FixedClock(start() + (24 * day).hours()));
    let memdir = Memdir::with_clock(Arc::new(store), Actor { name: "ada".into(), session: None }, clock);
    memdir.with_ledger(UseLedger::new(dir.join("uses"))).counting_use()
}

fn record(memdir: &Memdir, name: &str, kinds: &[UseKind]) {
    let uses: Vec<MemoryUse<'_>> = kinds.iter().map(|kind| MemoryUse { name, kind: kind.clone() }).collect();
    memdir.ledger().unwrap().record(memdir.store(), &uses, memdir.context().clock.now(), LockWait::Forever).unwrap();
}

fn uses(memdir: &Memdir) -> SpaceUses {
    memdir.ledger().unwrap().read(memdir.store())
}

fn counts(memdir: &Memdir, name: &str) -> String {
    serde_json::to_string(&uses(memdir).memory(name)).unwrap()
}

fn ledger_file(dir: &Path, mount: &str) -> PathBuf {
    let files = fs::read_dir(dir.join("uses")).unwrap().flatten().map(|entry| entry.path());
    let is_wanted =
        |file: &PathBuf| file.file_name().unwrap().to_str().is_some_and(|name| name.starts_with(mount) && name.ends_with(".log"));
    files.into_iter().find(is_wanted).unwrap()
}

#[test]
fn reads_and_searches_of_agents_are_counted_and_those_of_people_are_not() {
    let Desk { top, caller, .. } = support::native();
    let memdir = caller.memdir.with_ledger(UseLedger::new(top.path().join("uses")));
    memdir.write(&Write::create(path("notes/deploy"), "Never deploy on Fridays.\n")).unwrap();
    memdir.read(&Read::all(path("notes/deploy"))).unwrap();
    memdir.search(&Search::new("deploy")).unwrap();
    assert!(!top.path().join("uses").exists(), "a person reads");
    let agent = memdir.counting_use();
    agent.read(&Read::all(path("notes/deploy"))).unwrap();
    agent.read(&Read::all(path("MEMORY"))).unwrap();
    agent.search(&Search::new("deploy on fridays")).unwrap();
    agent.search(&Search::new("xylophone")).unwrap();
    let used = uses(&agent);
    assert_eq!(
        serde_json::to_value(used.memories().collect::<Vec<_>>()).unwrap(),
        json!([["notes/deploy", { "listed": 0, "injected": 0, "fired": 0, "followed": 0, "violated": 0, "searched": 1, "read": 1, "cited": 0,
            "last_used": "2026-09-01T12:00:00Z" }]])
    );
}

/// The ledger changes nothing that is found, recalled or its order.
#[test]
fn ranking_never_uses_the_ledger() {
    let Desk { top, caller, .. } = support::native();
    let memdir = caller.memdir.with_ledger(UseLedger::new(top.path().join("uses"))).counting_use();
    for (name, text) in [("a", "deploy the service to staging"), ("b", "deploy the service to production"), ("c", "deploy scripts")] {
        memdir.write(&Write::create(path(name), format!("{text}\n"))).unwrap();
    }
    let find = || {
        let answer = memdir.search(&Search { explain: true, ..Search::new("deploy service") }).unwrap();
        let recalled = memdir.recall(&memdir_core::Recall { message: Some("deploy the service"), ..Default::default() }).unwrap();
        serde_json::to_string(&(answer.hits, recalled)).unwrap()
    };
    let before = find();
    for _ in 0..500 {
        record(&memdir, "c", &[UseKind::Read, UseKind::Cited, UseKind::Injected]);
        record(&memdir, "a", &[UseKind::Violated("x".into())]);
    }
    assert_eq!(find(), before);
}

#[test]
fn a_renamed_memory_keeps_its_counts_even_in_another_mount_and_after_an_undo() {
    let dir = TempDir::new().unwrap();
    let memdir = open(dir.path(), 0);
    memdir.write(&Write::create(path("old name"), "text\n")).unwrap();
    let wire = "0123abcd".to_owned();
    record(&memdir, "old name.md", &[UseKind::Read, UseKind::Fired(wire.clone()), UseKind::Violated(wire)]);
    let before = counts(&memdir, "old name");
    assert!(before.contains(r#""fired":1,"followed":0,"violated":1,"searched":0,"read":1"#), "{before}");
    memdir.rename(&path("old name"), &path("new")).unwrap();
    assert_eq!(counts(&memdir, "new"), before);
    assert_eq!(counts(&memdir, "old name"), counts(&memdir, "never"));
    memdir.undo(&UndoTarget::Mine).unwrap();
    assert_eq!(counts(&memdir, "old name"), before);
    memdir.redo(&UndoTarget::Mine).unwrap();
    assert_eq!(counts(&memdir, "new"), before);
    memdir.rename(&path("new"), &path("user/moved")).unwrap();
    assert_eq!(counts(&memdir, "user/moved"), before);
    // A new memory with the old name begins at zero.
    record(&memdir, "old name", &[UseKind::Cited]);
    assert!(counts(&memdir, "old name").contains(r#""read":0,"cited":1"#));
}

#[test]
fn a_compaction_keeps_every_count_and_drops_deleted_memories_after_a_day() {
    let dir = TempDir::new().unwrap();
    let memdir = open(dir.path(), 0);
    for name in ["kept", "gone"] {
        memdir.write(&Write::create(path(name), "text\n")).unwrap();
    }
    let fill = || {
        for _ in 0..500 {
            record(&memdir, "kept", &[UseKind::Listed, UseKind::Injected]);
            record(&memdir, "gone", &[UseKind::Fired("0123abcd".into()), UseKind::Followed("0123abcd".into())]);
        }
    };
    fill();
    let before = uses(&memdir);
    let compact =
        |memdir: &Memdir| memdir.ledger().unwrap().compact(memdir.store(), memdir.context().clock.now(), LockWait::Forever).unwrap();
    memdir.delete(&Delete { path: path("gone"), expect: None }).unwrap();
    compact(&memdir);
    assert_eq!(uses(&memdir), before, "a delete may be undone");
    let file = ledger_file(dir.path(), "project");
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        "# 1788264000 0\n= 1788264000 0 0 500 500 0 0 0 0 gone\n= 1788264000 500 500 0 0 0 0 0 0 kept\nw 0123abcd 1788264000 500 500 0 gone\n? 1788264000 gone\n"
    );
    fill();
    compact(&open(dir.path(), 2));
    assert_eq!(fs::read_to_string(&file).unwrap(), "# 1788264000 0\n= 1788264000 1000 1000 0 0 0 0 0 0 kept\n");
}

#[test]
fn an_incomplete_line_of_a_killed_process_is_not_counted_and_hides_no_other() {
    let dir = TempDir::new().unwrap();
    let memdir = open(dir.path(), 0);
    record(&memdir, "a", &[UseKind::Read]);
    let file = ledger_file(dir.path(), "project");
    let append = |bytes: &[u8]| fs::File::options().append(true).open(&file).unwrap().write_all(bytes).unwrap();
    append(b"+ 1788264000 r a");
    assert!(counts(&memdir, "a").contains(r#""read":1"#), "the line is incomplete");
    record(&memdir, "a", &[UseKind::Cited]);
    assert!(counts(&memdir, "a").contains(r#""read":1,"cited":1"#), "{}", counts(&memdir, "a"));
    // Neither damage nor lines of a later version are in the way.
    append(b"\xff\xfe\n+ x r a\n= 1 2 3 a\nz 1\n+ 99999999999999 r a\n= -1 -5 0 0 0 0 0 0 0 a\n\n\r\n");
    record(&memdir, "a", &[UseKind::Cited]);
    assert!(counts(&memdir, "a").contains(r#""read":1,"cited":2"#), "{}", counts(&memdir, "a"));
    assert_eq!(uses(&memdir).memories().count(), 1);
}

#[test]
fn a_file_that_is_never_compacted_stays_bounded() {
    let dir = TempDir::new().unwrap();
    let memdir = open(dir.path(), 0);
    let names: Vec<String> = (0..2_000).map(|n| format!("a-topic-with-a-long-name/{n:05}")).collect();
    for _ in 0..40 {
        memdir.ledger().unwrap().record_session(memdir.store(), &names, start(), LockWait::Forever).unwrap();
    }
    let bytes = fs::metadata(ledger_file(dir.path(), "project")).unwrap().len();
    assert!(bytes < 2 << 20, "{bytes}");
    let used = uses(&memdir);
    assert!(names.iter().all(|name| used.memory(name).listed == 40));
    assert_eq!(used.counted[""].sessions, 40);
}

/// What the processes of the next test do.
const DRIVER: &str = "MEMDIR_TEST_LEDGER";
const PROCESSES: usize = 20;

/// Runs in a process of its own, and does nothing without the variable. Prints a line for each use that is recorded.
#[test]
fn driver() {
    let Ok(job) = std::env::var(DRIVER) else { return };
    let (number, dir) = job.split_once('|').unwrap();
    let memdir = open(Path::new(dir), 0);
    let limit = if number.parse::<usize>().unwrap() % 2 == 0 { 100 } else { u64::MAX };
    for done in 1..=limit {
        record(&memdir, &format!("m{number}"), &[UseKind::Read]);
        record(&memdir, "shared", &[UseKind::Cited]);
        if done % 20 == 0 {
            memdir.ledger().unwrap().compact(memdir.store(), start(), LockWait::Forever).unwrap();
        }
        let mut out = std::io::stdout().lock();
        // The parent that kills this process may be gone.
        if writeln!(out, "\nrecorded {done}").and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}

/// Ten of twenty processes are killed while they count, the others end: every acknowledged use is counted, and none more than was
/// tried.
#[test]
fn twenty_processes_and_kill_9_lose_no_count() {
    let dir = TempDir::new().unwrap();
    // The compactions see the memories, so that none is dropped.
    let memdir = open(dir.path(), 0);
    let start_one = |number: usize| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "ledger::driver", "--nocapture"]).env(DRIVER, format!("{number}|{}", dir.path().display()));
        command.stdout(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..PROCESSES).map(start_one).collect();
    let mut recorded = Vec::new();
    for (number, mut child) in children.into_iter().enumerate() {
        let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
        let mut last = 0;
        let parse = |line: std::io::Result<String>| line.ok()?.strip_prefix("recorded ")?.parse::<u64>().ok();
        if number % 2 == 0 {
            last = lines.filter_map(parse).last().unwrap_or(0);
            assert!(child.wait().unwrap().success());
        } else {
            while last < 20 + number as u64 {
                last = lines.find_map(parse).unwrap();
            }
            child.kill().unwrap();
            child.wait().unwrap();
            last = lines.filter_map(parse).last().unwrap_or(last);
        }
        recorded.push(last);
    }
    let used = uses(&memdir);
    for (number, recorded) in recorded.iter().enumerate() {
        let read = used.memory(&format!("m{number}")).read;
        assert!((*recorded..=recorded + 1).contains(&read), "process {number}: {read} counted, {recorded} acknowledged");
    }
    let (cited, all) = (used.memory("shared").cited, recorded.iter().sum::<u64>());
    assert!((all..=all + PROCESSES as u64).contains(&cited), "{cited} counted, {all} acknowledged");
    let text = fs::read_to_string(ledger_file(dir.path(), "project")).unwrap();
    let torn: Vec<&str> = text.lines().filter(|line| !["# ", "= ", "+ ", "w ", "? "].iter().any(|mark| line.starts_with(mark))).collect();
    assert!(torn.is_empty() && text.ends_with('\n'), "{torn:?}");
}

const PUSH: &str =
    "---\ntype: feedback\ndescription: No force pushes\nwhen:\n  command: git push --force*\n  path: infra/**\n---\nNever.\n";

fn proposed(memdir: &Memdir) -> Vec<Candidate> {
    let rules = memdir.rules(None).unwrap();
    let written = |_: &memdir_core::Rule| Some(start());
    rule_candidates(memdir.store().mounts(), &rules, &uses(memdir), &written, memdir.context().clock.now())
}

fn shown(candidates: &[Candidate]) -> String {
    serde_json::to_string_pretty(candidates).unwrap()
}

#[test]
fn a_rule_that_is_violated_twice_should_be_stronger() {
    let dir = TempDir::new().unwrap();
    let memdir = open(dir.path(), 0);
    memdir.write(&Write::create(path("push"), PUSH)).unwrap();
    let id = |memdir: &Memdir| {
        let rule = &memdir.rules(None).unwrap()[0];
        let wire = &rule.when.tripwires[0];
        tripwire_id(wire, rule.when.strength_of(wire))
    };
    let wire = id(&memdir);
    record(&memdir, "push", &[UseKind::Fired(wire.clone()), UseKind::Fired(wire.clone()), UseKind::Violated(wire.clone())]);
    assert_eq!(proposed(&memdir), []);
    record(&memdir, "push", &[UseKind::Violated(wire.clone())]);
    let candidates = proposed(&memdir);
    insta::assert_snapshot!(shown(&candidates), @r#"
    [
      {
        "kind": "violated",
        "name": "push",
        "type": "feedback",
        "description": "push was violated 2 times; proposed strength: ask",
        "text": "push fired 2 times with strength hold. In 2 of these cases, the next tool call was identical.\n",
        "when": {
          "command": [
            "git push --force*"
          ],
          "path": [
            "infra/**"
          ],
          "strength": "ask"
        },
        "words": "",
        "turns": [],
        "sessions": [],
        "at": "2026-09-01T12:00:00Z",
        "key": "32a8b668fe781e9577813a3ad8f33b8c",
        "weight": 0.6
      }
    ]
    "#);
    // With the higher strength the counts begin again.
    memdir
        .write(&Write {
            mode: memdir_core::WriteMode::Exact,
            ..Write::create(path("push.md"), PUSH.replace("when:\n", "when:\n  strength: ask\n"))
        })
        .unwrap();
    assert_ne!(id(&memdir), wire);
    assert_eq!(proposed(&memdir), []);
    assert_eq!(uses(&memdir).memory("push").violated, 2, "the counts of the memory stay");
}

#[test]
fn a_rule_that_never_fires_in_90_days_is_proposed_for_removal() {
    let dir = TempDir::new().unwrap();
    let memdir = open(dir.path(), 0);
    memdir.write(&Write::create(path("push"), PUSH)).unwrap();
    let sessions = |memdir: &Memdir, count: usize| {
        for _ in 0..count {
            memdir.ledger().unwrap().record_session(memdir.store(), &[], memdir.context().clock.now(), LockWait::Forever).unwrap();
        }
    };
    sessions(&memdir, 9);
    assert_eq!(proposed(&open(dir.path(), 91)), [], "too few conversations");
    sessions(&memdir, 1);
    assert_eq!(proposed(&open(dir.path(), 89)), [], "too early");
    insta::assert_snapshot!(shown(&proposed(&open(dir.path(), 91))), @r#"
    [
      {
        "kind": "unused",
        "name": "push",
        "type": "feedback",
        "description": "push has not fired in 90 days; proposed change: remove it",
        "text": "push has not fired on this machine (conversations counted: 10).\n",
        "words": "",
        "turns": [],
        "sessions": [],
        "key": "183a3bc2e8c05529a97a841bfedbbc07",
        "weight": 0.2
      }
    ]
    "#);
    record(&open(dir.path(), 60), "push", &[UseKind::Fired("0123abcd".into())]);
    assert_eq!(proposed(&open(dir.path(), 91)), [], "it fired 31 days ago");
}
