//! The machine an installation is made on: what hosts' files and commands depend on. Reads no environment itself.

use super::{HookEvent, Host, SERVER, command::Shell};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{collections::BTreeMap, path::PathBuf};

/// The variables that decide where programs and settings are, for every host.
pub(super) const VARIABLES: &[&str] = &["XDG_CONFIG_HOME", "APPDATA", "PATH"];

/// The option of the server that says that a session hook provides the memory section.
const SESSION_HOOK: &str = "--session-hook";

/// Where an installation applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum InstallScope {
    /// In all of the user's projects
    User,
    /// In this project only
    Project,
}

/// An operating system, as far as hosts' files and shells differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Os {
    /// Linux and other Unix systems.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl Os {
    /// The system this program was built for.
    pub(crate) const fn current() -> Os {
        if cfg!(windows) {
            Os::Windows
        } else if cfg!(target_os = "macos") {
            Os::MacOs
        } else {
            Os::Linux
        }
    }
}

/// What an installation depends on.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    /// The operating system.
    pub(crate) os: Os,
    /// The user's home directory.
    pub(crate) home: PathBuf,
    /// The root of the current project.
    pub(crate) project: PathBuf,
    /// The main checkout of the repository if the project is a worktree, else the project itself.
    pub(crate) main_checkout: PathBuf,
    /// The absolute path of this program.
    pub(crate) exe: String,
    /// Arguments before the command that select the memory, such as `--dir PATH`; empty for the default memory.
    pub(crate) global_args: Vec<String>,
    /// Whether the installation has hooks.
    pub(crate) with_hooks: bool,
    /// Those of [`super::variables`] that are set.
    pub(crate) variables: BTreeMap<&'static str, String>,
}

impl Machine {
    /// The directory named by a variable, or one below the home directory if the variable is not set.
    pub(super) fn dir(&self, variable: &str, below_home: &str) -> PathBuf {
        self.variables.get(variable).map_or_else(|| self.home.join(below_home), PathBuf::from)
    }

    /// The directory in which programs keep their settings on this system.
    pub(super) fn config_dir(&self) -> PathBuf {
        match self.os {
            Os::Linux => self.dir("XDG_CONFIG_HOME", ".config"),
            Os::MacOs => self.home.join("Library/Application Support"),
            Os::Windows => self.dir("APPDATA", "AppData/Roaming"),
        }
    }

    /// The machine as an installation in a scope names it. The files of a project may be shared, so there a program in `PATH` is named
    /// without its directory.
    pub(crate) fn in_scope(&self, scope: InstallScope) -> Machine {
        let path = PathBuf::from(&self.exe);
        let name = path.file_stem().and_then(|name| name.to_str()).filter(|name| *name == SERVER && scope == InstallScope::Project);
        let is_same = |found: PathBuf| found.canonicalize().ok() == path.canonicalize().ok();
        let exe = name.filter(|name| self.find_program(name).is_some_and(is_same)).unwrap_or(&self.exe).to_owned();
        Machine { exe, ..self.clone() }
    }

    /// Whether a program, named by a path or as one in `PATH`, exists.
    pub(crate) fn can_start(&self, program: &str) -> bool {
        let is_name = !program.contains(['/', '\\']);
        if is_name { self.find_program(program).is_some() } else { PathBuf::from(program).is_file() }
    }

    /// Finds a program in `PATH`.
    pub(super) fn find_program(&self, program: &str) -> Option<PathBuf> {
        let extensions: &[&str] = if self.os == Os::Windows { &[".exe", ".cmd", ""] } else { &[""] };
        let names: Vec<String> = extensions.iter().map(|extension| format!("{program}{extension}")).collect();
        let dirs = std::env::split_paths(self.variables.get("PATH")?);
        dirs.flat_map(|dir| names.iter().map(move |name| dir.join(name)).collect::<Vec<_>>()).find(|path| path.is_file())
    }

    /// The arguments that start memdir's server. If the session hook of the host provides the memory section, the server must not
    /// repeat it.
    pub(super) fn server_args(&self, host: &Host) -> Vec<String> {
        let hook = (self.with_hooks && host.has_session_text()).then_some(SESSION_HOOK);
        self.global_args.iter().map(String::as_str).chain(["mcp"]).chain(hook).map(str::to_owned).collect()
    }

    /// The arguments that run a hook.
    pub(super) fn hook_args(&self, host: &str, event: HookEvent) -> Vec<String> {
        let own = ["hook", host, event.name()].map(str::to_owned);
        self.global_args.iter().cloned().chain(own).collect()
    }

    /// The command line that runs a hook, for the shell in which the host runs it.
    pub(super) fn hook_line(&self, shell: Shell, host: &str, event: HookEvent) -> String {
        shell.line(&self.exe, &self.hook_args(host, event))
    }

    /// The server's entry in the form most hosts share.
    pub(super) fn server(&self, host: &Host) -> Value {
        json!({ "command": self.exe, "args": self.server_args(host) })
    }

    /// The server's entry with a transport type.
    pub(super) fn typed_server(&self, host: &Host, transport: &str) -> Value {
        json!({ "type": transport, "command": self.exe, "args": self.server_args(host) })
    }
}
