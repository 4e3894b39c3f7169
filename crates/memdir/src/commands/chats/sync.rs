//! `memdir chats sync`: archives new turns of past conversations, and indexes them.

use super::{CHATS_ARE_OFF, counted};
use crate::{
    args::ChatsSyncArgs,
    candidates,
    config::Settings,
    exit::Failure,
    output::{CommandOutput, OutputOptions, Printer, visible},
    scope::Scope,
    spaces,
};
use jiff::{Timestamp, ToSpan as _};
use memdir_chats::{SyncLimits, SyncOutcome, SyncProgress};
use memdir_core::{Clock as _, SystemClock, internal::base::limits};
use serde::Serialize;
use std::io;

/// The maximum number of problems that are printed.
const MAX_PROBLEMS: usize = 10;

pub(crate) fn run(args: &ChatsSyncArgs, settings: &Settings, scope: &Scope, look: OutputOptions) -> Result<CommandOutput, Failure> {
    Ok(CommandOutput::new(sync_all(args, settings, scope, look)?, show))
}

/// Archives and indexes all new turns, with progress on a terminal; returns the summary on one line.
pub(in crate::commands) fn sync_now(settings: &Settings, scope: &Scope, look: OutputOptions) -> Result<String, Failure> {
    Ok(sync_all(&ChatsSyncArgs { seconds: None }, settings, scope, look)?.summary().join("; "))
}

fn sync_all(args: &ChatsSyncArgs, settings: &Settings, scope: &Scope, look: OutputOptions) -> Result<Report, Failure> {
    let until = args.seconds.and_then(|seconds| time_in(i64::try_from(seconds).ok()?.checked_mul(1000)?));
    let bar = look.progress_bar(0);
    let outcome = sync(settings, SyncLimits { until, never_wait: false }, &mut |progress| {
        bar.set_length(progress.total as u64);
        bar.set_position(progress.done as u64);
        bar.set_message(visible(&format!("{} {}", progress.session.host, progress.session.id)).into_owned());
    })?;
    // Otherwise the next search would have to wait for this.
    if !outcome.written.is_empty()
        && let Some((memdir, _)) = spaces::open_chats(settings)?
    {
        bar.set_message("indexing");
        memdir.searcher()?.index(memdir.store(), false, &|_| {})?;
    }
    bar.set_message("candidates");
    let candidates = find_candidates(settings, scope, until)?;
    bar.finish_and_clear();
    let kept = if outcome.off { 0 } else { crate::mounts::chat_archive(settings).count() };
    Ok(Report { outcome, kept, candidates })
}

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    outcome: SyncOutcome,
    /// The number of archived conversations.
    kept: usize,
    /// The names of new candidates in the inbox of this project.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<String>,
}

impl Report {
    /// What was archived and found, a line each.
    fn summary(&self) -> Vec<String> {
        let Report { outcome, kept, candidates } = self;
        let (turns, written) =
            (counted(outcome.turns, "turn", "turns"), counted(outcome.written.len() as u64, "conversation", "conversations"));
        let kept = counted(*kept as u64, "conversation", "conversations");
        let mut lines = vec![format!("synced {turns} in {written}; the archive has {kept}")];
        if !candidates.is_empty() {
            lines.push(format!(
                "{} in the inbox; review with: memdir inbox",
                counted(candidates.len() as u64, "new candidate", "new candidates")
            ));
        }
        lines
    }
}

/// Looks for candidates in the conversations of this project. A memory that is off has no inbox.
fn find_candidates(settings: &Settings, scope: &Scope, until: Option<Timestamp>) -> Result<Vec<String>, Failure> {
    if scope.off.is_some() || !settings.config.chats.settings.on {
        return Ok(Vec::new());
    }
    let opened = spaces::open_lazy(settings, scope)?;
    Ok(candidates::find_archived(settings, scope, &opened.memdir, until, None)?.added)
}

/// Syncs for at most [`limits::CHAT_FRESH_MS`], and returns a note if that was not enough.
pub(in crate::commands) fn catch_up(settings: &Settings) -> Result<Vec<String>, Failure> {
    let outcome = sync(settings, SyncLimits { until: time_in(limits::CHAT_FRESH_MS), never_wait: true }, &mut |_| {})?;
    Ok(outcome.note().into_iter().collect())
}

fn sync(settings: &Settings, bounds: SyncLimits, progress: &mut dyn FnMut(SyncProgress<'_>)) -> Result<SyncOutcome, Failure> {
    if !settings.config.chats.settings.on {
        return Ok(SyncOutcome { off: true, ..SyncOutcome::default() });
    }
    Ok(spaces::syncer(settings).sync(bounds, progress)?)
}

fn time_in(millis: i64) -> Option<Timestamp> {
    SystemClock.now().checked_add(millis.milliseconds()).ok()
}

fn show(report: &Report, printer: &mut Printer<'_>) -> io::Result<()> {
    let outcome = &report.outcome;
    if outcome.off {
        printer.note(CHATS_ARE_OFF);
        return printer.line("nothing synced");
    }
    if outcome.left > 0 {
        printer.note(outcome.left_note());
    }
    if !outcome.removed.is_empty() {
        printer.note(format!(
            "removed {} from the archive to stay within its limits (chats.keep_days, chats.keep_bytes)",
            counted(outcome.removed.len() as u64, "conversation", "conversations")
        ));
    }
    for (path, problem) in outcome.problems.iter().take(MAX_PROBLEMS) {
        let line = problem.line.map_or(String::new(), |line| format!(":{line}"));
        printer.note(if path.as_os_str().is_empty() {
            problem.what.clone()
        } else {
            format!("{}{line}: {}", path.display(), problem.what)
        });
    }
    if outcome.problems.len() > MAX_PROBLEMS {
        let more = counted((outcome.problems.len() - MAX_PROBLEMS) as u64, "more problem", "more problems");
        printer.note(format!("{more} not shown; list all problems of a sync with --json"));
    }
    for empty in &outcome.empty_hosts {
        printer.note(format!("{}; {}", empty.describe(), empty.hint()));
    }
    report.summary().into_iter().try_for_each(|line| printer.line(line))
}
