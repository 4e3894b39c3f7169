//! Takes in a conversation while its host waits: the one that was named first, and no longer than a host may wait, however
//! much there is to read.

use crate::{config::Settings, exit::Failure, wire};
use jiff::{Timestamp, ToSpan as _};
use memdir_chats::{ChatSource, EventSink, ReadOutcome, Reader, SessionFile, SessionList, SyncLimits, Syncer, TranscriptCursor};
use memdir_core::{
    base::time::{Clock as _, SystemClock},
    store::files::real_path,
};
use std::{
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
    time::Duration,
};

/// How long taking in may last: some hosts wait 1.5 s at a session's end, on a machine that is busy.
const MILLIS: u32 = 500;
/// How long one that does not notice that its time is over is waited for: it may be in the middle of one huge line.
const AT_MOST: Duration = Duration::from_millis(900);

/// Takes in what is new at a host, the conversation of this transcript first. What is not done in time is done the next time.
pub(super) fn take_in(settings: &Settings, host: &str, transcript: Option<&Path>) -> Result<(), Failure> {
    if !settings.config.chats.settings.on {
        return Ok(());
    }
    let until = SystemClock.now().checked_add(i64::from(MILLIS).milliseconds()).ok();
    let of_host = || {
        let mut syncer = wire::syncer(settings);
        syncer.sources.retain(|source| source.reader().name == host);
        syncer
    };
    let named = transcript.map(|path| only(of_host(), &real_path(path)));
    let all = of_host();
    let (say, hear) = mpsc::channel();
    // What it writes is there whole or not at all, so it may end with the process.
    thread::spawn(move || {
        let first = named.map_or(Ok(()), |named| sync(&named, until));
        // Nobody hears it any more if the time was over.
        let _ = say.send(first.and_then(|()| sync(&all, until)));
    });
    hear.recv_timeout(AT_MOST).unwrap_or(Ok(()))
}

fn sync(syncer: &Syncer, until: Option<Timestamp>) -> Result<(), Failure> {
    syncer.sync(SyncLimits { until, never_wait: true }, &mut |_| {}).map(drop).map_err(Failure::from)
}

fn only(mut syncer: Syncer, path: &Path) -> Syncer {
    let one = |source| Box::new(Only { source, path: path.to_owned() }) as Box<dyn ChatSource>;
    syncer.sources = syncer.sources.into_iter().map(one).collect();
    syncer
}

/// One conversation of a host.
struct Only {
    source: Box<dyn ChatSource>,
    path: PathBuf,
}

impl ChatSource for Only {
    fn reader(&self) -> &'static Reader {
        self.source.reader()
    }

    fn sessions(&self) -> SessionList {
        let found = self.source.sessions();
        let named = |session: &SessionFile| real_path(&session.path) == self.path;
        SessionList { sessions: found.sessions.into_iter().filter(named).collect(), problems: Vec::new() }
    }

    fn turns(
        &self,
        session: &SessionFile,
        from: &TranscriptCursor,
        sink: &mut EventSink<'_>,
    ) -> memdir_core::base::error::Result<ReadOutcome> {
        self.source.turns(session, from, sink)
    }
}
