//! The arguments of the commands on past conversations: `memdir resume` and `memdir chats`.

use clap::Subcommand;

/// Find a past conversation and print the command that resumes it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir resume 'the login that hashed twice'
  memdir resume 'deploy freeze' --run")]
pub(crate) struct ResumeArgs {
    /// Words to search for in past conversations (`-` for standard input)
    #[arg(required = true)]
    pub(crate) words: Vec<String>,
    /// Search only conversations from this host
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Run the command for the best match instead of printing it
    #[arg(long)]
    pub(crate) run: bool,
}

/// List, import and export past conversations with agents
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Conversations are imported only after you run `memdir chats on`.

Examples:
  memdir chats on
  memdir chats --host codex --since 2026-01-01
  memdir chats show 1af7fc5e"
)]
pub(crate) struct ChatsArgs {
    #[command(subcommand)]
    pub(crate) what: Option<ChatsWhat>,
    #[command(flatten)]
    pub(crate) filter: ChatFilterArgs,
    /// Maximum number of conversations to list; 0 for all
    #[arg(long = "limit", alias = "most", value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
}

/// A filter of conversations.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct ChatFilterArgs {
    /// Include only conversations from this host, such as `claude-code`
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Include only conversations in this directory tree, or in the project with this id
    #[arg(long, value_name = "DIR|ID", alias = "project-dir")]
    pub(crate) project: Option<String>,
    /// Include only conversations last updated on or after WHEN: a date such as 2026-01-31, or a period such as 90d or 12w
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<String>,
    /// Include only conversations last updated before WHEN: a date, or a period such as 90d (90 days ago)
    #[arg(long, value_name = "WHEN")]
    pub(crate) before: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ChatsWhat {
    Show(ChatsShowArgs),
    Sync(ChatsSyncArgs),
    /// Enable importing conversations, globally or for one host or project
    On(ChatsSwitchArgs),
    /// Disable importing conversations, globally or for one host or project
    Off(ChatsSwitchArgs),
    Forget(ChatsForgetArgs),
    Export(ChatsExportArgs),
}

/// Print a conversation
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir chats show 1af7fc5e
  memdir chats show codex/0199c5d0 --lines 40-80")]
pub(crate) struct ChatsShowArgs {
    /// Conversation id, or a prefix of at least 4 characters
    #[arg(value_name = "ID")]
    pub(crate) session: String,
    /// Lines to print, such as 42-56, 42- or 42
    #[arg(long, value_name = "RANGE")]
    pub(crate) lines: Option<String>,
}

/// Import new conversations
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir chats sync
  memdir chats sync --seconds 2")]
pub(crate) struct ChatsSyncArgs {
    /// Stop after N seconds; the next sync continues
    #[arg(long, value_name = "N")]
    pub(crate) seconds: Option<u64>,
}

/// Enable or disable importing conversations
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir chats on
  memdir chats off --host cursor
  memdir chats off --project ~/private")]
pub(crate) struct ChatsSwitchArgs {
    /// Apply only to conversations from this host, in all projects
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Apply only to conversations in this directory tree, or in the project with this id, from all hosts
    #[arg(long, value_name = "DIR|ID", alias = "project-dir")]
    pub(crate) project: Option<String>,
}

/// Permanently delete imported conversations and never import them again
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir chats forget 1af7fc5e
  memdir chats forget --project ~/private
  memdir chats forget --before 2025-12-31")]
pub(crate) struct ChatsForgetArgs {
    /// Conversation id, or a prefix of at least 4 characters
    #[arg(value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Forget conversations in this directory tree, or in the project with this id
    #[arg(long, value_name = "DIR|ID", alias = "project-dir", conflicts_with = "session")]
    pub(crate) project: Option<String>,
    /// Forget messages sent before WHEN: a date such as 2026-01-31, or a period such as 90d (90 days ago)
    #[arg(long, value_name = "WHEN", conflicts_with = "session")]
    pub(crate) before: Option<String>,
}

/// Print conversations as Markdown, or as JSON with --json
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir chats export 1af7fc5e > login.md
  memdir chats export --project . --json > chats.json")]
pub(crate) struct ChatsExportArgs {
    /// Conversation ids, or prefixes of at least 4 characters [default: all conversations that match the filters]
    #[arg(value_name = "ID")]
    pub(crate) sessions: Vec<String>,
    #[command(flatten)]
    pub(crate) filter: ChatFilterArgs,
}
