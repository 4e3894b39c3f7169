//! VS Code: the server in its `mcp.json`, whose key is `servers`; hooks in the file it shares with Copilot CLI.

use super::{Format, Host, Machine, Part, Scope, copilot_cli, server_part};
use std::path::PathBuf;

pub(crate) const HOST: Host = Host {
    name: "vscode",
    title: "VS Code",
    programs: &["code", "code-insiders"],
    traces: |machine| vec![user_dir(machine)],
    parts: |machine, scope| Some(parts(machine, scope)),
    hooks: copilot_cli::HOOKS,
    instructions: ".github/copilot-instructions.md, AGENTS.md",
    hears: "what is said at a session's start, with a prompt, before a tool and at a stop",
    then: "Run \"MCP: List Servers\" in VS Code and start memdir.",
};

fn parts(machine: &Machine, scope: Scope) -> Vec<Part> {
    let file = match scope {
        Scope::User => user_dir(machine).join("mcp.json"),
        Scope::Project => machine.project.join(".vscode/mcp.json"),
    };
    vec![server_part(file, Format::Json, "servers", machine.typed_server("stdio")), copilot_cli::hooks_part(machine, scope)]
}

/// The profile directory; the Insiders' if that is the only one there.
fn user_dir(machine: &Machine) -> PathBuf {
    let [stable, insiders] = ["Code", "Code - Insiders"].map(|name| machine.config_dir().join(name).join("User"));
    if !stable.exists() && insiders.exists() { insiders } else { stable }
}
