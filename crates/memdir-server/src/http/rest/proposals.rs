//! Proposals: changes that are waiting for review. Lists them, shows one with its diff, and accepts, rejects or withdraws one.

use super::{
    problem::Problem,
    proposal_object::{ProposalObject, ProposalStateName},
    route::{NoBody, NoQuery, RestCall, RestOperation, RestReply, RouteInfo},
    types::{ListLimit, list_limit},
};
use crate::call::CallKind;
use axum::http::{Method, StatusCode};
use memdir_core::{Error, ProposalState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which proposals.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ProposalsQuery {
    /// Only proposals in this state. Default: all states.
    state: Option<ProposalStateName>,
    /// Maximum number of proposals. Default: 100.
    limit: Option<ListLimit>,
}

/// Proposals.
#[derive(Serialize, JsonSchema)]
pub(super) struct ProposalPage {
    /// The proposals, newest first: your own, and those you may review.
    data: Vec<ProposalObject>,
    /// Whether there are older ones.
    has_more: bool,
    /// Your projects, if you have several and the request selects none: list the proposals of each with `Memdir-Project`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    projects: Vec<String>,
}

pub(super) struct ListProposals;

impl RestOperation for ListProposals {
    const ROUTE: RouteInfo = RouteInfo {
        method: Method::GET,
        path: "/v1/proposals",
        id: "list_proposals",
        summary: "List open and decided proposals",
        tool: "memory_read",
        kind: CallKind::Read,
        success: &[(StatusCode::OK, "The proposals, newest first")],
        headers: &[],
    };
    type Query = ProposalsQuery;
    type Body = NoBody;
    type Reply = ProposalPage;

    fn run(call: &RestCall, query: ProposalsQuery, _: NoBody) -> Result<RestReply<ProposalPage>, Problem> {
        let limit = list_limit(query.limit);
        let mut proposals = call.memdir.proposals(query.state.map(ProposalState::from), limit + 1)?;
        let has_more = proposals.len() > limit;
        proposals.truncate(limit);
        Ok(RestReply::ok(ProposalPage {
            data: proposals.iter().map(ProposalObject::from).collect(),
            has_more,
            projects: call.projects.clone(),
        }))
    }
}

pub(super) struct GetProposal;

impl RestOperation for GetProposal {
    const ROUTE: RouteInfo = RouteInfo {
        method: Method::GET,
        path: "/v1/proposals/{proposal_id}",
        id: "get_proposal",
        summary: "Get a proposal with its diff",
        tool: "memory_read",
        kind: CallKind::Read,
        success: &[(StatusCode::OK, "The proposal")],
        headers: &[],
    };
    type Query = NoQuery;
    type Body = NoBody;
    type Reply = ProposalObject;

    fn run(call: &RestCall, _: NoQuery, _: NoBody) -> Result<RestReply<ProposalObject>, Problem> {
        Ok(RestReply::ok(ProposalObject::from(&call.memdir.proposal(&call.parameter)?)))
    }
}

/// The decision.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DecisionBody {
    /// What to do with the proposal.
    decision: DecisionName,
    /// Why it is rejected.
    reason: Option<String>,
}

/// What to do with a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum DecisionName {
    /// Makes the change. For reviewers.
    Accept,
    /// Closes the proposal without making the change. For reviewers.
    Reject,
    /// Closes one of your own proposals.
    Withdraw,
}

pub(super) struct DecideProposal;

impl RestOperation for DecideProposal {
    const ROUTE: RouteInfo = RouteInfo {
        method: Method::POST,
        path: "/v1/proposals/{proposal_id}",
        id: "decide_proposal",
        summary: "Accept, reject or withdraw a proposal",
        tool: "memory_write",
        kind: CallKind::Write,
        success: &[(StatusCode::OK, "The proposal after the decision")],
        headers: &[],
    };
    type Query = NoQuery;
    type Body = DecisionBody;
    type Reply = ProposalObject;

    fn run(call: &RestCall, _: NoQuery, body: DecisionBody) -> Result<RestReply<ProposalObject>, Problem> {
        let (memdir, id) = (&call.memdir, call.parameter.as_str());
        if body.decision != DecisionName::Reject && body.reason.is_some() {
            return Err(Error::bad_input("reason", "it is allowed only with a rejection; omit it").into());
        }
        match body.decision {
            DecisionName::Accept => drop(memdir.accept_proposal(id)?),
            DecisionName::Reject => drop(memdir.reject_proposal(id, body.reason.as_deref())?),
            DecisionName::Withdraw => drop(memdir.withdraw_proposal(id)?),
        }
        Ok(RestReply::ok(ProposalObject::from(&memdir.proposal(id)?)))
    }
}
