//! Search: as you type with the script, with a button without it. Highlights the words, and explains each rank.

use crate::page::{
    layout,
    lines::Highlighter,
    params::{Params, encode},
    reply::{ShellPage, ViewContext, ViewReply},
};
use maud::{Markup, html};
use memdir_core::{
    Answer, Hit, Kind, Result, Search, Source,
    internal::{
        base::{text, time},
        search::Explain,
    },
};

/// Hits on the page.
const MAX_HITS: usize = 20;
/// Lines of a hit that are shown.
const MAX_LINES: usize = 12;
/// Characters of a line that are shown.
const MAX_LINE_CHARS: usize = 400;

/// Shows the form and the hits. With `part=hits`, only the hits.
pub(in crate::page) fn show(context: &ViewContext<'_>, _: &str, query: &Params) -> Result<ViewReply> {
    let words = query.get("q");
    let is_part = query.get("part") == "hits";
    let hits = if words.trim().is_empty() {
        html! { p.quiet { "Enter words, a sentence, or lines from a log file." } }
    } else {
        let search = request(context, query)?;
        // New conversations are read for whole pages only: a keystroke does not wait for them.
        let note = if is_part { None } else { context.space.memdir.catch_up_chats(search.source) };
        let mut answer = context.space.memdir.search(&search)?;
        answer.notes.extend(note);
        render_hits(context, words, &answer)
    };
    if is_part {
        return Ok(ViewReply::Part(hits));
    }
    let title = if words.is_empty() { "Search".to_owned() } else { format!("{} · Search", text::ellipsis(words, 60)) };
    let body = html! {
        h1 { "Search" }
        (form(context, query))
        div #hits aria-live="polite" { (hits) }
    };
    Ok(ShellPage::reply(title, "/search", body))
}

fn request(context: &ViewContext<'_>, query: &Params) -> Result<Search> {
    let clock = &*context.space.memdir.context().clock;
    let given = |name: &str| Some(query.get(name)).filter(|value| !value.is_empty());
    Ok(Search {
        max_results: MAX_HITS,
        source: match query.get("source") {
            "memory" => Some(Source::Memory),
            "chat" => Some(Source::Chat),
            "custom" => Some(Source::Custom),
            _ => None,
        },
        kind: given("type").map(str::parse::<Kind>).transpose()?,
        under: given("under").map(|under| under.trim_matches('/').to_owned()),
        since: given("since").map(|date| time::parse_since("since", date, clock)).transpose()?,
        explain: true,
        ..Search::new(query.get("q"))
    })
}

fn form(context: &ViewContext<'_>, query: &Params) -> Markup {
    let option = |name: &str, value: &str, label: &str| {
        html! { option value=(value) selected[query.get(name) == value] { (label) } }
    };
    html! {
        form.search role="search" method="get" action=(context.url("/search")) data-live="hits" {
            label.hidden for="q" { "Search memories" }
            input #q type="search" name="q" value=(query.get("q")) placeholder="Search memories" autocomplete="off" maxlength="2000" autofocus;
            button type="submit" { "Search" }
            fieldset {
                legend.hidden { "Filters" }
                label { "Type " select name="type" {
                    (option("type", "", "any"))
                    @for kind in Kind::ALL { (option("type", kind.as_str(), kind.as_str())) }
                } }
                label { "Source " select name="source" {
                    (option("source", "", "any")) (option("source", "memory", "memories")) (option("source", "chat", "chats")) (option("source", "custom", "custom"))
                } }
                label { "Topic " input type="text" name="under" value=(query.get("under")) size="12"; }
                label { "Since " input type="date" name="since" value=(query.get("since")); }
            }
        }
    }
}

fn render_hits(context: &ViewContext<'_>, words: &str, answer: &Answer) -> Markup {
    let mut highlighter = Highlighter::new(words);
    html! {
        @if answer.hits.is_empty() {
            p { "No results. Try other words." }
        } @else {
            p.quiet { (layout::counted(answer.total as u64, "result", "results")) " · " (layout::counted(answer.searched.files, "file", "files")) " searched" }
        }
        ol.hits {
            @for hit in &answer.hits { (render_hit(context, hit, &mut highlighter)) }
        }
        (layout::notes(&answer.notes))
    }
}

fn render_hit(context: &ViewContext<'_>, hit: &Hit, highlighter: &mut Highlighter) -> Markup {
    let (first, last) = hit.lines.split_once('-').unwrap_or((&hit.lines, &hit.lines));
    let lines = if first == last { format!("line {first}") } else { format!("lines {first}–{last}") };
    let url = match &hit.chat {
        Some(chat) => context.url(&format!("/chat/{}?line={first}", encode(&format!("{}/{}", chat.host, chat.session)))),
        None => context.memory_url(hit.path.name()),
    };
    let title = hit.chat.as_ref().map_or(hit.path.name(), |chat| chat.title.as_str());
    let count = hit.text.lines().count();
    html! {
        li data-row {
            h2 { a.name href=(url) { (title) } @if let Some(outdated) = hit.outdated { span.tag { (outdated.as_str()) } } }
            @if let Some(replaced) = &hit.replaces { p.quiet { "shown in place of " (layout::memory_link(context, replaced)) ", which it supersedes" } }
            p.quiet {
                @if let Some(chat) = &hit.chat { "conversation in " (chat.host) " · " }
                (lines) " · score " (format!("{:.2}", hit.score)) " · " (hit.age)
                @if let Some(kind) = hit.kind { " · " (kind.as_str()) }
                // The heading of a conversation is its title.
                @if !hit.headings.is_empty() && hit.chat.is_none() { " · " (hit.headings.join(" › ")) }
            }
            pre.lines {
                @for line in hit.text.lines().take(MAX_LINES) {
                    span { (highlighter.line(&text::ellipsis(line, MAX_LINE_CHARS))) } "\n"
                }
            }
            @if count > MAX_LINES { p.quiet { (layout::counted((count - MAX_LINES) as u64, "more line", "more lines")) } }
            @if let Some(explain) = &hit.explain { (why(explain)) }
        }
    }
}

/// Why a hit has its rank.
fn why(explain: &Explain) -> Markup {
    html! {
        details {
            summary { "Why this result" }
            ul { @for line in explain.lines() { li { (line) } } }
        }
    }
}
