//! `memory_edit`: replaces a part of a memory.

use super::{
    Caller, Level, Tool, ToolResult,
    args::{Args, PATH},
    write::said,
};
use crate::{base::error::Result, memory::edit::Needle, operations::edit::Edit};
use serde_json::json;

pub(super) const TOOL: Tool = Tool {
    name: "memory_edit",
    title: "Edit a memory",
    description: include_str!("../../texts/tools/edit.md"),
    input: || {
        json!({ "type": "object", "properties": {
            "path": { "type": "string" },
            "old": { "type": "string", "description": "the exact text, or a pattern" },
            "new": { "type": "string", "description": "with regex, $!1 is a group" },
            "regex": { "type": "boolean", "default": false },
            "all": { "type": "boolean", "default": false }
        }, "required": ["path", "old", "new"] })
    },
    output: None,
    level: Level::Changes,
    idempotent: false,
    titled: false,
    run,
};

fn run(caller: &Caller, args: &Args<'_>) -> Result<ToolResult> {
    let old = args.needed(&["old", "old_str", "old_string", "old_text", "needle"])?;
    let request = Edit {
        path: args.path(PATH)?,
        needle: if args.flag(&["regex"])? { Needle::Regex(old) } else { Needle::Literal(old) },
        with: args.needed(&["new", "new_str", "new_string", "new_text", "repl"])?,
        all: args.flag(&["all", "replace_all"])?,
        expect: None,
    };
    args.finish()?;
    let edited = caller.memdir.edit(&request)?;
    let places = if edited.replaced == 1 { "1 place".to_owned() } else { format!("{} places", edited.replaced) };
    let sentence = format!("Edited {} in {places}", edited.saved.path);
    Ok(ToolResult::new(json!(edited), said(&sentence, edited.saved.change.as_ref(), &edited.saved.notes)))
}
