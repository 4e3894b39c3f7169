//! The callers of a team server: the tokens in the database. Every request looks its token up there, so that a revoked one is rejected at
//! once by all replicas. A caller keeps its id as long as its permissions are unchanged.

use super::{
    groups::{caller_catalog, searchable_group},
    verified::check_person,
};
use crate::{config::Settings, exit::Failure, scope::narrowed, spaces};
use jiff::Timestamp;
use memdir_core::{Access, Clock as _, IndexPool, Mount, SystemClock, internal::base::time::Stopwatch};
use memdir_postgres::{CallerKey, Database, KnownCaller, NamespaceMount, TeamCaller};
use memdir_server::{
    Authentication, CallerDirectory, CallerId, HttpCaller, REVOKED, ToolCatalog, ToolFilter, VerifiedAuthentication, VerifiedToken,
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// The maximum number of callers that are kept. Beyond it, the one that was seen longest ago is looked up again when it returns.
const MAX_CALLERS: usize = 10_000;
/// For how long the lookup of a request is good for the call that it makes. A call that waited longer is checked again.
const RECHECK_AFTER: Duration = Duration::from_millis(100);

/// The connection of people of an identity provider, and of those whose tokens permit reading only.
const SIGNED_IN: &str = "oauth";
const SIGNED_IN_TO_READ: &str = "oauth-read";

/// The callers of a team server.
#[derive(Debug)]
pub(super) struct TeamCallers {
    database: Database,
    pool: Arc<IndexPool>,
    settings: Arc<Settings>,
    filter: ToolFilter,
    registry: Mutex<CallerRegistry>,
}

/// The callers that made requests, with their permissions when they were last looked up.
#[derive(Debug, Default)]
struct CallerRegistry {
    ids: HashMap<CallerKey, CallerId>,
    callers: HashMap<CallerId, SeenCaller>,
    last_id: u64,
    revision: u64,
    /// Counts lookups, to order callers by their last one.
    clock: u64,
    /// No token of an identity provider expires before this time.
    next_expiry: Option<Timestamp>,
}

#[derive(Debug, Clone)]
struct SeenCaller {
    key: CallerKey,
    caller: Arc<TeamCaller>,
    /// By which the reads of the caller's spaces check it.
    known: Arc<KnownCaller>,
    seen: u64,
    /// Since the last lookup began; `None` if the next call must be checked again.
    checked: Option<Stopwatch>,
    /// When the last token of an identity provider expires.
    expires: Option<Timestamp>,
}

impl TeamCallers {
    pub(super) fn new(database: Database, pool: Arc<IndexPool>, settings: &Settings, filter: ToolFilter) -> Self {
        TeamCallers { database, pool, settings: Arc::new(settings.clone()), filter, registry: Mutex::default() }
    }

    /// Looks a caller up. Returns its id, or `None` if it is unknown.
    async fn look_up(&self, key: &CallerKey) -> Result<Option<CallerId>, String> {
        let checked = Stopwatch::start();
        let known = self.registry().known(key);
        let found = TeamCaller::find(&self.database, key, known).await;
        // The caller does not see where the database is.
        let found = found.map_err(|_| "the database is not available, so tokens cannot be checked".to_owned())?;
        Ok(self.registry().update(key, found, checked))
    }

    fn seen(&self, id: CallerId) -> Result<SeenCaller, String> {
        self.registry().callers.get(&id).cloned().ok_or_else(|| REVOKED.to_owned())
    }

    fn registry(&self) -> MutexGuard<'_, CallerRegistry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_space(&self, seen: &SeenCaller, request: &HttpCaller) -> Result<ToolCatalog, Failure> {
        let caller = &seen.caller;
        let all = caller.mounts(request.project.as_deref())?;
        let mounts: Vec<Mount> = all.iter().map(|mount| mount.mount.clone()).collect();
        let mut mounts = narrowed(mounts, &self.settings.only, &request.only)?;
        let is_reader = caller.connection == SIGNED_IN_TO_READ;
        if is_reader {
            mounts.iter_mut().for_each(|mount| mount.access = Access::ReadOnly);
        }
        let namespace = |mount: Mount| {
            let whole = all.iter().find(|whole| whole.mount.prefix == mount.prefix)?;
            Some(whole.narrowed(mount))
        };
        let mounts: Vec<NamespaceMount> = mounts.into_iter().filter_map(namespace).collect();
        let actor = caller.actor();
        let known = Some(seen.known.clone());
        let memdir =
            spaces::open_namespaces(&self.settings, (&self.database, &self.pool), &caller.tenant, &mounts, (actor.clone(), known))?;
        // The log is about the person, and everyone in a project reads the project's memory.
        let group = searchable_group(memdir.with_log_prefix("user"), &self.settings, self.settings.home.value.clone(), true);
        let catalog = caller_catalog(vec![group], &self.filter, is_reader)?;
        let projects = &caller.access.projects;
        let unselected = if request.project.is_none() && projects.len() > 1 { projects.keys().cloned().collect() } else { Vec::new() };
        Ok(catalog.for_actor(actor).with_projects(unselected))
    }
}

impl CallerDirectory for TeamCallers {
    fn requires_token(&self) -> bool {
        true
    }

    fn ready(&self) -> Result<(), String> {
        self.database.check().map_err(|error| error.to_string())
    }

    fn identify(&self, token: &str) -> Option<CallerId> {
        CallerKey::from_token(token).and_then(|key| self.registry().ids.get(&key).copied())
    }

    fn presume(&self, token: &str) -> Option<CallerId> {
        let key = CallerKey::from_token(token)?;
        self.registry().presume(&key)
    }

    fn authenticate<'a>(&'a self, token: &'a str) -> Authentication<'a> {
        Box::pin(async move {
            match CallerKey::from_token(token) {
                Some(key) => self.look_up(&key).await,
                None => Ok(None),
            }
        })
    }

    fn authenticate_verified<'a>(&'a self, token: &'a VerifiedToken) -> VerifiedAuthentication<'a> {
        Box::pin(async move {
            let identity = &token.identity;
            let Some(tenant) = identity.tenant.clone() else {
                let why = "this server's settings do not select a tenant for signed-in people";
                return Ok(Err(format!("{why}; ask its operator to set oauth.tenant_claim or oauth.tenant")));
            };
            if let Err(why) = check_person(&identity.person) {
                return Ok(Err(why));
            }
            let connection = if identity.read_only { SIGNED_IN_TO_READ } else { SIGNED_IN };
            let key = CallerKey::Person { tenant, person: identity.person.clone(), connection: connection.into() };
            let Some(id) = self.look_up(&key).await? else {
                return Ok(Err(format!(
                    "{:?} is not registered on this server; ask its operator to run: memdir admin person add NAME --tenant TENANT",
                    identity.person
                )));
            };
            self.registry().extend(id, token.expires);
            Ok(Ok(id))
        })
    }

    fn is_current(&self, id: CallerId) -> bool {
        self.registry().callers.contains_key(&id)
    }

    fn check_caller(&self, id: CallerId) -> Result<(), String> {
        let seen = self.seen(id)?;
        if seen.checked.is_some_and(|checked| checked.elapsed() < RECHECK_AFTER) {
            return Ok(());
        }
        let found = self.database.wait_for(self.look_up(&seen.key))?;
        if found == Some(id) { Ok(()) } else { Err(REVOKED.into()) }
    }

    fn recheck(&self, id: CallerId) {
        if let Some(seen) = self.registry().callers.get_mut(&id) {
            seen.checked = None;
        }
    }

    fn revision(&self) -> u64 {
        let mut registry = self.registry();
        registry.remove_expired(SystemClock.now());
        registry.revision
    }

    fn open(&self, caller: &HttpCaller) -> Result<ToolCatalog, String> {
        let id = caller.id.ok_or("this server requires a token")?;
        let seen = self.seen(id)?;
        self.open_space(&seen, caller).map_err(|failure| failure.text().message)
    }
}

impl CallerRegistry {
    fn known(&self, key: &CallerKey) -> Option<Arc<TeamCaller>> {
        self.ids.get(key).and_then(|id| self.callers.get(id)).map(|seen| seen.caller.clone())
    }

    /// Returns the id of a caller that was looked up before.
    fn presume(&mut self, key: &CallerKey) -> Option<CallerId> {
        let id = *self.ids.get(key)?;
        self.clock += 1;
        self.callers.get_mut(&id)?.seen = self.clock;
        Some(id)
    }

    /// Records the result of a lookup, and returns the id of the caller.
    fn update(&mut self, key: &CallerKey, found: Option<TeamCaller>, checked: Stopwatch) -> Option<CallerId> {
        let before = self.ids.get(key).copied();
        let Some(found) = found else {
            before.into_iter().for_each(|id| self.remove(id));
            return None;
        };
        self.clock += 1;
        let clock = self.clock;
        if let Some((id, seen)) = before.and_then(|id| Some((id, self.callers.get_mut(&id)?))) {
            // Another lookup may have been answered earlier with something newer.
            if found.revision < seen.caller.revision {
                return Some(id);
            }
            if (TeamCaller { revision: found.revision, ..(*seen.caller).clone() }) == found {
                seen.known.set_revision(found.revision);
                (seen.caller, seen.seen, seen.checked) = (Arc::new(found), clock, Some(checked));
                return Some(id);
            }
            self.remove(id);
        }
        if self.callers.len() >= MAX_CALLERS {
            let oldest = self.callers.iter().min_by_key(|(_, seen)| seen.seen).map(|(id, _)| *id);
            oldest.into_iter().for_each(|id| self.remove(id));
        }
        self.last_id += 1;
        let id = CallerId(self.last_id);
        self.ids.insert(key.clone(), id);
        let known = Arc::new(KnownCaller::new(key.clone(), &found));
        self.callers.insert(
            id,
            SeenCaller { key: key.clone(), caller: Arc::new(found), known, seen: clock, checked: Some(checked), expires: None },
        );
        Some(id)
    }

    /// Records until when a caller of an identity provider is current.
    fn extend(&mut self, id: CallerId, expires: Timestamp) {
        if let Some(seen) = self.callers.get_mut(&id) {
            seen.expires = Some(seen.expires.map_or(expires, |known| known.max(expires)));
            self.next_expiry = Some(self.next_expiry.map_or(expires, |next| next.min(expires)));
        }
    }

    /// Ends what callers with expired tokens have open.
    fn remove_expired(&mut self, now: Timestamp) {
        if self.next_expiry.is_none_or(|next| now < next) {
            return;
        }
        let expired = self.callers.iter().filter(|(_, seen)| seen.expires.is_some_and(|expires| expires <= now)).map(|(id, _)| *id);
        expired.collect::<Vec<_>>().into_iter().for_each(|id| self.remove(id));
        self.next_expiry = self.callers.values().filter_map(|seen| seen.expires).min();
    }

    fn remove(&mut self, id: CallerId) {
        if let Some(seen) = self.callers.remove(&id) {
            self.ids.remove(&seen.key);
        }
        self.revision += 1;
    }
}
