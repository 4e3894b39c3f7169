//! The vectors of one embedder on disk: rows keyed by the hash of their text, so that nothing is embedded again after a rename or
//! a rebuild of the index. Derived, shared by mapping, never synced. Does not know which memory a text is in.
//!
//! A directory contains a few immutable files of rows ([`RowFile`]) and a list of the current ones, replaced by rename. New
//! rows go into a new file, which absorbs files that are not much larger than itself: so there are few files, and a row is copied
//! rarely. No file is ever changed or truncated under its name, so the mappings of other processes stay valid; files that are no longer
//! current are removed, which does not affect their mappings.
//!
//! Readers take no lock. [`Vectors::add`] and [`Vectors::compact`] must be called under the caller's lock, by one process at a time;
//! without it rows may be lost (and are embedded again), but nothing is damaged.

mod list;
mod rows;

pub use rows::RowFile;

use crate::{
    errors::corrupt,
    files,
    scan::{self, Near},
};
use list::{FileList, ListedFile};
pub use memdir_core::internal::search::embed::Key;
use memdir_core::{
    Error, Result,
    internal::search::embed::{EmbedderId, Vector},
};
use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The maximum number of row files: every lookup searches each of them, and every mapping costs time at open.
const MAX_FILES: usize = 8;

/// The vectors of one embedder at one moment: a snapshot that never changes.
/// Rows are numbered from 0 over all files; the numbers are valid for this snapshot only.
#[derive(Debug, Clone)]
pub struct Vectors {
    dir: PathBuf,
    list: FileList,
    files: Vec<VectorFile>,
}

#[derive(Debug, Clone)]
struct VectorFile {
    first: u32,
    rows: Arc<RowFile>,
}

impl Vectors {
    /// Opens the vectors in a directory; none if it does not exist. Creates nothing. Checks the list and each file's header, not the
    /// rows.
    ///
    /// After [`Error::Corrupt`], [`Vectors::clear`] the directory and embed again.
    pub fn open(dir: &Path, embedder: &EmbedderId, dim: usize) -> Result<Vectors> {
        let mut list = FileList::read(dir, embedder, dim)?;
        loop {
            match Vectors::map(dir, &list) {
                // Another process merged files after the list was read and before they were opened.
                Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                    let newer = FileList::read(dir, embedder, dim)?;
                    if newer == list {
                        return Err(corrupt(dir, "a vector file is missing"));
                    }
                    list = newer;
                }
                done => return done,
            }
        }
    }

    /// Removes all vectors of a directory. Open snapshots stay valid.
    pub fn clear(dir: &Path) -> Result<()> {
        list::remove_all(dir)
    }

    /// Whether the snapshot is still current. Reads one small file.
    pub fn is_current(&self) -> bool {
        FileList::read(&self.dir, &self.list.embedder, self.list.dim).is_ok_and(|list| list == self.list)
    }

    /// Returns a number that grows with every change of the directory.
    pub fn generation(&self) -> u64 {
        self.list.next
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.files.last().map_or(0, |f| f.first as usize + f.rows.len())
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the dimension of a row.
    pub fn dim(&self) -> usize {
        self.list.dim
    }

    /// Returns the total size of the files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|f| f.rows.bytes()).sum()
    }

    /// Returns the row of a text by its key.
    pub fn find(&self, key: &Key) -> Option<u32> {
        self.files.iter().find_map(|f| Some(f.first + f.rows.find(key)?))
    }

    /// Returns the key of a row's text.
    pub fn key(&self, row: u32) -> Option<Key> {
        let (file, row) = self.locate(row)?;
        file.keys().get(row).copied()
    }

    /// Returns the files, each with the number of its first row.
    pub fn files(&self) -> impl Iterator<Item = (u32, &RowFile)> {
        self.files.iter().map(|f| (f.first, &*f.rows))
    }

    /// Returns the cosine of the query with one row.
    pub fn cosine(&self, query: &Vector, row: u32) -> Result<f32> {
        let Some((file, row)) = self.locate(row) else {
            return Err(Error::BadInput {
                what: "vector number".into(),
                why: format!("{row} is out of range; the number of vectors is {}", self.len()),
            });
        };
        self.check_dim(query)?;
        file.cosine(query, row).ok_or_else(|| corrupt(&self.dir, "a vector does not match its quantization scale"))
    }

    /// Returns the `max` rows nearest to the query, nearest first; of equally near rows the one with the smaller key first, so that the
    /// result does not depend on the files. For `filter` see [`scan::nearest`]. Damage is detected in the returned rows.
    pub fn nearest(&self, query: &Vector, max: usize, filter: &mut dyn FnMut(u32) -> bool) -> Result<Vec<Near>> {
        self.check_dim(query)?;
        let mut all: Vec<(Near, Key)> = Vec::new();
        for part in &self.files {
            let found = scan::nearest(query, part.rows.rows(), part.rows.scales(), max, &mut |row| filter(part.first + row));
            self.append_undamaged(part.first, &part.rows, found, &mut all)?;
        }
        Ok(merge_nearest(all, max))
    }

    /// As [`Vectors::nearest`] without a filter, on two threads if there are many rows.
    pub fn nearest_of_all(&self, query: &Vector, max: usize) -> Result<Vec<Near>> {
        self.check_dim(query)?;
        let mut all: Vec<(Near, Key)> = Vec::new();
        for part in &self.files {
            self.append_undamaged(
                part.first,
                &part.rows,
                scan::nearest_of_all(query, part.rows.rows(), part.rows.scales(), max),
                &mut all,
            )?;
        }
        Ok(merge_nearest(all, max))
    }

    /// Appends the rows found in one file to `all`, after checking that they are undamaged.
    fn append_undamaged(&self, first: u32, rows: &RowFile, found: Vec<Near>, all: &mut Vec<(Near, Key)>) -> Result<()> {
        for near in found {
            if !rows.is_sound(near.row as usize) {
                return Err(corrupt(&self.dir, "a vector does not match its quantization scale"));
            }
            all.push((Near { row: first + near.row, ..near }, rows.keys()[near.row as usize]));
        }
        Ok(())
    }

    /// Compares every byte with its checksum, for checks on request: about a millisecond for 3 MB.
    pub fn verify(&self) -> Result<()> {
        match self.files.iter().all(|f| f.rows.is_whole()) {
            true => Ok(()),
            false => Err(corrupt(&self.dir, "checksum mismatch in a vector file")),
        }
    }

    /// Adds rows and returns the new snapshot; keys that have a row keep it. Call under the lock.
    pub fn add(&self, new: &[(Key, Vector)]) -> Result<Vectors> {
        new.iter().try_for_each(|(_, vector)| self.check_dim(vector))?;
        let current = self.current()?;
        let mut new: Vec<&(Key, Vector)> = new.iter().filter(|(key, _)| current.find(key).is_none()).collect();
        new.sort_unstable_by_key(|(key, _)| *key);
        new.dedup_by_key(|(key, _)| *key);
        if new.is_empty() {
            return Ok(current);
        }
        let unchanged = current.files_unchanged_by(new.len());
        let absorbed: Vec<&RowFile> = current.files[unchanged..].iter().map(|f| &*f.rows).collect();
        let mut rows: Vec<rows::VectorRow<'_>> = new.iter().map(|(key, vector)| (*key, vector.scale(), vector.row())).collect();
        rows.extend(absorbed.iter().flat_map(|f| f.iter()));
        current.replace(unchanged, rows)
    }

    /// Removes unused rows, merges the rest into one file and returns the new snapshot. Call under the lock.
    pub fn compact(&self, is_live: &mut dyn FnMut(&Key) -> bool) -> Result<Vectors> {
        let current = self.current()?;
        let rows = current.files.iter().flat_map(|f| f.rows.iter()).filter(|(key, ..)| is_live(key)).collect();
        current.replace(0, rows)
    }

    /// Returns how many of the files, the largest first, stay unchanged when `new` rows are added; the rest are absorbed.
    /// A file is absorbed by one of at least half its size, so a row is copied a logarithmic number of times.
    fn files_unchanged_by(&self, new: usize) -> usize {
        let (mut unchanged, mut size) = (self.files.len(), new);
        while unchanged > 0 && (unchanged >= MAX_FILES || self.files[unchanged - 1].rows.len() <= 2 * size) {
            unchanged -= 1;
            size += self.files[unchanged].rows.len();
        }
        unchanged
    }

    /// Writes a new file, lists it after the first `unchanged` ones, and removes the others.
    fn replace(&self, unchanged: usize, mut rows: Vec<rows::VectorRow<'_>>) -> Result<Vectors> {
        rows.sort_unstable_by_key(|(key, ..)| *key);
        rows.dedup_by_key(|(key, ..)| *key);
        files::create_dir(&self.dir)?;
        let mut list = self.list.clone();
        list.files.truncate(unchanged);
        if !rows.is_empty() {
            let name = format!("{:08}.{}", list.next, list::EXTENSION);
            rows::write(&self.dir, &name, &list.embedder, list.dim, &rows)?;
            list.files.push(ListedFile { name, rows: rows.len() });
        }
        list.next += 1;
        list.write(&self.dir)?;
        let vectors = Vectors::map(&self.dir, &list)?;
        list::remove_others(&self.dir, &list);
        Ok(vectors)
    }

    /// Returns this snapshot, or a newer one if another process has changed the directory.
    fn current(&self) -> Result<Vectors> {
        if self.is_current() { Ok(self.clone()) } else { Vectors::open(&self.dir, &self.list.embedder, self.list.dim) }
    }

    fn map(dir: &Path, list: &FileList) -> Result<Vectors> {
        let mut files = Vec::with_capacity(list.files.len());
        let mut first = 0u32;
        for listed in &list.files {
            let path = dir.join(&listed.name);
            let file = fs::File::open(&path).map_err(|source| Error::Io { doing: "open", path: path.clone(), source })?;
            let rows = RowFile::open(&file, &path, &list.embedder, list.dim)?;
            if rows.len() != listed.rows {
                return Err(corrupt(&path, "its number of vectors does not match the file list"));
            }
            let next = first.checked_add(rows.len() as u32).ok_or_else(|| corrupt(dir, "its file list has too many vectors"))?;
            files.push(VectorFile { first, rows: Arc::new(rows) });
            first = next;
        }
        Ok(Vectors { dir: dir.to_owned(), list: list.clone(), files })
    }

    fn locate(&self, row: u32) -> Option<(&RowFile, usize)> {
        let part = self.files.iter().rfind(|f| f.first <= row)?;
        let row = (row - part.first) as usize;
        (row < part.rows.len()).then_some((&*part.rows, row))
    }

    fn check_dim(&self, vector: &Vector) -> Result<()> {
        match vector.dim() == self.dim() {
            true => Ok(()),
            false => {
                let why = format!("it has {} dimensions; the embedder {} has {}", vector.dim(), self.list.embedder, self.dim());
                Err(Error::BadInput { what: "vector".into(), why })
            }
        }
    }
}

/// Merges the nearest rows of several files.
fn merge_nearest(mut all: Vec<(Near, Key)>, max: usize) -> Vec<Near> {
    all.sort_by(|(a, a_key), (b, b_key)| b.cosine.total_cmp(&a.cosine).then(a_key.cmp(b_key)));
    all.into_iter().take(max).map(|(near, _)| near).collect()
}
