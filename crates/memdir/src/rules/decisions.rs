//! The person's decisions about rules: which texts may ask and deny, and which are ignored. Kept in memdir's home and never in a
//! memory, by the hash of the rule's text, so that a changed text has no decision. Only `memdir rules` writes them.

use crate::exit::Failure;
use jiff::Timestamp;
use memdir_core::{
    Version,
    internal::base::disk::{self, FileLock, LockWait, Replace},
};
use serde::{Deserialize, Serialize};
use std::{
    fs, io,
    io::Write as _,
    path::{Path, PathBuf},
};

/// What the person decided about a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Decision {
    /// The rule may do what its strength says.
    Accepted,
    /// The rule does nothing.
    Rejected,
}

/// All decisions.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Decisions {
    rules: Vec<DecidedRule>,
}

#[derive(Debug, Serialize, Deserialize)]
struct DecidedRule {
    /// The hash of the rule's conditions and body.
    text: String,
    decision: Decision,
    /// The name of the memory at the time, for people who read the file.
    name: String,
    at: Timestamp,
}

impl Decisions {
    /// Reads the decisions. Fails if the file is there and invalid.
    pub(crate) fn load(home: &Path) -> Result<Decisions, Failure> {
        let path = file(home);
        match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| Failure::Settings {
                message: format!("{}: {error}", path.display()),
                hint: "delete the file, then accept the rules again with: memdir rules accept NAME".into(),
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Decisions::default()),
            Err(source) => Err(Failure::File { doing: "read", path, source }),
        }
    }

    /// The decision about a text, if there is one.
    pub(crate) fn get(&self, text: Version) -> Option<Decision> {
        let text = text.to_string();
        self.rules.iter().find(|rule| rule.text == text).map(|rule| rule.decision)
    }

    /// Whether the person accepted an earlier text of the memory with this name.
    pub(crate) fn had_accepted(&self, name: &str) -> bool {
        self.rules.iter().any(|rule| rule.name == name && rule.decision == Decision::Accepted)
    }

    /// Records a decision about a text. It replaces an earlier one about the same text.
    pub(crate) fn record(home: &Path, name: &str, text: Version, decision: Decision, at: Timestamp) -> Result<(), Failure> {
        let path = file(home);
        let failed = |source| Failure::File { doing: "write", path: path.clone(), source };
        let _lock = FileLock::for_update(&path, LockWait::COMMAND).map_err(failed)?;
        let mut all = Decisions::load(home)?;
        let text = text.to_string();
        all.rules.retain(|rule| rule.text != text);
        all.rules.push(DecidedRule { text, decision, name: name.to_owned(), at });
        let bytes = serde_json::to_vec_pretty(&all).map_err(|error| failed(error.into()))?;
        disk::replace(&path, Replace::DURABLE, |file| file.write_all(&bytes)).map_err(failed)
    }
}

fn file(home: &Path) -> PathBuf {
    home.join("rules/decisions.json")
}
