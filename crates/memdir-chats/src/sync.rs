//! Takes in what was said since the last time. A session's turns and the place they were read up to are written in one
//! step, so that nothing is lost, doubled or torn whenever the process ends.

mod reading;

use super::{
    ChatSource, Host, SessionFile,
    forget::{Retention, Rule},
    keep::{Keep, Mask},
    lock,
    place::Held,
    state::{Known, State},
};
use jiff::{Timestamp, ToSpan};
use memdir_core::base::{
    disk::LockWait,
    error::{Error, Problem, Result},
    limits,
    time::Clock,
};
use memdir_core::search::chats::ChatSync;
use reading::Reading;
use serde::{Deserialize, Serialize};
use std::{
    borrow::Cow,
    path::{Path, PathBuf},
    sync::Arc,
};

/// What a person has decided about chats. Nothing is taken in unless they are on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Whether chats are taken in at all.
    pub on: bool,
    /// Hosts that are off.
    pub hosts_off: Vec<Host>,
    /// Projects that are off, with everything below them.
    pub projects_off: Vec<PathBuf>,
    /// How long and how much is kept.
    pub retention: Retention,
}

impl Settings {
    fn allows(&self, held: Held<'_>) -> bool {
        !self.projects_off.iter().any(|off| held.is_in(off))
    }

    fn hash(&self) -> String {
        blake3::hash(&serde_json::to_vec(self).unwrap_or_default()).to_hex()[..16].to_owned()
    }
}

/// Takes in what is new again and again, for a process that searches.
pub struct Syncer {
    /// The hosts.
    pub sources: Vec<Box<dyn ChatSource>>,
    /// Where chats are kept.
    pub keep: Keep,
    /// What the person decided.
    pub settings: Settings,
    /// Takes secrets out.
    pub mask: Box<dyn for<'t> Fn(&'t str) -> Cow<'t, str> + Send + Sync>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
}

impl Syncer {
    /// Syncs within bounds.
    pub fn sync(&self, bounds: Bounds, progress: &mut dyn FnMut(Step<'_>)) -> Result<Synced> {
        sync(&self.sources, &self.keep, &self.settings, &*self.mask, &*self.clock, bounds, progress)
    }
}

impl ChatSync for Syncer {
    fn catch_up(&self) -> Option<String> {
        let until = self.clock.now().checked_add(limits::CHAT_FRESH_MS.milliseconds()).ok();
        match self.sync(Bounds { until, never_wait: true }, &mut |_| {}) {
            Ok(synced) => synced.note(),
            Err(error) => Some(format!("new chats were not taken in: {error}")),
        }
    }
}

/// How far syncing may go.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bounds {
    /// It stops at this time; nothing for as long as it takes.
    pub until: Option<Timestamp>,
    /// It does not wait for another process that syncs: that one does the work.
    pub never_wait: bool,
}

/// How far syncing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step<'a> {
    /// Changed sessions that are done.
    pub done: usize,
    /// Changed sessions there are.
    pub of: usize,
    /// The one that comes now.
    pub session: &'a SessionFile,
}

/// What syncing did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Synced {
    /// Chats are off: nothing was looked at.
    pub off: bool,
    /// Another process is syncing: nothing was done.
    pub busy: bool,
    /// Sessions there are, of the hosts that are on.
    pub sessions: usize,
    /// Sessions that were read because they had changed.
    pub read: usize,
    /// Turns that were added.
    pub turns: u64,
    /// Changed sessions that were left for the next time, because the time was over.
    pub left: usize,
    /// Kept files that were written.
    pub written: Vec<PathBuf>,
    /// Kept files that were removed, being too old or too much.
    pub removed: Vec<PathBuf>,
    /// What was wrong, each with the transcript it is in.
    pub problems: Vec<(PathBuf, Problem)>,
}

impl Synced {
    /// What is said about sessions that were left.
    pub fn left_note(&self) -> String {
        let them = if self.left == 1 { "1 conversation was".into() } else { format!("{} conversations were", self.left) };
        format!("{them} not taken in yet; memdir chats sync does the rest")
    }

    /// What a search says of it: what was left, and transcripts that could not be read.
    pub fn note(&self) -> Option<String> {
        let unreadable = self.problems.iter().filter(|(_, problem)| problem.line.is_none()).count();
        let left = (self.left > 0).then(|| self.left_note());
        let bad = match unreadable {
            0 => None,
            1 => Some("1 conversation could not be read; memdir chats sync says why".to_owned()),
            many => Some(format!("{many} conversations could not be read; memdir chats sync says why")),
        };
        [left, bad].into_iter().flatten().reduce(|left, bad| format!("{left}; {bad}"))
    }
}

/// Takes in what was said since the last time, the newest sessions first.
pub fn sync(
    sources: &[Box<dyn ChatSource>],
    keep: &Keep,
    settings: &Settings,
    mask: &Mask<'_>,
    clock: &dyn Clock,
    bounds: Bounds,
    progress: &mut dyn FnMut(Step<'_>),
) -> Result<Synced> {
    if !settings.on {
        return Ok(Synced { off: true, ..Synced::default() });
    }
    let lock = lock::acquire(keep.dir(), if bounds.never_wait { LockWait::Never } else { LockWait::Forever })?;
    if lock.is_none() {
        return Ok(Synced { busy: true, ..Synced::default() });
    }
    keep.remove_leftovers();
    let mut run = Run { keep, settings, mask, clock, bounds, rules: keep.rules()?, synced: Synced::default() };
    let before = State::load(keep.dir());
    let mut state = before.clone();
    state.settings = settings.hash();
    let changed = run.changed(sources, &before, &mut state);
    for (i, (source, session)) in changed.iter().enumerate() {
        if run.is_over() {
            run.synced.left += changed.len() - i;
            break;
        }
        progress(Step { done: i, of: changed.len(), session });
        run.take(*source, session, &mut state);
    }
    if run.synced.left > 0 {
        // What was left must be met again, so no source counts as seen.
        state.sources.clear();
    }
    // Sweeping reads every kept file's header, so it waits for a day, or for much to have come in.
    let is_due = state.swept.is_none_or(|swept| clock.now().as_second() - swept.as_second() >= 86_400);
    if is_due || run.synced.written.len() >= 100 || before.settings != state.settings {
        state.swept = Some(clock.now());
        for kept in settings.retention.apply(keep, clock.now())? {
            run.synced.removed.push(keep.path(kept.host, &kept.key));
        }
    }
    if state != before {
        state.save(keep.dir())?;
    }
    Ok(run.synced)
}

struct Run<'a> {
    keep: &'a Keep,
    settings: &'a Settings,
    mask: &'a Mask<'a>,
    clock: &'a dyn Clock,
    bounds: Bounds,
    rules: Vec<Rule>,
    synced: Synced,
}

impl Run<'_> {
    fn is_over(&self) -> bool {
        self.bounds.until.is_some_and(|until| self.clock.now() >= until)
    }

    /// The sessions that may have changed, newest first.
    fn changed<'s>(
        &mut self,
        sources: &'s [Box<dyn ChatSource>],
        before: &State,
        state: &mut State,
    ) -> Vec<(&'s dyn ChatSource, SessionFile)> {
        let oldest = self.settings.retention.oldest(self.clock.now());
        let is_unchanged = before.settings == state.settings;
        let mut changed = Vec::new();
        for source in sources.iter().filter(|source| !self.settings.hosts_off.contains(&source.host())) {
            let stamp = source.stamp();
            let seen = before.sources.get(source.name());
            if stamp.is_some() && seen == stamp.as_ref() && is_unchanged {
                let of_source = format!("{}/", source.name());
                self.synced.sessions +=
                    before.sessions.range(of_source.clone()..).take_while(|(name, _)| name.starts_with(&of_source)).count();
                continue;
            }
            let found = source.sessions();
            self.synced.sessions += found.sessions.len();
            // What could not be looked at (a database that was locked) is looked at again the next time.
            match stamp.filter(|_| found.problems.is_empty()) {
                Some(stamp) => state.sources.insert(source.name().to_owned(), stamp),
                None => state.sources.remove(source.name()),
            };
            self.synced.problems.extend(found.problems.into_iter().map(|problem| (PathBuf::new(), problem)));
            for session in found.sessions {
                let known = before.sessions.get(&name_of(&session));
                let is_same = known.is_some_and(|known| {
                    known.stamp == session.stamp && self.is_settled(known, &session) && (is_unchanged || self.is_kept(known, &session))
                });
                if !is_same && oldest.is_none_or(|oldest| session.stamp.modified() >= oldest) {
                    changed.push((source.as_ref(), session));
                }
            }
        }
        changed.sort_by(|(_, a), (_, b)| b.stamp.mtime_ns.cmp(&a.stamp.mtime_ns).then_with(|| a.key.cmp(&b.key)));
        changed
    }

    /// Whether the settings still say what they said when the session was looked at.
    fn is_settled(&self, known: &Known, session: &SessionFile) -> bool {
        let project = known.project.as_deref().map(Path::new);
        known.off != self.settings.allows(Held { host: session.host, project, source: &session.path })
    }

    /// Whether what was taken in is still there: what went for lack of room comes back when there is more.
    fn is_kept(&self, known: &Known, session: &SessionFile) -> bool {
        known.off || self.keep.path(session.host, &session.key).exists()
    }

    /// Takes in one session. A problem with it never stops the others.
    fn take(&mut self, source: &dyn ChatSource, session: &SessionFile, state: &mut State) {
        self.synced.read += 1;
        let mut reading = match Reading::begin(self, session) {
            Ok(reading) => reading,
            Err(error) => return self.failed(session, &error, state),
        };
        match reading.run(source).and_then(|taken| reading.end(&taken).map(|()| taken)) {
            Ok(taken) => {
                let (turns, written, project, off) = (reading.added, reading.written, reading.kept.project.take(), reading.off);
                self.synced.turns += turns;
                if written {
                    self.synced.written.push(self.keep.path(session.host, &session.key));
                }
                self.synced.problems.extend(taken.problems.into_iter().map(|problem| (session.path.clone(), problem)));
                if taken.more_problems > 0 {
                    let problem = Problem::whole(format!("{} more lines are no records", taken.more_problems));
                    self.synced.problems.push((session.path.clone(), problem));
                }
                if taken.stopped && !off {
                    self.synced.left += 1;
                    state.sources.clear();
                } else {
                    state.sessions.insert(name_of(session), Known { stamp: session.stamp, project, off });
                }
            }
            Err(error) => self.failed(session, &error, state),
        }
    }

    fn failed(&mut self, session: &SessionFile, error: &Error, state: &mut State) {
        state.sources.remove(session.host.name());
        self.synced.problems.push((session.path.clone(), Problem::whole(error.to_string())));
    }
}

fn name_of(session: &SessionFile) -> String {
    format!("{}/{}", session.host, session.key)
}
