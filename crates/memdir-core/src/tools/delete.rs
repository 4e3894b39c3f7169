//! `memory_delete`: deletes a memory.

use super::{
    Level, Tool, ToolContext, ToolResult,
    args::{PATH_ALIASES, ToolArguments},
    params::Param,
    write::sentence_with_change,
};
use crate::{base::error::Result, operations::delete::Delete};
use serde_json::json;

const PATH: Param = Param::text("path").aliases(PATH_ALIASES).required();

pub(super) const TOOL: Tool = Tool {
    name: "memory_delete",
    title: "Delete a memory",
    description: include_str!("../../texts/tools/delete.md"),
    params: &[PATH],
    closed: false,
    output: None,
    level: Level::Destroys,
    idempotent: true,
    titled: false,
    always_load: false,
    run,
};

fn run(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<ToolResult> {
    let path = args.path(&PATH)?;
    args.reject_unknown()?;
    let deleted = caller.memdir.delete(&Delete { path, expect: None })?;
    let text = sentence_with_change(&format!("Deleted {}", deleted.path.name()), Some(&deleted.change), &deleted.notes);
    Ok(ToolResult::new(json!(deleted), text))
}
