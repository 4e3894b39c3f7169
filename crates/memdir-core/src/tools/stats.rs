//! `memory_stats`: how much there is.

use super::{Caller, Level, Tool, ToolResult, args::Args};
use crate::error::Result;
use serde_json::json;

pub(super) const TOOL: Tool = Tool {
    name: "memory_stats",
    title: "Count memories",
    description: include_str!("../../texts/tools/stats.md"),
    input: || json!({ "type": "object", "properties": {} }),
    output: None,
    level: Level::Safe,
    idempotent: true,
    titled: false,
    run,
};

fn run(caller: &Caller, args: &Args<'_>) -> Result<ToolResult> {
    args.finish()?;
    let stats = caller.memdir.stats()?;
    Ok(ToolResult::new(json!({ "files": stats.files }), format!("{} files.", stats.files)))
}
