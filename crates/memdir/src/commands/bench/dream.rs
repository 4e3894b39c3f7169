//! `memdir bench dream`: the cost of a plan beside the cost of indexing the same memories, and how both grow with their number.

use super::{
    empty,
    generate::{self, Vocabulary},
    scratch,
};
use crate::{
    args::BenchDreamArgs,
    exit::Failure,
    output::{CommandOutput, Printer},
    spaces,
};
use memdir_core::{
    Actor, Dream, Embedder, FileStore, Import, Incoming, Memdir, Mount,
    internal::base::{text::human_bytes, time::Stopwatch},
};
use memdir_embed::StaticModel;
use serde::Serialize;
use std::{cell::Cell, io, path::Path, sync::Arc};

/// The number of measurements, of which the median counts.
const ROUNDS: usize = 3;

#[derive(Serialize)]
struct DreamBenchReport {
    sizes: Vec<DreamCost>,
    /// The times of the last size divided by those of the first, per memory: 1.0 is linear.
    plan_growth: f64,
    index_growth: f64,
}

/// The cost of a plan for one number of memories.
#[derive(Serialize)]
struct DreamCost {
    files: u32,
    bytes: u64,
    index_seconds: f64,
    plan_seconds: f64,
    /// The time of a plan divided by that of the index.
    ratio: f64,
    operations: usize,
    progress_reports: usize,
    /// The memory that a plan needs at its peak, in bytes; `None` where the system does not report it.
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_bytes: Option<u64>,
}

pub(crate) fn run(args: &BenchDreamArgs, dir: Option<&Path>) -> Result<CommandOutput, Failure> {
    let scratch = scratch()?;
    let work = dir.map_or_else(|| Ok(scratch.path().to_owned()), empty)?;
    let words = Vocabulary::new();
    let sizes = [args.files / 10, args.files].map(|files| measured(&work.join(files.to_string()), files, &words));
    let sizes = sizes.into_iter().collect::<Result<Vec<_>, _>>()?;
    let growth = |time: fn(&DreamCost) -> f64| {
        let per_memory = |cost: &DreamCost| time(cost) / f64::from(cost.files);
        per_memory(&sizes[1]) / per_memory(&sizes[0])
    };
    let report = DreamBenchReport { plan_growth: growth(|cost| cost.plan_seconds), index_growth: growth(|cost| cost.index_seconds), sizes };
    Ok(CommandOutput::new(report, show))
}

fn measured(work: &Path, files: u32, words: &Vocabulary) -> Result<DreamCost, Failure> {
    let fail = |source| Failure::File { doing: "create", path: work.to_owned(), source };
    std::fs::create_dir_all(work.join("memory")).map_err(fail)?;
    let work = work.canonicalize().map_err(fail)?;
    let store = Arc::new(FileStore::open(&[Mount::new("", work.join("memory"), work.join("home/journal"))])?);
    let embedder: Arc<dyn Embedder> = Arc::new(StaticModel::new());
    let searcher = spaces::searcher_in(&*store, &work.join("home/cache"), Some(embedder.clone()));
    let memdir = Memdir::new(store, Actor { name: "bench".into(), session: None });
    // Imported, so that the journal has every memory, as it has in use.
    memdir.import(&Import { memories: (0..files).map(|n| planted(n, words)).collect(), ..Import::default() })?;
    let (mut index, mut plan, mut peaks) = (Vec::new(), Vec::new(), Vec::new());
    let (mut operations, mut bytes) = (0, 0);
    let reports = Cell::new(0);
    for _ in 0..ROUNDS {
        let watch = Stopwatch::start();
        searcher.index(memdir.store(), true, &|_| {})?;
        index.push(watch.elapsed().as_secs_f64());
        let before = reset_peak();
        let (watch, progress) = (Stopwatch::start(), |_| reports.set(reports.get() + 1));
        let made = memdir.dream(&Dream { embedder: Some(&*embedder), progress: Some(&progress), ..Dream::default() })?;
        plan.push(watch.elapsed().as_secs_f64());
        peaks.extend(before.zip(status_bytes("VmHWM:")).map(|(before, peak)| peak.saturating_sub(before)));
        (operations, bytes) = (made.operations.len(), made.bytes);
    }
    let (index_seconds, plan_seconds) = (median(index), median(plan));
    Ok(DreamCost {
        files,
        bytes,
        index_seconds,
        plan_seconds,
        ratio: plan_seconds / index_seconds,
        operations,
        progress_reports: reports.get() / ROUNDS,
        peak_bytes: peaks.into_iter().max(),
    })
}

/// A memory of which some detector may have to say something: copies, relative dates, statements with values, empty ones.
fn planted(n: u32, words: &Vocabulary) -> Incoming {
    let name = format!("topic-{:02}/note-{n:05}", n % 40);
    let text = match n % 10 {
        1 if n % 20 == 1 => generate::memory(n - 1, words),
        1 => format!("{}Copied from another note.\n", generate::memory(n - 1, words)),
        3 => {
            let dated = generate::memory(n, words).replacen("\ntype:", "\nmodified: 2026-03-05\ntype:", 1);
            format!("{dated}The freeze of gate {n} began yesterday.\n")
        }
        5 => format!("{}The gateway {n} listens on port {}.\n", generate::memory(n, words), 8_000 + n),
        7 if n % 100 == 7 => format!("# Idea {n}\n"),
        _ => generate::memory(n, words),
    };
    Incoming { name, text }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Makes the kernel forget the peak of the process's memory, and returns what is resident now.
#[expect(clippy::disallowed_methods, reason = "a file of the kernel, about this process only")]
fn reset_peak() -> Option<u64> {
    std::fs::write("/proc/self/clear_refs", "5").ok()?;
    status_bytes("VmRSS:")
}

/// A number of `/proc/self/status`, in bytes.
fn status_bytes(field: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let value = status.lines().find_map(|line| line.strip_prefix(field))?;
    value.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

fn show(report: &DreamBenchReport, printer: &mut Printer<'_>) -> io::Result<()> {
    let mut rows = vec![["memories", "size", "index s", "plan s", "ratio", "operations", "peak"].map(str::to_owned).to_vec()];
    rows.extend(report.sizes.iter().map(|cost| {
        vec![
            cost.files.to_string(),
            human_bytes(cost.bytes),
            format!("{:.2}", cost.index_seconds),
            format!("{:.2}", cost.plan_seconds),
            format!("{:.2}", cost.ratio),
            cost.operations.to_string(),
            cost.peak_bytes.map_or_else(String::new, human_bytes),
        ]
    }));
    printer.table(&rows)?;
    printer.line(format!(
        "per memory, the larger plan takes {:.2} times as long, the larger index {:.2} times",
        report.plan_growth, report.index_growth
    ))
}
