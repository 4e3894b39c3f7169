//! Codex CLI: the server in `config.toml`, hooks in `hooks.json` beside it, memories of its own. It runs hooks through a shell.

use super::{
    BASE, ConfigEdit, ConfigFormat, Delivery, HookEvent, HookSpec, Host, HostConfigFile, HostMemory, InstallScope, Machine, MemoryImport,
    MemorySwitch, Os, OwnMemory, RemoteEntry, TokenEnv,
    command::{Shell, is_our_hook},
    config_edit::server_file,
    hooks::{claude_output, hook},
    jsonc, remote_entry, run_marks, toml,
};
use serde_json::{Value, json};
use std::{fs, path::PathBuf};

pub(super) const HOST: Host = Host {
    name: "codex",
    title: "Codex CLI",
    programs: &["codex"],
    traces: |machine| vec![home(machine)],
    variables: &["CODEX_HOME"],
    is_interactive: run_marks::codex,
    agent_variables: &["CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID"],
    config: |machine, scope| Some(config(machine, scope)),
    remote: Some(RemoteEntry {
        headers_key: "http_headers",
        token_env: TokenEnv::Key,
        sign_in: "Sign in with `codex mcp login memdir-team`.",
        ..remote_entry::HTTP
    }),
    instructions: "AGENTS.md",
    next_step: "Start `codex` and trust memdir's hooks once in `/hooks`; in a project, also trust the project.",
    next_step_without_hooks: Some("Start `codex` (in a project, also trust the project); `/mcp` then lists memdir."),
    hooks: HOOKS,
    hook_output: claude_output,
    untrusted_hooks: Some(untrusted_hooks),
    transcripts: Some(&memdir_chats::codex::READER),
    memory: Some(|machine| Some(memory(machine))),
    memory_switch: Some(MemorySwitch {
        name: "memories",
        state: own_memory,
        set: |machine, scope, on| {
            let edits = vec![ConfigEdit::Setting { path: vec!["features".into(), "memories".into()], value: on.into() }];
            HostConfigFile { path: config_dir(machine, scope).join("config.toml"), format: ConfigFormat::Toml, edits }
        },
        redirect: None,
        covers_files: true,
        dirs: |machine, _| vec![home(machine).join("memories")],
        project_of: |_, _| None,
        variable: None,
    }),
    memory_import: Some(MemoryImport {
        dir: |machine| home(machine).join("memories/extensions/memdir"),
        root: home,
        instructions: include_str!("codex.md"),
        note: "Codex reads the files when it consolidates its memories, if `memories = true` is set in the `[features]` table of its `config.toml`.",
    }),
    ..BASE
};

const HOOKS: &[HookSpec] = &[
    hook(HookEvent::SessionStart, "SessionStart", 10, Delivery::Model),
    hook(HookEvent::Prompt, "UserPromptSubmit", 10, Delivery::Model),
    hook(HookEvent::BeforeTool, "PreToolUse", 5, Delivery::ToolResult),
    hook(HookEvent::Stop, "Stop", 10, Delivery::Model),
    // Codex waits at most 3 s here, and warns if a hook asks for more.
    hook(HookEvent::SessionEnd, "SessionEnd", 3, Delivery::Ignored),
    hook(HookEvent::BeforeCompaction, "PreCompact", 10, Delivery::Ignored),
];

fn config(machine: &Machine, scope: InstallScope) -> Vec<HostConfigFile> {
    let dir = config_dir(machine, scope);
    let hooks = HOOKS.iter().map(|hook| ConfigEdit::hook(HOST.name, hook, hook_group(machine, hook))).collect();
    vec![
        server_file(dir.join("config.toml"), ConfigFormat::Toml, "mcp_servers", machine.server(&HOST)),
        HostConfigFile { path: dir.join("hooks.json"), format: ConfigFormat::Json, edits: hooks },
    ]
}

fn hook_group(machine: &Machine, hook: &HookSpec) -> Value {
    let shell = if machine.os == Os::Windows { Shell::Cmd } else { Shell::Posix };
    let command = machine.hook_line(shell, HOST.name, hook.event);
    json!({ "hooks": [{ "type": "command", "command": command, "timeout": hook.timeout_secs }] })
}

/// The directory of the settings of a scope.
fn config_dir(machine: &Machine, scope: InstallScope) -> PathBuf {
    match scope {
        InstallScope::User => home(machine),
        InstallScope::Project => machine.project.join(".codex"),
    }
}

/// Its memories, which are off by default.
fn own_memory(machine: &Machine) -> OwnMemory {
    let set = |scope| {
        let file = config_dir(machine, scope).join("config.toml");
        let value = toml::get(&fs::read_to_string(&file).ok()?, &["features".into(), "memories".into()]).ok()??;
        Some((value.as_bool()?, file))
    };
    OwnMemory::off_by_default("features.memories", &set)
}

/// The hooks that Codex does not run yet: it records the trust in the user's `config.toml`, by file, event and position. An edited
/// hook, whose hash differs, cannot be distinguished from a trusted one.
fn untrusted_hooks(machine: &Machine, scope: InstallScope, programs: &[String]) -> Vec<&'static str> {
    let file = config_dir(machine, scope).join("hooks.json");
    let text = fs::read_to_string(&file).unwrap_or_default();
    let config = fs::read_to_string(home(machine).join("config.toml")).unwrap_or_default();
    let is_untrusted = |hook: &&HookSpec| {
        let ours = |value: &Value| is_our_hook(value, HOST.name, hook.event, programs);
        let groups = jsonc::get(&text, &["hooks".into(), hook.name.into()]).ok().flatten().unwrap_or_default();
        let Some((group, value)) = groups.as_array().into_iter().flatten().enumerate().find(|(_, value)| ours(value)) else { return false };
        let at = value["hooks"].as_array().and_then(|hooks| hooks.iter().position(&ours)).unwrap_or_default();
        let is_trusted = |file: &PathBuf| {
            let key = format!("{}:{}:{group}:{at}", file.display(), snake_case(hook.name));
            let hash = toml::get(&config, &["hooks".into(), "state".into(), key, "trusted_hash".into()]);
            hash.is_ok_and(|hash| hash.is_some())
        };
        !is_trusted(&file) && !file.canonicalize().is_ok_and(|real| is_trusted(&real))
    };
    HOOKS.iter().filter(is_untrusted).map(|hook| hook.name).collect()
}

/// `SessionStart` as `session_start`.
fn snake_case(name: &str) -> String {
    let separator = |at: usize, c: char| if at > 0 && c.is_ascii_uppercase() { "_" } else { "" };
    name.char_indices().map(|(at, c)| format!("{}{}", separator(at, c), c.to_ascii_lowercase())).collect()
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
