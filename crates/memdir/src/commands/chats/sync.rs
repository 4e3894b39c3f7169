//! `memdir chats sync`: takes in what was said since the last time.

use super::{HOW_TO_TURN_ON, keep};
use crate::{
    args::ChatsSync,
    config::{self, Settings},
    exit::Failure,
    output::{Answer, Look, Page},
};
use indicatif::{ProgressBar, ProgressStyle};
use jiff::{Timestamp, ToSpan as _};
use memdir_core::{
    chats::sync::{Bounds, Step, Synced, sync},
    secrets,
    time::{Clock as _, SystemClock},
};
use std::io;

/// How long a command that only wants to be up to date takes for it.
const FRESH_MS: i64 = 500;
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
    bar.finish_and_clear();
    Ok(Answer::new(synced, show))
}

/// Takes in what is new, for a moment; says so if that was not enough.
pub(super) fn fresh(settings: &Settings) -> Result<Vec<String>, Failure> {
    let synced = take_in(settings, Bounds { until: after(FRESH_MS), never_wait: true }, &mut |_| {})?;
    Ok(if synced.left > 0 { vec![left(&synced)] } else { Vec::new() })
}

fn take_in(settings: &Settings, bounds: Bounds, progress: &mut dyn FnMut(Step<'_>)) -> Result<Synced, Failure> {
    let chats = &settings.config.chats;
    if !chats.settings.on {
        return Ok(Synced { off: true, ..Synced::default() });
    }
    let sources = config::chat_roots(&chats.folders).sources();
    Ok(sync(&sources, &keep(settings), &chats.settings, &|text| secrets::mask(text), &SystemClock, bounds, progress)?)
}

fn after(millis: i64) -> Option<Timestamp> {
    SystemClock.now().checked_add(millis.milliseconds()).ok()
}

fn left(synced: &Synced) -> String {
    format!("{} conversations were not taken in yet; `memdir chats sync` does the rest", synced.left)
}

fn show(synced: &Synced, page: &mut Page<'_>) -> io::Result<()> {
    if synced.off {
        page.note(HOW_TO_TURN_ON);
        return page.line("Nothing was taken in.");
    }
    if synced.left > 0 {
        page.note(left(synced));
    }
    if !synced.removed.is_empty() {
        page.note(format!("{} conversations went, being too old or too many", synced.removed.len()));
    }
    for (path, problem) in synced.problems.iter().take(TOLD) {
        let line = problem.line.map_or(String::new(), |line| format!(":{line}"));
        page.note(if path.as_os_str().is_empty() { problem.what.clone() } else { format!("{}{line}: {}", path.display(), problem.what) });
    }
    if synced.problems.len() > TOLD {
        page.note(format!("{} more problems; --json tells them all", synced.problems.len() - TOLD));
    }
    page.line(format!("Took in {} turns of {} conversations; there are {}.", synced.turns, synced.written.len(), synced.sessions))
}
