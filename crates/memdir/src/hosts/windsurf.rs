//! Windsurf: the server in `mcp_config.json`. It has no project scope, and its hooks cannot say anything to the model.

use super::{Format, Host, Scope, server_part};

pub(crate) const HOST: Host = Host {
    name: "windsurf",
    title: "Windsurf",
    programs: &["windsurf"],
    traces: |machine| vec![machine.home.join(".codeium/windsurf")],
    parts: |machine, scope| match scope {
        Scope::User => {
            let file = machine.home.join(".codeium/windsurf/mcp_config.json");
            Some(vec![server_part(file, Format::Json, "mcpServers", machine.server())])
        }
        Scope::Project => None,
    },
    hooks: &[],
    instructions: ".windsurfrules",
    hears: "nothing but the tools: it has no hooks",
    then: "Refresh the MCP servers in Windsurf's Cascade panel.",
};
