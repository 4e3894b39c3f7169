//! Claude Code: the server in `~/.claude.json` or `.mcp.json`, hooks in exec form in its settings, an auto memory per project.

use super::{
    BASE, ConfigEdit, ConfigFile, ConfigFormat, Delivery, HookEvent, HookSpec, Host, HostMemory, InstallScope, Machine, MemoryRedirect,
    config_edit::server_file,
    hooks::{claude_output, hook},
    jsonc,
};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
};

pub(super) const HOST: Host = Host {
    name: "claude-code",
    title: "Claude Code",
    programs: &["claude"],
    traces: |machine| vec![settings_dir(machine), user_file(machine)],
    variables: &["CLAUDE_CONFIG_DIR"],
    config: |machine, scope| Some(config(machine, scope)),
    instructions: "CLAUDE.md",
    next_step: "Start a new session; /mcp lists memdir.",
    hooks: HOOKS,
    hook_output: claude_output,
    transcripts: Some(&memdir_chats::claude_code::READER),
    memory: Some(memory),
    memory_redirect: Some(MemoryRedirect { setting: auto_memory, replaced_dirs: auto_memory_dirs }),
    ..BASE
};

/// A session's end waits only 1.5 s unless a hook in a settings file asks for more.
const HOOKS: &[HookSpec] = &[
    hook(HookEvent::SessionStart, "SessionStart", 10, Delivery::Model),
    hook(HookEvent::Prompt, "UserPromptSubmit", 10, Delivery::Model),
    hook(HookEvent::BeforeTool, "PreToolUse", 5, Delivery::Model),
    hook(HookEvent::Stop, "Stop", 10, Delivery::Model),
    hook(HookEvent::SessionEnd, "SessionEnd", 10, Delivery::Ignored),
    hook(HookEvent::BeforeCompaction, "PreCompact", 10, Delivery::Ignored),
];

fn config(machine: &Machine, scope: InstallScope) -> Vec<ConfigFile> {
    let server = match scope {
        InstallScope::User => user_file(machine),
        InstallScope::Project => machine.project.join(".mcp.json"),
    };
    let hooks = HOOKS.iter().map(|hook| ConfigEdit::hook(HOST.name, hook, hook_group(machine, hook))).collect();
    vec![
        server_file(server, ConfigFormat::Json, "mcpServers", machine.typed_server("stdio")),
        ConfigFile { path: settings_file(machine, scope), format: ConfigFormat::Json, edits: hooks },
    ]
}

fn hook_group(machine: &Machine, hook: &HookSpec) -> Value {
    let args = machine.hook_args(HOST.name, hook.event);
    json!({ "hooks": [{ "type": "command", "command": machine.exe, "args": args, "timeout": hook.timeout_secs }] })
}

/// The directory of its settings and transcripts.
fn settings_dir(machine: &Machine) -> PathBuf {
    machine.dir("CLAUDE_CONFIG_DIR", ".claude")
}

/// Hooks name the program of this machine, so in a project they go into the file that is not shared.
fn settings_file(machine: &Machine, scope: InstallScope) -> PathBuf {
    match scope {
        InstallScope::User => settings_dir(machine).join("settings.json"),
        InstallScope::Project => machine.project.join(".claude/settings.local.json"),
    }
}

fn user_file(machine: &Machine) -> PathBuf {
    machine.variables.get("CLAUDE_CONFIG_DIR").map_or(machine.home.join(".claude.json"), |dir| PathBuf::from(dir).join(".claude.json"))
}

/// The setting of the auto memory's directory.
const AUTO_MEMORY: &str = "autoMemoryDirectory";

/// Sets the directory of the auto memory. In a project this goes into the file that is not shared, because Claude Code ignores the
/// setting in the shared one.
fn auto_memory(machine: &Machine, scope: InstallScope, dir: &str) -> ConfigFile {
    let edit = ConfigEdit::Setting { path: vec![AUTO_MEMORY.into()], value: dir.into() };
    ConfigFile { path: settings_file(machine, scope), format: ConfigFormat::Json, edits: vec![edit] }
}

/// The auto memory, whose entrypoint and frontmatter follow memdir's own conventions. All worktrees of a repository share the memory
/// of the main checkout.
fn memory(machine: &Machine) -> Option<HostMemory> {
    let title = "Claude Code's auto memory of this project";
    if let Some(dir) = configured_dir(machine, InstallScope::Project) {
        return Some(HostMemory::for_project("claude", title, dir, json!({})));
    }
    if let Some(dir) = configured_dir(machine, InstallScope::User) {
        return Some(HostMemory::for_user("claude", "Claude Code's auto memory", dir, json!({})));
    }
    let default = |checkout: &PathBuf| Some(settings_dir(machine).join("projects").join(project_slug(checkout)?).join("memory"));
    let dirs: Vec<PathBuf> = [&machine.main_checkout, &machine.project].into_iter().filter_map(default).collect();
    let dir = dirs.iter().find(|dir| dir.is_dir()).or(dirs.first())?.clone();
    Some(HostMemory::for_project("claude", title, dir, json!({})))
}

/// The directory that the user's settings choose for the auto memory.
fn configured_dir(machine: &Machine, scope: InstallScope) -> Option<PathBuf> {
    let text = fs::read_to_string(settings_file(machine, scope)).ok()?;
    let value = jsonc::get(&text, &[AUTO_MEMORY.to_owned()]).ok()??;
    let dir = value.as_str().filter(|dir| !dir.is_empty())?;
    Some(dir.strip_prefix("~/").map_or_else(|| PathBuf::from(dir), |rest| machine.home.join(rest)))
}

/// The directories of the auto memory: of this project, or of all projects.
fn auto_memory_dirs(machine: &Machine, scope: InstallScope) -> Vec<PathBuf> {
    let mut dirs: Vec<PathBuf> = match scope {
        InstallScope::Project => memory(machine).map(|memory| memory.path).into_iter().collect(),
        InstallScope::User => {
            let projects = fs::read_dir(settings_dir(machine).join("projects")).into_iter().flatten().flatten();
            projects.map(|project| project.path().join("memory")).filter(|dir| dir.is_dir()).collect()
        }
    };
    dirs.sort();
    dirs
}

/// The name of a project's directory: every character but ASCII letters and digits becomes a hyphen. `None` for more than 200
/// characters, where Claude Code appends a hash we do not know.
fn project_slug(project: &Path) -> Option<String> {
    let slug: String = project.to_str()?.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    (slug.len() <= 200).then_some(slug)
}
