//! The list of the current files of a vector directory: a small text with a checksum, replaced by rename. Never lists a file that
//! does not exist yet.

use crate::errors::corrupt;
use memdir_core::{
    Error, Result,
    internal::{
        base::disk::{self, Replace},
        search::embed::EmbedderId,
    },
};
use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

/// The extension of row files.
pub(super) const EXTENSION: &str = "rows";
const NAME: &str = "vectors.list";
const HEAD: &str = "memdir vectors 1";

/// The current files, the largest first, with their embedder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileList {
    pub(super) embedder: EmbedderId,
    pub(super) dim: usize,
    /// The number of the next file, which grows with every change.
    pub(super) next: u64,
    pub(super) files: Vec<ListedFile>,
}

/// One file of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ListedFile {
    pub(super) name: String,
    pub(super) rows: usize,
}

impl FileList {
    /// Reads the list of a directory; empty if there is none.
    pub(super) fn read(dir: &Path, embedder: &EmbedderId, dim: usize) -> Result<Self> {
        let path = dir.join(NAME);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Ok(FileList { embedder: embedder.clone(), dim, next: 1, files: Vec::new() });
            }
            Err(e) if e.kind() == io::ErrorKind::InvalidData => return Err(corrupt(&path, "it is not valid UTF-8")),
            Err(source) => return Err(Error::Io { doing: "read", path, source }),
        };
        let list = FileList::parse(&text).ok_or_else(|| corrupt(&path, "checksum mismatch"))?;
        if list.embedder != *embedder || list.dim != dim {
            return Err(corrupt(&path, "its embedder or dimension does not match the index"));
        }
        Ok(list)
    }

    /// Replaces the list of a directory.
    pub(super) fn write(&self, dir: &Path) -> Result<()> {
        write_whole(dir, NAME, |file| file.write_all(self.text().as_bytes()))
    }

    fn text(&self) -> String {
        let mut text = format!("{HEAD}\nembedder {}\ndim {}\nnext {}\n", self.embedder, self.dim, self.next);
        for ListedFile { name, rows } in &self.files {
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
            Some(ListedFile { name: name.to_owned(), rows: rows.parse().ok()? })
        };
        let files = lines.map(listed).collect::<Option<_>>()?;
        Some(FileList { embedder, dim, next, files })
    }
}

fn checksum(body: &str) -> String {
    format!("check {}\n", blake3::hash(body.as_bytes()).to_hex())
}

/// Writes a file that is not visible before it is complete, readable by its owner only.
pub(super) fn write_whole(dir: &Path, name: &str, fill: impl FnOnce(&mut fs::File) -> io::Result<()>) -> Result<()> {
    let path = dir.join(name);
    disk::replace(&path, Replace::DERIVED, fill).map_err(|source| Error::Io { doing: "write", path, source })
}

/// Removes row files that are not current, and temporary files of killed processes. Best effort: they only use space.
pub(super) fn remove_others(dir: &Path, list: &FileList) {
    for path in vector_files(dir).unwrap_or_default() {
        let is_current = path.file_name().is_some_and(|n| n == NAME || list.files.iter().any(|f| n == f.name.as_str()));
        if !is_current {
            let _ = fs::remove_file(path);
        }
    }
}

/// Removes the list, then the row files.
pub(super) fn remove_all(dir: &Path) -> Result<()> {
    let io = |path: &Path, source| Error::Io { doing: "remove", path: path.to_owned(), source };
    let mut paths = match vector_files(dir) {
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

/// Lists the files of a vector directory that belong to it.
fn vector_files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let belongs = path.extension().is_some_and(|e| e == EXTENSION || e == "tmp") || path.file_name().is_some_and(|n| n == NAME);
        if belongs {
            paths.push(path);
        }
    }
    Ok(paths)
}
