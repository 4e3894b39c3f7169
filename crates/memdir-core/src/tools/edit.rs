//! `memory_edit`: replaces a part of a memory.

use super::{
    Level, Tool, ToolContext, ToolResult,
    args::{PATH_ALIASES, ToolArguments},
    params::Param,
    write::{UNCHANGED, sentence_with_change},
};
use crate::{
    base::{error::Result, text},
    memory::edit::Needle,
    operations::edit::Edit,
};
use serde_json::json;

const PATH: Param = Param::text("path").aliases(PATH_ALIASES).required();
const OLD: Param =
    Param::text("old").aliases(&["old_str", "old_string", "old_text", "needle"]).required().describe("exact text to replace, or a pattern");
const NEW: Param = Param::text("new")
    .aliases(&["new_str", "new_string", "new_text", "repl"])
    .required()
    .describe("replacement text; with regex, $!1 is the first group");
const REGEX: Param = Param::flag("regex").default_flag(false);
const ALL: Param = Param::flag("all").aliases(&["replace_all"]).default_flag(false);

pub(super) const TOOL: Tool = Tool {
    name: "memory_edit",
    title: "Edit a memory",
    description: include_str!("../../texts/tools/edit.md"),
    params: &[PATH, OLD, NEW, REGEX, ALL],
    closed: false,
    output: None,
    level: Level::Changes,
    idempotent: false,
    titled: false,
    always_load: false,
    run,
};

fn run(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<ToolResult> {
    let old = args.required_text(&OLD)?;
    let request = Edit {
        path: args.path(&PATH)?,
        needle: if args.flag(&REGEX)? { Needle::Regex(old) } else { Needle::Literal(old) },
        with: args.required_text(&NEW)?,
        all: args.flag(&ALL)?,
        expect: None,
        final_newline: true,
    };
    args.reject_unknown()?;
    let edited = caller.memdir.edit(&request)?;
    let places = text::counted(edited.replaced as u64, "place", "places");
    let sentence = match &edited.saved.change {
        Some(_) => format!("Edited {} in {places}", edited.saved.name),
        None => format!("{UNCHANGED} {}", edited.saved.name),
    };
    let text = sentence_with_change(&sentence, edited.saved.change.as_ref(), &edited.saved.notes);
    Ok(ToolResult::new(json!(edited), text))
}
