//! Installs memdir into a host's files and uninstalls it: planned first, shown on request, applied completely or not at all, and
//! recorded so that exactly what was written can be removed.

mod error;
mod file_edit;
mod files;
mod patch;
mod plan;
mod receipt;
mod remove;

pub(crate) use error::InstallError;
pub(crate) use file_edit::{ConfigChange, FileOutcome, PlannedEdit};
pub(crate) use plan::{diff, plan};
pub(crate) use receipt::{InstallKey, Receipt, Receipts, lock};
pub(crate) use remove::plan_removal;

use crate::hosts::{ConfigEdit, Host, HostConfigFile, InstallScope, Machine, MemoryChoice};
use jiff::Timestamp;
use std::path::Path;

/// An installation to make, check or remove.
#[derive(Debug, Clone)]
pub(crate) struct InstallRequest<'a> {
    pub(crate) host: &'a Host,
    pub(crate) scope: InstallScope,
    /// Whether it is the connection to a team server, and not memdir's own tools and hooks.
    pub(crate) team: bool,
    pub(crate) machine: &'a Machine,
    /// `MEMDIR_HOME`, the directory of the receipts.
    pub(crate) home: &'a Path,
    pub(crate) now: Timestamp,
    /// What is done about the host's own memory in this scope, if that is decided by this installation.
    pub(crate) choice: Option<MemoryChoice>,
}

impl InstallRequest<'_> {
    /// The key of its receipt.
    pub(crate) fn key(&self) -> InstallKey {
        let project = (self.scope == InstallScope::Project).then(|| self.machine.project.clone());
        InstallKey { host: self.host.name.to_owned(), scope: self.scope, project, team: self.team }
    }
}

/// The files with the edits that revert what an earlier choice about the host's own memory has set, if there is a new choice.
pub(crate) fn with_restored(receipts: &Receipts, request: &InstallRequest<'_>, files: &[HostConfigFile]) -> Vec<HostConfigFile> {
    let keys: Vec<String> = files.iter().flat_map(|file| &file.edits).map(ConfigEdit::key).collect();
    let records = receipts.get(&request.key()).filter(|_| request.choice.is_some()).map_or(&[][..], |receipt| &receipt.files);
    let restored = records.iter().map(|record| {
        let restore = |edit: &ConfigEdit| match edit {
            ConfigEdit::Setting { path, value } if !keys.contains(&edit.key()) => {
                let previous = record.previous.get(&edit.key()).cloned();
                Some(ConfigEdit::Restore { path: path.clone(), value: value.clone(), previous })
            }
            _ => None,
        };
        HostConfigFile { path: record.path.clone(), format: record.format, edits: record.edits.iter().filter_map(restore).collect() }
    });
    restored.filter(|file| !file.edits.is_empty()).chain(files.iter().cloned()).collect()
}

/// Applies the edits to the files. If one file cannot be written, those before it are restored.
pub(crate) fn apply(request: &InstallRequest<'_>, files: &[HostConfigFile]) -> Result<Vec<FileOutcome>, InstallError> {
    let _lock = lock(request.home)?;
    let mut receipts = Receipts::load(request.home)?;
    let edits = plan(&with_restored(&receipts, request, files), &receipts.programs(request.machine))?;
    let written = files::write_all(&edits, request.scope, request.now)?;
    let outcomes = written.iter().map(|written| written.outcome.clone()).collect();
    let records = edits.iter().zip(&written).map(|(edit, written)| receipt::record(edit, written)).collect();
    receipts.add(request, records);
    match receipts.save(request.home) {
        Ok(()) => Ok(outcomes),
        Err(error) => {
            files::restore_all(&edits, &written);
            Err(error)
        }
    }
}

/// Returns the machine an installation was made for and the files it should have: those of its receipt, or those of an installation
/// made now. A program that no longer exists is replaced by this one.
pub(crate) fn expected(receipts: &Receipts, request: &InstallRequest<'_>) -> (Machine, Vec<HostConfigFile>) {
    let all = |machine: &Machine| (request.host.config)(machine, request.scope).unwrap_or_default();
    let Some(receipt) = receipts.get(&request.key()) else { return (request.machine.clone(), all(request.machine)) };
    let exe = if request.machine.can_start(&receipt.program) { &receipt.program } else { &request.machine.exe };
    let recorded: Vec<&ConfigEdit> = receipt.files.iter().flat_map(|record| &record.edits).collect();
    let has_server = recorded.iter().any(|edit| matches!(edit, ConfigEdit::Entry { .. }));
    let has_hooks = recorded.iter().any(|edit| edit.is_hook());
    let global_args = receipt.global_args.clone();
    let machine = Machine { exe: exe.clone(), global_args, with_hooks: has_hooks, ..request.machine.clone() };
    let is_expected = |edit: &ConfigEdit| if edit.is_hook() { has_hooks } else { has_server };
    let files =
        all(&machine).into_iter().map(|file| HostConfigFile { edits: file.edits.into_iter().filter(is_expected).collect(), ..file });
    let settings = receipt.files.iter().map(|record| {
        let edits = record.edits.iter().filter(|edit| matches!(edit, ConfigEdit::Setting { .. })).cloned().collect();
        HostConfigFile { path: record.path.clone(), format: record.format, edits }
    });
    let files = files.chain(settings).filter(|file| !file.edits.is_empty()).collect();
    (machine, files)
}

/// Removes an installation from its files.
pub(crate) fn revert(request: &InstallRequest<'_>) -> Result<Vec<FileOutcome>, InstallError> {
    let _lock = lock(request.home)?;
    let mut receipts = Receipts::load(request.home)?;
    let removals = plan_removal(&receipts, request)?;
    let outcomes = removals.iter().map(|removal| remove::apply(removal, request.scope)).collect::<Result<Vec<_>, _>>()?;
    remove::remove_created_dirs(&removals);
    receipts.remove(&request.key());
    receipts.save(request.home)?;
    Ok(outcomes)
}

#[cfg(test)]
mod tests;
