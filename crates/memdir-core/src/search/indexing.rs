//! Brings the search index in step with the files; only changed files are read. The same code builds, updates and repairs.
//!
//! As in git, a file whose timestamps are not clearly older than the time it was read is read again: it may have changed since without
//! a new timestamp.

mod prepare;

pub use prepare::{Preparer, UnitText, unit_texts};

use crate::{
    base::{
        error::{Problem, Result},
        limits,
        path::MemoryPath,
        time::Clock,
        version::Version,
    },
    search::{
        embed::{EmbedRole, Embedder, Key, Vector},
        index::{Batch, Index, IndexChange, IndexFile, IndexView, Wait},
    },
    store::{self, Entry, Stamp, Store, Stored},
};
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

/// How much older than the time it was read a file's timestamps must be to be trusted: some file systems keep whole seconds, and clocks
/// differ a little.
const RACY_NS: i64 = 2_000_000_000;

/// The files that differ from an index.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct StaleFiles {
    /// New files, and files with another stamp.
    pub changed: Vec<String>,
    /// Files with the same stamp, which cannot be trusted yet.
    pub doubtful: Vec<String>,
    /// Files that no longer exist.
    pub gone: Vec<String>,
}

impl StaleFiles {
    /// Compares the files of one mount, by their names in it, with a view.
    pub fn compare<'a>(files: impl Iterator<Item = (&'a str, Stamp)>, view: &dyn IndexView) -> StaleFiles {
        let mut stale = StaleFiles::default();
        let mut known = 0;
        let mut names = Vec::new();
        for (name, stamp) in files {
            names.push(name);
            match view.known(name) {
                None => stale.changed.push(name.to_owned()),
                Some(was) => {
                    known += 1;
                    if was.stamp != stamp {
                        stale.changed.push(name.to_owned());
                    } else if is_racy(stamp, was.seen_ns) {
                        stale.doubtful.push(name.to_owned());
                    }
                }
            }
        }
        if known < view.totals().files {
            names.sort_unstable();
            view.each_file(&mut |name, _| {
                if names.binary_search(&name).is_err() {
                    stale.gone.push(name.to_owned());
                }
            });
            stale.gone.sort_unstable();
        }
        stale
    }

    /// The number of files that must be checked.
    pub fn len(&self) -> usize {
        self.changed.len() + self.doubtful.len() + self.gone.len()
    }

    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Whether a file that was read at `seen_ns` may have changed since without a new stamp.
pub fn is_racy(stamp: Stamp, seen_ns: i64) -> bool {
    stamp.mtime_ns.max(stamp.ctime_ns) > seen_ns.saturating_sub(RACY_NS)
}

/// Indexes the files of one mount.
#[derive(Clone, Copy)]
pub struct Indexer<'a> {
    /// The files.
    pub store: &'a dyn Store,
    /// The embedder, if there is one.
    pub embedder: Option<&'a dyn Embedder>,
    /// The clock.
    pub clock: &'a dyn Clock,
    /// The prefix of the mount in the store.
    pub prefix: &'a str,
}

/// A file of an index, with its content in the store.
struct ReadFile<'n> {
    name: &'n str,
    /// When it was read.
    seen_ns: i64,
    /// `None` if it does not exist.
    stored: Result<Option<Stored>>,
}

/// A callback for the progress of indexing.
pub type Progress<'a> = dyn Fn(IndexProgress) + Sync + 'a;

/// The progress of indexing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexProgress {
    /// The number of files checked so far.
    pub done: usize,
    /// The number of files to check.
    pub of: usize,
    /// The size of the last file.
    pub bytes: usize,
}

/// The result of checking a file.
#[derive(Debug, Clone)]
pub enum FileCheck {
    /// It differs from the indexed version.
    New(Arc<IndexFile>),
    /// It is the indexed version.
    Same(Stamp, i64),
    /// It does not exist or cannot be read.
    Gone,
}

/// The result of indexing.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Indexed {
    /// Files that were added or replaced.
    pub put: usize,
    /// Files that were removed.
    pub removed: usize,
    /// Files that were read and are unchanged.
    pub same: usize,
    /// Files whose missing vectors were computed.
    pub embedded: usize,
    /// The number of bytes read.
    pub bytes: u64,
    /// What went wrong, such as files that could not be read.
    pub problems: Vec<Problem>,
}

impl<'a> Indexer<'a> {
    /// Creates a preparer, with the embedder if it is instant.
    pub fn preparer(&self) -> Preparer<'a> {
        Preparer::new(self.embedder)
    }

    /// Whether stamps are exact, so that a file with the same stamp is the same file. See [`store::ChangeSequence`].
    pub(super) fn has_exact_stamps(&self) -> bool {
        self.store.sequence().is_some()
    }

    /// Compares the files of the mount with a view.
    pub(super) fn stale_files(&self, entries: &[Entry], view: &dyn IndexView) -> StaleFiles {
        let stale = StaleFiles::compare(self.files(entries), view);
        if self.has_exact_stamps() { StaleFiles { doubtful: Vec::new(), ..stale } } else { stale }
    }

    /// Reads files. A store whose stamps are exact is not on this machine: it reads all of them in one round trip, and if it fails, none
    /// of them may count as gone.
    fn read_files<'n>(&self, names: &[&'n str]) -> Result<Vec<ReadFile<'n>>> {
        let seen_ns = self.clock.now().as_nanosecond() as i64;
        let path = |name: &str| -> Result<MemoryPath> { Ok(MemoryPath::parse(name)?.prefixed(self.prefix)) };
        let stored: Vec<Result<Option<Stored>>> = if self.has_exact_stamps() {
            let paths = names.iter().map(|name| path(name)).collect::<Result<Vec<_>>>()?;
            let stored = self.store.get_many(&paths)?.into_iter().zip(&paths);
            stored.map(|(stored, path)| Ok(stored.filter(|stored| stored.path == *path))).collect()
        } else {
            let get = |path: MemoryPath| Ok(self.store.get(&path)?.filter(|stored| stored.path == path));
            names.iter().map(|name| path(name).and_then(get)).collect()
        };
        Ok(names.iter().zip(stored).map(|(name, stored)| ReadFile { name, seen_ns, stored }).collect())
    }

    /// Prepares a file if it is not the version of the view, if there is one.
    fn check_file(file: ReadFile<'_>, view: Option<&dyn IndexView>, preparer: &mut Preparer<'_>) -> Result<FileCheck> {
        let Some(stored) = file.stored? else { return Ok(FileCheck::Gone) };
        match view.and_then(|view| view.known(file.name)) {
            Some(known) if known.version == stored.version => Ok(FileCheck::Same(stored.stamp, file.seen_ns)),
            _ => Ok(FileCheck::New(Arc::new(preparer.prepare(file.name, &stored, file.seen_ns)))),
        }
    }

    /// Checks files for an overlay. Files that cannot be read count as gone, unless the call was cancelled.
    pub fn check_all(&self, stale: &StaleFiles, view: &dyn IndexView, preparer: &mut Preparer<'_>) -> Result<BTreeMap<String, FileCheck>> {
        let mut checks: BTreeMap<String, FileCheck> = stale.gone.iter().map(|name| (name.clone(), FileCheck::Gone)).collect();
        let names: Vec<&str> = stale.changed.iter().chain(&stale.doubtful).map(String::as_str).collect();
        for names in names.chunks(store::read_ahead(self.store)) {
            for file in self.read_files(names)? {
                let name = file.name.to_owned();
                let check = Self::check_file(file, Some(view), preparer);
                self.store.check_stopped()?;
                checks.insert(name, check.unwrap_or(FileCheck::Gone));
            }
        }
        Ok(checks)
    }

    /// Brings an index in step with the files of its mount. `None` if another process is writing and `wait` is [`Wait::No`].
    pub fn update(&self, index: &dyn Index, entries: &[Entry], wait: Wait, progress: &Progress<'_>) -> Result<Option<Indexed>> {
        let Some(batch) = self.begin(index, wait)? else { return Ok(None) };
        let stale = self.stale_files(entries, &*batch.view());
        if stale.is_empty() {
            return Ok(Some(Indexed::default()));
        }
        self.apply(batch, &stale, progress).map(Some)
    }

    /// Begins to change an index. Fails if the call is cancelled while it waits.
    fn begin<'i>(&self, index: &'i dyn Index, wait: Wait) -> Result<Option<Box<dyn Batch + 'i>>> {
        let batch = index.begin(wait, &|| self.store.check_stopped().is_err())?;
        if batch.is_none() {
            self.store.check_stopped()?;
        }
        Ok(batch)
    }

    /// Rebuilds an index from the files of its mount.
    pub fn rebuild(&self, index: &dyn Index, entries: &[Entry], progress: &Progress<'_>) -> Result<Indexed> {
        let Some(batch) = self.begin(index, Wait::Yes)? else { return Ok(Indexed::default()) };
        let mut stale = StaleFiles { changed: self.files(entries).map(|(name, _)| name.to_owned()).collect(), ..StaleFiles::default() };
        stale.gone = StaleFiles::compare(self.files(entries), &*batch.view()).gone;
        self.apply_all(batch, &stale, true, progress)
    }

    /// The files of the mount that are indexed, by their names in it.
    pub fn files<'b>(&self, entries: &'b [Entry]) -> impl Iterator<Item = (&'b str, Stamp)> {
        let skip = if self.prefix.is_empty() { 0 } else { self.prefix.len() + 1 };
        entries.iter().filter(|entry| is_indexed(entry)).filter_map(move |entry| Some((entry.path.as_str().get(skip..)?, entry.stamp)))
    }

    fn apply(&self, batch: Box<dyn Batch + '_>, stale: &StaleFiles, progress: &Progress<'_>) -> Result<Indexed> {
        self.apply_all(batch, stale, false, progress)
    }

    /// Applies changes to a batch. Two threads read, prepare and write, each into a segment of its own. If the call is cancelled,
    /// the files prepared by then are kept, so that the next call continues there.
    fn apply_all(&self, mut batch: Box<dyn Batch + '_>, stale: &StaleFiles, rebuild: bool, progress: &Progress<'_>) -> Result<Indexed> {
        let view = batch.view();
        let names: Vec<&str> = stale.changed.iter().chain(&stale.doubtful).map(String::as_str).collect();
        let step = store::read_ahead(self.store);
        let next = AtomicUsize::new(0);
        let threads = if names.len() < THREADED_FILES { 1 } else { 2 };
        let mut writers = (0..threads).map(|_| batch.writer(names.len() / threads)).collect::<Result<Vec<_>>>()?;
        let outcome = Mutex::new(IndexOutcome::default());
        let work = |writer: &mut Box<dyn crate::search::index::FileWriter>| -> Result<()> {
            let mut preparer = self.preparer();
            loop {
                let at = next.fetch_add(step, Ordering::Relaxed);
                let Some(some) = names.get(at..names.len().min(at + step)).filter(|some| !some.is_empty()) else { return writer.flush() };
                for (n, file) in self.read_files(some)?.into_iter().enumerate() {
                    let name = file.name;
                    let check = Self::check_file(file, (!rebuild).then_some(&*view), &mut preparer);
                    if self.store.check_stopped().is_err() {
                        return writer.flush();
                    }
                    let bytes = add_check(&outcome, name, check, writer)?;
                    progress(IndexProgress { done: at + n + 1, of: names.len(), bytes });
                }
            }
        };
        std::thread::scope(|scope| {
            let (first, rest) = writers.split_first_mut().ok_or_else(thread_ended)?;
            let others: Vec<_> = rest.iter_mut().map(|writer| scope.spawn(|| work(writer))).collect();
            let own = work(first);
            let joined: Result<Vec<()>> = others.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(thread_ended()))).collect();
            own.and(joined.map(|_| ()))
        })?;
        let mut outcome = outcome.into_inner().unwrap_or_else(PoisonError::into_inner);
        outcome.gone.extend(stale.gone.iter().cloned());
        outcome.gone.iter().for_each(|name| batch.remove(name));
        outcome.same.iter().for_each(|(name, stamp, seen_ns)| batch.seen(name, *stamp, *seen_ns));
        outcome.indexed.removed = outcome.gone.len();
        outcome.indexed.same = outcome.same.len();
        batch.commit(writers)?;
        self.store.check_stopped()?;
        Ok(outcome.indexed)
    }

    /// Writes earlier checks into the index. Returns `false` if another process is writing.
    pub fn settle(&self, index: &dyn Index, checks: &BTreeMap<String, FileCheck>) -> Result<bool> {
        let Some(mut batch) = self.begin(index, Wait::No)? else { return Ok(false) };
        let view = batch.view();
        let mut writer = batch.writer(checks.len())?;
        for (name, check) in checks {
            let known = view.known(name);
            match check {
                // Another process may have indexed the same version, or a newer one.
                FileCheck::New(file) if known.is_none_or(|known| known.seen_ns < file.seen_ns && known.version != file.version) => {
                    writer.put(file.clone())?;
                }
                FileCheck::Same(stamp, seen_ns) if known.is_some_and(|known| known.seen_ns < *seen_ns) => {
                    batch.seen(name, *stamp, *seen_ns);
                }
                FileCheck::Gone if known.is_some() => batch.remove(name),
                _ => {}
            }
        }
        batch.commit(vec![writer])?;
        Ok(true)
    }

    /// Computes the missing vectors of at most `files` indexed files and returns their number. Does nothing without an embedder; if the
    /// embedder fails, returns its error and keeps the vectors computed before.
    pub fn embed_missing(&self, index: &dyn Index, files: usize) -> Result<usize> {
        let Some(embedder) = self.embedder else { return Ok(0) };
        let view = index.view()?;
        let mut lacking = Vec::new();
        view.each_file(&mut |name, known| {
            if known.unembedded && lacking.len() < files {
                lacking.push((name.to_owned(), known.version));
            }
        });
        lacking.sort_unstable();
        let mut done = 0;
        for some in lacking.chunks(EMBED_FILES) {
            let mut made = Vec::new();
            let result = some.iter().try_for_each(|(name, version)| {
                made.extend(self.missing_vectors(embedder, &*view, name, *version)?);
                Ok(())
            });
            let Some(mut batch) = self.begin(index, Wait::Yes)? else { return result.map(|()| done) };
            done += made.len();
            made.into_iter().for_each(|(name, version, vectors)| batch.embedded(&name, version, vectors));
            batch.commit(Vec::new())?;
            result?;
        }
        Ok(done)
    }

    /// Computes the missing vectors of a file, or returns `None` if it is no longer the indexed version.
    fn missing_vectors(&self, embedder: &dyn Embedder, view: &dyn IndexView, name: &str, version: Version) -> Result<Option<FileVectors>> {
        let path = MemoryPath::parse(name)?.prefixed(self.prefix);
        let Some(stored) = self.store.get(&path)?.filter(|stored| stored.version == version) else { return Ok(None) };
        let (decoded, _) = crate::base::text::decode(&stored.bytes);
        let units: Vec<UnitText> = unit_texts(&decoded).into_iter().filter(|unit| !view.has_vector(&unit.key)).collect();
        let mut vectors = Vec::with_capacity(units.len());
        for units in units.chunks(embedder.batch().max(1)) {
            let texts: Vec<&str> = units.iter().map(|unit| unit.text.as_str()).collect();
            vectors.extend(units.iter().map(|unit| unit.key).zip(embedder.embed(EmbedRole::Passage, &texts)?));
        }
        Ok(Some((name.to_owned(), version, vectors)))
    }
}

/// The new vectors of a file: its name, version and vectors.
type FileVectors = (String, Version, Vec<(Key, Vector)>);

/// The number of files whose vectors are written at once.
const EMBED_FILES: usize = 64;

/// The number of files from which a second thread is worth its start.
const THREADED_FILES: usize = 32;

#[derive(Default)]
struct IndexOutcome {
    indexed: Indexed,
    same: Vec<(String, Stamp, i64)>,
    gone: Vec<String>,
}

/// Adds a checked file to the writer and the outcome; returns its size.
fn add_check(
    outcome: &Mutex<IndexOutcome>,
    name: &str,
    check: Result<FileCheck>,
    writer: &mut Box<dyn crate::search::index::FileWriter>,
) -> Result<usize> {
    let mut bytes = 0;
    let problem = match &check {
        Ok(FileCheck::New(file)) => {
            bytes = file.stamp.size as usize;
            writer.put(file.clone())?;
            None
        }
        Ok(_) => None,
        Err(error) => Some(Problem::whole(format!("{name}: {error}"))),
    };
    let mut outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
    outcome.indexed.bytes += bytes as u64;
    outcome.indexed.problems.extend(problem);
    match check {
        Ok(FileCheck::New(_)) => outcome.indexed.put += 1,
        Ok(FileCheck::Same(stamp, seen_ns)) => outcome.same.push((name.to_owned(), stamp, seen_ns)),
        Ok(FileCheck::Gone) | Err(_) => outcome.gone.push(name.to_owned()),
    }
    Ok(bytes)
}

fn thread_ended() -> crate::base::error::Error {
    crate::base::error::Error::unavailable("cannot update the search index", "an indexing thread stopped unexpectedly")
}

/// The changes of an overlay.
pub fn changes(checks: &BTreeMap<String, FileCheck>) -> Vec<IndexChange> {
    let change = |(name, check): (&String, &FileCheck)| match check {
        FileCheck::New(file) => Some(IndexChange::Put(file.clone())),
        FileCheck::Gone => Some(IndexChange::Remove(name.clone())),
        FileCheck::Same(..) => None,
    };
    checks.iter().filter_map(change).collect()
}

/// The extensions of text files.
const SEARCHED: [&str; 9] = ["md", "markdown", "mdx", "mdc", "txt", "text", "rst", "org", "adoc"];

/// Whether a file is indexed: a text file that is not too large.
pub fn is_indexed(entry: &Entry) -> bool {
    is_searched(&entry.path) && entry.stamp.size <= limits::READ_FILE_BYTES
}

/// Whether files of this name are searched. Names without an extension are.
pub fn is_searched(path: &MemoryPath) -> bool {
    match path.file_name().rsplit_once('.') {
        Some((stem, end)) if !stem.is_empty() => SEARCHED.iter().any(|known| end.eq_ignore_ascii_case(known)),
        _ => true,
    }
}
