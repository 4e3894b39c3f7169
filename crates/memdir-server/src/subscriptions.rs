//! Notifies subscribers of changed memories. It polls only while there are subscribers: the change marker of each mount often,
//! which shows what any memdir process changed, and the files themselves now and then, which shows changes by other programs.

use crate::{catalog::CurrentSpace, resources};
use memdir_core::{Memdir, Stamp};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::sync::{Notify, broadcast};

/// The interval between polls of the change markers.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Every this many polls, all files are listed.
const POLLS_PER_LISTING: u32 = 10;
/// Number of events that a slow subscriber may fall behind before it has to list all resources again.
const MAX_LAG: usize = 256;

/// A change that subscribers are notified of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ResourceEvent {
    /// The memory with this URI was changed or deleted.
    Updated(String),
    /// Memories were created or deleted.
    ListChanged,
    /// Changes were proposed, or proposals decided.
    ProposalsChanged,
}

/// The change events of one space.
pub(crate) struct Subscriptions {
    space: CurrentSpace,
    events: broadcast::Sender<ResourceEvent>,
    is_polling: Mutex<bool>,
}

impl Subscriptions {
    pub(crate) fn new(space: CurrentSpace) -> Arc<Self> {
        Arc::new(Subscriptions { space, events: broadcast::channel(MAX_LAG).0, is_polling: Mutex::new(false) })
    }

    /// Subscribes to all changes made after this returns.
    pub(crate) async fn subscribe(self: &Arc<Self>) -> broadcast::Receiver<ResourceEvent> {
        let own = self.clone();
        let receiver = tokio::task::spawn_blocking(move || own.subscribe_blocking()).await;
        receiver.unwrap_or_else(|_| self.events.subscribe())
    }

    /// The same for callers that cannot await: the first subscriber lists all files on its own thread.
    pub(crate) fn subscribe_blocking(self: &Arc<Self>) -> broadcast::Receiver<ResourceEvent> {
        let receiver = self.events.subscribe();
        // Locked during the listing: a second subscriber must not be acknowledged before there is a snapshot to compare with.
        let mut is_polling = self.is_polling.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_polling {
            let before = SpaceSnapshot::read(&self.space).unwrap_or_default();
            tokio::spawn(self.clone().poll(before));
            *is_polling = true;
        }
        receiver
    }

    async fn poll(self: Arc<Self>, mut before: SpaceSnapshot) {
        let mut polls = 0;
        let woken = Arc::new(Notify::new());
        let _hints = self.hints(woken.clone()).await;
        loop {
            tokio::select! {
                () = tokio::time::sleep(POLL_INTERVAL) => {}
                () = woken.notified() => {}
            }
            {
                let mut is_polling = self.is_polling.lock().unwrap_or_else(PoisonError::into_inner);
                if self.events.receiver_count() == 0 {
                    *is_polling = false;
                    return;
                }
            }
            polls += 1;
            // Where every change is numbered, other programs change nothing.
            let is_due = polls % POLLS_PER_LISTING == 0 && !before.is_numbered;
            let (marks, proposals) = self.marks().await;
            // A database that does not answer has not lost its proposals.
            if proposals.is_some() && proposals != before.proposals {
                before.proposals = proposals;
                let _ = self.events.send(ResourceEvent::ProposalsChanged);
            }
            if marks == before.marks && !is_due {
                continue;
            }
            let Some(now) = self.snapshot().await else { continue };
            for event in before.changes_to(&now) {
                // The last subscriber may have gone; the next round notices that.
                let _ = self.events.send(event);
            }
            before = now;
        }
    }

    /// Asks the store to wake this up after changes, if it can.
    async fn hints(&self, woken: Arc<Notify>) -> Option<Box<dyn Send>> {
        let space = self.space.clone();
        let listen = move || space().ok()?.store().sequence()?.on_change(Arc::new(move || woken.notify_one()));
        tokio::task::spawn_blocking(listen).await.ok().flatten()
    }

    async fn marks(&self) -> (Vec<Option<Stamp>>, Option<String>) {
        let space = self.space.clone();
        let marks = move || space().map(|memdir| (memdir.store().marks(), proposals_mark(&memdir))).unwrap_or_default();
        tokio::task::spawn_blocking(marks).await.unwrap_or_default()
    }

    /// Returns `None` while memory is off; changes made meanwhile are reported afterwards.
    async fn snapshot(&self) -> Option<SpaceSnapshot> {
        let space = self.space.clone();
        tokio::task::spawn_blocking(move || SpaceSnapshot::read(&space)).await.ok().flatten()
    }
}

/// Returns a value that changes with the proposals that the caller may see.
pub(crate) fn proposals_mark(memdir: &Memdir) -> Option<String> {
    memdir.store().proposals()?.mark(&memdir.context().actor).ok()
}

/// The state of a space at one moment.
#[derive(Default)]
struct SpaceSnapshot {
    marks: Vec<Option<Stamp>>,
    /// `None` if the store has no proposals.
    proposals: Option<String>,
    files: BTreeMap<String, Stamp>,
    /// Whether the marks show every change.
    is_numbered: bool,
}

impl SpaceSnapshot {
    fn read(space: &CurrentSpace) -> Option<SpaceSnapshot> {
        let memdir = space().ok()?;
        // Markers before files: a change in between is then reported twice rather than missed.
        let (marks, proposals) = (memdir.store().marks(), proposals_mark(&memdir));
        let is_numbered = memdir.store().sequence().is_some();
        let files = match memdir.store().list("") {
            Ok(walk) => walk.entries,
            // A database that does not answer has not lost its memories.
            Err(_) if is_numbered => return None,
            Err(_) => Vec::new(),
        };
        Some(SpaceSnapshot {
            marks,
            proposals,
            is_numbered,
            files: files.into_iter().map(|entry| (resources::to_uri(&entry.path), entry.stamp)).collect(),
        })
    }

    fn changes_to(&self, now: &SpaceSnapshot) -> Vec<ResourceEvent> {
        let mut events = Vec::new();
        let is_list_changed = self.files.len() != now.files.len() || self.files.keys().any(|uri| !now.files.contains_key(uri));
        for (uri, stamp) in &self.files {
            if now.files.get(uri) != Some(stamp) {
                events.push(ResourceEvent::Updated(uri.clone()));
            }
        }
        if is_list_changed {
            events.push(ResourceEvent::ListChanged);
        }
        events
    }
}
