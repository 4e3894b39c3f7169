//! Finds the server that accepts writes among the hosts of the URL, even during a failover. A frozen server still accepts connections and
//! then never answers, so all hosts are asked at once, and those that refuse are asked again. When another host has become the leader, the
//! connections to the previous one are closed here: a frozen server does not close them, and a call would wait for its limit.

use crate::tls::DatabaseTls;
use deadpool_postgres::Connect;
use futures_util::{StreamExt as _, stream::FuturesUnordered};
use std::{
    convert::Infallible,
    future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    sync,
    task::{AbortHandle, JoinHandle},
    time,
};
use tokio_postgres::{Client, Config, Connection, Error, Socket, config::Host, tls::MakeTlsConnect};

/// The pause before a host that refused is asked again.
const ASK_AGAIN: Duration = Duration::from_millis(500);
/// For how long the known leader may answer after another host did. Both accept writes for a moment if a frozen leader resumes.
const KNOWN_LEADER_FIRST: Duration = Duration::from_millis(300);
/// After this time without an answer, the hosts are asked which of them is the leader.
const LOOK_AFTER: Duration = Duration::from_secs(1);
/// How long one search for the leader may take.
const LOOK_LIMIT: Duration = Duration::from_secs(10);

type Stream = <DatabaseTls as MakeTlsConnect<Socket>>::Stream;

/// A new connection, with the position of its host.
struct Connected {
    host: usize,
    client: Client,
    connection: Connection<Socket, Stream>,
}

/// Connects to the leader. A handle: clones share what is known.
#[derive(Clone)]
pub(crate) struct LeaderFinder {
    shared: Arc<Shared>,
}

struct Shared {
    /// One configuration for each host.
    hosts: Vec<Config>,
    tls: DatabaseTls,
    known: Mutex<Known>,
    /// Held while the hosts are asked for the leader, so that one call does it for all.
    looking: sync::Mutex<()>,
}

#[derive(Default)]
struct Known {
    leader: Option<usize>,
    connections: Vec<(usize, AbortHandle)>,
}

impl std::fmt::Debug for LeaderFinder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LeaderFinder").field("hosts", &self.shared.hosts.len()).finish_non_exhaustive()
    }
}

impl LeaderFinder {
    pub(crate) fn new(config: &Config, tls: DatabaseTls) -> Self {
        let shared = Shared { hosts: split_hosts(config), tls, known: Mutex::default(), looking: sync::Mutex::default() };
        LeaderFinder { shared: Arc::new(shared) }
    }

    /// Connects to the leader, and drives the connection in a task of the current runtime.
    pub(crate) async fn connect(&self) -> Result<(Client, JoinHandle<()>), Error> {
        let Connected { host, client, connection } = self.find().await?;
        let task = tokio::spawn(async move { drop(connection.await) });
        let mut known = self.follow(host);
        known.connections.retain(|(_, task)| !task.is_finished());
        known.connections.push((host, task.abort_handle()));
        Ok((client, task))
    }

    /// Runs beside a call that waits for an answer, and never ends: looks for a new leader as long as there is no answer.
    pub(crate) async fn watch(&self) -> Infallible {
        if self.shared.hosts.len() < 2 {
            return future::pending().await;
        }
        loop {
            time::sleep(LOOK_AFTER).await;
            let Ok(_only) = self.shared.looking.try_lock() else { continue };
            if let Ok(Ok(found)) = time::timeout(LOOK_LIMIT, self.find()).await {
                drop(self.follow(found.host));
            }
        }
    }

    /// Connects to the first host that accepts writes. Fails as soon as every host has refused.
    async fn find(&self) -> Result<Connected, Error> {
        let hosts = &self.shared.hosts;
        let ask = |host: usize, pause: Duration| async move {
            time::sleep(pause).await;
            (host, hosts[host].connect(self.shared.tls.clone()).await)
        };
        let leader = self.known().leader;
        let mut asked: FuturesUnordered<_> = (0..hosts.len()).map(|host| ask(host, Duration::ZERO)).collect();
        let mut refused = vec![false; hosts.len()];
        let mut other: Option<Connected> = None;
        let mut decides = Box::pin(time::sleep(Duration::MAX));
        loop {
            let (host, answer) = tokio::select! {
                biased;
                Some(answer) = asked.next() => answer,
                () = &mut decides, if other.is_some() => match other.take() {
                    Some(found) => return Ok(found),
                    None => continue,
                },
            };
            match answer {
                Ok((client, connection)) => {
                    let found = Connected { host, client, connection };
                    if other.is_none() && leader.is_some_and(|leader| leader != host && !refused[leader]) {
                        other = Some(found);
                        decides = Box::pin(time::sleep(KNOWN_LEADER_FIRST));
                    } else {
                        return Ok(found);
                    }
                }
                Err(error) => {
                    refused[host] = true;
                    match other.take() {
                        // The known leader is no longer one.
                        Some(found) if leader == Some(host) => return Ok(found),
                        waiting => other = waiting,
                    }
                    if refused.iter().all(|refused| *refused) && other.is_none() {
                        return Err(error);
                    }
                    asked.push(ask(host, ASK_AGAIN));
                }
            }
        }
    }

    /// Records the leader. If it is another one than before, the connections to other hosts are closed.
    fn follow(&self, host: usize) -> MutexGuard<'_, Known> {
        let mut known = self.known();
        if known.leader.replace(host).is_some_and(|before| before != host) {
            known.connections.retain(|(other, task)| {
                let stays = *other == host;
                if !stays {
                    task.abort();
                }
                stays
            });
        }
        known
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.shared.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connect for LeaderFinder {
    fn connect(&self, _: &Config) -> Pin<Box<dyn Future<Output = Result<(Client, JoinHandle<()>), Error>> + Send + '_>> {
        Box::pin(self.connect())
    }
}

/// Returns one configuration for each host of a configuration, or the configuration itself if it names none.
fn split_hosts(config: &Config) -> Vec<Config> {
    let (hosts, addresses, ports) = (config.get_hosts(), config.get_hostaddrs(), config.get_ports());
    let count = hosts.len().max(addresses.len());
    if count < 2 || ports.len() > 1 && ports.len() != count {
        // A wrong number of ports is reported when it connects.
        return vec![config.clone()];
    }
    let one = |n: usize| {
        let mut one = Config::new();
        match hosts.get(n) {
            Some(Host::Tcp(host)) => _ = one.host(host),
            Some(Host::Unix(path)) => _ = one.host_path(path),
            None => {}
        }
        if let Some(address) = addresses.get(n) {
            one.hostaddr(*address);
        }
        if let Some(port) = ports.get(n).or_else(|| ports.first()) {
            one.port(*port);
        }
        if let Some(user) = config.get_user() {
            one.user(user);
        }
        if let Some(password) = config.get_password() {
            one.password(password);
        }
        if let Some(name) = config.get_dbname() {
            one.dbname(name);
        }
        if let Some(options) = config.get_options() {
            one.options(options);
        }
        if let Some(name) = config.get_application_name() {
            one.application_name(name);
        }
        if let Some(limit) = config.get_connect_timeout() {
            one.connect_timeout(*limit);
        }
        if let Some(limit) = config.get_tcp_user_timeout() {
            one.tcp_user_timeout(*limit);
        }
        if let Some(interval) = config.get_keepalives_interval() {
            one.keepalives_interval(interval);
        }
        if let Some(retries) = config.get_keepalives_retries() {
            one.keepalives_retries(retries);
        }
        one.keepalives(config.get_keepalives()).keepalives_idle(config.get_keepalives_idle());
        one.ssl_mode(config.get_ssl_mode()).ssl_negotiation(config.get_ssl_negotiation());
        one.channel_binding(config.get_channel_binding()).target_session_attrs(config.get_target_session_attrs());
        one
    };
    (0..count).map(one).collect()
}
