//! A candidate: a memory that is proposed because of what happened in conversations. Pure; the inbox stores it.

use crate::memory::Kind;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A proposed memory with its evidence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    /// Why it is proposed.
    pub kind: CandidateKind,
    /// The proposed name, without `inbox/`: `feedback/no-force-push`.
    pub name: String,
    /// The proposed type.
    #[serde(rename = "type")]
    pub memory_type: Kind,
    /// The proposed description, on one line.
    pub description: String,
    /// The proposed text, without frontmatter.
    pub text: String,
    /// The proposed tripwires, by the keys of `when:`, if an action is involved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<Map<String, Value>>,
    /// What the person typed, verbatim but for redacted secrets; empty for candidates without words of a person.
    pub words: String,
    /// The cited turns: `chats/claude-code-1f2e.md:12-14`. Empty if the conversation is not archived.
    pub turns: Vec<String>,
    /// The conversations it comes from: `claude-code/1f2e…`.
    pub sessions: Vec<String>,
    /// When the newest evidence happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The hash of the evidence. A candidate that was decided about never comes back under the same key.
    pub key: String,
    /// Other keys that the same evidence had, or would have, with other conversations at hand. A decision under one of them counts too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_keys: Vec<String>,
    /// How strong the evidence is, from 0 to 1. The weakest candidates leave a full inbox first.
    pub weight: f32,
}

impl Candidate {
    /// All keys of its evidence, the own one first.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.key.as_str()).chain(self.other_keys.iter().map(String::as_str))
    }
}

/// Why a candidate is proposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CandidateKind {
    /// The person asked to remember it, and nothing was saved in that conversation.
    Remember,
    /// The person rejected or interrupted an action.
    Denied,
    /// The person typed it in several conversations.
    Repeat,
    /// A command failed and another invocation of the same program succeeded, in several conversations.
    Scar,
    /// An edit was undone.
    Reverted,
    /// A rule was violated twice: a higher strength is proposed.
    Violated,
    /// A rule has not fired in 90 days: its removal is proposed.
    Unused,
}

impl CandidateKind {
    /// All of them.
    pub const ALL: [CandidateKind; 7] = [
        CandidateKind::Remember,
        CandidateKind::Denied,
        CandidateKind::Repeat,
        CandidateKind::Scar,
        CandidateKind::Reverted,
        CandidateKind::Violated,
        CandidateKind::Unused,
    ];

    /// The word in the frontmatter and in the settings.
    pub fn as_str(self) -> &'static str {
        match self {
            CandidateKind::Remember => "remember",
            CandidateKind::Denied => "denied",
            CandidateKind::Repeat => "repeat",
            CandidateKind::Scar => "scar",
            CandidateKind::Reverted => "reverted",
            CandidateKind::Violated => "violated",
            CandidateKind::Unused => "unused",
        }
    }

    /// Whether it proposes to change or remove an existing memory, by its name, rather than a new one.
    pub fn changes_memory(self) -> bool {
        matches!(self, CandidateKind::Violated | CandidateKind::Unused)
    }
}
