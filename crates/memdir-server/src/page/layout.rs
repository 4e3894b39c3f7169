//! The shell around every page, and the small parts that several views share.

use super::{
    assets,
    params::encode,
    reply::{ShellPage, ViewContext, ViewReply, html_response},
};
use crate::http::error_status;
use axum::{http::StatusCode, response::Response};
use jiff::Timestamp;
use maud::{DOCTYPE, Markup, PreEscaped, html};
pub(super) use memdir_core::internal::base::text::counted;
use memdir_core::{Error, ReadOnlyCause, internal::base::time};

/// The menu: the path of a page and its name.
const MENU: [(&str, &str); 11] = [
    ("/", "Home"),
    ("/memories", "Memories"),
    ("/inbox", "Inbox"),
    ("/dream", "Dream"),
    ("/timeline", "Timeline"),
    ("/review", "Review"),
    ("/chats", "Chats"),
    ("/rules", "Rules"),
    ("/prompt", "Prompt"),
    ("/hosts", "Hosts"),
    ("/settings", "Settings"),
];

/// Renders a page inside the shell.
pub(super) fn shell(context: &ViewContext<'_>, page: &ShellPage) -> String {
    let version = assets::version();
    let head = html! {
        link rel="icon" type="image/svg+xml" href=(context.url(&format!("/icon.svg?v={version}")));
        link rel="stylesheet" href=(context.url(&format!("/style.css?v={version}")));
        script src=(context.url(&format!("/script.js?v={version}"))) defer {}
    };
    let space = context.space;
    let is_shown = |place: &str| match place {
        "/dream" => space.dreams.is_some(),
        "/review" => space.memdir.has_reviews().unwrap_or(false),
        "/inbox" | "/chats" | "/rules" | "/hosts" | "/settings" => space.machine.is_some(),
        _ => true,
    };
    let menu = MENU.iter().filter(|(place, _)| is_shown(place));
    let title = space.title.as_deref().or(space.selected_project.as_deref());
    let (again, offline, ended) = match space.machine.is_some() {
        true => {
            let again = "Open the page again with: memdir ui";
            (again, again, "memdir has stopped. Open the page again with: memdir ui")
        }
        // Another replica may still serve it, or the person's permissions have changed.
        false => ("Sign in again.", "Try again later.", "This page is no longer updated. Reload it."),
    };
    let body = html! {
        body data-base=(context.base) data-again=(again) data-offline=(offline) data-ended=(ended) data-place=(page.place) data-cursor=[(!context.is_answer).then_some(&context.cursor)] data-answer[context.is_answer] {
            (SKIP_LINK)
            header.top {
                div.brand {
                    p { strong { "memdir" } @if let Some(title) = title { " / " (title) } }
                    (search_box(context, "", page.place == "/search"))
                }
                nav aria-label="Pages" {
                    ul {
                        @for (place, name) in menu {
                            li { a href=(context.url(place)) aria-current=[(*place == page.place).then_some("page")] { (name) } }
                        }
                    }
                }
            }
            div #live role="status" aria-live="polite" {}
            main #main tabindex="-1" { (page.body) }
            footer.bottom {
                p {
                    "Signed in as " strong { (context.space.viewer.name) } " · "
                    a href=(context.url("/help")) { "Help and shortcuts" } " · memdir " (env!("CARGO_PKG_VERSION"))
                }
                @if space.machine.is_none() { (account(context)) }
            }
        }
    };
    document(&format!("{} · memdir", page.title), &head, &body).into_string()
}

/// On a server: the form that selects a project, and the one that signs out.
fn account(context: &ViewContext<'_>) -> Markup {
    html! {
        form.account method="post" action=(context.url("/project")) {
            (form_token(context))
            label { "Project " input name="project" value=(context.space.selected_project.as_deref().unwrap_or_default()) maxlength="200" autocomplete="off"; }
            button type="submit" { "Select" }
        }
        form.account method="post" action=(context.url("/logout")) {
            (form_token(context))
            button type="submit" { "Sign out" }
        }
    }
}

/// The first link of every page, for keyboards.
pub(super) const SKIP_LINK: PreEscaped<&str> = PreEscaped("<a class=\"skip\" href=\"#main\">Skip to content</a>");

/// An HTML document with what every one has in its head.
pub(super) fn document(title: &str, head: &Markup, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                (head)
            }
            (body)
        }
    }
}

/// The search box of the header; on the search page, that page has its own.
fn search_box(context: &ViewContext<'_>, query: &str, is_hidden: bool) -> Markup {
    html! {
        @if !is_hidden {
            form.find role="search" method="get" action=(context.url("/search")) {
                label.hidden for="find" { "Search memories" }
                input #find type="search" name="q" value=(query) placeholder="Search ( / )" autocomplete="off" maxlength="2000";
                button type="submit" { "Search" }
            }
        }
    }
}

/// The beginning of every form that changes something.
pub(super) fn form_token(context: &ViewContext<'_>) -> Markup {
    html! { input type="hidden" name="csrf" value=(context.csrf); }
}

/// A link to a memory.
pub(super) fn memory_link(context: &ViewContext<'_>, name: &str) -> Markup {
    html! { a.name href=(context.memory_url(name)) { (name) } }
}

/// A time, as an age with the exact time, in the server's time zone, as its title.
pub(super) fn when(context: &ViewContext<'_>, at: Timestamp) -> Markup {
    let clock = &context.space.memdir.context().clock;
    let exact = at.to_zoned(clock.zone()).strftime("%Y-%m-%d %H:%M").to_string();
    html! { time datetime=(at.to_string()) title=(exact) { (time::relative(clock.now(), at)) } }
}

/// A link to a conversation, for a place in its file such as `chats/claude-code/1f2e.md:16-18`.
pub(super) fn chat_link(context: &ViewContext<'_>, place: &str) -> Markup {
    let name = place.strip_prefix("chats/").unwrap_or(place);
    let (id, lines) = name.rsplit_once(".md").unwrap_or((name, ""));
    let lines = lines.trim_start_matches(':');
    let first = lines.split('-').next().unwrap_or_default();
    let line = if first.is_empty() { String::new() } else { format!("?line={}", encode(first)) };
    html! { a href=(format!("{}{line}", context.url(&format!("/chat/{}", encode(id))))) rel="noopener noreferrer" { (place) } }
}

/// Notes about a result.
pub(super) fn notes(notes: &[String]) -> Markup {
    html! {
        @if !notes.is_empty() {
            ul.notes { @for note in notes { li { (note) } } }
        }
    }
}

/// Links to the previous and the next page of a list; `path` ends with `?` or `&`.
pub(super) fn pages(path: &str, number: usize, has_more: bool) -> Markup {
    html! {
        @if number > 1 || has_more {
            nav.pages aria-label="Pagination" {
                @if number > 1 { a rel="prev" href=(format!("{path}page={}", number - 1)) { "← Previous" } }
                span { "Page " (number) }
                @if has_more { a rel="next" href=(format!("{path}page={}", number + 1)) { "Next →" } }
            }
        }
    }
}

/// A page with a message.
pub(super) fn message_reply(status: StatusCode, title: &str, message: &str) -> ViewReply {
    ViewReply::Page(ShellPage { status, title: title.to_owned(), place: "", body: html! { h1 { (title) } p { (message) } } })
}

/// The page of an error, with what to do next.
pub(super) fn error_reply(context: &ViewContext<'_>, error: &Error) -> ViewReply {
    let status = match error {
        // The id is in the address of the page; in the REST API it is an argument of an undo.
        Error::NoChange { is_unknown: true, .. } => StatusCode::NOT_FOUND,
        _ => error_status(error),
    };
    let title = match status {
        StatusCode::ACCEPTED => "Waiting for review",
        StatusCode::NOT_FOUND => "Not found",
        StatusCode::CONFLICT => "Conflict",
        StatusCode::FORBIDDEN if matches!(error, Error::ReadOnly { .. }) => "Read-only",
        StatusCode::FORBIDDEN => "Not allowed",
        StatusCode::SERVICE_UNAVAILABLE => "Not available",
        _ => "Request failed",
    };
    let near: &[String] = if let Error::NotFound { near, .. } = error { near } else { &[] };
    let message = error.command_message();
    let (first, rest) = message.split_once('\n').unwrap_or((&message, ""));
    let body = html! {
        h1 { (title) }
        @if let Error::Proposed { id, .. } = error {
            p.done role="status" { (first) }
            p { a href=(context.url(&format!("/review/{id}"))) { "View the proposal" } }
        } @else {
            p.error role="alert" { (first) }
        }
        @if !rest.is_empty() { (super::lines::diff(rest)) }
        p { (error_hint(context, error)) }
        @if !near.is_empty() {
            h2 { "Similar names" }
            ul { @for name in near { li { (memory_link(context, name)) } } }
        }
    };
    ViewReply::Page(ShellPage { status, title: title.to_owned(), place: "", body })
}

/// The answer to a request without a session. It has a stylesheet if the request is below the `base`: otherwise it names no path, so
/// that it reveals nothing to an unauthenticated client.
pub(super) fn no_session(status: StatusCode, base: Option<&str>) -> Response {
    let head = html! {
        @if let Some(base) = base { link rel="stylesheet" href=(format!("{base}/style.css?v={}", assets::version())); }
    };
    let body = html! {
        body {
            main {
                h1 { "No session" }
                p { "The session has ended, or the link has expired or was already used." }
                p { "Open the page again with: " code { "memdir ui" } }
            }
        }
    };
    html_response(status, document("No session · memdir", &head, &body).into_string())
}

/// The hint for an error. Where there is a page for the next step, it names that page instead of a command. A person on a server's pages
/// has neither its command line nor its settings.
pub(super) fn error_hint(context: &ViewContext<'_>, error: &Error) -> String {
    let command_hint = error.command_hint();
    let is_remote = context.space.machine.is_none() && !command_hint.is_empty();
    let hint = match error {
        Error::Exists { .. } => "use another name, or edit that memory",
        Error::NotFound { near, .. } if near.is_empty() => "find the memory under Memories, or search for it",
        Error::NoChat { .. } => "find the conversation under Chats",
        Error::NoCandidate { near, .. } if near.is_empty() => "find the candidate under Inbox",
        Error::AlreadyRejected { .. } => "find the open candidates under Inbox",
        Error::NoProposal { .. } => "find the proposal under Review",
        Error::Review { .. } => "nothing was changed; find the open proposals under Review",
        Error::NoChange { .. } | Error::AlreadyUndone { .. } | Error::NotKept { .. } => "find changes and versions under Timeline",
        Error::Changed { found: None, .. } => "find its earlier versions under Timeline",
        Error::Changed { .. } => "open the memory again to see its current version, then repeat the change",
        Error::Conflict { .. } => "undo the newer changes first, or restore a version from the history of the memory",
        Error::QuotaExceeded { .. } => "delete memories, or ask an administrator to raise the quota",
        Error::ReadOnly { cause, .. } if is_remote && *cause != ReadOnlyCause::Caller => {
            "use another name, or ask an administrator for access"
        }
        Error::Busy { .. } if is_remote => "try again in a moment",
        Error::Unavailable { .. } | Error::Corrupt { .. } | Error::Io { .. } if is_remote => {
            "nothing was changed; if this happens again, tell the server's operator"
        }
        _ => return command_hint,
    };
    hint.to_owned()
}

/// The breadcrumbs of a memory: its topics.
pub(super) fn breadcrumbs(context: &ViewContext<'_>, name: &str) -> Markup {
    let parts: Vec<&str> = name.split('/').collect();
    let topics = parts.iter().enumerate().take(parts.len() - 1).map(|(n, part)| (*part, parts[..=n].join("/")));
    html! {
        nav.crumbs aria-label="Topics" {
            ol {
                li { a href=(context.url("/memories")) { "All" } }
                @for (part, topic) in topics {
                    li { a href=(context.url(&format!("/memories?topic={}", encode(&topic)))) { (part) } }
                }
            }
        }
    }
}
