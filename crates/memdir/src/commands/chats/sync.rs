//! `memdir chats sync`: takes in what was said since the last time, and makes it searchable.

use super::{HOW_TO_TURN_ON, counted};
use crate::{
    args::ChatsSync,
    config::Settings,
    exit::Failure,
    output::{Answer, Look, Page},
    wire,
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

/// Problems that are told one by one.
const TOLD: usize = 10;

pub(crate) fn run(args: &ChatsSync, settings: &Settings, look: Look) -> Result<Answer, Failure> {
    let until = args.seconds.and_then(|seconds| after(i64::try_from(seconds).ok()?.checked_mul(1000)?));
    let bar = if look.terminal && !look.json { ProgressBar::new(0) } else { ProgressBar::hidden() };
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}") {
        bar.set_style(style);
    }
    let synced = take_in(settings, Bounds { until, never_wait: false }, &mut |step| {
        bar.set_length(step.of as u64);
        bar.set_position(step.done as u64);
        bar.set_message(format!("{} {}", step.session.host, step.session.id));
    })?;
    // The first search after much has come in would otherwise wait for this.
    if !synced.written.is_empty()
        && let Some((memdir, _)) = wire::open_chats(settings)?
    {
        bar.set_message("making it searchable");
        memdir.searcher()?.index(memdir.store(), false, &|_| {})?;
    }
    bar.finish_and_clear();
    let kept = if synced.off { 0 } else { wire::keep(settings).count() };
    Ok(Answer::new(Report { synced, kept }, show))
}

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    synced: Synced,
    /// Conversations that are kept, as they are listed.
    kept: usize,
}

/// Takes in what is new, for a moment; says so if that was not enough.
pub(super) fn fresh(settings: &Settings) -> Result<Vec<String>, Failure> {
    let synced = take_in(settings, Bounds { until: after(limits::CHAT_FRESH_MS), never_wait: true }, &mut |_| {})?;
    Ok(synced.note().into_iter().collect())
}

fn take_in(settings: &Settings, bounds: Bounds, progress: &mut dyn FnMut(Step<'_>)) -> Result<Synced, Failure> {
    if !settings.config.chats.settings.on {
        return Ok(Synced { off: true, ..Synced::default() });
    }
    Ok(wire::syncer(settings).sync(bounds, progress)?)
}

fn after(millis: i64) -> Option<Timestamp> {
    SystemClock.now().checked_add(millis.milliseconds()).ok()
}

fn show(Report { synced, kept }: &Report, page: &mut Page<'_>) -> io::Result<()> {
    if synced.off {
        page.note(HOW_TO_TURN_ON);
        return page.line("Nothing was taken in.");
    }
    if synced.left > 0 {
        page.note(synced.left_note());
    }
    if !synced.removed.is_empty() {
        page.note(format!("{} went, being too old or too many", counted(synced.removed.len() as u64, "conversation")));
    }
    for (path, problem) in synced.problems.iter().take(TOLD) {
        let line = problem.line.map_or(String::new(), |line| format!(":{line}"));
        page.note(if path.as_os_str().is_empty() { problem.what.clone() } else { format!("{}{line}: {}", path.display(), problem.what) });
    }
    if synced.problems.len() > TOLD {
        page.note(format!("{} more problems; --json tells them all", synced.problems.len() - TOLD));
    }
    let (turns, written) = (counted(synced.turns, "turn"), counted(synced.written.len() as u64, "conversation"));
    page.line(format!("Took in {turns} of {written}; {kept} {} kept.", if *kept == 1 { "is" } else { "are" }))
}
