//! Claude Code: one record per line; a rejection is the error of a tool, in a fixed sentence.

use super::{Lines, PROJECT_DIR};
use crate::generate::script::{Call, CallEnd, Step};
use serde_json::{Value, json};

pub(super) fn write(steps: &[Step], lines: &mut Lines) {
    for step in steps {
        match step {
            Step::Person(text) => lines.push(&record(lines, "user", json!({ "role": "user", "content": text }), Value::Null)),
            Step::Assistant(text) => {
                let message = json!({ "id": lines.unique("msg"), "role": "assistant", "content": [{ "type": "text", "text": text }] });
                lines.push(&record(lines, "assistant", message, Value::Null));
            }
            Step::Call(call, end) => write_call(call, end, lines),
        }
    }
}

fn write_call(call: &Call, end: &CallEnd, lines: &mut Lines) {
    let id = lines.unique("toolu");
    let (name, input) = match call {
        Call::Shell(command) => ("Bash", json!({ "command": command, "description": "Run a command" })),
        Call::Edit { path, old, new } => {
            ("Edit", json!({ "replace_all": false, "file_path": format!("{PROJECT_DIR}/{path}"), "old_string": old, "new_string": new }))
        }
        Call::Read(path) => ("Read", json!({ "file_path": format!("{PROJECT_DIR}/{path}") })),
        Call::SaveMemory(text) => ("mcp__memdir__memory_write", json!({ "path": "notes/key", "content": text })),
        Call::Write { path, text } => ("Write", json!({ "file_path": path, "content": text })),
    };
    let message = json!({ "id": lines.unique("msg"), "role": "assistant", "content": [{ "type": "tool_use", "id": id, "name": name, "input": input }] });
    lines.push(&record(lines, "assistant", message, Value::Null));
    const REJECTED: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file).";
    let (content, is_error, result) = match end {
        CallEnd::Ok(output) => (output.clone(), false, json!({ "stdout": output, "stderr": "", "interrupted": false })),
        CallEnd::Failed(status, output) => {
            let text = format!("Exit code {status}\n{output}");
            (text.clone(), true, json!(format!("Error: {text}")))
        }
        CallEnd::Denied(None) | CallEnd::Interrupted => (
            format!("{REJECTED} STOP what you are doing and wait for the user to tell you how to proceed."),
            true,
            json!("User rejected tool use"),
        ),
        CallEnd::Denied(Some(reason)) => {
            (format!("{REJECTED} To tell you how to proceed, the user said:\n{reason}"), true, json!("User rejected tool use"))
        }
        CallEnd::Refused(why) => (why.clone(), true, json!(format!("Error: {why}"))),
    };
    let mut block = json!({ "tool_use_id": id, "type": "tool_result", "content": content });
    if is_error {
        block["is_error"] = json!(true);
    }
    lines.push(&record(lines, "user", json!({ "role": "user", "content": [block] }), result));
    if matches!(end, CallEnd::Denied(None) | CallEnd::Interrupted) {
        let text = json!({ "role": "user", "content": [{ "type": "text", "text": "[Request interrupted by user for tool use]" }] });
        lines.push(&record(lines, "user", text, Value::Null));
    }
}

fn record(lines: &Lines, kind: &str, message: Value, result: Value) -> Value {
    let mut record = json!({
        "parentUuid": null, "isSidechain": false, "userType": "external", "cwd": PROJECT_DIR, "sessionId": lines.id, "version": "2.1.202",
        "gitBranch": "main", "type": kind, "message": message, "uuid": lines.unique("uuid"), "timestamp": lines.time(),
    });
    if !result.is_null() {
        record["toolUseResult"] = result;
    }
    record
}
