//! `memdir bench search`: what searches cost on this machine, beside what other things cost there.

use super::{
    empty,
    generate::{self, Words},
    index::Bench,
    random::Random,
    scratch,
};
use crate::{
    args::BenchSearch as Typed,
    exit::Failure,
    output::{Answer, Page},
};
use memdir_core::{
    base::time::Stopwatch,
    search::{Search, Searcher},
};
use serde::Serialize;
use serde_json::{Value, json};
use std::{
    fs,
    io::{self, BufRead as _, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
};

/// Times in milliseconds.
#[derive(Serialize)]
struct Times {
    what: String,
    p50: f64,
    p99: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<Ratio>,
}

/// Against what else.
#[derive(Serialize)]
struct Ratio {
    times: f64,
    of: &'static str,
}

#[derive(Serialize)]
struct Report {
    files: u32,
    units: u64,
    bytes: u64,
    times: Vec<Times>,
    #[serde(skip_serializing_if = "Option::is_none")]
    anonymous_bytes: Option<u64>,
}

/// How often what takes long is repeated.
const FEW: usize = 30;

pub(crate) fn run(args: &Typed, dir: Option<&Path>) -> Result<Answer, Failure> {
    let scratch = scratch()?;
    let work = dir.map_or_else(|| Ok(scratch.path().to_owned()), empty)?;
    let bench = Bench::new(&work, args.files)?;
    let random = &mut Random::new(7);
    let queries: Vec<Search> =
        (0..args.queries).map(|_| Search { min_score: 0.0, ..Search::new(generate::query(&bench.words, random)) }).collect();
    let mut times = Vec::new();

    let words = bench.searcher(false);
    words.index(&bench.store, false, &|_| {})?;
    settle(&bench, &words)?;
    let words = words.watching();
    times.push(warm("search by words, in a server", &bench, &words, &queries)?);
    drop(words);

    let searcher = bench.searcher(true);
    searcher.index(&bench.store, false, &|_| {})?;
    settle(&bench, &searcher)?;
    let units = searcher.state(&bench.store)?.remove(0).units;
    times.push(opening(&bench)?);
    let searcher = searcher.watching();
    let hybrid = warm("search by words and meaning, in a server", &bench, &searcher, &queries)?;
    let walk = stat_walk(&bench)?;
    let changed = changed(&bench, &searcher, &walk)?;
    drop(searcher);
    let nothing = one_shot("/bin/true", || spawn(Path::new("/bin/true"), &[]))?;
    let shot = shot(&bench, &queries, &nothing)?;
    let ripgrep = ripgrep(&bench, &hybrid)?;
    let anonymous_bytes = serving(&bench, &queries);
    times.extend([hybrid, walk, changed, nothing, shot]);
    times.extend(ripgrep);
    Ok(Answer::new(Report { files: args.files, units, bytes: bench.bytes, times, anonymous_bytes }, show))
}

/// Files made a moment ago may change unseen; they are believed once they are two seconds old.
fn settle(bench: &Bench, searcher: &Searcher) -> Result<(), Failure> {
    std::thread::sleep(std::time::Duration::from_millis(2_100));
    searcher.index(&bench.store, false, &|_| {})?;
    Ok(())
}

fn timed(what: impl Into<String>, mut all: Vec<f64>) -> Times {
    all.sort_by(f64::total_cmp);
    let at = |part: usize| all.get((all.len() * part / 100).min(all.len().saturating_sub(1))).copied().unwrap_or(0.0);
    Times { what: what.into(), p50: at(50), p99: at(99), ratio: None }
}

fn measure(times: usize, mut deed: impl FnMut(usize) -> Result<(), Failure>) -> Result<Vec<f64>, Failure> {
    (0..times)
        .map(|n| {
            let watch = Stopwatch::start();
            deed(n)?;
            Ok(watch.elapsed().as_secs_f64() * 1e3)
        })
        .collect()
}

fn warm(what: &str, bench: &Bench, searcher: &Searcher, queries: &[Search]) -> Result<Times, Failure> {
    let ask = |n: usize| searcher.search(&bench.store, &queries[n % queries.len()]).map(|_| ()).map_err(Failure::from);
    measure(queries.len().min(100), ask)?;
    Ok(timed(what, measure(queries.len(), ask)?))
}

/// An existing index opened by a process that has not seen it: the first view, without looking at the files.
fn opening(bench: &Bench) -> Result<Times, Failure> {
    let all = measure(FEW, |_| bench.searcher(true).open().map_err(Failure::from))?;
    Ok(timed("open the index", all))
}

/// A bare walk: every file is looked at, none is read.
fn stat_walk(bench: &Bench) -> Result<Times, Failure> {
    let fail = |source| Failure::File { doing: "walk", path: bench.memory.clone(), source };
    let all = measure(FEW, |_| {
        let mut folders = vec![bench.memory.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).map_err(fail)? {
                let entry = entry.map_err(fail)?;
                if entry.metadata().map_err(fail)?.is_dir() {
                    folders.push(entry.path());
                }
            }
        }
        Ok(())
    })?;
    Ok(timed("bare walk of the files", all))
}

/// A file is changed by another program; the next search of a server finds it.
#[expect(clippy::disallowed_methods, reason = "a file of the bench is changed as an editor would")]
fn changed(bench: &Bench, searcher: &Searcher, walk: &Times) -> Result<Times, Failure> {
    let path = bench.memory.join("topic-00/note-00000.md");
    let mut all = Vec::new();
    for n in 0..FEW {
        let word = format!("changeling{n}");
        fs::write(&path, format!("Now it says {word}.\n")).map_err(|source| Failure::File {
            doing: "write",
            path: path.clone(),
            source,
        })?;
        let watch = Stopwatch::start();
        let answer = searcher.search(&bench.store, &Search::new(word))?;
        all.push(watch.elapsed().as_secs_f64() * 1e3);
        if answer.hits.is_empty() {
            return Err(Failure::Usage {
                message: "a change was not found".into(),
                hint: "This must not happen; please report it.".into(),
            });
        }
    }
    let times = timed("search after a change, in a server", all);
    Ok(Times { ratio: Some(Ratio { times: times.p50 / walk.p50, of: "a bare walk" }), ..times })
}

fn one_shot(what: &str, mut deed: impl FnMut() -> Result<(), Failure>) -> Result<Times, Failure> {
    Ok(timed(what, measure(2 * FEW, |_| deed())?))
}

#[expect(clippy::disallowed_methods, reason = "the person asked for what processes cost")]
fn spawn(program: &Path, args: &[&str]) -> Result<(), Failure> {
    let fail = |source| Failure::File { doing: "run", path: program.to_owned(), source };
    Command::new(program).args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().map(|_| ()).map_err(fail)
}

/// A search in a process of its own.
#[expect(clippy::disallowed_methods, reason = "the person asked for what processes cost")]
fn shot(bench: &Bench, queries: &[Search], nothing: &Times) -> Result<Times, Failure> {
    let program = std::env::current_exe().map_err(|source| Failure::File { doing: "find", path: "memdir".into(), source })?;
    let cache = bench.home.join("one-shot");
    let run = |query: &str| {
        let mut command = Command::new(&program);
        command.arg("--dir").arg(&bench.memory).args(["search", query]);
        command.env("MEMDIR_HOME", &bench.home).env("XDG_CACHE_HOME", &cache);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().map(|_| ())
    };
    let fail = |source| Failure::File { doing: "run", path: program.clone(), source };
    for _ in 0..3 {
        run("first").map_err(fail)?;
        std::thread::sleep(std::time::Duration::from_millis(700));
    }
    let all = measure(2 * FEW, |n| run(&queries[n % queries.len()].query).map_err(fail))?;
    let times = timed("memdir search, a process each", all);
    Ok(Times { ratio: Some(Ratio { times: times.p50 / nothing.p50, of: "/bin/true" }), ..times })
}

/// The same words looked for by ripgrep, if it is installed.
fn ripgrep(bench: &Bench, hybrid: &Times) -> Result<Option<Times>, Failure> {
    let words = &mut Random::new(11);
    let memory = bench.memory.to_string_lossy().into_owned();
    let asked = |words: &mut Random, vocabulary: &Words| -> Vec<String> {
        (0..5).flat_map(|_| ["-e".to_owned(), vocabulary.telling(words).to_owned()]).collect()
    };
    if spawn(Path::new("rg"), &["--version"]).is_err() {
        return Ok(None);
    }
    let all = measure(10, |_| {
        let mut args = vec!["-c".to_owned(), "-i".to_owned()];
        args.extend(asked(words, &bench.words));
        args.push(memory.clone());
        spawn(Path::new("rg"), &args.iter().map(String::as_str).collect::<Vec<_>>())
    })?;
    let times = timed("rg -c -i with five words", all);
    Ok(Some(Times { ratio: Some(Ratio { times: times.p50 / hybrid.p50, of: "a search in a server" }), ..times }))
}

/// Memory that belongs to no file, of a server that has answered some searches.
#[expect(clippy::disallowed_methods, reason = "the person asked for what a server costs")]
fn serving(bench: &Bench, queries: &[Search]) -> Option<u64> {
    let mut command = Command::new(std::env::current_exe().ok()?);
    command.arg("--dir").arg(&bench.memory).arg("mcp");
    command.env("MEMDIR_HOME", &bench.home).env("XDG_CACHE_HOME", bench.home.join("one-shot"));
    let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let memory = served(&mut server, queries);
    drop(server.stdin.take());
    server.wait().ok()?;
    memory
}

fn served(server: &mut Child, queries: &[Search]) -> Option<u64> {
    let mut said = io::BufReader::new(server.stdout.take()?).lines();
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} });
    for (id, search) in queries.iter().take(2 * FEW).enumerate() {
        let params = json!({ "name": "memory_search", "arguments": { "query": search.query }, "_meta": meta });
        writeln!(server.stdin.as_mut()?, "{}", json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })).ok()?;
        let answer: Value = serde_json::from_str(&said.next()?.ok()?).ok()?;
        answer.get("result")?;
    }
    anonymous(server.id())
}

/// Memory of a process that belongs to no file.
fn anonymous(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("RssAnon:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kb| kb * 1024)
}

fn show(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    page.line(format!("{} files with {} units, {}", report.files, report.units, memdir_core::base::text::human_bytes(report.bytes)))?;
    let mut rows = vec![["", "p50 ms", "p99 ms", "ratio"].map(str::to_owned).to_vec()];
    rows.extend(report.times.iter().map(|times| {
        let ratio = times.ratio.as_ref().map_or(String::new(), |ratio| format!("{:.1} times {}", ratio.times, ratio.of));
        vec![times.what.clone(), format!("{:.2}", times.p50), format!("{:.2}", times.p99), ratio]
    }));
    page.table(&rows)?;
    match report.anonymous_bytes {
        Some(bytes) => page.line(format!("anonymous memory while serving: {}", memdir_core::base::text::human_bytes(bytes))),
        None => Ok(()),
    }
}
