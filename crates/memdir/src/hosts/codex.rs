//! Codex CLI: the server in `config.toml`, hooks in `hooks.json` beside it. It runs hooks through a shell.

use super::{Event, Format, Hook, Host, Machine, Os, Part, Scope, Wish, command::Shell, hook, server_part};
use serde_json::json;
use std::path::PathBuf;

pub(crate) const HOST: Host = Host {
    name: "codex",
    title: "Codex CLI",
    programs: &["codex"],
    traces: |machine| vec![home(machine)],
    parts: |machine, scope| Some(parts(machine, scope)),
    hooks: HOOKS,
    instructions: "AGENTS.md",
    hears: "what is said at a session's start, with a prompt, before a tool and at a stop",
    then: "Start codex and trust memdir's hooks once, in /hooks; in a project also trust the project.",
};

const HOOKS: &[Hook] = &[
    hook(Event::SessionStart, "SessionStart", 10),
    hook(Event::Prompt, "UserPromptSubmit", 10),
    hook(Event::BeforeTool, "PreToolUse", 5),
    hook(Event::Stop, "Stop", 10),
    // It waits no longer than this, and says so when it is asked to.
    hook(Event::SessionEnd, "SessionEnd", 3),
    hook(Event::BeforeCompaction, "PreCompact", 10),
];

fn parts(machine: &Machine, scope: Scope) -> Vec<Part> {
    let dir = match scope {
        Scope::User => home(machine),
        Scope::Project => machine.project.join(".codex"),
    };
    let shell = if machine.os == Os::Windows { Shell::Cmd } else { Shell::Sh };
    let wish = |hook: &Hook| Wish::Hook {
        path: vec!["hooks".into(), hook.name.into()],
        value: json!({ "hooks": [{
            "type": "command",
            "command": machine.hook_line(shell, HOST.name, hook.event),
            "timeout": hook.seconds,
        }] }),
        host: HOST.name.into(),
        event: hook.event,
    };
    vec![
        server_part(dir.join("config.toml"), Format::Toml, "mcp_servers", machine.server()),
        Part { file: dir.join("hooks.json"), format: Format::Json, wishes: HOOKS.iter().map(wish).collect() },
    ]
}

/// The directory of its settings, rollouts and memories.
pub(crate) fn home(machine: &Machine) -> PathBuf {
    machine.dir("CODEX_HOME", ".codex")
}
