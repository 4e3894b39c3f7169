//! `memory_move`: gives a memory another name, everywhere.

use super::{Caller, Level, Tool, ToolResult, args::Args, write::said};
use crate::base::error::Result;
use serde_json::json;

pub(super) const TOOL: Tool = Tool {
    name: "memory_move",
    title: "Rename a memory",
    description: include_str!("../../texts/tools/rename.md"),
    input: || {
        json!({ "type": "object", "properties": {
            "from": { "type": "string" },
            "to": { "type": "string", "description": "the new name; topics are made as needed" }
        }, "required": ["from", "to"] })
    },
    output: None,
    level: Level::Changes,
    idempotent: false,
    titled: false,
    run,
};

fn run(caller: &Caller, args: &Args<'_>) -> Result<ToolResult> {
    let from = args.path(&["from", "old_name", "old_path", "source", "path"])?;
    let to = args.path(&["to", "new_name", "new_path", "destination"])?;
    args.finish()?;
    let renamed = caller.memdir.rename(&from, &to)?;
    let mut sentence = format!("Renamed {} to {}", renamed.from, renamed.to);
    if !renamed.rewritten.is_empty() {
        sentence += &format!(". References rewritten in {}", renamed.rewritten.join(", "));
    }
    if !renamed.skipped.is_empty() {
        sentence += &format!(". Read-only, so still referring to the old name: {}", renamed.skipped.join(", "));
    }
    Ok(ToolResult::new(json!(renamed), said(&sentence, Some(&renamed.change), &renamed.notes)))
}
