//! `memdir index` and `memdir watch`: update the search index.

use crate::{
    args::IndexArgs,
    exit::Failure,
    output::{CommandOutput, OutputOptions, Printer},
};
use indicatif::{ProgressBar, ProgressStyle};
use memdir_core::{
    Memdir,
    internal::{
        base::{text::human_bytes, time::Stopwatch},
        search::indexing::{IndexProgress, Indexed},
    },
};
use serde::Serialize;
use std::{io, sync::OnceLock, time::Duration};

/// Time between two updates of `memdir watch`.
const INTERVAL: Duration = Duration::from_secs(2);

#[derive(Serialize)]
struct IndexReport {
    files: usize,
    removed: usize,
    unchanged: usize,
    embedded: usize,
    bytes: u64,
    seconds: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<String>,
}

pub(crate) fn run(args: &IndexArgs, memdir: &Memdir, options: OutputOptions) -> Result<CommandOutput, Failure> {
    let watch = Stopwatch::start();
    let bar: OnceLock<ProgressBar> = OnceLock::new();
    let progress = |step: IndexProgress| {
        if options.terminal && !options.json {
            bar.get_or_init(|| new_bar(step.of)).set_position(step.done as u64);
        }
    };
    let indexed = memdir.searcher()?.index(memdir.store(), args.rebuild, &progress)?;
    if let Some(bar) = bar.get() {
        bar.finish_and_clear();
    }
    Ok(CommandOutput::new(report(&indexed, watch.elapsed()), show))
}

/// Keeps the index up to date until the process is killed.
pub(crate) fn watch(memdir: &Memdir, options: OutputOptions) -> Result<CommandOutput, Failure> {
    loop {
        let watch = Stopwatch::start();
        let report = report(&memdir.searcher()?.index(memdir.store(), false, &|_| {})?, watch.elapsed());
        if report.files + report.removed + report.embedded > 0 {
            crate::output::print(&CommandOutput::new(report, show), options)?;
        }
        std::thread::sleep(INTERVAL);
    }
}

fn new_bar(files: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} files, {eta} left").unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(files as u64).with_style(style)
}

fn report(indexed: &[Indexed], took: Duration) -> IndexReport {
    IndexReport {
        files: indexed.iter().map(|mount| mount.put).sum(),
        removed: indexed.iter().map(|mount| mount.removed).sum(),
        unchanged: indexed.iter().map(|mount| mount.same).sum(),
        embedded: indexed.iter().map(|mount| mount.embedded).sum(),
        bytes: indexed.iter().map(|mount| mount.bytes).sum(),
        seconds: took.as_secs_f64(),
        problems: indexed.iter().flat_map(|mount| &mount.problems).map(|problem| problem.what.clone()).collect(),
    }
}

fn show(report: &IndexReport, printer: &mut Printer<'_>) -> io::Result<()> {
    report.problems.iter().for_each(|problem| printer.note(problem.clone()));
    if report.files + report.removed + report.embedded == 0 {
        return printer.line("unchanged: the index is up to date");
    }
    if report.files + report.removed == 0 {
        let files = super::counted(report.embedded as u64, "file", "files");
        return printer.line(format!("embedded {files} in {:.1} s", report.seconds));
    }
    let indexed = format!("indexed {} ({})", super::counted(report.files as u64, "file", "files"), human_bytes(report.bytes));
    let removed = format!("removed {} from the index", super::counted(report.removed as u64, "file", "files"));
    let what = match (report.files, report.removed) {
        (_, 0) => indexed,
        (0, _) => removed,
        _ => format!("{indexed} and {removed}"),
    };
    printer.line(format!("{what} in {:.1} s", report.seconds))
}
