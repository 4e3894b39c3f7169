//! The review queue: changes that are waiting for a decision, with their diffs and the buttons that decide.

use crate::page::{
    layout, lines,
    params::Params,
    reply::{Page, Reply, ViewContext},
};
use maud::{Markup, html};
use memdir_core::{Proposal, ProposalReading, ProposalState, Result, internal::operations::undo};

/// Proposals of one kind on the page.
const MOST: usize = 100;
/// Memories of one proposal whose diffs are shown.
const MAX_FILES: usize = 50;
/// The longest reason, in characters.
const REASON_CHARS: usize = 1_000;

/// Shows the open proposals, and those that were decided lately.
pub(in crate::page) fn show(context: &ViewContext<'_>, _: &str, _: &Params) -> Result<Reply> {
    let memdir = &context.space.memdir;
    let open = memdir.proposals(Some(ProposalState::Open), MOST)?;
    let decided: Vec<Proposal> =
        memdir.proposals(None, 2 * MOST)?.into_iter().filter(|proposal| proposal.state != ProposalState::Open).take(MOST).collect();
    let (to_decide, own): (Vec<&Proposal>, Vec<&Proposal>) = open.iter().partition(|proposal| proposal.can_decide);
    let body = html! {
        h1 { "Review" }
        h2 { "Waiting for your decision" }
        @if to_decide.is_empty() { p { "Nothing is waiting for your decision." } }
        (proposal_list(context, &to_decide))
        @if !own.is_empty() {
            h2 { "Your proposals" }
            (proposal_list(context, &own))
        }
        @if !decided.is_empty() {
            h2 { "Decided proposals" }
            (proposal_list(context, &decided.iter().collect::<Vec<_>>()))
        }
    };
    Ok(Page::reply("Review", "/review", body))
}

fn proposal_list(context: &ViewContext<'_>, proposals: &[&Proposal]) -> Markup {
    html! {
        @if !proposals.is_empty() {
            ol.changes {
                @for proposal in proposals {
                    li data-row { div {
                        a.name href=(context.url(&format!("/review/{}", proposal.id))) { (undo::describe_infinitive(&proposal.to_change())) }
                        @if proposal.state != ProposalState::Open { span.tag { (proposal.state.name()) } }
                        (byline(context, proposal))
                    } }
                }
            }
        }
    }
}

fn byline(context: &ViewContext<'_>, proposal: &Proposal) -> Markup {
    html! {
        p.quiet {
            (proposal.author.name) " · " (layout::when(context, proposal.at)) " · " code { (proposal.id.to_string()) }
            @if let Some(decision) = &proposal.decision {
                " · " (proposal.state.name()) " by " (decision.by)
                @if let Some(reason) = &decision.reason { ": " (reason) }
            }
        }
    }
}

/// Shows one proposal with its diffs.
pub(in crate::page) fn show_one(context: &ViewContext<'_>, id: &str, _: &Params) -> Result<Reply> {
    let ProposalReading { proposal, what, diffs } = context.space.memdir.proposal(id)?;
    let is_outdated = diffs.iter().any(|diff| diff.is_outdated);
    let body = html! {
        h1 { (what) }
        (byline(context, &proposal))
        @if proposal.state == ProposalState::Accepted {
            p { a href=(context.url(&format!("/change/{}", proposal.id))) { "View the change" } }
        }
        @if is_outdated {
            p.error role="alert" {
                "A memory has changed since this proposal was made, so the proposal cannot be accepted. "
                @if proposal.can_decide { "Reject it, or make the change yourself." } @else { "Withdraw it and make the change again." }
            }
        }
        @for diff in diffs.iter().take(MAX_FILES) {
            section {
                h2 { (diff.path.name()) @if diff.is_outdated { span.tag { "changed" } } }
                @if diff.diff.is_empty() { p.quiet { "The proposed text is no longer stored." } } @else { (lines::diff(&diff.diff)) }
            }
        }
        @if diffs.len() > MAX_FILES { p.quiet { (layout::counted(diffs.len() - MAX_FILES, "more memory.", "more memories.")) } }
        @if proposal.can_decide {
            (decision_form(context, &proposal, &html! {
                @if !is_outdated { button type="submit" name="decision" value="accept" { "Accept" } }
                label { "Reason " input name="reason" maxlength=(REASON_CHARS) autocomplete="off"; }
                button type="submit" name="decision" value="reject" { "Reject" }
            }))
        }
        @if proposal.can_withdraw && !proposal.can_decide {
            (decision_form(context, &proposal, &html! { button type="submit" name="decision" value="withdraw" { "Withdraw" } }))
        }
    };
    Ok(Page::reply(what.clone(), "/review", body))
}

fn decision_form(context: &ViewContext<'_>, proposal: &Proposal, buttons: &Markup) -> Markup {
    html! {
        form.filters method="post" action=(context.url("/review/decide")) {
            (layout::form_token(context))
            input type="hidden" name="id" value=(proposal.id.to_string());
            (buttons)
        }
    }
}

/// Accepts, rejects or withdraws a proposal.
pub(in crate::page) fn decide(context: &ViewContext<'_>, _: &str, form: &Params) -> Result<Reply> {
    let (memdir, id) = (&context.space.memdir, form.get("id"));
    match form.get("decision") {
        "accept" => drop(memdir.accept_proposal(id)?),
        "reject" => drop(memdir.reject_proposal(id, Some(form.get("reason")))?),
        _ => drop(memdir.withdraw_proposal(id)?),
    }
    Ok(Reply::Redirect(context.url(&format!("/review/{id}"))))
}
