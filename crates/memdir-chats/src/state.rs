//! What syncing remembers so that unchanged sessions cost a look at their file's stamp and nothing more. Derived: it
//! may be deleted at any time, the kept files tell how far each session was read.

use super::keep::{Lasting, put};
use jiff::Timestamp;
use memdir_core::{base::error::Result, store::Stamp};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fs, path::Path};

/// The form of this file; another one is as good as none.
const FORM: u32 = 1;

/// What is known of sources and sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    form: u32,
    /// The settings it was made under, as a hash.
    #[serde(default)]
    pub(super) settings: String,
    /// When old chats were last looked for.
    #[serde(default)]
    pub(super) swept: Option<Timestamp>,
    /// Sources' own stamps, by host.
    #[serde(default)]
    pub(super) sources: BTreeMap<String, String>,
    /// Sessions by `host/key`.
    #[serde(default)]
    pub(super) sessions: BTreeMap<String, Known>,
}

/// What is known of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Known {
    pub(super) stamp: Stamp,
    /// The directory it was held in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) project: Option<String>,
    /// It belongs to a project that was turned off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) off: bool,
}

impl State {
    /// The state in a directory, or an empty one.
    pub(super) fn load(dir: &Path) -> State {
        let read = || serde_json::from_slice::<State>(&fs::read(dir.join(NAME)).ok()?).ok();
        read().filter(|state| state.form == FORM).unwrap_or_else(|| State { form: FORM, ..State::default() })
    }

    /// Writes it.
    pub(super) fn save(&self, dir: &Path) -> Result<()> {
        let text = serde_json::to_vec(self).unwrap_or_default();
        put(&dir.join(NAME), Lasting::No, &mut |out| out.write_all(&text))
    }
}

const NAME: &str = ".state.json";
