//! Claude Desktop: the server in `claude_desktop_config.json`. It has neither projects nor hooks.

use super::{Format, Host, Machine, Scope, server_part};
use std::path::PathBuf;

pub(crate) const HOST: Host = Host {
    name: "claude-desktop",
    title: "Claude Desktop",
    programs: &[],
    traces: |machine| vec![user_dir(machine)],
    parts: |machine, scope| match scope {
        Scope::User => {
            let file = user_dir(machine).join("claude_desktop_config.json");
            Some(vec![server_part(file, Format::Json, "mcpServers", machine.server())])
        }
        Scope::Project => None,
    },
    hooks: &[],
    instructions: "none",
    hears: "nothing but the tools: it has no hooks",
    then: "Quit Claude Desktop and start it again.",
};

fn user_dir(machine: &Machine) -> PathBuf {
    machine.config_dir().join("Claude")
}
