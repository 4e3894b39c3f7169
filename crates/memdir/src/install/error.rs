//! Why a file of a host, or the receipts, cannot be changed.

use crate::exit::Failure;
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
        let hint = "fix the file, then run the command again; no file was changed".into();
        InstallError { path: path.to_owned(), reason: reason.into(), hint }
    }

    /// An I/O error.
    pub(crate) fn io(path: &Path, action: &str, error: &io::Error) -> InstallError {
        let hint = "check the path and its permissions".into();
        InstallError { path: path.to_owned(), reason: format!("cannot {action}: {error}"), hint }
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
