//! The sessions of one caller, over all its spaces. Beyond the maximum, the session that has been idle longest ends, so that clients
//! that connect again and again lock out neither themselves nor others.

use super::usage::{InUse, Usage};
use rmcp::transport::streamable_http_server::{SessionManager as _, session::local::LocalSessionManager};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

/// Maximum number of sessions of one caller. More than its connections, so that one without a request always exists.
const MAX_SESSIONS: usize = 400;

#[derive(Default)]
pub(super) struct SessionTable(Mutex<HttpSessions>);

#[derive(Default)]
struct HttpSessions {
    clock: u64,
    entries: HashMap<String, HttpSession>,
}

struct HttpSession {
    manager: Weak<LocalSessionManager>,
    usage: Usage,
}

impl SessionTable {
    /// Begins a request of a session. Returns `None` if the session is unknown.
    pub(super) fn begin(&self, id: &str) -> Option<InUse> {
        let mut sessions = self.sessions();
        sessions.clock += 1;
        let now = sessions.clock;
        sessions.entries.get_mut(id).map(|session| session.usage.begin(now))
    }

    /// Adds a session that has just begun, and ends the one that has been idle longest if there are too many.
    pub(super) fn add(&self, id: &str, manager: &Arc<LocalSessionManager>) {
        let mut sessions = self.sessions();
        sessions.clock += 1;
        let now = sessions.clock;
        let mut session = HttpSession { manager: Arc::downgrade(manager), usage: Usage::default() };
        drop(session.usage.begin(now));
        // Sessions of closed spaces have ended.
        if sessions.entries.len() >= MAX_SESSIONS {
            sessions.entries.retain(|_, session| session.manager.strong_count() > 0);
        }
        if sessions.entries.len() >= MAX_SESSIONS {
            sessions.end_oldest();
        }
        sessions.entries.insert(id.to_owned(), session);
    }

    /// Removes a session that has ended.
    pub(super) fn remove(&self, id: &str) {
        self.sessions().entries.remove(id);
    }

    fn sessions(&self) -> MutexGuard<'_, HttpSessions> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HttpSessions {
    fn end_oldest(&mut self) {
        let ranked = self.entries.iter().filter_map(|(id, session)| Some((session.usage.idle_rank()?, id)));
        let Some(id) = ranked.min().map(|(_, id)| id.clone()) else { return };
        let Some(manager) = self.entries.remove(&id).and_then(|session| session.manager.upgrade()) else { return };
        tokio::spawn(async move {
            // A session that has ended by itself needs no closing.
            let _ = manager.close_session(&id.into()).await;
        });
    }
}
