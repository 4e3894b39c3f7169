//! `memdir index` and `memdir watch`: the search index brought in step with the files.

use crate::{
    args::Index as Typed,
    exit::Failure,
    output::{Answer, Look, Page},
};
use indicatif::{ProgressBar, ProgressStyle};
use memdir_core::{
    base::{text::human_bytes, time::Stopwatch},
    memdir::Memdir,
    search::indexing::{Indexed, Step},
};
use serde::Serialize;
use std::{io, sync::OnceLock, time::Duration};

/// How long changes are gathered before they are brought in.
const DEBOUNCE: Duration = Duration::from_secs(2);

/// What was done.
#[derive(Serialize)]
struct Done {
    files: usize,
    removed: usize,
    unchanged: usize,
    embedded: usize,
    bytes: u64,
    seconds: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<String>,
}

pub(crate) fn run(args: &Typed, memdir: &Memdir, look: Look) -> Result<Answer, Failure> {
    let watch = Stopwatch::start();
    let bar: OnceLock<ProgressBar> = OnceLock::new();
    let progress = |step: Step| {
        if look.terminal && !look.json {
            bar.get_or_init(|| new_bar(step.of)).set_position(step.done as u64);
        }
    };
    let indexed = memdir.searcher()?.index(memdir.store(), args.rebuild, &progress)?;
    if let Some(bar) = bar.get() {
        bar.finish_and_clear();
    }
    Ok(Answer::new(done(&indexed, watch.elapsed()), show))
}

/// Keeps the index in step until the process is ended.
pub(crate) fn watch(memdir: &Memdir, look: Look) -> Result<Answer, Failure> {
    loop {
        let watch = Stopwatch::start();
        let done = done(&memdir.searcher()?.index(memdir.store(), false, &|_| {})?, watch.elapsed());
        if done.files + done.removed + done.embedded > 0 {
            crate::output::print(&Answer::new(done, show), look)?;
        }
        std::thread::sleep(DEBOUNCE);
    }
}

fn new_bar(files: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} files, {eta} left").unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(files as u64).with_style(style)
}

fn done(indexed: &[Indexed], took: Duration) -> Done {
    Done {
        files: indexed.iter().map(|mount| mount.put).sum(),
        removed: indexed.iter().map(|mount| mount.removed).sum(),
        unchanged: indexed.iter().map(|mount| mount.same).sum(),
        embedded: indexed.iter().map(|mount| mount.embedded).sum(),
        bytes: indexed.iter().map(|mount| mount.bytes).sum(),
        seconds: took.as_secs_f64(),
        problems: indexed.iter().flat_map(|mount| &mount.problems).map(|problem| problem.what.clone()).collect(),
    }
}

fn show(done: &Done, page: &mut Page<'_>) -> io::Result<()> {
    done.problems.iter().for_each(|problem| page.note(problem.clone()));
    if done.files + done.removed + done.embedded == 0 {
        return page.line("The index is in step with the files");
    }
    page.line(format!(
        "{} files brought in ({}), {} taken out, in {:.1} s",
        done.files,
        human_bytes(done.bytes),
        done.removed,
        done.seconds
    ))
}
