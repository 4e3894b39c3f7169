//! The timeline: every change by any actor, newest first, with its diff and an undo button.

use crate::page::{
    layout, lines,
    params::{Params, encode},
    reply::{ShellPage, ViewContext, ViewReply},
};
use maud::{Markup, html};
use memdir_core::{
    Change, ChangeFilter, ChangeId, FileChange, MemoryPath, Result, Role, UndoTarget, Undone, Verb,
    internal::operations::{diff, history, undo},
};
use std::collections::{BTreeSet, HashSet};

/// Changes on one page.
const PER_PAGE: usize = 50;
/// Files of one change whose diffs are shown.
const MAX_FILES: usize = 50;

/// Shows the changes, of one actor with `?actor=`.
pub(in crate::page) fn show(context: &ViewContext<'_>, _: &str, query: &Params) -> Result<ViewReply> {
    let number = query.number("page");
    let actor = query.get("actor");
    // Notices what editors did. A mount that another process is changing is skipped.
    context.space.memdir.record_outside_changes()?;
    let most = if actor.is_empty() { number * PER_PAGE + 1 } else { 0 };
    let all = context.space.memdir.history(&ChangeFilter { most, ..ChangeFilter::default() })?;
    let actors: BTreeSet<&str> = all.iter().map(|change| change.actor.name.as_str()).collect();
    let matching: Vec<&Change> = all.iter().filter(|change| actor.is_empty() || change.actor.name == actor).collect();
    let shown: Vec<&Change> = matching.iter().copied().skip((number - 1) * PER_PAGE).take(PER_PAGE).collect();
    let path = context.url(&if actor.is_empty() { "/timeline?".to_owned() } else { format!("/timeline?actor={}&", encode(actor)) });
    let body = html! {
        h1 { "Timeline" }
        @if actors.len() > 1 || !actor.is_empty() {
            form.filters method="get" action=(context.url("/timeline")) {
                label { "By " select name="actor" {
                    option value="" { "everyone" }
                    @for name in &actors { option value=(name) selected[*name == actor] { (name) } }
                } }
                button type="submit" { "Show" }
            }
        }
        @if shown.is_empty() {
            p {
                @if number > 1 { "There are no older changes." }
                @else if actor.is_empty() { "There are no changes yet." }
                @else { "There are no changes by " (actor) "." }
            }
        }
        (change_list(context, &shown, &undo::undone_changes(&all)))
        (layout::pages(&path, number, matching.len() > number * PER_PAGE))
    };
    Ok(ShellPage::reply("Timeline", "/timeline", body))
}

/// Lists changes with their buttons.
pub(in crate::page) fn change_list(context: &ViewContext<'_>, changes: &[&Change], undone: &HashSet<ChangeId>) -> Markup {
    html! {
        ol.changes {
            @for change in changes {
                @let is_undone = undone.contains(&change.id);
                li.undone[is_undone] data-row {
                    div {
                        a.name href=(context.url(&format!("/change/{}", change.id))) { (undo::describe(change)) }
                        @if is_undone { span.tag { "undone" } }
                        p.quiet { (change.actor.name) (reviewer(change)) " · " (layout::when(context, change.at)) " · " code { (change.id.to_string()) } }
                    }
                    (undo_button(context, change, is_undone))
                }
            }
        }
    }
}

/// The reviewer of a change that was proposed.
fn reviewer(change: &Change) -> Markup {
    html! { @if let Some(reviewer) = &change.reviewer { ", reviewed by " (reviewer) } }
}

/// The button that undoes or redoes a change.
fn undo_button(context: &ViewContext<'_>, change: &Change, is_undone: bool) -> Markup {
    let (action, label) = if is_undone { ("/redo", "Redo") } else { ("/undo", "Undo") };
    html! {
        @if context.space.viewer.may_write && (change.verb != Verb::Undo || !is_undone) {
            form method="post" action=(context.url(action)) {
                (layout::form_token(context))
                input type="hidden" name="id" value=(change.id.to_string());
                button type="submit" data-key="u" { (label) span.hidden { " " (undo::describe(change)) } }
            }
        }
    }
}

/// Shows one change with its diffs.
pub(in crate::page) fn show_change(context: &ViewContext<'_>, id: &str, query: &Params) -> Result<ViewReply> {
    change_page(context, id, query.get("done") == "1", &[])
}

fn change_page(context: &ViewContext<'_>, id: &str, is_done: bool, notes: &[String]) -> Result<ViewReply> {
    let memdir = &context.space.memdir;
    let change = history::find_change(memdir.store(), id)?;
    let is_undone = undo::undone_changes(&undo::recent_changes(memdir.store())?).contains(&change.id);
    let files: Vec<&FileChange> = change.files.iter().filter(|file| file.role == Role::Memory).collect();
    let description = undo::describe(&change);
    let body = html! {
        @if is_done { p.done role="status" { "Done." } }
        (layout::notes(notes))
        div.head {
            h1 { (description) }
            (undo_button(context, &change, is_undone))
        }
        p.quiet {
            (change.actor.name) (reviewer(&change)) " · " (layout::when(context, change.at)) " · " code { (change.id.to_string()) }
            @if is_undone { span.tag { "undone" } }
            @if let Some(undoes) = &change.undoes {
                " · undoes " a href=(context.url(&format!("/change/{undoes}"))) { (undoes.to_string()) }
            }
        }
        @for file in files.iter().take(MAX_FILES) {
            section {
                h2 { @if file.after.is_some() { (layout::memory_link(context, file.path.name())) } @else { (file.path.name()) } }
                @match diff::file_diff(memdir.store(), file) {
                    Ok(unified) => (lines::diff(&unified)),
                    Err(error) => p.quiet { (error.to_string()) },
                }
            }
        }
        @if files.len() > MAX_FILES { p.quiet { (layout::counted((files.len() - MAX_FILES) as u64, "more memory.", "more memories.")) } }
        @if files.is_empty() { p { "This change affects only the entrypoint." } }
    };
    Ok(ShellPage::reply(description, "/timeline", body))
}

/// Undoes a change.
pub(in crate::page) fn undo(context: &ViewContext<'_>, _: &str, form: &Params) -> Result<ViewReply> {
    after_undo(context, &context.space.memdir.undo(&UndoTarget::Id(form.get("id").to_owned()))?)
}

/// Redoes an undone change.
pub(in crate::page) fn redo(context: &ViewContext<'_>, _: &str, form: &Params) -> Result<ViewReply> {
    after_undo(context, &context.space.memdir.redo(&UndoTarget::Id(form.get("id").to_owned()))?)
}

/// Goes to the new change. Notes, such as memories that the undo of a dream left as they are, are shown with it.
fn after_undo(context: &ViewContext<'_>, undone: &Undone) -> Result<ViewReply> {
    match undone.notes.is_empty() {
        true => Ok(ViewReply::Redirect(context.url(&format!("/change/{}?done=1", undone.change.id)))),
        false => change_page(context, &undone.change.id.0, true, &undone.notes),
    }
}

/// Restores an earlier version of a memory.
pub(in crate::page) fn restore(context: &ViewContext<'_>, _: &str, form: &Params) -> Result<ViewReply> {
    let path = MemoryPath::parse(form.get("name"))?;
    let saved = context.space.memdir.restore(&path, form.get("version"))?;
    Ok(ViewReply::Redirect(format!("{}?saved=1", context.memory_url(saved.path.name()))))
}
