//! The open connections, with their limits: few that have not sent an accepted token, and not too many of one caller. When a limit is
//! reached, the connection that has been idle longest is closed, so that new ones do not wait for old ones.

use super::caller::CallerId;
use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Maximum number of open connections. Further ones wait in the backlog of the listener, if none of these is idle.
const MAX_CONNECTIONS: usize = 512;
/// Maximum number of connections without an accepted request. Half-sent requests cost nothing but these.
const MAX_UNAUTHENTICATED: usize = 128;
/// Maximum number of connections of one caller.
const MAX_PER_CALLER: usize = 128;
/// Maximum number of connections of the owner: without tokens, all clients of the server.
const MAX_OF_OWNER: usize = MAX_CONNECTIONS - MAX_UNAUTHENTICATED;

/// The table of open connections.
#[derive(Default)]
pub(super) struct ConnectionTable {
    entries: Mutex<Entries>,
    /// Notified when there may be room again.
    changed: Notify,
}

#[derive(Default)]
struct Entries {
    connections: HashMap<u64, ConnectionEntry>,
    last_id: u64,
    /// Counts uses, to order connections by their last one.
    clock: u64,
}

struct ConnectionEntry {
    owner: ConnectionOwner,
    /// Number of requests in progress, with their responses; with HTTP/1.1 at most one.
    requests: usize,
    last_used: u64,
    close: CancellationToken,
}

/// Who sent the last accepted request of a connection. A proxy may send requests of several callers over one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum ConnectionOwner {
    Unauthenticated,
    Caller(Option<CallerId>),
}

impl ConnectionTable {
    /// Waits until there is room for one more connection.
    pub(super) async fn room(&self) {
        loop {
            let changed = self.changed.notified();
            if self.entries().make_room() {
                return;
            }
            changed.await;
        }
    }

    /// Adds a connection.
    pub(super) fn open(self: &Arc<Self>, peer: SocketAddr, name: String) -> Connection {
        let mut entries = self.entries();
        let is_unauthenticated = |entry: &ConnectionEntry| entry.owner == ConnectionOwner::Unauthenticated;
        if entries.count(is_unauthenticated) >= MAX_UNAUTHENTICATED {
            entries.close_oldest(is_unauthenticated);
        }
        entries.last_id += 1;
        let (id, close) = (entries.last_id, CancellationToken::new());
        let entry =
            ConnectionEntry { owner: ConnectionOwner::Unauthenticated, requests: 0, last_used: entries.tick(), close: close.clone() };
        entries.connections.insert(id, entry);
        Connection(Arc::new(OpenConnection { id, peer, name, close, table: self.clone() }))
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    fn count(&self, matches: impl Fn(&ConnectionEntry) -> bool) -> usize {
        self.connections.values().filter(|entry| matches(entry)).count()
    }

    /// Closes the matching connection that was used longest ago. Returns whether there was one.
    fn close_oldest(&mut self, matches: impl Fn(&ConnectionEntry) -> bool) -> bool {
        let oldest = self.connections.iter().filter(|(_, entry)| matches(entry)).min_by_key(|(_, entry)| entry.last_used);
        let Some(id) = oldest.map(|(id, _)| *id) else { return false };
        if let Some(entry) = self.connections.remove(&id) {
            entry.close.cancel();
        }
        true
    }

    /// Makes room for one more connection: closes an unauthenticated one, or an idle one of the caller that has the most.
    fn make_room(&mut self) -> bool {
        if self.connections.len() < MAX_CONNECTIONS || self.close_oldest(|entry| entry.owner == ConnectionOwner::Unauthenticated) {
            return true;
        }
        let mut idle: HashMap<ConnectionOwner, usize> = HashMap::new();
        self.connections.values().filter(|entry| entry.requests == 0).for_each(|entry| *idle.entry(entry.owner).or_default() += 1);
        let Some((most, _)) = idle.into_iter().max_by_key(|(_, count)| *count) else { return false };
        self.close_oldest(|entry| entry.owner == most && entry.requests == 0)
    }
}

/// A connection; closed for the table when its last clone is dropped.
#[derive(Clone)]
pub(crate) struct Connection(Arc<OpenConnection>);

struct OpenConnection {
    id: u64,
    peer: SocketAddr,
    name: String,
    close: CancellationToken,
    table: Arc<ConnectionTable>,
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.table.entries().connections.remove(&self.id);
        self.table.changed.notify_one();
    }
}

impl Connection {
    pub(crate) fn peer(&self) -> SocketAddr {
        self.0.peer
    }

    /// Returns the name of the connection, which is unique among all servers.
    pub(super) fn name(&self) -> &str {
        &self.0.name
    }

    /// Waits until the connection must be closed to make room.
    pub(super) async fn closed(&self) {
        self.0.close.cancelled().await;
    }

    /// Counts a request until the returned guard is dropped.
    pub(super) fn begin_request(&self) -> ConnectionUse {
        if let Some(entry) = self.0.table.entries().connections.get_mut(&self.0.id) {
            entry.requests += 1;
        }
        ConnectionUse(self.clone())
    }

    /// Returns whether no request of the connection has been accepted yet.
    pub(super) fn is_unauthenticated(&self) -> bool {
        let entries = self.0.table.entries();
        entries.connections.get(&self.0.id).is_none_or(|entry| entry.owner == ConnectionOwner::Unauthenticated)
    }

    /// Assigns the connection to the caller of its present request. Returns `false` if the caller has too many connections, all of
    /// them in use.
    pub(crate) fn assign(&self, caller: Option<CallerId>) -> bool {
        let owner = ConnectionOwner::Caller(caller);
        let mut entries = self.0.table.entries();
        let Some(entry) = entries.connections.get_mut(&self.0.id) else { return true };
        if entry.owner == owner {
            return true;
        }
        let most = if caller.is_some() { MAX_PER_CALLER } else { MAX_OF_OWNER };
        if entries.count(|entry| entry.owner == owner) >= most && !entries.close_oldest(|entry| entry.owner == owner && entry.requests == 0)
        {
            return false;
        }
        if let Some(entry) = entries.connections.get_mut(&self.0.id) {
            entry.owner = owner;
        }
        true
    }
}

/// A request in progress on a connection.
pub(super) struct ConnectionUse(Connection);

impl Drop for ConnectionUse {
    fn drop(&mut self) {
        let OpenConnection { id, table, .. } = &*self.0.0;
        let mut entries = table.entries();
        let now = entries.tick();
        if let Some(entry) = entries.connections.get_mut(id) {
            entry.requests = entry.requests.saturating_sub(1);
            entry.last_used = now;
        }
        table.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(table: &Arc<ConnectionTable>) -> Connection {
        assert!(table.entries().make_room());
        table.open(([127, 0, 0, 1], 1).into(), String::new())
    }

    fn is_closed(connection: &Connection) -> bool {
        connection.0.close.is_cancelled()
    }

    #[test]
    fn the_oldest_connection_without_a_token_makes_room_for_a_new_one() {
        let table = Arc::new(ConnectionTable::default());
        let all: Vec<Connection> = (0..MAX_UNAUTHENTICATED + 2).map(|_| open(&table)).collect();
        assert_eq!(all.iter().map(is_closed).collect::<Vec<_>>()[..3], [true, true, false]);
        assert_eq!(all.iter().filter(|connection| is_closed(connection)).count(), 2);
    }

    #[test]
    fn a_caller_with_too_many_connections_loses_its_oldest_idle_one() {
        let table = Arc::new(ConnectionTable::default());
        let open_as = |caller| {
            let connection = open(&table);
            assert!(connection.assign(Some(CallerId(caller))));
            connection
        };
        let other = open_as(2);
        let all: Vec<Connection> = (0..MAX_PER_CALLER).map(|_| open_as(1)).collect();
        let used = all[0].begin_request();
        let _new = open_as(1);
        assert!(!is_closed(&all[0]) && is_closed(&all[1]) && !is_closed(&other));
        let _busy: Vec<ConnectionUse> = all[2..].iter().map(Connection::begin_request).collect();
        let (idle, refused) = (open_as(1), open(&table));
        let _busy_too = idle.begin_request();
        assert!(!refused.assign(Some(CallerId(1))), "all are in use");
        drop(used);
        assert!(refused.assign(Some(CallerId(1))) && is_closed(&all[0]));
    }

    #[test]
    fn a_full_table_closes_an_idle_connection_of_the_caller_that_has_the_most() {
        let table = Arc::new(ConnectionTable::default());
        let mut all = Vec::new();
        for (caller, count) in [(Some(CallerId(1)), 100), (Some(CallerId(2)), 101), (None, MAX_CONNECTIONS - 201)] {
            for _ in 0..count {
                let connection = open(&table);
                assert!(connection.assign(caller));
                all.push(connection);
            }
        }
        let _new = open(&table);
        let closed: Vec<usize> = all.iter().enumerate().filter(|(_, connection)| is_closed(connection)).map(|(n, _)| n).collect();
        assert_eq!(closed, [201]);
    }
}
