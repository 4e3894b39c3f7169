//! Which files of a vector directory count: a small text with a checksum, replaced by rename. Never lists a file that is
//! not there yet.

use super::corrupt;
use memdir_core::{
    base::{
        disk::{self, Replace},
        error::{Error, Result},
    },
    search::embed::EmbedderId,
};
use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

/// What the names of row files end with.
pub(super) const EXTENSION: &str = "rows";
const NAME: &str = "vectors.list";
const HEAD: &str = "memdir vectors 1";

/// The files that count, the largest first, and what they are about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileList {
    pub(super) embedder: EmbedderId,
    pub(super) dim: usize,
    /// The number of the next file. Grows with every change.
    pub(super) next: u64,
    pub(super) files: Vec<Listed>,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) name: String,
    pub(super) rows: usize,
}

impl FileList {
    /// The list of a directory; where there is none, an empty one.
    pub(super) fn read(dir: &Path, embedder: &EmbedderId, dim: usize) -> Result<Self> {
        let path = dir.join(NAME);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Ok(FileList { embedder: embedder.clone(), dim, next: 1, files: Vec::new() });
            }
            Err(e) if e.kind() == io::ErrorKind::InvalidData => return Err(corrupt(&path, "it is not text")),
            Err(source) => return Err(Error::Io { doing: "read", path, source }),
        };
        let list = FileList::parse(&text).ok_or_else(|| corrupt(&path, "it is not as it was written"))?;
        if list.embedder != *embedder || list.dim != dim {
            return Err(corrupt(&path, "it is of another embedder"));
        }
        Ok(list)
    }

    /// Makes this the list of a directory.
    pub(super) fn write(&self, dir: &Path) -> Result<()> {
        write_whole(dir, NAME, |file| file.write_all(self.text().as_bytes()))
    }

    fn text(&self) -> String {
        let mut text = format!("{HEAD}\nembedder {}\ndim {}\nnext {}\n", self.embedder, self.dim, self.next);
        for Listed { name, rows } in &self.files {
            text.push_str(&format!("file {name} {rows}\n"));
        }
        let check = checksum(&text);
        text + &check
    }

    fn parse(text: &str) -> Option<Self> {
        let (body, check) = text.split_at_checked(text.rfind("check ")?)?;
        if checksum(body) != check {
            return None;
        }
        let mut lines = body.lines();
        (lines.next()? == HEAD).then_some(())?;
        let embedder = EmbedderId::parse(lines.next()?.strip_prefix("embedder ")?);
        let dim = lines.next()?.strip_prefix("dim ")?.parse().ok()?;
        let next = lines.next()?.strip_prefix("next ")?.parse().ok()?;
        let listed = |line: &str| {
            let (name, rows) = line.strip_prefix("file ")?.split_once(' ')?;
            Some(Listed { name: name.to_owned(), rows: rows.parse().ok()? })
        };
        let files = lines.map(listed).collect::<Option<_>>()?;
        Some(FileList { embedder, dim, next, files })
    }
}

fn checksum(body: &str) -> String {
    format!("check {}\n", blake3::hash(body.as_bytes()).to_hex())
}

/// Writes a file that nobody sees before it is whole, readable by its owner only.
pub(super) fn write_whole(dir: &Path, name: &str, fill: impl FnOnce(&mut fs::File) -> io::Result<()>) -> Result<()> {
    let path = dir.join(name);
    disk::replace(&path, Replace::DERIVED, fill).map_err(|source| Error::Io { doing: "write", path, source })
}

/// Removes row files that do not count, and what a killed process left. Best effort: they are only in the way.
pub(super) fn remove_others(dir: &Path, list: &FileList) {
    for path in ours(dir).unwrap_or_default() {
        let counts = path.file_name().is_some_and(|n| n == NAME || list.files.iter().any(|f| n == f.name.as_str()));
        if !counts {
            let _ = fs::remove_file(path);
        }
    }
}

/// Removes the list, then the files.
pub(super) fn remove_all(dir: &Path) -> Result<()> {
    let io = |path: &Path, source| Error::Io { doing: "remove", path: path.to_owned(), source };
    let mut paths = match ours(dir) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        paths => paths.map_err(|e| io(dir, e))?,
    };
    paths.sort_by_key(|p| p.file_name().is_none_or(|n| n != NAME));
    for path in paths {
        match fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(io(&path, e)),
            _ => {}
        }
    }
    Ok(())
}

fn ours(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let mine = path.extension().is_some_and(|e| e == EXTENSION || e == "tmp") || path.file_name().is_some_and(|n| n == NAME);
        if mine {
            paths.push(path);
        }
    }
    Ok(paths)
}
