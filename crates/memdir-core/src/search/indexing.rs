//! Brings the search index in step with the files: only what changed is read. The same code starts, updates and repairs.
//!
//! As in git, a file whose times are not clearly older than the moment it was read is read again: it may have changed
//! since without the times telling.

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
        index::{Batch, Index, IndexChange, IndexFile, View, Wait},
    },
    store::{Entry, Stamp, Store},
};
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

/// A file's times must be so much older than the moment it was read to be believed: file systems that keep whole seconds
/// exist, and clocks are read a little apart.
const RACY_NS: i64 = 2_000_000_000;

/// What differs between the files and an index.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct StaleFiles {
    /// New files, and files whose stamp is another.
    pub changed: Vec<String>,
    /// Files whose stamp is the same but cannot be believed yet.
    pub doubtful: Vec<String>,
    /// Files that are gone.
    pub gone: Vec<String>,
}

impl StaleFiles {
    /// Compares the files of one mount, by their names in it, with what a view knows.
    pub fn compare<'a>(files: impl Iterator<Item = (&'a str, Stamp)>, view: &dyn View) -> StaleFiles {
        let mut difference = StaleFiles::default();
        let mut known = 0;
        let mut names = Vec::new();
        for (name, stamp) in files {
            names.push(name);
            match view.known(name) {
                None => difference.changed.push(name.to_owned()),
                Some(was) => {
                    known += 1;
                    if was.stamp != stamp {
                        difference.changed.push(name.to_owned());
                    } else if is_racy(stamp, was.seen_ns) {
                        difference.doubtful.push(name.to_owned());
                    }
                }
            }
        }
        if known < view.totals().files {
            names.sort_unstable();
            view.each_file(&mut |name, _| {
                if names.binary_search(&name).is_err() {
                    difference.gone.push(name.to_owned());
                }
            });
            difference.gone.sort_unstable();
        }
        difference
    }

    /// Files that have to be checked at.
    pub fn len(&self) -> usize {
        self.changed.len() + self.doubtful.len() + self.gone.len()
    }

    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Whether a file that was read at `seen_ns` may have changed since without its stamp telling.
pub fn is_racy(stamp: Stamp, seen_ns: i64) -> bool {
    stamp.mtime_ns.max(stamp.ctime_ns) > seen_ns.saturating_sub(RACY_NS)
}

/// What indexing needs to know.
#[derive(Clone, Copy)]
pub struct Indexer<'a> {
    /// The files.
    pub store: &'a dyn Store,
    /// Makes vectors.
    pub embedder: Option<&'a dyn Embedder>,
    /// Tells the time.
    pub clock: &'a dyn Clock,
    /// What the names of the mount begin with in the store.
    pub prefix: &'a str,
}

/// How far indexing is.
pub type Progress<'a> = dyn Fn(Step) + Sync + 'a;

/// A step of indexing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Files that were checked at.
    pub done: usize,
    /// Files to check at.
    pub of: usize,
    /// Bytes of the last one.
    pub bytes: usize,
}

/// A file that was checked at again.
#[derive(Debug, Clone)]
pub enum FileCheck {
    /// It has another text than the one indexed.
    New(Arc<IndexFile>),
    /// It is still the version that is indexed.
    Same(Stamp, i64),
    /// It is gone, or cannot be read.
    Gone,
}

/// What indexing did.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Indexed {
    /// Files that were brought in.
    pub put: usize,
    /// Files that were taken out.
    pub removed: usize,
    /// Files that were read and had not changed.
    pub same: usize,
    /// Files whose missing vectors were made.
    pub embedded: usize,
    /// Bytes that were read.
    pub bytes: u64,
    /// Files that could not be read.
    pub problems: Vec<Problem>,
}

impl<'a> Indexer<'a> {
    /// A preparer with the embedder's help, where that costs a search nothing.
    pub fn preparer(&self) -> Preparer<'a> {
        Preparer::new(self.embedder)
    }

    /// Looks at one file: reads it, and prepares it if it is not the version the view knows.
    pub fn check(&self, name: &str, view: &dyn View, preparer: &mut Preparer<'_>) -> Result<FileCheck> {
        let path = MemoryPath::parse(name)?.prefixed(self.prefix);
        let seen_ns = self.clock.now().as_nanosecond() as i64;
        let Some(stored) = self.store.get(&path)?.filter(|stored| stored.path == path) else { return Ok(FileCheck::Gone) };
        match view.known(name) {
            Some(known) if known.version == stored.version => Ok(FileCheck::Same(stored.stamp, seen_ns)),
            _ => Ok(FileCheck::New(Arc::new(preparer.prepare(name, &stored, seen_ns)))),
        }
    }

    /// Looks at some files, for an overlay. Files that cannot be read are as if they were not there.
    pub fn check_all(&self, difference: &StaleFiles, view: &dyn View, preparer: &mut Preparer<'_>) -> BTreeMap<String, FileCheck> {
        let checked = difference.changed.iter().chain(&difference.doubtful);
        let mut checks: BTreeMap<String, FileCheck> =
            checked.map(|name| (name.clone(), self.check(name, view, preparer).unwrap_or(FileCheck::Gone))).collect();
        checks.extend(difference.gone.iter().map(|name| (name.clone(), FileCheck::Gone)));
        checks
    }

    /// Brings an index in step with the files of its mount. Nothing if another process is at it and we do not wait.
    pub fn update(&self, index: &dyn Index, entries: &[Entry], wait: Wait, progress: &Progress<'_>) -> Result<Option<Indexed>> {
        let Some(batch) = index.begin(wait)? else { return Ok(None) };
        let difference = StaleFiles::compare(self.files(entries), &*batch.view());
        if difference.is_empty() {
            return Ok(Some(Indexed::default()));
        }
        self.apply(batch, &difference, progress).map(Some)
    }

    /// Makes an index anew from the files of its mount.
    pub fn rebuild(&self, index: &dyn Index, entries: &[Entry], progress: &Progress<'_>) -> Result<Indexed> {
        let Some(batch) = index.begin(Wait::Yes)? else { return Ok(Indexed::default()) };
        let mut difference =
            StaleFiles { changed: self.files(entries).map(|(name, _)| name.to_owned()).collect(), ..StaleFiles::default() };
        difference.gone = StaleFiles::compare(self.files(entries), &*batch.view()).gone;
        self.apply_all(batch, &difference, true, progress)
    }

    /// The files of the mount that are indexed, by their names in it.
    pub fn files<'b>(&self, entries: &'b [Entry]) -> impl Iterator<Item = (&'b str, Stamp)> {
        let skip = if self.prefix.is_empty() { 0 } else { self.prefix.len() + 1 };
        entries.iter().filter(|entry| is_indexed(entry)).filter_map(move |entry| Some((entry.path.as_str().get(skip..)?, entry.stamp)))
    }

    fn apply(&self, batch: Box<dyn Batch + '_>, difference: &StaleFiles, progress: &Progress<'_>) -> Result<Indexed> {
        self.apply_all(batch, difference, false, progress)
    }

    /// Two threads read, prepare and write; each has a segment of its own.
    fn apply_all(&self, mut batch: Box<dyn Batch + '_>, difference: &StaleFiles, anew: bool, progress: &Progress<'_>) -> Result<Indexed> {
        let view = batch.view();
        let names: Vec<&String> = difference.changed.iter().chain(&difference.doubtful).collect();
        let next = AtomicUsize::new(0);
        let threads = if names.len() < THREADED_FILES { 1 } else { 2 };
        let mut writers = (0..threads).map(|_| batch.writer(names.len() / threads)).collect::<Result<Vec<_>>>()?;
        let gathered = Mutex::new(IndexOutcome::default());
        let work = |writer: &mut Box<dyn crate::search::index::FileWriter>| -> Result<()> {
            let mut preparer = self.preparer();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(name) = names.get(at) else { return writer.flush() };
                let check = if anew { self.read_anew(name, &mut preparer) } else { self.check(name, &*view, &mut preparer) };
                let bytes = gather(&gathered, name, check, writer)?;
                progress(Step { done: at + 1, of: names.len(), bytes });
            }
        };
        std::thread::scope(|scope| {
            let (first, rest) = writers.split_first_mut().ok_or_else(nothing)?;
            let others: Vec<_> = rest.iter_mut().map(|writer| scope.spawn(|| work(writer))).collect();
            let own = work(first);
            let joined: Result<Vec<()>> = others.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(nothing()))).collect();
            own.and(joined.map(|_| ()))
        })?;
        let mut gathered = gathered.into_inner().unwrap_or_else(PoisonError::into_inner);
        gathered.gone.extend(difference.gone.iter().cloned());
        gathered.gone.iter().for_each(|name| batch.remove(name));
        gathered.same.iter().for_each(|(name, stamp, seen_ns)| batch.seen(name, *stamp, *seen_ns));
        gathered.indexed.removed = gathered.gone.len();
        gathered.indexed.same = gathered.same.len();
        batch.commit(writers)?;
        Ok(gathered.indexed)
    }

    fn read_anew(&self, name: &str, preparer: &mut Preparer<'_>) -> Result<FileCheck> {
        let path = MemoryPath::parse(name)?.prefixed(self.prefix);
        let seen_ns = self.clock.now().as_nanosecond() as i64;
        let stored = self.store.get(&path)?.filter(|stored| stored.path == path);
        Ok(stored.map_or(FileCheck::Gone, |stored| FileCheck::New(Arc::new(preparer.prepare(name, &stored, seen_ns)))))
    }

    /// Writes what was checked at before into the index. Nothing if another process is at it.
    pub fn settle(&self, index: &dyn Index, checks: &BTreeMap<String, FileCheck>) -> Result<bool> {
        let Some(mut batch) = index.begin(Wait::No)? else { return Ok(false) };
        let view = batch.view();
        let mut writer = batch.writer(checks.len())?;
        for (name, check) in checks {
            let known = view.known(name);
            match check {
                // Another process may have brought in the same, or something newer.
                FileCheck::New(file) if known.is_none_or(|known| known.seen_ns < file.seen_ns && known.version != file.version) => {
                    writer.put(file.clone())?;
                }
                FileCheck::Same(stamp, seen_ns) if known.is_some_and(|known| known.seen_ns < *seen_ns) => batch.seen(name, *stamp, *seen_ns),
                FileCheck::Gone if known.is_some() => batch.remove(name),
                _ => {}
            }
        }
        batch.commit(vec![writer])?;
        Ok(true)
    }

    /// Makes the vectors some indexed files still lack, and tells how many files that were. Nothing happens without an
    /// embedder; one that fails ends it with its error, and what was made before is kept.
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
            let outcome = some.iter().try_for_each(|(name, version)| {
                made.extend(self.missing_vectors(embedder, &*view, name, *version)?);
                Ok(())
            });
            let Some(mut batch) = index.begin(Wait::Yes)? else { return outcome.map(|()| done) };
            done += made.len();
            made.into_iter().for_each(|(name, version, vectors)| batch.embedded(&name, version, vectors));
            batch.commit(Vec::new())?;
            outcome?;
        }
        Ok(done)
    }

    /// The vectors a file lacks; nothing if it is no longer the version that is indexed.
    fn missing_vectors(&self, embedder: &dyn Embedder, view: &dyn View, name: &str, version: Version) -> Result<Option<FileVectors>> {
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

/// A file's new vectors.
type FileVectors = (String, Version, Vec<(Key, Vector)>);

/// Files whose vectors are written at once.
const EMBED_FILES: usize = 64;

/// Files from which on a second thread is worth its start.
const THREADED_FILES: usize = 32;

#[derive(Default)]
struct IndexOutcome {
    indexed: Indexed,
    same: Vec<(String, Stamp, i64)>,
    gone: Vec<String>,
}

fn gather(
    gathered: &Mutex<IndexOutcome>,
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
    let mut gathered = gathered.lock().unwrap_or_else(PoisonError::into_inner);
    gathered.indexed.bytes += bytes as u64;
    gathered.indexed.problems.extend(problem);
    match check {
        Ok(FileCheck::New(_)) => gathered.indexed.put += 1,
        Ok(FileCheck::Same(stamp, seen_ns)) => gathered.same.push((name.to_owned(), stamp, seen_ns)),
        Ok(FileCheck::Gone) | Err(_) => gathered.gone.push(name.to_owned()),
    }
    Ok(bytes)
}

fn nothing() -> crate::base::error::Error {
    crate::base::error::Error::Unavailable { what: "the search index".into(), why: "a thread that made it ended early".into() }
}

/// The changes of an overlay, from what was checked at.
pub fn changes(checks: &BTreeMap<String, FileCheck>) -> Vec<IndexChange> {
    let change = |(name, check): (&String, &FileCheck)| match check {
        FileCheck::New(file) => Some(IndexChange::Put(file.clone())),
        FileCheck::Gone => Some(IndexChange::Remove(name.clone())),
        FileCheck::Same(..) => None,
    };
    checks.iter().filter_map(change).collect()
}

/// Files that hold text for people.
const SEARCHED: [&str; 9] = ["md", "markdown", "mdx", "mdc", "txt", "text", "rst", "org", "adoc"];

/// Whether a file is searched: text for people that can be read whole.
pub fn is_indexed(entry: &Entry) -> bool {
    is_searched(&entry.path) && entry.stamp.size <= limits::READ_FILE_BYTES
}

/// Whether files of this name are searched. One without an extension is.
pub fn is_searched(path: &MemoryPath) -> bool {
    match path.file_name().rsplit_once('.') {
        Some((stem, end)) if !stem.is_empty() => SEARCHED.iter().any(|known| end.eq_ignore_ascii_case(known)),
        _ => true,
    }
}
