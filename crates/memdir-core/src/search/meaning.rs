//! The vectors of queries. An embedder that may be slow is never waited for longer than a moment: what comes later is kept
//! for the next time.

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
        mpsc,
    },
    time::Duration,
};

/// How long a search waits for an embedder that is not instant: about as long as nobody notices.
const PATIENCE: Duration = Duration::from_millis(100);
/// Queries under way at once: an embedder that hangs must not gather threads.
const MOST_WAITING: usize = 4;
/// Vectors of queries that are kept.
const MOST_KEPT: usize = 256;

/// Turns queries into vectors.
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

    /// How its cosines enter scores.
    pub(super) fn scale(&self) -> Scale {
        if self.embedder.is_instant() { Scale::STATIC } else { Scale::ENCODER }
    }

    /// A query's vector, if it can be had in time; otherwise a note says why not.
    pub(super) fn of_query(&self, text: &str, notes: &mut Vec<String>) -> Option<Vector> {
        if !self.embedder.understands(text) {
            return None;
        }
        let vector = if self.embedder.is_instant() { embed(&*self.embedder, text) } else { self.in_time(text) };
        match vector {
            Ok(vector) => vector.filter(|vector| !vector.is_zero()),
            Err(why) => {
                notes.push(format!("meaning was not searched, only words: {why}"));
                None
            }
        }
    }

    fn in_time(&self, text: &str) -> Result<Option<Vector>, String> {
        if let Some(vector) = lock(&self.kept).get(text) {
            return Ok(Some(vector.clone()));
        }
        if self.waiting.fetch_add(1, Ordering::SeqCst) >= MOST_WAITING {
            self.waiting.fetch_sub(1, Ordering::SeqCst);
            return Err("the embedder is still busy with earlier queries".to_owned());
        }
        let (send, receive) = mpsc::channel();
        let (embedder, kept, waiting, text) = (self.embedder.clone(), self.kept.clone(), self.waiting.clone(), text.to_owned());
        let started = std::thread::Builder::new().name("embed-query".into()).spawn(move || {
            let vector = embed(&*embedder, &text);
            if let Ok(Some(vector)) = &vector {
                let mut kept = lock(&kept);
                if kept.len() >= MOST_KEPT {
                    kept.clear();
                }
                kept.insert(text, vector.clone());
            }
            waiting.fetch_sub(1, Ordering::SeqCst);
            // The search may have gone on without it.
            let _ = send.send(vector);
        });
        if started.is_err() {
            self.waiting.fetch_sub(1, Ordering::SeqCst);
            return Err("no thread could be started for the embedder".to_owned());
        }
        receive.recv_timeout(PATIENCE).unwrap_or_else(|_| Err("the embedder did not answer in time".to_owned()))
    }
}

fn embed(embedder: &dyn Embedder, text: &str) -> Result<Option<Vector>, String> {
    embedder.embed(EmbedRole::Query, &[text]).map(|vectors| vectors.into_iter().next()).map_err(|error| error.to_string())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
