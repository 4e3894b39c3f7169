//! What a sync remembers so that unchanged sessions cost only a comparison of stamps. Derived: it may be deleted at any time, because
//! the archived files record how far each session was read.

use crate::archive::{ArchivedChat, put};
use jiff::Timestamp;
use memdir_core::{Result, Stamp, internal::base::disk::Durability};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fs, path::Path};

/// The version of the file format and of the readers; a file of another version is ignored, so that transcripts in which an older
/// version found nothing are read again.
const FORM: u32 = 2;

/// The state of all sources and sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SyncState {
    form: u32,
    /// The hash of the settings it was written with.
    #[serde(default)]
    pub(super) settings: String,
    /// When the retention limits were last applied.
    #[serde(default)]
    pub(super) swept: Option<Timestamp>,
    /// The stamps of sources, by host.
    #[serde(default)]
    pub(super) sources: BTreeMap<String, String>,
    /// Sessions by `host/key`.
    #[serde(default)]
    pub(super) sessions: BTreeMap<String, ReadState>,
    /// What searches need to know about the archived conversations, by the names of their files; `None` if it has to be read from
    /// these files.
    #[serde(default)]
    pub(super) archived: Option<ArchivedChats>,
}

/// Archived conversations by `host/file`, without the extension.
pub(super) type ArchivedChats = BTreeMap<String, ArchivedState>;

/// What searches need to know about an archived conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ArchivedState {
    /// The working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) project: Option<String>,
    /// The transcript.
    pub(super) source: String,
    /// The time of the last turn, if that is not the end of an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) unanswered: Option<Timestamp>,
}

impl ArchivedState {
    /// Returns what the header of an archived conversation says.
    pub(super) fn new(chat: &ArchivedChat) -> ArchivedState {
        let unanswered = chat.updated.filter(|_| chat.progress.is_unanswered());
        ArchivedState { project: chat.project.clone(), source: chat.source.clone(), unanswered }
    }
}

/// The state of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ReadState {
    pub(super) stamp: Stamp,
    /// The working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) project: Option<String>,
    /// Whether it belongs to a project that is turned off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) off: bool,
    /// Whether no turn was found in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) empty: bool,
    /// Whether its tool calls are archived, or cannot be.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) has_calls: bool,
}

impl SyncState {
    /// Reads the state in a directory, or returns an empty one.
    pub(super) fn load(dir: &Path) -> SyncState {
        let read = || serde_json::from_slice::<SyncState>(&fs::read(dir.join(NAME)).ok()?).ok();
        read().filter(|state| state.form == FORM).unwrap_or_else(|| SyncState { form: FORM, ..SyncState::default() })
    }

    /// Returns the sessions of a host.
    pub(super) fn of_host(&self, host: &str) -> impl Iterator<Item = &ReadState> {
        let prefix = format!("{host}/");
        let rest = self.sessions.range(prefix.clone()..);
        rest.take_while(move |(name, _)| name.starts_with(&prefix)).map(|(_, session)| session)
    }

    /// Writes the state.
    pub(super) fn save(&self, dir: &Path) -> Result<()> {
        let text = serde_json::to_vec(self).unwrap_or_default();
        put(&dir.join(NAME), Durability::None, &mut |out| out.write_all(&text))
    }
}

const NAME: &str = ".state.json";
