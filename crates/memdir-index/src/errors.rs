//! The errors of a damaged or unreadable index.

use memdir_core::Error;
use std::{io, path::Path, sync::Arc};

/// Converts an error of Tantivy in the index directory `root`.
pub(crate) fn tantivy_error<'a>(doing: &'static str, root: &'a Path) -> impl Fn(tantivy::TantivyError) -> Error + Copy + use<'a> {
    move |error| match error {
        tantivy::TantivyError::IoError(source) => {
            let source = Arc::try_unwrap(source).unwrap_or_else(|shared| io::Error::new(shared.kind(), shared.to_string()));
            Error::io(doing, root, source)
        }
        other => corrupt_index(other.to_string()),
    }
}

/// Converts an error of reading postings in the index directory `root`.
pub(crate) fn read_error(root: &Path) -> impl Fn(io::Error) -> Error + '_ {
    move |source| Error::io("read", root, source)
}

/// The error of a damaged file.
pub(crate) fn corrupt(path: &Path, why: impl Into<String>) -> Error {
    Error::Corrupt { names_step: false, what: path.display().to_string(), why: why.into() }
}

/// The error of a damaged index, if no single file is known to be damaged.
pub(crate) fn corrupt_index(why: impl Into<String>) -> Error {
    Error::Corrupt { names_step: false, what: "the search index".into(), why: why.into() }
}
