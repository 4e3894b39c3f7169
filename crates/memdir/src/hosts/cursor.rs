//! Cursor: the server in `mcp.json`, hooks in `hooks.json`. It hears what a hook says at a session's start, before a tool
//! and at its stop; before a prompt it takes refusals only, so that is not hooked.

use super::{Event, Format, Hook, Host, Machine, Os, Part, Scope, Wish, command::Shell, hook, server_part};
use serde_json::json;

pub(crate) const HOST: Host = Host {
    name: "cursor",
    title: "Cursor",
    programs: &["cursor", "cursor-agent"],
    traces: |machine| vec![machine.home.join(".cursor")],
    parts: |machine, scope| Some(parts(machine, scope)),
    hooks: HOOKS,
    instructions: ".cursor/rules, AGENTS.md",
    hears: "what is said at a session's start and at a stop; before a command or another tool memdir sends its words as `agent_message` without a decision, and it depends on Cursor's version whether the agent reads them; before a prompt Cursor takes refusals only, so memories come with the tools there",
    then: "Restart Cursor; Settings > MCP lists memdir.",
};

const HOOKS: &[Hook] = &[
    hook(Event::SessionStart, "sessionStart", 10),
    hook(Event::BeforeTool, "beforeShellExecution", 5),
    hook(Event::BeforeTool, "preToolUse", 5),
    hook(Event::Stop, "stop", 10),
    hook(Event::SessionEnd, "sessionEnd", 10),
    hook(Event::BeforeCompaction, "preCompact", 10),
];

fn parts(machine: &Machine, scope: Scope) -> Vec<Part> {
    let dir = match scope {
        Scope::User => machine.home.join(".cursor"),
        Scope::Project => machine.project.join(".cursor"),
    };
    let shell = if machine.os == Os::Windows { Shell::PowerShell } else { Shell::Sh };
    let wish = |hook: &Hook| Wish::Hook {
        path: vec!["hooks".into(), hook.name.into()],
        value: json!({ "command": machine.hook_line(shell, HOST.name, hook.event), "timeout": hook.seconds }),
        host: HOST.name.into(),
        event: hook.event,
    };
    let version = Wish::Default { path: vec!["version".into()], value: json!(1) };
    vec![
        server_part(dir.join("mcp.json"), Format::Json, "mcpServers", machine.server()),
        Part {
            file: dir.join("hooks.json"),
            format: Format::Json,
            wishes: std::iter::once(version).chain(HOOKS.iter().map(wish)).collect(),
        },
    ]
}
