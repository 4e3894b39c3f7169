//! Hints that something changed, so that subscribers need not wait for their next check of the sequence. A hint is sent outside of the
//! transaction of its change, because NOTIFY inside it serializes commits, and one hint covers all changes of a short interval. Hints may be
//! late, lost or spurious: only the sequence is authoritative.

use crate::tls::DatabaseTls;
use deadpool_postgres::Pool;
use futures_util::{StreamExt as _, stream::poll_fn};
use memdir_core::Version;
use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{runtime::Handle, sync::mpsc, time::sleep};
use tokio_postgres::{AsyncMessage, Config};

const CHANNEL: &str = "memdir_changes";
/// Changes within this time share a hint.
const COALESCE: Duration = Duration::from_millis(20);
/// The pause before a lost connection is opened again.
const RECONNECT: Duration = Duration::from_secs(1);
/// The number of namespaces in one hint: PostgreSQL takes less than 8,000 bytes.
const NAMES_PER_HINT: usize = 200;

/// Called when something may have changed.
pub(crate) type Wake = Arc<dyn Fn() + Send + Sync>;

/// The hints of one database.
pub(crate) struct ChangeHints {
    driver: Handle,
    announced: mpsc::UnboundedSender<String>,
    listening: (Config, DatabaseTls),
    listeners: Arc<Mutex<Listeners>>,
}

#[derive(Default)]
struct Listeners {
    last_id: u64,
    wakes: HashMap<u64, (BTreeSet<String>, Wake)>,
    is_listening: bool,
}

impl std::fmt::Debug for ChangeHints {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ChangeHints(…)")
    }
}

impl ChangeHints {
    /// Starts to send what is announced. Listens only once there is a listener.
    pub(crate) fn start(driver: &Handle, pool: Pool, listening: (Config, DatabaseTls)) -> ChangeHints {
        let (announced, names) = mpsc::unbounded_channel();
        driver.spawn(send_hints(pool, names));
        ChangeHints { driver: driver.clone(), announced, listening, listeners: Arc::default() }
    }

    /// Announces a change. Never waits.
    pub(crate) fn announce<'a>(&self, tenant: &str, namespaces: impl Iterator<Item = &'a String>) {
        for namespace in namespaces {
            // Without the task that sends, nothing is hinted.
            let _ = self.announced.send(hint_name(tenant, namespace));
        }
    }

    /// Calls `wake` after hints about these namespaces, until the returned guard is dropped.
    pub(crate) fn listen<'a>(&self, tenant: &str, namespaces: impl Iterator<Item = &'a String>, wake: Wake) -> HintGuard {
        let names = namespaces.map(|namespace| hint_name(tenant, namespace)).collect();
        let mut listeners = lock(&self.listeners);
        listeners.last_id += 1;
        let id = listeners.last_id;
        listeners.wakes.insert(id, (names, wake));
        if !std::mem::replace(&mut listeners.is_listening, true) {
            let (config, tls) = self.listening.clone();
            self.driver.spawn(listen(config, tls, self.listeners.clone()));
        }
        HintGuard { id, listeners: self.listeners.clone() }
    }
}

/// Ends the calls of a listener when it is dropped.
pub(crate) struct HintGuard {
    id: u64,
    listeners: Arc<Mutex<Listeners>>,
}

impl Drop for HintGuard {
    fn drop(&mut self) {
        let removed = lock(&self.listeners).wakes.remove(&self.id);
        drop(removed);
    }
}

fn lock(listeners: &Mutex<Listeners>) -> MutexGuard<'_, Listeners> {
    listeners.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The name of a namespace in hints. Every role of the database can listen, so that it must not reveal anything.
fn hint_name(tenant: &str, namespace: &str) -> String {
    Version::from_content(format!("{tenant}\0{namespace}").as_bytes()).to_string()
}

async fn send_hints(pool: Pool, mut names: mpsc::UnboundedReceiver<String>) {
    while let Some(first) = names.recv().await {
        sleep(COALESCE).await;
        let mut all = BTreeSet::from([first]);
        while let Ok(name) = names.try_recv() {
            all.insert(name);
        }
        let all: Vec<String> = all.into_iter().collect();
        let Ok(client) = pool.get().await else { continue };
        for names in all.chunks(NAMES_PER_HINT) {
            // A hint that is lost delays subscribers until their next look at the sequence.
            let _ = client.execute("select pg_notify($1, $2)", &[&CHANNEL, &names.join(" ")]).await;
        }
    }
}

async fn listen(config: Config, tls: DatabaseTls, listeners: Arc<Mutex<Listeners>>) {
    loop {
        if let Ok((client, mut connection)) = config.connect(tls.clone()).await {
            let mut messages = poll_fn(move |cx| connection.poll_message(cx));
            let own = listeners.clone();
            let received = async move {
                while let Some(Ok(message)) = messages.next().await {
                    if let AsyncMessage::Notification(hint) = message {
                        wake(&own, hint.payload());
                    }
                }
            };
            let listening = async {
                let _ = client.batch_execute(&format!("listen {CHANNEL}")).await;
                // What changed before the connection was there.
                wake_all(&listeners);
                std::future::pending::<()>().await;
            };
            tokio::select! {
                () = received => {}
                () = listening => {}
            }
        }
        sleep(RECONNECT).await;
    }
}

fn wake(listeners: &Mutex<Listeners>, hint: &str) {
    let wakes = wakes(listeners, |names| hint.split(' ').any(|name| names.contains(name)));
    wakes.iter().for_each(|wake| wake());
}

fn wake_all(listeners: &Mutex<Listeners>) {
    wakes(listeners, |_| true).iter().for_each(|wake| wake());
}

fn wakes(listeners: &Mutex<Listeners>, is_meant: impl Fn(&BTreeSet<String>) -> bool) -> Vec<Wake> {
    lock(listeners).wakes.values().filter(|(names, _)| is_meant(names)).map(|(_, wake)| wake.clone()).collect()
}
