//! Gemini CLI: server and hooks in one `settings.json`. It takes a hook that fails for a refusal, even one whose
//! program is gone, so its hooks forgive.

use super::{Event, Format, Hook, Host, Machine, Os, Part, SERVER, Scope, Wish, command::Shell, hook};
use serde_json::json;
use std::path::PathBuf;

pub(crate) const HOST: Host = Host {
    name: "gemini",
    title: "Gemini CLI",
    programs: &["gemini"],
    traces: |machine| vec![user_dir(machine)],
    parts: |machine, scope| Some(vec![part(machine, scope)]),
    hooks: HOOKS,
    instructions: "GEMINI.md",
    hears: "what is said at a session's start, with a prompt and at a stop; what is said before a tool is shown to the person and not to the model",
    then: "Start gemini; /mcp and /hooks list memdir. In a project, trust the folder first.",
};

const HOOKS: &[Hook] = &[
    hook(Event::SessionStart, "SessionStart", 10),
    hook(Event::Prompt, "BeforeAgent", 10),
    hook(Event::BeforeTool, "BeforeTool", 5),
    hook(Event::Stop, "AfterAgent", 10),
    hook(Event::SessionEnd, "SessionEnd", 10),
    hook(Event::BeforeCompaction, "PreCompress", 10),
];

fn part(machine: &Machine, scope: Scope) -> Part {
    let dir = match scope {
        Scope::User => user_dir(machine),
        Scope::Project => machine.project.join(".gemini"),
    };
    let shell = if machine.os == Os::Windows { Shell::PowerShellForgiving } else { Shell::ShForgiving };
    let wish = |hook: &Hook| Wish::Hook {
        path: vec!["hooks".into(), hook.name.into()],
        value: json!({ "hooks": [{
            "type": "command",
            "name": format!("memdir-{}", hook.event.name()),
            "command": machine.hook_line(shell, HOST.name, hook.event),
            "timeout": hook.seconds * 1000,
        }] }),
        host: HOST.name.into(),
        event: hook.event,
    };
    let server = Wish::Entry { path: vec!["mcpServers".into(), SERVER.into()], value: machine.server() };
    let wishes = std::iter::once(server).chain(HOOKS.iter().map(wish)).collect();
    Part { file: dir.join("settings.json"), format: Format::Json, wishes }
}

/// The directory of its settings and chats.
pub(crate) fn user_dir(machine: &Machine) -> PathBuf {
    machine.dir("GEMINI_CLI_HOME", "").join(".gemini")
}
