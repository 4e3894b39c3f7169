//! `memory_get`: lines of one file, byte for byte.

use super::{
    Level, Tool, ToolContext, ToolResult,
    args::{PATH_ALIASES, ToolArguments},
    params::{Param, ShownRange},
    read,
};
use crate::{
    base::{
        error::{Error, Result},
        limits,
        text::LineRange,
    },
    operations::read::Read,
};
use serde_json::Value;

const PATH: Param = Param::text("path").aliases(PATH_ALIASES).required().describe("as returned by memory_search");
const LINES: Param = Param::text("lines").aliases(LINES_ALIASES).describe("42-56, 42- or 42; default all");
const FROM: Param = Param::integer("from", 1, MAX_LINE)
    .aliases(FROM_ALIASES)
    .shown_range(ShownRange::Neither)
    .describe("first line to read; use instead of `lines`");

/// The last line that can be asked for.
pub(crate) const MAX_LINE: i64 = u32::MAX as i64;
pub(crate) const LINES_ALIASES: &[&str] = &["range"];
pub(crate) const FROM_ALIASES: &[&str] = &["from_line", "start", "offset"];
pub(crate) const COUNT: Param =
    Param::integer("count", 1, MAX_LINE).aliases(&["limit"]).shown_range(ShownRange::Neither).describe("number of lines, with `from`");

pub(super) const TOOL: Tool = Tool {
    name: "memory_get",
    title: "Read lines of a memory",
    description: include_str!("../../texts/tools/get.md"),
    params: &[PATH, LINES, FROM, COUNT],
    closed: false,
    output: None,
    level: Level::Safe,
    idempotent: true,
    titled: false,
    always_load: false,
    run,
};

fn run(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<ToolResult> {
    let path = args.path(&PATH)?;
    let lines = line_range(args, &LINES, &FROM)?;
    args.reject_unknown()?;
    let reading = caller.memdir.read(&Read { path, lines, max_chars: limits::TOOL_CHARS })?;
    let text = read::render(std::slice::from_ref(&reading), caller);
    Ok(ToolResult::new(read::structured(&reading), text))
}

/// Parses the requested lines: a range in `lines`, or the first line in `from` with the number of lines in `count` or `lines`.
/// Returns `None` if none of them was given.
pub(crate) fn line_range(args: &ToolArguments<'_>, lines: &Param, from: &Param) -> Result<Option<LineRange>> {
    let from = args.integer(from)?;
    let mut count = args.integer(&COUNT)?;
    match args.value(lines) {
        None => {}
        Some((_, Value::String(text))) if from.is_none() || text.contains('-') => return text.parse().map(Some),
        Some((name, value)) => {
            let number = value.as_i64().or_else(|| value.as_str().and_then(|text| text.trim().parse().ok())).filter(|n| *n > 0);
            count = Some(
                number
                    .ok_or_else(|| Error::bad_input(name, "use a range such as 42-56, 42- or 42, or, with `from`, the number of lines"))?,
            );
        }
    }
    if from.is_none() && count.is_none() {
        return Ok(None);
    }
    let first = from.unwrap_or(1).unsigned_abs();
    Ok(Some(LineRange { first, last: count.map(|count| first + count.unsigned_abs() - 1) }))
}
