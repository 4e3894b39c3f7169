//! Temporary files that no recovery looks for any more: a crash left them, and they could not be removed when its change was settled.

use super::{
    FileStore, Lock, atomic,
    contain::OpenRoot,
    journal::{FileDraft, Lookup},
    temps::parse_temp_name,
};
use crate::base::sort::SharedSort as _;
use crate::{
    base::{
        error::{Error, Result},
        limits,
        version::Version,
    },
    store::{Access, Role},
};
use rustix::fs::{Dir, FileType};
use std::path::PathBuf;

/// The temporary files that crashes left in a mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftoverFiles {
    /// The prefix of the mount.
    pub prefix: String,
    /// The files.
    pub files: Vec<PathBuf>,
}

impl FileStore {
    /// Finds the temporary files of changes in writable mounts. A mount that is locked is left out: a change that is being made has
    /// temporary files too.
    pub fn leftover_files(&self) -> Vec<LeftoverFiles> {
        let mut all = Vec::new();
        for mount in (0..self.mounts.len()).filter(|mount| self.journal_owner(*mount) == *mount) {
            let mounted = &self.mounts[mount];
            if mounted.info.access == Access::ReadOnly {
                continue;
            }
            let (Ok(open), Some(_lock)) = (mounted.root.open(), Lock::try_acquire(&mounted.lock)) else { continue };
            let files: Vec<PathBuf> = find(&open).iter().map(|rel| mounted.root.path().join(rel)).collect();
            if !files.is_empty() {
                all.push(LeftoverFiles { prefix: mounted.info.prefix.clone(), files });
            }
        }
        all
    }

    /// Removes the temporary files that crashes left in a mount, after the history has what other programs saved. Returns the files
    /// that stay because it is unknown to which memory they belong.
    pub fn remove_leftover_files(&self, prefix: &str) -> Result<Vec<PathBuf>> {
        let Some(mount) = self.infos.iter().position(|info| info.prefix == prefix) else { return Ok(Vec::new()) };
        // No change is being made while the mount is locked, and the interrupted one is settled.
        let _locked = self.lock(&[mount].into())?;
        let root = &self.mounts[mount].root;
        let open = root.open()?;
        let mut kept = Vec::new();
        for rel in find(&open) {
            let (folder, name) = rel.rsplit_once('/').map_or(("", rel.as_str()), |(folder, name)| (folder, name));
            let beside = if folder.is_empty() { "any".to_owned() } else { format!("{folder}/any") };
            let content = atomic::leftover(&open, beside.as_bytes(), name);
            if content.is_none_or(|bytes| self.keep_in_history(mount, name, &bytes).unwrap_or(false)) {
                let removed = atomic::sweep(&open, beside.as_bytes(), name);
                removed.map_err(|e| Error::io("remove", root.path().join(&rel), e.into()))?;
            } else {
                kept.push(root.path().join(&rel));
            }
        }
        Ok(kept)
    }

    /// Records the content of a temporary file unless the history has it. Returns `false` if its change is not known.
    fn keep_in_history(&self, mount: usize, name: &str, bytes: &[u8]) -> Result<bool> {
        let Some((id, file)) = parse_temp_name(name) else { return Ok(false) };
        let mut journal = self.journal(mount);
        let Lookup::Recorded(placed) = journal.find(id, None)? else { return Ok(false) };
        let Some(file) = placed.record.files.get(file) else { return Ok(false) };
        let mut texts = Vec::new();
        for version in [file.before, file.after].into_iter().flatten() {
            texts.extend(journal.text(&file.p, version, &|| None).ok().flatten());
        }
        // A crash may have cut what memdir was writing.
        let is_own = texts.iter().any(|text| text.starts_with(bytes));
        if !is_own && journal.text(&file.p, Version::from_content(bytes), &|| None)?.is_none() {
            let before = Some((bytes, placed.record.at));
            journal.record_found(&FileDraft { path: &file.p, role: Role::Memory, before, after: None })?;
        }
        Ok(true)
    }
}

/// Returns the temporary files of changes below a root. Links are not followed.
fn find(open: &OpenRoot<'_>) -> Vec<String> {
    let (mut found, mut folders) = (Vec::new(), vec![String::new()]);
    while let Some(folder) = folders.pop() {
        let Some(entries) = open.dir(folder.as_bytes()).ok().flatten().and_then(|dir| Dir::read_from(dir).ok()) else { continue };
        for entry in entries.flatten() {
            let Some(name) = entry.file_name().to_str().ok().filter(|name| *name != "." && *name != "..") else { continue };
            let rel = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
            match entry.file_type() {
                FileType::Directory if rel.matches('/').count() < limits::WALK_DEPTH => folders.push(rel),
                FileType::RegularFile if parse_temp_name(name).is_some() => found.push(rel),
                _ => {}
            }
        }
    }
    found.shared_sort();
    found
}
