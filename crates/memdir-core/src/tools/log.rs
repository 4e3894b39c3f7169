//! `memory_log`: appends an entry to today's log. Served if memories are first written as a log.

use super::{Level, Tool, ToolContext, ToolResult, args::ToolArguments, params::Param, write::sentence_with_change};
use crate::{base::error::Result, prompt};
use serde_json::json;

const ENTRY: Param =
    Param::text("entry").aliases(&["text", "content"]).required().describe("what happened, with absolute dates; no secrets");

pub(super) const TOOL: Tool = Tool {
    name: "memory_log",
    title: "Log",
    description: include_str!("../../texts/tools/log.md"),
    params: &[ENTRY],
    closed: false,
    output: None,
    level: Level::Changes,
    idempotent: false,
    titled: false,
    always_load: false,
    run,
};

fn run(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<ToolResult> {
    let entry = args.required_text(&ENTRY)?;
    args.reject_unknown()?;
    let memdir = &caller.memdir;
    let saved = memdir.log(prompt::log_prefix(memdir.store(), memdir.context()), &entry)?;
    let text = sentence_with_change(&format!("Logged in {}", saved.name), saved.change.as_ref(), &saved.notes);
    Ok(ToolResult::new(json!(saved), text))
}
