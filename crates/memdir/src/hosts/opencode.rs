//! opencode: the server in `opencode.json(c)` under `mcp`, its command one list; hooks through a plugin file, because
//! plugins are the only thing it calls. Before a tool it takes no words, so what is said there comes with the tool's result.

use super::{Event, Format, Hook, Host, Machine, Part, Scope, Wish, hook, server_part};
use serde_json::json;
use std::path::{Path, PathBuf};

pub(crate) const HOST: Host = Host {
    name: "opencode",
    title: "opencode",
    programs: &["opencode"],
    traces: |machine| vec![user_dir(machine)],
    parts: |machine, scope| Some(parts(machine, scope)),
    hooks: HOOKS,
    instructions: "AGENTS.md",
    hears: "what is said at a session's start and with a prompt; a plugin has no words before a tool, so what is said there comes with that tool's result; it hears nothing at a stop",
    then: "Start opencode; opencode mcp list shows memdir.",
};

const HOOKS: &[Hook] = &[
    hook(Event::SessionStart, "experimental.chat.system.transform", 10),
    hook(Event::Prompt, "chat.message", 10),
    hook(Event::BeforeTool, "tool.execute.before", 5),
    hook(Event::Stop, "session.idle", 10),
    hook(Event::SessionEnd, "session.deleted", 10),
    hook(Event::BeforeCompaction, "experimental.session.compacting", 10),
];

/// The plugin, with the program and its arguments to be filled in.
const PLUGIN: &str = include_str!("opencode.js");

fn parts(machine: &Machine, scope: Scope) -> Vec<Part> {
    let (dir, plugins) = match scope {
        Scope::User => (user_dir(machine), user_dir(machine).join("plugins")),
        Scope::Project => (machine.project.clone(), machine.project.join(".opencode/plugins")),
    };
    let command: Vec<String> = std::iter::once(machine.exe.clone()).chain(machine.server_args()).collect();
    let server = json!({ "type": "local", "command": command, "enabled": true });
    let text = PLUGIN.replace("\"PROGRAM\"", &json!(machine.exe).to_string()).replace("[\"BEFORE\"]", &json!(machine.before).to_string());
    vec![
        server_part(config(&dir), Format::Json, "mcp", server),
        Part { file: plugins.join("memdir.js"), format: Format::Whole, wishes: vec![Wish::Whole { text }] },
    ]
}

/// The settings file that is there; it may have comments.
fn config(dir: &Path) -> PathBuf {
    let with_comments = dir.join("opencode.jsonc");
    if with_comments.exists() { with_comments } else { dir.join("opencode.json") }
}

fn user_dir(machine: &Machine) -> PathBuf {
    machine.dir("XDG_CONFIG_HOME", ".config").join("opencode")
}
