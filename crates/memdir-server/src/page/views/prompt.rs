//! The memory section of a system prompt, exactly as an agent gets it, with the tokens of each part and each line.

use crate::page::{
    layout,
    params::Params,
    reply::{ShellPage, ViewContext, ViewReply},
};
use axum::http::StatusCode;
use maud::html;
use memdir_core::{
    Result,
    internal::{memory::lines::FenceScanner, recall::tokens},
};

/// A part of the section: a heading with the lines below it.
struct PromptPart<'a> {
    title: &'a str,
    lines: Vec<&'a str>,
}

/// Shows the section.
pub(in crate::page) fn show(context: &ViewContext<'_>, _: &str, _: &Params) -> Result<ViewReply> {
    let Some(section) = &context.space.section else {
        return Ok(layout::message_reply(StatusCode::NOT_FOUND, "Prompt", "This server does not provide a memory section."));
    };
    let text = section(&context.space.memdir)?;
    let parts = parts(&text);
    let body = html! {
        h1 { "Prompt" }
        p { "This is what an agent gets at the start of a session: about " strong { (tokens(&text)) " tokens" } ", " (text.len()) " bytes." }
        @for part in &parts {
            details.part open {
                summary { (part.title) " " span.quiet { (part.lines.iter().map(|line| tokens(line)).sum::<usize>()) " tokens" } }
                div.scroll tabindex="0" role="group" aria-label=(format!("Lines of {}", part.title)) {
                    table.prompt {
                        tbody {
                            @for line in &part.lines {
                                tr { td.number { @if !line.is_empty() { (tokens(line)) } } td { code { (line) } } }
                            }
                        }
                    }
                }
            }
        }
    };
    Ok(ShellPage::reply("Prompt", "/prompt", body))
}

fn parts(text: &str) -> Vec<PromptPart<'_>> {
    let mut parts: Vec<PromptPart<'_>> = Vec::new();
    let mut fences = FenceScanner::default();
    for line in text.lines() {
        let is_code = fences.is_code(line);
        let title = line.trim_start_matches('#').trim();
        if (line.starts_with('#') && !is_code) || parts.is_empty() {
            parts.push(PromptPart { title: if title.is_empty() { "Beginning" } else { title }, lines: Vec::new() });
        }
        if let Some(part) = parts.last_mut() {
            part.lines.push(line);
        }
    }
    parts
}
