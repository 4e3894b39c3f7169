//! `memory_move`: renames a memory and every reference to it.

use super::{Level, Tool, ToolContext, ToolResult, args::ToolArguments, params::Param, write::sentence_with_change};
use crate::base::error::Result;
use serde_json::json;

const FROM: Param = Param::text("from").aliases(&["old_name", "old_path", "source", "path"]).required();
const TO: Param =
    Param::text("to").aliases(&["new_name", "new_path", "destination"]).required().describe("the new name; topics are created as needed");

pub(super) const TOOL: Tool = Tool {
    name: "memory_move",
    title: "Rename a memory",
    description: include_str!("../../texts/tools/rename.md"),
    params: &[FROM, TO],
    closed: false,
    output: None,
    level: Level::Changes,
    idempotent: false,
    titled: false,
    always_load: false,
    run,
};

fn run(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<ToolResult> {
    let (from, to) = (args.path(&FROM)?, args.path(&TO)?);
    args.reject_unknown()?;
    let renamed = caller.memdir.rename(&from, &to)?;
    let mut sentence = format!("Renamed {} to {}", renamed.from.name(), renamed.to.name());
    if !renamed.rewritten.is_empty() {
        sentence += &format!(". Updated references in {}", renamed.rewritten.join(", "));
    }
    if !renamed.skipped.is_empty() {
        sentence += &format!(". References in read-only memories were not updated: {}", renamed.skipped.join(", "));
    }
    Ok(ToolResult::new(json!(renamed), sentence_with_change(&sentence, Some(&renamed.change), &renamed.notes)))
}
