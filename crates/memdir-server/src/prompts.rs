//! Renders prompts: fills in their arguments and the results of a search or a listing. Independent of the protocol.

use memdir_core::{
    CueProposals, Error, List, Result,
    internal::{
        base::{frame, text},
        tools::{self, PROMPTS, Prompt, ToolContext},
    },
};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// The name of the prompt that returns the memory section of a system prompt. It has no arguments and no template.
pub(crate) const SECTION: &str = "memory";
pub(crate) const SECTION_TITLE: &str = "Memory section";
pub(crate) const SECTION_DESCRIPTION: &str = "The memory section for a system prompt: how to use this memory, and what it contains";

/// Maximum number of characters of a listing in a prompt.
const MAX_LIST_CHARS: usize = 6_000;
/// Maximum number of proposed cues in a prompt.
const MAX_PROPOSED: usize = 30;
/// Number of characters after which an argument is truncated.
const MAX_ARGUMENT_CHARS: usize = 20_000;

/// Returns the prompt with this name.
pub(crate) fn find(name: &str) -> Option<&'static Prompt> {
    PROMPTS.iter().find(|prompt| prompt.name == name)
}

/// Returns the text of a prompt.
pub(crate) fn render(
    prompt: &Prompt,
    caller: &ToolContext,
    arguments: &Map<String, Value>,
    proposals: Option<&CueProposals>,
) -> Result<String> {
    let argument = arguments.get(prompt.argument).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    if argument.is_none() && prompt.required {
        return Err(Error::bad_input(prompt.argument, format!("it is required by the prompt {:?}", prompt.name)));
    }
    let argument = text::ellipsis(argument.unwrap_or_default(), MAX_ARGUMENT_CHARS);
    let context = match prompt.name {
        "recall" => search_results(caller, &argument),
        "review-memory" => listing(caller, &argument)?,
        "add-cues" => uncued(caller, &argument, proposals)?,
        _ => String::new(),
    };
    let context = frame::neutral(&context);
    let mut out = String::new();
    let mut rest = prompt.text.trim_end();
    // A single pass, so that placeholders inside the inserted text are not expanded.
    while let Some((before, after)) = rest.split_once('{') {
        let (placeholder, after) = after.split_once('}').unwrap_or((after, ""));
        out.push_str(before);
        out.push_str(if placeholder == "found" { &context } else { &argument });
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

fn search_results(caller: &ToolContext, topic: &str) -> String {
    let search = tools::native().iter().find(|tool| tool.name == "memory_search");
    let arguments = json!({ "query": topic });
    match (search, arguments.as_object()) {
        (Some(search), Some(arguments)) => search.call(caller, arguments).text,
        _ => String::new(),
    }
}

fn listing(caller: &ToolContext, topic: &str) -> Result<String> {
    let listing = caller.memdir.list(&List { topic: topic.to_owned(), details: true, ..List::default() })?;
    let mut out = String::new();
    for (n, memory) in listing.memories.iter().enumerate() {
        if out.chars().count() > MAX_LIST_CHARS {
            let _ = writeln!(out, "- and {} more", listing.memories.len() - n);
            break;
        }
        let kind = memory.kind.map_or(String::new(), |kind| format!(", {kind}"));
        let description = memory.description.as_deref().map_or(String::new(), |text| format!(": {text}"));
        let _ = writeln!(out, "- {} ({}{kind}){description}", memory.name, memory.age);
    }
    Ok(if out.is_empty() { "(no memories)".into() } else { out.trim_end().to_owned() })
}

/// The memories without cues, as many as fit, and the cues that were learned from use.
fn uncued(caller: &ToolContext, topic: &str, proposals: Option<&CueProposals>) -> Result<String> {
    let uncued = caller.memdir.without_cues(topic)?;
    let mut out = String::new();
    for (n, memory) in uncued.iter().enumerate() {
        if out.chars().count() > MAX_LIST_CHARS {
            let _ = writeln!(out, "- and {} more; this prompt lists them once these memories have cues", uncued.len() - n);
            break;
        }
        let _ = writeln!(out, "- {}: {}", memory.name, memory.description);
    }
    if uncued.is_empty() {
        out.push_str("(no memory lacks cues)\n");
    }
    let proposed = proposals.map(|proposals| proposals.pending(caller.memdir.store())).unwrap_or_default();
    if !proposed.is_empty() {
        out.push_str("\nProposed cues (searches that found nothing, after which the memory was read); keep the existing cues too:\n");
        for proposal in proposed.iter().rev().take(MAX_PROPOSED) {
            let _ = writeln!(out, "- {}: {:?}", proposal.name, proposal.cue);
        }
    }
    Ok(out.trim_end().to_owned())
}
