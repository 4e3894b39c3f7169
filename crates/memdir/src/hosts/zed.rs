//! Zed: the server in `settings.json` under `context_servers`. It has no hooks.

use super::{Format, Host, Machine, Os, Scope, server_part};
use std::path::PathBuf;

pub(crate) const HOST: Host = Host {
    name: "zed",
    title: "Zed",
    programs: &["zed", "zeditor"],
    traces: |machine| vec![user_dir(machine)],
    parts: |machine, scope| {
        let dir = match scope {
            Scope::User => user_dir(machine),
            Scope::Project => machine.project.join(".zed"),
        };
        Some(vec![server_part(dir.join("settings.json"), Format::Json, "context_servers", machine.server())])
    },
    hooks: &[],
    instructions: "AGENTS.md, .rules",
    hears: "nothing but the tools: it has no hooks",
    then: "The Agent panel's settings list memdir; no restart is needed.",
};

fn user_dir(machine: &Machine) -> PathBuf {
    match machine.os {
        Os::Windows => machine.config_dir().join("Zed"),
        Os::MacOs => machine.home.join(".config/zed"),
        Os::Linux => machine.config_dir().join("zed"),
    }
}
