//! Claude Code: one record per line; a rejection is the error of a tool, in a fixed sentence.

use super::{PROJECT_DIR, TranscriptLines};
use crate::generate::script::{ScriptCall, ScriptEnd, ScriptStep};
use serde_json::{Value, json};

pub(super) fn write(steps: &[ScriptStep], lines: &mut TranscriptLines) {
    for step in steps {
        match step {
            ScriptStep::Person(text) => lines.push(&record(lines, "user", json!({ "role": "user", "content": text }), Value::Null)),
            ScriptStep::Assistant(text) => {
                let message = json!({ "id": lines.unique("msg"), "role": "assistant", "content": [{ "type": "text", "text": text }] });
                lines.push(&record(lines, "assistant", message, Value::Null));
            }
            ScriptStep::Call(call, end) => write_call(call, end, lines),
        }
    }
}

fn write_call(call: &ScriptCall, end: &ScriptEnd, lines: &mut TranscriptLines) {
    let id = lines.unique("toolu");
    let (name, input) = match call {
        ScriptCall::Shell(command) => ("Bash", json!({ "command": command, "description": "Run a command" })),
        ScriptCall::Edit { path, old, new } => {
            ("Edit", json!({ "replace_all": false, "file_path": format!("{PROJECT_DIR}/{path}"), "old_string": old, "new_string": new }))
        }
        ScriptCall::Read(path) => ("Read", json!({ "file_path": format!("{PROJECT_DIR}/{path}") })),
        ScriptCall::SaveMemory(text) => ("mcp__memdir__memory_write", json!({ "path": "notes/key", "content": text })),
        ScriptCall::Write { path, text } => ("Write", json!({ "file_path": path, "content": text })),
    };
    let message = json!({ "id": lines.unique("msg"), "role": "assistant", "content": [{ "type": "tool_use", "id": id, "name": name, "input": input }] });
    lines.push(&record(lines, "assistant", message, Value::Null));
    const REJECTED: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file).";
    let (content, is_error, result) = match end {
        ScriptEnd::Ok(output) => (output.clone(), false, json!({ "stdout": output, "stderr": "", "interrupted": false })),
        ScriptEnd::Failed(status, output) => {
            let text = format!("Exit code {status}\n{output}");
            (text.clone(), true, json!(format!("Error: {text}")))
        }
        ScriptEnd::Denied(None) | ScriptEnd::Interrupted => (
            format!("{REJECTED} STOP what you are doing and wait for the user to tell you how to proceed."),
            true,
            json!("User rejected tool use"),
        ),
        ScriptEnd::Denied(Some(reason)) => {
            (format!("{REJECTED} To tell you how to proceed, the user said:\n{reason}"), true, json!("User rejected tool use"))
        }
        ScriptEnd::Refused(why) => (why.clone(), true, json!(format!("Error: {why}"))),
    };
    let mut block = json!({ "tool_use_id": id, "type": "tool_result", "content": content });
    if is_error {
        block["is_error"] = json!(true);
    }
    lines.push(&record(lines, "user", json!({ "role": "user", "content": [block] }), result));
    if matches!(end, ScriptEnd::Denied(None) | ScriptEnd::Interrupted) {
        let text = json!({ "role": "user", "content": [{ "type": "text", "text": "[Request interrupted by user for tool use]" }] });
        lines.push(&record(lines, "user", text, Value::Null));
    }
}

fn record(lines: &TranscriptLines, kind: &str, message: Value, result: Value) -> Value {
    let mut record = json!({
        "parentUuid": null, "isSidechain": false, "userType": "external", "cwd": PROJECT_DIR, "sessionId": lines.id, "version": "2.1.202",
        "gitBranch": "main", "type": kind, "message": message, "uuid": lines.unique("uuid"), "timestamp": lines.time(),
    });
    if !result.is_null() {
        record["toolUseResult"] = result;
    }
    record
}
