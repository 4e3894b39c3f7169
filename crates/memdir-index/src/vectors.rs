//! The vectors of one embedder on disk: rows keyed by the hash of the text they stand for, so that a rename or a rebuilt
//! index embeds nothing again. Derived, shared by mapping, never synced. Never knows which memory a text is in.
//!
//! A directory holds a few immutable files of rows ([`RowFile`]) and a list of those that count, replaced by rename. New
//! rows make a new file, which swallows files not much larger than itself: few files, and a row is copied seldom. No
//! file is ever changed or truncated under its name, so mappings of other processes stay whole; files that no longer
//! count are removed, which leaves their mappings alone.
//!
//! Reading takes no lock. [`Vectors::add`] and [`Vectors::compact`] are for one process at a time, under the caller's
//! lock; without it rows may be lost (and are embedded again), but nothing is damaged.

mod list;
mod rows;

pub use rows::RowFile;

use crate::{
    files,
    scan::{self, Near},
};
use list::{FileList, Listed};
pub use memdir_core::search::embed::Key;
use memdir_core::{
    base::error::{Error, Result},
    search::embed::{EmbedderId, Vector},
};
use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Row files of one directory. Every lookup asks each of them, and every mapping costs at open.
const MOST_FILES: usize = 8;

/// The vectors of one embedder, as they were when this was opened or made: a snapshot that never changes.
/// Rows are numbered from 0 over all files; the numbers hold for this snapshot only.
#[derive(Debug, Clone)]
pub struct Vectors {
    dir: PathBuf,
    list: FileList,
    files: Vec<Part>,
}

#[derive(Debug, Clone)]
struct Part {
    first: u32,
    rows: Arc<RowFile>,
}

impl Vectors {
    /// Opens what is in a directory; one that does not exist or is empty holds no vectors. Nothing is created. Looks at
    /// the list and each file's header, not at the rows.
    ///
    /// `Corrupt` means: [`Vectors::clear`] the directory and embed again.
    pub fn open(dir: &Path, embedder: &EmbedderId, dim: usize) -> Result<Vectors> {
        let mut list = FileList::read(dir, embedder, dim)?;
        loop {
            match Vectors::map(dir, &list) {
                // Another process merged files between our reading the list and opening them.
                Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                    let newer = FileList::read(dir, embedder, dim)?;
                    if newer == list {
                        return Err(corrupt(dir, "a file of rows is missing"));
                    }
                    list = newer;
                }
                done => return done,
            }
        }
    }

    /// Forgets every vector of a directory. Who has them open keeps them.
    pub fn clear(dir: &Path) -> Result<()> {
        list::remove_all(dir)
    }

    /// Whether this is still what a new `open` would give. Reads one small file.
    pub fn is_current(&self) -> bool {
        FileList::read(&self.dir, &self.list.embedder, self.list.dim).is_ok_and(|list| list == self.list)
    }

    /// A number that another set of files of the same directory does not have.
    pub fn generation(&self) -> u64 {
        self.list.next
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        self.files.last().map_or(0, |f| f.first as usize + f.rows.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many numbers a row has.
    pub fn dim(&self) -> usize {
        self.list.dim
    }

    /// How many bytes the files have.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|f| f.rows.bytes()).sum()
    }

    /// The row of a text, by its key.
    pub fn find(&self, key: &Key) -> Option<u32> {
        self.files.iter().find_map(|f| Some(f.first + f.rows.find(key)?))
    }

    /// What a row stands for.
    pub fn key(&self, row: u32) -> Option<Key> {
        let (file, row) = self.locate(row)?;
        file.keys().get(row).copied()
    }

    /// The files, for bulk work, each with the number of its first row.
    pub fn files(&self) -> impl Iterator<Item = (u32, &RowFile)> {
        self.files.iter().map(|f| (f.first, &*f.rows))
    }

    /// The cosine of the query with one row.
    pub fn cosine(&self, query: &Vector, row: u32) -> Result<f32> {
        let Some((file, row)) = self.locate(row) else {
            return Err(Error::BadInput { what: "row".into(), why: format!("there are {} rows", self.len()) });
        };
        self.check_dim(query)?;
        file.cosine(query, row).ok_or_else(|| corrupt(&self.dir, "a row does not fit its scale"))
    }

    /// The `most` rows nearest to the query, nearest first, of two alike the one with the smaller key: the same whatever
    /// files the rows are in. For `keep` see [`scan::nearest`]. Damage is noticed in the rows that are returned.
    pub fn nearest(&self, query: &Vector, most: usize, keep: &mut dyn FnMut(u32) -> bool) -> Result<Vec<Near>> {
        self.check_dim(query)?;
        let mut all: Vec<(Near, Key)> = Vec::new();
        for part in &self.files {
            let found = scan::nearest(query, part.rows.rows(), part.rows.scales(), most, &mut |row| keep(part.first + row));
            self.sound(part.first, &part.rows, found, &mut all)?;
        }
        Ok(best(all, most))
    }

    /// As [`Vectors::nearest`] of every row, on two threads where there are many.
    pub fn nearest_of_all(&self, query: &Vector, most: usize) -> Result<Vec<Near>> {
        self.check_dim(query)?;
        let mut all: Vec<(Near, Key)> = Vec::new();
        for part in &self.files {
            self.sound(part.first, &part.rows, scan::nearest_of_all(query, part.rows.rows(), part.rows.scales(), most), &mut all)?;
        }
        Ok(best(all, most))
    }

    fn sound(&self, first: u32, rows: &RowFile, found: Vec<Near>, all: &mut Vec<(Near, Key)>) -> Result<()> {
        for near in found {
            if !rows.is_sound(near.row as usize) {
                return Err(corrupt(&self.dir, "a row does not fit its scale"));
            }
            all.push((Near { row: first + near.row, ..near }, rows.keys()[near.row as usize]));
        }
        Ok(())
    }

    /// Reads every byte and compares it with what was written. For checks on request: about a millisecond for 3 MB.
    pub fn verify(&self) -> Result<()> {
        match self.files.iter().all(|f| f.rows.is_whole()) {
            true => Ok(()),
            false => Err(corrupt(&self.dir, "rows are not as they were written")),
        }
    }

    /// The vectors with new rows beside those that are there now; keys that have a row keep it. Call under the lock.
    pub fn add(&self, new: &[(Key, Vector)]) -> Result<Vectors> {
        new.iter().try_for_each(|(_, vector)| self.check_dim(vector))?;
        let now = self.now()?;
        let mut new: Vec<&(Key, Vector)> = new.iter().filter(|(key, _)| now.find(key).is_none()).collect();
        new.sort_unstable_by_key(|(key, _)| *key);
        new.dedup_by_key(|(key, _)| *key);
        if new.is_empty() {
            return Ok(now);
        }
        let kept = now.untouched_by(new.len());
        let swallowed: Vec<&RowFile> = now.files[kept..].iter().map(|f| &*f.rows).collect();
        let mut rows: Vec<rows::Row<'_>> = new.iter().map(|(key, vector)| (*key, vector.scale(), vector.row())).collect();
        rows.extend(swallowed.iter().flat_map(|f| f.iter()));
        now.replace(kept, rows)
    }

    /// The vectors without the rows nobody needs any more, in one file. Call under the lock.
    pub fn compact(&self, is_live: &mut dyn FnMut(&Key) -> bool) -> Result<Vectors> {
        let now = self.now()?;
        let rows = now.files.iter().flat_map(|f| f.rows.iter()).filter(|(key, ..)| is_live(key)).collect();
        now.replace(0, rows)
    }

    /// How many of the files, the largest first, stay as they are when so many rows are added: the rest are swallowed.
    /// A file is swallowed by one at least half its size, so a row is copied a logarithmic number of times.
    fn untouched_by(&self, new: usize) -> usize {
        let (mut kept, mut size) = (self.files.len(), new);
        while kept > 0 && (kept >= MOST_FILES || self.files[kept - 1].rows.len() <= 2 * size) {
            kept -= 1;
            size += self.files[kept].rows.len();
        }
        kept
    }

    /// Writes one more file, lists it after the first `kept` ones, and removes those that no longer count.
    fn replace(&self, kept: usize, mut rows: Vec<rows::Row<'_>>) -> Result<Vectors> {
        rows.sort_unstable_by_key(|(key, ..)| *key);
        rows.dedup_by_key(|(key, ..)| *key);
        files::create_dir(&self.dir)?;
        let mut list = self.list.clone();
        list.files.truncate(kept);
        if !rows.is_empty() {
            let name = format!("{:08}.{}", list.next, list::EXTENSION);
            rows::write(&self.dir, &name, &list.embedder, list.dim, &rows)?;
            list.files.push(Listed { name, rows: rows.len() });
        }
        list.next += 1;
        list.write(&self.dir)?;
        let made = Vectors::map(&self.dir, &list)?;
        list::remove_others(&self.dir, &list);
        Ok(made)
    }

    /// This, or what another process has made of it since.
    fn now(&self) -> Result<Vectors> {
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
                return Err(corrupt(&path, "it does not have the listed number of rows"));
            }
            let next = first.checked_add(rows.len() as u32).ok_or_else(|| corrupt(dir, "it lists too many rows"))?;
            files.push(Part { first, rows: Arc::new(rows) });
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
                let why = format!("it has {} numbers; the vectors of {} have {}", vector.dim(), self.list.embedder, self.dim());
                Err(Error::BadInput { what: "vector".into(), why })
            }
        }
    }
}

/// The nearest of several files' nearest.
fn best(mut all: Vec<(Near, Key)>, most: usize) -> Vec<Near> {
    all.sort_by(|(a, a_key), (b, b_key)| b.cosine.total_cmp(&a.cosine).then(a_key.cmp(b_key)));
    all.into_iter().take(most).map(|(near, _)| near).collect()
}

fn corrupt(path: &Path, why: &str) -> Error {
    Error::Corrupt { what: path.display().to_string(), why: why.into() }
}
