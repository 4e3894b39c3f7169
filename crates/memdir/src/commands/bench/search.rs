//! `memdir bench search`: the time of searches on this machine, compared with other programs.

use super::{
    empty,
    generate::{self, Vocabulary},
    index::IndexCorpus,
    random::Random,
    scratch,
    timing::{self, REPETITIONS, Timing, measure, spawn},
};
use crate::{
    args::BenchSearchArgs,
    exit::Failure,
    output::{CommandOutput, Printer},
};
use memdir_core::{Search, Searcher, internal::base::time::Stopwatch};
use serde::Serialize;
use serde_json::{Value, json};
use std::{
    fs,
    io::{self, BufRead as _, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
};

#[derive(Serialize)]
struct SearchBenchReport {
    files: u32,
    units: u64,
    bytes: u64,
    times: Vec<Timing>,
    #[serde(skip_serializing_if = "Option::is_none")]
    anonymous_bytes: Option<u64>,
}

pub(crate) fn run(args: &BenchSearchArgs, dir: Option<&Path>) -> Result<CommandOutput, Failure> {
    let scratch = scratch()?;
    let work = dir.map_or_else(|| Ok(scratch.path().to_owned()), empty)?;
    let corpus = IndexCorpus::new(&work, args.files)?;
    let random = &mut Random::new(7);
    let queries: Vec<Search> =
        (0..args.queries).map(|_| Search { min_score: 0.0, ..Search::new(generate::query(&corpus.words, random)) }).collect();
    let mut times = Vec::new();

    let words = corpus.searcher(false);
    words.index(&corpus.store, false, &|_| {})?;
    settle(&corpus, &words)?;
    let words = words.watching();
    times.push(warm("lexical search in a server", &corpus, &words, &queries)?);
    drop(words);

    let searcher = corpus.searcher(true);
    searcher.index(&corpus.store, false, &|_| {})?;
    settle(&corpus, &searcher)?;
    let units = searcher.state(&corpus.store)?.remove(0).units;
    times.push(opening(&corpus)?);
    let searcher = searcher.watching();
    let hybrid = warm("hybrid search in a server", &corpus, &searcher, &queries)?;
    let walk = stat_walk(&corpus)?;
    let changed = changed(&corpus, &searcher, &walk)?;
    drop(searcher);
    let nothing = timing::empty_process()?;
    let process = process_search(&corpus, &queries, &nothing)?;
    let ripgrep = ripgrep(&corpus, &hybrid)?;
    let anonymous_bytes = serving(&corpus, &queries);
    times.extend([hybrid, walk, changed, nothing, process]);
    times.extend(ripgrep);
    Ok(CommandOutput::new(SearchBenchReport { files: args.files, units, bytes: corpus.bytes, times, anonymous_bytes }, show))
}

/// Waits until the files are two seconds old: changes of newer files may not show in their timestamps, so they are read again.
fn settle(corpus: &IndexCorpus, searcher: &Searcher) -> Result<(), Failure> {
    std::thread::sleep(std::time::Duration::from_millis(2_100));
    searcher.index(&corpus.store, false, &|_| {})?;
    Ok(())
}

fn warm(what: &str, corpus: &IndexCorpus, searcher: &Searcher, queries: &[Search]) -> Result<Timing, Failure> {
    let search = |n: usize| searcher.search(&corpus.store, &queries[n % queries.len()]).map(|_| ()).map_err(Failure::from);
    measure(queries.len().min(100), search)?;
    Ok(Timing::from_runs(what, measure(queries.len(), search)?))
}

/// Opens an existing index in a new searcher, without listing the files.
fn opening(corpus: &IndexCorpus) -> Result<Timing, Failure> {
    let all = measure(REPETITIONS, |_| corpus.searcher(true).open().map_err(Failure::from))?;
    Ok(Timing::from_runs("open the index", all))
}

/// Walks the files: stats every file and reads none.
fn stat_walk(corpus: &IndexCorpus) -> Result<Timing, Failure> {
    let fail = |source| Failure::File { doing: "walk", path: corpus.memory.clone(), source };
    let all = measure(REPETITIONS, |_| {
        let mut folders = vec![corpus.memory.clone()];
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
    Ok(Timing::from_runs("walk of the files", all))
}

/// Another program changes a file; the next search in a server finds it.
#[expect(clippy::disallowed_methods, reason = "changes a file of the benchmark as an editor would")]
fn changed(corpus: &IndexCorpus, searcher: &Searcher, walk: &Timing) -> Result<Timing, Failure> {
    let path = corpus.memory.join("topic-00/note-00000.md");
    let mut all = Vec::new();
    for n in 0..REPETITIONS {
        let word = format!("changeling{n}");
        fs::write(&path, format!("Now it says {word}.\n")).map_err(|source| Failure::File {
            doing: "write",
            path: path.clone(),
            source,
        })?;
        let watch = Stopwatch::start();
        let answer = searcher.search(&corpus.store, &Search::new(word))?;
        all.push(watch.elapsed().as_secs_f64() * 1e3);
        if answer.hits.is_empty() {
            return Err(Failure::Usage {
                message: "a changed file was not found".into(),
                hint: "this is a bug in memdir; please report it".into(),
            });
        }
    }
    Ok(Timing::from_runs("search after a change in a server", all).compared_with(walk, "a walk"))
}

/// Runs each search in its own process.
#[expect(clippy::disallowed_methods, reason = "the user asked for the cost of processes")]
fn process_search(corpus: &IndexCorpus, queries: &[Search], nothing: &Timing) -> Result<Timing, Failure> {
    let program = std::env::current_exe().map_err(|source| Failure::File { doing: "find", path: "memdir".into(), source })?;
    let cache = corpus.home.join("one-shot");
    let run = |query: &str| {
        let mut command = Command::new(&program);
        command.arg("--dir").arg(&corpus.memory).args(["search", query]);
        command.env("MEMDIR_HOME", &corpus.home).env("XDG_CACHE_HOME", &cache);
        timing::run_with_input(&mut command, "")
    };
    let fail = |source| Failure::File { doing: "run", path: program.clone(), source };
    for _ in 0..3 {
        run("first").map_err(fail)?;
        std::thread::sleep(std::time::Duration::from_millis(700));
    }
    let all = measure(2 * REPETITIONS, |n| run(&queries[n % queries.len()].query).map_err(fail))?;
    Ok(Timing::from_runs("memdir search in a new process", all).compared_with(nothing, "/bin/true"))
}

/// Searches the same words with ripgrep, if it is installed.
fn ripgrep(corpus: &IndexCorpus, hybrid: &Timing) -> Result<Option<Timing>, Failure> {
    let words = &mut Random::new(11);
    let memory = corpus.memory.to_string_lossy().into_owned();
    let asked = |words: &mut Random, vocabulary: &Vocabulary| -> Vec<String> {
        (0..5).flat_map(|_| ["-e".to_owned(), vocabulary.content_word(words).to_owned()]).collect()
    };
    if spawn(Path::new("rg"), &["--version"]).is_err() {
        return Ok(None);
    }
    let all = measure(10, |_| {
        let mut args = vec!["-c".to_owned(), "-i".to_owned()];
        args.extend(asked(words, &corpus.words));
        args.push(memory.clone());
        spawn(Path::new("rg"), &args.iter().map(String::as_str).collect::<Vec<_>>())
    })?;
    Ok(Some(Timing::from_runs("rg -c -i with five words", all).compared_with(hybrid, "a search in a server")))
}

/// Anonymous memory of a server after some searches.
#[expect(clippy::disallowed_methods, reason = "the user asked for the cost of a server")]
fn serving(corpus: &IndexCorpus, queries: &[Search]) -> Option<u64> {
    let mut command = Command::new(std::env::current_exe().ok()?);
    command.arg("--dir").arg(&corpus.memory).arg("mcp");
    command.env("MEMDIR_HOME", &corpus.home).env("XDG_CACHE_HOME", corpus.home.join("one-shot"));
    let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let memory = served(&mut server, queries);
    drop(server.stdin.take());
    server.wait().ok()?;
    memory
}

fn served(server: &mut Child, queries: &[Search]) -> Option<u64> {
    let mut replies = io::BufReader::new(server.stdout.take()?).lines();
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {} });
    for (id, search) in queries.iter().take(2 * REPETITIONS).enumerate() {
        let params = json!({ "name": "memory_search", "arguments": { "query": search.query }, "_meta": meta });
        writeln!(server.stdin.as_mut()?, "{}", json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })).ok()?;
        let answer: Value = serde_json::from_str(&replies.next()?.ok()?).ok()?;
        answer.get("result")?;
    }
    anonymous_memory(server.id())
}

/// Anonymous memory of a process.
fn anonymous_memory(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("RssAnon:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kb| kb * 1024)
}

fn show(report: &SearchBenchReport, printer: &mut Printer<'_>) -> io::Result<()> {
    printer.line(format!(
        "{} files ({} units, {})",
        report.files,
        report.units,
        memdir_core::internal::base::text::human_bytes(report.bytes)
    ))?;
    timing::show(&report.times, printer)?;
    match report.anonymous_bytes {
        Some(bytes) => printer.line(format!("anonymous memory while serving: {}", memdir_core::internal::base::text::human_bytes(bytes))),
        None => Ok(()),
    }
}
