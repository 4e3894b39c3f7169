//! Claude Code: the server in `~/.claude.json` or `.mcp.json`, hooks in its settings, an auto memory per project.

use super::{
    BASE, ConfigEdit, ConfigFormat, Delivery, HookEvent, HookSpec, Host, HostConfigFile, HostMemory, InstallScope, InstalledPlugin,
    Machine, MemorySwitch, Os, OwnMemory, RemoteEntry, SERVER, TokenEnv,
    command::Shell,
    config_edit::server_file,
    hooks::{claude_output, hook},
    jsonc, remote_entry, run_marks,
};
use memdir_core::internal::base::sort::SharedSort as _;
use serde_json::{Value, json};
use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

pub(super) const HOST: Host = Host {
    name: "claude-code",
    title: "Claude Code",
    programs: &["claude"],
    traces: |machine| vec![settings_dir(machine), user_file(machine)],
    variables: &["CLAUDE_CONFIG_DIR", DISABLE_AUTO_MEMORY],
    agent_variables: &["CLAUDECODE"],
    config: |machine, scope| Some(config(machine, scope)),
    remote: Some(RemoteEntry {
        more: r#"{"type":"http"}"#,
        token_env: TokenEnv::Reference(remote_entry::BRACED),
        sign_in: "Start a new session and sign in with `/mcp`.",
        ..remote_entry::HTTP
    }),
    instructions: "CLAUDE.md",
    next_step: "Start a new session; `/mcp` lists memdir.",
    hooks: HOOKS,
    hook_output: claude_output,
    is_interactive: run_marks::claude_code,
    defers_tools: true,
    plugin: Some(plugin),
    can_ask: true,
    transcripts: Some(&memdir_chats::claude_code::READER),
    memory: Some(memory),
    memory_switch: Some(MemorySwitch {
        name: "auto memory",
        state: auto_memory,
        set: |machine, scope, on| setting(machine, scope, "autoMemoryEnabled", on.into()),
        redirect: Some(|machine, scope, dir| setting(machine, scope, AUTO_MEMORY_DIR, dir.into())),
        covers_files: true,
        dirs: auto_memory_dirs,
        project_of,
        variable: Some(DISABLE_AUTO_MEMORY),
    }),
    ..BASE
};

/// A session's end waits only 1.5 s unless a hook in a settings file asks for more.
const HOOKS: &[HookSpec] = &[
    hook(HookEvent::SessionStart, "SessionStart", 10, Delivery::Model),
    hook(HookEvent::Prompt, "UserPromptSubmit", 10, Delivery::Model),
    hook(HookEvent::BeforeTool, "PreToolUse", 5, Delivery::ToolResult),
    hook(HookEvent::Stop, "Stop", 10, Delivery::Model),
    hook(HookEvent::SessionEnd, "SessionEnd", 10, Delivery::Ignored),
    hook(HookEvent::BeforeCompaction, "PreCompact", 10, Delivery::Ignored),
];

fn config(machine: &Machine, scope: InstallScope) -> Vec<HostConfigFile> {
    let server = match scope {
        InstallScope::User => user_file(machine),
        InstallScope::Project => machine.project.join(".mcp.json"),
    };
    let hooks = HOOKS.iter().map(|hook| ConfigEdit::hook(HOST.name, hook, hook_group(machine, hook))).collect();
    vec![
        server_file(server, ConfigFormat::Json, "mcpServers", machine.typed_server(&HOST, "stdio")),
        HostConfigFile { path: settings_file(machine, scope), format: ConfigFormat::Json, edits: hooks },
    ]
}

/// One command line, because versions before 2.1.139 ignore `args` and run the bare program. On Windows the shell may be any of three
/// that quote differently, so there the arguments are apart.
fn hook_group(machine: &Machine, hook: &HookSpec) -> Value {
    if machine.os == Os::Windows {
        let args = machine.hook_args(HOST.name, hook.event);
        return json!({ "hooks": [{ "type": "command", "command": machine.exe, "args": args, "timeout": hook.timeout_secs }] });
    }
    let command = machine.hook_line(Shell::Posix, HOST.name, hook.event);
    json!({ "hooks": [{ "type": "command", "command": command, "timeout": hook.timeout_secs }] })
}

/// The plugin, by the settings that enable it, or by the list of installed plugins unless the settings disable it.
fn plugin(machine: &Machine) -> Option<InstalledPlugin> {
    let found = |file: PathBuf| Some(InstalledPlugin { title: "plugin", file, remove: "claude plugin uninstall memdir" });
    let is_ours = |key: &String| key.split_once('@').is_some_and(|(name, _)| name == SERVER);
    for file in settings_files(machine) {
        let enabled = read_setting(&file, "enabledPlugins");
        let ours = enabled.as_ref().and_then(Value::as_object).into_iter().flatten().find(|(key, _)| is_ours(key));
        match ours {
            Some((_, Value::Bool(true))) => return found(file),
            Some((_, Value::Bool(false))) => return None,
            _ => {}
        }
    }
    let file = settings_dir(machine).join("plugins/installed_plugins.json");
    let installed = read_setting(&file, "plugins");
    let is_installed = installed.as_ref().and_then(Value::as_object).is_some_and(|plugins| plugins.keys().any(is_ours));
    if is_installed { found(file) } else { None }
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

/// The setting of the auto memory's directory. Claude Code ignores it in the shared file of a project.
const AUTO_MEMORY_DIR: &str = "autoMemoryDirectory";

/// The variable that turns the auto memory off for a session.
const DISABLE_AUTO_MEMORY: &str = "CLAUDE_CODE_DISABLE_AUTO_MEMORY";

/// Sets a value in the settings; in a project in the file that is not shared.
fn setting(machine: &Machine, scope: InstallScope, key: &str, value: Value) -> HostConfigFile {
    let edit = ConfigEdit::Setting { path: vec![key.to_owned()], value };
    HostConfigFile { path: settings_file(machine, scope), format: ConfigFormat::Json, edits: vec![edit] }
}

/// The settings files that are in effect in this project; a value in an earlier one overrides later ones.
fn settings_files(machine: &Machine) -> [PathBuf; 3] {
    [
        settings_file(machine, InstallScope::Project),
        machine.project.join(".claude/settings.json"),
        settings_file(machine, InstallScope::User),
    ]
}

/// A value in a settings file. A file that cannot be read has none.
fn read_setting(file: &Path, key: &str) -> Option<Value> {
    jsonc::get(&fs::read_to_string(file).ok()?, &[key.to_owned()]).ok()?
}

/// The state of the auto memory, which is on by default.
fn auto_memory(machine: &Machine) -> OwnMemory {
    let enabled = settings_files(machine).into_iter().find_map(|file| Some((read_setting(&file, "autoMemoryEnabled")?.as_bool()?, file)));
    let off_by = enabled.filter(|(on, _)| !on).map(|(_, file)| format!("\"autoMemoryEnabled\": false in {}", file.display()));
    let is_true = |value: &&String| matches!(value.to_ascii_lowercase().as_str(), "1" | "true" | "yes" | "on");
    let suspended_by = machine.variables.get(DISABLE_AUTO_MEMORY).filter(is_true).map(|value| format!("{DISABLE_AUTO_MEMORY}={value}"));
    let dir = [InstallScope::Project, InstallScope::User].into_iter().find_map(|scope| configured_dir(machine, scope));
    OwnMemory { off_by, suspended_by, dir }
}

/// The auto memory, whose entrypoint and frontmatter follow memdir's own conventions. All worktrees of a repository share the memory
/// of the main checkout.
fn memory(machine: &Machine) -> Option<HostMemory> {
    let title = "Claude Code's auto memory for this project";
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
    let value = read_setting(&settings_file(machine, scope), AUTO_MEMORY_DIR)?;
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
    dirs.shared_sort();
    dirs
}

/// The number of transcripts, and the bytes of each, that are read to find the project of an auto memory.
const READ_TRANSCRIPTS: usize = 20;
const READ_BYTES: u64 = 64 * 1024;

/// The project of an auto memory. Its name cannot be decoded, so the transcripts beside it are asked for their directory.
fn project_of(_: &Machine, dir: &Path) -> Option<PathBuf> {
    let slug = dir.parent()?.file_name()?.to_str()?.to_owned();
    let mut transcripts: Vec<PathBuf> = fs::read_dir(dir.parent()?).ok()?.flatten().map(|entry| entry.path()).collect();
    transcripts.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    transcripts.shared_sort();
    let cwd = |line: &str| serde_json::from_str::<Value>(line).ok()?["cwd"].as_str().map(PathBuf::from);
    let of_transcript = |path: &PathBuf| {
        let mut bytes = Vec::new();
        fs::File::open(path).ok()?.take(READ_BYTES).read_to_end(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        text.lines().filter_map(cwd).find(|project| project_slug(project).as_deref() == Some(&slug) && project.is_dir())
    };
    transcripts.iter().take(READ_TRANSCRIPTS).find_map(of_transcript)
}

/// The name of a project's directory: every character but ASCII letters and digits becomes a hyphen. `None` for more than 200
/// characters, where Claude Code appends a hash we do not know.
fn project_slug(project: &Path) -> Option<String> {
    let slug: String = project.to_str()?.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    (slug.len() <= 200).then_some(slug)
}
