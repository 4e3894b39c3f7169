//! `memory_delete`: forgets a memory.

use super::{
    Caller, Level, Tool, ToolResult,
    args::{Args, PATH},
    write::said,
};
use crate::{base::error::Result, operations::delete::Delete};
use serde_json::json;

pub(super) const TOOL: Tool = Tool {
    name: "memory_delete",
    title: "Delete a memory",
    description: include_str!("../../texts/tools/delete.md"),
    input: || json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] }),
    output: None,
    level: Level::Destroys,
    idempotent: true,
    titled: false,
    run,
};

fn run(caller: &Caller, args: &Args<'_>) -> Result<ToolResult> {
    let path = args.path(PATH)?;
    args.finish()?;
    let deleted = caller.memdir.delete(&Delete { path, expect: None })?;
    Ok(ToolResult::new(json!(deleted), said(&format!("Deleted {}", deleted.path), Some(&deleted.change), &deleted.notes)))
}
