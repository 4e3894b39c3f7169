//! What the search for candidates remembers: how far each conversation was read, and what can become evidence together with a later
//! conversation. Derived: it may be deleted at any time, and then all conversations are read again.

use super::{repeat::SentenceSeen, scar::ScarSeen};
use crate::{
    archive::{CANDIDATES_DIR, ChatArchive, put},
    selection::SearchedProject,
};
use memdir_core::{Result, internal::base::disk::Durability};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, HashSet},
    fs,
    path::PathBuf,
};

/// The version of the file format and of the detectors; a file of another version is ignored.
const FORM: u32 = 3;

/// The number of observations that are kept of each kind; the oldest are dropped first.
const MAX_SEEN: usize = 20_000;

/// What was read of the conversations of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct FindState {
    form: u32,
    #[serde(skip)]
    name: String,
    /// Conversations by `host/file`.
    pub(super) chats: BTreeMap<String, ChatMark>,
    pub(super) sentences: Vec<SentenceSeen>,
    pub(super) scars: Vec<ScarSeen>,
    /// Digests of invocations that succeeded.
    succeeded: Vec<u64>,
}

/// How far a conversation was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ChatMark {
    /// The size and the modification time of its file.
    pub(super) bytes: u64,
    pub(super) mtime_ns: i64,
    /// The number of the person's messages that were looked at.
    pub(super) turns: u64,
}

impl FindState {
    /// Reads the state of a project, or returns an empty one.
    pub(super) fn load(archive: &ChatArchive, project: Option<&SearchedProject>) -> FindState {
        let id = project.map_or("all", |project| project.project.id.as_str());
        let name = blake3::hash(id.as_bytes()).to_hex()[..16].to_owned();
        let read = || serde_json::from_slice::<FindState>(&fs::read(path(archive, &name)).ok()?).ok();
        let state = read().filter(|state| state.form == FORM).unwrap_or_default();
        FindState { form: FORM, name, ..state }
    }

    /// Writes the state.
    pub(super) fn save(&self, archive: &ChatArchive) -> Result<()> {
        let text = serde_json::to_vec(self).unwrap_or_default();
        put(&path(archive, &self.name), Durability::None, &mut |out| out.write_all(&text))
    }

    /// Removes what is known of conversations that are no longer archived.
    pub(super) fn retain(&mut self, is_archived: &dyn Fn(&str) -> bool) {
        self.chats.retain(|session, _| is_archived(session));
        self.sentences.retain(|seen| is_archived(&seen.session));
        self.scars.retain(|seen| is_archived(&seen.session));
    }

    /// Removes the scars of a conversation. Only one that was read before has some: looking through all of them for each new
    /// conversation would take quadratic time.
    pub(super) fn forget_scars(&mut self, session: &str) {
        if self.chats.contains_key(session) {
            self.scars.retain(|seen| seen.session != session);
        }
    }

    /// Records how far a conversation was read.
    pub(super) fn mark(&mut self, session: &str, mark: ChatMark) {
        self.chats.insert(session.to_owned(), mark);
        if self.scars.len() > MAX_SEEN {
            self.scars.drain(..self.scars.len() - MAX_SEEN);
        }
    }

    /// Adds the digests of invocations that succeeded.
    pub(super) fn add_succeeded(&mut self, digests: HashSet<u64>) {
        let mut digests: Vec<u64> = digests.into_iter().collect();
        digests.sort_unstable();
        self.succeeded.extend(digests);
        if self.succeeded.len() > 2 * MAX_SEEN {
            let mut seen = HashSet::new();
            self.succeeded.retain(|digest| seen.insert(*digest));
            self.succeeded.drain(..self.succeeded.len().saturating_sub(MAX_SEEN));
        }
    }

    /// Returns the digests of invocations that succeeded.
    pub(super) fn succeeded_set(&self) -> HashSet<u64> {
        self.succeeded.iter().copied().collect()
    }
}

fn path(archive: &ChatArchive, name: &str) -> PathBuf {
    archive.dir().join(CANDIDATES_DIR).join(format!("{name}.json"))
}
