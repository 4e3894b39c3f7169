//! `memdir chats sync`: imports new messages and indexes them.

use super::{super::counted, OFF};
use crate::{
    args::ChatsSync,
    config::Settings,
    exit::Failure,
    mounts,
    output::{CommandOutput, OutputOptions, Printer},
    spaces,
};
use indicatif::{ProgressBar, ProgressStyle};
use jiff::{Timestamp, ToSpan as _};
use memdir_chats::sync::{Bounds, Step, Synced};
use memdir_core::base::{
    limits,
    time::{Clock as _, SystemClock},
};
use serde::Serialize;
use std::io;

/// Maximum number of problems that are printed.
const MAX_PROBLEMS: usize = 10;

pub(crate) fn run(args: &ChatsSync, settings: &Settings, options: OutputOptions) -> Result<CommandOutput, Failure> {
    let until = args.seconds.and_then(|seconds| after(i64::try_from(seconds).ok()?.checked_mul(1000)?));
    let bar = if options.terminal && !options.json { ProgressBar::new(0) } else { ProgressBar::hidden() };
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    let synced = import(settings, Bounds { until, never_wait: false }, &mut |step| {
        bar.set_length(step.of as u64);
        bar.set_position(step.done as u64);
        bar.set_message(format!("{} {}", step.session.host, step.session.id));
    })?;
    // Otherwise the first search after a large import would wait for this.
    if !synced.written.is_empty()
        && let Some((memdir, _)) = spaces::open_chats(settings)?
    {
        bar.set_message("indexing");
        memdir.searcher()?.index(memdir.store(), false, &|_| {})?;
    }
    bar.finish_and_clear();
    let kept = if synced.off { 0 } else { mounts::chat_archive(settings).count() };
    Ok(CommandOutput::new(SyncReport { synced, kept }, show))
}

#[derive(Serialize)]
struct SyncReport {
    #[serde(flatten)]
    synced: Synced,
    /// Number of imported conversations.
    kept: usize,
}

/// Imports new messages for a short time; returns a note if that was not enough.
pub(super) fn fresh(settings: &Settings) -> Result<Vec<String>, Failure> {
    let synced = import(settings, Bounds { until: after(limits::CHAT_FRESH_MS), never_wait: true }, &mut |_| {})?;
    Ok(synced.note().into_iter().collect())
}

fn import(settings: &Settings, bounds: Bounds, progress: &mut dyn FnMut(Step<'_>)) -> Result<Synced, Failure> {
    if !settings.config.chats.settings.on {
        return Ok(Synced { off: true, ..Synced::default() });
    }
    Ok(spaces::syncer(settings).sync(bounds, progress)?)
}

fn after(millis: i64) -> Option<Timestamp> {
    SystemClock.now().checked_add(millis.milliseconds()).ok()
}

fn show(SyncReport { synced, kept }: &SyncReport, printer: &mut Printer<'_>) -> io::Result<()> {
    if synced.off {
        printer.note(OFF);
        return printer.line("imported nothing");
    }
    if synced.left > 0 {
        printer.note(synced.left_note());
    }
    if !synced.removed.is_empty() {
        printer
            .note(format!("deleted {} over the retention limits", counted(synced.removed.len() as u64, "conversation", "conversations")));
    }
    for (path, problem) in synced.problems.iter().take(MAX_PROBLEMS) {
        let line = problem.line.map_or(String::new(), |line| format!(":{line}"));
        printer.note(if path.as_os_str().is_empty() {
            problem.what.clone()
        } else {
            format!("{}{line}: {}", path.display(), problem.what)
        });
    }
    if synced.problems.len() > MAX_PROBLEMS {
        printer.note(format!("{} more problems; use --json to see all", synced.problems.len() - MAX_PROBLEMS));
    }
    let messages = counted(synced.turns, "message", "messages");
    let chats = counted(synced.written.len() as u64, "conversation", "conversations");
    printer.line(format!("imported {messages} of {chats} ({kept} in total)"))
}
