//! The search index of one mount in a directory of the cache.
//!
//! Tantivy stores the postings of immutable segments. One state file lists the current segments, their deleted documents and the
//! indexed files; it is replaced by rename, so readers need no lock and a crash leaves either the old index or the new one.
//! Nothing is synced to disk; every file is compared with its recorded mark when it is opened.

mod batch;

use crate::{
    errors::corrupt,
    files,
    hash::embedder_tag,
    segment::{self, Segment},
    snapshot::{IndexSnapshot, LiveSegment},
    state::{self, MappedState},
    vectors::Vectors,
};
use batch::DiskBatch;
use memdir_core::{
    Error, Index, Result,
    internal::search::{
        embed::EmbedderId,
        index::{Batch, IndexChange, IndexSize, IndexView, Wait},
    },
};
use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

/// The version of the index format. Raise the number when the analysis, the units, the fields or the layout of a file change; an index
/// of another version is rebuilt.
const FORMAT: &str = "memdir search index 4";

/// An index in a directory.
pub struct TantivyIndex {
    root: PathBuf,
    /// The embedder and the dimension of its vectors.
    embedder: Option<(EmbedderId, usize)>,
    /// The tag of the embedder in files of the index; 0 without one.
    tag: u64,
    /// Whether a writer waits for another one.
    waits: bool,
    open: Mutex<Option<Arc<IndexSnapshot>>>,
    /// Why the index was discarded since the last call of `damage_report`.
    damage: Mutex<Option<String>>,
}

impl TantivyIndex {
    /// Creates the index of a mount below a cache directory. Mounts of the same directory share it if they list the same files:
    /// `root` is the canonical path of the directory, `rules` are the rules by which its files are listed.
    pub fn for_mount(cache: &Path, root: &Path, rules: &str, embedder: Option<(EmbedderId, usize)>) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(root.as_os_str().as_encoded_bytes()).update(b"\0").update(rules.as_bytes());
        TantivyIndex::new(cache.join("index").join(&hasher.finalize().to_hex()[..32]), embedder)
    }

    /// Creates the index in exactly this directory, without reading or creating anything. `embedder` is the identity of the embedder
    /// and the dimension of its vectors; without one, existing vectors stay unused.
    pub fn new(root: PathBuf, embedder: Option<(EmbedderId, usize)>) -> Self {
        let tag = embedder.as_ref().map_or(0, |(id, _)| embedder_tag(id));
        TantivyIndex { root, embedder, tag, waits: true, open: Mutex::default(), damage: Mutex::default() }
    }

    /// Makes every writer of this index behave as with [`Wait::No`]: nothing is written while another process writes.
    pub fn never_waiting(self) -> Self {
        TantivyIndex { waits: false, ..self }
    }

    /// Returns its directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Reads every byte of the index and compares it with its checksum.
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

    fn snapshot(&self) -> Result<Arc<IndexSnapshot>> {
        let mut open = lock(&self.open);
        if let Some(snapshot) = open.as_ref()
            && files::Mark::read(&self.state_path()) == snapshot.state.mark
        {
            return Ok(snapshot.clone());
        }
        let snapshot = self.load(open.as_deref())?;
        *open = Some(snapshot.clone());
        Ok(snapshot)
    }

    /// Opens the current state. A damaged index is discarded and reported, and an empty one is returned.
    fn load(&self, before: Option<&IndexSnapshot>) -> Result<Arc<IndexSnapshot>> {
        loop {
            let state = match MappedState::open(&self.state_path(), Self::fingerprint()) {
                Ok(state) => state,
                Err(error) => {
                    self.discard(&error);
                    return Ok(self.empty());
                }
            };
            let mark = state.mark;
            match self.open_parts(state, before) {
                Ok(snapshot) => return Ok(Arc::new(snapshot)),
                // Another process has replaced the state and removed files of the old one.
                Err(_) if files::Mark::read(&self.state_path()) != mark => {}
                Err(error) => {
                    self.discard(&error);
                    return Ok(self.empty());
                }
            }
        }
    }

    fn open_parts(&self, state: MappedState, before: Option<&IndexSnapshot>) -> Result<IndexSnapshot> {
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
            parts.push(LiveSegment { segment, dead: state.dead(row).into() });
        }
        let vectors = self.open_vectors(&state)?;
        Ok(IndexSnapshot::new(Arc::new(state), parts, vectors, self.tag))
    }

    /// Opens the vectors. If they are older than the state requires, the whole index is damaged: it is unknown which units have lost
    /// their vectors.
    fn open_vectors(&self, state: &MappedState) -> Result<Option<Arc<Vectors>>> {
        let Some((id, dim)) = &self.embedder else { return Ok(None) };
        let vectors = Vectors::open(&self.vectors_dir(), id, *dim)?;
        let required = state.vectors();
        match required.embedder == self.tag && vectors.generation() < required.generation {
            true => Err(corrupt(&self.vectors_dir(), "some vectors are missing")),
            false => Ok(Some(Arc::new(vectors))),
        }
    }

    fn empty(&self) -> Arc<IndexSnapshot> {
        Arc::new(IndexSnapshot::new(Arc::new(MappedState::empty()), Vec::new(), None, self.tag))
    }

    /// Discards the index. An index of another version is outdated, not damaged, and is not reported.
    fn discard(&self, error: &Error) {
        let is_outdated = matches!(error, Error::Corrupt { why, .. } if why == state::OTHER_VERSION);
        if !is_outdated {
            *lock(&self.damage) = Some(error.to_string());
        }
        // If even this fails, the next writer replaces the state anyway.
        let _ = files::set_aside(&self.state_path());
    }
}

impl Index for TantivyIndex {
    fn view(&self) -> Result<Arc<dyn IndexView>> {
        Ok(self.snapshot()?)
    }

    fn overlay(&self, base: &Arc<dyn IndexView>, changes: &[IndexChange]) -> Result<Arc<dyn IndexView>> {
        match base.as_any().downcast_ref::<IndexSnapshot>() {
            Some(base) => Ok(Arc::new(base.with(changes)?)),
            None => Ok(Arc::new(self.empty().with(changes)?)),
        }
    }

    fn begin(&self, wait: Wait, is_cancelled: &dyn Fn() -> bool) -> Result<Option<Box<dyn Batch + '_>>> {
        Ok(DiskBatch::begin(self, wait, is_cancelled)?.map(|batch| Box::new(batch) as Box<dyn Batch + '_>))
    }

    fn close(&self) {
        *lock(&self.open) = None;
    }

    fn forget(&self) -> Result<()> {
        self.close();
        // The damage may be in the vectors, which a new index would reuse.
        Vectors::clear(&self.vectors_dir())?;
        files::set_aside(&self.state_path())
    }

    fn damage_report(&self) -> Option<String> {
        lock(&self.damage).take()
    }

    fn is_whole(&self) -> bool {
        self.verify().is_ok()
    }

    fn changed(&self) -> Option<SystemTime> {
        // Every commit replaces the file of the state.
        std::fs::metadata(self.state_path()).ok()?.modified().ok()
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
