//! Keeps the plans of one space and their outcomes, in a directory outside of every mount. Plans are private: they contain the texts
//! of memories.

use super::{DreamApplied, DreamPlan, DreamReason, parse, render};
use crate::base::sort::SharedSort as _;
use crate::{
    base::{
        disk::{self, FileLock, LockWait, Replace},
        error::{Error, Result},
    },
    store::{Change, ChangeFilter, Store, Verb},
};
use jiff::{Timestamp, civil::Date};
use serde::{Deserialize, Serialize};
use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// The plans that are kept; the oldest are removed.
const MAX_PLANS: usize = 20;
/// The applied plans that are remembered.
const MAX_APPLIED: usize = 100;

/// The plans of one space.
#[derive(Debug, Clone)]
pub struct DreamShelf {
    dir: PathBuf,
}

/// A kept plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeptPlan {
    /// The file.
    pub file: PathBuf,
    /// When the plan was made.
    pub made: Timestamp,
    /// The number of operations in the file now.
    pub operations: usize,
    /// What became of it.
    pub state: PlanState,
}

/// What became of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PlanState {
    /// It was not applied.
    Open,
    /// It was applied as this change.
    Applied(String),
    /// The file cannot be parsed, for this reason.
    Invalid(String),
}

/// What is remembered about the dreams of a space.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DreamState {
    /// When the last plan was made.
    pub last_plan: Option<Timestamp>,
    /// The number of its operations.
    pub last_operations: usize,
    /// When a session end last found that a plan is due, and tried to make one.
    pub last_look: Option<Timestamp>,
    /// Sessions that ended since the last plan. They are counted only while automatic plans are on.
    pub sessions: u64,
    /// Why the last attempt to make a plan failed; `None` after a plan was made.
    pub last_error: Option<String>,
    /// The plans that were applied, oldest first.
    pub applied: Vec<LogProgress>,
    /// Days whose logs had nothing to distil, so that no plan about them was applied.
    pub nothing_in_logs: Option<ReadLogs>,
}

/// Days whose logs were read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadLogs {
    /// The last day that applied plans covered then.
    pub after: Option<Date>,
    /// The last of the days.
    pub through: Date,
}

/// An applied plan, and how far it covered the logs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogProgress {
    /// When it was applied.
    pub at: Timestamp,
    /// The file name of the plan.
    pub plan: String,
    /// The hash of the plan's text, as it was applied.
    #[serde(default)]
    pub digest: String,
    /// The change.
    pub change: String,
    /// The number of operations that were applied.
    pub operations: usize,
    /// The last day whose log it covered.
    pub logs_through: Option<Date>,
}

impl DreamState {
    /// The last day whose log an applied plan covers, without plans that were undone.
    pub fn logs_through(&self, store: &dyn Store) -> Result<Option<Date>> {
        Ok(self.clone().without_undone(store)?.covered_logs())
    }

    /// The last day whose log needs no other plan, if none of the applied ones was undone.
    pub fn covered_logs(&self) -> Option<Date> {
        let applied = self.applied.iter().filter_map(|applied| applied.logs_through).max();
        // If a plan was undone since, its days are before those that were read.
        let read = self.nothing_in_logs.as_ref().filter(|read| read.after <= applied);
        applied.max(read.map(|read| read.through))
    }

    /// The state without the applied plans whose changes were undone.
    pub fn without_undone(mut self, store: &dyn Store) -> Result<DreamState> {
        if !self.applied.is_empty() {
            let undone = undone(&store.changes(&ChangeFilter { most: 1_000, ..ChangeFilter::default() })?);
            self.applied.retain(|applied| !undone.contains(&applied.change));
        }
        Ok(self)
    }
}

/// The ids of changes that are undone, given the changes newest first.
fn undone(changes: &[Change]) -> Vec<String> {
    let mut cancelled: Vec<String> = Vec::new();
    let mut out = Vec::new();
    for change in changes {
        if let Some(undoes) = change.undoes.as_ref().filter(|_| !cancelled.contains(&change.id.0)) {
            cancelled.push(undoes.0.clone());
            if change.verb == Verb::Undo {
                out.push(undoes.0.clone());
            }
        }
    }
    out
}

impl DreamShelf {
    /// The plans that are kept in a directory, which need not exist.
    pub fn new(dir: impl Into<PathBuf>) -> DreamShelf {
        DreamShelf { dir: dir.into() }
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Keeps a plan and returns its file. A plan that could not be read again is an error.
    pub fn keep(&self, plan: &DreamPlan) -> Result<PathBuf> {
        let text = render(plan);
        parse::check_size("the plan", &text)?;
        let stamp = plan.made.to_zoned(jiff::tz::TimeZone::UTC).strftime("%Y%m%dT%H%M%SZ").to_string();
        let write = || -> io::Result<PathBuf> {
            disk::create_private_dir(&self.dir)?;
            let _lock = FileLock::for_update(&self.state_file(), LockWait::COMMAND)?;
            let name = |n: usize| if n == 0 { format!("plan-{stamp}.md") } else { format!("plan-{stamp}-{n}.md") };
            let file = (0..1_000).map(|n| self.dir.join(name(n))).find(|file| !file.exists());
            let file = file.ok_or_else(|| io::Error::from(io::ErrorKind::AlreadyExists))?;
            disk::replace(&file, Replace::DURABLE, |file| file.write_all(text.as_bytes()))?;
            self.drop_oldest();
            Ok(file)
        };
        write().map_err(|error| Error::io("save a plan in", &self.dir, error))
    }

    /// The kept plans, newest first. A plan whose change was undone is open again.
    pub fn plans(&self, store: &dyn Store) -> Result<Vec<KeptPlan>> {
        let state = self.state().without_undone(store)?;
        let mut files = self.files();
        files.reverse();
        Ok(files.into_iter().map(|file| to_kept_plan(&state, file)).collect())
    }

    /// The newest kept plan that was not applied. Older plans are not read.
    pub fn newest_open(&self, store: &dyn Store) -> Result<Option<KeptPlan>> {
        let state = self.state().without_undone(store)?;
        Ok(self.files().into_iter().rev().map(|file| to_kept_plan(&state, file)).find(|plan| plan.state == PlanState::Open))
    }

    /// The kept plan with this file name and the text of its file; `None` if there is none. Never opens anything but a kept plan.
    pub fn open_plan(&self, store: &dyn Store, name: &str) -> Result<Option<(KeptPlan, String)>> {
        let Some(file) = self.files().into_iter().find(|file| file.file_name().is_some_and(|other| other == name)) else {
            return Ok(None);
        };
        let text = fs::read_to_string(&file).map_err(|error| Error::io("read", &file, error))?;
        Ok(Some((to_kept_plan(&self.state().without_undone(store)?, file), text)))
    }

    /// Records that a plan was made. Logs without content for a plan are not read again.
    pub fn record_made(&self, plan: &DreamPlan, store: &dyn Store) -> Result<()> {
        let applied = DreamState { nothing_in_logs: None, ..self.state() }.logs_through(store)?;
        let has_facts = plan.operations.iter().any(|operation| operation.reason == DreamReason::Log);
        let read = plan.logs_through.filter(|through| !has_facts && Some(*through) > applied);
        let update = self.update(LockWait::COMMAND, |state| {
            if let Some(through) = read {
                state.nothing_in_logs = Some(ReadLogs { after: applied, through });
            }
            (state.last_plan, state.last_operations) = (Some(plan.made), plan.operations.len());
            (state.sessions, state.last_error) = (0, None);
        });
        update.map(drop).map_err(|error| Error::io("write", &self.dir, error))
    }

    /// Records why no plan could be made, until one is made. Best effort.
    pub fn record_failure(&self, why: &str) {
        let _ = self.update(LockWait::BEST_EFFORT, |state| state.last_error = Some(why.to_owned()));
    }

    /// Records that the plan of a file was applied, if that changed something; `digest` is that of the file's text. If the state cannot be
    /// written, the change is made anyway, and only how far the logs were read is forgotten.
    pub fn record_applied(&self, file: &Path, digest: String, applied: &DreamApplied, at: Timestamp) {
        let Some(change) = &applied.change else { return };
        let progress = LogProgress {
            at,
            plan: file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
            digest,
            change: change.0.clone(),
            operations: applied.applied.len(),
            logs_through: applied.logs_through,
        };
        let _ = self.update(LockWait::COMMAND, |state| state.applied.push(progress));
    }

    /// What is remembered. An unreadable file counts as empty.
    pub fn state(&self) -> DreamState {
        fs::read(self.state_file()).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    /// Changes what is remembered, under a lock.
    pub fn update(&self, wait: LockWait, change: impl FnOnce(&mut DreamState)) -> io::Result<DreamState> {
        disk::create_private_dir(&self.dir)?;
        let _lock = FileLock::for_update(&self.state_file(), wait)?;
        let before = self.state();
        let mut state = before.clone();
        change(&mut state);
        let excess = state.applied.len().saturating_sub(MAX_APPLIED);
        state.applied.drain(..excess);
        if state != before {
            let text = serde_json::to_string_pretty(&state)?;
            disk::replace(&self.state_file(), Replace::DURABLE, |file| file.write_all(text.as_bytes()))?;
        }
        Ok(state)
    }

    /// The change as which a plan with this text was applied, unless it was undone since.
    pub fn applied_as(&self, digest: &str, store: &dyn Store) -> Result<Option<String>> {
        let state = self.state().without_undone(store)?;
        Ok(state.applied.iter().rev().find(|applied| applied.digest == digest).map(|applied| applied.change.clone()))
    }

    /// Locks the applying of plans, so that of two processes with one plan the second sees that it was applied.
    pub fn lock_applying(&self) -> io::Result<FileLock> {
        disk::create_private_dir(&self.dir)?;
        FileLock::for_update(&self.dir.join("applying"), LockWait::COMMAND)
    }

    /// Locks the making of plans; `None` if another process makes one. The lock ends with the process.
    pub fn lock_making(&self) -> io::Result<Option<FileLock>> {
        disk::create_private_dir(&self.dir)?;
        FileLock::acquire(&self.dir.join("making.lock"), LockWait::Never)
    }

    fn state_file(&self) -> PathBuf {
        self.dir.join("state.json")
    }

    /// The files of plans, oldest first.
    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_plan = |path: &PathBuf| {
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("plan-") && name.ends_with(".md"))
        };
        let mut files: Vec<PathBuf> = entries.filter(is_plan).collect();
        files.shared_sort_by_key(|file| plan_order(file));
        files
    }

    fn drop_oldest(&self) {
        let files = self.files();
        let excess = files.len().saturating_sub(MAX_PLANS);
        // What cannot be removed is removed next time.
        files.iter().take(excess).for_each(|file| drop(fs::remove_file(file)));
    }
}

/// The order of plans by their names: the time, then the number among those of one second.
fn plan_order(file: &Path) -> (String, u32) {
    let name = file.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let rest = name.strip_prefix("plan-").unwrap_or(name);
    match rest.split_once('-') {
        Some((time, number)) => (time.to_owned(), number.parse().unwrap_or(u32::MAX)),
        None => (rest.to_owned(), 0),
    }
}

fn to_kept_plan(state: &DreamState, file: PathBuf) -> KeptPlan {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let parsed =
        fs::read_to_string(&file).map_err(|error| error.to_string()).and_then(|text| parse(&text).map_err(|error| error.to_string()));
    let applied = state.applied.iter().rev().find(|applied| applied.plan == name);
    match (parsed, applied) {
        (Ok(plan), Some(applied)) => {
            KeptPlan { file, made: plan.made, operations: plan.operations.len(), state: PlanState::Applied(applied.change.clone()) }
        }
        (Ok(plan), None) => KeptPlan { file, made: plan.made, operations: plan.operations.len(), state: PlanState::Open },
        (Err(why), _) => KeptPlan { file, made: Timestamp::UNIX_EPOCH, operations: 0, state: PlanState::Invalid(why) },
    }
}
