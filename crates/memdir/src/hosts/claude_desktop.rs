//! Claude Desktop: the server in `claude_desktop_config.json`. It has neither projects nor hooks.

use super::{BASE, ConfigFormat, Host, InstallScope, Machine, config_edit::server_file};
use std::path::PathBuf;

pub(super) const HOST: Host = Host {
    name: "claude-desktop",
    title: "Claude Desktop",
    traces: |machine| vec![user_dir(machine)],
    config: |machine, scope| match scope {
        InstallScope::User => {
            let file = user_dir(machine).join("claude_desktop_config.json");
            Some(vec![server_file(file, ConfigFormat::Json, "mcpServers", machine.server(&HOST))])
        }
        InstallScope::Project => None,
    },
    remote_advice: "add the URL in Claude Desktop under Settings > Connectors > Add custom connector",
    next_step: "Quit Claude Desktop and start it again.",
    ..BASE
};

fn user_dir(machine: &Machine) -> PathBuf {
    machine.config_dir().join("Claude")
}
