//! `memdir bench`: what a person can measure on their own machine.

mod audit;
mod deeds;
mod torture;
mod worker;

use crate::{
    args::{Bench, BenchWhat},
    exit::Failure,
    output::{Answer, Look},
};
use std::path::Path;

/// Runs a bench. `dir` is `--dir`: where its files are made.
pub(crate) fn run(bench: &Bench, dir: Option<&Path>, look: Look) -> Result<Answer, Failure> {
    super::survive_size_limit();
    match &bench.what {
        BenchWhat::Torture(args) => torture::run(args, dir, look),
        BenchWhat::TortureWorker(args) => worker::run(args),
    }
}
