//! `memdir bench`: benchmarks and a stress test, for the user's own machine.

mod audit;
mod changes;
mod dream;
mod generate;
mod index;
mod planted;
mod random;
mod recall;
mod replay;
mod rest_client;
mod search;
mod serve;
mod timing;
mod torture;
mod worker;

use crate::{
    args::{BenchArgs, BenchWhat},
    exit::Failure,
    output::{CommandOutput, OutputOptions},
};
use std::path::{Path, PathBuf};

/// Runs a benchmark. `dir` is `--dir`: the directory for its files.
pub(crate) fn run(bench: &BenchArgs, dir: Option<&Path>, options: OutputOptions) -> Result<CommandOutput, Failure> {
    match &bench.what {
        BenchWhat::Torture(args) => torture::run(args, dir, options),
        BenchWhat::Search(args) => search::run(args, dir),
        BenchWhat::Index(args) => index::run(args, dir),
        BenchWhat::Recall(args) => recall::run(args, dir),
        BenchWhat::Dream(args) => dream::run(args, dir),
        BenchWhat::Replay(args) => replay::run(args, dir),
        BenchWhat::Serve(args) => serve::run(args, dir),
        BenchWhat::TortureWorker(args) => worker::run(args),
    }
}

/// Creates a directory, or checks that it is empty: a benchmark never touches a real memory.
fn empty(dir: &Path) -> Result<PathBuf, Failure> {
    let fail = |doing: &'static str| move |source| Failure::File { doing, path: dir.to_owned(), source };
    std::fs::create_dir_all(dir).map_err(fail("create"))?;
    if std::fs::read_dir(dir).map_err(fail("read"))?.next().is_some() {
        return Err(Failure::Usage {
            message: format!("directory {} is not empty", dir.display()),
            hint: "use an empty directory, or omit --dir".into(),
        });
    }
    dir.canonicalize().map_err(fail("read"))
}

/// A temporary directory.
fn scratch() -> Result<tempfile::TempDir, Failure> {
    let scratch = tempfile::Builder::new().prefix("memdir-bench-").tempdir();
    scratch.map_err(|source| Failure::File { doing: "create a directory in", path: std::env::temp_dir(), source })
}
