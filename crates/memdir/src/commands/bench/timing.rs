//! Times of repeated runs, and their ratios to a baseline of the same run.

use crate::{exit::Failure, output::Printer};
use memdir_core::internal::base::time::Stopwatch;
use serde::Serialize;
use std::{
    io::{self, Write as _},
    path::Path,
    process::{Command, Stdio},
};

/// Number of repetitions of slow measurements.
pub(super) const REPETITIONS: usize = 30;

/// Times in milliseconds.
#[derive(Serialize)]
pub(super) struct Timing {
    pub(super) what: String,
    pub(super) p50: f64,
    pub(super) p99: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<Ratio>,
}

/// A ratio to another time.
#[derive(Serialize)]
struct Ratio {
    times: f64,
    of: &'static str,
}

impl Timing {
    /// Summarises the times of all runs.
    pub(super) fn from_runs(what: impl Into<String>, mut all: Vec<f64>) -> Self {
        all.sort_by(f64::total_cmp);
        Timing { what: what.into(), p50: percentile(&all, 50), p99: percentile(&all, 99), ratio: None }
    }

    /// Returns the 50th and the 95th percentile.
    pub(super) fn percentiles(mut all: Vec<f64>) -> (f64, f64) {
        all.sort_by(f64::total_cmp);
        (percentile(&all, 50), percentile(&all, 95))
    }

    /// Adds the ratio to a baseline.
    pub(super) fn compared_with(self, baseline: &Timing, of: &'static str) -> Self {
        Timing { ratio: Some(Ratio { times: self.p50 / baseline.p50, of }), ..self }
    }
}

/// Returns a percentile of sorted times; 0 without any.
fn percentile(sorted: &[f64], part: usize) -> f64 {
    sorted.get((sorted.len() * part / 100).min(sorted.len().saturating_sub(1))).copied().unwrap_or(0.0)
}

/// Measures each of `times` runs, in milliseconds.
pub(super) fn measure(times: usize, mut run: impl FnMut(usize) -> Result<(), Failure>) -> Result<Vec<f64>, Failure> {
    (0..times)
        .map(|n| {
            let watch = Stopwatch::start();
            run(n)?;
            Ok(watch.elapsed().as_secs_f64() * 1e3)
        })
        .collect()
}

/// The baseline of every process: one that does nothing.
pub(super) fn empty_process() -> Result<Timing, Failure> {
    let all = measure(2 * REPETITIONS, |_| spawn(Path::new("/bin/true"), &[]))?;
    Ok(Timing::from_runs("/bin/true", all))
}

/// Runs a program without input and output.
#[expect(clippy::disallowed_methods, reason = "the user asked for the cost of processes")]
pub(super) fn spawn(program: &Path, args: &[&str]) -> Result<(), Failure> {
    run_with_input(Command::new(program).args(args), "").map_err(|source| Failure::File { doing: "run", path: program.to_owned(), source })
}

/// Runs a command with a standard input, and waits for its end.
pub(super) fn run_with_input(command: &mut Command, input: &str) -> io::Result<()> {
    let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
    let mut child = command.stdin(stdin).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes())?;
    }
    child.wait().map(|_| ())
}

/// Prints times as a table.
pub(super) fn show(times: &[Timing], printer: &mut Printer<'_>) -> io::Result<()> {
    let mut rows = vec![["", "p50 ms", "p99 ms", "ratio"].map(str::to_owned).to_vec()];
    rows.extend(times.iter().map(|times| {
        let ratio = times.ratio.as_ref().map_or(String::new(), |ratio| format!("{:.1} × {}", ratio.times, ratio.of));
        vec![times.what.clone(), format!("{:.2}", times.p50), format!("{:.2}", times.p99), ratio]
    }));
    printer.table(&rows)
}
