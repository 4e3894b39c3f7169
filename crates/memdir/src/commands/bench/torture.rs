//! `memdir bench torture`: concurrent processes on several mounts, some of them killed, then an audit.

use super::{
    audit::{self, Audit},
    changes, empty,
    random::Random,
    worker,
};
use crate::{
    args::TortureArgs,
    exit::{Exit, Failure},
    output::{CommandOutput, OutputOptions, Printer},
};
use clap::ValueEnum as _;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use memdir_core::{MemoryPath, Write, internal::base::time::Stopwatch};
use serde::Serialize;
use std::{
    io,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

#[derive(Serialize)]
struct TortureReport {
    processes: u32,
    changes: u64,
    kills: u64,
    seed: u64,
    seconds: f64,
    #[serde(flatten)]
    audit: Audit,
    /// Errors that the processes printed.
    errors: Vec<String>,
    /// The directory of the files, if they were kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    work: Option<PathBuf>,
}

pub(crate) fn run(args: &TortureArgs, dir: Option<&Path>, options: OutputOptions) -> Result<CommandOutput, Failure> {
    let scratch = tempfile::Builder::new().prefix("memdir-torture-").tempdir();
    let scratch = scratch.map_err(|source| Failure::File { doing: "create a directory in", path: std::env::temp_dir(), source })?;
    let work = match dir {
        Some(dir) => empty(dir)?,
        None => scratch.path().to_owned(),
    };
    let watch = Stopwatch::start();
    let seed = args.seed.unwrap_or_else(|| u64::from(std::process::id()) ^ time_seed());
    let mut run = Run { args, work: &work, random: Random::new(seed), until: args.changes, kills: 0, errors: Vec::new() };
    board(&work, args.processes)?;
    run.all(options)?;
    let audit = audit::audit(&work, args.processes, &args.mix)?;
    let clean = audit.is_clean() && run.errors.is_empty();
    let kept = if dir.is_some() {
        Some(work.clone())
    } else if clean {
        None
    } else {
        // The files are kept for inspection.
        Some(scratch.keep())
    };
    let report = TortureReport {
        processes: args.processes,
        changes: audit.acknowledged.values().sum(),
        kills: run.kills,
        seed,
        seconds: watch.elapsed().as_secs_f64(),
        audit,
        errors: run.errors,
        work: kept,
    };
    Ok(CommandOutput::new(report, show).exit(if clean { Exit::Success } else { Exit::Negative }))
}

/// Creates the shared board with a line for every process.
pub(crate) fn board(work: &Path, processes: u32) -> Result<(), Failure> {
    let lines: String = (0..processes).map(|process| format!("{}\n", changes::board_line(process, 0))).collect();
    worker::open(work, &changes::MOUNTS[..1], "torture")?.write(&Write::create(MemoryPath::parse(changes::SHARED_BOARD)?, lines))?;
    Ok(())
}

struct Run<'a> {
    args: &'a TortureArgs,
    work: &'a Path,
    random: Random,
    until: u64,
    kills: u64,
    errors: Vec<String>,
}

impl Run<'_> {
    /// Runs all processes to their end. If they end before enough of them were killed, they get more changes to make.
    fn all(&mut self, options: OutputOptions) -> Result<(), Failure> {
        let bar = progress(self.args, options);
        loop {
            let mut running: Vec<(u32, Child)> =
                (0..self.args.processes).map(|number| Ok((number, self.start(number)?))).collect::<Result<_, Failure>>()?;
            while !running.is_empty() {
                if self.kills < self.args.kill {
                    std::thread::sleep(Duration::from_micros(1_000 + self.random.below(20_000)));
                    self.kill_one(&mut running)?;
                } else if let Some((number, child)) = running.pop() {
                    self.collect(number, child)?;
                }
                bar.set_position(self.acknowledged());
            }
            if self.kills >= self.args.kill || !self.errors.is_empty() {
                bar.finish_and_clear();
                return Ok(());
            }
            self.until += self.args.changes;
        }
    }

    fn kill_one(&mut self, running: &mut Vec<(u32, Child)>) -> Result<(), Failure> {
        let chosen = self.random.below(running.len() as u64) as usize;
        let (number, mut child) = running.swap_remove(chosen);
        if child.try_wait().map_err(|source| self.fail(source))?.is_some() {
            return self.collect(number, child);
        }
        child.kill().and_then(|()| child.wait()).map_err(|source| self.fail(source))?;
        self.kills += 1;
        let again = self.start(number)?;
        running.push((number, again));
        Ok(())
    }

    fn collect(&mut self, number: u32, child: Child) -> Result<(), Failure> {
        let ended = child.wait_with_output().map_err(|source| self.fail(source))?;
        if !ended.status.success() {
            let stderr = String::from_utf8_lossy(&ended.stderr).trim().replace('\n', " ");
            self.errors.push(format!("process {number}: {}: {stderr}", ended.status));
        }
        Ok(())
    }

    #[expect(clippy::disallowed_methods, reason = "the user asked for many processes")]
    fn start(&self, number: u32) -> Result<Child, Failure> {
        let program = std::env::current_exe().map_err(|source| self.fail(source))?;
        let mix: Vec<String> =
            self.args.mix.iter().filter_map(|kind| kind.to_possible_value()).map(|kind| kind.get_name().to_owned()).collect();
        Command::new(program)
            .args(["bench", "torture-worker", "--number", &number.to_string(), "--until", &self.until.to_string(), "--mix", &mix.join(",")])
            .arg("--work")
            .arg(self.work)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|source| self.fail(source))
    }

    fn fail(&self, source: io::Error) -> Failure {
        Failure::File { doing: "run the processes in", path: self.work.to_owned(), source }
    }

    fn acknowledged(&self) -> u64 {
        let lines = |number| std::fs::read_to_string(worker::log(self.work, number)).map_or(0, |log| log.matches("done").count());
        (0..self.args.processes).map(|number| lines(number) as u64).sum()
    }
}

fn progress(args: &TortureArgs, options: OutputOptions) -> ProgressBar {
    let bar = ProgressBar::new(u64::from(args.processes) * args.changes);
    if !options.terminal || options.json {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} changes {elapsed}");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// A seed that differs from run to run.
fn time_seed() -> u64 {
    use memdir_core::{Clock as _, SystemClock};
    SystemClock.now().as_nanosecond() as u64
}

fn show(report: &TortureReport, printer: &mut Printer<'_>) -> io::Result<()> {
    let audit = &report.audit;
    let mut rows = vec![["", "count"].map(str::to_owned).to_vec()];
    let mut row = |what: &str, count: u64| rows.push(vec![what.to_owned(), count.to_string()]);
    row("processes", u64::from(report.processes));
    row("kills", report.kills);
    row("acknowledged changes", report.changes);
    audit.acknowledged.iter().for_each(|(kind, count)| row(&format!("  {kind}"), *count));
    row("expected memories and lines", audit.expected);
    row("  present", audit.kept);
    row("  lost", audit.lost.len() as u64);
    row("  torn", audit.torn.len() as u64);
    row("interrupted, consistent", audit.unsure);
    row("wrong entrypoint lines", audit.entrypoint.len() as u64);
    row("journal damage", audit.journal.len() as u64);
    row("leftover files", audit.litter.len() as u64);
    row("errors", report.errors.len() as u64);
    printer.table(&rows)?;
    let wrong = [("lost", &audit.lost), ("torn", &audit.torn), ("entrypoint", &audit.entrypoint), ("journal", &audit.journal)];
    for (what, list) in wrong.into_iter().chain([("litter", &audit.litter), ("error", &report.errors)]) {
        for item in list.iter().take(20) {
            let line = printer.red(&format!("{what}: {item}"));
            printer.line(line)?;
        }
    }
    let verdict = if audit.is_clean() && report.errors.is_empty() {
        printer.green("no change lost")
    } else {
        printer.red("this is a bug in memdir; please report it")
    };
    printer.line(format!("{verdict} ({:.1} s, seed {})", report.seconds, report.seed))?;
    if let Some(work) = &report.work {
        printer.note(format!("files kept in {}", work.display()));
    }
    Ok(())
}
