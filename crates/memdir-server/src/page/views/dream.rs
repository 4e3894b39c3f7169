//! Dream plans: which of them wait, and a button that makes one. Making a plan changes no memory.

use crate::page::{
    layout::{self, counted},
    params::{Params, encode},
    reply::{ShellPage, ViewContext, ViewReply},
    space::PageDreams,
};
use axum::http::StatusCode;
use maud::{Markup, html};
use memdir_core::{Dream, Error, KeptPlan, MemoryPath, PlanState, Result};
use std::path::Path;

/// Lists the kept plans, newest first.
pub(in crate::page) fn show(context: &ViewContext<'_>, _: &str, query: &Params) -> Result<ViewReply> {
    let plans = dreams(context)?.shelf.plans(context.space.memdir.store())?;
    let notes: Vec<String> = query.all("note").map(str::to_owned).collect();
    let body = html! {
        div.head {
            h1 { "Dream" }
            @if context.space.viewer.may_write {
                form method="post" action=(context.url("/dream/make")) {
                    (layout::form_token(context))
                    button.main type="submit" data-key="n" { "Make a plan" }
                }
            }
        }
        p.quiet { "A plan proposes how to tidy the memory: what to merge, shorten, correct or archive. Nothing changes until you apply the plan." }
        @if query.get("empty") == "1" {
            p.done role="status" { @if notes.is_empty() { "There is nothing to tidy." } @else { "No plan was made; see the notes below." } }
        }
        (layout::notes(&notes))
        @if plans.is_empty() { p { "There are no plans." } }
        ul.plain.rows { @for plan in &plans { li data-row { (row(context, plan)) } } }
    };
    Ok(ShellPage::reply("Dream", "/dream", body))
}

fn row(context: &ViewContext<'_>, plan: &KeptPlan) -> Markup {
    let url = context.url(&format!("/dream/{}", encode(&file_name(&plan.file))));
    html! {
        @match &plan.state {
            PlanState::Invalid(why) => {
                span.name { (file_name(&plan.file)) } span.tag { "invalid" }
                p.quiet { (why) }
            },
            state => {
                a.name href=(url) { (counted(plan.operations as u64, "operation", "operations")) }
                (state_tag(state))
                p.quiet { "made " (layout::when(context, plan.made)) " · " (file_name(&plan.file)) }
            },
        }
    }
}

/// What became of a plan.
pub(in crate::page) fn state_tag(state: &PlanState) -> Markup {
    html! {
        @match state {
            PlanState::Open => span.tag { "waiting" },
            PlanState::Applied(_) => span.tag { "applied" },
            PlanState::Invalid(_) => span.tag { "invalid" },
        }
    }
}

/// Makes a plan and shows it.
pub(in crate::page) fn make(context: &ViewContext<'_>, _: &str, _: &Params) -> Result<ViewReply> {
    let (memdir, PageDreams { shelf, embedder }) = (&context.space.memdir, dreams(context)?);
    // Two processes would keep the same plan twice.
    let Some(_lock) = shelf.lock_making().map_err(|source| Error::io("lock", shelf.dir(), source))? else {
        let message = "Another process is making a plan. Open Dream again in a moment.";
        return Ok(layout::message_reply(StatusCode::SERVICE_UNAVAILABLE, "Not available", message));
    };
    let counts = memdir.ledger().map(|ledger| ledger.read(memdir.store())).unwrap_or_default();
    let uses = |path: &MemoryPath| counts.memory(path.name()).uses();
    let request = Dream {
        project: context.space.project.as_ref(),
        embedder: embedder.as_deref(),
        uses: Some(&uses),
        logs_through: shelf.state().logs_through(memdir.store())?,
        ..Dream::default()
    };
    let plan = memdir.dream(&request)?;
    let mut place = match plan.operations.is_empty() {
        true => "/dream?empty=1".to_owned(),
        false => format!("/dream/{}?made=1", encode(&file_name(&shelf.keep(&plan)?))),
    };
    shelf.record_made(&plan, memdir.store())?;
    // Notes are not part of a plan's file.
    plan.notes.iter().take(5).for_each(|note| place.push_str(&format!("&note={}", encode(note))));
    Ok(ViewReply::Redirect(context.url(&place)))
}

/// The plans of the space, or an error if none are kept for the viewer.
pub(in crate::page) fn dreams<'a>(context: &ViewContext<'a>) -> Result<&'a PageDreams> {
    let none = || Error::unavailable("this server", "it does not keep dream plans");
    context.space.dreams.as_ref().ok_or_else(none)
}

/// The name of a plan's file, by which pages refer to it.
pub(in crate::page) fn file_name(file: &Path) -> String {
    file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
