//! Gemini CLI: server and hooks in one `settings.json`, a private memory per project. It takes a failing hook as a refusal, even if
//! the hook's program is gone, so its hooks ignore errors.

use super::{
    BASE, ConfigEdit, ConfigFormat, Delivery, HookEvent, HookReply, HookSpec, Host, HostConfigFile, HostMemory, InstallScope,
    InstalledPlugin, Machine, MemorySwitch, Os, OwnMemory, RemoteEntry, SERVER, TokenEnv,
    command::Shell,
    config_edit::server_entry,
    hooks::{additional_context, block, hook},
    jsonc, remote_entry,
};
use serde_json::{Value, json};
use std::{fs, path::PathBuf};

pub(super) const HOST: Host = Host {
    name: "gemini",
    title: "Gemini CLI",
    programs: &["gemini"],
    traces: |machine| vec![user_dir(machine)],
    variables: &["GEMINI_CLI_HOME"],
    agent_variables: &["GEMINI_CLI"],
    config: |machine, scope| Some(vec![config(machine, scope)]),
    remote: Some(RemoteEntry {
        url_key: "httpUrl",
        token_env: TokenEnv::Reference(remote_entry::BRACED),
        sign_in: "Start `gemini` and sign in with `/mcp auth memdir-team`.",
        ..remote_entry::HTTP
    }),
    instructions: "GEMINI.md",
    next_step: "Start `gemini` (in a project, also trust the folder); `/mcp` and `/hooks` then list memdir.",
    next_step_without_hooks: Some("Start `gemini` (in a project, also trust the folder); `/mcp` then lists memdir."),
    hooks: HOOKS,
    hook_output: output,
    // The message contains the text of the hook of the session's start.
    typed_text: memdir_chats::gemini::typed_text,
    // Its hook runs before every request to the model, which may compact or not; only a command of the user always does.
    will_compact: |input| input["trigger"] == "manual",
    transcripts: Some(&memdir_chats::gemini::READER),
    memory: Some(memory),
    memory_switch: Some(MemorySwitch {
        name: "auto memory",
        state: auto_memory,
        set: |machine, scope, on| {
            let edits = vec![ConfigEdit::Setting { path: AUTO_MEMORY.map(str::to_owned).to_vec(), value: on.into() }];
            HostConfigFile { path: settings_file(machine, scope), format: ConfigFormat::Json, edits }
        },
        redirect: None,
        // The agent reads and edits its private memory with file tools, and no setting turns that off.
        covers_files: false,
        dirs: |_, _| Vec::new(),
        project_of: |_, _| None,
        variable: None,
    }),
    plugin: Some(extension),
    ..BASE
};

const HOOKS: &[HookSpec] = &[
    hook(HookEvent::SessionStart, "SessionStart", 10, Delivery::Model),
    hook(HookEvent::Prompt, "BeforeAgent", 10, Delivery::Model),
    hook(HookEvent::BeforeTool, "BeforeTool", 5, Delivery::DecisionOnly),
    hook(HookEvent::AfterTool, "AfterTool", 5, Delivery::ToolResult),
    hook(HookEvent::Stop, "AfterAgent", 10, Delivery::Model),
    hook(HookEvent::SessionEnd, "SessionEnd", 10, Delivery::Ignored),
    hook(HookEvent::BeforeCompaction, "PreCompress", 10, Delivery::Ignored),
];

fn config(machine: &Machine, scope: InstallScope) -> HostConfigFile {
    let server = server_entry("mcpServers", machine.server(&HOST));
    let hooks = HOOKS.iter().map(|hook| ConfigEdit::hook(HOST.name, hook, hook_group(machine, hook)));
    HostConfigFile {
        path: settings_file(machine, scope),
        format: ConfigFormat::Json,
        edits: std::iter::once(server).chain(hooks).collect(),
    }
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
        // It does not ask, so both decisions are a refusal. All other text comes with the tool's result.
        HookEvent::BeforeTool => reply.decision.map(|_| json!({ "decision": "deny", "reason": reply.text })),
        HookEvent::AfterTool => Some(additional_context("AfterTool", reply.text)),
        HookEvent::Stop => Some(block(reply.text)),
        HookEvent::SessionEnd | HookEvent::BeforeCompaction => None,
    }
}

fn settings_file(machine: &Machine, scope: InstallScope) -> PathBuf {
    match scope {
        InstallScope::User => user_dir(machine).join("settings.json"),
        InstallScope::Project => machine.project.join(".gemini/settings.json"),
    }
}

/// The setting of the experimental memory, which proposes changes of the other memories.
const AUTO_MEMORY: [&str; 2] = ["experimental", "autoMemory"];

/// The state of the experimental auto memory, which is off by default.
fn auto_memory(machine: &Machine) -> OwnMemory {
    let set = |scope| {
        let file = settings_file(machine, scope);
        let value = jsonc::get(&fs::read_to_string(&file).ok()?, &AUTO_MEMORY.map(str::to_owned)).ok()??;
        Some((value.as_bool()?, file))
    };
    OwnMemory::off_by_default("experimental.autoMemory", &set)
}

/// The extension.
fn extension(machine: &Machine) -> Option<InstalledPlugin> {
    let file = user_dir(machine).join("extensions").join(SERVER).join("gemini-extension.json");
    file.is_file().then_some(InstalledPlugin { title: "extension", file, remove: "gemini extensions uninstall memdir" })
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
    let title = "Gemini CLI's private memory for this project";
    Some(HostMemory::for_project("gemini", title, path, json!({ "entrypoint": false })))
}
