//! What a host says when it calls a hook. Every field is optional and has several spellings; what cannot be read is as if
//! it had not been said.

use serde_json::Value;
use std::path::PathBuf;

/// One call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Input {
    /// The conversation.
    pub(crate) session: Option<String>,
    /// Its transcript.
    pub(crate) transcript: Option<PathBuf>,
    /// The directory it is held in.
    pub(crate) cwd: Option<PathBuf>,
    /// The message.
    pub(crate) prompt: Option<String>,
    /// The tool that is about to run.
    pub(crate) action: Option<Action>,
    /// The agent only goes on because a hook asked for it.
    pub(crate) goes_on: bool,
    /// Whether the host names its events in its input, as those do that follow Claude Code.
    pub(crate) names_event: bool,
}

/// A tool that is about to run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Action {
    pub(crate) tool: String,
    /// The command line, where it is one that runs commands.
    pub(crate) command: Option<String>,
    /// The files it names.
    pub(crate) paths: Vec<String>,
    /// Every other text it was given.
    pub(crate) text: String,
}

impl Input {
    /// Reads what was said.
    pub(crate) fn parse(text: &str) -> Input {
        let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or(Value::Null);
        let string = |keys: &[&str]| keys.iter().find_map(|key| value[*key].as_str()).filter(|text| !text.is_empty()).map(str::to_owned);
        let workspace = || value["workspace_roots"][0].as_str().map(str::to_owned);
        Input {
            session: string(&["session_id", "conversation_id", "sessionId"]),
            transcript: string(&["transcript_path", "transcriptPath"]).map(PathBuf::from),
            cwd: string(&["cwd", "workingDirectory"]).or_else(workspace).map(PathBuf::from),
            prompt: string(&["prompt"]),
            action: tool(&value).map(|tool| action(tool, &value)),
            goes_on: ["stop_hook_active", "stopHookActive"].iter().any(|key| value[*key] == true),
            names_event: string(&["hook_event_name", "hookEventName"]).is_some(),
        }
    }
}

/// The tool that is about to run. Cursor tells of a command twice: once as a tool, and once by its own event, which
/// names no tool and is the one that counts.
fn tool(value: &Value) -> Option<String> {
    let text = |key: &str| value[key].as_str().filter(|text| !text.is_empty());
    match (text("hook_event_name"), text("tool_name").or(text("toolName"))) {
        (Some("beforeShellExecution"), None) => Some("Shell".to_owned()),
        (Some("preToolUse"), Some("Shell")) if !value["cursor_version"].is_null() => None,
        (_, tool) => tool.map(str::to_owned),
    }
}

fn action(tool: String, value: &Value) -> Action {
    if value["hook_event_name"] == "beforeShellExecution" {
        return Action { tool, command: value["command"].as_str().map(str::to_owned), ..Action::default() };
    }
    let input = ["tool_input", "toolArgs", "toolInput"].iter().map(|key| &value[*key]).find(|input| !input.is_null());
    // Some hosts send the arguments as a text of JSON.
    let parsed = input.and_then(Value::as_str).and_then(|text| serde_json::from_str(text).ok());
    let mut action = Action { tool, ..Action::default() };
    gather("", parsed.as_ref().or(input).unwrap_or(&Value::Null), &mut action);
    action
}

/// Sorts everything a tool was given into commands, paths and other text, by the names of its fields.
fn gather(key: &str, value: &Value, action: &mut Action) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| gather(key, value, action)),
        Value::Array(values) if matches!(key, "command" | "cmd") && values.iter().all(Value::is_string) => {
            let words: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
            action.command.get_or_insert(words.join(" "));
        }
        Value::Array(values) => values.iter().for_each(|value| gather(key, value, action)),
        Value::String(text) => match key {
            "command" | "cmd" | "script" => drop(action.command.get_or_insert_with(|| text.clone())),
            "file_path" | "filePath" | "path" | "paths" | "files" | "notebook_path" | "target_file" | "absolute_path" | "dir_path" => {
                action.paths.push(text.clone());
            }
            _ => {
                action.text.push_str(text);
                action.text.push('\n');
            }
        },
        _ => {}
    }
}
