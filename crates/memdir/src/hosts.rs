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
pub(crate) mod remote;
pub(crate) mod remote_entry;
mod run_marks;
pub(crate) mod text_edit;
pub(crate) mod toml;
mod vscode;
mod windsurf;
mod zed;

pub(crate) use config_edit::{ConfigEdit, ConfigFormat, HostConfigFile};
pub(crate) use hooks::{Delivery, HookEvent, HookReply, HookSpec, ToolCall, ToolDecision};
pub(crate) use host_memory::{HostMemory, MemoryChoice, MemoryImport, MemorySwitch, OFF_BY_DEFAULT, OwnMemory};
pub(crate) use machine::{InstallScope, Machine, Os};
pub(crate) use remote_entry::{RemoteEntry, RemoteServer, RemoteToken, TokenEnv};
pub(crate) use run_marks::{RunMarks, is_nested};

use serde_json::Value;
use std::{borrow::Cow, path::PathBuf};

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
    /// Environment variables that move its files, or turn its own memory off.
    pub(crate) variables: &'static [&'static str],

    /// Environment variables that it sets in the commands that its agent runs.
    pub(crate) agent_variables: &'static [&'static str],

    /// The settings files of a scope and what goes into them; `None` if the host does not have this scope.
    pub(crate) config: fn(&Machine, InstallScope) -> Option<Vec<HostConfigFile>>,
    /// How a team server over HTTP is written; `None` if the settings cannot have one.
    pub(crate) remote: Option<RemoteEntry>,
    /// What the user does to connect to a team server, if the settings cannot have one.
    pub(crate) remote_advice: &'static str,
    /// The file with a project's instructions for it.
    #[cfg_attr(not(test), expect(dead_code, reason = "for the generated page"))]
    pub(crate) instructions: &'static str,
    /// What the user does after the installation.
    pub(crate) next_step: &'static str,
    /// The same without memdir's hooks, if that differs.
    pub(crate) next_step_without_hooks: Option<&'static str>,

    /// The events memdir hooks into; empty if the host has no hooks.
    pub(crate) hooks: &'static [HookSpec],
    /// The JSON by which a hook passes text to the host; `None` if the host does not read output at this event.
    pub(crate) hook_output: fn(&HookReply<'_>) -> Option<Value>,
    /// Whether a hook can make it ask the person before a tool runs. Otherwise the tool is denied.
    pub(crate) can_ask: bool,
    /// What the user typed of the message in the input of a hook.
    pub(crate) typed_text: fn(&str) -> Cow<'_, str>,
    /// Whether a person reads the answers of a run, if the host's marks say so.
    pub(crate) is_interactive: fn(&RunMarks<'_>) -> Option<bool>,
    /// Whether the input of the hook before a compaction announces one that will happen.
    pub(crate) will_compact: fn(&Value) -> bool,
    /// Where the input of a hook names the tool that is about to run.
    pub(crate) tool_call: fn(&Value) -> ToolCall,
    /// The keys of a hook's entry in the settings that may hold its command.
    pub(crate) hook_command_keys: &'static [&'static str],
    /// Reads the program and its arguments out of the plugin file that runs the hooks, for hosts that have one.
    pub(crate) plugin_command: Option<fn(&str) -> Option<(String, Vec<String>)>>,

    /// Whether it shows the model only the names of tools that do not ask to be loaded always.
    pub(crate) defers_tools: bool,
    /// Finds memdir as a plugin or extension of the host: the file that shows it, and the command that removes it.
    pub(crate) plugin: Option<fn(&Machine) -> Option<InstalledPlugin>>,
    /// The hooks of memdir that the host does not run until the user trusts them; `None` if it runs hooks without asking.
    pub(crate) untrusted_hooks: Option<fn(&Machine, InstallScope, programs: &[String]) -> Vec<&'static str>>,

    /// The reader of its transcripts, which also knows the command that resumes a conversation.
    pub(crate) transcripts: Option<&'static memdir_chats::Reader>,

    /// Locates the memory it keeps on its own.
    pub(crate) memory: Option<fn(&Machine) -> Option<HostMemory>>,
    /// The settings that turn its own memory off, or move it into memdir's directory.
    pub(crate) memory_switch: Option<MemorySwitch>,
    /// What the user does about its own memory, if no file has a setting for it.
    pub(crate) memory_advice: Option<&'static str>,
    /// The directory from which it imports the memories of other programs.
    pub(crate) memory_import: Option<MemoryImport>,
}

/// memdir, installed as a plugin or extension of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InstalledPlugin {
    /// What the host calls it, with its name.
    pub(crate) title: &'static str,
    /// The file that shows it.
    pub(crate) file: PathBuf,
    /// The command that removes it.
    pub(crate) remove: &'static str,
}

/// The base of every host: without hooks, transcripts and a memory of its own.
const BASE: Host = Host {
    name: "",
    title: "",
    programs: &[],
    traces: |_| Vec::new(),
    variables: &[],
    agent_variables: &[],
    config: |_, _| None,
    remote: None,
    remote_advice: "",
    instructions: "none",
    next_step: "",
    next_step_without_hooks: None,
    hooks: &[],
    hook_output: |_| None,
    can_ask: false,
    typed_text: |message| Cow::Borrowed(message),
    is_interactive: |_| None,
    will_compact: |_| true,
    tool_call: |_| ToolCall::Named,
    hook_command_keys: &["command"],
    plugin_command: None,
    defers_tools: false,
    plugin: None,
    untrusted_hooks: None,
    transcripts: None,
    memory: None,
    memory_switch: None,
    memory_advice: None,
    memory_import: None,
};

impl Host {
    /// Whether the model gets the text of the hook at a session's start.
    pub(crate) fn has_session_text(&self) -> bool {
        self.hooks.iter().any(|hook| hook.event == HookEvent::SessionStart && hook.delivery == Delivery::Model)
    }

    /// Whether the model reads what the hook at the end of a turn prints.
    pub(crate) fn reads_stop_text(&self) -> bool {
        self.hooks.iter().any(|hook| hook.event == HookEvent::Stop && hook.delivery == Delivery::Model)
    }

    /// What the user does after an installation with or without hooks.
    pub(crate) fn next_step(&self, has_hooks: bool) -> &'static str {
        self.next_step_without_hooks.filter(|_| !has_hooks).unwrap_or(self.next_step)
    }

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

/// The environment variables by which hosts mark the commands that their agents run.
pub(crate) fn agent_variables() -> impl Iterator<Item = &'static str> {
    HOSTS.iter().flat_map(|host| host.agent_variables).copied()
}

/// Parses the name of a host on the command line.
pub(crate) fn parser() -> impl clap::builder::TypedValueParser<Value = &'static Host> {
    use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser as _};
    let names = HOSTS.iter().map(|host| PossibleValue::new(host.name));
    PossibleValuesParser::new(names).try_map(|name| by_name(&name).ok_or("unknown host"))
}
