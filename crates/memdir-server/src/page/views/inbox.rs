//! The inbox: proposed memories beside their evidence, and one button and one key for each decision.

use crate::page::{
    layout::{self, counted},
    params::{Params, encode},
    reply::{ShellPage, ViewContext, ViewReply},
};
use maud::{Markup, html};
use memdir_core::{
    Error, InboxEntry, Kind, MemoryPath, Result, Search, Source,
    internal::{base::text, secrets},
};

/// Candidates on the page; the strongest come first.
const MAX_SHOWN: usize = 20;
/// Characters of a text of a candidate that are shown.
const MAX_CHARS: usize = 4_000;
/// Memories that are offered to merge with.
const MAX_NEAR: usize = 5;

/// Lists the candidates that wait for a decision.
pub(in crate::page) fn show(context: &ViewContext<'_>, _: &str, query: &Params) -> Result<ViewReply> {
    let inbox = match context.space.memdir.inbox() {
        Ok(inbox) => inbox,
        Err(error) => {
            let body = html! { h1 { "Inbox" } p { (error.command_message()) } p.quiet { (layout::error_hint(context, &error)) } };
            return Ok(ShellPage::reply("Inbox", "/inbox", body));
        }
    };
    let body = html! {
        h1 { "Inbox" }
        (decided(context, query))
        p.quiet { (counted(inbox.open.len() as u64, "open candidate", "open candidates")) ", " (inbox.rejected) " rejected." }
        @if inbox.open.is_empty() { p { "The inbox is empty. memdir proposes memories based on what you say and correct in conversations." } }
        @for entry in inbox.open.iter().take(MAX_SHOWN) { (candidate(context, entry)) }
        @if inbox.open.len() > MAX_SHOWN { p.quiet { (counted((inbox.open.len() - MAX_SHOWN) as u64, "more candidate", "more candidates")) " with weaker evidence, shown after you have decided on these." } }
        @if !inbox.known.is_empty() {
            section {
                h2 { "Already in memory" }
                ul.plain.rows {
                    @for known in inbox.known.iter().take(10) {
                        li { (layout::memory_link(context, &known.memory)) p.quiet { q { (text::ellipsis(&secrets::redact(&known.words), 200)) } " – " (known.why) } }
                    }
                }
            }
        }
    };
    Ok(ShellPage::reply("Inbox", "/inbox", body))
}

/// What the last decision did, with an undo button.
fn decided(context: &ViewContext<'_>, query: &Params) -> Markup {
    let (what, change) = (query.get("done"), query.get("change"));
    html! {
        @if !what.is_empty() {
            div.done role="status" {
                p { (what) }
                @if !change.is_empty() {
                    form method="post" action=(context.url("/undo")) {
                        (layout::form_token(context))
                        input type="hidden" name="id" value=(change);
                        button type="submit" data-key="u" { "Undo" }
                    }
                }
            }
        }
    }
}

fn candidate(context: &ViewContext<'_>, entry: &InboxEntry) -> Markup {
    let shown = |text: &str| text::ellipsis(&secrets::redact(text), MAX_CHARS).into_owned();
    let is_cited = |session: &str| entry.turns.iter().any(|turn| turn.contains(session));
    let near = if entry.changes_memory() { Vec::new() } else { near(context, entry) };
    html! {
        section.card data-row aria-label=(entry.proposes) {
            div.head {
                h2 { (entry.proposes) }
                p.quiet {
                    @if let Some(kind) = entry.kind { span.tag { (kind.as_str()) } " " }
                    @if let Some(kind) = entry.memory_type { (Kind::as_str(kind)) " · " }
                    "strength " (format!("{:.0}", entry.weight * 100.0)) " %"
                    @if let Some(at) = entry.at { " · " (layout::when(context, at)) }
                }
            }
            div.pair {
                div {
                    h3 { "Proposed memory" }
                    @if !entry.description.is_empty() { p { strong { (shown(&entry.description)) } } }
                    pre.lines { (shown(&entry.text)) }
                    @if let Some(when) = &entry.when { p.quiet { "Proposed tripwires:" } pre.lines { (shown(when)) } }
                }
                div {
                    h3 { "Evidence" }
                    @if entry.words.is_empty() { p.quiet { "This candidate is not based on your words." } }
                    @else { blockquote { (shown(&entry.words)) } }
                    ul.plain {
                        @for turn in entry.turns.iter().take(5) { li { (layout::chat_link(context, turn)) } }
                        @for session in entry.sessions.iter().filter(|session| !is_cited(session)).take(5) { li { (layout::chat_link(context, session)) } }
                    }
                }
            }
            @if context.space.viewer.may_write { (buttons(context, entry, &near)) }
        }
    }
}

fn buttons(context: &ViewContext<'_>, entry: &InboxEntry, near: &[MemoryPath]) -> Markup {
    let form = |decision: &str, content: Markup| {
        html! {
            form.actions method="post" action=(context.url("/decide")) {
                (layout::form_token(context))
                input type="hidden" name="name" value=(entry.name);
                input type="hidden" name="decision" value=(decision);
                (content)
            }
        }
    };
    html! {
        div.actions {
            (form("accept", html! { button.main type="submit" data-key="a" { "Accept" span.hidden { " " (entry.proposes) } } }))
            @if !near.is_empty() {
                (form("merge", html! {
                    label { span.hidden { "Merge " (entry.proposes) " into" } select name="into" {
                        @for path in near { option value=(path.name()) { (path.name()) } }
                    } }
                    button type="submit" data-key="m" { "Merge" span.hidden { " " (entry.proposes) } }
                }))
            }
            (form("reject", html! { button.danger type="submit" data-key="r" { "Reject" span.hidden { " " (entry.proposes) } } }))
        }
    }
}

/// The memories that a candidate is most like.
fn near(context: &ViewContext<'_>, entry: &InboxEntry) -> Vec<MemoryPath> {
    let search = Search {
        source: Some(Source::Memory),
        max_results: MAX_NEAR * 2,
        ..Search::new(format!("{} {}", entry.description, text::truncate_bytes(&entry.text, 300)))
    };
    // Without an index, a candidate can still be accepted or rejected.
    let hits = context.space.memdir.search(&search).map(|answer| answer.hits).unwrap_or_default();
    let mut paths: Vec<MemoryPath> = Vec::new();
    for hit in hits {
        if hit.path.name() != entry.name && !paths.contains(&hit.path) && paths.len() < MAX_NEAR {
            paths.push(hit.path);
        }
    }
    paths
}

/// Accepts, merges or rejects a candidate.
pub(in crate::page) fn decide(context: &ViewContext<'_>, _: &str, form: &Params) -> Result<ViewReply> {
    let memdir = &context.space.memdir;
    let name = MemoryPath::parse(form.get("name"))?;
    let (what, outcome) = match form.get("decision") {
        "accept" => ("Accepted", memdir.accept(&name, None)?),
        "merge" => ("Merged", memdir.merge(&name, &MemoryPath::parse(form.get("into"))?)?),
        "reject" => ("Rejected", memdir.reject(&name)?),
        _ => return Err(Error::bad_input("decision", "expected accept, merge or reject")),
    };
    let done = format!("{what} {}.", name.name());
    Ok(ViewReply::Redirect(context.url(&format!("/inbox?done={}&change={}", encode(&done), encode(&outcome.change.to_string())))))
}
