//! `memdir bench index`: how fast a search index is made.

use super::{
    empty,
    generate::{self, Words},
    scratch,
};
use crate::{
    args::BenchIndex as Typed,
    exit::Failure,
    output::{Answer, Page},
    wire,
};
use memdir_core::{
    base::{text::human_bytes, time::Stopwatch},
    search::{Searcher, embed::Embedder},
    store::files::{Mount, Vault},
};
use memdir_embed::StaticModel;
use serde::Serialize;
use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

#[derive(Serialize)]
struct Report {
    files: u32,
    units: u64,
    bytes: u64,
    seconds: f64,
    megabytes_per_second: f64,
    index_bytes: u64,
}

/// Generated memories with an index beside them.
pub(super) struct Bench {
    pub(super) memory: PathBuf,
    pub(super) home: PathBuf,
    pub(super) words: Words,
    pub(super) bytes: u64,
    pub(super) store: Vault,
}

impl Bench {
    pub(super) fn new(work: &Path, files: u32) -> Result<Self, Failure> {
        let fail = |source| Failure::File { doing: "generate memories in", path: work.to_owned(), source };
        let (memory, home) = (work.join("memory"), work.join("home"));
        std::fs::create_dir_all(&memory).map_err(fail)?;
        let words = Words::new();
        let bytes = generate::memories(&memory, files, &words).map_err(fail)?;
        let memory = memory.canonicalize().map_err(fail)?;
        let store = Vault::open(&[Mount::new("", memory.clone(), home.join("journal"))])?;
        Ok(Bench { memory, home, words, bytes, store })
    }

    /// A searcher on the index below the bench's home.
    pub(super) fn searcher(&self, embeds: bool) -> Searcher {
        let embedder: Option<Arc<dyn Embedder>> = embeds.then(|| Arc::new(StaticModel::new()) as Arc<dyn Embedder>);
        let cache = self.home.join("cache").join(if embeds { "hybrid" } else { "words" });
        wire::searcher_in(&self.store, &cache, embedder)
    }
}

pub(crate) fn run(args: &Typed, dir: Option<&Path>) -> Result<Answer, Failure> {
    let scratch = scratch()?;
    let work = dir.map_or_else(|| Ok(scratch.path().to_owned()), empty)?;
    let bench = Bench::new(&work, args.files)?;
    let searcher = bench.searcher(true);
    let watch = Stopwatch::start();
    searcher.index(&bench.store, false, &|_| {})?;
    let seconds = watch.elapsed().as_secs_f64();
    let state = searcher.state(&bench.store)?.remove(0);
    let report = Report {
        files: args.files,
        units: state.units,
        bytes: bench.bytes,
        seconds,
        megabytes_per_second: bench.bytes as f64 / 1e6 / seconds,
        index_bytes: state.size.bytes,
    };
    Ok(Answer::new(report, show))
}

fn show(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    page.line(format!(
        "{} files with {} units, {}, in {:.2} s: {:.1} MB/s with embedding; the index has {}",
        report.files,
        report.units,
        human_bytes(report.bytes),
        report.seconds,
        report.megabytes_per_second,
        human_bytes(report.index_bytes)
    ))
}
