//! Gemini CLI: server and hooks in one `settings.json`, a private memory per project. It takes a failing hook as a refusal, even if
//! the hook's program is gone, so its hooks ignore errors.

use super::{
    BASE, ConfigEdit, ConfigFile, ConfigFormat, Delivery, HookEvent, HookReply, HookSpec, Host, HostMemory, InstallScope, Machine, Os,
    command::Shell,
    config_edit::server_entry,
    hooks::{additional_context, block, hook},
};
use serde_json::{Value, json};
use std::{fs, path::PathBuf};

pub(super) const HOST: Host = Host {
    name: "gemini",
    title: "Gemini CLI",
    programs: &["gemini"],
    traces: |machine| vec![user_dir(machine)],
    variables: &["GEMINI_CLI_HOME"],
    config: |machine, scope| Some(vec![config(machine, scope)]),
    instructions: "GEMINI.md",
    next_step: "Start gemini; /mcp and /hooks list memdir. In a project, trust the folder first.",
    hooks: HOOKS,
    hook_output: output,
    transcripts: Some(&memdir_chats::gemini::READER),
    memory: Some(memory),
    ..BASE
};

const HOOKS: &[HookSpec] = &[
    hook(HookEvent::SessionStart, "SessionStart", 10, Delivery::Model),
    hook(HookEvent::Prompt, "BeforeAgent", 10, Delivery::Model),
    hook(HookEvent::BeforeTool, "BeforeTool", 5, Delivery::User),
    hook(HookEvent::Stop, "AfterAgent", 10, Delivery::Model),
    hook(HookEvent::SessionEnd, "SessionEnd", 10, Delivery::Ignored),
    hook(HookEvent::BeforeCompaction, "PreCompress", 10, Delivery::Ignored),
];

fn config(machine: &Machine, scope: InstallScope) -> ConfigFile {
    let dir = match scope {
        InstallScope::User => user_dir(machine),
        InstallScope::Project => machine.project.join(".gemini"),
    };
    let server = server_entry("mcpServers", machine.server());
    let hooks = HOOKS.iter().map(|hook| ConfigEdit::hook(HOST.name, hook, hook_group(machine, hook)));
    ConfigFile { path: dir.join("settings.json"), format: ConfigFormat::Json, edits: std::iter::once(server).chain(hooks).collect() }
}

fn hook_group(machine: &Machine, hook: &HookSpec) -> Value {
    let shell = if machine.os == Os::Windows { Shell::PowerShellIgnoringErrors } else { Shell::PosixIgnoringErrors };
    json!({ "hooks": [{
        "type": "command",
        "name": format!("memdir-{}", hook.event.name()),
        "command": machine.hook_line(shell, HOST.name, hook.event),
        "timeout": hook.timeout_secs * 1000,
    }] })
}

fn output(reply: &HookReply<'_>) -> Option<Value> {
    match reply.event {
        HookEvent::SessionStart => Some(additional_context("SessionStart", reply.text)),
        HookEvent::Prompt => Some(additional_context("BeforeAgent", reply.text)),
        // Before a tool it reads only refusals; this text is shown to the user.
        HookEvent::BeforeTool => Some(json!({ "systemMessage": reply.text })),
        HookEvent::Stop => Some(block(reply.text)),
        HookEvent::SessionEnd | HookEvent::BeforeCompaction => None,
    }
}

/// The directory of its settings and chats.
fn user_dir(machine: &Machine) -> PathBuf {
    machine.dir("GEMINI_CLI_HOME", "").join(".gemini")
}

/// The private memory of this project, whose directory is named in a registry of projects.
fn memory(machine: &Machine) -> Option<HostMemory> {
    let dir = user_dir(machine);
    let text = fs::read_to_string(dir.join("projects.json")).ok()?;
    let value: Value = serde_json::from_str(&text).ok()?;
    let id = value["projects"][machine.project.to_str()?].as_str()?;
    // The id becomes a part of a path, so nothing but a plain name is accepted.
    let is_name = !id.is_empty() && id.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
    let path = dir.join("tmp").join(is_name.then_some(id)?).join("memory");
    let title = "Gemini CLI's private memory of this project";
    Some(HostMemory::for_project("gemini", title, path, json!({ "entrypoint": false })))
}
