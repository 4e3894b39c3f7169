//! Edit, create and delete a memory. A save names the version it is based on; if another writer was faster, the conflict is shown
//! with both texts, and nothing is lost.

use crate::{
    http::error_status,
    page::{
        layout, lines,
        params::Params,
        reply::{ShellPage, ViewContext, ViewReply},
        validity,
        views::memory,
    },
};
use axum::http::StatusCode;
use maud::{Markup, html};
use memdir_core::{
    Delete, Error, Memory, MemoryPath, Result, Stored, Version, Write, WriteMode,
    internal::{
        base::limits,
        memory::edit::with_line_endings_of,
        operations::{diff, read},
    },
};

/// What is being edited.
struct EditForm<'a> {
    /// The name; empty for a new memory without one yet.
    name: &'a str,
    /// The version that the text is based on; empty for a new memory.
    version: String,
    text: &'a str,
    is_new: bool,
}

/// Shows the editor of a memory.
pub(in crate::page) fn show(context: &ViewContext<'_>, name: &str, _: &Params) -> Result<ViewReply> {
    let stored = stored(context, &MemoryPath::parse(name)?)?;
    context.space.memdir.store().check_writable(&stored.path)?;
    let text = text_of(&stored)?;
    let draft = EditForm { name: stored.path.name(), version: stored.version.to_string(), text, is_new: false };
    Ok(editor(context, &draft, StatusCode::OK, html! {}))
}

/// Shows the editor of a new memory.
pub(in crate::page) fn show_new(context: &ViewContext<'_>, _: &str, query: &Params) -> Result<ViewReply> {
    let topic = query.get("topic").trim_matches('/');
    let name = if topic.is_empty() { String::new() } else { format!("{topic}/") };
    let text = "---\ndescription: \ntype: project\n---\n\n";
    Ok(editor(context, &EditForm { name: &name, version: String::new(), text, is_new: true }, StatusCode::OK, html! {}))
}

/// Previews or saves a text.
pub(in crate::page) fn save(context: &ViewContext<'_>, _: &str, form: &Params) -> Result<ViewReply> {
    let (name, version) = (form.get("name").trim(), form.get("version"));
    let is_new = form.get("new") == "1";
    // Browsers send CRLF, whatever the file has.
    let text = form.get("text").replace("\r\n", "\n");
    let draft = EditForm { name, version: version.to_owned(), text: &text, is_new };
    if form.get("do") == "preview" {
        let preview = preview(context, &draft);
        return Ok(editor(context, &draft, StatusCode::OK, preview));
    }
    let saved = MemoryPath::parse(name).map_err(Error::from).and_then(|path| write(context, path, &draft));
    match saved {
        Ok(name) => Ok(ViewReply::Redirect(format!("{}?saved=1", context.memory_url(&name)))),
        Err(Error::Changed { path, found, .. }) => conflict(context, &draft, &path, found),
        // Not a refusal: the text is waiting for review.
        Err(error @ Error::Proposed { .. }) => Err(error),
        // The text must survive every refusal: a secret, a bad name, a full disk.
        Err(error) => {
            let message = html! { p.error role="alert" { (error.command_message()) } p { (layout::error_hint(context, &error)) } };
            Ok(editor(context, &draft, error_status(&error), message))
        }
    }
}

fn write(context: &ViewContext<'_>, path: MemoryPath, draft: &EditForm<'_>) -> Result<String> {
    let memdir = &context.space.memdir;
    if draft.text.trim().is_empty() {
        let why = if draft.is_new { "it is empty; enter some text" } else { "it is empty; enter some text, or delete the memory" };
        return Err(Error::bad_input("text", why));
    }
    if draft.is_new {
        return Ok(memdir.write(&Write::create(path, draft.text))?.name);
    }
    let base: Version = parse_version(&draft.version)?;
    let stored = memdir.store().get(&memdir.name(&path))?;
    // The endings of the file stay, so that a small correction is a small change.
    let content = match &stored {
        Some(stored) => with_line_endings_of(text_of(stored)?, draft.text).into_owned(),
        None => draft.text.to_owned(),
    };
    let path = stored.map_or(path, |stored| stored.path);
    let request = Write { expect: Some(base), ..Write::create(path, content).mode(WriteMode::Exact) };
    Ok(memdir.write(&request)?.name)
}

fn editor(context: &ViewContext<'_>, draft: &EditForm<'_>, status: StatusCode, above: Markup) -> ViewReply {
    let title = if draft.is_new { "New memory".to_owned() } else { format!("Edit {}", draft.name) };
    // After a preview or a refusal, the text is only on this page.
    let is_answer = context.is_answer;
    let cancel = if draft.is_new { context.url("/memories") } else { context.memory_url(draft.name) };
    let body = html! {
        @if !draft.is_new { (layout::breadcrumbs(context, draft.name)) }
        h1 { (title) }
        (above)
        form.edit method="post" action=(context.url("/save")) data-draft data-unsaved[is_answer] {
            (layout::form_token(context))
            input type="hidden" name="version" value=(draft.version);
            @if draft.is_new {
                input type="hidden" name="new" value="1";
                p { label for="name" { "Name" } input #name type="text" name="name" value=(draft.name) required placeholder="topic/name" autocomplete="off"; }
            } @else {
                input type="hidden" name="name" value=(draft.name);
            }
            p { label for="text" { "Text" } textarea #text name="text" rows="24" spellcheck="true" maxlength=(limits::MEMORY_BYTES) { "\n" (draft.text) } }
            div.actions {
                button.main type="submit" name="do" value="save" { "Save" }
                button type="submit" name="do" value="preview" { "Preview" }
                a.button href=(cancel) { "Cancel" }
            }
        }
    };
    ViewReply::Page(ShellPage { status, title, place: "/memories", body })
}

/// The text as it will look, and what changes.
fn preview(context: &ViewContext<'_>, draft: &EditForm<'_>) -> Markup {
    let (parsed, problems) = Memory::parse(draft.text);
    let path = MemoryPath::parse(draft.name).ok();
    let now = path.as_ref().and_then(|path| context.space.memdir.store().get(&context.space.memdir.name(path)).ok().flatten());
    html! {
        section.preview aria-label="Preview" {
            h2 { "Preview" }
            @for problem in &problems { p.error { (problem.what) } }
            @if let Some(path) = &path { article.text { (memory::render_text(context, &parsed, path)) } (memory::fields(&parsed)) (validity::section(context, &parsed, path, None)) }
            @if let (Some(path), Some(text)) = (&path, now.as_ref().and_then(|stored| text_of(stored).ok())) {
                h2 { "Changes" }
                (lines::diff(&diff::unified(path, text.replace("\r\n", "\n"), draft.text)))
            }
        }
    }
}

/// The conflict view: what the other writer changed, and the viewer's own text, which can still be saved.
fn conflict(context: &ViewContext<'_>, draft: &EditForm<'_>, path: &MemoryPath, found: Option<Version>) -> Result<ViewReply> {
    let memdir = &context.space.memdir;
    let base: Version = parse_version(&draft.version)?;
    // A version that was forgotten cannot be compared, and the viewer's text must survive that, too.
    let old = memdir.store().text_at(path, base).ok().flatten();
    let old = old.map(|bytes| String::from_utf8_lossy(&bytes).replace("\r\n", "\n"));
    let now = memdir.store().get(path)?;
    let theirs = now.as_ref().map(|stored| text_of(stored)).transpose()?.unwrap_or_default().replace("\r\n", "\n");
    let name = path.name();
    if now.is_some() && theirs == draft.text {
        // The same text was saved already, by a second press of the button or by another writer.
        return Ok(ViewReply::Redirect(format!("{}?saved=1", context.memory_url(name))));
    }
    let above = html! {
        p.error role="alert" {
            @if found.is_some() { "Another writer saved " (name) " while you were editing. Neither text is lost." }
            @else { "Another writer deleted " (name) " while you were editing. Your text is below." }
        }
        @if let Some(old) = &old {
            section { h2 { "Their changes" } (lines::diff(&diff::unified(path, old, &theirs))) }
        }
        section { h2 { "Changes if you save your text" } (lines::diff(&diff::unified(path, &theirs, draft.text))) }
        p {
            @if found.is_some() {
                "Copy what you want to keep into the text below, then save. " a href=(context.memory_url(name)) { "Keep their text instead" } "."
            } @else {
                "Save to create the memory again, or " a href=(context.url("/memories")) { "discard your text" } "."
            }
        }
    };
    let version = found.map(|version| version.to_string()).unwrap_or_default();
    let draft = EditForm { name, version, text: draft.text, is_new: found.is_none() };
    Ok(editor(context, &draft, StatusCode::CONFLICT, above))
}

/// Deletes a memory that is still as the viewer saw it.
pub(in crate::page) fn delete(context: &ViewContext<'_>, _: &str, form: &Params) -> Result<ViewReply> {
    let path = MemoryPath::parse(form.get("name"))?;
    let expect = parse_version(form.get("version"))?;
    let deleted = context.space.memdir.delete(&Delete { path, expect: Some(expect) })?;
    Ok(ViewReply::Redirect(context.url(&format!("/change/{}?done=1", deleted.change))))
}

fn parse_version(text: &str) -> Result<Version> {
    text.parse().map_err(|_| Error::bad_input("form", "the version of the memory is missing; open the memory again and repeat the change"))
}

fn stored(context: &ViewContext<'_>, path: &MemoryPath) -> Result<Stored> {
    let memdir = &context.space.memdir;
    memdir.store().get(&memdir.name(path))?.ok_or_else(|| read::not_found(memdir.store(), path))
}

/// The text of a file. Bytes that are not UTF-8 would be lost in a form.
fn text_of(stored: &Stored) -> Result<&str> {
    let why = "it is not valid UTF-8; edit it with a program that preserves invalid bytes";
    std::str::from_utf8(&stored.bytes).map_err(|_| Error::bad_input(stored.path.name(), why))
}
