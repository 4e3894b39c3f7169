//! The prompts with their arguments filled in, and with what memdir already knows. Knows no protocol.

use memdir_core::{
    base::{
        error::{Error, Result},
        text,
    },
    operations::list::List,
    tools::{self, Caller, PROMPTS, Prompt},
};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// The prompt that is the memory section of a system prompt. It has no argument and no text of its own.
pub(crate) const SECTION: &str = "memory";
pub(crate) const SECTION_TITLE: &str = "Memory section";
pub(crate) const SECTION_DESCRIPTION: &str = "The memory section for a system prompt: how to use this memory, and what it holds";

/// Characters of a listing in a prompt.
const LIST_CHARS: usize = 6_000;
/// The longest argument that is taken over.
const ARGUMENT_CHARS: usize = 20_000;

/// The prompt of that name.
pub(crate) fn find(name: &str) -> Option<&'static Prompt> {
    PROMPTS.iter().find(|prompt| prompt.name == name)
}

/// The text of a prompt.
pub(crate) fn render(prompt: &Prompt, caller: &Caller, arguments: &Map<String, Value>) -> Result<String> {
    let given = arguments.get(prompt.argument).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    if given.is_none() && prompt.required {
        return Err(Error::bad_input(prompt.argument, format!("{} needs it", prompt.name)));
    }
    let given = text::ellipsis(given.unwrap_or_default(), ARGUMENT_CHARS);
    let found = match prompt.name {
        "recall" => recalled(caller, &given),
        "review-memory" => listed(caller, &given)?,
        _ => String::new(),
    };
    let mut out = String::new();
    let mut rest = prompt.text.trim_end();
    // One pass, so that what is filled in is never read as a place to fill.
    while let Some((before, after)) = rest.split_once('{') {
        let (place, after) = after.split_once('}').unwrap_or((after, ""));
        out.push_str(before);
        out.push_str(if place == "found" { &found } else { &given });
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

fn recalled(caller: &Caller, topic: &str) -> String {
    let search = tools::native().iter().find(|tool| tool.name == "memory_search");
    let arguments = json!({ "query": topic });
    match (search, arguments.as_object()) {
        (Some(search), Some(arguments)) => search.call(caller, arguments).text,
        _ => String::new(),
    }
}

fn listed(caller: &Caller, topic: &str) -> Result<String> {
    let listing = caller.memdir.list(&List { topic: topic.to_owned(), details: true, ..List::default() })?;
    let mut out = String::new();
    for (n, memory) in listing.memories.iter().enumerate() {
        if out.chars().count() > LIST_CHARS {
            let _ = writeln!(out, "- and {} more", listing.memories.len() - n);
            break;
        }
        let kind = memory.kind.map_or(String::new(), |kind| format!(", {kind}"));
        let description = memory.description.as_deref().map_or(String::new(), |text| format!(": {text}"));
        let _ = writeln!(out, "- {} ({}{kind}){description}", memory.name, memory.age);
    }
    Ok(if out.is_empty() { "(there are none)".into() } else { out.trim_end().to_owned() })
}
