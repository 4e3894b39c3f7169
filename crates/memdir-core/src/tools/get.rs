//! `memory_get`: lines of one file, exactly as they are.

use super::{
    Caller, Level, Tool, ToolResult,
    args::{Args, PATH},
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
use serde_json::{Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "memory_get",
    title: "Read lines of a memory",
    description: include_str!("../../texts/tools/get.md"),
    input: || {
        json!({ "type": "object", "properties": {
            "path": { "type": "string", "description": "as memory_search returned it" },
            "lines": { "type": "string", "description": "42-56, 42- or 42; default all" },
            "from": { "type": "integer", "description": "instead of lines: the first" },
            "count": { "type": "integer", "description": "and how many" }
        }, "required": ["path"] })
    },
    output: None,
    level: Level::Safe,
    idempotent: true,
    titled: false,
    run,
};

fn run(caller: &Caller, args: &Args<'_>) -> Result<ToolResult> {
    let path = args.path(PATH)?;
    let lines = lines(args)?;
    args.finish()?;
    let reading = caller.memdir.read(&Read { path, lines, max_chars: limits::TOOL_CHARS })?;
    let mut text = String::new();
    read::render(&mut text, &reading);
    Ok(ToolResult::new(read::structured(&reading), text))
}

/// The lines that are asked for: as a range, or as a first one and how many. A number as `lines` is how many.
pub(crate) fn lines(args: &Args<'_>) -> Result<Option<LineRange>> {
    let from = args.whole(&["from", "from_line", "start", "offset"], 1..=i64::from(u32::MAX))?;
    let mut count = args.whole(&["count", "limit"], 1..=i64::from(u32::MAX))?;
    match args.any(&["lines", "range"]) {
        None => {}
        Some((_, Value::String(text))) if from.is_none() || text.contains('-') => return text.parse().map(Some),
        Some((name, value)) => {
            let number = value.as_i64().or_else(|| value.as_str().and_then(|text| text.trim().parse().ok())).filter(|n| *n > 0);
            count = Some(number.ok_or_else(|| Error::bad_input(name, "write 42-56, 42- or 42, or with from how many"))?);
        }
    }
    if from.is_none() && count.is_none() {
        return Ok(None);
    }
    let first = from.unwrap_or(1).unsigned_abs();
    Ok(Some(LineRange { first, last: count.map(|count| first + count.unsigned_abs() - 1) }))
}
