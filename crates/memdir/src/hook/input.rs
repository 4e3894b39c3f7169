//! What a host says when it calls a hook. Every field is optional and has several spellings; what cannot be read is as if
//! it had not been said.

use crate::hosts::command::Shell;
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
        let text = text.trim_start_matches('\u{feff}');
        let value: Value = serde_json::from_str(text).or_else(|_| serde_json::from_str(&whole(text))).unwrap_or(Value::Null);
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

/// The JSON with every half of a surrogate pair that stands alone made the sign for what cannot be read: some hosts cut
/// texts in the middle of a character.
fn whole(json: &str) -> String {
    let half = |at: usize| -> Option<u32> {
        let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok().filter(|code| (0xd800..0xe000).contains(code))
    };
    let mut out = String::with_capacity(json.len());
    let mut at = 0;
    while let Some(c) = json[at..].chars().next() {
        let len = match (c, half(at)) {
            ('\\', Some(code)) if code < 0xdc00 && half(at + 6).is_some_and(|next| next >= 0xdc00) => 12,
            ('\\', Some(_)) => {
                out.push('\u{fffd}');
                at += 6;
                continue;
            }
            ('\\', None) => 1 + json[at + 1..].chars().next().map_or(0, char::len_utf8),
            _ => c.len_utf8(),
        };
        out.push_str(&json[at..at + len]);
        at += len;
    }
    out
}

/// Takes a patch out of a text: the files it names, and what it says without its marks.
fn patch(text: &str, action: &mut Action) -> Option<String> {
    let marks = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
    let (start, end) = (text.find("*** Begin Patch")?, "*** End Patch");
    let stop = text[start..].find(end).map_or(text.len(), |at| start + at);
    for line in text[start..stop].lines().skip(1).map(str::trim_end) {
        match marks.iter().find_map(|mark| line.strip_prefix(mark)) {
            Some(path) => action.paths.push(path.trim().to_owned()),
            None => action.text.push_str(&format!("{line}\n")),
        }
    }
    let after = text[stop..].strip_prefix(end).unwrap_or_default();
    Some(format!("{}{}", &text[..start], after.trim_start_matches(['\r', '\n'])).trim_end().to_owned())
}

/// Sorts everything a tool was given into commands, paths and other text, by the names of its fields. The files of a patch
/// are named inside of it.
fn gather(key: &str, value: &Value, action: &mut Action) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| gather(key, value, action)),
        Value::Array(values) if matches!(key, "command" | "cmd") && values.iter().all(Value::is_string) => {
            let words = values.iter().filter_map(Value::as_str).map(|word| patch(word, action).unwrap_or_else(|| word.to_owned()));
            let words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
            if let Some((program, args)) = words.split_first() {
                action.command.get_or_insert(Shell::Sh.line(program, args));
            }
        }
        Value::Array(values) => values.iter().for_each(|value| gather(key, value, action)),
        Value::String(text) => match key {
            _ if text.contains("*** Begin Patch") => {
                let rest = patch(text, action).filter(|rest| !rest.is_empty());
                match rest {
                    Some(rest) if matches!(key, "command" | "cmd" | "script") => drop(action.command.get_or_insert(rest)),
                    Some(rest) => action.text.push_str(&format!("{rest}\n")),
                    None => {}
                }
            }
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
