//! `memory_daemon_status`: that memdir needs no daemon, when memories were last tidied and are due again, and what another program's lock
//! file says.

use super::sessions_prefix;
use crate::{
    base::{error::Result, path::MemoryPath, text, time::age},
    operations::{dream_summary::DreamSummary, raw_files},
    tools::{ToolContext, ToolResult, args::ToolArguments},
};
use serde_json::json;

/// The lock file of mcp-agent-memory's daemon: its modification time is the last run, its content the PID of the running process.
const LOCK: &str = ".consolidate-lock";

pub(super) fn run(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<ToolResult> {
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
    let dreams = caller.memdir.context().dreams.as_ref().map(|dreams| dreams(now));
    let applied = dreams.as_ref().and_then(|dreams| dreams.last_applied);
    let since_applied = applied.filter(|at| last.is_none_or(|last| *at > last));
    let (last, by) = match since_applied {
        Some(at) => (Some(at), ", by `memdir dream`"),
        None => (last, ", by another program"),
    };
    let since = sessions.iter().filter(|entry| last.is_none_or(|last| entry.stamp.modified() > last)).count();
    let have_hours_passed = |dreams: &DreamSummary| last.is_none_or(|last| now.as_second() - last.as_second() >= dreams.min_hours * 3_600);
    let due = dreams.as_ref().is_some_and(|dreams| have_hours_passed(dreams) && since as u64 >= dreams.min_sessions);
    // A daemon keeps its PID in the file after a consolidation, so it may be idle.
    let running = holder.map_or_else(String::new, |pid| format!("; the process named in {LOCK} is running (PID {pid})"));
    let mut lines = vec![
        "Daemon: not needed; saved sessions are available immediately".to_owned(),
        match &dreams {
            None => "Consolidation: none; sessions stay unchanged".to_owned(),
            Some(_) => "Consolidation: `memdir dream` makes a plan for the user to apply; sessions stay unchanged".to_owned(),
        },
        match last {
            Some(last) => format!("Last consolidation: {} ({}){by}{running}", seconds(last), age(now, last)),
            None => "Last consolidation: never".to_owned(),
        },
    ];
    lines.extend(dreams.as_ref().map(|dreams| match due {
        true => "Next consolidation: due".to_owned(),
        false => format!("Next consolidation: {}", dreams.due_after(have_hours_passed(dreams))),
    }));
    lines.push(format!("Sessions: {} ({since} since then)", sessions.len()));
    let fields = json!({
        "lastRun": last.map(seconds), "runningPid": holder, "sessions": sessions.len(), "sessionsSince": since, "due": due,
        "minHours": dreams.as_ref().map(|dreams| dreams.min_hours), "minSessions": dreams.as_ref().map(|dreams| dreams.min_sessions),
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
