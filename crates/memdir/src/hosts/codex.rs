//! Codex CLI: the server in `config.toml`, hooks in `hooks.json` beside it, memories of its own. It runs hooks through a shell.

use super::{
    BASE, ConfigEdit, ConfigFile, ConfigFormat, Delivery, HookEvent, HookSpec, Host, HostMemory, InstallScope, Machine, MemoryImport, Os,
    command::Shell,
    config_edit::server_file,
    hooks::{claude_output, hook},
};
use serde_json::{Value, json};
use std::path::PathBuf;

pub(super) const HOST: Host = Host {
    name: "codex",
    title: "Codex CLI",
    programs: &["codex"],
    traces: |machine| vec![home(machine)],
    variables: &["CODEX_HOME"],
    config: |machine, scope| Some(config(machine, scope)),
    instructions: "AGENTS.md",
    next_step: "Start codex and trust memdir's hooks once, in /hooks; in a project also trust the project.",
    hooks: HOOKS,
    hook_output: claude_output,
    transcripts: Some(&memdir_chats::codex::READER),
    memory: Some(|machine| Some(memory(machine))),
    memory_import: Some(MemoryImport {
        dir: |machine| home(machine).join("memories/extensions/memdir"),
        root: home,
        instructions: include_str!("codex.md"),
        note: "Codex reads them when it consolidates its memories ([features] memories = true).",
    }),
    ..BASE
};

const HOOKS: &[HookSpec] = &[
    hook(HookEvent::SessionStart, "SessionStart", 10, Delivery::Model),
    hook(HookEvent::Prompt, "UserPromptSubmit", 10, Delivery::Model),
    hook(HookEvent::BeforeTool, "PreToolUse", 5, Delivery::Model),
    hook(HookEvent::Stop, "Stop", 10, Delivery::Model),
    // Codex waits at most 3 s here, and warns if a hook asks for more.
    hook(HookEvent::SessionEnd, "SessionEnd", 3, Delivery::Ignored),
    hook(HookEvent::BeforeCompaction, "PreCompact", 10, Delivery::Ignored),
];

fn config(machine: &Machine, scope: InstallScope) -> Vec<ConfigFile> {
    let dir = match scope {
        InstallScope::User => home(machine),
        InstallScope::Project => machine.project.join(".codex"),
    };
    let hooks = HOOKS.iter().map(|hook| ConfigEdit::hook(HOST.name, hook, hook_group(machine, hook))).collect();
    vec![
        server_file(dir.join("config.toml"), ConfigFormat::Toml, "mcp_servers", machine.server()),
        ConfigFile { path: dir.join("hooks.json"), format: ConfigFormat::Json, edits: hooks },
    ]
}

fn hook_group(machine: &Machine, hook: &HookSpec) -> Value {
    let shell = if machine.os == Os::Windows { Shell::Cmd } else { Shell::Posix };
    let command = machine.hook_line(shell, HOST.name, hook.event);
    json!({ "hooks": [{ "type": "command", "command": command, "timeout": hook.timeout_secs }] })
}

/// The directory of its settings, rollouts and memories.
fn home(machine: &Machine) -> PathBuf {
    machine.dir("CODEX_HOME", ".codex")
}

/// The memories Codex writes itself, with a git baseline. Its handbook is not an entrypoint in memdir's format.
fn memory(machine: &Machine) -> HostMemory {
    let options = json!({ "entrypoint": false, "ignored": ["raw_memories", "extensions/.*"] });
    HostMemory::for_user("codex", "Codex's memories", home(machine).join("memories"), options)
}
