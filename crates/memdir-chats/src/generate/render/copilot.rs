//! Copilot CLI: events; a message requests calls, whose ends are events of their own.

use super::{Lines, PROJECT_DIR};
use crate::generate::script::{Call, CallEnd, Step};
use serde_json::{Value, json};

pub(super) fn write(steps: &[Step], lines: &mut Lines) {
    let start = json!({ "sessionId": lines.id, "startTime": lines.time(), "context": { "cwd": PROJECT_DIR, "gitRoot": PROJECT_DIR, "branch": "main" } });
    push("session.start", start, lines);
    for step in steps {
        match step {
            Step::Person(text) => {
                push("user.message", json!({ "content": text, "transformedContent": format!("<now>x</now>{text}") }), lines)
            }
            Step::Assistant(text) => {
                push("assistant.message", json!({ "messageId": lines.unique("m"), "content": text, "toolRequests": [] }), lines);
            }
            Step::Call(call, end) => write_call(call, end, lines),
        }
    }
}

fn write_call(call: &Call, end: &CallEnd, lines: &mut Lines) {
    let id = lines.unique("call");
    let (name, arguments) = match call {
        Call::Shell(command) => ("bash", json!({ "command": command, "description": "Run a command" })),
        Call::Edit { path, old, new } => ("edit", json!({ "path": format!("{PROJECT_DIR}/{path}"), "old_str": old, "new_str": new })),
        Call::Read(path) => ("view", json!({ "path": format!("{PROJECT_DIR}/{path}") })),
        Call::SaveMemory(text) => ("memdir-memory_write", json!({ "path": "notes/key", "content": text })),
        Call::Write { path, text } => ("create", json!({ "path": path, "file_text": text })),
    };
    let request = json!({ "toolCallId": id, "name": name, "arguments": arguments, "type": "function" });
    push("assistant.message", json!({ "messageId": lines.unique("m"), "content": "", "toolRequests": [request] }), lines);
    push("tool.execution_start", json!({ "toolCallId": id, "toolName": name, "arguments": arguments }), lines);
    let is_shell = matches!(call, Call::Shell(_));
    let shown =
        |status: i64, output: &str| if is_shell { format!("{output}\n<exited with exit code {status}>") } else { output.to_owned() };
    let data = match end {
        CallEnd::Ok(output) => json!({ "toolCallId": id, "success": true, "result": { "content": shown(0, output) } }),
        CallEnd::Failed(status, output) => json!({ "toolCallId": id, "success": true, "result": { "content": shown(*status, output) } }),
        CallEnd::Denied(_) => {
            json!({ "toolCallId": id, "success": false, "error": { "message": "The user rejected this tool call.", "code": "rejected" } })
        }
        CallEnd::Interrupted => Value::Null,
        CallEnd::Refused(why) => {
            json!({ "toolCallId": id, "success": false, "error": { "message": format!("Denied by preToolUse hook: {why}"), "code": "denied" } })
        }
    };
    if data.is_null() {
        push("abort", json!({ "reason": "user initiated" }), lines);
    } else {
        push("tool.execution_complete", data, lines);
    }
    // There is no field for a reason: the person types it.
    if let CallEnd::Denied(Some(reason)) = end {
        push("user.message", json!({ "content": reason }), lines);
    }
}

fn push(kind: &str, data: Value, lines: &mut Lines) {
    lines.push(&json!({ "type": kind, "data": data, "id": lines.unique("event"), "timestamp": lines.time(), "parentId": null }));
}
