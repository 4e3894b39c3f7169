//! The agent programs memdir plugs into, one table entry each, and what an installation puts into their files. Reads
//! nothing but which files exist, and writes nothing.

pub(crate) mod claude_code;
mod claude_desktop;
pub(crate) mod codex;
pub(crate) mod command;
mod copilot_cli;
mod cursor;
pub(crate) mod edit;
pub(crate) mod gemini;
pub(crate) mod jsonc;
mod opencode;
pub(crate) mod toml;
mod vscode;
mod windsurf;
pub(crate) mod wish;
mod zed;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{collections::BTreeMap, path::PathBuf};
pub(crate) use wish::{Format, Part, Wish};

/// The name under which memdir's server stands in a host's settings.
pub(crate) const SERVER: &str = "memdir";

/// Every host, in the order they are shown.
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

/// One agent program.
#[derive(Debug)]
pub(crate) struct Host {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// Its name for people.
    pub(crate) title: &'static str,
    /// Programs that show it is installed, looked for in `PATH`.
    pub(crate) programs: &'static [&'static str],
    /// Files and directories that show it was used.
    pub(crate) traces: fn(&Machine) -> Vec<PathBuf>,
    /// What goes into which file; nothing if the host has no such scope.
    pub(crate) parts: fn(&Machine, Scope) -> Option<Vec<Part>>,
    /// The events memdir hooks into, with the host's names for them.
    pub(crate) hooks: &'static [Hook],
    /// The file in which a project instructs it.
    #[cfg_attr(not(test), expect(dead_code, reason = "for the generated pages"))]
    pub(crate) instructions: &'static str,
    /// What of a hook's words reaches the model, and what cannot.
    #[cfg_attr(not(test), expect(dead_code, reason = "for the generated pages"))]
    pub(crate) hears: &'static str,
    /// What a person does after the installation.
    pub(crate) then: &'static str,
}

/// Where an installation holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Scope {
    /// In every project of this person
    User,
    /// In this project only
    Project,
}

/// A moment at which a host calls memdir.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Event {
    /// A conversation begins, or goes on after compaction
    SessionStart,
    /// A person sent a message
    Prompt,
    /// A tool is about to run
    BeforeTool,
    /// The agent has answered
    Stop,
    /// The conversation is over
    SessionEnd,
    /// The host is about to shorten the conversation
    BeforeCompaction,
}

impl Event {
    /// The name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Event::SessionStart => "session-start",
            Event::Prompt => "prompt",
            Event::BeforeTool => "before-tool",
            Event::Stop => "stop",
            Event::SessionEnd => "session-end",
            Event::BeforeCompaction => "before-compaction",
        }
    }
}

/// One event a host calls memdir at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hook {
    pub(crate) event: Event,
    /// The host's own name for it.
    pub(crate) name: &'static str,
    /// How long the host waits.
    pub(crate) seconds: u64,
}

/// A hook of a host's table.
const fn hook(event: Event, name: &'static str, seconds: u64) -> Hook {
    Hook { event, name, seconds }
}

/// A kind of operating system, as far as hosts' files and shells differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Os {
    /// Linux and its like.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl Os {
    /// The one this program was built for.
    pub(crate) const fn here() -> Os {
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
    pub(crate) os: Os,
    /// The person's home directory.
    pub(crate) home: PathBuf,
    /// The top of the project one stands in.
    pub(crate) project: PathBuf,
    /// The main checkout of its repository, where one stands in a worktree; the project itself otherwise.
    pub(crate) main: PathBuf,
    /// This program, by its whole path.
    pub(crate) exe: String,
    /// What stands before the verb: `--dir PATH` and its like, if another memory than the usual one is chosen.
    pub(crate) before: Vec<String>,
    /// The variables hosts look at, of those in [`VARIABLES`] that are set.
    pub(crate) variables: BTreeMap<&'static str, String>,
}

/// The variables by which hosts move their files.
pub(crate) const VARIABLES: &[&str] =
    &["CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "COPILOT_HOME", "XDG_CONFIG_HOME", "APPDATA", "PATH"];

impl Machine {
    /// The directory a variable names, or one below the home directory.
    fn dir(&self, variable: &str, below_home: &str) -> PathBuf {
        self.variables.get(variable).map_or_else(|| self.home.join(below_home), PathBuf::from)
    }

    /// Where programs keep their settings on this system.
    fn config_dir(&self) -> PathBuf {
        match self.os {
            Os::Linux => self.dir("XDG_CONFIG_HOME", ".config"),
            Os::MacOs => self.home.join("Library/Application Support"),
            Os::Windows => self.dir("APPDATA", "AppData/Roaming"),
        }
    }

    /// The arguments that start memdir's server.
    pub(crate) fn server_args(&self) -> Vec<String> {
        self.before.iter().cloned().chain(["mcp".to_owned()]).collect()
    }

    /// The arguments that run a hook.
    pub(crate) fn hook_args(&self, host: &str, event: Event) -> Vec<String> {
        let own = ["hook", host, event.name()].map(str::to_owned);
        self.before.iter().cloned().chain(own).collect()
    }

    /// A hook as one line for the shell the host runs it in.
    fn hook_line(&self, shell: command::Shell, host: &str, event: Event) -> String {
        shell.line(&self.exe, &self.hook_args(host, event))
    }

    /// The server in the shape most hosts share.
    fn server(&self) -> Value {
        json!({ "command": self.exe, "args": self.server_args() })
    }

    /// The same with its type.
    fn typed_server(&self, kind: &str) -> Value {
        json!({ "type": kind, "command": self.exe, "args": self.server_args() })
    }
}

/// The host of that name.
pub(crate) fn named(name: &str) -> Option<&'static Host> {
    HOSTS.iter().find(|host| host.name == name).copied()
}

/// What shows that a host is on this machine; nothing if nothing does.
pub(crate) fn evidence(host: &Host, machine: &Machine) -> Option<PathBuf> {
    let trace = (host.traces)(machine).into_iter().find(|path| path.exists());
    trace.or_else(|| {
        let path = machine.variables.get("PATH")?;
        let endings: &[&str] = if machine.os == Os::Windows { &[".exe", ".cmd", ""] } else { &[""] };
        let names = host.programs.iter().flat_map(|program| endings.iter().map(move |ending| format!("{program}{ending}")));
        let names: Vec<String> = names.collect();
        std::env::split_paths(path)
            .flat_map(|dir| names.iter().map(move |name| dir.join(name)).collect::<Vec<_>>())
            .find(|path| path.is_file())
    })
}

/// A part that registers the server.
fn server_part(file: PathBuf, format: Format, key: &str, value: Value) -> Part {
    Part { file, format, wishes: vec![Wish::Entry { path: vec![key.to_owned(), SERVER.to_owned()], value }] }
}

/// Whether a value in a host's settings starts memdir's server. `programs` are memdir, whatever they are called.
pub(crate) fn is_our_server(value: &Value, programs: &[String]) -> bool {
    let (command, args) = match &value["command"] {
        Value::Array(words) => (words.first(), words.get(1..).unwrap_or_default()),
        command => (Some(command), value["args"].as_array().map_or(&[][..], Vec::as_slice)),
    };
    let program = command.and_then(Value::as_str).unwrap_or_default();
    is_ours(program, programs) && args.iter().any(|arg| arg == "mcp")
}

/// Whether a value in a host's settings runs memdir's hook `host event`, however it is written.
pub(crate) fn is_our_hook(value: &Value, host: &str, event: Event, programs: &[String]) -> bool {
    let words = format!(" hook {host} {}", event.name());
    match value {
        Value::String(line) => command::names(line, programs) && line.contains(&words),
        Value::Array(values) => values.iter().any(|value| is_our_hook(value, host, event, programs)),
        Value::Object(map) => {
            let args = value["args"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let tail: String = args.flat_map(|arg| [" ", arg]).chain([" "]).collect();
            let runs = value["command"].as_str().is_some_and(|program| is_ours(program, programs));
            (runs && tail.contains(&format!("{words} "))) || map.values().any(|value| is_our_hook(value, host, event, programs))
        }
        _ => false,
    }
}

fn is_ours(program: &str, programs: &[String]) -> bool {
    command::is_memdir(program) || programs.iter().any(|known| known == program)
}
