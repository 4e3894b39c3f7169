//! `memdir bench recall`: the time of recalls on this machine, in a process that stays and as a hook that starts cold.

use super::{
    empty,
    generate::Vocabulary,
    index::IndexCorpus,
    random::Random,
    scratch,
    timing::{self, REPETITIONS, Timing, measure},
};
use crate::{
    args::BenchRecallArgs,
    exit::Failure,
    output::{CommandOutput, Printer},
};
use memdir_core::{Actor, Memdir, Recall, internal::base::text::human_bytes};
use serde::Serialize;
use serde_json::json;
use std::{io, path::Path, process::Command, sync::Arc};

#[derive(Serialize)]
struct RecallBenchReport {
    files: u32,
    bytes: u64,
    times: Vec<Timing>,
}

/// The lengths of messages, in words.
const LENGTHS: [usize; 3] = [20, 60, 300];

pub(crate) fn run(args: &BenchRecallArgs, dir: Option<&Path>) -> Result<CommandOutput, Failure> {
    let scratch = scratch()?;
    let work = dir.map_or_else(|| Ok(scratch.path().to_owned()), empty)?;
    let corpus = IndexCorpus::new(&work, args.files)?;
    // Timestamps of newer files may not show a change, so these files are read again: a store in use has few of them.
    std::thread::sleep(std::time::Duration::from_millis(2_100));
    let cache = corpus.home.join("recall-table");
    let memdir = Memdir::new(Arc::new(corpus.open()?), Actor { name: "bench".into(), session: None });
    let mut times = Vec::new();
    for words in LENGTHS {
        let random = &mut Random::new(words as u64);
        let messages: Vec<String> = (0..args.messages).map(|_| message(&corpus.words, words, random)).collect();
        let recall = |n: usize| {
            let request = Recall { message: Some(&messages[n % messages.len()]), cache: Some(&cache), ..Recall::default() };
            memdir.recall(&request).map(|_| ()).map_err(Failure::from)
        };
        recall(0)?;
        times.push(Timing::from_runs(format!("recall for {words} words"), measure(messages.len(), recall)?));
    }
    let nothing = timing::empty_process()?;
    let hook = hook(&corpus)?.compared_with(&nothing, "/bin/true");
    times.extend([nothing, hook]);
    Ok(CommandOutput::new(RecallBenchReport { files: args.files, bytes: corpus.bytes, times }, show))
}

/// A message of sentences of about twelve words.
fn message(vocabulary: &Vocabulary, words: usize, random: &mut Random) -> String {
    let mut message = String::new();
    for n in 1..=words {
        message.push_str(vocabulary.word(random));
        message.push_str(if n % 12 == 0 || n == words { ". " } else { " " });
    }
    message
}

/// The hook of a message, each in its own process.
#[expect(clippy::disallowed_methods, reason = "the user asked for the cost of processes")]
fn hook(corpus: &IndexCorpus) -> Result<Timing, Failure> {
    let program = std::env::current_exe().map_err(|source| Failure::File { doing: "find", path: "memdir".into(), source })?;
    let random = &mut Random::new(3);
    let run = |n: usize, random: &mut Random| {
        let mut command = Command::new(&program);
        command.arg("--dir").arg(&corpus.memory).args(["hook", "claude-code", "prompt"]);
        command.env("MEMDIR_HOME", &corpus.home).env("XDG_CACHE_HOME", corpus.home.join("one-shot"));
        let input =
            json!({ "session_id": format!("bench-{n}"), "cwd": corpus.memory, "prompt": message(&corpus.words, LENGTHS[0], random) });
        timing::run_with_input(&mut command, &input.to_string()).map_err(|source| Failure::File {
            doing: "run",
            path: program.clone(),
            source,
        })
    };
    run(0, random)?;
    let all = measure(2 * REPETITIONS, |n| run(n + 1, random))?;
    Ok(Timing::from_runs("hook of a message in a new process", all))
}

fn show(report: &RecallBenchReport, printer: &mut Printer<'_>) -> io::Result<()> {
    printer.line(format!("{} files ({})", report.files, human_bytes(report.bytes)))?;
    timing::show(&report.times, printer)
}
