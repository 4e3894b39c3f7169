//! Codex CLI: calls and their outputs are items of their own; edits are patches; what a command returned is in the text of its output.

use super::{Lines, PROJECT_DIR};
use crate::generate::script::{Call, CallEnd, Step};
use serde_json::{Value, json};

pub(super) fn write(steps: &[Step], lines: &mut Lines) {
    let meta = json!({ "id": lines.id, "timestamp": lines.time(), "cwd": PROJECT_DIR, "cli_version": "0.99.0", "source": "cli", "git": { "branch": "main" } });
    lines.push(&json!({ "timestamp": lines.time(), "type": "session_meta", "payload": meta }));
    for step in steps {
        match step {
            Step::Person(text) => push_item(
                json!({ "type": "message", "id": lines.unique("msg"), "role": "user", "content": [{ "type": "input_text", "text": text }] }),
                lines,
            ),
            Step::Assistant(text) => push_item(
                json!({ "type": "message", "id": lines.unique("msg"), "role": "assistant", "content": [{ "type": "output_text", "text": text }] }),
                lines,
            ),
            Step::Call(call, end) => write_call(call, end, lines),
        }
    }
}

fn write_call(call: &Call, end: &CallEnd, lines: &mut Lines) {
    let id = lines.unique("call");
    let function =
        |name: &str, arguments: Value| json!({ "type": "function_call", "name": name, "arguments": arguments.to_string(), "call_id": id });
    let patch =
        |input: String| json!({ "type": "custom_tool_call", "status": "completed", "call_id": id, "name": "apply_patch", "input": input });
    let item = match call {
        Call::Shell(command) => function("shell", json!({ "command": ["bash", "-lc", command], "workdir": PROJECT_DIR })),
        Call::Read(path) => function("shell", json!({ "command": ["bash", "-lc", format!("cat {path}")] })),
        Call::SaveMemory(text) => function("mcp__memdir__memory_write", json!({ "path": "notes/key", "content": text })),
        Call::Edit { path, old, new } => patch(format!("*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch")),
        Call::Write { path, text } => patch(format!("*** Begin Patch\n*** Add File: {path}\n+{text}\n*** End Patch")),
    };
    let is_patch = item["type"] == "custom_tool_call";
    push_item(item, lines);
    let exited = |status: i64, output: &str| {
        if is_patch {
            json!({ "output": output, "metadata": { "exit_code": status, "duration_seconds": 0.1 } }).to_string()
        } else {
            format!("Exit code: {status}\nWall time: 0.2 seconds\nOutput:\n{output}\n")
        }
    };
    let output = match end {
        CallEnd::Ok(output) => exited(0, output),
        CallEnd::Failed(status, output) => exited(*status, output),
        CallEnd::Denied(_) if is_patch => "patch rejected by user".to_owned(),
        CallEnd::Denied(_) => "exec command rejected by user".to_owned(),
        CallEnd::Interrupted => "aborted by user after 3.1s".to_owned(),
        CallEnd::Refused(why) => why.clone(),
    };
    let kind = if is_patch { "custom_tool_call_output" } else { "function_call_output" };
    push_item(json!({ "type": kind, "call_id": id, "output": output }), lines);
    if matches!(end, CallEnd::Interrupted) {
        lines.push(
            &json!({ "timestamp": lines.time(), "type": "event_msg", "payload": { "type": "turn_aborted", "reason": "interrupted" } }),
        );
    }
    // Codex has no field for a reason: the person types it.
    if let CallEnd::Denied(Some(reason)) = end {
        push_item(
            json!({ "type": "message", "id": lines.unique("msg"), "role": "user", "content": [{ "type": "input_text", "text": reason }] }),
            lines,
        );
    }
}

fn push_item(payload: Value, lines: &mut Lines) {
    lines.push(&json!({ "timestamp": lines.time(), "type": "response_item", "payload": payload }));
}
