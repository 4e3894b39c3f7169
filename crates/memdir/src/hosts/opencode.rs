//! opencode: the server in `opencode.json(c)` under `mcp`, its command as one list; hooks through a plugin file, the only thing
//! opencode runs. A plugin can stop a tool with an error, which the model reads as the tool's result; other text comes with that result.

use super::{
    BASE, ConfigEdit, ConfigFormat, Delivery, HookEvent, HookReply, HookSpec, Host, HostConfigFile, InstallScope, Machine, RemoteEntry,
    TokenEnv, config_edit::server_file, hooks::hook, remote_entry,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

pub(super) const HOST: Host = Host {
    name: "opencode",
    title: "opencode",
    programs: &["opencode"],
    traces: |machine| vec![user_dir(machine)],
    agent_variables: &["OPENCODE"],
    config: |machine, scope| Some(config(machine, scope)),
    remote: Some(RemoteEntry {
        more: r#"{"type":"remote","enabled":true}"#,
        token_env: TokenEnv::Reference(remote_entry::OPENCODE_ENV),
        sign_in: "Sign in with `opencode mcp auth memdir-team`.",
        ..remote_entry::HTTP
    }),
    instructions: "AGENTS.md",
    next_step: "Start `opencode`; `opencode mcp list` shows memdir.",
    hooks: HOOKS,
    hook_output: output,
    plugin_command: Some(plugin_command),
    transcripts: Some(&memdir_chats::opencode::READER),
    ..BASE
};

const HOOKS: &[HookSpec] = &[
    hook(HookEvent::SessionStart, "experimental.chat.system.transform", 10, Delivery::Model),
    hook(HookEvent::Prompt, "chat.message", 10, Delivery::Model),
    hook(HookEvent::BeforeTool, "tool.execute.before", 5, Delivery::ToolResult),
    hook(HookEvent::Stop, "session.idle", 10, Delivery::Ignored),
    hook(HookEvent::SessionEnd, "session.deleted", 10, Delivery::Ignored),
    hook(HookEvent::BeforeCompaction, "experimental.session.compacting", 10, Delivery::Ignored),
];

/// The plugin, with placeholders for the program and its arguments.
const PLUGIN: &str = include_str!("opencode.js");

fn config(machine: &Machine, scope: InstallScope) -> Vec<HostConfigFile> {
    let (dir, plugins) = match scope {
        InstallScope::User => (user_dir(machine), user_dir(machine).join("plugins")),
        InstallScope::Project => (machine.project.clone(), machine.project.join(".opencode/plugins")),
    };
    let command: Vec<String> = std::iter::once(machine.exe.clone()).chain(machine.server_args(&HOST)).collect();
    let server = json!({ "type": "local", "command": command, "enabled": true });
    let program = json!(machine.exe).to_string();
    let text = PLUGIN.replace("\"PROGRAM\"", &program).replace("[\"BEFORE\"]", &json!(machine.global_args).to_string());
    vec![
        server_file(config_path(&dir), ConfigFormat::Json, "mcp", server),
        HostConfigFile { path: plugins.join("memdir.js"), format: ConfigFormat::Whole, edits: vec![ConfigEdit::Whole { text }] },
    ]
}

/// The settings file that exists: the one with comments, or the one without.
fn config_path(dir: &Path) -> PathBuf {
    let with_comments = dir.join("opencode.jsonc");
    if with_comments.exists() { with_comments } else { dir.join("opencode.json") }
}

fn user_dir(machine: &Machine) -> PathBuf {
    machine.dir("XDG_CONFIG_HOME", ".config").join("opencode")
}

fn output(reply: &HookReply<'_>) -> Option<Value> {
    match reply.event {
        HookEvent::SessionEnd | HookEvent::BeforeCompaction => None,
        // It does not ask, so both decisions are a refusal.
        _ if reply.decision.is_some() => Some(json!({ "decision": "deny", "context": reply.text })),
        _ => Some(json!({ "context": reply.text })),
    }
}

/// Reads the constants that an installation wrote into the plugin.
fn plugin_command(text: &str) -> Option<(String, Vec<String>)> {
    let constant = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("const {name} = ")));
        line.and_then(|value| serde_json::from_str::<Value>(value.trim_end_matches(';')).ok())
    };
    let program = constant("program")?.as_str()?.to_owned();
    let args = constant("before").and_then(|args| serde_json::from_value(args).ok()).unwrap_or_default();
    Some((program, args))
}
