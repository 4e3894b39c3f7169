//! Copilot CLI: events; a message requests calls, whose ends are events of their own.

use super::{PROJECT_DIR, TranscriptLines};
use crate::generate::script::{ScriptCall, ScriptEnd, ScriptStep};
use serde_json::{Value, json};

pub(super) fn write(steps: &[ScriptStep], lines: &mut TranscriptLines) {
    let start = json!({ "sessionId": lines.id, "startTime": lines.time(), "context": { "cwd": PROJECT_DIR, "gitRoot": PROJECT_DIR, "branch": "main" } });
    push("session.start", start, lines);
    for step in steps {
        match step {
            ScriptStep::Person(text) => {
                push("user.message", json!({ "content": text, "transformedContent": format!("<now>x</now>{text}") }), lines)
            }
            ScriptStep::Assistant(text) => {
                push("assistant.message", json!({ "messageId": lines.unique("m"), "content": text, "toolRequests": [] }), lines);
            }
            ScriptStep::Call(call, end) => write_call(call, end, lines),
        }
    }
}

fn write_call(call: &ScriptCall, end: &ScriptEnd, lines: &mut TranscriptLines) {
    let id = lines.unique("call");
    let (name, arguments) = match call {
        ScriptCall::Shell(command) => ("bash", json!({ "command": command, "description": "Run a command" })),
        ScriptCall::Edit { path, old, new } => ("edit", json!({ "path": format!("{PROJECT_DIR}/{path}"), "old_str": old, "new_str": new })),
        ScriptCall::Read(path) => ("view", json!({ "path": format!("{PROJECT_DIR}/{path}") })),
        ScriptCall::SaveMemory(text) => ("memdir-memory_write", json!({ "path": "notes/key", "content": text })),
        ScriptCall::Write { path, text } => ("create", json!({ "path": path, "file_text": text })),
    };
    let request = json!({ "toolCallId": id, "name": name, "arguments": arguments, "type": "function" });
    push("assistant.message", json!({ "messageId": lines.unique("m"), "content": "", "toolRequests": [request] }), lines);
    push("tool.execution_start", json!({ "toolCallId": id, "toolName": name, "arguments": arguments }), lines);
    let is_shell = matches!(call, ScriptCall::Shell(_));
    let shown =
        |status: i64, output: &str| if is_shell { format!("{output}\n<exited with exit code {status}>") } else { output.to_owned() };
    let data = match end {
        ScriptEnd::Ok(output) => json!({ "toolCallId": id, "success": true, "result": { "content": shown(0, output) } }),
        ScriptEnd::Failed(status, output) => json!({ "toolCallId": id, "success": true, "result": { "content": shown(*status, output) } }),
        ScriptEnd::Denied(_) => {
            json!({ "toolCallId": id, "success": false, "error": { "message": "The user rejected this tool call.", "code": "rejected" } })
        }
        ScriptEnd::Interrupted => Value::Null,
        ScriptEnd::Refused(why) => {
            json!({ "toolCallId": id, "success": false, "error": { "message": format!("Denied by preToolUse hook: {why}"), "code": "denied" } })
        }
    };
    if data.is_null() {
        push("abort", json!({ "reason": "user initiated" }), lines);
    } else {
        push("tool.execution_complete", data, lines);
    }
    // There is no field for a reason: the person types it.
    if let ScriptEnd::Denied(Some(reason)) = end {
        push("user.message", json!({ "content": reason }), lines);
    }
}

fn push(kind: &str, data: Value, lines: &mut TranscriptLines) {
    lines.push(&json!({ "type": kind, "data": data, "id": lines.unique("event"), "timestamp": lines.time(), "parentId": null }));
}
