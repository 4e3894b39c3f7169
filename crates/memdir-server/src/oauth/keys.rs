//! The issuer's keys: read when the first token comes, again when a token names an unknown key, and from time to time, so that a
//! withdrawn key stops working. However many tokens come, the issuer is asked at most [`BURST`] times, and then once in [`PAUSE_SECS`].

use super::{
    discovery::{IssuerMetadata, read_metadata},
    fetch, fetch_threads,
    jwt::{PublicKey, SignedToken},
};
use crate::workers::WorkerPool;
use memdir_core::internal::base::time::Stopwatch;
use std::sync::{Arc, Mutex as SyncMutex, PoisonError};
use tokio::sync::Mutex;

/// Number of requests to the issuer in a row: at the start and after it has changed its keys.
const BURST: u64 = 4;
/// Seconds between two requests to the issuer after that.
const PAUSE_SECS: u64 = 10;
/// Seconds after which keys are read again.
const FRESH_SECS: u64 = 15 * 60;
/// Seconds for which keys are used while the issuer does not answer.
const MAX_AGE_SECS: u64 = 24 * 3600;
/// Maximum number of keys of an issuer.
const MAX_KEYS: usize = 64;

/// Why there is no key for a token.
#[derive(Debug)]
pub(super) enum KeyFailure {
    /// The issuer has no such key.
    Unknown,
    /// The issuer does not answer.
    Unavailable(String),
}

pub(super) struct IssuerKeys {
    issuer: String,
    known: SyncMutex<Option<Arc<KeySet>>>,
    /// Held while the issuer is asked.
    refresh: Mutex<Attempts>,
    threads: Arc<WorkerPool>,
}

struct KeySet {
    keys: Vec<PublicKey>,
    provider: Arc<IssuerMetadata>,
    read: Stopwatch,
}

/// The requests to the issuer.
struct Attempts {
    started: Stopwatch,
    /// Seconds after `started` at which all earlier requests are paid for, at [`PAUSE_SECS`] each.
    paid_at: u64,
    /// Why the last one failed.
    failure: Option<String>,
}

impl Attempts {
    /// Returns whether a request may be made now, and counts it.
    fn try_begin(&mut self) -> bool {
        let now = self.started.elapsed().as_secs();
        let paid_at = self.paid_at.max(now) + PAUSE_SECS;
        let is_within_limit = paid_at <= now + BURST * PAUSE_SECS;
        if is_within_limit {
            self.paid_at = paid_at;
        }
        is_within_limit
    }
}

impl KeySet {
    /// Returns the keys that a token may be signed with: those of the id it names, or all.
    fn candidates(&self, token: &SignedToken<'_>) -> Vec<PublicKey> {
        let is_named = |key: &&PublicKey| token.key_id.is_none() || key.id == token.key_id;
        self.keys.iter().filter(is_named).cloned().collect()
    }

    fn is_younger(&self, secs: u64) -> bool {
        self.read.elapsed().as_secs() < secs
    }
}

impl IssuerKeys {
    pub(super) fn new(issuer: &str) -> Self {
        let attempts = Attempts { started: Stopwatch::start(), paid_at: 0, failure: None };
        IssuerKeys { issuer: issuer.to_owned(), known: SyncMutex::default(), refresh: Mutex::new(attempts), threads: fetch_threads() }
    }

    /// Returns the keys that a token may be signed with; never an empty list.
    pub(super) async fn find(&self, token: &SignedToken<'_>) -> Result<Vec<PublicKey>, KeyFailure> {
        let candidates = |set: &Arc<KeySet>| Some(set.candidates(token)).filter(|keys| !keys.is_empty());
        let known = self.known();
        let found = known.as_ref().and_then(candidates);
        if let (Some(set), Some(keys)) = (&known, &found) {
            // While another request asks the issuer, a key that is only old is still used.
            if set.is_younger(FRESH_SECS) || (set.is_younger(MAX_AGE_SECS) && self.refresh.try_lock().is_err()) {
                return Ok(keys.clone());
            }
        }
        let refreshed = self.refresh(known.as_ref()).await;
        match self.known().filter(|set| set.is_younger(MAX_AGE_SECS)) {
            Some(set) => candidates(&set).ok_or(KeyFailure::Unknown),
            None => {
                Err(KeyFailure::Unavailable(refreshed.err().unwrap_or_else(|| "the identity provider's keys are not available".into())))
            }
        }
    }

    /// Returns the issuer's metadata.
    pub(super) async fn provider(&self) -> Result<Arc<IssuerMetadata>, KeyFailure> {
        if let Some(set) = self.known().filter(|set| set.is_younger(FRESH_SECS)) {
            return Ok(set.provider.clone());
        }
        let refreshed = self.refresh(self.known().as_ref()).await;
        match self.known() {
            Some(set) => Ok(set.provider.clone()),
            None => Err(refreshed.err().map_or(KeyFailure::Unknown, KeyFailure::Unavailable)),
        }
    }

    /// Runs a request to the provider on a thread of its own.
    pub(super) async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> Result<T, String> + Send + 'static) -> Result<T, String> {
        self.threads
            .run(work)
            .await
            .map_or_else(|_| Err("cannot start a thread".into()), |done| done.unwrap_or_else(|_| Err("internal error".into())))
    }

    /// Asks the issuer, unless another request did so since `seen`, or the last time is too recent.
    async fn refresh(&self, seen: Option<&Arc<KeySet>>) -> Result<(), String> {
        let mut attempts = self.refresh.lock().await;
        let is_new = match (self.known(), seen) {
            (Some(now), Some(seen)) => !Arc::ptr_eq(&now, seen),
            (now, _) => now.is_some(),
        };
        if is_new {
            return Ok(());
        }
        if !attempts.try_begin() {
            return attempts.failure.clone().map_or(Ok(()), Err);
        }
        let issuer = self.issuer.clone();
        let read = self.run(move || read_keys(&issuer)).await;
        attempts.failure = read.as_ref().err().map(|why| format!("cannot read the identity provider's keys: {why}"));
        match read {
            Ok((keys, provider)) => {
                let set = KeySet { keys, provider: Arc::new(provider), read: Stopwatch::start() };
                *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(set));
                Ok(())
            }
            Err(_) => attempts.failure.clone().map_or(Ok(()), Err),
        }
    }

    fn known(&self) -> Option<Arc<KeySet>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Reads metadata and keys. Blocks.
fn read_keys(issuer: &str) -> Result<(Vec<PublicKey>, IssuerMetadata), String> {
    let provider = read_metadata(issuer)?;
    let document = fetch::get_json(&provider.jwks_uri)?;
    let listed = document["keys"].as_array().map(Vec::as_slice).unwrap_or_default();
    let keys: Vec<PublicKey> = listed.iter().take(MAX_KEYS).filter_map(PublicKey::from_jwk).collect();
    if keys.is_empty() { Err(format!("{}: no usable keys", provider.jwks_uri)) } else { Ok((keys, provider)) }
}
