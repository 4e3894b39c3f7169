//! A proposal as the REST API shows it.

use super::model::{ActorObject, to_text};
use memdir_core::{Proposal, ProposalReading, ProposalState, Role, internal::operations::undo};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A change that is waiting for review, or that was decided.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ProposalObject {
    /// Always `proposal`.
    #[serde(rename = "type")]
    kind: ProposalType,
    /// The id, which is also that of the change once it is accepted.
    id: String,
    /// The state of the proposal.
    state: ProposalStateName,
    /// What it would do: `write`, `append`, `edit`, `rename`, `delete`, `undo`, …
    verb: String,
    /// What it would do, in a few words: `rename notes/a to notes/b`.
    summary: String,
    /// When it was proposed.
    created_at: String,
    /// Who proposed it.
    created_by: ActorObject,
    /// The change that it would undo or redo.
    #[serde(skip_serializing_if = "Option::is_none")]
    undoes: Option<String>,
    /// The memories that it would change.
    memories: Vec<ProposedMemory>,
    /// When it was decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_at: Option<String>,
    /// The reviewer, or the author who withdrew it.
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_by: Option<String>,
    /// The reason for the decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Whether you may accept or reject it.
    can_decide: bool,
    /// Whether you may withdraw it.
    can_withdraw: bool,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ProposalType {
    Proposal,
}

/// The state of a proposal.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ProposalStateName {
    /// It is waiting for a decision.
    Open,
    /// A reviewer accepted it: the change was made.
    Accepted,
    /// A reviewer rejected it.
    Rejected,
    /// Its author withdrew it.
    Withdrawn,
}

/// A memory that a proposal would change.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct ProposedMemory {
    /// The path of the memory.
    path: String,
    /// The proposed version; null if it would be deleted.
    memory_version_id: Option<String>,
    /// The version that the author changed; null if it would be created.
    previous_memory_version_id: Option<String>,
    /// What would change, as a unified diff. Absent in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
    /// What the lines of the diff do not show, such as bytes that are not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// Whether the memory was changed since, so that the proposal cannot be accepted. Absent in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_outdated: Option<bool>,
}

impl From<ProposalState> for ProposalStateName {
    fn from(state: ProposalState) -> Self {
        match state {
            ProposalState::Open => ProposalStateName::Open,
            ProposalState::Accepted => ProposalStateName::Accepted,
            ProposalState::Rejected => ProposalStateName::Rejected,
            ProposalState::Withdrawn => ProposalStateName::Withdrawn,
        }
    }
}

impl From<ProposalStateName> for ProposalState {
    fn from(state: ProposalStateName) -> Self {
        match state {
            ProposalStateName::Open => ProposalState::Open,
            ProposalStateName::Accepted => ProposalState::Accepted,
            ProposalStateName::Rejected => ProposalState::Rejected,
            ProposalStateName::Withdrawn => ProposalState::Withdrawn,
        }
    }
}

impl From<&Proposal> for ProposalObject {
    fn from(proposal: &Proposal) -> Self {
        let has_memories = proposal.files.iter().any(|file| file.role == Role::Memory);
        let memories = proposal.files.iter().filter(|file| file.role == Role::Memory || !has_memories).map(|file| ProposedMemory {
            path: file.path.to_string(),
            memory_version_id: file.after.map(|version| version.to_string()),
            previous_memory_version_id: file.before.map(|version| version.to_string()),
            diff: None,
            note: None,
            is_outdated: None,
        });
        let decision = proposal.decision.as_ref();
        ProposalObject {
            kind: ProposalType::Proposal,
            id: proposal.id.to_string(),
            state: proposal.state.into(),
            verb: to_text(&proposal.verb),
            summary: undo::describe_infinitive(&proposal.to_change()),
            created_at: proposal.at.to_string(),
            created_by: (&proposal.author).into(),
            undoes: proposal.undoes.as_ref().map(ToString::to_string),
            memories: memories.collect(),
            decided_at: decision.map(|decision| decision.at.to_string()),
            decided_by: decision.map(|decision| decision.by.clone()),
            reason: decision.and_then(|decision| decision.reason.clone()),
            can_decide: proposal.can_decide,
            can_withdraw: proposal.can_withdraw,
        }
    }
}

impl From<&ProposalReading> for ProposalObject {
    fn from(reading: &ProposalReading) -> Self {
        let mut object = ProposalObject::from(&reading.proposal);
        for memory in &mut object.memories {
            let found = reading.diffs.iter().find(|diff| diff.path.as_str() == memory.path);
            memory.diff = found.map(|found| found.diff.clone());
            memory.note = found.and_then(|found| found.note.clone());
            memory.is_outdated = found.map(|found| found.is_outdated);
        }
        object
    }
}
