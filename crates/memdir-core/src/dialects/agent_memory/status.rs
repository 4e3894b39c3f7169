//! `memory_daemon_status`: that memdir needs no daemon and consolidates nothing, and what another program's lock file says.

use super::sessions_prefix;
use crate::{
    base::{error::Result, path::MemoryPath, text, time::age},
    operations::raw_files,
    tools::{ToolContext, ToolResult, args::Args},
};
use serde_json::json;

/// The lock file of mcp-agent-memory's daemon: its modification time is the last run, its content the PID of the running process.
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
    let since = sessions.iter().filter(|entry| last.is_none_or(|last| entry.stamp.modified() > last)).count();
    let lines = [
        "Daemon: not needed; saved sessions are available at once".to_owned(),
        "Consolidation: none; memdir keeps sessions as they are".to_owned(),
        match (holder, last) {
            (Some(pid), _) => format!("Last consolidation: another program runs one now (PID {pid})"),
            (None, Some(last)) => format!("Last consolidation: {} ({}), by another program", seconds(last), age(now, last)),
            (None, None) => "Last consolidation: never".to_owned(),
        },
        format!("Sessions: {}, of which {since} since then", sessions.len()),
    ];
    let fields = json!({
        "lastRun": last.map(seconds), "runningPid": holder, "sessions": sessions.len(), "sessionsSince": since, "due": false,
        "minHours": null, "minSessions": null,
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
