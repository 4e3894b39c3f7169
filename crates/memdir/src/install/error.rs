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
    /// What the hint adds: that no file was changed, unless a caller knows better.
    pub(crate) unchanged: Option<&'static str>,
}

/// The end of a hint if nothing was done.
const NO_FILE: &str = "no file was changed";

impl InstallError {
    /// A file that cannot be edited as it is.
    pub(crate) fn refused(path: &Path, reason: impl Into<String>) -> InstallError {
        InstallError::from_edit(path, EditError::new(reason))
    }

    /// An edit that cannot be applied to a file.
    pub(crate) fn from_edit(path: &Path, error: EditError) -> InstallError {
        let hint = format!("{}, then run the command again", error.hint);
        InstallError { path: path.to_owned(), reason: error.message, hint, unchanged: Some(NO_FILE) }
    }

    /// An error before anything was done.
    pub(crate) fn before(path: &Path, reason: impl Into<String>, hint: &str) -> InstallError {
        InstallError { path: path.to_owned(), reason: reason.into(), hint: hint.into(), unchanged: Some(NO_FILE) }
    }

    /// The error after something else than the files of the host was changed.
    pub(crate) fn after_import(self) -> InstallError {
        InstallError { unchanged: self.unchanged.map(|_| "none of the host's files were changed"), ..self }
    }

    /// The error after other files of the host were changed.
    pub(crate) fn after_install(self) -> InstallError {
        InstallError { unchanged: None, ..self }
    }

    /// An I/O error.
    pub(crate) fn io(path: &Path, action: &str, error: &io::Error) -> InstallError {
        InstallError { path: path.to_owned(), reason: format!("cannot {action}: {error}"), hint: io_hint(error).into(), unchanged: None }
    }
}

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.reason)
    }
}

impl From<InstallError> for Failure {
    fn from(error: InstallError) -> Failure {
        let hint = std::iter::once(error.hint.as_str()).chain(error.unchanged).collect::<Vec<_>>().join("; ");
        Failure::Settings { message: error.to_string(), hint }
    }
}
