//! The calls of an archived conversation under processes that are killed while they write, and under twenty processes at once: the calls
//! are those of one moment of the transcript, never torn, and the next sync has all of them.

use crate::{
    candidates::{self, Home},
    support::CLAUDE_CODE,
};
use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
};

const DRIVER: &str = "MEMDIR_TEST_CALLS";
const SESSION: &str = ".claude/projects/-home-ada-app/s1.jsonl";
const PROCESSES: usize = 20;

/// A message and the call that answers it.
fn turn(number: u64) -> String {
    let typed = format!(
        r#"{{"type":"user","cwd":"/home/ada/app","message":{{"role":"user","content":"do step {number}"}},"uuid":"u{number}","timestamp":"2026-01-15T10:00:00Z"}}"#
    );
    let call = format!(
        r#"{{"type":"assistant","message":{{"id":"m{number}","role":"assistant","content":[{{"type":"tool_use","id":"t{number}","name":"Bash","input":{{"command":"make step{number}"}}}}]}},"uuid":"a{number}","timestamp":"2026-01-15T10:00:01Z"}}"#
    );
    let end = format!(
        r#"{{"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"t{number}","type":"tool_result","content":"ok"}}]}},"uuid":"r{number}","timestamp":"2026-01-15T10:00:02Z"}}"#
    );
    format!("{typed}\n{call}\n{end}\n")
}

/// Runs in a process of its own, and does nothing without the variable. Prints a line for each sync.
#[test]
#[expect(clippy::print_stdout, reason = "the child process reports to its parent")]
fn driver() {
    let Ok(job) = std::env::var(DRIVER) else { return };
    let (rounds, dir) = job.split_once('|').unwrap();
    let syncer = candidates::syncer(Path::new(dir));
    for number in 1..=rounds.parse().unwrap() {
        // Alone it also is the host, whose transcript grows.
        if rounds != "1" {
            fs::File::options().append(true).open(Path::new(dir).join(SESSION)).unwrap().write_all(turn(number).as_bytes()).unwrap();
        }
        candidates::sync(&syncer);
        println!("synced {number}");
    }
}

fn start(rounds: u64, dir: &Path) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "evidence_crash::driver", "--nocapture"]).env(DRIVER, format!("{rounds}|{}", dir.display()));
    child.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// The commands that are kept, in order.
fn commands(home: &Home) -> Vec<String> {
    let Some(chat) = home.syncer.archive.get(CLAUDE_CODE, "s1").unwrap() else { return Vec::new() };
    let calls = home.syncer.archive.evidence(&chat).unwrap();
    calls.into_iter().map(|call| call.command.unwrap()).collect()
}

fn expected(count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("make step{number}")).collect()
}

#[test]
fn a_killed_sync_leaves_the_calls_of_one_moment() {
    for kill_at in 1..=8 {
        let home = Home::new(&[(SESSION, "")]);
        let mut child = start(10_000, home.files.root());
        let mut lines =
            BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok).filter(|line| line.starts_with("synced"));
        // The next sync is running, or about to.
        let seen = lines.nth(kill_at - 1).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let kept = commands(&home);
        assert!(kept.len() >= kill_at && kept == expected(kept.len()), "{seen}: {kept:?}");
        home.sync();
        let typed = fs::read_to_string(home.files.root().join(SESSION))
            .unwrap()
            .lines()
            .filter(|line| line.contains("tool_use\"") && line.ends_with('}'))
            .count();
        assert_eq!(commands(&home), expected(typed), "{seen}");
    }
}

#[test]
fn twenty_processes_keep_every_call_once() {
    let text: String = (1..=50).map(turn).collect();
    let home = Home::new(&[(SESSION, &text)]);
    let children: Vec<Child> = (0..PROCESSES).map(|_| start(1, home.files.root())).collect();
    for child in children {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    assert_eq!(commands(&home), expected(50));
}
