//! The plans of a space, what tools report about them, and automatic plans: at the end of a session the hook starts a detached
//! `memdir dream` if a plan is due. The cheapest gate is checked first, and the detached process only makes a plan.

use crate::{
    config::{DreamSetting, Settings, is_in_dream},
    loads,
};
use jiff::Timestamp;
use memdir_core::{
    DreamShelf, DreamState, DreamSummary, Error, PlanState, Store,
    internal::base::{disk::LockWait, text::counted, time},
};
use std::{
    path::Path,
    process::{Command, Stdio},
};

/// Whether a plan is due, or else what it waits for.
pub(crate) fn gate(setting: &DreamSetting, state: &DreamState, now: Timestamp) -> Result<(), String> {
    if !setting.auto {
        return Err("automatic plans are off".into());
    }
    let minutes_since = |at: Timestamp| (now.as_second() - at.as_second()) / 60;
    if let Some(at) = state.last_plan
        && minutes_since(at) < setting.hours * 60
    {
        let hours = counted(setting.hours.unsigned_abs(), "hour", "hours");
        return Err(format!("the last plan was made {}; at least {hours} must pass", time::relative(now, at)));
    }
    if state.sessions < setting.sessions {
        let since = if state.last_plan.is_some() { " since the last plan" } else { "" };
        return Err(format!("{} of {} required sessions have ended{since}", state.sessions, setting.sessions));
    }
    if let Some(at) = state.last_look
        && minutes_since(at) < setting.minutes
    {
        let minutes = counted(setting.minutes.unsigned_abs(), "minute", "minutes");
        return Err(format!("the last attempt to make a plan was {}; at least {minutes} must pass", time::relative(now, at)));
    }
    Ok(())
}

/// The plans of a space, kept in memdir's home.
pub(crate) fn shelf_of(settings: &Settings, store: &dyn Store) -> DreamShelf {
    DreamShelf::new(settings.home.value.join("dreams").join(loads::space(store)))
}

/// The settings file of the agent-memory daemon.
const DAEMON_FILE: &str = "memconsolidate.toml";

/// The settings for a directory of agent-memory: its hours and sessions where the daemon's own settings have them, beside the memory or in
/// the current directory.
pub(crate) fn setting_of_daemon(setting: &DreamSetting, root: &Path, cwd: &Path) -> DreamSetting {
    let places = [Some(root), root.parent(), Some(cwd)];
    let text = places.into_iter().flatten().find_map(|dir| std::fs::read_to_string(dir.join(DAEMON_FILE)).ok());
    let table = text.and_then(|text| text.parse::<toml::Table>().ok()).unwrap_or_default();
    let number = |key: &str| {
        let inner = table.values().filter_map(|value| value.as_table()).find_map(|table| table.get(key));
        table.get(key).or(inner).and_then(toml::Value::as_integer).filter(|number| (0..=100_000).contains(number))
    };
    let log_sessions = number("min_sessions").and_then(|number| u64::try_from(number).ok()).unwrap_or(setting.log_sessions);
    DreamSetting { log_hours: number("min_hours").unwrap_or(setting.log_hours), log_sessions, ..setting.clone() }
}

/// Counts a session that ended, and starts a detached `memdir dream` if a plan is due. Called by the hook; fails without a trace for the host.
pub(crate) fn session_ended(settings: &Settings, store: &dyn Store, now: Timestamp) -> Result<(), Error> {
    let setting = &settings.config.dream;
    // The cheapest gate needs no file. A model that memdir started ends its session, too.
    if !setting.auto || is_in_dream() {
        return Ok(());
    }
    let shelf = shelf_of(settings, store);
    let mut is_due = false;
    let updated = shelf.update(LockWait::BEST_EFFORT, |state| {
        state.sessions += 1;
        is_due = gate(setting, state, now).is_ok();
        if is_due {
            state.last_look = Some(now);
        }
    });
    updated.map_err(|source| Error::io("write", shelf.dir(), source))?;
    if is_due && !is_making(&shelf) {
        start(settings).map_err(|source| Error::io("start", settings.cwd.clone(), source))?;
    }
    Ok(())
}

/// Whether another process makes a plan now. Its lock ends with it, however it ends.
fn is_making(shelf: &DreamShelf) -> bool {
    shelf.lock_making().is_ok_and(|lock| lock.is_none())
}

/// Starts `memdir dream` in the directory of the session, in a session of its own, so that it survives the host.
#[expect(clippy::disallowed_methods, reason = "the user turned automatic plans on")]
fn start(settings: &Settings) -> std::io::Result<()> {
    use std::os::unix::process::CommandExt as _;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--home").arg(&settings.home.value);
    if let Some(dir) = &settings.dir {
        command.arg("--dir").arg(&dir.value);
    }
    if let Some(project) = &settings.project {
        command.arg("--project").arg(&project.value);
    }
    command.arg("dream").current_dir(&settings.cwd).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(drop)
}

/// What tools and prompts say about dreams: when the last one was, and when the next one is due.
pub(crate) fn summary(shelf: &DreamShelf, setting: &DreamSetting, store: &dyn Store, now: Timestamp) -> DreamSummary {
    // Without its history, a store has nothing that could be undone.
    let state = shelf.state().without_undone(store).unwrap_or_default();
    let plans = shelf.plans(store).unwrap_or_default();
    let (hours, sessions) = (setting.log_hours, setting.log_sessions);
    let last = state.applied.last();
    // A plan of a model is not about the logs.
    let distilled = state.applied.iter().rev().find(|applied| applied.logs_through.is_some()).map(|applied| applied.at);
    let waited = distilled.is_none_or(|at| now.as_second() - at.as_second() >= hours * 3_600);
    DreamSummary {
        last_applied: last.map(|last| last.at),
        operations: last.map_or(0, |last| last.operations),
        last_distilled: distilled,
        last_plan: state.last_plan,
        open_plans: plans.iter().filter(|plan| plan.state == PlanState::Open).count(),
        logs_through: state.covered_logs(),
        min_hours: hours,
        min_sessions: sessions,
        hours_passed: waited,
        auto: setting.auto,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_due_when_every_gate_is_open() {
        let now: Timestamp = "2026-03-02T12:00:00Z".parse().unwrap();
        let at = |text: &str| Some(text.parse().unwrap());
        let on = DreamSetting { auto: true, ..DreamSetting::default() };
        let state = DreamState { last_plan: at("2026-03-01T11:00:00Z"), sessions: 5, ..DreamState::default() };
        assert_eq!(gate(&on, &state, now), Ok(()));
        let cases = [
            (DreamSetting::default(), state.clone(), "automatic plans are off"),
            (
                on.clone(),
                DreamState { last_plan: at("2026-03-01T13:00:00Z"), ..state.clone() },
                "the last plan was made 23 hours ago; at least 24 hours must pass",
            ),
            (on.clone(), DreamState { sessions: 4, ..state.clone() }, "4 of 5 required sessions have ended since the last plan"),
            (
                on.clone(),
                DreamState { last_look: at("2026-03-02T11:55:00Z"), ..state.clone() },
                "the last attempt to make a plan was 5 minutes ago; at least 10 minutes must pass",
            ),
        ];
        for (setting, state, why) in cases {
            assert_eq!(gate(&setting, &state, now), Err(why.to_owned()));
        }
    }

    #[test]
    fn the_settings_of_the_daemon_are_read_beside_its_memory() {
        let top = tempfile::tempdir().unwrap();
        let (root, cwd) = (top.path().join("agent/memory"), top.path().join("work"));
        for dir in [&root, &cwd] {
            std::fs::create_dir_all(dir).unwrap();
        }
        let read = || {
            let setting = setting_of_daemon(&DreamSetting::default(), &root, &cwd);
            (setting.log_hours, setting.log_sessions)
        };
        let write = |dir: &Path, text: &str| {
            #[expect(clippy::disallowed_methods, reason = "a fixture")]
            std::fs::write(dir.join(DAEMON_FILE), text).unwrap();
        };
        assert_eq!(read(), (48, 8), "the defaults of the daemon");
        write(&cwd, "[consolidation]\nmin_hours = 12\n");
        assert_eq!(read(), (12, 8), "in the current directory, in any table");
        write(root.parent().unwrap(), "min_hours = 24\nmin_sessions = 3\n");
        assert_eq!(read(), (24, 3), "the file beside the memory comes first");
        write(&root, "min_hours = \"soon\"\nmin_sessions = -4\n");
        assert_eq!(read(), (48, 8), "what is not a number of hours is ignored");
        write(&root, "min_hours = [\n");
        assert_eq!(read(), (48, 8), "and so is what cannot be parsed");
    }
}
