//! One dream plan: its operations with their reasons and differences, a checkbox for each, and what applying it did. Applying compares the
//! version of every file; what changed since is skipped and reported.

use crate::{
    http::error_status,
    page::{
        layout::{self, counted},
        lines,
        params::{Params, encode},
        reply::{ShellPage, ViewContext, ViewReply},
        views::dream,
    },
};
use axum::http::StatusCode;
use maud::{Markup, html};
use memdir_core::{
    ApplyDream, DreamApplied, DreamChange, DreamOperation, DreamPlan, Error, KeptPlan, LeftOut, MemoryPath, PlanState, Result, Version,
    internal::{
        base::text,
        operations::{
            diff,
            dream::{obstacle, parse},
        },
        secrets,
    },
};
use std::collections::HashSet;

/// Bytes of differences on the page of a whole plan. Those of later operations have a page of their own.
const MAX_DIFF_BYTES: usize = 200_000;
/// The percentage of the memory that a plan may change unless the person allows more.
const LIMIT_PERCENT: u64 = 25;

/// A plan as its file is now.
struct OpenedPlan {
    name: String,
    kept: KeptPlan,
    /// The version of the file, so that what is applied is what was read.
    version: Version,
    plan: DreamPlan,
}

/// Shows a plan, or with `?only=` one of its operations.
pub(in crate::page) fn show(context: &ViewContext<'_>, name: &str, query: &Params) -> Result<ViewReply> {
    let Some(opened) = open(context, name)? else { return Ok(unknown_plan()) };
    let only = query.get("only").parse::<usize>().ok();
    let above = layout::notes(&query.all("note").map(str::to_owned).collect::<Vec<_>>());
    page(context, &opened, StatusCode::OK, only, &above)
}

fn open(context: &ViewContext<'_>, name: &str) -> Result<Option<OpenedPlan>> {
    let Some((kept, text)) = dream::dreams(context)?.shelf.open_plan(context.space.memdir.store(), name)? else { return Ok(None) };
    let plan = parse(&text)?;
    Ok(Some(OpenedPlan { name: name.to_owned(), kept, version: Version::from_content(text.as_bytes()), plan }))
}

fn unknown_plan() -> ViewReply {
    layout::message_reply(StatusCode::NOT_FOUND, "Not found", "This plan does not exist. Only the newest plans are kept.")
}

fn page(context: &ViewContext<'_>, opened: &OpenedPlan, status: StatusCode, only: Option<usize>, above: &Markup) -> Result<ViewReply> {
    let can_apply = opened.kept.state == PlanState::Open && context.space.viewer.may_write && only.is_none();
    let mut budget = if only.is_some() { usize::MAX } else { MAX_DIFF_BYTES };
    let mut operations = Vec::new();
    for (number, operation) in (1..).zip(&opened.plan.operations).filter(|(number, _)| only.is_none_or(|only| only == *number)) {
        operations.push(operation_card(context, opened, (number, operation), can_apply, &mut budget)?);
    }
    let title = format!("Plan with {}", counted(opened.plan.operations.len() as u64, "operation", "operations"));
    let body = html! {
        nav.crumbs aria-label="Dream" { ol { li { a href=(context.url("/dream")) { "Dream" } } @if only.is_some() { li { a href=(plan_url(context, opened)) { (title) } } } } }
        h1 { (title) (dream::state_tag(&opened.kept.state)) }
        p.quiet {
            "made " (layout::when(context, opened.plan.made)) " from " (counted(opened.plan.memories as u64, "memory", "memories")) ", "
            (text::human_bytes(opened.plan.bytes)) " · " code { (opened.name) }
        }
        (above)
        @if let PlanState::Applied(change) = &opened.kept.state {
            p { "This plan was applied as change " a href=(context.url(&format!("/change/{}", encode(change)))) { (change) } "." }
        }
        @if can_apply {
            form method="post" action=(context.url("/dream/apply")) data-choice data-confirm="Apply the checked operations? One undo reverts all of them." {
                (layout::form_token(context))
                input type="hidden" name="plan" value=(opened.name);
                input type="hidden" name="version" value=(opened.version.to_string());
                @for card in &operations { (card) }
                div.actions {
                    button.main type="submit" data-key="a" { "Apply the checked operations" }
                    label { "Maximum share of memories and bytes to change, in percent " input type="number" name="limit" min="1" max="100" value=(LIMIT_PERCENT) required; }
                }
            }
        } @else {
            @for card in &operations { (card) }
        }
    };
    Ok(ViewReply::Page(ShellPage { status, title, place: "/dream", body }))
}

fn plan_url(context: &ViewContext<'_>, opened: &OpenedPlan) -> String {
    context.url(&format!("/dream/{}", encode(&opened.name)))
}

/// One operation. Its differences are shown while `budget` lasts.
fn operation_card(
    context: &ViewContext<'_>,
    opened: &OpenedPlan,
    (number, operation): (usize, &DreamOperation),
    can_apply: bool,
    budget: &mut usize,
) -> Result<Markup> {
    let title = operation.title();
    let obstacle = if opened.kept.state == PlanState::Open { obstacle(context.space.memdir.store(), operation)? } else { None };
    let mut changes = Vec::new();
    for change in &operation.changes {
        changes.push(change_lines(context, change, budget)?);
    }
    let is_complete = changes.iter().all(Option::is_some);
    Ok(html! {
        section.card data-row aria-label=(title) {
            h2 {
                @if can_apply {
                    label.choice { input type="checkbox" name="operation" value=(number) checked[obstacle.is_none()] disabled[obstacle.is_some()] data-key="x"; (title) }
                } @else { (title) }
            }
            @if let Some(why) = &obstacle { p.error { "This operation cannot be applied: " (why) "." } }
            p { (secrets::redact(&operation.why)) }
            p.quiet { (operation.reason.as_str()) " · confidence " (operation.confidence) " %" }
            @if !operation.sources.is_empty() {
                p { "From " @for (n, (path, _)) in operation.sources.iter().enumerate() { @if n > 0 { ", " } (layout::memory_link(context, path.name())) } }
            }
            @for change in changes.iter().flatten() { (change) }
            @if !is_complete { p { a href=(format!("{}?only={number}", plan_url(context, opened))) { "Show the full diff of this operation" } } }
        }
    })
}

/// What happens to one file; `None` if its difference is larger than the rest of the budget.
fn change_lines(context: &ViewContext<'_>, change: &DreamChange, budget: &mut usize) -> Result<Option<Markup>> {
    let link = |path: &MemoryPath| layout::memory_link(context, path.name());
    let mut shown = |path: &MemoryPath, old: &str, new: &str| {
        let unified = diff::unified(path, old, new);
        let fits = unified.len() <= *budget;
        *budget = budget.saturating_sub(unified.len());
        fits.then(|| lines::diff(&unified))
    };
    Ok(match change {
        DreamChange::Write { path, version, text } => {
            let old = context.space.memdir.store().text_at(path, *version)?;
            let is_known = old.is_some();
            let old = text::decode(&old.unwrap_or_default()).0.into_owned();
            if old == *text {
                return Ok(Some(html! { p { "Keeps the text of " (link(path)) } }));
            }
            shown(path, &old, text).map(|diff| {
                html! {
                    h3 { "Writes " (link(path)) }
                    @if !is_known { p.quiet { "The text on which this plan is based is no longer available; the whole new text is shown." } }
                    (diff)
                }
            })
        }
        DreamChange::New { path, text } => shown(path, "", text).map(|diff| html! { h3 { "Creates " (path.name()) } (diff) }),
        DreamChange::Move { path, to, .. } => Some(html! { p { "Moves " (link(path)) " to " (to.name()) } }),
        DreamChange::Relink { path, .. } => Some(html! { p { "Updates references in " (link(path)) } }),
        DreamChange::List { path, .. } => Some(html! { p { "Adds a line for " (link(path)) " to the entrypoint" } }),
        DreamChange::Page { path, .. } => {
            Some(html! { p { "Moves the line for " (link(path)) " from the entrypoint to an overflow page" } })
        }
    })
}

/// Applies the checked operations of a plan.
pub(in crate::page) fn apply(context: &ViewContext<'_>, _: &str, form: &Params) -> Result<ViewReply> {
    let shelf = &dream::dreams(context)?.shelf;
    let _lock = shelf.lock_applying().map_err(|source| Error::io("lock", shelf.dir(), source))?;
    let Some(opened) = open(context, form.get("plan"))? else { return Ok(unknown_plan()) };
    let refuse = |status, message: &str| page(context, &opened, status, None, &html! { p.error role="alert" { (message) } });
    if opened.kept.state != PlanState::Open {
        return refuse(StatusCode::CONFLICT, "This plan was already applied. Nothing was changed.");
    }
    if form.get("version") != opened.version.to_string() {
        return refuse(StatusCode::CONFLICT, "The plan has changed since you opened it. Nothing was applied. Read the plan again.");
    }
    let checked: HashSet<usize> = form.all("operation").filter_map(|number| number.parse().ok()).collect();
    let (chosen, unchecked): (Vec<_>, Vec<_>) =
        (1..).zip(opened.plan.operations.iter().cloned()).partition(|(number, _)| checked.contains(number));
    if chosen.is_empty() {
        return refuse(StatusCode::UNPROCESSABLE_ENTITY, "No operations are checked. Nothing was changed.");
    }
    let plan = DreamPlan { operations: chosen.into_iter().map(|(_, operation)| operation).collect(), ..opened.plan.clone() };
    let limit_percent = form.get("limit").parse::<u64>().ok().filter(|percent| (1..=100).contains(percent));
    let mut applied = match context.space.memdir.apply_dream(&ApplyDream { plan: &plan, limit_percent }) {
        Ok(applied) => applied,
        Err(error) => return refuse(error_status(&error), &error.command_message()),
    };
    shelf.record_applied(&opened.kept.file, opened.version.to_string(), &applied, context.space.memdir.context().clock.now());
    let unchecked = unchecked.iter().map(|(_, operation)| LeftOut { operation: operation.title(), why: "not checked".to_owned() });
    applied.left_out.extend(unchecked);
    Ok(result(context, &opened, &applied))
}

/// What applying did, with an undo button.
fn result(context: &ViewContext<'_>, opened: &OpenedPlan, applied: &DreamApplied) -> ViewReply {
    let title = format!("Applied {} of {}", applied.applied.len(), counted(opened.plan.operations.len() as u64, "operation", "operations"));
    let body = html! {
        nav.crumbs aria-label="Dream" { ol { li { a href=(context.url("/dream")) { "Dream" } } li { a href=(plan_url(context, opened)) { "Plan" } } } }
        h1 { (title) }
        @match &applied.change {
            Some(change) => div.done role="status" {
                p { "Change " a href=(context.url(&format!("/change/{change}"))) { (change.to_string()) } "." }
                form method="post" action=(context.url("/undo")) {
                    (layout::form_token(context))
                    input type="hidden" name="id" value=(change.to_string());
                    button type="submit" data-key="u" { "Undo" }
                }
            },
            None => p.error role="alert" { "Nothing was changed. Make a new plan." },
        }
        @if !applied.applied.is_empty() {
            section { h2 { "Applied" } ul { @for title in &applied.applied { li { (title) } } } }
        }
        @if !applied.left_out.is_empty() {
            section { h2 { "Not applied" } ul { @for left in &applied.left_out { li { (left.operation) ": " (left.why) } } } }
        }
        (layout::notes(&applied.notes))
    };
    ShellPage::reply(title, "/dream", body)
}
