//! Cues that were learned from use and wait for a decision. They are kept in one file per space, outside of every mount, and never
//! reach a memory, a search or a recall before they are accepted.

use crate::{
    base::{
        disk::{self, FileLock, LockWait, Replace},
        path::MemoryPath,
        text,
    },
    memory::Memory,
    search::{analysis::Analyser, query::Query},
    secrets,
    store::Store,
};
use serde::{Deserialize, Serialize};
use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// The maximum number of proposals of a space; beyond it the oldest are dropped.
const MAX_PROPOSALS: usize = 200;
/// The maximum number of proposals of one memory.
const MAX_PER_MEMORY: usize = 8;
/// Bytes of a proposed cue: a phrase, not a paragraph.
const MAX_BYTES: usize = 80;

/// Words with which a memory was searched for and not found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CueProposal {
    /// The name of the memory.
    pub name: String,
    /// The proposed cue.
    pub cue: String,
}

/// The proposals of one space.
#[derive(Debug, Clone)]
pub struct CueProposals {
    file: PathBuf,
}

impl CueProposals {
    /// The proposals that are kept in a file, which need not exist.
    pub fn new(file: impl Into<PathBuf>) -> Self {
        CueProposals { file: file.into() }
    }

    /// The file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The proposals, oldest first. Lines that cannot be read are skipped.
    pub fn list(&self) -> Vec<CueProposal> {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The proposals that can still be accepted: the memory exists, can be changed and does not have the cue.
    pub fn pending(&self, store: &dyn Store) -> Vec<CueProposal> {
        let is_pending = |proposal: &CueProposal| {
            let Ok(path) = MemoryPath::parse(&proposal.name) else { return false };
            let Ok(Some(stored)) = store.get(&path) else { return false };
            let (decoded, _) = text::decode(&stored.bytes);
            store.check_writable(&stored.path).is_ok() && !Memory::parse(&decoded).0.cues().contains(&proposal.cue)
        };
        let mut all = self.list();
        all.retain(is_pending);
        all
    }

    /// Proposes the words of a search as a cue of a memory. Best effort: a text with a secret, or one that cannot be stored, is not
    /// proposed.
    pub fn add(&self, name: &str, query: &str) {
        let Some(cue) = cue_from(query) else { return };
        let proposal = CueProposal { name: name.to_owned(), cue };
        let _ = self.update(LockWait::BEST_EFFORT, |all| {
            let own = all.iter().filter(|other| other.name == proposal.name).count();
            if all.contains(&proposal) || own >= MAX_PER_MEMORY {
                return;
            }
            all.push(proposal);
            let excess = all.len().saturating_sub(MAX_PROPOSALS);
            all.drain(..excess);
        });
    }

    /// Removes the proposals for which `is_settled` returns true.
    pub fn remove(&self, is_settled: impl Fn(&CueProposal) -> bool) -> io::Result<()> {
        if !self.file.exists() {
            return Ok(());
        }
        self.update(LockWait::Forever, |all| all.retain(|proposal| !is_settled(proposal)))
    }

    fn update(&self, wait: LockWait, change: impl FnOnce(&mut Vec<CueProposal>)) -> io::Result<()> {
        disk::create_private_dir(self.file.parent().unwrap_or(Path::new(".")))?;
        let _lock = FileLock::for_update(&self.file, wait)?;
        let before = self.list();
        let mut all = before.clone();
        change(&mut all);
        if all == before {
            return Ok(());
        }
        let lines: Result<Vec<String>, _> = all.iter().map(serde_json::to_string).collect();
        let text: String = lines?.into_iter().map(|line| line + "\n").collect();
        disk::replace(&self.file, Replace::DERIVED, |file| file.write_all(text.as_bytes()))
    }
}

/// The cue that a query becomes: one line without operators, cut at a word. `None` if it has no words, or may contain a secret.
fn cue_from(query: &str) -> Option<String> {
    if matches!(secrets::redact(query), std::borrow::Cow::Owned(_)) {
        return None;
    }
    let mut analyser = Analyser::default();
    let line = text::one_line(query).replace(char::is_control, "");
    let line = Query::parse(&line, &mut analyser).text;
    let cut = text::truncate_bytes(&line, MAX_BYTES);
    let cut = if cut.len() < line.len() { cut.rsplit_once(' ').map_or(cut, |(whole, _)| whole) } else { cut };
    let has_words = analyser.split_words(cut).iter().any(|word| !word.stop);
    has_words.then(|| cut.trim().to_owned())
}
