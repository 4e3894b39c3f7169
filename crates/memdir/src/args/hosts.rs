//! The arguments of the commands that connect memdir to agent programs.

use crate::hosts::{self, HookEvent as Event, Host, InstallScope as Scope, MemoryChoice};
use std::path::PathBuf;

/// Install memdir's tools and hooks in agent programs
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir install                       list the hosts on this machine and ask
  memdir install claude-code
  memdir install codex --scope project --dry-run
  memdir install claude-code --auto-memory replace
  memdir install --yes                 install in all hosts on this machine without asking
  memdir install --yes --chats         also import past conversations
  memdir install codex --server https://memory.example.org --token-file token")]
pub(crate) struct InstallArgs {
    /// Hosts to install in
    #[arg(value_name = "HOST", value_parser = hosts::parser())]
    pub(crate) hosts: Vec<&'static Host>,
    /// Install in all hosts on this machine
    #[arg(long, conflicts_with = "hosts")]
    pub(crate) all: bool,
    /// Do not ask questions; without HOST, install in all hosts on this machine
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Also enable importing past conversations, like `memdir chats on`
    #[arg(long)]
    pub(crate) chats: bool,
    /// Print the changes without making them
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Install for all of the user's projects, or for this project
    #[arg(long, value_enum, default_value_t = Scope::User)]
    pub(crate) scope: Scope,
    /// Install only the tools, without hooks
    #[arg(long)]
    pub(crate) no_hooks: bool,
    /// What to do with the host's own memory [default: ask; with --yes or without a terminal, leave it unchanged]
    #[arg(long, value_enum, value_name = "CHOICE")]
    pub(crate) auto_memory: Option<MemoryChoice>,
    /// Connect HOST to this team server, and install nothing else; --project selects a project on the server, and without a token option you sign in from the host
    #[arg(long, value_name = "URL", requires = "hosts", conflicts_with_all = ["chats", "no_hooks", "auto_memory"])]
    pub(crate) server: Option<String>,
    /// File with the team server token (`-` for standard input); the token is copied into the host's settings
    #[arg(long, value_name = "FILE", requires = "server")]
    pub(crate) token_file: Option<PathBuf>,
    /// Environment variable from which the host reads the team server token
    #[arg(long, value_name = "NAME", requires = "server", conflicts_with = "token_file")]
    pub(crate) token_env: Option<String>,
}

/// Remove memdir's tools and hooks from agent programs
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir uninstall claude-code
  memdir uninstall --all --dry-run")]
pub(crate) struct UninstallArgs {
    /// Hosts to uninstall from
    #[arg(value_name = "HOST", value_parser = hosts::parser(), required_unless_present = "all")]
    pub(crate) hosts: Vec<&'static Host>,
    /// Uninstall from all hosts
    #[arg(long, conflicts_with = "hosts")]
    pub(crate) all: bool,
    /// Print the changes without making them
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Remove only the installation for all projects, or only the one for this project [default: both]
    #[arg(long, value_enum)]
    pub(crate) scope: Option<Scope>,
    /// Remove only the connection to a team server
    #[arg(long)]
    pub(crate) server: bool,
}

/// Check installations, directories and journals
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir doctor
  memdir doctor codex --fix")]
pub(crate) struct DoctorArgs {
    /// Hosts to check [default: all hosts in which memdir is installed]
    #[arg(value_name = "HOST", value_parser = hosts::parser())]
    pub(crate) hosts: Vec<&'static Host>,
    /// Repair broken installations and journals, and remove temporary files left by a crash
    #[arg(long)]
    pub(crate) fix: bool,
}

/// Use other programs' memories without copying them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir adopt                       list the memories on this machine
  memdir adopt claude serena
  memdir adopt codex --read-write
  memdir adopt codex --undo          stop using these memories
  memdir adopt --as-auto-memory      use one directory for memdir and Claude Code
  memdir adopt --to-codex            copy memories to Codex's own memory")]
pub(crate) struct AdoptArgs {
    /// Names of the memories, as printed by `memdir adopt`
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Allow memdir to write to these memories
    #[arg(long)]
    pub(crate) read_write: bool,
    /// Stop using these memories but keep their files
    #[arg(long, requires = "names", conflicts_with = "read_write")]
    pub(crate) undo: bool,
    /// Make Claude Code keep its auto memory in memdir's directory
    #[arg(long, conflicts_with_all = ["names", "read_write"])]
    pub(crate) as_auto_memory: bool,
    /// Copy the memories available in this project to the directory from which Codex imports memories
    #[arg(long, conflicts_with_all = ["names", "read_write", "as_auto_memory"])]
    pub(crate) to_codex: bool,
    /// With --as-auto-memory: whether to use the user's memory or this project's
    #[arg(long, value_enum, default_value_t = Scope::User, requires = "as_auto_memory")]
    pub(crate) scope: Scope,
    /// Print the changes without making them
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Run an agent program's hook, with JSON on standard input and output
#[derive(Debug, clap::Args)]
#[command(
    hide = true,
    after_help = "\
Examples:
  echo '{\"prompt\":\"How do we deploy?\"}' | memdir hook claude-code prompt"
)]
pub(crate) struct HookArgs {
    /// Host that runs the hook
    #[arg(value_name = "HOST", value_parser = hosts::parser())]
    pub(crate) host: &'static Host,
    /// Hook event
    #[arg(value_enum)]
    pub(crate) event: Event,
    /// Print errors to standard error
    #[arg(long)]
    pub(crate) explain: bool,
}
