//! Replicas that are killed, frozen or lose their server while they write: no acknowledged write is lost or doubled.

use crate::support::{TestDatabase, append, check_sequences, intent, open, path, server, setup, text};
use memdir_core::{FileEdit, Role, Store, Verb};
use memdir_postgres::{Database, DatabaseSettings};
use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdout, Command, Stdio},
    time::Duration,
};

/// What a replica does: `URL|NAME|LINES|HOLD`. It appends lines to a memory; at the line `HOLD` its plan says so and waits for input.
const DRIVER: &str = "MEMDIR_TEST_REPLICA";

const LOG: &str = "log.md";

/// Runs in a process of its own, and does nothing without the variable.
#[test]
fn replica() {
    let Ok(job) = std::env::var(DRIVER) else { return };
    let [url, name, lines, hold] = job.split('|').collect::<Vec<_>>()[..] else { panic!("{job}") };
    let settings = DatabaseSettings { idle_timeout: Duration::from_secs(1), ..DatabaseSettings::new(url) };
    let store = open(&Database::connect(&settings).unwrap(), "projects/shop");
    let say = |word: &str, line: &str| {
        // On a line of its own: the test harness prints too.
        writeln!(std::io::stdout(), "\n{word} {line}").unwrap();
        std::io::stdout().flush().unwrap();
    };
    for n in 0..lines.parse().unwrap() {
        let line = format!("{name}-{n}");
        if hold != n.to_string() {
            append(&store, LOG, &line).unwrap();
        } else {
            let mut is_held = false;
            let held = store.change(&intent(Verb::Append), &[path(LOG)], &mut |view| {
                let mut bytes = view.get(&path(LOG))?.map(|stored| stored.bytes).unwrap_or_default();
                bytes.extend_from_slice(format!("{line}\n").as_bytes());
                if !is_held {
                    is_held = true;
                    say("holds", &line);
                    std::io::stdin().read_line(&mut String::new()).unwrap();
                }
                Ok(vec![FileEdit { path: path(LOG), bytes: Some(bytes), role: Role::Memory }])
            });
            held.unwrap();
        }
        say("ack", &line);
    }
}

/// A replica in a process of its own.
struct Replica {
    child: Child,
    output: BufReader<ChildStdout>,
    acknowledged: Vec<String>,
}

impl Replica {
    fn start(url: &str, name: &str, lines: usize, hold: &str) -> Replica {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "torture::replica", "--nocapture"]).env(DRIVER, format!("{url}|{name}|{lines}|{hold}"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Replica { child, output, acknowledged: Vec::new() }
    }

    /// Reads until it has acknowledged this many lines, or holds a transaction open, or has ended; returns whether it has not ended.
    fn wait_for(&mut self, count: usize) -> bool {
        let mut line = String::new();
        while self.acknowledged.len() < count {
            line.clear();
            if self.output.read_line(&mut line).unwrap() == 0 {
                return false;
            }
            match line.trim_end().split_once(' ') {
                Some(("ack", acknowledged)) => self.acknowledged.push(acknowledged.to_owned()),
                Some(("holds", _)) => return true,
                _ => {}
            }
        }
        true
    }

    fn signal(&self, signal: &str) {
        let killed = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(killed.success());
    }

    /// Waits for its end, and returns what it acknowledged.
    fn end(mut self) -> Vec<String> {
        while self.wait_for(usize::MAX) {}
        self.child.wait().unwrap();
        self.acknowledged
    }
}

/// Fails unless the log has every acknowledged line exactly once, and at most the given number of others.
fn check(test: &TestDatabase, acknowledged: &[Vec<String>], others: usize) {
    let store = test.store("projects/shop");
    let text = text(&store, "log").unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    let all = lines.len();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), all, "a line is doubled");
    for line in acknowledged.iter().flatten() {
        assert!(lines.binary_search(&line.as_str()).is_ok(), "{line} is lost");
    }
    let count = acknowledged.iter().flatten().count();
    assert!(all - count <= others, "{} lines were not acknowledged", all - count);
    assert_eq!(store.journal_size().unwrap().changes, all as u64);
    check_sequences(&test.url);
}

/// A replica that is killed inside a transaction does not block other replicas: its locks end with its connection.
#[test]
fn a_replica_is_killed_inside_a_transaction() {
    let Some(test) = TestDatabase::new() else { return };
    let mut all = Vec::new();
    let mut writer = Replica::start(&test.url, "writer", 150, "");
    for round in 0..5 {
        let mut victim = Replica::start(&test.url, &format!("victim{round}"), 20, &(3 + round).to_string());
        // It holds the lock, and the other replica waits for it.
        assert!(victim.wait_for(usize::MAX));
        victim.signal("-KILL");
        all.push(victim.end());
        assert_eq!(all[round].len(), 3 + round);
        assert!(writer.wait_for(writer.acknowledged.len() + 10));
    }
    all.push(writer.end());
    assert_eq!(all[5].len(), 150);
    check(&test, &all, 0);
}

/// A frozen replica loses its transaction, and makes its change again when it goes on.
#[test]
fn a_replica_is_frozen_inside_a_transaction() {
    let Some(test) = TestDatabase::new() else { return };
    let mut frozen = Replica::start(&test.url, "frozen", 6, "3");
    assert!(frozen.wait_for(usize::MAX));
    frozen.signal("-STOP");
    let writer = Replica::start(&test.url, "writer", 20, "").end();
    assert_eq!(writer.len(), 20, "the lock of the frozen replica ends with its idle time");
    frozen.signal("-CONT");
    writeln!(frozen.child.stdin.as_mut().unwrap()).unwrap();
    let frozen = frozen.end();
    assert_eq!(frozen.len(), 6);
    check(&test, &[writer, frozen], 0);
}

/// The server crashes and starts again three times, under two replicas.
#[test]
fn the_server_is_restarted_while_two_replicas_write() {
    if server().is_none() {
        return;
    }
    let name = format!("torture-{}", std::process::id());
    let output = setup(&["new", &name]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let private = PrivateServer(name);
    let url = String::from_utf8(output.stdout).unwrap();
    {
        let test = TestDatabase::on(url.trim());
        let mut replicas: Vec<Replica> = ["one", "two"].map(|name| Replica::start(&test.url, name, 120, "")).into();
        for round in 1..=3 {
            assert!(replicas[round % 2].wait_for(30 * round));
            let output = setup(&["restart", &private.0]);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        let all: Vec<Vec<String>> = replicas.into_iter().map(Replica::end).collect();
        assert_eq!(all.iter().map(Vec::len).collect::<Vec<_>>(), [120, 120]);
        check(&test, &all, 0);
    }
}

/// A PostgreSQL server for one test, removed even if the test fails.
struct PrivateServer(String);

impl Drop for PrivateServer {
    fn drop(&mut self) {
        setup(&["remove", &self.0]);
    }
}
