//! `memory_write`: saves a memory and its entrypoint line.

use super::{
    Level, Tool, ToolContext, ToolResult,
    args::{PATH_ALIASES, ToolArguments},
    params::Param,
};
use crate::{
    base::{
        error::{Error, Result},
        version::Version,
    },
    memory::Kind,
    operations::write::{Write, WriteMode},
    store::ChangeId,
};
use serde_json::json;

const PATH: Param =
    Param::text("path").aliases(PATH_ALIASES).required().describe("e.g. notes/deploy; add the prefix team/ or user/ to choose where");
const CONTENT: Param = Param::text("content")
    .aliases(&["text", "body", "file_text"])
    .empty_is_value()
    .describe("Markdown, with absolute dates; omit it to set only the other fields of an existing memory");
const MODE: Param = Param::choice("mode", &["create", "replace", "append"]).default_text("create");
const TYPE: Param = Param::choice("type", &Kind::NAMES)
    .aliases(&["kind"])
    .describe("user: the person; feedback: how to work; project: ongoing work; reference: outside systems");
const TITLE: Param = Param::text("title").unserved();
const DESCRIPTION: Param = Param::text("description").describe("one line for the entrypoint");
const CUES: Param = Param::text_list("cues")
    .aliases(&["cue"])
    .describe("phrases that later searches may use, at most 8 with a total of 300 bytes; omit to keep the existing ones; [] removes them");
const WHEN: Param = Param::object("when").describe(
    "rule to show before an action: globs for command, path, words or tools, and strength (tell, hold, ask or deny); omit to keep it; {} removes it",
);
const PINNED: Param = Param::flag("pinned").describe("recall before other memories; omit to keep the value");
const EXPECTED_VERSION: Param =
    Param::text("expectedVersion").aliases(&["expected_version", "version"]).describe("fail unless the memory still has this version");

pub(super) const TOOL: Tool = Tool {
    name: "memory_write",
    title: "Save a memory",
    description: include_str!("../../texts/tools/write.md"),
    params: &[PATH, CONTENT, MODE, TYPE, TITLE, DESCRIPTION, CUES, WHEN, PINNED, EXPECTED_VERSION],
    closed: false,
    output: None,
    level: Level::Changes,
    idempotent: false,
    titled: false,
    always_load: true,
    run,
};

fn run(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<ToolResult> {
    let sets_fields = [&TYPE, &TITLE, &DESCRIPTION, &CUES, &WHEN, &PINNED].into_iter().any(|param| args.value(param).is_some());
    let content = args.text(&CONTENT)?;
    let mode = match args.choice_or_synonym(&MODE, &[("overwrite", "replace")])? {
        _ if content.is_none() && sets_fields => WriteMode::Fields,
        Some("replace") => WriteMode::Replace,
        Some("append") => WriteMode::Append,
        _ => WriteMode::Create,
    };
    let request = Write {
        path: args.path(&PATH)?,
        content: if mode == WriteMode::Fields { Vec::new() } else { args.required_text(&CONTENT)?.into_bytes() },
        mode,
        name: args.text(&TITLE)?,
        description: args.text(&DESCRIPTION)?,
        kind: args.text(&TYPE)?.map(|kind| kind.parse()).transpose()?,
        cues: args.value(&CUES).map(|_| args.texts(&CUES)).transpose()?,
        when: args.object(&WHEN)?,
        pinned: args.value(&PINNED).map(|_| args.flag(&PINNED)).transpose()?,
        expect: args.text(&EXPECTED_VERSION)?.map(|text| parse_version(&text)).transpose()?,
    };
    args.reject_unknown()?;
    let saved = caller.memdir.write(&request)?;
    let verb = match (&saved.change, saved.created) {
        (None, _) => UNCHANGED,
        (Some(_), true) => "Saved",
        (Some(_), false) => "Updated",
    };
    let text = sentence_with_change(&format!("{verb} {}", saved.name), saved.change.as_ref(), &saved.notes);
    Ok(ToolResult::new(json!(saved), text))
}

fn parse_version(text: &str) -> Result<Version> {
    text.parse().map_err(|_| Error::bad_input("expectedVersion", format!("{text:?} is not a version returned by memory_read")))
}

/// The verb of a write or an edit that leaves the memory as it is.
pub(super) const UNCHANGED: &str = "Unchanged:";

/// A sentence with the id of its change, if there is one, followed by the notes of the operation.
pub(super) fn sentence_with_change(sentence: &str, change: Option<&ChangeId>, notes: &[String]) -> String {
    let change = change.map_or_else(String::new, |change| format!(" (change {change})"));
    std::iter::once(format!("{sentence}{change}.")).chain(notes.iter().cloned()).collect::<Vec<_>>().join("\n")
}
