//! Copies new turns of a host's conversations while the host waits: the conversation of the call first, and within the time a host
//! waits, however much there is to read.

use crate::{config::Settings, exit::Failure, spaces};
use jiff::{Timestamp, ToSpan as _};
use memdir_chats::{ChatSource, EventSink, ReadOutcome, Reader, SessionFile, SessionList, SyncLimits, Syncer, TranscriptCursor};
use memdir_core::{
    Clock as _, SystemClock,
    internal::{base::time::Deadline, store::mount::real_path},
};
use std::{
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
    time::Duration,
};

/// The time limit of a sync: some hosts wait 1.5 s at the end of a session, on a busy machine.
const MAX_MILLIS: u32 = 500;
/// How long to wait for a sync that exceeds its limit, as it does within one huge line.
const MAX_WAIT: Duration = Duration::from_millis(900);

/// Copies the new turns of a host's conversations, the one of this transcript first. The rest is copied by the next sync. Waits for
/// nothing after the deadline of the hook.
pub(super) fn sync_transcripts(settings: &Settings, reader: &str, transcript: Option<&Path>, deadline: Deadline) -> Result<(), Failure> {
    if !settings.config.chats.settings.on {
        return Ok(());
    }
    let until = SystemClock.now().checked_add(i64::from(MAX_MILLIS).milliseconds()).ok();
    let host_syncer = || {
        let mut syncer = spaces::syncer(settings);
        syncer.sources.retain(|source| source.reader().name == reader);
        syncer
    };
    let named = transcript.map(|path| limited_to(host_syncer(), &real_path(path)));
    let all = host_syncer();
    let (sender, receiver) = mpsc::channel();
    // Its writes are atomic, so the thread may end with the process.
    thread::spawn(move || {
        let first = named.map_or(Ok(()), |named| sync(&named, until));
        // The receiver is gone after the time limit.
        let _ = sender.send(first.and_then(|()| sync(&all, until)));
    });
    receiver.recv_timeout(MAX_WAIT.min(deadline.left())).unwrap_or(Ok(()))
}

fn sync(syncer: &Syncer, until: Option<Timestamp>) -> Result<(), Failure> {
    syncer.sync(SyncLimits { until, never_wait: true }, &mut |_| {}).map(drop).map_err(Failure::from)
}

fn limited_to(mut syncer: Syncer, path: &Path) -> Syncer {
    let one = |source| Box::new(OneConversation { source, path: path.to_owned() }) as Box<dyn ChatSource>;
    syncer.sources = syncer.sources.into_iter().map(one).collect();
    syncer
}

/// One conversation of a host.
struct OneConversation {
    source: Box<dyn ChatSource>,
    path: PathBuf,
}

impl ChatSource for OneConversation {
    fn reader(&self) -> &'static Reader {
        self.source.reader()
    }

    fn sessions(&self) -> SessionList {
        let sessions = self.source.sessions().sessions;
        let is_wanted = |session: &SessionFile| real_path(&session.path) == self.path;
        SessionList { sessions: sessions.into_iter().filter(is_wanted).collect(), problems: Vec::new() }
    }

    fn turns(&self, session: &SessionFile, from: &TranscriptCursor, sink: &mut EventSink<'_>) -> memdir_core::Result<ReadOutcome> {
        self.source.turns(session, from, sink)
    }
}
