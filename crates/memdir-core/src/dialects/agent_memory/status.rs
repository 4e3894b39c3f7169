//! `memory_daemon_status`: the time of the last consolidation, the sessions since, and when the next one is due.

use super::sessions_prefix;
use crate::{
    base::{error::Result, path::MemoryPath, text, time::age},
    operations::raw_files,
    tools::{ToolContext, ToolResult, args::Args},
};
use serde_json::json;

/// The conditions under which mcp-agent-memory's daemon consolidates, from its source.
const MIN_HOURS: i64 = 48;
const MIN_SESSIONS: usize = 8;
/// The daemon's lock file: its modification time is the last run, its content the PID of the running process.
const LOCK: &str = ".consolidate-lock";

pub(super) fn run(caller: &ToolContext, args: &Args<'_>) -> Result<ToolResult> {
    args.reject_unknown()?;
    let store = caller.memdir.store();
    let now = caller.memdir.context().clock.now();
    let lock = raw_files::get(store, &MemoryPath::parse(LOCK)?)?;
    let last = lock.as_ref().map(|stored| stored.stamp.modified());
    let holder = lock.as_ref().and_then(|stored| text::decode(&stored.bytes).0.trim().parse::<u32>().ok()).filter(|pid| is_running(*pid));
    let sessions = match sessions_prefix(caller) {
        Ok(prefix) => store.list(&prefix)?.entries,
        // Narrowed to a part without sessions.
        Err(_) => Vec::new(),
    };
    let came = sessions.iter().filter(|entry| last.is_none_or(|last| entry.stamp.modified() > last)).count();
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

/// Whether a process with this PID exists.
fn is_running(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
}
