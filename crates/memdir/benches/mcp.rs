//! Benchmarks of the server: start time relative to `/bin/true`, round trips, and resident memory of a long session.
//! `cargo bench -p memdir --bench mcp`; MEMDIR_BIN names another build to measure. Times are reported as ratios and
//! milliseconds of one run.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program that measures processes and prints numbers"
)]

use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

const STARTS: usize = 20;

fn main() {
    let home = tempfile::TempDir::new().unwrap();
    starts(home.path());
    for files in [10, 10_000] {
        reads(home.path(), files);
    }
    long_session(home.path());
}

/// Time from spawning to the response to `tools/list`, relative to spawning a program that does nothing.
fn starts(home: &Path) {
    let nothing = (0..STARTS).map(|_| timed(|| assert!(Command::new("/bin/true").status().unwrap().success()))).min().unwrap();
    let mut resident = 0;
    let mut start = |revision: &str| {
        (0..STARTS)
            .map(|_| {
                let begun = Instant::now();
                let mut talk = Talk::start(home, "empty", revision);
                assert!(!talk.ask("tools/list", json!({}))["result"]["tools"].as_array().unwrap().is_empty());
                let took = begun.elapsed();
                resident = resident.max(talk.resident());
                took
            })
            .min()
            .unwrap()
    };
    let (handshake, sessionless) = (start("2025-06-18"), start("2026-07-28"));
    let ratio = |took: Duration| took.as_secs_f64() / nothing.as_secs_f64();
    println!("/bin/true                     {}", ms(nothing));
    println!("start to tools/list           {}  {:.1} times (limit 6)", ms(handshake), ratio(handshake));
    println!("without a handshake           {}  {:.1} times", ms(sessionless), ratio(sessionless));
    println!("resident                      {:.1} MB (limit 12)", resident as f64 / 1024.0);
}

/// Repeated reads of single memories.
fn reads(home: &Path, files: usize) {
    let dir = format!("of-{files}");
    for n in 0..files {
        let path = home.join(&dir).join(format!("t{}/m{n}.md", n % 100));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("# Memory {n}\n\nSomething worth knowing about {n}.\n")).unwrap();
    }
    let mut talk = Talk::start(home, &dir, "2025-06-18");
    let mut times: Vec<Duration> = Vec::new();
    for n in 0..2_000 {
        let m = (n * 7919) % files.min(1_000);
        let path = format!("t{}/m{m}", m % 100);
        times.push(timed(|| drop(talk.call("memory_read", json!({ "paths": [path] })))));
    }
    let mut warm = times.split_off(1_000);
    warm.sort();
    println!("memory_read of {files:>6} files    {} median, {} 99th (limit 0.500 ms)", ms(warm[500]), ms(warm[990]));
}

/// 10,000 calls of every kind.
fn long_session(home: &Path) {
    let mut talk = Talk::start(home, "long", "2025-06-18");
    // The minimum of several samples: work after a response needs memory for a moment.
    let (mut first, mut last) = (u64::MAX, u64::MAX);
    for n in 0..2_000_u32 {
        let path = format!("m{}", n % 50);
        talk.call(
            "memory_write",
            json!({ "path": path, "content": format!("round {n}"), "mode": if n < 50 { "create" } else { "replace" } }),
        );
        talk.call("memory_read", json!({ "paths": [path] }));
        talk.call("memory_edit", json!({ "path": path, "old": "round", "new": "turn" }));
        talk.call("memory_read", json!({}));
        talk.call("memory_search", json!({ "query": "turn" }));
        match n {
            180..200 => first = first.min(talk.resident()),
            1_980.. => last = last.min(talk.resident()),
            _ => {}
        }
    }
    let [first, last] = [first, last].map(|kb| kb as f64 / 1024.0);
    println!("10,000 calls                  {first:.1} MB after 1,000, {last:.1} MB at the end: grew by {:.1} MB (limit 5)", last - first);
}

struct Talk {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    last: u64,
    sessionless: bool,
}

impl Talk {
    fn start(home: &Path, dir: &str, revision: &str) -> Talk {
        let binary = std::env::var_os("MEMDIR_BIN").unwrap_or_else(|| env!("CARGO_BIN_EXE_memdir").into());
        let mut command = Command::new(binary);
        command.arg("--dir").arg(home.join(dir)).arg("mcp").env_clear().env("HOME", home).current_dir(home);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut talk = Talk { child, to, from, last: 0, sessionless: revision == "2026-07-28" };
        if !talk.sessionless {
            talk.ask(
                "initialize",
                json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": { "name": "bench", "version": "1" } }),
            );
            talk.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        }
        talk
    }

    fn send(&mut self, message: &Value) {
        self.to.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    fn ask(&mut self, method: &str, mut params: Value) -> Value {
        self.last += 1;
        if self.sessionless {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params }));
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn call(&mut self, name: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({ "name": name, "arguments": arguments }));
        assert_ne!(answer["result"]["isError"], true, "{answer}");
        answer
    }

    /// Resident memory in kB.
    fn resident(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or("VmRSS 0").to_owned();
        line.split_whitespace().nth(1).and_then(|kb| kb.parse().ok()).unwrap_or(0)
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn timed(work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}

fn ms(took: Duration) -> String {
    format!("{:.3} ms", took.as_secs_f64() * 1e3)
}
