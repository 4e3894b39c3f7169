//! Archived conversations as the detectors see them: which ones changed, and their typed turns with citations.

use super::{SeenChat, TypedTurn, state::FindState};
use crate::{
    archive::{ChatArchive, ChatSection},
    hosts::reader,
    project::SessionProject,
    selection::SearchedProject,
    source::Reader,
    state::{ArchivedChats, ArchivedState, SyncState},
    walk,
};
use memdir_core::internal::base::sort::SharedSort as _;
use memdir_core::{Result, Speaker};
use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

/// A conversation that changed since it was last read.
pub(super) struct ChangedChat {
    host: &'static Reader,
    /// The name of its file, without the extension.
    name: String,
    pub(super) bytes: u64,
    pub(super) mtime_ns: i64,
}

/// Returns the conversations of a project that changed, the oldest first, and removes what is known of those that are gone.
pub(super) fn changed(archive: &ChatArchive, project: Option<&SearchedProject>, state: &mut FindState) -> Result<Vec<ChangedChat>> {
    let (mut found, mut names) = (Vec::new(), HashSet::new());
    let mut verdicts: HashMap<Option<String>, bool> = HashMap::new();
    for (stem, chat) in archived(archive)? {
        let Some((host, name)) = stem.split_once('/').and_then(|(host, name)| Some((reader(host)?, name))) else { continue };
        let is_included = || {
            let session = SessionProject { host, dir: chat.project.as_deref().map(Path::new), transcript: Path::new(&chat.source) };
            project.is_none_or(|project| project.includes(session))
        };
        // Most conversations are held in a few directories, and looking one up reads files.
        let is_included = match &chat.project {
            Some(_) => *verdicts.entry(chat.project.clone()).or_insert_with(is_included),
            None => is_included(),
        };
        let path = archive.dir().join(format!("{stem}.md"));
        let Some(stamp) = walk::stamp(&path).filter(|_| is_included) else { continue };
        names.insert(format!("{host}/{name}"));
        found.push(ChangedChat { host, name: name.to_owned(), bytes: stamp.size, mtime_ns: stamp.mtime_ns });
    }
    state.retain(&|session| names.contains(session));
    let is_known = |chat: &ChangedChat| {
        let known = state.chats.get(&format!("{}/{}", chat.host, chat.name));
        known.is_some_and(|known| known.bytes == chat.bytes && known.mtime_ns == chat.mtime_ns)
    };
    found.retain(|chat| !is_known(chat));
    found.shared_sort_by(|a, b| a.mtime_ns.cmp(&b.mtime_ns).then_with(|| a.name.cmp(&b.name)));
    Ok(found)
}

/// Returns what the last sync knows about the archived conversations, or reads their headers.
fn archived(archive: &ChatArchive) -> Result<ArchivedChats> {
    if let Some(archived) = SyncState::load(archive.dir()).archived {
        return Ok(archived);
    }
    let listed = archive.list()?.chats;
    Ok(listed.iter().map(|file| (ChatArchive::file_stem(file.chat.host, &file.chat.key), ArchivedState::new(&file.chat))).collect())
}

/// Reads a conversation. Also returns the number of the person's messages that are answered: the last one may still be worked on.
pub(super) fn read(archive: &ChatArchive, changed: &ChangedChat) -> Result<Option<(SeenChat, u64)>> {
    let Some(header) = archive.header(&format!("{}/{}", changed.host, changed.name)) else { return Ok(None) };
    let Some((chat, sections)) = archive.read_typed(header.host, &header.key)? else { return Ok(None) };
    let calls = archive.evidence(&chat)?;
    let is_answered = sections.last().is_some_and(|section| section.speaker == Speaker::Assistant);
    let mut turns = Vec::new();
    for section in sections.into_iter().filter(|section| section.speaker == Speaker::User) {
        let cite = cite(changed, &section);
        turns.push(TypedTurn { number: turns.len() as u64 + 1, at: section.at, text: section.text, cite: Some(cite) });
    }
    let complete = if is_answered { turns.len() as u64 } else { (turns.len() as u64).saturating_sub(1) };
    let session = format!("{}/{}", changed.host, changed.name);
    let (is_scripted, scripts_look_alike) = (chat.progress.scripted, chat.host.scripts_look_alike);
    Ok(Some((SeenChat { session, project: chat.project, turns, calls, is_scripted, scripts_look_alike }, complete)))
}

/// Returns the citation of a turn, as searches name its lines.
fn cite(chat: &ChangedChat, section: &ChatSection) -> String {
    let part = if section.part == 0 { String::new() } else { format!("~{}", section.part) };
    format!("chats/{}/{}{part}.md:{}-{}", chat.host, chat.name, section.lines.0, section.lines.1)
}
