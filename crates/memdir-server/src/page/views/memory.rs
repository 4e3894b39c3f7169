//! One memory: its text, its fields, what it refers to and what refers to it, its history, what is wrong with it, and what would
//! recall it.

use crate::page::{
    backlinks, layout, lines,
    markdown::{self, LinkTarget},
    params::{Params, encode},
    reply::{ShellPage, ViewContext, ViewReply},
    validity,
};
use maud::{Markup, html};
use memdir_core::{
    Change, ChangeFilter, Memory, MemoryPath, Read, Reading, Recall, Result, Validity, Verify,
    internal::{
        base::{shell::name_command, text},
        operations::{
            diff, undo,
            verify::{self, ProjectLookup},
        },
        recall::when,
        secrets,
    },
};

/// Characters of a memory that are rendered. A longer one is not read in a browser.
const MAX_CHARS: usize = 200_000;
/// Changes of the history that are shown, with their diffs.
const MAX_CHANGES: usize = 20;

/// Shows a memory.
pub(in crate::page) fn show(context: &ViewContext<'_>, name: &str, query: &Params) -> Result<ViewReply> {
    let memdir = &context.space.memdir;
    let reading = memdir.read(&Read { max_chars: MAX_CHARS, ..Read::all(MemoryPath::parse(name)?) })?;
    let (memory, _) = Memory::parse(&reading.content);
    let title = secrets::redact(memory.title(&reading.name)).into_owned();
    let linked = backlinks::linked(memdir, &reading.content, &reading.path);
    let linking = context.space.backlinks.to(memdir, &reading.path)?;
    let successions = validity::successions(context)?;
    let successor = successions.successor(&reading.path);
    let is_plain = query.get("plain") == "1";
    let body = html! {
        (layout::breadcrumbs(context, &reading.name))
        @if query.get("saved") == "1" { p.done role="status" { "Saved." } }
        div.head {
            h1 { (title) }
            (buttons(context, &reading))
        }
        p.quiet {
            @if title != reading.name { code { (reading.name) } " · " }
            (reading.age) " · " (text::human_bytes(reading.bytes)) " · "
            (layout::counted(reading.total_lines, "line", "lines")) " · version " code { (reading.version.short()) }
        }
        (validity::banner(context, &memory, successor))
        div.columns {
            div {
                article.text {
                    @if is_plain {
                        pre.lines { (secrets::redact(&reading.content)) }
                    } @else {
                        (render_text(context, &memory, &reading.path))
                    }
                    @if let Some(next) = reading.next_line { p.quiet {
                        "Truncated before line " (next)
                        @if context.space.machine.is_some() { "; read the rest with: " (name_command("memdir read", &reading.name, &format!("--lines {next}-"))) } @else { "." }
                    } }
                    p.quiet {
                        @if is_plain { a href=(context.memory_url(&reading.name)) { "Show the rendered text" } }
                        @else { a href=(format!("{}?plain=1", context.memory_url(&reading.name))) { "Show the Markdown source" } }
                    }
                }
                (recalls(context, &memory, &reading, query.get("message"))?)
                (history(context, &reading)?)
            }
            aside aria-label="About this memory" {
                (fields(&memory))
                (validity::section(context, &memory, &reading.path, successor))
                (references(context, "Links", "This memory does not refer to any other memory.", &linked))
                (references(context, "Backlinks", "No other memory refers to this one.", &linking))
                p { a href=(context.url(&format!("/near/{}", encode(&reading.name)))) { "Show related memories" } }
                (findings(context, &reading)?)
            }
        }
    };
    Ok(ShellPage::reply(title, "/memories", body))
}

fn buttons(context: &ViewContext<'_>, reading: &Reading) -> Markup {
    html! {
        @if context.space.viewer.may_write {
            div.actions {
                a.button href=(context.url(&format!("/edit/{}", encode(&reading.name)))) data-key="e" { "Edit" }
                form method="post" action=(context.url("/verify")) {
                    (layout::form_token(context))
                    input type="hidden" name="name" value=(reading.name);
                    button type="submit" { "Verify" }
                }
                form method="post" action=(context.url("/delete")) data-confirm=(format!("Delete {}? You can undo this.", reading.name)) {
                    (layout::form_token(context))
                    input type="hidden" name="name" value=(reading.name);
                    input type="hidden" name="version" value=(reading.version.to_string());
                    button.danger type="submit" { "Delete" }
                }
            }
        }
    }
}

/// Renders the body of a memory, with secrets redacted and links that lead to memories.
pub(in crate::page) fn render_text(context: &ViewContext<'_>, memory: &Memory, path: &MemoryPath) -> Markup {
    let body = secrets::redact(memory.body());
    markdown::render(&body, &|destination, is_wiki| match backlinks::destination(&context.space.memdir, destination, is_wiki, path) {
        Some(path) => LinkTarget::Page(context.memory_url(path.name())),
        None => markdown::web_target(destination),
    })
}

/// The frontmatter as fields. Those about validity have a section of their own.
pub(in crate::page) fn fields(memory: &Memory) -> Markup {
    let validity = memory.validity();
    let keys: Vec<&str> = memory.keys().filter(|key| !validity::has_field(&validity, key)).collect();
    html! {
        section {
            h2 { "Fields" }
            @if keys.is_empty() && validity == Validity::default() { p.quiet { "This memory has no fields." } }
            @else if keys.is_empty() { p.quiet { "All fields of this memory are listed under Validity." } }
            @else {
                dl {
                    @for key in keys {
                        dt { (key) }
                        dd { (field_value(memory, key)) }
                    }
                }
            }
        }
    }
}

/// The value of a field: lists that memdir knows as lists, everything else as it is written.
pub(in crate::page) fn field_value(memory: &Memory, key: &str) -> Markup {
    let cues = if key == "cues" { memory.cues() } else { Vec::new() };
    let tripwires = if key == "when" { when::parse_field(memory).0.tripwires } else { Vec::new() };
    html! {
        @if !cues.is_empty() {
            ul.plain { @for cue in &cues { li { (secrets::redact(cue)) } } }
        } @else if !tripwires.is_empty() {
            ul.plain { @for wire in &tripwires { li { (wire.over.name()) " " code { (secrets::redact(&wire.pattern)) } } } }
        } @else {
            (secrets::redact(memory.field(key).or_else(|| memory.raw(key)).unwrap_or("–")))
        }
    }
}

fn references(context: &ViewContext<'_>, title: &str, none: &str, paths: &[MemoryPath]) -> Markup {
    html! {
        section {
            h2 { (title) }
            @if paths.is_empty() { p.quiet { (none) } }
            @else { ul { @for path in paths.iter().take(50) { li { (layout::memory_link(context, path.name())) } } } }
            @if paths.len() > 50 { p.quiet { (paths.len() - 50) " more." } }
        }
    }
}

/// What is wrong with the file, and what it mentions that does not exist.
fn findings(context: &ViewContext<'_>, reading: &Reading) -> Result<Markup> {
    let look = context.space.project.as_ref().map(ProjectLookup::new);
    let mut found: Vec<String> = reading
        .problems
        .iter()
        .map(|problem| match problem.line {
            Some(line) => format!("line {line}: {}", problem.what),
            None => problem.what.clone(),
        })
        .collect();
    if let Some(look) = &look {
        found.extend(
            verify::missing_mentions(look, &reading.content)
                .iter()
                .map(|named| format!("line {}: {} does not exist", named.line, named.text)),
        );
    }
    let missing = verify::missing(context.space.memdir.store(), look.as_ref(), &reading.path, &reading.content)?;
    found.extend(missing.iter().map(|what| format!("mentions {what}")));
    Ok(html! {
        section {
            h2 { "Findings" }
            @if found.is_empty() { p.quiet { "No problems found." } }
            @else { ul.findings { @for one in found.iter().take(30) { li { (secrets::redact(one)) } } } }
        }
    })
}

/// What would recall it: cues, tripwires, and the answer for a message of the viewer.
fn recalls(context: &ViewContext<'_>, memory: &Memory, reading: &Reading, message: &str) -> Result<Markup> {
    let (cues, when) = (memory.cues(), when::parse_field(memory).0);
    let explained = if message.trim().is_empty() {
        None
    } else {
        let request = Recall { message: Some(message), cache: context.space.tripwires.as_deref(), ..Recall::default() };
        let all = context.space.memdir.explain_recall(&request, Some(&reading.path))?;
        all.into_iter().find(|one| one.name == reading.name)
    };
    Ok(html! {
        section #recall {
            h2 { "What recalls this memory" }
            @if memory.is_pinned() { p { "This memory is pinned: it is recalled with every message, if the token budget allows it." } }
            @if !when.tripwires.is_empty() {
                p { "These actions:" }
                ul {
                    @for wire in &when.tripwires {
                        li { (wire.over.name()) " " code { (secrets::redact(&wire.pattern)) } " – " (when.strength_of(wire).name()) }
                    }
                }
            }
            @if !cues.is_empty() { p { "Messages like: " @for (n, cue) in cues.iter().enumerate() { @if n > 0 { ", " } q { (secrets::redact(cue)) } } } }
            form.filters method="get" action=(format!("{}#recall", context.memory_url(&reading.name))) {
                label { "Try a message " input type="text" name="message" value=(message) maxlength="2000" size="40"; }
                button type="submit" { "Try" }
            }
            @if let Some(one) = explained {
                p role="status" { "With this message: " strong { (one.verdict_text()) } }
                @if !one.matched.is_empty() {
                    p.quiet { "Shared words: " (one.matched.iter().map(|(stem, _)| stem.as_str()).collect::<Vec<_>>().join(", ")) }
                }
            }
        }
    })
}

fn history(context: &ViewContext<'_>, reading: &Reading) -> Result<Markup> {
    let memdir = &context.space.memdir;
    let filter = ChangeFilter { path: Some(reading.path.clone()), most: MAX_CHANGES, ..ChangeFilter::default() };
    let changes = memdir.history(&filter)?;
    let unified = |change: &Change| {
        let file = change.files.iter().find(|file| file.path.name() == reading.name)?;
        Some((file.before, diff::file_diff(memdir.store(), file)))
    };
    Ok(html! {
        section {
            h2 { "History" }
            @if changes.is_empty() { p.quiet { "There are no recorded changes." } }
            ol.changes {
                @for change in &changes {
                    li data-row {
                        details {
                            summary {
                                (undo::describe(change)) " "
                                span.quiet { "by " (change.actor.name) ", " (layout::when(context, change.at)) }
                            }
                            @match unified(change) {
                                Some((before, Ok(unified))) => {
                                    (lines::diff(&unified))
                                    @if let (Some(before), true) = (before, context.space.viewer.may_write) {
                                        form method="post" action=(context.url("/restore")) {
                                            (layout::form_token(context))
                                            input type="hidden" name="name" value=(reading.name);
                                            input type="hidden" name="version" value=(before.to_string());
                                            button type="submit" { "Restore the version before this change" }
                                        }
                                    }
                                },
                                Some((_, Err(error))) => p.quiet { (error.to_string()) },
                                None => p.quiet { "At the time of this change, the memory had a different name." },
                            }
                            p { a href=(context.url(&format!("/change/{}", change.id))) { "View the whole change " (change.id.to_string()) } }
                        }
                    }
                }
            }
        }
    })
}

/// Verifies a memory, and records today as its verification date if everything it mentions exists.
pub(in crate::page) fn verify(context: &ViewContext<'_>, _: &str, form: &Params) -> Result<ViewReply> {
    let path = MemoryPath::parse(form.get("name"))?;
    let request = Verify { path, project: context.space.project.as_ref(), anyway: form.get("anyway") == "1", history: None };
    let verified = context.space.memdir.verify(&request)?;
    if verified.stamped {
        return Ok(ViewReply::Redirect(format!("{}?saved=1", context.memory_url(&verified.name))));
    }
    let body = html! {
        (layout::breadcrumbs(context, &verified.name))
        h1 { "Not verified: " (verified.name) }
        p { "This memory mentions things that do not exist:" }
        ul.findings { @for gone in &verified.gone { li { "line " (gone.line) ": " (secrets::redact(&gone.text)) } } }
        div.actions {
            a.button href=(context.url(&format!("/edit/{}", encode(&verified.name)))) data-key="e" { "Edit" }
            form method="post" action=(context.url("/verify")) {
                (layout::form_token(context))
                input type="hidden" name="name" value=(verified.name);
                input type="hidden" name="anyway" value="1";
                button type="submit" { "Mark as verified anyway" }
            }
        }
    };
    Ok(ShellPage::reply(format!("Not verified: {}", verified.name), "/memories", body))
}
