//! Codex CLI: calls and their outputs are items of their own; edits are patches; what a command returned is in the text of its output.

use super::{PROJECT_DIR, TranscriptLines};
use crate::generate::script::{ScriptCall, ScriptEnd, ScriptStep};
use serde_json::{Value, json};

pub(super) fn write(steps: &[ScriptStep], lines: &mut TranscriptLines) {
    let meta = json!({ "id": lines.id, "timestamp": lines.time(), "cwd": PROJECT_DIR, "cli_version": "0.99.0", "source": "cli", "git": { "branch": "main" } });
    lines.push(&json!({ "timestamp": lines.time(), "type": "session_meta", "payload": meta }));
    for step in steps {
        match step {
            ScriptStep::Person(text) => push_item(
                json!({ "type": "message", "id": lines.unique("msg"), "role": "user", "content": [{ "type": "input_text", "text": text }] }),
                lines,
            ),
            ScriptStep::Assistant(text) => push_item(
                json!({ "type": "message", "id": lines.unique("msg"), "role": "assistant", "content": [{ "type": "output_text", "text": text }] }),
                lines,
            ),
            ScriptStep::Call(call, end) => write_call(call, end, lines),
        }
    }
}

fn write_call(call: &ScriptCall, end: &ScriptEnd, lines: &mut TranscriptLines) {
    let id = lines.unique("call");
    let function =
        |name: &str, arguments: Value| json!({ "type": "function_call", "name": name, "arguments": arguments.to_string(), "call_id": id });
    let patch =
        |input: String| json!({ "type": "custom_tool_call", "status": "completed", "call_id": id, "name": "apply_patch", "input": input });
    let item = match call {
        ScriptCall::Shell(command) => function("shell", json!({ "command": ["bash", "-lc", command], "workdir": PROJECT_DIR })),
        ScriptCall::Read(path) => function("shell", json!({ "command": ["bash", "-lc", format!("cat {path}")] })),
        ScriptCall::SaveMemory(text) => function("mcp__memdir__memory_write", json!({ "path": "notes/key", "content": text })),
        ScriptCall::Edit { path, old, new } => {
            patch(format!("*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch"))
        }
        ScriptCall::Write { path, text } => patch(format!("*** Begin Patch\n*** Add File: {path}\n+{text}\n*** End Patch")),
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
        ScriptEnd::Ok(output) => exited(0, output),
        ScriptEnd::Failed(status, output) => exited(*status, output),
        ScriptEnd::Denied(_) if is_patch => "patch rejected by user".to_owned(),
        ScriptEnd::Denied(_) => "exec command rejected by user".to_owned(),
        ScriptEnd::Interrupted => "aborted by user after 3.1s".to_owned(),
        ScriptEnd::Refused(why) => why.clone(),
    };
    let kind = if is_patch { "custom_tool_call_output" } else { "function_call_output" };
    push_item(json!({ "type": kind, "call_id": id, "output": output }), lines);
    if matches!(end, ScriptEnd::Interrupted) {
        lines.push(
            &json!({ "timestamp": lines.time(), "type": "event_msg", "payload": { "type": "turn_aborted", "reason": "interrupted" } }),
        );
    }
    // Codex has no field for a reason: the person types it.
    if let ScriptEnd::Denied(Some(reason)) = end {
        push_item(
            json!({ "type": "message", "id": lines.unique("msg"), "role": "user", "content": [{ "type": "input_text", "text": reason }] }),
            lines,
        );
    }
}

fn push_item(payload: Value, lines: &mut TranscriptLines) {
    lines.push(&json!({ "timestamp": lines.time(), "type": "response_item", "payload": payload }));
}
