//! Zed: the server in `settings.json` under `context_servers`. It has no hooks.

use super::{BASE, ConfigFormat, Host, InstallScope, Machine, Os, RemoteEntry, config_edit::server_file, remote_entry};
use std::path::PathBuf;

pub(super) const HOST: Host = Host {
    name: "zed",
    title: "Zed",
    programs: &["zed", "zeditor"],
    traces: |machine| vec![user_dir(machine)],
    config: |machine, scope| {
        let dir = match scope {
            InstallScope::User => user_dir(machine),
            InstallScope::Project => machine.project.join(".zed"),
        };
        Some(vec![server_file(dir.join("settings.json"), ConfigFormat::Json, "context_servers", machine.server(&HOST))])
    },
    remote: Some(RemoteEntry { sign_in: "Sign in from the Agent panel's settings.", ..remote_entry::HTTP }),
    instructions: "AGENTS.md, .rules",
    next_step: "The Agent panel's settings list memdir; no restart is needed.",
    ..BASE
};

fn user_dir(machine: &Machine) -> PathBuf {
    match machine.os {
        Os::Windows => machine.config_dir().join("Zed"),
        Os::MacOs => machine.home.join(".config/zed"),
        Os::Linux => machine.config_dir().join("zed"),
    }
}
