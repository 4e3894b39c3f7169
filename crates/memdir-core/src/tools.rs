//! The native tools: one table of names, texts, parameters and levels over the operations. Knows no protocol and no transport.
//! A failure is a result that says what to do next, never a panic.

pub(crate) mod args;
mod delete;
mod edit;
pub(crate) mod get;
mod log;
pub(crate) mod params;
mod prompts;
pub(crate) mod read;
mod rename;
pub(crate) mod search;
pub(crate) mod stats;
mod undo;
mod write;

use crate::{
    base::error::{Error, Result},
    memdir::Memdir,
};
use args::ToolArguments;
use params::Param;
pub use prompts::{PROMPTS, Prompt};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// A tool: its description for models, and the function that runs it.
pub struct Tool {
    /// The name it is called by.
    pub name: &'static str,
    /// The name shown to people.
    pub title: &'static str,
    /// The description for models, exactly as served.
    pub description: &'static str,
    /// Its parameters, in the order they are served.
    pub(crate) params: &'static [Param],
    /// Whether the schema has `additionalProperties: false`.
    pub closed: bool,
    /// The schema of its structured result, if it has one.
    pub output: Option<fn() -> Value>,
    /// What it may do to memories.
    pub level: Level,
    /// Whether the same call again changes nothing more.
    pub idempotent: bool,
    /// Whether the title is also an annotation, as older servers had it.
    pub titled: bool,
    /// Whether a host that shows the model only the names of tools should load this one at once.
    pub always_load: bool,
    /// Runs the tool.
    pub(crate) run: fn(&ToolContext, &ToolArguments<'_>) -> Result<ToolResult>,
}

/// What a tool may do to memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Reads only.
    Safe,
    /// Adds or changes memories; the earlier text stays in the journal.
    Changes,
    /// Removes or may overwrite memories; the journal keeps the text.
    Destroys,
}

impl Level {
    /// The name in the documentation.
    pub fn as_str(self) -> &'static str {
        match self {
            Level::Safe => "safe",
            Level::Changes => "changes",
            Level::Destroys => "destroys",
        }
    }
}

/// The context of a call: the space, and whether its actor is a single conversation.
#[derive(Clone)]
pub struct ToolContext {
    /// The space, with the caller as its actor.
    pub memdir: Memdir,
    /// Whether the actor is a single conversation, so that "my last change" is well defined.
    pub session: bool,
    /// The directory as the user named it, for tools that print paths.
    pub root: PathBuf,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// The part for programs.
    pub structured: Option<Value>,
    /// The part for models: compact, never a dump of the structured part.
    pub text: String,
    /// Whether the call failed.
    pub is_error: bool,
}

impl ToolResult {
    /// Returns a result with both parts.
    pub fn new(structured: Value, text: impl Into<String>) -> Self {
        ToolResult { structured: Some(structured), text: text.into(), is_error: false }
    }

    /// Returns a result without a structured part.
    pub fn text(text: impl Into<String>) -> Self {
        ToolResult { structured: None, text: text.into(), is_error: false }
    }

    /// Returns a failure without a structured part.
    pub fn failure(text: impl Into<String>) -> Self {
        ToolResult { structured: None, text: text.into(), is_error: true }
    }
}

impl From<&Error> for ToolResult {
    fn from(error: &Error) -> Self {
        let (message, hint) = (error.to_string(), error.hint());
        if let Error::Proposed { id, .. } = error {
            // Not a failure: a model that reads one tries again.
            let structured = json!({ "proposed": { "id": id, "message": message, "hint": hint } });
            return ToolResult::new(structured, format!("{message}. {hint}"));
        }
        let structured = json!({ "error": { "code": error.code(), "message": message, "hint": hint } });
        ToolResult { structured: Some(structured), text: format!("{message}. {hint}"), is_error: true }
    }
}

impl Tool {
    /// Runs the tool. An error becomes a result with `is_error` set.
    pub fn call(&self, caller: &ToolContext, arguments: &Map<String, Value>) -> ToolResult {
        let args = ToolArguments::new(self.name, self.params, arguments);
        let run = (self.run)(caller, &args);
        let is_proposed = matches!(run, Err(Error::Proposed { .. }));
        let mut result = run.unwrap_or_else(|error| ToolResult::from(&error));
        if is_proposed && self.output.is_some() {
            result.structured = Some(json!({ "result": result.text }));
        }
        // Clients validate failures against the output schema too, so a failure of such a tool is text only.
        if result.is_error && self.output.is_some() {
            result.structured = None;
        }
        result
    }

    /// The JSON Schema of the arguments, generated from the parameters.
    pub fn input_schema(&self) -> Value {
        params::input_schema(self.params, self.closed)
    }

    /// The tool as `tools/list` serves it.
    pub fn json(&self) -> Value {
        let mut annotations = json!({ "readOnlyHint": self.level == Level::Safe });
        // Older servers gave both hints for every tool; the protocol ignores this one for read-only tools.
        if self.level != Level::Safe || self.titled {
            annotations["destructiveHint"] = json!(self.level == Level::Destroys);
        }
        if self.level != Level::Safe {
            annotations["idempotentHint"] = json!(self.idempotent);
        }
        annotations["openWorldHint"] = json!(false);
        if self.titled {
            annotations["title"] = json!(self.title);
        }
        let mut tool = json!({
            "name": self.name,
            "title": self.title,
            "description": self.description.trim_end(),
            "inputSchema": self.input_schema(),
        });
        if let Some(output) = self.output {
            tool["outputSchema"] = output();
        }
        tool["annotations"] = annotations;
        if self.always_load {
            tool["_meta"] = json!({ "anthropic/alwaysLoad": true });
        }
        tool
    }
}

/// The native tools, in the order they are listed.
pub fn native() -> &'static [Tool] {
    ALL.split_last().map_or(ALL, |(_, usual)| usual)
}

/// The native tools and `memory_log`, for spaces whose memories are first written as a log.
pub fn native_with_log() -> &'static [Tool] {
    ALL
}

const ALL: &[Tool] =
    &[read::TOOL, search::TOOL, get::TOOL, write::TOOL, edit::TOOL, rename::TOOL, delete::TOOL, undo::TOOL, stats::TOOL, log::TOOL];
