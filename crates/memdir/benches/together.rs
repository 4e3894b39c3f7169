//! Twelve processes search while three write, for 30 seconds: no errors, no stale results, no unbounded growth.
//! Then a thousand searches, each after a save. `cargo bench -p memdir --bench together`.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program that measures processes and prints numbers"
)]

use serde_json::Value;
use std::{
    path::Path,
    process::Command,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

const SEARCHERS: usize = 12;
const WRITERS: usize = 3;
const SECONDS: u64 = 30;
const SAVES: usize = 1_000;

fn main() {
    together();
    saves();
}

fn together() {
    let home = tempfile::TempDir::new().unwrap();
    run(home.path(), &["write", "first", "The word is token0."]);
    let saved = Mutex::new(vec![("token0".to_owned(), "first".to_owned())]);
    let (searches, stale) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let end = Instant::now() + Duration::from_secs(SECONDS);
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (home, saved) = (home.path(), &saved);
            scope.spawn(move || {
                for n in 0.. {
                    if Instant::now() > end {
                        return;
                    }
                    let word = format!("token{writer}x{n}");
                    let name = if n % 2 == 0 { format!("made/{word}") } else { format!("log-{writer}-{}", n / 40) };
                    run(home, &["write", &name, "--append", &format!("The word is {word}.\n")]);
                    saved.lock().unwrap().push((word, name));
                }
            });
        }
        for searcher in 0..SEARCHERS {
            let (home, saved, searches, stale) = (home.path(), &saved, &searches, &stale);
            scope.spawn(move || {
                for n in 0.. {
                    if Instant::now() > end {
                        return;
                    }
                    let (word, name) = {
                        let saved = saved.lock().unwrap();
                        // Half of them the newest: what was acknowledged a moment ago.
                        let at = if n % 2 == 0 { saved.len() - 1 } else { (searcher * 7_919 + n * 104_729) % saved.len() };
                        saved[at].clone()
                    };
                    let answer: Value = serde_json::from_str(&run(home, &["search", &word, "--max-results", "50", "--json"])).unwrap();
                    let path = format!("{name}.md");
                    let found = answer["results"].as_array().unwrap().iter().any(|hit| hit["path"] == path.as_str());
                    searches.fetch_add(1, Ordering::Relaxed);
                    stale.fetch_add(usize::from(!found), Ordering::Relaxed);
                }
            });
        }
    });
    let stats: Value = serde_json::from_str(&run(home.path(), &["stats", "--json"])).unwrap();
    println!(
        "{SEARCHERS} searching, {WRITERS} writing, {SECONDS} s: {} searches, {} saves, {} answers from the past; index: {}",
        searches.into_inner(),
        saved.into_inner().unwrap().len(),
        stale.into_inner(),
        stats["search"][0]["size"]
    );
}

/// A search after each of many saves: the last costs no more than the first.
fn saves() {
    let home = tempfile::TempDir::new().unwrap();
    for n in 0..SAVES {
        run(home.path(), &["write", &format!("old/m{n}"), &format!("The release of module {n} goes out on day {}.", n % 28)]);
    }
    run(home.path(), &["index"]);
    let mut took = Vec::with_capacity(SAVES);
    for n in 0..SAVES {
        run(home.path(), &["write", &format!("new/m{n}"), &format!("Meeting {n} was about the colour of door {}.", n % 31)]);
        let begun = Instant::now();
        run(home.path(), &["search", "the colour of a door", "--max-results", "5"]);
        took.push(begun.elapsed());
    }
    let median = |part: &[Duration]| {
        let mut part = part.to_vec();
        part.sort();
        part[part.len() / 2].as_secs_f64() * 1e3
    };
    let (first, last) = (median(&took[..50]), median(&took[SAVES - 50..]));
    let stats: Value = serde_json::from_str(&run(home.path(), &["stats", "--json"])).unwrap();
    println!(
        "a search after each of {SAVES} saves: {first:.2} ms at first, {last:.2} ms at last, {:.2} times (limit 1.5); index: {}",
        last / first,
        stats["search"][0]["size"]
    );
}

fn run(home: &Path, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memdir"));
    command.env_clear().env("HOME", home).env("MEMDIR_HOME", home.join("home")).env("MEMDIR_DIR", home.join("memory"));
    let output = command.current_dir(home).args(args).output().unwrap();
    // A search that finds nothing exits with 1; what is missing is counted.
    let is_expected = output.status.success() || (args[0] == "search" && output.status.code() == Some(1));
    assert!(is_expected, "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
