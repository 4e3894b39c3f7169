//! Archives the turns that were added since the last time. A session's turns and the position up to which they were read are written
//! in one step, so that nothing is lost, duplicated or torn if the process is killed.

mod reading;

use crate::{
    archive::{ArchivedFile, ChatArchive, forget::ForgetRule, retention::Retention},
    lock,
    project::SessionProject,
    selection::{self, SearchedProject, SyncMemo},
    source::{ChatSource, Reader, SessionFile},
    state::{ArchivedState, ReadState, SyncState},
};
use jiff::{Timestamp, ToSpan};
use memdir_core::internal::base::sort::SharedSort as _;
use memdir_core::{
    ChatFilter, ChatSync, Clock, Error, Problem, Result,
    internal::base::{limits, text::counted},
};
use reading::SessionReading;
use serde::Serialize;
use std::{
    borrow::Cow,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The user's settings. Nothing is read unless conversations are on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ChatSettings {
    /// Whether conversations are archived at all.
    pub on: bool,
    /// Hosts whose conversations are skipped.
    pub hosts_off: Vec<&'static Reader>,
    /// Directories whose conversations are skipped, with everything below them.
    pub projects_off: Vec<PathBuf>,
    /// The limits of the archive.
    pub retention: Retention,
}

impl ChatSettings {
    fn allows(&self, project: SessionProject<'_>) -> bool {
        !self.projects_off.iter().any(|off| project.is_in(off))
    }

    fn hash(&self) -> String {
        blake3::hash(&serde_json::to_vec(self).unwrap_or_default()).to_hex()[..16].to_owned()
    }
}

/// Copies new turns from the hosts' transcripts into the archive.
pub struct Syncer {
    /// The transcripts.
    pub sources: Vec<Box<dyn ChatSource>>,
    /// The archive.
    pub archive: ChatArchive,
    /// The user's settings.
    pub settings: ChatSettings,
    /// Removes secrets from a text before it is archived.
    pub redact: Box<dyn for<'t> Fn(&'t str) -> Cow<'t, str> + Send + Sync>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The project whose conversations searches cover; `None` for those of all projects.
    pub project: Option<SearchedProject>,
    /// What the last sync knows about the archive.
    pub memo: SyncMemo,
}

impl Syncer {
    /// Archives the turns that were added since the last time, the newest sessions first.
    pub fn sync(&self, limits: SyncLimits, progress: &mut dyn FnMut(SyncProgress<'_>)) -> Result<SyncOutcome> {
        let Syncer { sources, archive, settings, clock, .. } = self;
        if !settings.on {
            return Ok(SyncOutcome { off: true, ..SyncOutcome::default() });
        }
        let lock = if limits.never_wait { lock::try_acquire(archive.dir())? } else { Some(lock::acquire(archive.dir())?) };
        if lock.is_none() {
            // The other process knows more.
            self.memo.set(None);
            return Ok(SyncOutcome { busy: true, ..SyncOutcome::default() });
        }
        archive.remove_leftovers();
        let mut run =
            Run { syncer: self, limits, rules: archive.rules()?, outcome: SyncOutcome::default(), upgrade_bytes: MAX_UPGRADE_BYTES };
        let before = SyncState::load(archive.dir());
        let mut state = before.clone();
        state.settings = settings.hash();
        if state.archived.is_none() {
            let known = |file: &ArchivedFile| (ChatArchive::file_stem(file.chat.host, &file.chat.key), ArchivedState::new(&file.chat));
            state.archived = Some(archive.list()?.chats.iter().map(known).collect());
        }
        let changed = run.changed(sources, &before, &mut state);
        for (i, Changed { source, session, is_upgrade }) in changed.iter().enumerate() {
            if run.is_over() {
                run.outcome.left += changed[i..].iter().filter(|changed| !changed.is_upgrade).count();
                break;
            }
            progress(SyncProgress { done: i, total: changed.len(), session });
            if !is_upgrade || run.may_upgrade(session) {
                run.sync_session(*source, session, &mut state);
                run.upgrade_bytes = run.upgrade_bytes.saturating_sub(if *is_upgrade { session.stamp.size } else { 0 });
            }
        }
        if run.outcome.left > 0 {
            // The remaining sessions must be found again, so no source counts as unchanged.
            state.sources.clear();
        }
        // Retention reads the header of every archived file, so it runs once a day, or after many sessions were written.
        let is_due = state.swept.is_none_or(|swept| clock.now().as_second() - swept.as_second() >= 86_400);
        if is_due || run.outcome.written.len() >= 100 || before.settings != state.settings {
            state.swept = Some(clock.now());
            for chat in settings.retention.apply(archive, clock.now())? {
                run.outcome.removed.push(archive.path(chat.host, &chat.key));
            }
        }
        if state != before {
            state.save(archive.dir())?;
        }
        run.outcome.empty_hosts = self.empty_hosts_in(&state);
        self.memo.set(state.archived);
        Ok(run.outcome)
    }

    /// Returns the hosts in whose conversations the last sync found no messages.
    pub fn empty_hosts(&self) -> Vec<EmptyHost> {
        self.empty_hosts_in(&SyncState::load(self.archive.dir()))
    }

    /// A host may have conversations without a message: opened and closed, or those of sub-agents. If it has no others, or if the
    /// newest of them are all like that, its format has changed.
    fn empty_hosts_in(&self, state: &SyncState) -> Vec<EmptyHost> {
        /// The number of newest conversations without a message above which that is not chance.
        const NEWEST: usize = 3;
        let hosts = self.sources.iter().map(|source| source.reader()).filter(|host| !self.settings.hosts_off.contains(host));
        hosts
            .filter_map(|host| {
                let mut sessions: Vec<&ReadState> =
                    state.of_host(host.name).filter(|session| !session.off && session.stamp.size > 0).collect();
                sessions.shared_sort_by_key(|session| std::cmp::Reverse(session.stamp.mtime_ns));
                let empty = sessions.iter().take_while(|session| session.empty).count();
                let is_changed = empty > 0 && (empty == sessions.len() || empty >= NEWEST);
                is_changed.then_some(EmptyHost { host, sessions: empty })
            })
            .collect()
    }
}

/// A host in whose newest conversations no message was found, although their transcripts are not empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct EmptyHost {
    /// The host.
    pub host: &'static Reader,
    /// The number of these conversations.
    pub sessions: usize,
}

impl EmptyHost {
    /// Describes what was found.
    pub fn describe(&self) -> String {
        let EmptyHost { host, sessions } = self;
        let which = if *sessions == 1 { format!("{host} conversation") } else { format!("{sessions} {host} conversations") };
        format!("no messages found in the newest {which}; the transcript format may have changed")
    }

    /// Returns what the user can do.
    pub fn hint(&self) -> String {
        format!("update memdir, or exclude the host with: memdir chats off --host {}", self.host)
    }
}

impl ChatSync for Syncer {
    fn catch_up(&self) -> Option<String> {
        let until = self.clock.now().checked_add(limits::CHAT_FRESH_MS.milliseconds()).ok();
        match self.sync(SyncLimits { until, never_wait: true }, &mut |_| {}) {
            Ok(outcome) => outcome.note(),
            Err(error) => Some(format!("cannot sync past conversations: {error}")),
        }
    }

    fn filter(&self, all_projects: bool) -> Option<ChatFilter> {
        let project = self.project.as_ref().filter(|_| !all_projects);
        Some(selection::select(&self.archive, &self.memo, project, self.clock.now()))
    }
}

/// The limits of one sync.
#[derive(Debug, Clone, Copy, Default)]
pub struct SyncLimits {
    /// The time at which it stops; `None` for no limit.
    pub until: Option<Timestamp>,
    /// Whether it returns at once if another process is syncing, which then does the work.
    pub never_wait: bool,
}

/// The progress of a sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncProgress<'a> {
    /// The number of changed sessions that are done.
    pub done: usize,
    /// The number of changed sessions.
    pub total: usize,
    /// The session that is read next.
    pub session: &'a SessionFile,
}

/// The outcome of a sync.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SyncOutcome {
    /// Whether conversations are off: nothing was read.
    pub off: bool,
    /// Whether another process is syncing: nothing was done.
    pub busy: bool,
    /// The number of sessions of the hosts that are on.
    pub sessions: usize,
    /// The number of sessions that were read because they had changed.
    pub read: usize,
    /// The number of turns that were archived.
    pub turns: u64,
    /// The number of changed sessions that were left for the next sync because the time was over.
    pub left: usize,
    /// Archived files that were written.
    pub written: Vec<PathBuf>,
    /// Archived files that were removed by the retention limits.
    pub removed: Vec<PathBuf>,
    /// Problems, each with its transcript.
    pub problems: Vec<(PathBuf, Problem)>,
    /// Whether a transcript, or a directory or database with transcripts, cannot be read.
    #[serde(skip)]
    pub unreadable: bool,
    /// Hosts in whose conversations no message was found.
    pub empty_hosts: Vec<EmptyHost>,
}

impl SyncOutcome {
    /// Returns the note about sessions that were left for the next sync, for a person.
    pub fn left_note(&self) -> String {
        format!("{}; sync with: memdir chats sync", self.left_sessions())
    }

    /// Returns the note for the results of a search: sessions that were left, and transcripts that cannot be read. A model reads it
    /// too, so it says that a command is for the user.
    pub fn note(&self) -> Option<String> {
        let them = if self.left == 1 { "it" } else { "them" };
        let left = (self.left > 0).then(|| format!("{}; later searches will sync {them}", self.left_sessions()));
        let bad = self.unreadable.then(|| "some conversations cannot be read; the user can see why with: memdir chats sync".to_owned());
        let empty = self.empty_hosts.iter().map(|empty| Some(empty.describe()));
        [left, bad].into_iter().chain(empty).flatten().reduce(|all, next| format!("{all}; {next}"))
    }

    fn left_sessions(&self) -> String {
        format!("{} not synced yet", counted(self.left as u64, "conversation is", "conversations are"))
    }
}

/// The number of bytes of unchanged transcripts that one sync reads again for their tool calls; the rest is left for the next syncs.
const MAX_UPGRADE_BYTES: u64 = 1 << 30;

/// The size of a transcript above which a sync with a time limit does not read it again: it might start over each time.
const MAX_LIMITED_UPGRADE_BYTES: u64 = 16 << 20;

/// A session that is read.
struct Changed<'s> {
    source: &'s dyn ChatSource,
    session: SessionFile,
    /// Whether it is unchanged, and read only because it was archived without its tool calls.
    is_upgrade: bool,
}

/// One sync in progress.
struct Run<'a> {
    syncer: &'a Syncer,
    limits: SyncLimits,
    rules: Vec<ForgetRule>,
    outcome: SyncOutcome,
    /// How many bytes may still be read for tool calls.
    upgrade_bytes: u64,
}

impl Run<'_> {
    fn is_over(&self) -> bool {
        self.limits.until.is_some_and(|until| self.syncer.clock.now() >= until)
    }

    /// Whether a transcript may be read again for its tool calls.
    fn may_upgrade(&self, session: &SessionFile) -> bool {
        let max_bytes = if self.limits.until.is_some() { MAX_LIMITED_UPGRADE_BYTES } else { u64::MAX };
        session.stamp.size <= max_bytes && self.upgrade_bytes > 0
    }

    /// Lists the sessions that may have changed, newest first, and after them those that were archived without their tool calls.
    fn changed<'s>(&mut self, sources: &'s [Box<dyn ChatSource>], before: &SyncState, state: &mut SyncState) -> Vec<Changed<'s>> {
        let settings = &self.syncer.settings;
        let oldest = settings.retention.oldest(self.syncer.clock.now());
        let same_settings = before.settings == state.settings;
        let mut changed = Vec::new();
        for source in sources.iter().filter(|source| !settings.hosts_off.contains(&source.reader())) {
            let stamp = source.stamp();
            let name = source.reader().name;
            let seen = before.sources.get(name);
            let have_calls = before.of_host(name).all(|session| session.has_calls || session.off);
            if stamp.is_some() && seen == stamp.as_ref() && same_settings && have_calls {
                self.outcome.sessions += before.of_host(name).count();
                continue;
            }
            let list = source.sessions();
            self.outcome.sessions += list.sessions.len();
            // What could not be read (a locked database) is read again the next time.
            match stamp.filter(|_| list.problems.is_empty()) {
                Some(stamp) => state.sources.insert(name.to_owned(), stamp),
                None => state.sources.remove(name),
            };
            self.outcome.unreadable |= !list.problems.is_empty();
            self.outcome.problems.extend(list.problems.into_iter().map(|problem| (PathBuf::new(), problem)));
            for session in list.sessions {
                let known = before.sessions.get(&session.name());
                let is_same = known.is_some_and(|known| {
                    known.stamp == session.stamp
                        && self.has_same_switch(known, &session)
                        && (same_settings || self.is_archived(known, &session))
                });
                let is_upgrade = is_same && known.is_some_and(|known| !known.has_calls && !known.off && self.is_archived(known, &session));
                if (!is_same || is_upgrade) && oldest.is_none_or(|oldest| session.stamp.modified() >= oldest) {
                    changed.push(Changed { source: source.as_ref(), session, is_upgrade });
                }
            }
        }
        changed.shared_sort_by(|a, b| {
            let newest = || b.session.stamp.mtime_ns.cmp(&a.session.stamp.mtime_ns);
            a.is_upgrade.cmp(&b.is_upgrade).then_with(newest).then_with(|| a.session.key.cmp(&b.session.key))
        });
        changed
    }

    /// Whether the session's project is turned on or off as it was when the session was last read.
    fn has_same_switch(&self, known: &ReadState, session: &SessionFile) -> bool {
        let dir = known.project.as_deref().map(Path::new);
        known.off != self.syncer.settings.allows(SessionProject { host: session.host, dir, transcript: &session.path })
    }

    /// Whether the session is still archived: one that was removed by the retention limits comes back when the limits allow it.
    fn is_archived(&self, known: &ReadState, session: &SessionFile) -> bool {
        known.off || self.syncer.archive.path(session.host, &session.key).exists()
    }

    /// Archives the new turns of one session. A problem with it never stops the others.
    fn sync_session(&mut self, source: &dyn ChatSource, session: &SessionFile, state: &mut SyncState) {
        self.outcome.read += 1;
        let mut reading = match SessionReading::begin(self, session) {
            Ok(reading) => reading,
            Err(error) => return self.failed(session, &error, state),
        };
        match reading.run(source).and_then(|read| reading.finish(&read).map(|()| read)) {
            Ok(read) => {
                if reading.written {
                    let stem = ChatArchive::file_stem(session.host, &session.key);
                    state.archived.get_or_insert_default().insert(stem, ArchivedState::new(&reading.chat));
                }
                let empty = !reading.has_turns && reading.chat.turns == 0;
                // A transcript that lost its turns has no calls either.
                let has_calls = reading.chat.progress.calls.is_some() || (!read.stopped && self.may_upgrade(session));
                let (turns, written, project, off) = (reading.added, reading.written, reading.chat.project.take(), reading.off);
                self.outcome.turns += turns;
                if written {
                    self.outcome.written.push(self.syncer.archive.path(session.host, &session.key));
                }
                self.outcome.problems.extend(read.problems.into_iter().map(|problem| (session.path.clone(), problem)));
                if read.more_problems > 0 {
                    let more = counted(read.more_problems, "more problem", "more problems");
                    let problem = Problem::whole(format!("{more} in this transcript"));
                    self.outcome.problems.push((session.path.clone(), problem));
                }
                if read.stopped && !off {
                    self.outcome.left += 1;
                    state.sources.clear();
                } else {
                    state.sessions.insert(session.name(), ReadState { stamp: session.stamp, project, off, empty, has_calls });
                }
            }
            Err(error) => self.failed(session, &error, state),
        }
    }

    fn failed(&mut self, session: &SessionFile, error: &Error, state: &mut SyncState) {
        state.sources.remove(session.host.name);
        self.outcome.unreadable = true;
        // The path is shown before the problem.
        let what = match error {
            Error::Io { path, source, .. } if *path == session.path => source.to_string(),
            Error::Unavailable { why, .. } => why.clone(),
            other => other.to_string(),
        };
        self.outcome.problems.push((session.path.clone(), Problem::whole(what)));
    }
}
