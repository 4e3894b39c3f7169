//! The inbox under processes that are killed at any point, and under twenty processes at once: no candidate is lost, none comes back
//! after a decision, and no file is torn.

use memdir_core::{
    Actor, Candidate, CandidateKind, EntrypointMode, FileStore, Kind, Memdir, MemoryPath, Mount, Source, Write, testing::kill_after,
};
use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
};
use tempfile::TempDir;

/// What the other process does.
const DRIVER: &str = "MEMDIR_TEST_INBOX";
const PROCESSES: usize = 20;
const OWN: usize = 2;

fn open(dir: &Path) -> Memdir {
    let inbox = Mount {
        source: Source::Inbox,
        entrypoint: EntrypointMode::Off,
        apart: true,
        late: true,
        ..Mount::new("inbox", dir.join("inbox/candidates"), dir.join("journal-inbox"))
    };
    let store = FileStore::open(&[Mount::new("", dir.join("memory"), dir.join("journal")), inbox]).unwrap();
    Memdir::new(Arc::new(store), Actor { name: "ada".into(), session: None })
}

fn candidate(name: &str) -> Candidate {
    Candidate {
        kind: CandidateKind::Remember,
        name: format!("notes/{name}"),
        memory_type: Kind::Feedback,
        description: format!("about {name}"),
        text: format!("{}end of {name}\n", format!("a line of {name}\n").repeat(20)),
        when: None,
        words: String::new(),
        turns: Vec::new(),
        sessions: vec!["claude-code/s".into()],
        at: None,
        key: name.to_owned(),
        other_keys: Vec::new(),
        weight: 0.5,
    }
}

fn path(name: &str) -> MemoryPath {
    MemoryPath::parse(name).unwrap()
}

fn act(memdir: &Memdir, what: &str) {
    match what {
        "propose" => drop(memdir.propose(&[candidate("new"), candidate("newer")], None).unwrap()),
        "accept" => drop(memdir.accept(&path("notes/old"), None).unwrap()),
        "merge" => drop(memdir.merge(&path("notes/old"), &path("kept")).unwrap()),
        "reject" => drop(memdir.reject(&path("notes/old")).unwrap()),
        // Every process proposes the same candidates and two of its own, accepts one of its own and rejects the other; all of them try
        // to accept one that only one of them can.
        number => {
            let own: Vec<String> = (0..OWN).map(|n| format!("p{number}-{n}")).collect();
            let all: Vec<Candidate> = own.iter().map(String::as_str).chain(["shared", "contested"]).map(candidate).collect();
            memdir.propose(&all, None).unwrap();
            memdir.accept(&path(&format!("notes/{}", own[0])), None).unwrap();
            memdir.reject(&path(&format!("notes/{}", own[1]))).unwrap();
            let _ = memdir.accept(&path("notes/contested"), None);
            memdir.propose(&all, None).unwrap();
        }
    }
}

/// Runs in a process of its own, and does nothing without the variable.
#[test]
fn driver() {
    #[expect(clippy::disallowed_methods, reason = "the parent of this process sets it")]
    let Ok(job) = std::env::var(DRIVER) else { return };
    let [what, n, dir] = job.split('|').collect::<Vec<_>>()[..] else { panic!("{job}") };
    let memdir = open(Path::new(dir));
    kill_after(n.parse().ok());
    act(&memdir, what);
    kill_after(None);
}

fn start(what: &str, n: &str, dir: &Path) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "inbox_crash::driver", "--nocapture"]).env(DRIVER, format!("{what}|{n}|{}", dir.display()));
    child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Runs a change in another process that is killed at its n-th point; returns whether it ended before.
fn is_done_before(what: &str, n: u64, dir: &Path) -> bool {
    let output = start(what, &n.to_string(), dir).wait_with_output().unwrap();
    let killed = std::os::unix::process::ExitStatusExt::signal(&output.status) == Some(9);
    assert!(killed || output.status.success(), "{what}, point {n}: {}", String::from_utf8_lossy(&output.stdout));
    !killed
}

/// The names of the open candidates and of the memories. Every file must be whole.
fn state(memdir: &Memdir, dir: &Path) -> (BTreeSet<String>, BTreeSet<String>) {
    let open = memdir.inbox().unwrap().open;
    for entry in &open {
        let name = entry.proposes.trim_start_matches("notes/");
        assert!(entry.key == name && entry.text.ends_with(&format!("end of {name}\n")), "torn: {entry:?}");
    }
    let listed = memdir.list(&Default::default()).unwrap().memories;
    let memories: BTreeSet<String> = listed.into_iter().map(|memory| memory.path.name().to_owned()).collect();
    let entrypoint = fs::read_to_string(dir.join("memory/MEMORY.md")).unwrap_or_default();
    for name in &memories {
        assert!(entrypoint.contains(&format!("({name}.md)")), "{name} has no line: {entrypoint}");
    }
    (open.into_iter().map(|entry| entry.name).collect(), memories)
}

#[test]
fn a_killed_process_loses_no_candidate_and_revives_none() {
    for what in ["propose", "accept", "merge", "reject"] {
        for n in 0.. {
            let dir = TempDir::new().unwrap();
            let memdir = open(dir.path());
            memdir.write(&Write::create(path("kept"), "Kept.\n")).unwrap();
            memdir.propose(&[candidate("old")], None).unwrap();
            let is_done = is_done_before(what, n, dir.path());
            // The next writer settles what was interrupted.
            let memdir = open(dir.path());
            memdir.write(&Write::create(path("next"), "Next.\n")).unwrap();
            memdir.propose(&[candidate("old"), candidate("other")], None).unwrap();
            let (open, memories) = state(&memdir, dir.path());
            assert!(open.contains("inbox/notes/other"), "{what}, point {n}: {open:?}");
            let is_open = open.contains("inbox/notes/old");
            let is_decided = match what {
                "propose" => false,
                "accept" => memories.contains("notes/old"),
                "merge" => fs::read_to_string(dir.path().join("memory/kept.md")).unwrap().contains("end of old"),
                _ => memdir.rejected_candidates().unwrap().iter().any(|entry| entry.key == "old"),
            };
            assert!(is_open != is_decided, "{what}, point {n}: open {is_open}, decided {is_decided}");
            assert!(!is_done || what == "propose" || is_decided, "{what}: acknowledged, but not made");
            if what == "propose" {
                assert_eq!(open.contains("inbox/notes/new"), open.contains("inbox/notes/newer"), "point {n}: all or nothing");
            }
            if is_done {
                assert!(n > 3, "{what} passed only {n} points");
                break;
            }
        }
    }
}

#[test]
fn twenty_processes_lose_no_candidate_and_accept_each_once() {
    let dir = TempDir::new().unwrap();
    let children: Vec<Child> = (0..PROCESSES).map(|number| start(&number.to_string(), "none", dir.path())).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let memdir = open(dir.path());
    let (open, memories) = state(&memdir, dir.path());
    assert_eq!(open.into_iter().collect::<Vec<_>>(), ["inbox/notes/shared"], "nothing that was decided about came back");
    let mut expected: BTreeSet<String> = (0..PROCESSES).map(|number| format!("notes/p{number}-0")).collect();
    expected.insert("notes/contested".into());
    assert_eq!(memories, expected);
    let rejected: BTreeSet<String> = memdir.rejected_candidates().unwrap().into_iter().map(|entry| entry.key).collect();
    assert_eq!(rejected, (0..PROCESSES).map(|number| format!("p{number}-1")).collect());
}
