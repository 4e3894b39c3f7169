//! Proposed changes. In a namespace under review, a change of a caller who is not a reviewer is stored beside the memories and waits for a
//! decision. The id of a proposal is the id of the change that its acceptance makes.

use super::{Actor, Change, ChangeId, FileChange, IdempotencyKey, Plan, Role, Verb};
use crate::base::{error::Result, path::MemoryPath, version::Version};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A change that is waiting for a decision, or that was decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Proposal {
    /// The id, which is also that of the change if it is accepted.
    pub id: ChangeId,
    /// When it was proposed.
    pub at: Timestamp,
    /// Who proposed it.
    pub author: Actor,
    /// The kind of change.
    pub verb: Verb,
    /// The change it would undo or redo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undoes: Option<ChangeId>,
    /// The files it would change.
    pub files: Vec<ProposedFile>,
    /// The state of the proposal.
    pub state: ProposalState,
    /// The decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<ProposalDecision>,
    /// Whether the caller may accept or reject it.
    pub can_decide: bool,
    /// Whether the caller may withdraw it.
    pub can_withdraw: bool,
}

impl Proposal {
    /// Returns the change that an acceptance makes.
    pub fn to_change(&self) -> Change {
        let file = |file: &ProposedFile| FileChange { path: file.path.clone(), role: file.role, before: file.before, after: file.after };
        Change {
            id: self.id.clone(),
            at: self.at,
            actor: self.author.clone(),
            verb: self.verb,
            undoes: self.undoes.clone(),
            reviewer: None,
            files: self.files.iter().map(file).collect(),
            elsewhere: Vec::new(),
            incomplete: false,
            after_damage: false,
        }
    }
}

/// How a proposal would change one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProposedFile {
    /// The file.
    pub path: MemoryPath,
    /// The role of the file in the change.
    pub role: Role,
    /// The version that the author changed; `None` if the file did not exist.
    pub before: Option<Version>,
    /// The proposed version; `None` if the file would be removed.
    pub after: Option<Version>,
    /// The proposed content. `None` if the file would be removed, in lists, and if the text is no longer stored.
    #[serde(skip)]
    pub bytes: Option<Vec<u8>>,
}

/// The state of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProposalState {
    /// It waits for a decision.
    Open,
    /// A reviewer accepted it: the change was made.
    Accepted,
    /// A reviewer rejected it.
    Rejected,
    /// Its author withdrew it.
    Withdrawn,
}

impl ProposalState {
    /// All states.
    pub const ALL: [ProposalState; 4] = [ProposalState::Open, ProposalState::Accepted, ProposalState::Rejected, ProposalState::Withdrawn];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            ProposalState::Open => "open",
            ProposalState::Accepted => "accepted",
            ProposalState::Rejected => "rejected",
            ProposalState::Withdrawn => "withdrawn",
        }
    }

    /// Returns the state of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// A decision about a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProposalDecision {
    /// When.
    pub at: Timestamp,
    /// Who: a reviewer, or the author who withdrew it.
    pub by: String,
    /// The reason, if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Which proposals to return.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProposalFilter {
    /// Only the one with this id.
    pub id: Option<ChangeId>,
    /// Only those in this state.
    pub state: Option<ProposalState>,
    /// Maximum number; 0 means all.
    pub most: usize,
    /// Whether the proposed texts are returned too.
    pub with_texts: bool,
}

/// The proposals of a store. A caller sees those in namespaces that it reviews, and its own.
pub trait ProposalStore {
    /// Returns the proposals that match a filter and that the caller may see, newest first.
    fn proposals(&self, caller: &Actor, filter: &ProposalFilter) -> Result<Vec<Proposal>>;

    /// Makes the proposed change, for its author and with its id, and records the decision in the same transaction. Fails if the proposal
    /// is not open any more, if the caller is not a reviewer, or if the plan fails; then it stays open and nothing is changed.
    fn accept(&self, proposal: &Proposal, reviewer: &Actor, at: Timestamp, plan: &mut Plan<'_>) -> Result<Change>;

    /// Rejects or withdraws an open proposal. Fails if it is not open any more. With a key, it is done once: returns the id of the proposal
    /// that an earlier request with the same key withdrew.
    fn close(
        &self,
        proposal: &Proposal,
        state: ProposalState,
        decision: &ProposalDecision,
        key: Option<&IdempotencyKey>,
    ) -> Result<Option<ChangeId>>;

    /// Returns the id of the proposal that an earlier request with this key withdrew.
    fn withdrawn_for_key(&self, key: &IdempotencyKey) -> Result<Option<ChangeId>>;

    /// Returns a value that changes when a proposal that the caller may see is made or decided, of letters, digits and hyphens.
    fn mark(&self, caller: &Actor) -> Result<String>;

    /// Whether a mount of the space is under review, or has open proposals that the caller may see.
    fn has_reviews(&self, caller: &Actor) -> Result<bool>;
}
