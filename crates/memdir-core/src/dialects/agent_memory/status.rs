//! `memory_daemon_status`: when memories were last consolidated, what came since, and what the next time waits for.

use super::sessions;
use crate::{
    base::{error::Result, path::MemoryPath, text, time::age},
    operations::exact,
    tools::{Caller, ToolResult, args::Args},
};
use serde_json::json;

/// The gates of the daemon whose directory this is, as its code has them.
const MIN_HOURS: i64 = 48;
const MIN_SESSIONS: usize = 8;
/// The daemon's lock: its time is the last run, its text who runs now.
const LOCK: &str = ".consolidate-lock";

pub(super) fn run(caller: &Caller, args: &Args<'_>) -> Result<ToolResult> {
    args.finish()?;
    let store = caller.memdir.store();
    let now = caller.memdir.context().clock.now();
    let lock = exact::get(store, &MemoryPath::parse(LOCK)?)?;
    let last = lock.as_ref().map(|stored| stored.stamp.modified());
    let holder = lock.as_ref().and_then(|stored| text::decode(&stored.bytes).0.trim().parse::<u32>().ok()).filter(|pid| is_running(*pid));
    let came = store.list(&sessions(caller)?)?.entries.iter().filter(|entry| last.is_none_or(|last| entry.stamp.modified() > last)).count();
    let waits = last.map_or(0, |last| (MIN_HOURS * 3600 - (now.as_second() - last.as_second())).max(0));
    let due = waits == 0 && came >= MIN_SESSIONS;
    let mut lines = vec![
        "Daemon: not needed; what is saved is read and found at once".to_owned(),
        match (holder, last) {
            (Some(pid), _) => format!("Consolidation: running (PID {pid})"),
            (None, Some(last)) => format!("Last consolidation: {} ({})", seconds(last), age(now, last)),
            (None, None) => "Last consolidation: never".to_owned(),
        },
        format!("Sessions since: {came} (at least {MIN_SESSIONS} are wanted)"),
    ];
    lines.push(match (due, waits) {
        (true, _) => "Next consolidation: due".to_owned(),
        (false, 0) => format!("Next consolidation: after {} more sessions", MIN_SESSIONS.saturating_sub(came)),
        (false, left) => {
            format!("Next consolidation: in {} hours at the earliest ({MIN_HOURS} hours between two)", left.div_euclid(3600) + 1)
        }
    });
    let fields = json!({
        "lastRun": last.map(seconds), "runningPid": holder, "sessionsSince": came, "due": due,
        "minHours": MIN_HOURS, "minSessions": MIN_SESSIONS,
    });
    Ok(ToolResult::new(fields, lines.join("\n")))
}

fn seconds(time: jiff::Timestamp) -> String {
    time.round(jiff::Unit::Second).unwrap_or(time).to_string()
}

/// Whether a process of that number exists.
fn is_running(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
}
