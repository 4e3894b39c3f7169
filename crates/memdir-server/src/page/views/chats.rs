//! Past conversations: a list, one conversation to read, and the command that resumes it.

use crate::page::{
    layout::{self, counted},
    markdown,
    params::{Params, encode},
    reply::{ShellPage, ViewContext, ViewReply},
    source::ChatRow,
};
use maud::{Markup, html};
use memdir_core::{
    LineRange, Result,
    internal::{base::text, secrets},
};

/// Conversations on one page.
const PER_PAGE: usize = 50;
/// Lines of a conversation on one page.
const LINES_PER_PAGE: u64 = 600;
/// Bytes of a conversation on one page: a line may be long.
const MAX_BYTES: usize = 200_000;

/// Lists conversations, of one host with `?host=`.
pub(in crate::page) fn show(context: &ViewContext<'_>, _: &str, query: &Params) -> Result<ViewReply> {
    let view = context.space.machine()?.chats()?;
    let host = query.get("host");
    let mut hosts: Vec<&str> = view.chats.iter().map(|chat| chat.host.as_str()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let number = query.number("page");
    let matching: Vec<&ChatRow> = view.chats.iter().filter(|chat| host.is_empty() || chat.host == host).collect();
    let path = context.url(&if host.is_empty() { "/chats?".to_owned() } else { format!("/chats?host={}&", encode(host)) });
    let body = html! {
        h1 { "Chats" }
        form.filters method="get" action=(context.url("/search")) {
            input type="hidden" name="source" value="chat";
            label { "Search chats " input type="search" name="q" maxlength="2000"; }
            button type="submit" { "Search" }
        }
        @if hosts.len() > 1 {
            form.filters method="get" action=(context.url("/chats")) {
                label { "Host " select name="host" {
                    option value="" { "any" }
                    @for name in &hosts { option value=(name) selected[*name == host] { (name) } }
                } }
                button type="submit" { "Show" }
            }
        }
        (layout::notes(&view.notes))
        @if matching.is_empty() { p { "There are no conversations." } }
        ul.plain.rows {
            @for chat in matching.iter().skip((number - 1) * PER_PAGE).take(PER_PAGE) {
                li data-row {
                    a.name href=(context.url(&format!("/chat/{}", encode(&chat.id)))) { (secrets::redact(&chat.title)) }
                    (about(context, chat))
                }
            }
        }
        (layout::pages(&path, number, matching.len() > number * PER_PAGE))
    };
    Ok(ShellPage::reply("Chats", "/chats", body))
}

fn about(context: &ViewContext<'_>, chat: &ChatRow) -> Markup {
    html! {
        p.quiet {
            (chat.host)
            @if let Some(at) = chat.updated { " · " (layout::when(context, at)) }
            " · " (counted(chat.turns, "turn", "turns"))
            @if let Some(project) = &chat.project { " · " (project) }
        }
    }
}

/// Shows one conversation, some lines at a time.
pub(in crate::page) fn show_one(context: &ViewContext<'_>, id: &str, query: &Params) -> Result<ViewReply> {
    let chat = context.space.machine()?.chat(id)?;
    // A line is counted in the file, as searches and evidence do.
    let page_of = |line: u64| (line.min(u64::from(u32::MAX)).saturating_sub(chat.first_line) / LINES_PER_PAGE) as usize + 1;
    let number = query.get("line").parse().map_or_else(|_| query.number("page"), page_of);
    let total = text::lines(&chat.text);
    let first = (number as u64 - 1) * LINES_PER_PAGE + 1;
    let part = LineRange { first, last: Some(first + LINES_PER_PAGE - 1) }.slice(&chat.text);
    let shown = text::truncate_bytes(part, MAX_BYTES);
    let title = secrets::redact(&chat.row.title);
    let redacted = secrets::redact(shown);
    // The file begins with its title, which the page has above.
    let redacted = redacted.strip_prefix("# ").and_then(|rest| rest.strip_prefix(&*title)).unwrap_or(&redacted);
    let path = context.url(&format!("/chat/{}?", encode(id)));
    let body = html! {
        nav.crumbs aria-label="Chats" { ol { li { a href=(context.url("/chats")) { "Chats" } } } }
        h1 { (title) }
        (about(context, &chat.row))
        @if let Some(resume) = &chat.row.resume {
            p.copy { "Resume with " code #resume { (resume) } " " button type="button" data-copy="resume" hidden { "Copy" } }
        }
        article.text.chat { h2.hidden { "Conversation" } (markdown::render(redacted, &|destination, _| markdown::web_target(destination))) }
        @if shown.len() < part.len() { p.quiet { "This part is too long to show in full; read the whole conversation with: memdir chats show " (id) } }
        (layout::pages(&path, number, total > first + LINES_PER_PAGE - 1))
    };
    Ok(ShellPage::reply(title, "/chats", body))
}
