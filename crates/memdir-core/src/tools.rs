//! The native tools: one table of names, texts, schemas and levels over the verbs. Knows no protocol and no transport;
//! a failure is a result that says what to do next, never a panic and never silence.

pub(crate) mod args;
mod delete;
mod edit;
pub(crate) mod get;
mod log;
mod prompts;
mod read;
mod rename;
pub(crate) mod search;
mod stats;
mod undo;
mod write;

use crate::{
    base::error::{Error, Result},
    memdir::Memdir,
};
use args::Args;
pub use prompts::{INSTRUCTIONS, PROMPTS, Prompt};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// A tool: what a model is told of it, and what it does.
pub struct Tool {
    /// What it is called by.
    pub name: &'static str,
    /// What people see.
    pub title: &'static str,
    /// What the model is told, exactly as served.
    pub description: &'static str,
    /// The schema of its arguments, without references.
    pub input: fn() -> Value,
    /// The schema of its structured result, where a program would use one.
    pub output: Option<fn() -> Value>,
    /// What it may do to memories.
    pub level: Level,
    /// Whether the same call again changes nothing more.
    pub idempotent: bool,
    /// Whether the title stands among the annotations too, as older servers did it.
    pub titled: bool,
    /// Does it.
    pub(crate) run: fn(&Caller, &Args<'_>) -> Result<ToolResult>,
}

/// What a tool may do to memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Reads only.
    Safe,
    /// Adds, or changes what is there; the earlier text stays in the journal.
    Changes,
    /// Takes something away.
    Destroys,
}

impl Level {
    /// The word in the docs.
    pub fn as_str(self) -> &'static str {
        match self {
            Level::Safe => "safe",
            Level::Changes => "changes",
            Level::Destroys => "destroys",
        }
    }
}

/// Who calls: a space, and whether the calls of one conversation can be told from another's.
#[derive(Clone)]
pub struct Caller {
    /// The space, with the caller as actor.
    pub memdir: Memdir,
    /// Whether the actor is one conversation alone, so that "my last change" means something.
    pub session: bool,
    /// The directory as a person named it, for tools that print paths.
    pub root: PathBuf,
}

/// What a tool answers.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// For programs.
    pub structured: Option<Value>,
    /// For models: compact, never a dump of the structured part.
    pub text: String,
    /// Whether it failed.
    pub is_error: bool,
}

impl ToolResult {
    /// A result with both parts.
    pub fn new(structured: Value, text: impl Into<String>) -> Self {
        ToolResult { structured: Some(structured), text: text.into(), is_error: false }
    }

    /// A result that is text alone.
    pub fn text(text: impl Into<String>) -> Self {
        ToolResult { structured: None, text: text.into(), is_error: false }
    }

    /// A failure that is text alone.
    pub fn failure(text: impl Into<String>) -> Self {
        ToolResult { structured: None, text: text.into(), is_error: true }
    }
}

impl From<&Error> for ToolResult {
    fn from(error: &Error) -> Self {
        let (message, hint) = (error.to_string(), error.hint());
        let structured = json!({ "error": { "code": error.code(), "message": message, "hint": hint } });
        ToolResult { structured: Some(structured), text: format!("{message}. {hint}"), is_error: true }
    }
}

impl Tool {
    /// Runs the tool. Whatever goes wrong is in the result.
    pub fn call(&self, caller: &Caller, arguments: &Map<String, Value>) -> ToolResult {
        let args = Args::new(self.name, arguments);
        let mut result = (self.run)(caller, &args).unwrap_or_else(|error| ToolResult::from(&error));
        // An output schema tells what success looks like. Clients hold failures against it too, so those are text alone.
        if result.is_error && self.output.is_some() {
            result.structured = None;
        }
        result
    }

    /// The tool as `tools/list` serves it.
    pub fn json(&self) -> Value {
        let mut annotations = json!({ "readOnlyHint": self.level == Level::Safe });
        if self.level != Level::Safe {
            annotations["destructiveHint"] = json!(self.level == Level::Destroys);
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
            "inputSchema": (self.input)(),
        });
        if let Some(output) = self.output {
            tool["outputSchema"] = output();
        }
        tool["annotations"] = annotations;
        tool
    }
}

/// The native tools, in the order they are listed.
pub fn native() -> &'static [Tool] {
    ALL.split_last().map_or(ALL, |(_, usual)| usual)
}

/// The same and the one that logs, for where memories are first written as a log.
pub fn native_with_log() -> &'static [Tool] {
    ALL
}

const ALL: &[Tool] =
    &[read::TOOL, search::TOOL, get::TOOL, write::TOOL, edit::TOOL, rename::TOOL, delete::TOOL, undo::TOOL, stats::TOOL, log::TOOL];
