//! Why a file of a host, or the receipts, cannot be changed.

use crate::{
    exit::{Failure, io_hint},
    hosts::text_edit::EditError,
};
use std::{
    fmt, io,
    path::{Path, PathBuf},
};

/// An error at a file, which is left unchanged.
#[derive(Debug)]
pub(crate) struct InstallError {
    pub(crate) path: PathBuf,
    pub(crate) reason: String,
    pub(crate) hint: String,
}

impl InstallError {
    /// A file that cannot be edited as it is.
    pub(crate) fn refused(path: &Path, reason: impl Into<String>) -> InstallError {
        InstallError::from_edit(path, EditError::new(reason))
    }

    /// An edit that cannot be applied to a file.
    pub(crate) fn from_edit(path: &Path, error: EditError) -> InstallError {
        let hint = format!("{}, then run the command again; no file was changed", error.hint);
        InstallError { path: path.to_owned(), reason: error.message, hint }
    }

    /// An I/O error.
    pub(crate) fn io(path: &Path, action: &str, error: &io::Error) -> InstallError {
        InstallError { path: path.to_owned(), reason: format!("cannot {action}: {error}"), hint: io_hint(error).into() }
    }
}

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.reason)
    }
}

impl From<InstallError> for Failure {
    fn from(error: InstallError) -> Failure {
        Failure::Settings { message: error.to_string(), hint: error.hint }
    }
}
