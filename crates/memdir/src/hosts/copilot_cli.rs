//! Copilot CLI: the server in its `mcp-config.json`, hooks in a file of their own that VS Code reads too. A hook that
//! fails before a tool forbids the tool, so its hooks forgive.

use super::{Event, Format, Hook, Host, Machine, Os, Part, Scope, Wish, command::Shell, hook, server_part};
use serde_json::{Map, Value, json};

pub(crate) const HOST: Host = Host {
    name: "copilot-cli",
    title: "Copilot CLI",
    programs: &["copilot"],
    // Anything of its own: the folder with hooks alone may be there for VS Code, or from us.
    traces: |machine| {
        let entries = std::fs::read_dir(machine.dir("COPILOT_HOME", ".copilot")).into_iter().flatten().flatten();
        let mut own: Vec<_> = entries.filter(|entry| entry.file_name() != "hooks").map(|entry| entry.path()).collect();
        own.sort();
        own
    },
    parts: |machine, scope| Some(parts(machine, scope)),
    hooks: HOOKS,
    instructions: ".github/copilot-instructions.md",
    hears: "what is said at a session's start, with a prompt, before a tool and at a stop",
    then: "Start copilot; /mcp lists memdir.",
};

pub(super) const HOOKS: &[Hook] = &[
    hook(Event::SessionStart, "sessionStart", 10),
    hook(Event::Prompt, "userPromptSubmitted", 10),
    hook(Event::BeforeTool, "preToolUse", 5),
    hook(Event::Stop, "agentStop", 10),
    hook(Event::SessionEnd, "sessionEnd", 10),
    hook(Event::BeforeCompaction, "preCompact", 10),
];

fn parts(machine: &Machine, scope: Scope) -> Vec<Part> {
    let file = match scope {
        Scope::User => machine.dir("COPILOT_HOME", ".copilot").join("mcp-config.json"),
        Scope::Project => machine.project.join(".github/mcp.json"),
    };
    let mut server = machine.typed_server("local");
    server["tools"] = json!(["*"]);
    vec![server_part(file, Format::Json, "mcpServers", server), hooks_part(machine, scope)]
}

/// The hooks of both; which of the two called shows in what it sends.
pub(super) fn hooks_part(machine: &Machine, scope: Scope) -> Part {
    let file = match scope {
        Scope::User => machine.dir("COPILOT_HOME", ".copilot").join("hooks/memdir.json"),
        Scope::Project => machine.project.join(".github/hooks/memdir.json"),
    };
    let wish = |hook: &Hook| Wish::Hook {
        path: vec!["hooks".into(), hook.name.into()],
        value: command(machine, hook),
        host: HOST.name.into(),
        event: hook.event,
    };
    let version = Wish::Default { path: vec!["version".into()], value: json!(1) };
    Part { file, format: Format::Json, wishes: std::iter::once(version).chain(HOOKS.iter().map(wish)).collect() }
}

fn command(machine: &Machine, hook: &Hook) -> Value {
    let (key, shell) = if machine.os == Os::Windows { ("powershell", Shell::PowerShellForgiving) } else { ("bash", Shell::ShForgiving) };
    let line = machine.hook_line(shell, HOST.name, hook.event);
    let fields = [("type", json!("command")), (key, json!(line)), ("timeoutSec", json!(hook.seconds))];
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>().into()
}
