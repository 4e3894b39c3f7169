//! Gemini CLI: a message lists its calls with their status and result.

use super::{PROJECT_DIR, TranscriptLines};
use crate::generate::script::{ScriptCall, ScriptEnd, ScriptStep};
use serde_json::{Value, json};

pub(super) fn write(steps: &[ScriptStep], lines: &mut TranscriptLines) {
    lines.push(
        &json!({ "sessionId": lines.id, "projectHash": "shop", "startTime": lines.time(), "lastUpdated": lines.time(), "kind": "main" }),
    );
    for step in steps {
        let (id, at) = (lines.unique("m"), lines.time());
        match step {
            ScriptStep::Person(text) => lines.push(&json!({ "id": id, "timestamp": at, "type": "user", "content": [{ "text": text }] })),
            ScriptStep::Assistant(text) => {
                lines.push(&json!({ "id": id, "timestamp": at, "type": "gemini", "content": text, "toolCalls": [] }))
            }
            ScriptStep::Call(call, end) => {
                let call = tool_call(call, end, &id, &at);
                lines.push(&json!({ "id": id, "timestamp": at, "type": "gemini", "content": "", "toolCalls": [call] }));
                // There is no field for a reason: the person types it.
                if let ScriptEnd::Denied(Some(reason)) = end {
                    let (id, at) = (lines.unique("m"), lines.time());
                    lines.push(&json!({ "id": id, "timestamp": at, "type": "user", "content": [{ "text": reason }] }));
                }
            }
        }
    }
}

fn tool_call(call: &ScriptCall, end: &ScriptEnd, id: &str, at: &str) -> Value {
    let (name, args) = match call {
        ScriptCall::Shell(command) => ("run_shell_command", json!({ "command": command, "description": "Runs a command" })),
        ScriptCall::Edit { path, old, new } => (
            "replace",
            json!({ "file_path": format!("{PROJECT_DIR}/{path}"), "old_string": old, "new_string": new, "instruction": "change" }),
        ),
        ScriptCall::Read(path) => ("read_file", json!({ "file_path": path })),
        ScriptCall::SaveMemory(text) => ("save_memory", json!({ "fact": text })),
        ScriptCall::Write { path, text } => ("write_file", json!({ "file_path": path, "content": text })),
    };
    let (status, response) = match end {
        ScriptEnd::Ok(output) => ("success", json!({ "output": output })),
        ScriptEnd::Failed(status, output) => {
            ("success", json!({ "output": format!("Output: {output}\nExit Code: {status}\nProcess Group PGID: 4242") }))
        }
        ScriptEnd::Denied(_) => ("cancelled", json!({ "error": "[Operation Cancelled] Reason: User denied execution." })),
        ScriptEnd::Interrupted => ("cancelled", json!({ "error": "[Operation Cancelled] Reason: User cancelled tool execution." })),
        ScriptEnd::Refused(why) => ("error", json!({ "error": format!("Tool execution blocked: {why}") })),
    };
    let id = format!("{name}-{id}");
    json!({ "id": id, "name": name, "args": args, "status": status, "timestamp": at,
        "result": [{ "functionResponse": { "id": id, "name": name, "response": response } }], "displayName": "Tool", "resultDisplay": "shown" })
}
