//! Copilot CLI: the server in its `mcp-config.json`, hooks in a file of their own that VS Code reads too. A hook that fails before a
//! tool denies the tool, so its hooks ignore errors.

use super::{
    BASE, ConfigEdit, ConfigFormat, Delivery, HookEvent, HookReply, HookSpec, Host, HostConfigFile, InstallScope, Machine, Os, RemoteEntry,
    command::Shell,
    config_edit::server_file,
    hooks::{block, claude_output, hook},
    remote_entry,
};
use memdir_core::internal::base::sort::SharedSort as _;
use serde_json::{Map, Value, json};

pub(super) const HOST: Host = Host {
    name: "copilot-cli",
    title: "Copilot CLI",
    programs: &["copilot"],
    // Without the directory of hooks, which may be there for VS Code, or made by memdir.
    traces: |machine| {
        let entries = std::fs::read_dir(machine.dir("COPILOT_HOME", ".copilot")).into_iter().flatten().flatten();
        let mut own: Vec<_> = entries.filter(|entry| entry.file_name() != "hooks").map(|entry| entry.path()).collect();
        own.shared_sort();
        own
    },
    variables: &["COPILOT_HOME"],
    agent_variables: &["COPILOT_CLI"],
    config: |machine, scope| Some(config(machine, scope)),
    remote: Some(RemoteEntry {
        more: r#"{"type":"http","tools":["*"]}"#,
        sign_in: "Start `copilot` and sign in with `/mcp`.",
        ..remote_entry::HTTP
    }),
    instructions: ".github/copilot-instructions.md",
    next_step: "Start `copilot`; `/mcp` lists memdir.",
    hooks: HOOKS,
    // Both programs read the same file of hooks; only VS Code names the event in the input.
    hook_output: |reply| if reply.input_event.is_some() { vscode_output(reply) } else { output(reply) },
    can_ask: true,
    hook_command_keys: &["bash", "powershell"],
    transcripts: Some(&memdir_chats::copilot::READER),
    ..BASE
};

const HOOKS: &[HookSpec] = &[
    hook(HookEvent::SessionStart, "sessionStart", 10, Delivery::Model),
    hook(HookEvent::Prompt, "userPromptSubmitted", 10, Delivery::Model),
    hook(HookEvent::BeforeTool, "preToolUse", 5, Delivery::ToolResult),
    hook(HookEvent::Stop, "agentStop", 10, Delivery::Model),
    hook(HookEvent::SessionEnd, "sessionEnd", 10, Delivery::Ignored),
    hook(HookEvent::BeforeCompaction, "preCompact", 10, Delivery::Ignored),
];

fn config(machine: &Machine, scope: InstallScope) -> Vec<HostConfigFile> {
    let file = match scope {
        InstallScope::User => machine.dir("COPILOT_HOME", ".copilot").join("mcp-config.json"),
        InstallScope::Project => machine.project.join(".github/mcp.json"),
    };
    let mut server = machine.typed_server(&HOST, "local");
    server["tools"] = json!(["*"]);
    vec![server_file(file, ConfigFormat::Json, "mcpServers", server), hooks_file(machine, scope)]
}

/// The hooks of Copilot CLI and VS Code.
pub(super) fn hooks_file(machine: &Machine, scope: InstallScope) -> HostConfigFile {
    let path = match scope {
        InstallScope::User => machine.dir("COPILOT_HOME", ".copilot").join("hooks/memdir.json"),
        InstallScope::Project => machine.project.join(".github/hooks/memdir.json"),
    };
    let version = ConfigEdit::Default { path: vec!["version".into()], value: json!(1) };
    let hooks = HOOKS.iter().map(|hook| ConfigEdit::hook(HOST.name, hook, hook_entry(machine, hook)));
    HostConfigFile { path, format: ConfigFormat::Json, edits: std::iter::once(version).chain(hooks).collect() }
}

fn hook_entry(machine: &Machine, hook: &HookSpec) -> Value {
    let (key, shell) =
        if machine.os == Os::Windows { ("powershell", Shell::PowerShellIgnoringErrors) } else { ("bash", Shell::PosixIgnoringErrors) };
    let line = machine.hook_line(shell, HOST.name, hook.event);
    let fields = [("type", json!("command")), (key, json!(line)), ("timeoutSec", json!(hook.timeout_secs))];
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>().into()
}

fn output(reply: &HookReply<'_>) -> Option<Value> {
    match reply.event {
        HookEvent::SessionStart | HookEvent::Prompt | HookEvent::AfterTool => Some(json!({ "additionalContext": reply.text })),
        HookEvent::BeforeTool => Some(match reply.decision {
            None => json!({ "additionalContext": reply.text }),
            Some(decision) => json!({ "permissionDecision": decision.name(), "permissionDecisionReason": reply.text }),
        }),
        HookEvent::Stop => Some(block(reply.text)),
        HookEvent::SessionEnd | HookEvent::BeforeCompaction => None,
    }
}

/// The output format of VS Code, through the same hooks.
pub(super) fn vscode_output(reply: &HookReply<'_>) -> Option<Value> {
    match reply.event {
        HookEvent::Stop => Some(json!({ "hookSpecificOutput": { "hookEventName": "Stop", "decision": "block", "reason": reply.text } })),
        _ => claude_output(reply),
    }
}
