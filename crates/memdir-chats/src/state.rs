//! What a sync remembers so that unchanged sessions cost only a comparison of stamps. Derived: it may be deleted at any time, because
//! the archived files record how far each session was read.

use crate::archive::{Lasting, put};
use jiff::Timestamp;
use memdir_core::{Result, Stamp};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fs, path::Path};

/// The version of the file format; a file of another version is ignored.
const FORM: u32 = 1;

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
    pub(super) sessions: BTreeMap<String, SessionState>,
}

/// The state of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SessionState {
    pub(super) stamp: Stamp,
    /// The working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) project: Option<String>,
    /// Whether it belongs to a project that is turned off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) off: bool,
}

impl SyncState {
    /// Reads the state in a directory, or returns an empty one.
    pub(super) fn load(dir: &Path) -> SyncState {
        let read = || serde_json::from_slice::<SyncState>(&fs::read(dir.join(NAME)).ok()?).ok();
        read().filter(|state| state.form == FORM).unwrap_or_else(|| SyncState { form: FORM, ..SyncState::default() })
    }

    /// Writes the state.
    pub(super) fn save(&self, dir: &Path) -> Result<()> {
        let text = serde_json::to_vec(self).unwrap_or_default();
        put(&dir.join(NAME), Lasting::No, &mut |out| out.write_all(&text))
    }
}

const NAME: &str = ".state.json";
