//! How far a memory can be trusted, on pages: the fields of its validity, and marks for memories that rank behind others.

use super::{
    backlinks, layout,
    markdown::{self, LinkTarget},
    reply::ViewContext,
};
use maud::{Markup, html};
use memdir_core::{
    Memory, MemoryPath, MemoryStatus, Outdated, Result, SourceRef, Validity,
    internal::{memory::succession::Successions, secrets},
};

/// Which memories are replaced by others.
pub(super) fn successions(context: &ViewContext<'_>) -> Result<Successions> {
    let memdir = &context.space.memdir;
    Ok(memdir.recall_table(context.space.tripwires.as_deref())?.successions(memdir.store()))
}

/// Whether a field of the frontmatter is shown by [`section`].
pub(super) fn has_field(validity: &Validity, key: &str) -> bool {
    match key {
        "stale_after" => validity.stale_after.is_some(),
        "status" => validity.status.is_some(),
        "supersedes" => !validity.supersedes.is_empty(),
        "superseded_by" => !validity.superseded_by.is_empty(),
        "sources" => !validity.sources.is_empty(),
        "verified" => !validity.verified.is_empty(),
        _ => false,
    }
}

/// Why a memory ranks behind others today.
fn outdated(context: &ViewContext<'_>, validity: &Validity, is_superseded: bool) -> Option<Outdated> {
    let clock = &context.space.memdir.context().clock;
    if is_superseded { Some(Outdated::Superseded) } else { validity.outdated(|| clock.today()) }
}

/// The mark of a memory in a list: why it ranks behind others, or that it is a draft.
pub(super) fn mark(context: &ViewContext<'_>, validity: &Validity, is_superseded: bool) -> Markup {
    let is_draft = validity.status == Some(MemoryStatus::Draft);
    html! {
        @match outdated(context, validity, is_superseded) {
            Some(outdated) => span.tag { (outdated.as_str()) },
            None => { @if is_draft { span.tag { "draft" } } },
        }
    }
}

/// What the reader of a memory must know first: that it is no longer valid, and what replaces it.
pub(super) fn banner(context: &ViewContext<'_>, memory: &Memory, successor: Option<&MemoryPath>) -> Markup {
    let validity = memory.validity();
    html! {
        @match outdated(context, &validity, successor.is_some()) {
            Some(Outdated::Superseded) => p.error {
                "This memory is superseded" @if let Some(path) = successor { " by " (layout::memory_link(context, path.name())) } "."
            },
            Some(Outdated::Deprecated) => p.error { "This memory is deprecated." },
            Some(Outdated::Stale) => p.error {
                @if let Some(day) = validity.stale_after { "This memory went stale after " (day) ". " } @else { "This memory is stale. " }
                "Verify or correct it."
            },
            None => {},
        }
    }
}

/// The fields about validity. A memory without them has no section.
pub(super) fn section(context: &ViewContext<'_>, memory: &Memory, path: &MemoryPath, successor: Option<&MemoryPath>) -> Markup {
    let validity = memory.validity();
    if validity == Validity::default() && successor.is_none() {
        return html! {};
    }
    html! {
        section {
            h2 { "Validity" }
            dl {
                @if let Some(status) = validity.status { dt { "Status" } dd { (status.as_str()) } }
                @if let Some(day) = validity.stale_after { dt { "Stale after" } dd { (day) } }
                @if !validity.supersedes.is_empty() { dt { "Supersedes" } dd { (names(context, &validity.supersedes, path)) } }
                @if let Some(successor) = successor { dt { "Superseded by" } dd { (layout::memory_link(context, successor.name())) } }
                @else if !validity.superseded_by.is_empty() { dt { "Superseded by" } dd { (names(context, &validity.superseded_by, path)) } }
                @if !validity.sources.is_empty() { dt { "Sources" } dd { ul.plain { @for source in &validity.sources { li { (source_link(context, source)) } } } } }
                @if !validity.verified.is_empty() {
                    dt { "Verified" }
                    dd { ul.plain { @for one in &validity.verified { li {
                        @if let Some(at) = one.at { (at) }
                        @if let Some(by) = &one.by { " by " (secrets::redact(by)) }
                    } } } }
                }
            }
        }
    }
}

/// Names of memories as they are written, with links to those that exist.
fn names(context: &ViewContext<'_>, written: &[String], holder: &MemoryPath) -> Markup {
    let found = |name: &str| backlinks::destination(&context.space.memdir, name, true, holder);
    html! {
        ul.plain { @for name in written { li {
            @match found(name) {
                Some(path) => (layout::memory_link(context, path.name())),
                None => { (secrets::redact(name)) span.tag { "not found" } },
            }
        } } }
    }
}

fn source_link(context: &ViewContext<'_>, source: &SourceRef) -> Markup {
    let text = source.to_string();
    let shown = secrets::redact(&text);
    let url = match source {
        SourceRef::Url(url) => match markdown::web_target(url) {
            LinkTarget::Web(url) => Some(url),
            _ => None,
        },
        // The address of a secret would contain it.
        SourceRef::Chat(place) if shown == text => return layout::chat_link(context, place),
        SourceRef::Chat(_) | SourceRef::File { .. } | SourceRef::Other(_) => None,
    };
    let url = url.filter(|_| shown == text);
    html! {
        @match url {
            Some(url) => a href=(url) rel="noopener noreferrer" { (shown) },
            None => code { (shown) },
        }
    }
}
