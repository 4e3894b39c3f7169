//! Cursor: the server in `mcp.json`, hooks in `hooks.json`. Before a prompt it reads only refusals, so that event is not hooked.

use super::{
    BASE, ConfigEdit, ConfigFormat, Delivery, HookEvent, HookReply, HookSpec, Host, HostConfigFile, InstallScope, Machine, Os, RemoteEntry,
    TokenEnv, ToolCall, ToolDecision, command::Shell, config_edit::server_file, hooks::hook, remote_entry,
};
use serde_json::{Value, json};

pub(super) const HOST: Host = Host {
    name: "cursor",
    title: "Cursor",
    programs: &["cursor", "cursor-agent"],
    traces: |machine| vec![machine.home.join(".cursor")],
    agent_variables: &["CURSOR_AGENT"],
    config: |machine, scope| Some(config(machine, scope)),
    remote: Some(RemoteEntry {
        token_env: TokenEnv::Reference(remote_entry::ENV_BRACED),
        sign_in: "Restart Cursor and sign in under Settings > MCP.",
        ..remote_entry::HTTP
    }),
    instructions: ".cursor/rules, AGENTS.md",
    next_step: "Restart Cursor; Settings > MCP lists memdir.",
    hooks: HOOKS,
    hook_output: output,
    can_ask: true,
    tool_call,
    transcripts: Some(&memdir_chats::cursor::READER),
    memory_advice: Some("controlled in Cursor, not by a settings file; if it is on, turn it off under Settings > Rules"),
    ..BASE
};

const HOOKS: &[HookSpec] = &[
    hook(HookEvent::SessionStart, "sessionStart", 10, Delivery::Model),
    hook(HookEvent::BeforeTool, "beforeShellExecution", 5, Delivery::VersionDependent),
    hook(HookEvent::BeforeTool, "preToolUse", 5, Delivery::VersionDependent),
    hook(HookEvent::Stop, "stop", 10, Delivery::Model),
    hook(HookEvent::SessionEnd, "sessionEnd", 10, Delivery::Ignored),
    hook(HookEvent::BeforeCompaction, "preCompact", 10, Delivery::Ignored),
];

fn config(machine: &Machine, scope: InstallScope) -> Vec<HostConfigFile> {
    let dir = match scope {
        InstallScope::User => machine.home.join(".cursor"),
        InstallScope::Project => machine.project.join(".cursor"),
    };
    let shell = if machine.os == Os::Windows { Shell::PowerShell } else { Shell::Posix };
    let entry = |hook: &HookSpec| json!({ "command": machine.hook_line(shell, HOST.name, hook.event), "timeout": hook.timeout_secs });
    let version = ConfigEdit::Default { path: vec!["version".into()], value: json!(1) };
    let hooks = HOOKS.iter().map(|hook| ConfigEdit::hook(HOST.name, hook, entry(hook)));
    vec![
        server_file(dir.join("mcp.json"), ConfigFormat::Json, "mcpServers", machine.server(&HOST)),
        HostConfigFile { path: dir.join("hooks.json"), format: ConfigFormat::Json, edits: std::iter::once(version).chain(hooks).collect() },
    ]
}

fn output(reply: &HookReply<'_>) -> Option<Value> {
    match reply.event {
        HookEvent::SessionStart => Some(json!({ "additional_context": reply.text })),
        HookEvent::BeforeTool => Some(match reply.decision {
            // Without a decision, which would replace the user's.
            None => json!({ "agent_message": reply.text }),
            // Only the event of commands asks; the other one would let the tool run.
            Some(ToolDecision::Ask) if reply.input_event == Some("beforeShellExecution") => {
                json!({ "permission": "ask", "user_message": reply.text, "agent_message": reply.text })
            }
            Some(_) => json!({ "permission": "deny", "agent_message": reply.text }),
        }),
        HookEvent::Stop => Some(json!({ "followup_message": reply.text })),
        HookEvent::Prompt | HookEvent::AfterTool | HookEvent::SessionEnd | HookEvent::BeforeCompaction => None,
    }
}

/// Cursor reports a command twice: as a tool, and by an event of its own that does not name a tool. The second one counts.
fn tool_call(input: &Value) -> ToolCall {
    let tool = ["tool_name", "toolName"].iter().find_map(|key| input[*key].as_str()).filter(|tool| !tool.is_empty());
    match (input["hook_event_name"].as_str(), tool) {
        (Some("beforeShellExecution"), None) => ToolCall::Command { tool: "Shell", line: input["command"].as_str().map(str::to_owned) },
        (Some("preToolUse"), Some("Shell")) if !input["cursor_version"].is_null() => ToolCall::Duplicate,
        _ => ToolCall::Named,
    }
}
