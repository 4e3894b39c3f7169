//! The arguments of the commands that show, check, tidy and configure what memdir stores.

use clap::{Subcommand, ValueEnum};
use std::path::PathBuf;

/// Show which memory directories are in use, and why
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir where
  memdir where --json")]
pub(crate) struct WhereArgs {}

/// Show the memory directories, the number of memories in each, and the last change
#[derive(Debug, clap::Args)]
#[command(after_help = "\
`memdir` without a command does the same.

Examples:
  memdir status
  memdir status --json")]
pub(crate) struct StatusArgs {}

/// List, merge and rename projects, or use another project's memory
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir projects
  memdir projects adopt shop-1a2b3c4d5e
  memdir projects merge shop-1a2b3c4d5e shop-6f7a8b9c0d")]
pub(crate) struct ProjectsArgs {
    #[command(subcommand)]
    pub(crate) what: Option<ProjectsWhat>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProjectsWhat {
    /// Use another project's memory in this project
    #[command(after_help = "\
Examples:
  memdir projects adopt shop-1a2b3c4d5e
  memdir projects adopt                    use the project's own memory again")]
    Adopt {
        /// Id of the project whose memory to use [default: this project]
        id: Option<String>,
    },
    /// Move all memories from one project to another
    #[command(after_help = "\
Examples:
  memdir projects merge shop-1a2b3c4d5e shop-6f7a8b9c0d")]
    Merge {
        /// Id of the source project
        from: String,
        /// Id of the target project
        into: String,
    },
    /// Change the id of a project's memory
    #[command(after_help = "\
Examples:
  memdir projects rename shop-1a2b3c4d5e shop")]
    Rename {
        /// Current project id
        from: String,
        /// New project id
        to: String,
    },
}

/// Show the settings with their origins, or change them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir config
  memdir config --json
  memdir config set chats.keep_days 90
  memdir config unset chats.keep_days
  memdir config edit")]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) what: Option<ConfigWhat>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigWhat {
    /// Set a key in config.toml
    #[command(after_help = "\
Comments and the order of the file are kept. The file is not changed if the result would be invalid.

Examples:
  memdir config set chats.keep_days 90
  memdir config set chats.hosts_off cursor codex")]
    Set {
        /// Key, such as `chats.keep_days`; list all keys with `memdir config`
        key: String,
        /// Value, or several values for a list
        #[arg(value_name = "VALUE", required = true, allow_negative_numbers = true)]
        values: Vec<String>,
    },
    /// Remove a key from config.toml, so that its default applies
    #[command(after_help = "\
Examples:
  memdir config unset chats.keep_days")]
    Unset {
        /// Key, such as `chats.keep_days`
        key: String,
    },
    /// Edit config.toml in your editor
    #[command(after_help = "\
Opens the file in the editor set in VISUAL or EDITOR. The file is not changed if the result
would be invalid.

Examples:
  memdir config edit")]
    Edit {
        /// Start from the text in this file, such as a draft that could not be saved, instead of config.toml
        #[arg(long, value_name = "FILE")]
        draft: Option<PathBuf>,
    },
}

/// Show statistics about memories, the index and the journal
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir stats --json
  memdir stats --loads
  memdir stats --cost
  memdir stats --use")]
pub(crate) struct StatsArgs {
    /// Show how many tokens memdir adds to a session in each host before the first message
    #[arg(long, conflicts_with = "loads")]
    pub(crate) cost: bool,
    /// Show how often the memory section was loaded into a conversation, and how large it was
    #[arg(long)]
    pub(crate) loads: bool,
    /// Show how often each memory is used, and how many tokens its line in MEMORY.md costs
    #[arg(long = "use", conflicts_with_all = ["cost", "loads"])]
    pub(crate) uses: bool,
}

/// Check all memories for errors and likely mistakes
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exits with 1 if there are errors.

Examples:
  memdir check
  memdir check --fix
  memdir check --strict --json
  memdir check --diff origin/main..HEAD
  memdir check --diff origin/main..HEAD --format markdown > comment.md")]
pub(crate) struct CheckArgs {
    /// Add missing lines to the entrypoint (MEMORY.md), and remove memdir's lines for files that no longer exist
    #[arg(long)]
    pub(crate) fix: bool,
    /// Treat suggestions as errors; with --diff, fail if a memory may be outdated
    #[arg(long)]
    pub(crate) strict: bool,
    /// Check a range of commits instead: list memories that may be outdated and rules that apply to the changed files
    #[arg(long, value_name = "BASE..HEAD", conflicts_with = "fix")]
    pub(crate) diff: Option<String>,
    /// Output format of --diff
    #[arg(long, value_enum, default_value_t = CheckFormat::Text, requires = "diff")]
    pub(crate) format: CheckFormat,
}

/// The output formats of `memdir check --diff`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// Plain text for a terminal
    Text,
    /// Markdown for a pull request comment
    Markdown,
}

/// Tidy the memory with a plan that you can review, edit, apply and undo as a whole
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without options, looks for duplicates, contradictions, outdated facts, relative
dates, overlong and empty memories, a full entrypoint (MEMORY.md) and facts in
daily logs, and saves the proposals as a plan, in one Markdown file. Nothing is
changed until you apply the plan. No language model is used.

Examples:
  memdir dream
  memdir dream --apply latest
  memdir dream --status
  memdir dream --logs                    plan only the conversion of past days' logs
  memdir dream --with claude             show the command that would run, and the prompt size
  memdir dream --with claude --yes       let Claude Code's model propose a plan
  memdir dream --auto on                 make a plan at the end of a session when one is due")]
#[command(group(clap::ArgGroup::new("dream_action")))]
pub(crate) struct DreamArgs {
    /// Apply this plan as one change; `latest` selects the newest plan that has not been applied
    #[arg(long, value_name = "PLAN", group = "dream_action")]
    pub(crate) apply: Option<PathBuf>,
    /// With --apply: maximum percentage of memories and bytes that a plan may change; small plans have no limit [default: 25]
    #[arg(long, value_name = "PERCENT", requires = "apply", value_parser = clap::value_parser!(u64).range(1..=100))]
    pub(crate) limit: Option<u64>,
    /// Plan only the conversion of past days' logs into memories
    #[arg(long, conflicts_with = "dream_action")]
    pub(crate) logs: bool,
    /// Show the saved plans, which of them were applied, and when the next automatic plan is due
    #[arg(long, group = "dream_action")]
    pub(crate) status: bool,
    /// Print the instructions and memories to send to a model; if they are split into several pieces, list the pieces
    #[arg(long, group = "dream_action")]
    pub(crate) prompt: bool,
    /// With --prompt: number of the piece to print
    #[arg(long, value_name = "N", requires = "prompt")]
    pub(crate) piece: Option<usize>,
    /// Make a plan from this file of operations, as returned by a model in JSON (`-` for standard input)
    #[arg(long, value_name = "FILE", group = "dream_action")]
    pub(crate) operations: Option<PathBuf>,
    /// Let this agent program's model propose operations; without --yes, only show the command and the prompt size
    #[arg(long, value_name = "HOST", group = "dream_action")]
    pub(crate) with: Option<DreamHost>,
    /// With --with: run the agent program
    #[arg(long, requires = "with")]
    pub(crate) yes: bool,
    /// Turn automatic plans at the end of sessions on or off
    #[arg(long, value_name = "on|off", group = "dream_action", value_parser = ["on", "off"])]
    pub(crate) auto: Option<String>,
    /// Write the plan to this file, which must not exist, instead of saving it under --home
    #[arg(long, value_name = "FILE", conflicts_with_all = ["apply", "status", "prompt", "auto"])]
    pub(crate) output: Option<PathBuf>,
}

/// An agent program whose model can propose operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DreamHost {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
}

/// Check the references in a memory and mark it as verified today
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Looks up paths, commands, symbols and commits in this project, and follows
sources through its git history. Commands in the memory are not run.

Examples:
  memdir verify notes/deploy")]
pub(crate) struct VerifyArgs {
    /// Name of the memory
    pub(crate) name: String,
    /// Mark the memory as verified even if some references are not found
    #[arg(long = "force", alias = "anyway")]
    pub(crate) force: bool,
}

/// Run the memory tests in memory.tests.md
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each line of memory.tests.md has a question and the memory that a search must find, or `nothing`:
  When do we deploy? -> must find notes/deploy (in top 3)
  What is the weather like? -> nothing

Examples:
  memdir test")]
pub(crate) struct TestArgs {}

/// Check that the entrypoint (MEMORY.md) lists every memory
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir entrypoint
  memdir entrypoint --repair")]
pub(crate) struct EntrypointArgs {
    /// Add missing lines, and remove memdir's lines for files that no longer exist
    #[arg(long)]
    pub(crate) repair: bool,
}

/// Update the search index
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Every search first updates the index; this command shows the progress.

Examples:
  memdir index
  memdir index --rebuild")]
pub(crate) struct IndexArgs {
    /// Rebuild the index from the files
    #[arg(long)]
    pub(crate) rebuild: bool,
}

/// Keep the search index up to date until interrupted
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Optional: this only speeds up the first search after many changes.

Examples:
  memdir watch")]
pub(crate) struct WatchArgs {}
