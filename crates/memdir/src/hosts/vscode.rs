//! VS Code: the server in its `mcp.json`, whose key is `servers`; hooks in the file it shares with Copilot CLI.

use super::{
    BASE, ConfigFormat, Host, HostConfigFile, InstallScope, Machine, RemoteEntry, TokenEnv,
    config_edit::server_file,
    copilot_cli::{self, vscode_output},
    remote_entry,
};
use std::path::PathBuf;

pub(super) const HOST: Host = Host {
    name: "vscode",
    title: "VS Code",
    programs: &["code", "code-insiders"],
    traces: |machine| vec![user_dir(machine)],
    variables: copilot_cli::HOST.variables,
    config: |machine, scope| Some(config(machine, scope)),
    remote: Some(RemoteEntry {
        more: r#"{"type":"http"}"#,
        token_env: TokenEnv::Reference(remote_entry::ENV_BRACED),
        sign_in: "Run \"MCP: List Servers\" in VS Code, start `memdir-team` and sign in.",
        ..remote_entry::HTTP
    }),
    instructions: ".github/copilot-instructions.md, AGENTS.md",
    next_step: "Run \"MCP: List Servers\" in VS Code and start memdir.",
    hooks: copilot_cli::HOST.hooks,
    hook_output: vscode_output,
    can_ask: true,
    hook_command_keys: copilot_cli::HOST.hook_command_keys,
    ..BASE
};

fn config(machine: &Machine, scope: InstallScope) -> Vec<HostConfigFile> {
    let file = match scope {
        InstallScope::User => user_dir(machine).join("mcp.json"),
        InstallScope::Project => machine.project.join(".vscode/mcp.json"),
    };
    vec![server_file(file, ConfigFormat::Json, "servers", machine.typed_server(&HOST, "stdio")), copilot_cli::hooks_file(machine, scope)]
}

/// The profile directory; that of VS Code Insiders if it is the only one.
fn user_dir(machine: &Machine) -> PathBuf {
    let [stable, insiders] = ["Code", "Code - Insiders"].map(|name| machine.config_dir().join(name).join("User"));
    if !stable.exists() && insiders.exists() { insiders } else { stable }
}
