//! All memories as a tree: one topic at a time, with the topics and memories in it.

use crate::page::{
    layout::{self, counted},
    params::{Params, encode},
    reply::{ShellPage, ViewContext, ViewReply},
    validity,
};
use maud::{Markup, html};
use memdir_core::{
    Kind, List, ListedMemory, Memory, Result, Stored, Validity,
    internal::{
        base::{text, time},
        operations::ledger::UseCounts,
        secrets,
    },
};
use std::collections::BTreeMap;

/// Memories on one page of a topic. Each costs about 400 bytes of HTML, and the first page has at most 100 KB.
const PER_PAGE: usize = 100;
/// Topics on one page.
const MAX_TOPICS: usize = 200;

/// A topic below the one that is shown.
#[derive(Default)]
struct TopicRow {
    memories: usize,
    bytes: u64,
    newest_days: Option<i64>,
}

/// Shows the topic of `?topic=`.
pub(in crate::page) fn show(context: &ViewContext<'_>, _: &str, query: &Params) -> Result<ViewReply> {
    let topic = query.get("topic").trim_matches('/');
    let listing = context.space.memdir.list(&List { topic: topic.to_owned(), ..List::default() })?;
    let (topics, own) = split(topic, &listing.memories);
    let number = query.number("page");
    let shown: Vec<&ListedMemory> = own.iter().copied().skip((number - 1) * PER_PAGE).take(PER_PAGE).collect();
    let mut path = context.url("/memories?");
    if !topic.is_empty() {
        path.push_str(&format!("topic={}&", encode(topic)));
    }
    let title = if topic.is_empty() { "Memories".to_owned() } else { topic.to_owned() };
    let body = html! {
        @if !topic.is_empty() { (layout::breadcrumbs(context, topic)) }
        div.head {
            h1 { (title) }
            @if context.space.viewer.may_write {
                a.button href=(context.url(&format!("/new?topic={}", encode(topic)))) data-key="n" { "New memory" }
            }
        }
        p.quiet { (counted(listing.memories.len() as u64, "memory", "memories")) }
        @if listing.memories.is_empty() { p { "There are no memories here yet." } }
        @if number == 1 && !topics.is_empty() { (topic_table(context, topic, &topics)) }
        @if !shown.is_empty() { (memory_table(context, &shown)?) }
        (layout::pages(&path, number, own.len() > number * PER_PAGE))
        @if listing.left_out > 0 { p.quiet { "Files not listed: " (listing.left_out) ". " @if topics.is_empty() { "Use the search to find them." } @else { "Open a topic to see them." } } }
        (layout::notes(&listing.problems.iter().take(20).map(|problem| problem.what.clone()).collect::<Vec<_>>()))
    };
    Ok(ShellPage::reply(title, "/memories", body))
}

/// The topics directly below `topic`, with what they contain, and the memories directly in it.
fn split<'a>(topic: &str, memories: &'a [ListedMemory]) -> (BTreeMap<&'a str, TopicRow>, Vec<&'a ListedMemory>) {
    let mut topics: BTreeMap<&str, TopicRow> = BTreeMap::new();
    let mut own = Vec::new();
    let skip = if topic.is_empty() { 0 } else { topic.len() + 1 };
    for memory in memories {
        match memory.name.get(skip..).and_then(|rest| rest.split_once('/')) {
            Some((below, _)) => {
                let row = topics.entry(below).or_default();
                row.memories += 1;
                row.bytes += memory.bytes;
                row.newest_days = Some(row.newest_days.map_or(memory.age_days, |days| days.min(memory.age_days)));
            }
            None => own.push(memory),
        }
    }
    (topics, own)
}

fn topic_table(context: &ViewContext<'_>, topic: &str, topics: &BTreeMap<&str, TopicRow>) -> Markup {
    let url = |below: &str| {
        let whole = if topic.is_empty() { below.to_owned() } else { format!("{topic}/{below}") };
        context.url(&format!("/memories?topic={}", encode(&whole)))
    };
    html! {
        table.list {
            caption { "Topics" }
            thead { tr { th scope="col" { "Topic" } th.number scope="col" { "Memories" } th.number scope="col" { "Size" } th scope="col" { "Newest" } } }
            tbody {
                @for (below, row) in topics.iter().take(MAX_TOPICS) {
                    tr data-row {
                        td { a.name href=(url(below)) { (below) "/" } }
                        td.number data-label="Memories" { (row.memories) }
                        td.number data-label="Size" { (text::human_bytes(row.bytes)) }
                        td data-label="Newest" { (row.newest_days.map_or_else(String::new, time::format_age_days)) }
                    }
                }
            }
        }
        @if topics.len() > MAX_TOPICS { p.quiet { "Topics not listed: " (topics.len() - MAX_TOPICS) ". Use the search to find them." } }
    }
}

fn memory_table(context: &ViewContext<'_>, memories: &[&ListedMemory]) -> Result<Markup> {
    let memdir = &context.space.memdir;
    let uses = memdir.ledger().map(|ledger| ledger.read(memdir.store()));
    let mut rows = Vec::with_capacity(memories.len());
    let successions = validity::successions(context)?;
    for memory in memories {
        // Only what is shown is read: a listing with details would read every file of the topic. A file that is gone has its name only.
        rows.push((memory, memdir.store().get(&memory.path).ok().flatten().map(|stored| details(context, &stored))));
    }
    Ok(html! {
        table.list {
            caption { "Memories" }
            thead { tr { th scope="col" { "Name" } th scope="col" { "Description" } th scope="col" { "Type" } th scope="col" { "Age" } th.number scope="col" { "Size" } @if uses.is_some() { th.number scope="col" { "Used" } } } }
            tbody {
                @for (memory, details) in &rows {
                    @let leaf = memory.name.rsplit('/').next().unwrap_or_default();
                    @let is_superseded = successions.successor(&memory.path).is_some();
                    tr data-row {
                        td {
                            a.name href=(context.memory_url(&memory.name)) { (leaf) }
                            @if let Some(details) = details { (validity::mark(context, &details.validity, is_superseded)) }
                        }
                        td.wide { (details.as_ref().map_or("", |details| &details.description)) }
                        td data-label="Type" { (details.as_ref().map_or("", |details| details.kind)) }
                        td data-label="Age" { (details.as_ref().map_or(&memory.age, |details| &details.age)) }
                        td.number data-label="Size" { (text::human_bytes(memory.bytes)) }
                        @if let Some(uses) = &uses { td.number data-label="Used" { (used(&uses.memory(&memory.name))) } }
                    }
                }
            }
        }
    })
}

/// What the row of a memory shows of its file.
struct MemoryDetails {
    description: String,
    kind: &'static str,
    age: String,
    validity: Validity,
}

fn details(context: &ViewContext<'_>, stored: &Stored) -> MemoryDetails {
    let (memory, _) = Memory::parse(&text::decode(&stored.bytes).0);
    MemoryDetails {
        description: text::ellipsis(&secrets::redact(memory.description().unwrap_or_default()), 140).into_owned(),
        kind: memory.kind().map_or("", Kind::as_str),
        age: time::age(context.space.memdir.context().clock.now(), memory.last_confirmed(stored.stamp.modified())),
        validity: memory.validity(),
    }
}

/// How often agents used a memory: recalled, found, read or cited it, or were shown a rule.
fn used(counts: &UseCounts) -> u64 {
    counts.injected + counts.fired + counts.searched + counts.read + counts.cited
}
