//! What an installation does to one file. Declarations only.

use super::patch::Patch;
use crate::hosts::HostConfigFile;
use serde::Serialize;
use serde_json::Value;
use std::{collections::BTreeMap, path::PathBuf};

/// The planned edit of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlannedEdit {
    /// The edits; those of several [`HostConfigFile`]s with one path are merged.
    pub(crate) config: HostConfigFile,
    /// The target of the path if it is a symbolic link, else the path.
    pub(crate) target: PathBuf,
    /// The current text; `None` if the file does not exist.
    pub(crate) before: Option<String>,
    /// The new text.
    pub(crate) after: String,
    /// The patches that lead from `after` back to `before`, one for each edit that changed the text.
    pub(crate) patches: Vec<Patch>,
    /// The paths of containers that are created.
    pub(crate) created: Vec<Vec<String>>,
    /// Values of the user's that are replaced, by [`crate::hosts::ConfigEdit::key`].
    pub(crate) previous: BTreeMap<String, Value>,
}

impl PlannedEdit {
    /// Whether the file differs from the planned text.
    pub(crate) fn is_change(&self) -> bool {
        self.before.as_deref() != Some(&self.after)
    }
}

/// What was done to one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct FileOutcome {
    pub(crate) path: PathBuf,
    #[serde(rename = "did")]
    pub(crate) change: ConfigChange,
    /// The copy of the file as it was before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) backup: Option<PathBuf>,
}

/// The kind of a change to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ConfigChange {
    /// The file did not exist.
    Created,
    /// The file was edited.
    Changed,
    /// The file already had the wanted content.
    #[serde(rename = "nothing")]
    Unchanged,
    /// The file was removed.
    Removed,
}
