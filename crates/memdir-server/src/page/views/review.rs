//! The review queue: changes that are waiting for a decision, with their diffs and the buttons that decide.

use crate::page::{
    layout,
    lines::{self, DiffLines},
    params::Params,
    reply::{ShellPage, ViewContext, ViewReply},
};
use maud::{Markup, html};
use memdir_core::{
    Proposal, ProposalReading, ProposalState, ProposedDiff, Result,
    internal::{
        base::{limits, visible::visible},
        operations::undo,
    },
};
use std::ops::Range;

/// Proposals on one page.
const PER_PAGE: usize = 100;
/// The heading of a memory takes the room of this many lines of its diff.
const HEADING_LINES: usize = 10;
/// The longest reason in UTF-16 code units, which is what a browser counts. None of them has more than three bytes of UTF-8.
const REASON_UNITS: usize = limits::REVIEW_REASON_BYTES / 3;

/// Shows the open proposals, then those that were decided.
pub(in crate::page) fn show(context: &ViewContext<'_>, _: &str, query: &Params) -> Result<ViewReply> {
    let memdir = &context.space.memdir;
    let number = query.number("page");
    let open = memdir.proposals(Some(ProposalState::Open), 0)?;
    let (to_decide, own): (Vec<&Proposal>, Vec<&Proposal>) = open.iter().partition(|proposal| proposal.can_decide);
    // As many as this page can have, and one more; an open one may have been decided since.
    let all = memdir.proposals(None, open.len() + number * PER_PAGE + 1)?;
    let decided = all.iter().filter(|proposal| proposal.state != ProposalState::Open);
    let has_none = to_decide.is_empty();
    let kinds = [("Waiting for your decision", to_decide), ("Your proposals", own), ("Decided proposals", decided.collect())];
    let count: usize = kinds.iter().map(|(_, proposals)| proposals.len()).sum();
    // The pages go through all kinds, one after the other.
    let mut skipped = (number - 1) * PER_PAGE;
    let mut room = PER_PAGE;
    let mut sections = Vec::new();
    for (title, proposals) in &kinds {
        let start = skipped.min(proposals.len());
        let end = (start + room).min(proposals.len());
        skipped -= start;
        room -= end - start;
        sections.push((title, proposals.len(), &proposals[start..end]));
    }
    let body = html! {
        h1 { "Review" }
        @if has_none && number == 1 {
            h2 { "Waiting for your decision" }
            p { "Nothing is waiting for your decision." }
        }
        @for (title, count, proposals) in sections {
            @if !proposals.is_empty() {
                h2 { (title) @if count > proposals.len() && *title != "Decided proposals" { " (" (count) ")" } }
                (proposal_list(context, proposals))
            }
        }
        (layout::pages(&context.url("/review?"), number, count > number * PER_PAGE))
    };
    Ok(ShellPage::reply("Review", "/review", body))
}

fn proposal_list(context: &ViewContext<'_>, proposals: &[&Proposal]) -> Markup {
    html! {
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

fn byline(context: &ViewContext<'_>, proposal: &Proposal) -> Markup {
    html! {
        p.quiet {
            (proposal.author.name) " · " (layout::when(context, proposal.at)) " · " code { (proposal.id.to_string()) }
            @if let Some(decision) = &proposal.decision {
                " · " (proposal.state.name()) " by " (decision.by)
                @if let Some(reason) = &decision.reason { ": " (visible(reason)) }
            }
        }
    }
}

/// Shows one proposal with its diffs. Long ones have several pages, and a proposal is accepted on the last of them.
pub(in crate::page) fn show_one(context: &ViewContext<'_>, id: &str, query: &Params) -> Result<ViewReply> {
    let ProposalReading { proposal, what, diffs } = context.space.memdir.proposal(id)?;
    let is_outdated = diffs.iter().any(|diff| diff.is_outdated);
    let is_complete = diffs.iter().all(|diff| diff.is_complete);
    let pages = DiffPages::new(&diffs);
    let number = query.number("page").min(pages.count());
    let is_last = number == pages.count();
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
        @for (diff, lines, shown) in pages.page(number) {
            section {
                h2 { (diff.path.name()) @if diff.is_outdated { span.tag { "changed" } } }
                @if let Some(note) = &diff.note { p.quiet { "Note: " (note) } }
                @if !shown.is_empty() { (lines.render(shown)) }
            }
        }
        @if pages.count() > 1 {
            p.quiet { "Part " (number) " of " (pages.count()) " of the diff." }
            (layout::pages(&context.url(&format!("/review/{}?", proposal.id)), number, !is_last))
        }
        @if proposal.can_decide {
            @if !is_complete && !is_outdated { p { "This proposal cannot be accepted on this page, because one of its texts is no longer stored. Reject it, or make the change yourself." } }
            @else if !is_last && !is_outdated { p { "To accept this proposal, go to the last part of the diff." } }
            @if !is_outdated && is_complete && is_last {
                (decision_form(context, &proposal, &html! { button type="submit" name="decision" value="accept" { "Accept" } }))
            }
            // A form of its own: Enter in the reason rejects.
            (decision_form(context, &proposal, &html! {
                label { "Reason " input name="reason" maxlength=(REASON_UNITS) autocomplete="off"; }
                button type="submit" name="decision" value="reject" { "Reject" }
            }))
        }
        @if proposal.can_withdraw && !proposal.can_decide {
            (decision_form(context, &proposal, &html! { button type="submit" name="decision" value="withdraw" { "Withdraw" } }))
        }
    };
    Ok(ShellPage::reply(what.clone(), "/review", body))
}

/// The diffs of a proposal on pages of limited length.
struct DiffPages<'a> {
    diffs: Vec<(&'a ProposedDiff, DiffLines)>,
    /// For each page, the lines of each diff on it.
    pages: Vec<Vec<(usize, Range<usize>)>>,
}

impl<'a> DiffPages<'a> {
    fn new(diffs: &'a [ProposedDiff]) -> Self {
        let diffs: Vec<_> = diffs.iter().map(|diff| (diff, DiffLines::new(&diff.diff))).collect();
        let (mut pages, mut page, mut room) = (Vec::new(), Vec::new(), lines::MAX_DIFF_LINES);
        for (at, (_, lines)) in diffs.iter().enumerate() {
            let mut start = 0;
            loop {
                if room <= HEADING_LINES {
                    pages.push(std::mem::take(&mut page));
                    room = lines::MAX_DIFF_LINES;
                }
                let end = lines.count().min(start + room - HEADING_LINES);
                page.push((at, start..end));
                room -= HEADING_LINES + (end - start);
                start = end;
                if end == lines.count() {
                    break;
                }
            }
        }
        pages.push(page);
        DiffPages { diffs, pages }
    }

    fn count(&self) -> usize {
        self.pages.len()
    }

    fn page(&self, number: usize) -> impl Iterator<Item = (&ProposedDiff, &DiffLines, Range<usize>)> {
        self.pages[number - 1].iter().map(|(at, shown)| (self.diffs[*at].0, &self.diffs[*at].1, shown.clone()))
    }
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
pub(in crate::page) fn decide(context: &ViewContext<'_>, _: &str, form: &Params) -> Result<ViewReply> {
    let (memdir, id) = (&context.space.memdir, form.get("id"));
    match form.get("decision") {
        "accept" => drop(memdir.accept_proposal(id)?),
        "reject" => drop(memdir.reject_proposal(id, Some(form.get("reason")))?),
        _ => drop(memdir.withdraw_proposal(id)?),
    }
    Ok(ViewReply::Redirect(context.url(&format!("/review/{id}"))))
}
