//! Receipts of installations, in `MEMDIR_HOME/installed.json`: enough to remove exactly what was written, without a copy of anything
//! else in those files. Field names in the file are older than those here, and stay.

use super::{
    InstallRequest,
    error::InstallError,
    file_edit::PlannedEdit,
    files::{self, WrittenFile},
    patch::Patch,
};
use crate::hosts::{ConfigEdit, ConfigFormat, InstallScope, Machine, MemoryChoice};
use jiff::Timestamp;
use memdir_core::internal::base::disk::{FileLock, LockWait};
use memdir_core::internal::base::sort::SharedSort as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

/// All receipts.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Receipts {
    /// The version of the file format.
    version: u32,
    pub(crate) installed: Vec<Receipt>,
}

/// Identifies an installation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InstallKey {
    pub(crate) host: String,
    pub(crate) scope: InstallScope,
    /// The project, in the project scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) project: Option<PathBuf>,
    /// Whether it is the connection to a team server.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) team: bool,
}

/// The receipt of one installation.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Receipt {
    #[serde(flatten)]
    pub(crate) key: InstallKey,
    pub(crate) at: Timestamp,
    /// The path of the program that was installed.
    pub(crate) program: String,
    /// The arguments that select the memory, see [`Machine::global_args`].
    #[serde(default, rename = "before")]
    pub(crate) global_args: Vec<String>,
    /// What was decided about the host's own memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) memory: Option<MemoryChoice>,
    pub(crate) files: Vec<FileReceipt>,
}

/// What was done to one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileReceipt {
    pub(crate) path: PathBuf,
    pub(crate) format: ConfigFormat,
    #[serde(rename = "wishes")]
    pub(crate) edits: Vec<ConfigEdit>,
    /// Whether the file did not exist.
    #[serde(rename = "created")]
    pub(crate) is_new_file: bool,
    /// The hash of the text before.
    pub(crate) before: String,
    /// The hash of the text after.
    pub(crate) after: String,
    /// The patches that lead back to the text before; `None` if another program wrote in between.
    pub(crate) patches: Option<Vec<Patch>>,
    /// The paths of containers that were created.
    #[serde(rename = "made")]
    pub(crate) created: Vec<Vec<String>>,
    /// Values of the user's that were replaced, by [`ConfigEdit::key`].
    #[serde(default, rename = "was")]
    pub(crate) previous: BTreeMap<String, Value>,
    /// Directories that were created, outermost first.
    pub(crate) dirs: Vec<PathBuf>,
    pub(crate) backups: Vec<PathBuf>,
}

impl Receipts {
    const VERSION: u32 = 1;

    /// Reads the receipts; empty if the file does not exist.
    pub(crate) fn load(home: &Path) -> Result<Receipts, InstallError> {
        let path = file(home);
        let Some(text) = files::read(&path)? else { return Ok(Receipts { version: Self::VERSION, installed: Vec::new() }) };
        let receipts: Receipts = serde_json::from_str(&text).map_err(|e| InstallError {
            path: path.clone(),
            reason: format!("invalid receipts: {e}"),
            hint: "move the file elsewhere; `memdir uninstall HOST` then removes all entries that it recognizes as memdir's".into(),
            unchanged: None,
        })?;
        if receipts.version > Self::VERSION {
            let reason = format!("format version {} is newer than this version of memdir supports", receipts.version);
            return Err(InstallError { path, reason, hint: "update memdir".into(), unchanged: None });
        }
        Ok(receipts)
    }

    /// Writes the receipts.
    pub(crate) fn save(&self, home: &Path) -> Result<(), InstallError> {
        let path = file(home);
        let text = serde_json::to_string_pretty(self).map_err(|e| InstallError::refused(&path, e.to_string()))? + "\n";
        let current = files::read(&path)?;
        if self.installed.is_empty() && current.is_none() {
            return Ok(());
        }
        files::write(&path, &text, current.as_deref(), InstallScope::User)
    }

    /// Returns the receipt of an installation.
    pub(crate) fn get(&self, key: &InstallKey) -> Option<&Receipt> {
        self.installed.iter().find(|receipt| receipt.key == *key)
    }

    /// Adds records to the receipt of an installation, or creates it.
    pub(crate) fn add(&mut self, request: &InstallRequest<'_>, records: Vec<FileReceipt>) {
        let (key, machine, at) = (request.key(), request.machine, request.now);
        let mut receipt = match self.installed.iter().position(|receipt| receipt.key == key) {
            Some(at) => self.installed.remove(at),
            None => Receipt { key, at, program: String::new(), global_args: Vec::new(), memory: None, files: Vec::new() },
        };
        (receipt.at, receipt.program) = (at, machine.exe.clone());
        receipt.memory = request.choice.or(receipt.memory);
        // A setting alone does not select a memory.
        if records.iter().flat_map(|record| &record.edits).any(|edit| !edit.is_setting()) {
            receipt.global_args.clone_from(&machine.global_args);
        }
        for mut record in records {
            // Values that an installation wrote are not the user's.
            let installed: Vec<String> = self
                .records_of(&record.path)
                .chain(receipt.files.iter().filter(|known| known.path == record.path))
                .flat_map(|known| known.edits.iter().map(ConfigEdit::key))
                .collect();
            record.previous.retain(|key, _| !installed.contains(key));
            match receipt.files.iter_mut().find(|known| known.path == record.path) {
                Some(known) => *known = known.clone().join(record),
                None => receipt.files.push(record),
            }
        }
        self.installed.push(receipt);
        self.installed.shared_sort_by(|a, b| a.key.order().cmp(&b.key.order()));
    }

    /// Removes a receipt. The record of a file that is shared with another installation moves to that one.
    pub(crate) fn remove(&mut self, key: &InstallKey) {
        let Some(at) = self.installed.iter().position(|receipt| receipt.key == *key) else { return };
        for record in self.installed.remove(at).files {
            let shared = self.installed.iter_mut().flat_map(|receipt| &mut receipt.files).find(|other| other.path == record.path);
            if let Some(other) = shared {
                // A file that became what the other installation left belongs to that one again, as it is recorded.
                let is_later = record.before == other.after && record.before != record.after;
                let is_restored = is_later && files::read(&record.path).ok().flatten().is_some_and(|text| hash(&text) == other.after);
                if !is_restored {
                    *other = record.join(other.clone());
                }
                continue;
            }
            // A directory that contains the file of another installation is removed with that file.
            for dir in record.dirs.into_iter().rev().filter(|dir| dir.exists()) {
                let within = self.installed.iter_mut().flat_map(|receipt| &mut receipt.files).find(|other| other.path.starts_with(&dir));
                within.into_iter().for_each(|other| other.dirs.insert(0, dir.clone()));
            }
        }
    }

    /// Whether another installation has an edit with the same key in the same file.
    pub(crate) fn is_shared(&self, key: &InstallKey, path: &Path, edit: &ConfigEdit) -> bool {
        let others = self.installed.iter().filter(|receipt| receipt.key != *key);
        let mut records = others.flat_map(|receipt| &receipt.files).filter(|record| record.path == path);
        records.any(|record| record.edits.iter().any(|other| other.key() == edit.key()))
    }

    /// The paths of memdir that were installed, and of this program.
    pub(crate) fn programs(&self, machine: &Machine) -> Vec<String> {
        self.installed.iter().map(|receipt| receipt.program.clone()).chain([machine.exe.clone()]).collect()
    }

    fn records_of<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = &'a FileReceipt> {
        self.installed.iter().flat_map(|receipt| &receipt.files).filter(move |record| record.path == path)
    }
}

impl InstallKey {
    fn order(&self) -> (&str, InstallScope, Option<&Path>, bool) {
        (&self.host, self.scope, self.project.as_deref(), self.team)
    }
}

impl Receipt {
    /// Whether it is about the host's own memory only: neither tools nor hooks were installed.
    pub(crate) fn has_only_settings(&self) -> bool {
        self.files.iter().flat_map(|record| &record.edits).all(ConfigEdit::is_setting)
    }
}

impl FileReceipt {
    /// Whether this replaces a lost receipt.
    pub(crate) fn is_reconstructed(&self) -> bool {
        self.after.is_empty()
    }

    /// Merges the records of two installations into the same file.
    fn join(self, other: FileReceipt) -> FileReceipt {
        // If no other program wrote in between, the patches of both lead back to the text before the first.
        let (first, later) = if other.after == self.before { (other, self) } else { (self, other) };
        let follows = later.before == first.after;
        let kept = first.edits.into_iter().filter(|edit| !later.edits.iter().any(|newer| newer.key() == edit.key()));
        FileReceipt {
            edits: kept.chain(later.edits.iter().cloned()).collect(),
            // If another program wrote in between, the order of the two is unknown.
            is_new_file: first.is_new_file || later.is_new_file,
            patches: first.patches.zip(later.patches).filter(|_| follows).map(|(first, later)| [first, later].concat()),
            created: [first.created, later.created].concat(),
            previous: later.previous.into_iter().chain(first.previous).collect(),
            dirs: [first.dirs, later.dirs].concat(),
            backups: [first.backups, later.backups].concat(),
            before: first.before,
            after: later.after,
            path: first.path,
            format: first.format,
        }
    }
}

/// The record of an edit that was written.
pub(crate) fn record(edit: &PlannedEdit, written: &WrittenFile) -> FileReceipt {
    // A file that memdir writes as a whole is recognized by its first line, so its text is not kept.
    let without_text = |edit: &ConfigEdit| match edit {
        ConfigEdit::Whole { .. } => ConfigEdit::Whole { text: String::new() },
        other => other.without_token(),
    };
    FileReceipt {
        path: edit.config.path.clone(),
        format: edit.config.format,
        edits: edit.config.edits.iter().map(without_text).collect(),
        is_new_file: edit.before.is_none(),
        before: hash(edit.before.as_deref().unwrap_or_default()),
        after: hash(&edit.after),
        patches: Some(edit.patches.clone()),
        created: edit.created.clone(),
        previous: edit.previous.clone(),
        dirs: written.dirs.clone(),
        backups: written.outcome.backup.iter().cloned().collect(),
    }
}

/// The hash of a text.
pub(crate) fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// Locks the receipts and, between memdir's processes, the files of hosts: one process installs at a time.
pub(crate) fn lock(home: &Path) -> Result<FileLock, InstallError> {
    let path = file(home);
    FileLock::for_update(&path, LockWait::COMMAND).map_err(|e| match e.kind() {
        io::ErrorKind::WouldBlock => {
            let hint = "run the command again; if the file stays locked, look for a suspended memdir process";
            InstallError::before(&path, format!("cannot lock: {e}"), hint)
        }
        _ => InstallError::io(&path, "lock", &e),
    })
}

fn file(home: &Path) -> PathBuf {
    home.join("installed.json")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Receipts that an earlier version wrote must be readable for as long as there are installations made by it.
    #[test]
    fn receipts_keep_their_format() {
        let written = json!({
            "version": 1,
            "installed": [{
                "host": "codex",
                "scope": "user",
                "at": "2026-11-15T12:00:00Z",
                "program": "/bin/memdir",
                "before": ["--dir", "/notes"],
                "files": [{
                    "path": "/home/ada/.codex/config.toml",
                    "format": "toml",
                    "wishes": [
                        { "entry": { "path": ["mcp_servers", "memdir"], "value": { "command": "/bin/memdir", "args": ["mcp"] } } },
                        { "hook": { "path": ["hooks", "Stop"], "value": {}, "host": "codex", "event": "stop" } },
                        { "default": { "path": ["version"], "value": 1 } },
                        { "setting": { "path": ["x"], "value": "y" } },
                        { "whole": { "text": "" } },
                    ],
                    "created": false,
                    "before": "b",
                    "after": "a",
                    "patches": [{ "at": 1, "old": "o", "new": 2 }],
                    "made": [["mcp_servers"]],
                    "was": { "entry mcp_servers.memdir": { "command": "/old/memdir" } },
                    "dirs": ["/home/ada/.codex"],
                    "backups": ["/home/ada/.codex/config.toml.memdir-backup-2026-11-15T12-00-00"],
                }],
            }],
        });
        let receipts: Receipts = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(serde_json::to_value(&receipts).unwrap(), written);
    }
}
