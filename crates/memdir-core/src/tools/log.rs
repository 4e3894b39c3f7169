//! `memory_log`: an entry in the log of the day. Served where memories are first written as a log.

use super::{Caller, Level, Tool, ToolResult, args::Args, write::said};
use crate::{base::error::Result, prompt};
use serde_json::json;

pub(super) const TOOL: Tool = Tool {
    name: "memory_log",
    title: "Log",
    description: include_str!("../../texts/tools/log.md"),
    input: || {
        json!({ "type": "object", "properties": {
            "entry": { "type": "string", "description": "what happened, dates absolute; no secrets" }
        }, "required": ["entry"] })
    },
    output: None,
    level: Level::Changes,
    idempotent: false,
    titled: false,
    run,
};

fn run(caller: &Caller, args: &Args<'_>) -> Result<ToolResult> {
    let entry = args.needed(&["entry", "text", "content"])?;
    args.finish()?;
    let memdir = &caller.memdir;
    let saved = memdir.log(prompt::log_prefix(memdir.store(), memdir.context()), &entry)?;
    Ok(ToolResult::new(json!(saved), said(&format!("Logged in {}", saved.path), saved.change.as_ref(), &saved.notes)))
}
