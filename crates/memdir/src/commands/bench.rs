//! `memdir bench`: what a person can measure on their own machine.

mod audit;
mod deeds;
mod generate;
mod index;
mod random;
mod search;
mod torture;
mod worker;

use crate::{
    args::{Bench, BenchWhat},
    exit::Failure,
    output::{Answer, Look},
};
use std::path::{Path, PathBuf};

/// Runs a bench. `dir` is `--dir`: where its files are made.
pub(crate) fn run(bench: &Bench, dir: Option<&Path>, look: Look) -> Result<Answer, Failure> {
    super::survive_size_limit();
    match &bench.what {
        BenchWhat::Torture(args) => torture::run(args, dir, look),
        BenchWhat::Search(args) => search::run(args, dir),
        BenchWhat::Index(args) => index::run(args, dir),
        BenchWhat::TortureWorker(args) => worker::run(args),
    }
}

/// A directory that holds nothing yet: a bench never touches a real memory.
fn empty(dir: &Path) -> Result<PathBuf, Failure> {
    let fail = |source| Failure::File { doing: "make", path: dir.to_owned(), source };
    std::fs::create_dir_all(dir).map_err(fail)?;
    if std::fs::read_dir(dir).map_err(fail)?.next().is_some() {
        return Err(Failure::Usage {
            message: format!("{} is not empty", dir.display()),
            hint: "Give --dir a new directory, or leave it out.".into(),
        });
    }
    dir.canonicalize().map_err(fail)
}

/// A scratch directory.
fn scratch() -> Result<tempfile::TempDir, Failure> {
    let scratch = tempfile::Builder::new().prefix("memdir-bench-").tempdir();
    scratch.map_err(|source| Failure::File { doing: "make a directory in", path: std::env::temp_dir(), source })
}
