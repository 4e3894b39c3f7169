//! The input of a hook. Every field is optional and has a different name in different hosts; a field that cannot be read counts as
//! missing.

use crate::hosts::{Host, ToolCall, command::Shell};
use memdir_chats::{COMMAND_KEYS, PATCH_BEGIN, PATCH_MARKS, PATH_KEYS};
use serde_json::Value;
use std::path::PathBuf;

/// The input of one call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HookInput {
    /// The id of the conversation.
    pub(crate) session: Option<String>,
    /// The id of the subagent, if the call is about one.
    pub(crate) agent: Option<String>,
    /// The file of its transcript.
    pub(crate) transcript: Option<PathBuf>,
    /// The directory of the conversation.
    pub(crate) cwd: Option<PathBuf>,
    /// The user's message.
    pub(crate) prompt: Option<String>,
    /// The tools that are about to run, or have run: one, unless the host reports several calls at once.
    pub(crate) actions: Vec<ToolAction>,
    /// The id of the tool call, in hosts that have one.
    pub(crate) call: Option<String>,
    /// Whether the conversation starts again without its earlier context: it was compacted or cleared.
    pub(crate) lost_context: bool,
    /// Whether the conversation began earlier: it is resumed, forked, compacted or cleared.
    pub(crate) is_continued: bool,
    /// Whether the context will be compacted, for the hook before that.
    pub(crate) will_compact: bool,
    /// Whether the agent continues only because a hook kept it from stopping.
    pub(crate) stop_hook_active: bool,
    /// What the agent answered, for the hook at its end.
    pub(crate) answer: Option<String>,
    /// The host's name for the event, in hosts that follow Claude Code.
    pub(crate) event: Option<String>,
}

/// A tool that is about to run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ToolAction {
    pub(crate) tool: String,
    /// The command line, for tools that run commands.
    pub(crate) command: Option<String>,
    /// The paths in its arguments.
    pub(crate) paths: Vec<String>,
    /// All other text in its arguments.
    pub(crate) text: String,
}

impl HookInput {
    /// Parses the input of a host. Invalid JSON gives an empty input.
    pub(crate) fn parse(host: &Host, text: &str) -> HookInput {
        let text = text.trim_start_matches('\u{feff}');
        let parsed = serde_json::from_str(text).or_else(|_| serde_json::from_str(&replace_lone_surrogates(text)));
        let Ok(value): Result<Value, _> = parsed else { return HookInput::default() };
        let string = |keys: &[&str]| keys.iter().find_map(|key| value[*key].as_str()).filter(|text| !text.is_empty()).map(str::to_owned);
        let workspace = || value["workspace_roots"][0].as_str().map(str::to_owned);
        HookInput {
            session: string(&["session_id", "conversation_id", "sessionId"]),
            agent: string(&["agent_id", "agentId"]),
            transcript: string(&["transcript_path", "transcriptPath"]).map(PathBuf::from),
            cwd: string(&["cwd", "workingDirectory"]).or_else(workspace).map(PathBuf::from),
            prompt: string(&["prompt"]).map(|prompt| (host.typed_text)(&prompt).into_owned()),
            actions: actions(host, &value),
            call: string(&["tool_use_id", "toolUseId"]),
            lost_context: value["source"].as_str().is_some_and(|source| matches!(source, "compact" | "clear")),
            is_continued: value["source"].as_str().is_some_and(|source| matches!(source, "resume" | "fork" | "compact" | "clear")),
            will_compact: (host.will_compact)(&value),
            // Cursor counts the follow-ups instead. A flag of another type is not taken for "no".
            stop_hook_active: ["stop_hook_active", "stopHookActive", "loop_count"].iter().any(|key| is_set(&value[*key])),
            answer: string(&["last_assistant_message", "prompt_response"]),
            event: string(&["hook_event_name", "hookEventName"]),
        }
    }
}

/// Whether a flag or a count of a host says more than no.
fn is_set(flag: &Value) -> bool {
    match flag {
        Value::Null | Value::Bool(false) => false,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !matches!(text.as_str(), "" | "false" | "0"),
        Value::Bool(true) | Value::Array(_) | Value::Object(_) => true,
    }
}

/// The tools that are about to run.
fn actions(host: &Host, value: &Value) -> Vec<ToolAction> {
    match (host.tool_call)(value) {
        ToolCall::Command { tool, line } => vec![ToolAction { tool: tool.to_owned(), command: line, ..ToolAction::default() }],
        ToolCall::Duplicate => Vec::new(),
        ToolCall::Named => match value["toolCalls"].as_array() {
            Some(calls) if !calls.is_empty() => calls.iter().filter_map(|call| action(call, &["name"], &["args"])).collect(),
            _ => action(value, &["tool_name", "toolName"], &["tool_input", "toolArgs", "toolInput"]).into_iter().collect(),
        },
    }
}

/// One tool that is about to run, under the keys of its name and its arguments.
fn action(call: &Value, names: &[&str], inputs: &[&str]) -> Option<ToolAction> {
    let text = |key: &&str| call[*key].as_str().filter(|text| !text.is_empty());
    let tool = names.iter().find_map(text)?.to_owned();
    let input = inputs.iter().map(|key| &call[*key]).find(|input| !input.is_null());
    // Some hosts send the arguments as a string of JSON.
    let parsed = input.and_then(Value::as_str).and_then(|text| serde_json::from_str(text).ok());
    let mut action = ToolAction { tool, ..ToolAction::default() };
    collect("", parsed.as_ref().or(input).unwrap_or(&Value::Null), &mut action);
    Some(action)
}

/// Replaces lone surrogates in JSON with U+FFFD: some hosts truncate texts in the middle of a character.
fn replace_lone_surrogates(json: &str) -> String {
    let surrogate = |at: usize| -> Option<u32> {
        let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok().filter(|code| (0xd800..0xe000).contains(code))
    };
    let mut out = String::with_capacity(json.len());
    let mut at = 0;
    while let Some(c) = json[at..].chars().next() {
        let len = match (c, surrogate(at)) {
            ('\\', Some(code)) if code < 0xdc00 && surrogate(at + 6).is_some_and(|next| next >= 0xdc00) => 12,
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

/// Moves a patch in a text to the paths and the text of the action; returns the rest of the text, or `None` without a patch.
fn extract_patch(text: &str, action: &mut ToolAction) -> Option<String> {
    let (start, end) = (text.find(PATCH_BEGIN)?, "*** End Patch");
    let stop = text[start..].find(end).map_or(text.len(), |at| start + at);
    for line in text[start..stop].lines().skip(1).map(str::trim_end) {
        match PATCH_MARKS.iter().find_map(|mark| line.strip_prefix(mark)) {
            Some(path) => action.paths.push(path.trim().to_owned()),
            None => action.text.push_str(&format!("{line}\n")),
        }
    }
    let after = text[stop..].strip_prefix(end).unwrap_or_default();
    Some(format!("{}{}", &text[..start], after.trim_start_matches(['\r', '\n'])).trim_end().to_owned())
}

/// Sorts the arguments of a tool into command, paths and other text, by the names of their fields. The paths of a patch are inside it.
fn collect(key: &str, value: &Value, action: &mut ToolAction) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| collect(key, value, action)),
        Value::Array(values) if COMMAND_KEYS.contains(&key) && values.iter().all(Value::is_string) => {
            let words = values.iter().filter_map(Value::as_str).map(|word| extract_patch(word, action).unwrap_or_else(|| word.to_owned()));
            let words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
            if let Some((program, args)) = words.split_first() {
                action.command.get_or_insert(Shell::Posix.line(program, args));
            }
        }
        Value::Array(values) => values.iter().for_each(|value| collect(key, value, action)),
        Value::String(text) => match key {
            _ if text.contains(PATCH_BEGIN) => {
                let rest = extract_patch(text, action).filter(|rest| !rest.is_empty());
                match rest {
                    Some(rest) if COMMAND_KEYS.contains(&key) => drop(action.command.get_or_insert(rest)),
                    Some(rest) => action.text.push_str(&format!("{rest}\n")),
                    None => {}
                }
            }
            key if COMMAND_KEYS.contains(&key) => drop(action.command.get_or_insert_with(|| text.clone())),
            key if PATH_KEYS.contains(&key) => action.paths.push(text.clone()),
            _ => {
                action.text.push_str(text);
                action.text.push('\n');
            }
        },
        _ => {}
    }
}
