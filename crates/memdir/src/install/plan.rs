//! Plans the edits of an installation without writing.

use super::{error::InstallError, file_edit::PlannedEdit, files, patch::Patch};
use crate::hosts::HostConfigFile;
use memdir_core::internal::base::line_diff;
use std::{collections::BTreeMap, path::Path};

/// Plans the edits of all files; fails if one of them cannot be edited. `programs` are further paths of memdir, whatever their names.
pub(crate) fn plan(files: &[HostConfigFile], programs: &[String]) -> Result<Vec<PlannedEdit>, InstallError> {
    let mut merged: Vec<HostConfigFile> = Vec::new();
    for file in files {
        match merged.iter_mut().find(|other| other.path == file.path) {
            Some(other) => other.edits.extend(file.edits.iter().cloned()),
            None => merged.push(file.clone()),
        }
    }
    merged.into_iter().map(|config| plan_file(config, programs)).collect()
}

fn plan_file(config: HostConfigFile, programs: &[String]) -> Result<PlannedEdit, InstallError> {
    let target = files::resolve(&config.path)?;
    let before = files::read(&target)?;
    let mut text = before.clone().unwrap_or_default();
    let (mut patches, mut created, mut previous) = (Vec::new(), Vec::new(), BTreeMap::new());
    for edit in &config.edits {
        let applied = edit.apply(config.format, &text, programs).map_err(|error| InstallError::from_edit(&config.path, error))?;
        if applied.text != text {
            patches.push(Patch::between(&text, &applied.text));
        }
        text = applied.text;
        created.extend(applied.created);
        previous.extend(applied.previous.map(|value| (edit.key(), value)));
    }
    let edit = PlannedEdit { config, target, before, after: text, patches, created, previous };
    if edit.is_change() && edit.before.is_some() {
        files::check_writable(&edit.config.path, &edit.target)?;
    }
    Ok(edit)
}

/// The change of a file as a unified diff.
pub(crate) fn diff(path: &Path, before: Option<&str>, after: Option<&str>) -> String {
    let name = |text: Option<&str>| text.map_or_else(|| "/dev/null".to_owned(), |_| path.display().to_string());
    line_diff::unified(&name(before), &name(after), before.unwrap_or_default(), after.unwrap_or_default())
}
