//! `memory_write`: saves a memory and its entrypoint line.

use super::{
    Caller, Level, Tool, ToolResult,
    args::{Args, PATH},
};
use crate::{
    base::{
        error::{Error, Result},
        version::Version,
    },
    operations::write::{Mode, Write},
    store::ChangeId,
};
use serde_json::json;

pub(super) const TOOL: Tool = Tool {
    name: "memory_write",
    title: "Save a memory",
    description: include_str!("../../texts/tools/write.md"),
    input: || {
        json!({ "type": "object", "properties": {
            "path": { "type": "string", "description": "e.g. notes/deploy; team/ or user/ before it choose where" },
            "content": { "type": "string", "description": "Markdown, dates absolute" },
            "mode": { "enum": ["create", "replace", "append"], "default": "create" },
            "type": { "enum": ["user", "feedback", "project", "reference"], "description": "the person; how to work; ongoing work; outside systems" },
            "description": { "type": "string", "description": "one line for the entrypoint" },
            "expectedVersion": { "type": "string", "description": "fail unless memory_read's version is still there" }
        }, "required": ["path", "content"] })
    },
    output: None,
    level: Level::Changes,
    idempotent: false,
    titled: false,
    run,
};

fn run(caller: &Caller, args: &Args<'_>) -> Result<ToolResult> {
    let request = Write {
        path: args.path(PATH)?,
        content: args.needed(&["content", "text", "body", "file_text"])?.into_bytes(),
        mode: mode(args.text(&["mode"])?.as_deref())?,
        name: args.text(&["title"])?,
        description: args.text(&["description"])?,
        kind: args.text(&["type", "kind"])?.map(|kind| kind.parse()).transpose()?,
        expect: args.text(&["expectedVersion", "expected_version", "version"])?.map(|text| version(&text)).transpose()?,
    };
    args.finish()?;
    let saved = caller.memdir.write(&request)?;
    let verb = if saved.created { "Saved" } else { "Updated" };
    Ok(ToolResult::new(json!(saved), said(&format!("{verb} {}", saved.path), saved.change.as_ref(), &saved.notes)))
}

fn mode(text: Option<&str>) -> Result<Mode> {
    match text {
        None | Some("create") => Ok(Mode::Create),
        Some("replace" | "overwrite") => Ok(Mode::Replace),
        Some("append") => Ok(Mode::Append),
        Some(other) => Err(Error::bad_input("mode", format!("{other:?} is not one of create, replace, append"))),
    }
}

fn version(text: &str) -> Result<Version> {
    text.parse().map_err(|_| Error::bad_input("expectedVersion", format!("{text:?} is not a version as memory_read gives it")))
}

/// A sentence with the id of its change, and what the writer should know.
pub(super) fn said(sentence: &str, change: Option<&ChangeId>, notes: &[String]) -> String {
    let change = change.map_or_else(|| ", which it was already".to_owned(), |change| format!(" (change {change})"));
    std::iter::once(format!("{sentence}{change}.")).chain(notes.iter().cloned()).collect::<Vec<_>>().join("\n")
}
