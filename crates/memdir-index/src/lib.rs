//! The search index of one mount on Tantivy, in a directory of the cache. Derived: whatever is wrong with it costs a rebuild.
//!
//! Tantivy keeps the postings of immutable segments. Which segments count, which of their documents are dead and what is
//! indexed is in one state file of ours that is replaced by rename, so readers need no lock and a crash leaves either
//! the old index or the new one. Nothing is synced; every file is compared with its mark when it is opened.

mod ask;
mod batch;
mod candidates;
mod dir;
mod files;
pub mod scan;
mod schema;
mod segment;
mod snapshot;
mod state;
mod table;
pub mod vectors;

use crate::vectors::Vectors;
use batch::DiskBatch;
use memdir_core::{
    base::error::{Error, Result},
    search::{
        embed::EmbedderId,
        index::{Batch, Index, IndexChange, IndexSize, View, Wait},
    },
};
use segment::Segment;
use snapshot::{Living, Snapshot};
use state::State;
use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// What an index made by this code looks like: another number, another index. Raise it when the analysis, the units, the
/// fields or a file's layout change.
const FORMAT: &str = "memdir search index 1";

/// An index in a directory.
pub struct TantivyIndex {
    root: PathBuf,
    embedder: Option<(EmbedderId, usize)>,
    tag: u64,
    open: Mutex<Option<Arc<Snapshot>>>,
    trouble: Mutex<Option<String>>,
}

impl TantivyIndex {
    /// The index of a mount below a cache directory. Mounts of one directory share it if they list the same files.
    /// `root` is its real path, `rules` are those by which they are listed.
    pub fn of_mount(cache: &Path, root: &Path, rules: &str, embedder: Option<(EmbedderId, usize)>) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(root.as_os_str().as_encoded_bytes()).update(b"\0").update(rules.as_bytes());
        TantivyIndex::new(cache.join("index").join(&hasher.finalize().to_hex()[..32]), embedder)
    }

    /// The index in exactly this directory. Nothing is read or created yet. Without an embedder (its identity and how many
    /// numbers its vectors have) the vectors that are there stay unused.
    pub fn new(root: PathBuf, embedder: Option<(EmbedderId, usize)>) -> Self {
        let tag = embedder.as_ref().map_or(0, |(id, _)| u64::from_le_bytes(first_eight(&id.hash())).max(1));
        TantivyIndex { root, embedder, tag, open: Mutex::default(), trouble: Mutex::default() }
    }

    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Reads every byte of the index and compares it with what was written.
    pub fn verify(&self) -> Result<()> {
        let snapshot = self.snapshot()?;
        for part in &snapshot.parts {
            part.segment.verify(&self.root)?;
        }
        snapshot.vectors.as_ref().map_or(Ok(()), |vectors| vectors.verify())
    }

    fn state_path(&self) -> PathBuf {
        self.root.join("state")
    }

    fn vectors_dir(&self) -> PathBuf {
        self.root.join(format!("vectors-{:016x}", self.tag))
    }

    fn fingerprint() -> [u8; 16] {
        let mut short = [0; 16];
        short.copy_from_slice(&blake3::hash(FORMAT.as_bytes()).as_bytes()[..16]);
        short
    }

    fn snapshot(&self) -> Result<Arc<Snapshot>> {
        let mut open = lock(&self.open);
        if let Some(snapshot) = open.as_ref()
            && files::Mark::of(&self.state_path()) == snapshot.state.mark
        {
            return Ok(snapshot.clone());
        }
        let snapshot = self.load(open.as_deref())?;
        *open = Some(snapshot.clone());
        Ok(snapshot)
    }

    /// Opens what the state names. Damage is set aside and noted; what remains is an empty index.
    fn load(&self, before: Option<&Snapshot>) -> Result<Arc<Snapshot>> {
        loop {
            let state = match State::open(&self.state_path(), Self::fingerprint()) {
                Ok(state) => state,
                Err(error) => {
                    self.set_aside(&error);
                    return Ok(self.empty());
                }
            };
            let mark = state.mark;
            match self.open_parts(state, before) {
                Ok(snapshot) => return Ok(Arc::new(snapshot)),
                // Another process may have replaced the state and removed what the old one named.
                Err(_) if files::Mark::of(&self.state_path()) != mark => {}
                Err(error) => {
                    self.set_aside(&error);
                    return Ok(self.empty());
                }
            }
        }
    }

    fn open_parts(&self, state: State, before: Option<&Snapshot>) -> Result<Snapshot> {
        let index = match state.segments() {
            [] => None,
            _ => Some(segment::tantivy_index(&self.root)?),
        };
        let mut parts = Vec::with_capacity(state.segments().len());
        for row in state.segments() {
            let open = before.and_then(|b| b.parts.iter().find(|part| part.segment.row.id == row.id)).map(|part| part.segment.clone());
            let segment = match (open, &index) {
                (Some(open), _) => open,
                (None, Some(index)) => Arc::new(Segment::open(&self.root, index, row)?),
                (None, None) => continue,
            };
            parts.push(Living { segment, dead: state.dead(row).into() });
        }
        let vectors = self.open_vectors(&state)?;
        Ok(Snapshot::new(Arc::new(state), parts, vectors, self.tag))
    }

    /// The vectors. Those that lack what the state relies on are damaged, and the index with them: which of its units
    /// have lost theirs is not known.
    fn open_vectors(&self, state: &State) -> Result<Option<Arc<Vectors>>> {
        let Some((id, dim)) = &self.embedder else { return Ok(None) };
        let vectors = Vectors::open(&self.vectors_dir(), id, *dim)?;
        let reached = state.vectors();
        match reached.embedder == self.tag && vectors.generation() < reached.generation {
            true => Err(files::corrupt(&self.vectors_dir(), "vectors are missing")),
            false => Ok(Some(Arc::new(vectors))),
        }
    }

    fn empty(&self) -> Arc<Snapshot> {
        Arc::new(Snapshot::new(Arc::new(State::empty()), Vec::new(), None, self.tag))
    }

    fn set_aside(&self, error: &Error) {
        let is_outdated = matches!(error, Error::Corrupt { why, .. } if why == state::OTHER_VERSION);
        if !is_outdated {
            *lock(&self.trouble) = Some(error.to_string());
        }
        // If even that fails, the next writer replaces the state anyway.
        let _ = files::set_aside(&self.state_path());
    }
}

impl Index for TantivyIndex {
    fn view(&self) -> Result<Arc<dyn View>> {
        Ok(self.snapshot()?)
    }

    fn overlay(&self, base: &Arc<dyn View>, changes: &[IndexChange]) -> Result<Arc<dyn View>> {
        match base.as_any().downcast_ref::<Snapshot>() {
            Some(base) => Ok(Arc::new(base.with(changes)?)),
            None => Ok(Arc::new(self.empty().with(changes)?)),
        }
    }

    fn begin(&self, wait: Wait) -> Result<Option<Box<dyn Batch + '_>>> {
        Ok(DiskBatch::begin(self, wait)?.map(|batch| Box::new(batch) as Box<dyn Batch + '_>))
    }

    fn forget(&self) -> Result<()> {
        *lock(&self.open) = None;
        // What was wrong may be in the vectors, and a new index would take them over.
        Vectors::clear(&self.vectors_dir())?;
        files::set_aside(&self.state_path())
    }

    fn damage_report(&self) -> Option<String> {
        lock(&self.trouble).take()
    }

    fn is_whole(&self) -> bool {
        self.verify().is_ok()
    }

    fn size(&self) -> IndexSize {
        let mut size = IndexSize { segments: self.snapshot().map_or(0, |s| s.parts.len() as u64), ..IndexSize::default() };
        let mut dirs = vec![self.root.clone()];
        while let Some(dir) = dirs.pop() {
            for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
                match entry.metadata() {
                    Ok(meta) if meta.is_dir() => dirs.push(entry.path()),
                    Ok(meta) => {
                        size.bytes += meta.len();
                        size.files += 1;
                    }
                    Err(_) => {}
                }
            }
        }
        size
    }
}

/// What a file's name is looked up by.
fn hash(path: &str) -> u64 {
    u64::from_le_bytes(first_eight(blake3::hash(path.as_bytes()).as_bytes()))
}

fn first_eight(bytes: &[u8]) -> [u8; 8] {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[..8]);
    eight
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tantivy's errors as ours.
fn damage(error: tantivy::TantivyError) -> Error {
    match error {
        tantivy::TantivyError::IoError(source) => {
            let source = Arc::try_unwrap(source).unwrap_or_else(|shared| io::Error::new(shared.kind(), shared.to_string()));
            Error::io("use", "the search index", source)
        }
        other => Error::Corrupt { what: "the search index".into(), why: other.to_string() },
    }
}

fn damage_io(source: io::Error) -> Error {
    Error::io("read", "the search index", source)
}
