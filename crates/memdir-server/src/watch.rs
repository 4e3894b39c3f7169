//! Tells who asked which memories changed. Looks only while somebody listens: at each mount's mark often, which shows
//! what any memdir process did, and at the files themselves now and then, which shows the rest.

use crate::{offer::Space, resources};
use memdir_core::{memdir::Memdir, store::Stamp};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::sync::broadcast;

/// How often marks are looked at.
const MARKS_EVERY: Duration = Duration::from_millis(500);
/// So many looks at marks, then one at all files.
const FILES_EVERY: u32 = 10;
/// News a slow listener may be behind before it is told to look at everything anew.
const BEHIND: usize = 256;

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum News {
    /// The memory of this address has other content, or is gone.
    Changed(String),
    /// Memories came or went.
    List,
}

/// Where news is heard.
pub(crate) struct Watch {
    space: Space,
    news: broadcast::Sender<News>,
    running: Mutex<bool>,
}

impl Watch {
    pub(crate) fn new(space: Space) -> Arc<Self> {
        Arc::new(Watch { space, news: broadcast::channel(BEHIND).0, running: Mutex::new(false) })
    }

    /// Begins to listen; what happens after this returns is heard.
    pub(crate) async fn listen(self: &Arc<Self>) -> broadcast::Receiver<News> {
        let own = self.clone();
        let heard = tokio::task::spawn_blocking(move || own.listen_now()).await;
        heard.unwrap_or_else(|_| self.news.subscribe())
    }

    /// The same, for callers that cannot wait: the files are looked at on their thread, unless somebody listens already.
    pub(crate) fn listen_now(self: &Arc<Self>) -> broadcast::Receiver<News> {
        let heard = self.news.subscribe();
        // Held while looking: whoever comes second must not be told that news is heard before there is something that
        // news could differ from.
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if !*running {
            let before = Look::now(&self.space).unwrap_or_default();
            tokio::spawn(self.clone().run(before));
            *running = true;
        }
        heard
    }

    async fn run(self: Arc<Self>, mut before: Look) {
        let mut looks = 0;
        loop {
            tokio::time::sleep(MARKS_EVERY).await;
            {
                let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
                if self.news.receiver_count() == 0 {
                    *running = false;
                    return;
                }
            }
            looks += 1;
            if self.marks().await == before.marks && looks % FILES_EVERY != 0 {
                continue;
            }
            let Some(now) = self.look().await else { continue };
            for news in before.differences(&now) {
                // Nobody may be listening any more; that is seen on the next round.
                let _ = self.news.send(news);
            }
            before = now;
        }
    }

    async fn marks(&self) -> Vec<Option<Stamp>> {
        let space = self.space.clone();
        let marks = move || space().map(|memdir| memdir.store().marks()).unwrap_or_default();
        tokio::task::spawn_blocking(marks).await.unwrap_or_default()
    }

    /// Nothing while memory is off: what happens meanwhile is told afterwards.
    async fn look(&self) -> Option<Look> {
        let space = self.space.clone();
        tokio::task::spawn_blocking(move || Look::now(&space)).await.ok().flatten()
    }
}

/// How things stand at one moment.
#[derive(Default)]
struct Look {
    marks: Vec<Option<Stamp>>,
    files: BTreeMap<String, Stamp>,
}

impl Look {
    fn now(space: &Space) -> Option<Look> {
        let memdir: Memdir = space().ok()?;
        // The marks first: a change between the two is then seen once more, never missed.
        let marks = memdir.store().marks();
        let files = memdir.store().list("").map(|walk| walk.entries).unwrap_or_default();
        Some(Look { marks, files: files.into_iter().map(|entry| (resources::uri(&entry.path), entry.stamp)).collect() })
    }

    fn differences(&self, now: &Look) -> Vec<News> {
        let mut news = Vec::new();
        let came_or_went = self.files.len() != now.files.len() || self.files.keys().any(|uri| !now.files.contains_key(uri));
        for (uri, stamp) in &self.files {
            if now.files.get(uri) != Some(stamp) {
                news.push(News::Changed(uri.clone()));
            }
        }
        if came_or_went {
            news.push(News::List);
        }
        news
    }
}
