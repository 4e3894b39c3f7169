//! Candidates: finds them in conversations, and adds those that the settings want to the inbox.

use crate::{
    config::{EmbedderSetting, Settings},
    exit::Failure,
    mounts,
    scope::Scope,
};
use jiff::Timestamp;
use memdir_chats::{
    Reader, SearchedProject,
    candidates::{self, FindRequest, RUNNING_KINDS},
};
use memdir_core::{Candidate, Embedder, Memdir, Proposed, SystemClock, internal::secrets};
use memdir_embed::StaticModel;
use std::path::Path;

/// Finds candidates in the archived conversations of the project that changed since the last time, until a time, and adds them to the
/// inbox. What is not read in time is read the next time. `stopped` is the conversation, as `host/key`, whose agent has just stopped.
pub(crate) fn find_archived(
    settings: &Settings,
    scope: &Scope,
    memdir: &Memdir,
    until: Option<Timestamp>,
    stopped: Option<&str>,
) -> Result<Proposed, Failure> {
    let archive = mounts::chat_archive(settings);
    let is_on = settings.config.inbox.on && settings.config.chats.settings.on && scope.has_inbox();
    if !is_on || !archive.dir().is_dir() {
        return Ok(Proposed::default());
    }
    let project = SearchedProject { project: scope.project.clone(), worktrees: settings.config.worktrees };
    let model = (settings.config.search.embedder == EmbedderSetting::Builtin).then(StaticModel::new);
    let embedder = model.as_ref().map(|model| model as &dyn Embedder);
    let found = candidates::find_new(&archive, &FindRequest { project: Some(&project), stopped, embedder, until, clock: &SystemClock })?;
    let proposed = propose(settings, scope, memdir, found.candidates.clone())?;
    // Only now: what could not be added is found again.
    found.save()?;
    Ok(proposed)
}

/// Finds candidates in the transcript of the running conversation while chats are off, and adds them to the inbox. Keeps nothing else.
pub(crate) fn find_running(
    settings: &Settings,
    scope: &Scope,
    memdir: &Memdir,
    reader: &'static Reader,
    transcript: &Path,
    until: Option<Timestamp>,
) -> Result<Proposed, Failure> {
    let inbox = &settings.config.inbox;
    let is_on = inbox.without_chats && RUNNING_KINDS.iter().any(|kind| inbox.adds(*kind)) && scope.has_inbox();
    if !is_on || !transcript.is_file() {
        return Ok(Proposed::default());
    }
    let found = candidates::find_in_running(reader, transcript, &secrets::redact_strict, until, &SystemClock)?;
    propose(settings, scope, memdir, found)
}

/// Adds candidates to the inbox of the space, without the kinds that the settings turn off.
pub(crate) fn propose(settings: &Settings, scope: &Scope, memdir: &Memdir, mut candidates: Vec<Candidate>) -> Result<Proposed, Failure> {
    candidates.retain(|candidate| settings.config.inbox.adds(candidate.kind));
    if candidates.is_empty() {
        return Ok(Proposed::default());
    }
    Ok(memdir.propose(&candidates, Some(&scope.tripwires_file(&settings.cache)))?)
}
