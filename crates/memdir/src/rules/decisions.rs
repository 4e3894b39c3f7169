//! The person's decisions about rules: which texts may ask and deny, and which are ignored. Kept in memdir's home and never in a
//! memory, by the directory of the mount and the hash of the rule's text: a changed text has no decision, and neither has the same text
//! in another repository. Only `memdir rules` writes them.

use crate::exit::Failure;
use jiff::Timestamp;
use memdir_core::{
    Memdir, MemoryPath, Version,
    internal::{
        base::disk::{self, FileLock, LockWait, Replace},
        project::{self, Worktrees},
        store::mounts::mount_of,
    },
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
pub(crate) struct RuleDecisions {
    rules: Vec<DecidedRule>,
}

#[derive(Debug, Serialize, Deserialize)]
struct DecidedRule {
    /// The hash of the rule's conditions and body.
    text: String,
    decision: Decision,
    /// The name of the memory at the time.
    name: String,
    /// The directory of its mount; empty in files of earlier versions.
    #[serde(default)]
    mount: PathBuf,
    at: Timestamp,
}

impl RuleDecisions {
    /// Reads the decisions. Fails if the file is there and invalid.
    pub(crate) fn load(home: &Path) -> Result<RuleDecisions, Failure> {
        let path = file(home);
        match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| Failure::Settings {
                message: format!("{}: {error}", path.display()),
                hint: "delete the file, then accept or reject the rules again; list them with: memdir rules".into(),
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(RuleDecisions::default()),
            Err(source) => Err(Failure::File { doing: "read", path, source }),
        }
    }

    /// The decision about the text of a memory, if there is one. A renamed memory keeps it; a copy has none.
    pub(crate) fn get(&self, memdir: &Memdir, path: &MemoryPath, text: Version) -> Option<Decision> {
        let (text, mount) = (text.to_string(), mount_dir(memdir, path));
        let is_here = |rule: &&DecidedRule| rule.text == text && rule.is_in(&mount, path);
        let same = self.rules.iter().find(|rule| is_here(rule) && rule.name == path.name());
        let is_gone = |rule: &&DecidedRule| {
            let old = MemoryPath::parse(&rule.name).ok();
            old.is_some_and(|old| matches!(memdir.store().get(&old), Ok(None)))
        };
        let renamed = || self.rules.iter().find(|rule| is_here(rule) && is_gone(rule));
        same.or_else(renamed).map(|rule| rule.decision)
    }

    /// Whether the person accepted an earlier text of this memory.
    pub(crate) fn had_accepted(&self, memdir: &Memdir, path: &MemoryPath) -> bool {
        let mount = mount_dir(memdir, path);
        self.rules.iter().any(|rule| rule.name == path.name() && rule.decision == Decision::Accepted && rule.is_in(&mount, path))
    }

    /// Records a decision about the text of a memory. It replaces an earlier one about the same text.
    pub(crate) fn record(
        home: &Path,
        memdir: &Memdir,
        memory: &MemoryPath,
        text: Version,
        decision: Decision,
        at: Timestamp,
    ) -> Result<(), Failure> {
        let path = file(home);
        let failed = |source| Failure::File { doing: "write", path: path.clone(), source };
        let _lock = FileLock::for_update(&path, LockWait::COMMAND).map_err(failed)?;
        let mut all = RuleDecisions::load(home)?;
        let (text, mount, name) = (text.to_string(), mount_dir(memdir, memory), memory.name().to_owned());
        all.rules.retain(|rule| rule.text != text || rule.name != name || !rule.is_in(&mount, memory));
        all.rules.push(DecidedRule { text, decision, name, mount, at });
        let bytes = serde_json::to_vec_pretty(&all).map_err(|error| failed(error.into()))?;
        disk::replace(&path, Replace::DURABLE, |file| file.write_all(&bytes)).map_err(failed)
    }
}

impl DecidedRule {
    /// Whether it was decided about a memory of this mount. Earlier versions did not record the mount: what they know about a rule of a
    /// team may be about another repository.
    fn is_in(&self, mount: &Path, path: &MemoryPath) -> bool {
        if self.mount.as_os_str().is_empty() { !path.is_under("team") } else { self.mount == mount }
    }
}

/// The directory of the mount that a memory is in. The worktrees of one repository have one memory of the team, so there it is the
/// directory in the repository.
fn mount_dir(memdir: &Memdir, path: &MemoryPath) -> PathBuf {
    let Some(root) = mount_of(memdir.store(), path).map(|mount| mount.root.clone()) else { return PathBuf::new() };
    let shared = || {
        let project = project::find(&root, Worktrees::Shared).ok()?;
        Some(project.git?.join(root.canonicalize().ok()?.strip_prefix(&project.checkout).ok()?))
    };
    if path.is_under("team") { shared().unwrap_or(root) } else { root }
}

fn file(home: &Path) -> PathBuf {
    home.join("rules/decisions.json")
}
