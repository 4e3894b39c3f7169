//! The agent programs memdir works with. [`Host`] describes one of them completely. Reads only which files exist, and writes nothing.
//!
//! To add a host: a file `hosts/<name>.rs` with a `HOST`, its `mod` line and its line in [`HOSTS`]. If it has transcripts, also a reader
//! in memdir-chats, named in [`Host::transcripts`].

mod claude_code;
mod claude_desktop;
mod codex;
pub(crate) mod command;
pub(crate) mod config_edit;
mod copilot_cli;
mod cursor;
mod gemini;
mod hooks;
mod host_memory;
pub(crate) mod jsonc;
mod machine;
mod opencode;
pub(crate) mod text_edit;
pub(crate) mod toml;
mod vscode;
mod windsurf;
mod zed;

pub(crate) use config_edit::{ConfigEdit, ConfigFile, ConfigFormat};
pub(crate) use hooks::{Delivery, HookEvent, HookReply, HookSpec, ToolCall};
pub(crate) use host_memory::{HostMemory, MemoryImport, MemoryRedirect};
pub(crate) use machine::{InstallScope, Machine, Os};

use serde_json::Value;
use std::path::PathBuf;

/// The name of memdir's server in a host's settings.
pub(crate) const SERVER: &str = "memdir";

/// Every host, in display order.
pub(crate) const HOSTS: &[&Host] = &[
    &claude_code::HOST,
    &codex::HOST,
    &gemini::HOST,
    &cursor::HOST,
    &vscode::HOST,
    &opencode::HOST,
    &zed::HOST,
    &claude_desktop::HOST,
    &windsurf::HOST,
    &copilot_cli::HOST,
];

/// An agent program: how to detect it, what an installation writes into its files, how its hooks talk, and where it keeps
/// conversations and memories of its own.
#[derive(Debug)]
pub(crate) struct Host {
    /// The name on the command line.
    pub(crate) name: &'static str,
    /// The name shown to people.
    pub(crate) title: &'static str,

    /// Programs in `PATH` that show it is installed.
    pub(crate) programs: &'static [&'static str],
    /// Files and directories that show it has been used.
    pub(crate) traces: fn(&Machine) -> Vec<PathBuf>,
    /// Environment variables that move its files.
    pub(crate) variables: &'static [&'static str],

    /// The settings files of a scope and what goes into them; `None` if the host does not have this scope.
    pub(crate) config: fn(&Machine, InstallScope) -> Option<Vec<ConfigFile>>,
    /// The file with a project's instructions for it.
    #[cfg_attr(not(test), expect(dead_code, reason = "for the generated page"))]
    pub(crate) instructions: &'static str,
    /// What the user does after the installation.
    pub(crate) next_step: &'static str,

    /// The events memdir hooks into; empty if the host has no hooks.
    pub(crate) hooks: &'static [HookSpec],
    /// The JSON by which a hook passes text to the host; `None` if the host does not read output at this event.
    pub(crate) hook_output: fn(&HookReply<'_>) -> Option<Value>,
    /// Where the input of a hook names the tool that is about to run.
    pub(crate) tool_call: fn(&Value) -> ToolCall,
    /// The keys of a hook's entry in the settings that may hold its command.
    pub(crate) hook_command_keys: &'static [&'static str],
    /// Reads the program and its arguments out of the plugin file that runs the hooks, for hosts that have one.
    pub(crate) plugin_command: Option<fn(&str) -> Option<(String, Vec<String>)>>,

    /// The reader of its transcripts, which also knows the command that resumes a conversation.
    pub(crate) transcripts: Option<&'static memdir_chats::Reader>,

    /// Locates the memory it keeps on its own.
    pub(crate) memory: Option<fn(&Machine) -> Option<HostMemory>>,
    /// The setting that moves its own memory into memdir's directory.
    pub(crate) memory_redirect: Option<MemoryRedirect>,
    /// The directory from which it imports the memories of other programs.
    pub(crate) memory_import: Option<MemoryImport>,
}

/// The base of every host: without hooks, transcripts and a memory of its own.
const BASE: Host = Host {
    name: "",
    title: "",
    programs: &[],
    traces: |_| Vec::new(),
    variables: &[],
    config: |_, _| None,
    instructions: "none",
    next_step: "",
    hooks: &[],
    hook_output: |_| None,
    tool_call: |_| ToolCall::Named,
    hook_command_keys: &["command"],
    plugin_command: None,
    transcripts: None,
    memory: None,
    memory_redirect: None,
    memory_import: None,
};

impl Host {
    /// The path that shows that the host is on this machine, or `None`.
    pub(crate) fn detect(&self, machine: &Machine) -> Option<PathBuf> {
        let trace = (self.traces)(machine).into_iter().find(|path| path.exists());
        trace.or_else(|| self.programs.iter().find_map(|program| machine.find_program(program)))
    }
}

/// Returns the host with this name.
pub(crate) fn by_name(name: &str) -> Option<&'static Host> {
    HOSTS.iter().find(|host| host.name == name).copied()
}

/// The names of all hosts, separated by commas.
pub(crate) fn names() -> String {
    HOSTS.iter().map(|host| host.name).collect::<Vec<_>>().join(", ")
}

/// The environment variables that decide where hosts and their files are.
pub(crate) fn variables() -> impl Iterator<Item = &'static str> {
    HOSTS.iter().flat_map(|host| host.variables).chain(machine::VARIABLES).copied()
}

/// Parses the name of a host on the command line.
pub(crate) fn parser() -> impl clap::builder::TypedValueParser<Value = &'static Host> {
    use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser as _};
    let names = HOSTS.iter().map(|host| PossibleValue::new(host.name));
    PossibleValuesParser::new(names).try_map(|name| by_name(&name).ok_or("unknown host"))
}
