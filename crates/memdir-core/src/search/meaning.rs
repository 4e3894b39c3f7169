//! The vectors of queries. A search never waits longer than a moment for an embedder that may be slow: a vector that arrives
//! later is kept for the next time.

use crate::{
    base::error::Result,
    search::{
        embed::{EmbedRole, Embedder, Vector},
        ranking::Scale,
    },
};
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    time::Duration,
};

/// How long a search waits for an embedder that is not instant: about as long as goes unnoticed.
const TIMEOUT: Duration = Duration::from_millis(100);
/// The maximum number of queries under way: threads must not pile up behind an embedder that hangs.
const MAX_WAITING: usize = 4;
/// The maximum number of kept query vectors.
const MAX_KEPT: usize = 256;

/// Embeds queries.
pub(super) struct Meaning {
    embedder: Arc<dyn Embedder>,
    kept: Arc<Mutex<HashMap<String, Vector>>>,
    waiting: Arc<AtomicUsize>,
}

impl Meaning {
    pub(super) fn new(embedder: Arc<dyn Embedder>) -> Self {
        Meaning { embedder, kept: Arc::default(), waiting: Arc::default() }
    }

    pub(super) fn embedder(&self) -> &dyn Embedder {
        &*self.embedder
    }

    /// The scale at which its cosines enter scores.
    pub(super) fn scale(&self) -> Scale {
        if self.embedder.is_instant() { Scale::STATIC } else { Scale::ENCODER }
    }

    /// Returns the vector of a query, or `None` with a note if it is not available in time.
    pub(super) fn query_vector(&self, text: &str, notes: &mut Vec<String>) -> Option<Vector> {
        if !self.embedder.understands(text) {
            return None;
        }
        let vector = if self.embedder.is_instant() { embed(&*self.embedder, text) } else { self.in_time(text) };
        match vector {
            Ok(vector) => vector.filter(|vector| !vector.is_zero()),
            Err(why) => {
                notes.push(format!("searched by words only, not by meaning: {why}"));
                None
            }
        }
    }

    fn in_time(&self, text: &str) -> Result<Option<Vector>, String> {
        if let Some(vector) = lock(&self.kept).get(text) {
            return Ok(Some(vector.clone()));
        }
        if self.waiting.fetch_add(1, Ordering::SeqCst) >= MAX_WAITING {
            self.waiting.fetch_sub(1, Ordering::SeqCst);
            return Err("the embedding model is still busy with earlier queries".to_owned());
        }
        let (send, receive) = mpsc::channel();
        let (embedder, kept, waiting, text) = (self.embedder.clone(), self.kept.clone(), self.waiting.clone(), text.to_owned());
        let started = std::thread::Builder::new().name("embed-query".into()).spawn(move || {
            let vector = embed(&*embedder, &text);
            if let Ok(Some(vector)) = &vector {
                let mut kept = lock(&kept);
                if kept.len() >= MAX_KEPT {
                    kept.clear();
                }
                kept.insert(text, vector.clone());
            }
            waiting.fetch_sub(1, Ordering::SeqCst);
            // The search may have continued without it.
            let _ = send.send(vector);
        });
        if let Err(error) = started {
            self.waiting.fetch_sub(1, Ordering::SeqCst);
            return Err(format!("cannot start the embedding thread: {error}"));
        }
        receive.recv_timeout(TIMEOUT).unwrap_or_else(|error| match error {
            RecvTimeoutError::Timeout => Err(format!("the embedding model did not respond within {} ms", TIMEOUT.as_millis())),
            RecvTimeoutError::Disconnected => Err("the request to the embedding model ended unexpectedly".to_owned()),
        })
    }
}

fn embed(embedder: &dyn Embedder, text: &str) -> Result<Option<Vector>, String> {
    embedder.embed(EmbedRole::Query, &[text]).map(|vectors| vectors.into_iter().next()).map_err(|error| error.to_string())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
