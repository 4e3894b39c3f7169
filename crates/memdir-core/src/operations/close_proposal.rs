//! Closes a proposed change without making it: a reviewer rejects it, or its author withdraws it.

use crate::{
    base::{
        error::{Error, Result},
        limits::REVIEW_REASON_BYTES,
    },
    operations::context::Context,
    store::{Change, ChangeId, Proposal, ProposalDecision, ProposalFilter, ProposalState, ProposalStore, Store},
};
use jiff::Timestamp;

/// A proposal that undo withdrew.
pub(crate) struct WithdrawnProposal {
    pub(crate) proposal: Proposal,
    /// Whether an earlier request with the same key did it.
    pub(crate) is_repeated: bool,
}

/// Withdraws the open proposal that an undo refers to: the one with this id, or the newest one of this actor and session if it is newer than
/// `change`. Returns it, or `None` if there is none.
pub(crate) fn withdraw_newest(
    store: &dyn Store,
    context: &Context,
    id: Option<&str>,
    change: Option<&Change>,
) -> Result<Option<WithdrawnProposal>> {
    let Some(proposals) = store.proposals() else { return Ok(None) };
    let filter = ProposalFilter { state: Some(ProposalState::Open), ..ProposalFilter::default() };
    let open = proposals.proposals(&context.actor, &filter)?;
    let is_requested = |proposal: &&Proposal| match id {
        Some(id) => proposal.id.0 == id.to_ascii_lowercase() && proposal.can_withdraw,
        None => proposal.author == context.actor && change.is_none_or(|change| change.at <= proposal.at),
    };
    let Some(proposal) = open.iter().find(is_requested) else { return Ok(None) };
    let decision = ProposalDecision { at: now(context)?, by: context.actor.name.clone(), reason: None };
    match proposals.close(proposal, ProposalState::Withdrawn, &decision, context.key.as_ref())? {
        Some(earlier) => repeated(proposals, context, earlier),
        None => {
            let proposal = Proposal { state: ProposalState::Withdrawn, decision: Some(decision), ..proposal.clone() };
            Ok(Some(WithdrawnProposal { proposal, is_repeated: false }))
        }
    }
}

/// Returns the proposal that an earlier request with the same key withdrew.
pub(crate) fn withdrawn_for_key(store: &dyn Store, context: &Context) -> Result<Option<WithdrawnProposal>> {
    let (Some(proposals), Some(key)) = (store.proposals(), &context.key) else { return Ok(None) };
    match proposals.withdrawn_for_key(key)? {
        Some(id) => repeated(proposals, context, id),
        None => Ok(None),
    }
}

fn repeated(proposals: &dyn ProposalStore, context: &Context, id: ChangeId) -> Result<Option<WithdrawnProposal>> {
    let shown = id.to_string();
    let found = proposals.proposals(&context.actor, &ProposalFilter { id: Some(id), ..ProposalFilter::default() })?.pop();
    // Decided proposals are removed after some time.
    let proposal = found.ok_or(Error::Repeated { change: shown })?;
    Ok(Some(WithdrawnProposal { proposal, is_repeated: true }))
}

/// The time of a decision, as precise as it is stored: a repeated request has the same answer.
fn now(context: &Context) -> Result<Timestamp> {
    let now = context.clock.now();
    Timestamp::from_millisecond(now.as_millisecond()).map_err(|error| Error::bad_input("time", error.to_string()))
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
    if let Some(size) = reason.map(str::len).filter(|size| *size > REVIEW_REASON_BYTES) {
        return Err(Error::ReasonTooLong { size: size as u64, limit: REVIEW_REASON_BYTES as u64 });
    }
    let reason = reason.map(|reason| reason.replace('\0', "\u{fffd}"));
    let decision = ProposalDecision { at: now(context)?, by: context.actor.name.clone(), reason };
    proposals.close(proposal, state, &decision, None)?;
    Ok(Proposal { state, decision: Some(decision), ..proposal.clone() })
}
