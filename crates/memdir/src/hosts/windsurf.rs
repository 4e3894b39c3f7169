//! Windsurf: the server in `mcp_config.json`. It has no project scope, and its hooks cannot pass text to the model.

use super::{BASE, ConfigFormat, Host, InstallScope, RemoteEntry, TokenEnv, config_edit::server_file, remote_entry};

pub(super) const HOST: Host = Host {
    name: "windsurf",
    title: "Windsurf",
    programs: &["windsurf"],
    traces: |machine| vec![machine.home.join(".codeium/windsurf")],
    config: |machine, scope| match scope {
        InstallScope::User => {
            let file = machine.home.join(".codeium/windsurf/mcp_config.json");
            Some(vec![server_file(file, ConfigFormat::Json, "mcpServers", machine.server(&HOST))])
        }
        InstallScope::Project => None,
    },
    remote: Some(RemoteEntry {
        url_key: "serverUrl",
        token_env: TokenEnv::Reference(remote_entry::ENV_BRACED),
        sign_in: "Refresh the MCP servers in Windsurf's Cascade panel and sign in.",
        ..remote_entry::HTTP
    }),
    instructions: ".windsurfrules",
    next_step: "Refresh the MCP servers in Windsurf's Cascade panel.",
    memory_advice: Some("controlled in Windsurf, not by a settings file; if it is on, turn it off under Settings > Cascade"),
    ..BASE
};
