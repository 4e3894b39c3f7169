//! `memdir bench index`: the time to build a search index.

use super::{
    empty,
    generate::{self, Vocabulary},
    scratch,
};
use crate::{
    args::BenchIndexArgs,
    exit::Failure,
    output::{CommandOutput, Printer},
    spaces,
};
use memdir_core::{
    Embedder, FileStore, Mount, Searcher,
    internal::base::{text::human_bytes, time::Stopwatch},
};
use memdir_embed::StaticModel;
use serde::Serialize;
use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

#[derive(Serialize)]
struct IndexBenchReport {
    files: u32,
    units: u64,
    bytes: u64,
    seconds: f64,
    megabytes_per_second: f64,
    index_bytes: u64,
}

/// Generated memories and their index.
pub(super) struct IndexCorpus {
    pub(super) memory: PathBuf,
    pub(super) home: PathBuf,
    pub(super) words: Vocabulary,
    pub(super) bytes: u64,
    pub(super) store: FileStore,
}

impl IndexCorpus {
    pub(super) fn new(work: &Path, files: u32) -> Result<Self, Failure> {
        let fail = |source| Failure::File { doing: "generate memories in", path: work.to_owned(), source };
        let (memory, home) = (work.join("memory"), work.join("home"));
        std::fs::create_dir_all(&memory).map_err(fail)?;
        let words = Vocabulary::new();
        let bytes = generate::memories(&memory, files, &words).map_err(fail)?;
        let memory = memory.canonicalize().map_err(fail)?;
        let store = open(&memory, &home)?;
        Ok(IndexCorpus { memory, home, words, bytes, store })
    }

    /// Opens the memories once more.
    pub(super) fn open(&self) -> Result<FileStore, Failure> {
        open(&self.memory, &self.home)
    }

    /// A searcher with its index below the corpus's home.
    pub(super) fn searcher(&self, embeds: bool) -> Searcher {
        let embedder: Option<Arc<dyn Embedder>> = embeds.then(|| Arc::new(StaticModel::new()) as Arc<dyn Embedder>);
        let cache = self.home.join("cache").join(if embeds { "hybrid" } else { "words" });
        spaces::searcher_in(&self.store, &cache, embedder)
    }
}

fn open(memory: &Path, home: &Path) -> Result<FileStore, Failure> {
    Ok(FileStore::open(&[Mount::new("", memory, home.join("journal"))])?)
}

pub(crate) fn run(args: &BenchIndexArgs, dir: Option<&Path>) -> Result<CommandOutput, Failure> {
    let scratch = scratch()?;
    let work = dir.map_or_else(|| Ok(scratch.path().to_owned()), empty)?;
    let corpus = IndexCorpus::new(&work, args.files)?;
    let searcher = corpus.searcher(true);
    let watch = Stopwatch::start();
    searcher.index(&corpus.store, false, &|_| {})?;
    let seconds = watch.elapsed().as_secs_f64();
    let state = searcher.state(&corpus.store)?.remove(0);
    let report = IndexBenchReport {
        files: args.files,
        units: state.units,
        bytes: corpus.bytes,
        seconds,
        megabytes_per_second: corpus.bytes as f64 / 1e6 / seconds,
        index_bytes: state.size.bytes,
    };
    Ok(CommandOutput::new(report, show))
}

fn show(report: &IndexBenchReport, printer: &mut Printer<'_>) -> io::Result<()> {
    printer.line(format!(
        "indexed {} files ({} units, {}) in {:.2} s: {:.1} MB/s with embedding; index size {}",
        report.files,
        report.units,
        human_bytes(report.bytes),
        report.seconds,
        report.megabytes_per_second,
        human_bytes(report.index_bytes)
    ))
}
