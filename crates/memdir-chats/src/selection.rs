//! Which archived conversations a search covers: those of its project, and never the one that is running. Reads the state of the last
//! sync, and the headers of files that it does not know.

use crate::{
    archive::ChatArchive,
    hosts::reader,
    project::SessionProject,
    state::{ArchivedChats, ArchivedState, SyncState},
};
use jiff::Timestamp;
use memdir_core::{
    ChatFilter, Project,
    internal::{
        base::limits,
        project::{self, ProjectKind, Worktrees},
    },
};
use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

/// The project whose conversations a search covers.
#[derive(Debug, Clone)]
pub struct SearchedProject {
    /// The project.
    pub project: Project,
    /// Whether the worktrees of a repository are one project.
    pub worktrees: Worktrees,
}

impl SearchedProject {
    /// Whether a conversation is one of the project's: its directory belongs to the project, or the conversation belongs to no
    /// directory at all, and so to no other project.
    pub fn includes(&self, session: SessionProject<'_>) -> bool {
        let is_below = || session.is_in(&self.project.checkout) || session.is_in(&self.project.root);
        let Some(dir) = session.dir else { return session.host.is_transcript_of.is_none() || is_below() };
        match project::find(dir, self.worktrees) {
            Ok(found) => found.id == self.project.id || (found.kind == ProjectKind::Directory && is_below()),
            // The directory is gone: its path is all that is known.
            Err(_) => is_below(),
        }
    }
}

/// What the last sync of this process knows about the archive.
#[derive(Debug, Default)]
pub struct SyncMemo(Mutex<Option<Arc<ArchivedChats>>>);

impl SyncMemo {
    pub(crate) fn set(&self, archived: Option<ArchivedChats>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = archived.map(Arc::new);
    }

    fn get(&self) -> Option<Arc<ArchivedChats>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Returns a filter of archived files. `project` is `None` for the conversations of all projects.
pub(crate) fn select(archive: &ChatArchive, memo: &SyncMemo, project: Option<&SearchedProject>, now: Timestamp) -> ChatFilter {
    let (archive, project, archived) = (archive.clone(), project.cloned(), memo.get());
    let loaded: OnceLock<Arc<ArchivedChats>> = OnceLock::new();
    if let Some(archived) = archived {
        // The cell is empty, so this cannot fail.
        let _ = loaded.set(archived);
    }
    let verdicts: Mutex<HashMap<String, bool>> = Mutex::default();
    Box::new(move |file| {
        let Some((host_name, name)) = file.trim_end_matches(".md").split_once('/') else { return true };
        let Some(host) = reader(host_name) else { return true };
        let stem = format!("{host_name}/{}", ChatArchive::without_part(name));
        let archived = loaded.get_or_init(|| Arc::new(SyncState::load(archive.dir()).archived.unwrap_or_default()));
        // A file that is not known was archived by another process since.
        let known = archived.get(&stem).cloned();
        let Some(state) = known.or_else(|| archive.header(&stem).as_ref().map(ArchivedState::new)) else { return true };
        if state.unanswered.is_some_and(|at| now.as_second() - at.as_second() < limits::CHAT_RUNNING_SECONDS) {
            return false;
        }
        let Some(project) = &project else { return true };
        let dir = state.project.as_deref().map(Path::new);
        let is_included = || project.includes(SessionProject { host, dir, transcript: Path::new(&state.source) });
        // Most conversations are held in a few directories, and looking one up reads files.
        let Some(dir) = &state.project else { return is_included() };
        let mut verdicts = verdicts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(verdict) = verdicts.get(dir) {
            return *verdict;
        }
        let verdict = is_included();
        verdicts.insert(dir.clone(), verdict);
        verdict
    })
}
