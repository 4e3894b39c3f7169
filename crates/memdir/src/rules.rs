//! Rules in hooks: what a rule that matches an action may do to it. Memories never decide that alone: the person's decisions are in
//! [`RuleDecisions`], and what a conversation was already held for is in [`Conversation`].

mod conversation;
mod decisions;
mod proposals;

pub(crate) use conversation::{Conversation, FiredTripwire, OpenConversation, holds_again};
pub(crate) use decisions::{Decision, RuleDecisions};
pub(crate) use proposals::propose_rule_changes;

use memdir_core::Strength;

/// What a rule does to an action at most, or `None` if the person rejected it. Without the person's decision, a rule can hold an action
/// but neither ask nor deny.
pub(crate) fn effect(strength: Strength, decision: Option<Decision>) -> Option<Strength> {
    match decision {
        Some(Decision::Rejected) => None,
        Some(Decision::Accepted) => Some(strength),
        None => Some(strength.min(Strength::Hold)),
    }
}
