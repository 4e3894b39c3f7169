//! Claude Code: the server in `~/.claude.json` or `.mcp.json`, hooks in exec form in its settings.

use super::{Event, Format, Hook, Host, Machine, Part, Scope, Wish, hook, server_part};
use serde_json::{Value, json};
use std::path::PathBuf;

pub(crate) const HOST: Host = Host {
    name: "claude-code",
    title: "Claude Code",
    programs: &["claude"],
    traces: |machine| vec![settings_dir(machine), user_file(machine)],
    parts: |machine, scope| Some(parts(machine, scope)),
    hooks: HOOKS,
    instructions: "CLAUDE.md",
    hears: "what is said at a session's start, with a prompt, before a tool and at a stop",
    then: "Start a new session; /mcp lists memdir.",
};

/// A session's end waits only 1.5 s unless a hook in a settings file asks for more.
const HOOKS: &[Hook] = &[
    hook(Event::SessionStart, "SessionStart", 10),
    hook(Event::Prompt, "UserPromptSubmit", 10),
    hook(Event::BeforeTool, "PreToolUse", 5),
    hook(Event::Stop, "Stop", 10),
    hook(Event::SessionEnd, "SessionEnd", 10),
    hook(Event::BeforeCompaction, "PreCompact", 10),
];

fn parts(machine: &Machine, scope: Scope) -> Vec<Part> {
    let server = match scope {
        Scope::User => user_file(machine),
        Scope::Project => machine.project.join(".mcp.json"),
    };
    vec![
        server_part(server, Format::Json, "mcpServers", machine.typed_server("stdio")),
        Part { file: settings_file(machine, scope), format: Format::Json, wishes: hooks(machine) },
    ]
}

fn hooks(machine: &Machine) -> Vec<Wish> {
    let wish = |hook: &Hook| Wish::Hook {
        path: vec!["hooks".into(), hook.name.into()],
        value: group(machine, hook),
        host: HOST.name.into(),
        event: hook.event,
    };
    HOOKS.iter().map(wish).collect()
}

fn group(machine: &Machine, hook: &Hook) -> Value {
    let args = machine.hook_args(HOST.name, hook.event);
    json!({ "hooks": [{ "type": "command", "command": machine.exe, "args": args, "timeout": hook.seconds }] })
}

/// The directory of its settings and transcripts.
pub(crate) fn settings_dir(machine: &Machine) -> PathBuf {
    machine.dir("CLAUDE_CONFIG_DIR", ".claude")
}

/// Hooks name this machine's program: in a project they belong into the file that is not shared.
fn settings_file(machine: &Machine, scope: Scope) -> PathBuf {
    match scope {
        Scope::User => settings_dir(machine).join("settings.json"),
        Scope::Project => machine.project.join(".claude/settings.local.json"),
    }
}

fn user_file(machine: &Machine) -> PathBuf {
    machine.variables.get("CLAUDE_CONFIG_DIR").map_or(machine.home.join(".claude.json"), |dir| PathBuf::from(dir).join(".claude.json"))
}

/// The setting that makes its own memory and memdir's one directory. In a project it stands in the file that is not
/// shared: the shared one is ignored for it.
pub(crate) fn auto_memory(machine: &Machine, scope: Scope, dir: &str) -> Part {
    let wish = Wish::Setting { path: vec!["autoMemoryDirectory".into()], value: dir.into() };
    Part { file: settings_file(machine, scope), format: Format::Json, wishes: vec![wish] }
}
