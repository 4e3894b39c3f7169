//! Home: what happened, what waits, how the memory is, and where the work was left off.

use crate::page::{
    layout::{self, counted},
    params::{Params, encode},
    reply::{ShellPage, ViewContext, ViewReply},
    source::{ChatEnd, ChatRow, ChatsView},
    views::{dream, timeline},
};
use maud::{Markup, html};
use memdir_core::{
    ChangeFilter, Check, CheckSeverity, Result, Source, Stats,
    internal::{
        base::{limits, text},
        operations::undo,
        secrets,
    },
};

/// Changes that are shown.
const MAX_CHANGES: usize = 8;
/// Conversations that are shown.
const MAX_CHATS: usize = 3;
/// Files and commands of the last conversation that are shown.
const MAX_FILES: usize = 5;
/// Characters of a message or a command that are shown.
const MAX_CHARS: usize = 300;
/// Memories up to which all of them are checked for the page. A check reads every file.
const MAX_CHECKED: usize = 500;

/// Shows the home page.
pub(in crate::page) fn show(context: &ViewContext<'_>, _: &str, _: &Params) -> Result<ViewReply> {
    let memdir = &context.space.memdir;
    let stats = memdir.stats()?;
    let changes = memdir.history(&ChangeFilter { most: MAX_CHANGES, ..ChangeFilter::default() })?;
    // Without chats, or if they cannot be read, the rest of the page is still useful.
    let chats = context.space.machine().and_then(|machine| machine.chats());
    let is_read = chats.is_ok();
    let chats = chats.unwrap_or_else(|error| ChatsView { chats: Vec::new(), notes: vec![error.command_message()] });
    let ended = context.space.machine().and_then(|machine| machine.left_off()).ok().flatten();
    let is_ended = |chat: &ChatRow| ended.as_ref().is_some_and(|end| end.row.id == chat.id);
    let others: Vec<&ChatRow> = chats.chats.iter().filter(|chat| !is_ended(chat)).take(MAX_CHATS).collect();
    let body = html! {
        h1 { "Memory" }
        div.cards {
            (waiting(context))
            (waiting_plan(context))
            (counts(context, &stats))
            (health(context, &stats)?)
        }
        div.columns {
            section {
                h2 { "Recent changes" }
                @if changes.is_empty() {
                    p { "No changes yet." @if context.space.machine.is_some() { " Save the first memory with " code { "memdir write NAME TEXT" } "." } }
                }
                (timeline::change_list(context, &changes.iter().collect::<Vec<_>>(), &undo::undone_changes(&changes)))
                @if !changes.is_empty() { p { a href=(context.url("/timeline")) { "All changes" } } }
            }
            @if context.space.machine.is_some() { section {
                h2 { "Where you left off" }
                @if let Some(end) = &ended { (left_off(context, end)) }
                @if is_read && chats.chats.is_empty() { p.quiet { "There are no conversations yet." } }
                @if ended.is_some() && !others.is_empty() { h3 { "Other conversations" } }
                ul.plain {
                    @for chat in others {
                        li data-row {
                            a.name href=(context.url(&format!("/chat/{}", encode(&chat.id)))) { (secrets::redact(&chat.title)) }
                            p.quiet { (chat.host) @if let Some(at) = chat.updated { " · " (layout::when(context, at)) } " · " (counted(chat.turns, "turn", "turns")) }
                        }
                    }
                }
                (layout::notes(&chats.notes))
            } }
        }
    };
    Ok(ShellPage::reply("Home", "/", body))
}

/// How the last conversation in this project ended.
fn left_off(context: &ViewContext<'_>, end: &ChatEnd) -> Markup {
    let shown = |text: &str| text::ellipsis(&secrets::redact_strict(text), MAX_CHARS).into_owned();
    html! {
        div.left-off {
            p {
                a.name href=(context.url(&format!("/chat/{}", encode(&end.row.id)))) { (shown(&end.row.title)) } " "
                span.quiet { (end.row.host) @if let Some(at) = end.row.updated { " · " (layout::when(context, at)) } }
            }
            @if let Some(message) = &end.message { p { "Your last message: " q { (shown(message)) } } }
            @if !end.changed.is_empty() {
                p { "Changed: " @for (n, file) in end.changed.iter().take(MAX_FILES).enumerate() { @if n > 0 { ", " } code { (shown(file)) } } }
            }
            @if !end.ran.is_empty() {
                p { "Ran:" }
                ul.plain { @for (line, failed) in end.ran.iter().rev().take(MAX_FILES).rev() { li { code { (shown(line)) } @if *failed == Some(true) { span.tag { "failed" } } } } }
            }
            @if let Some(resume) = &end.row.resume {
                p.copy { "Resume with " code #resume { (resume) } " " button type="button" data-copy="resume" hidden { "Copy" } }
            }
        }
    }
}

/// What waits for a decision. A space without an inbox has no card.
fn waiting(context: &ViewContext<'_>) -> Markup {
    let Ok(inbox) = context.space.memdir.inbox() else { return html! {} };
    html! {
        section.card {
            h2 { a href=(context.url("/inbox")) { (counted(inbox.open.len() as u64, "proposed memory", "proposed memories")) } }
            ul.plain {
                @for entry in inbox.open.iter().take(MAX_CHATS) { li { (entry.proposes) p.quiet { (secrets::redact(&entry.description)) } } }
                @if inbox.open.is_empty() { li.quiet { "The inbox is empty." } }
            }
        }
    }
}

/// The newest plan that waits to be applied, if there is one.
fn waiting_plan(context: &ViewContext<'_>) -> Markup {
    let Some(plan) = context.space.dreams.as_ref().and_then(|dreams| dreams.shelf.newest_open(context.space.memdir.store()).ok().flatten())
    else {
        return html! {};
    };
    let url = context.url(&format!("/dream/{}", encode(&dream::file_name(&plan.file))));
    html! {
        section.card {
            h2 { a href=(url) { "A plan is waiting to be applied" } }
            p { (counted(plan.operations as u64, "operation", "operations")) ", made " (layout::when(context, plan.made)) }
        }
    }
}

fn counts(context: &ViewContext<'_>, stats: &Stats) -> Markup {
    // Conversations and candidates are not memories, and have pages of their own.
    let mounts = || stats.mounts.iter().filter(|mount| !matches!(mount.source, Source::Chat | Source::Inbox));
    html! {
        section.card {
            h2 { a href=(context.url("/memories")) { (counted(mounts().map(|mount| mount.files as u64).sum(), "memory", "memories")) } }
            ul.plain {
                @for mount in mounts() {
                    li {
                        a href=(context.url(&format!("/memories?topic={}", encode(&mount.prefix)))) { @if mount.prefix.is_empty() { "project" } @else { (mount.prefix) "/" } }
                        " " span.quiet { (mount.files) " · " (text::human_bytes(mount.bytes)) }
                    }
                }
            }
        }
    }
}

/// How full the entrypoints are, and what a check finds.
fn health(context: &ViewContext<'_>, stats: &Stats) -> Result<Markup> {
    let mut lines = Vec::new();
    for mount in stats.mounts.iter().filter(|mount| mount.entrypoint_lines > 0) {
        let Some(name) = &mount.entrypoint else { continue };
        lines.push(format!(
            "{name}: {} of {} lines, {} of {}",
            mount.entrypoint_lines,
            limits::ENTRYPOINT_LINES,
            text::human_bytes(mount.entrypoint_bytes),
            text::human_bytes(limits::ENTRYPOINT_BYTES as u64)
        ));
    }
    let problems: usize = stats.mounts.iter().map(|mount| mount.problems).sum();
    if problems > 0 {
        lines.push(format!("{} while listing or reading files", counted(problems as u64, "problem", "problems")));
    }
    if stats.journal.damaged > 0 {
        let how = if context.space.machine.is_some() { "; run: memdir doctor --fix" } else { "" };
        lines.push(format!("{} damaged{how}", counted(stats.journal.damaged, "journal record is", "journal records are")));
    }
    let findings = if stats.files <= MAX_CHECKED {
        context.space.memdir.check(&Check { project: context.space.project.as_ref(), fix: false })?.findings
    } else {
        let how = if context.space.machine.is_some() { "; check them with: memdir check" } else { "" };
        lines.push(format!("too many memories to check on this page{how}"));
        Vec::new()
    };
    let (wrong, advice): (Vec<_>, Vec<_>) = findings.into_iter().partition(|finding| finding.severity == CheckSeverity::Wrong);
    let is_healthy = stats.files <= MAX_CHECKED && problems == 0 && stats.journal.damaged == 0 && wrong.is_empty() && advice.is_empty();
    Ok(html! {
        section.card {
            h2 { "Health" }
            ul.plain { @for line in &lines { li { (line) } } }
            @if is_healthy { p { "No problems found." } }
            @if !wrong.is_empty() || !advice.is_empty() {
                details {
                    summary {
                        @if !wrong.is_empty() { (counted(wrong.len() as u64, "error", "errors")) }
                        @if !wrong.is_empty() && !advice.is_empty() { ", " }
                        @if !advice.is_empty() { (counted(advice.len() as u64, "suggestion", "suggestions")) }
                    }
                    ul.findings {
                        @for finding in wrong.iter().chain(&advice).take(40) {
                            li { (finding.path) ": " (finding.what) }
                        }
                    }
                }
            }
        }
    })
}
