//! Closes a proposed change without making it: a reviewer rejects it, or its author withdraws it.

use crate::{
    base::{
        error::{Error, Result},
        limits,
    },
    operations::context::Context,
    store::{Change, Proposal, ProposalDecision, ProposalFilter, ProposalState, ProposalStore, Store},
};

/// Withdraws the open proposal that undo means: the one with this id, or the newest one of this actor and session if it is newer than
/// `change`. Returns it, or `None` if there is none.
pub(crate) fn withdraw_newest(store: &dyn Store, context: &Context, id: Option<&str>, change: Option<&Change>) -> Result<Option<Proposal>> {
    let Some(proposals) = store.proposals() else { return Ok(None) };
    let filter = ProposalFilter { state: Some(ProposalState::Open), ..ProposalFilter::default() };
    let open = proposals.proposals(&context.actor, &filter)?;
    let is_meant = |proposal: &&Proposal| match id {
        Some(id) => proposal.id.0 == id.to_ascii_lowercase() && proposal.can_withdraw,
        None => proposal.author == context.actor && change.is_none_or(|change| change.at <= proposal.at),
    };
    match open.iter().find(is_meant) {
        // A repeated request would withdraw or undo the next one.
        Some(proposal) if id.is_none() && context.key.is_some() => {
            let why = format!("your last change is waiting for review as proposal {0}; to withdraw it, pass {0} to undo", proposal.id);
            Err(Error::Review { why })
        }
        Some(proposal) => close(proposals, context, proposal, ProposalState::Withdrawn, None).map(Some),
        None => Ok(None),
    }
}

/// Rejects or withdraws a proposal.
pub(crate) fn close(
    proposals: &dyn ProposalStore,
    context: &Context,
    proposal: &Proposal,
    state: ProposalState,
    reason: Option<&str>,
) -> Result<Proposal> {
    let reason = reason.map(str::trim).filter(|reason| !reason.is_empty());
    if let Some(size) = reason.map(str::len).filter(|size| *size > limits::REVIEW_REASON_BYTES) {
        return Err(Error::TooLarge { what: "reason".into(), size: size as u64, limit: limits::REVIEW_REASON_BYTES as u64 });
    }
    let reason = reason.map(|reason| reason.replace('\0', "\u{fffd}"));
    let decision = ProposalDecision { at: context.clock.now(), by: context.actor.name.clone(), reason };
    proposals.close(proposal, state, &decision)?;
    Ok(Proposal { state, decision: Some(decision), ..proposal.clone() })
}
