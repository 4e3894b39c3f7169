//! The arguments of the commands that read, change, import and export memories.

use clap::ValueEnum;
use std::path::PathBuf;

/// Create, replace or append to a memory
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A rule with the strength ask or deny acts like hold until you accept it with `memdir rules accept NAME`.

Examples:
  memdir write notes/deploy 'Deploy on Tuesdays, never on Fridays.' --type project
  memdir write notes/deploy --append 'Except in December.'
  memdir write notes/deploy --cue 'ship on a Friday' --cue 'kubectl rollout'
  memdir write rules/push 'Run the tests first.' --when-command 'git push*' --strength hold
  pandoc page.html -t gfm | memdir write notes/page -")]
pub(crate) struct WriteArgs {
    /// Name of the memory, such as notes/deploy
    pub(crate) name: String,
    /// Text of the memory (`-` for standard input) [default: from --file or standard input; if only
    /// frontmatter options are given, the text is kept]
    #[arg(allow_hyphen_values = true)]
    pub(crate) text: Option<String>,
    /// Read the text from a file (`-` for standard input)
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    pub(crate) file: Option<PathBuf>,
    /// Replace an existing memory; keep its frontmatter unless the new text has its own (fields such as cues and when are kept even then)
    #[arg(long, conflicts_with = "append")]
    pub(crate) replace: bool,
    /// Append the text; create the memory if it does not exist
    #[arg(long)]
    pub(crate) append: bool,
    /// Fail unless the memory's version equals VERSION or begins with it; implies --replace unless --append is given
    #[arg(long, value_name = "VERSION")]
    pub(crate) if_version: Option<String>,
    /// Title in the frontmatter and the entrypoint (MEMORY.md)
    #[arg(long, value_name = "TITLE")]
    pub(crate) title: Option<String>,
    /// One-line description in the frontmatter and the entrypoint (MEMORY.md)
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// Type of the memory: user, feedback, project or reference
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<String>,
    /// Search phrase (cue) that should find the memory; may be repeated, and replaces all existing cues ('' removes them)
    #[arg(long = "cue", value_name = "TEXT")]
    pub(crate) cues: Vec<String>,
    /// Make the memory a rule for agents' commands that match GLOB; may be repeated, and replaces existing conditions
    #[arg(long, value_name = "GLOB", group = "when")]
    pub(crate) when_command: Vec<String>,
    /// Make the memory a rule for agents' actions on files that match GLOB; may be repeated, and replaces existing conditions
    #[arg(long, value_name = "GLOB", group = "when")]
    pub(crate) when_path: Vec<String>,
    /// What the rule does to a matching action: tell (run it and show the rule), hold (stop the first one in a conversation and show the rule), ask (let you decide) or deny [default: hold for commands, otherwise tell]
    #[arg(long, value_name = "STRENGTH", requires = "when")]
    pub(crate) strength: Option<String>,
    /// Recall the memory for every message, before others, as far as the budget allows
    #[arg(long)]
    pub(crate) pinned: bool,
    /// Skip this secret detection rule (for people, not agents); may be repeated
    #[arg(long, value_name = "RULE", hide_short_help = true)]
    pub(crate) allow_secret: Vec<String>,
}

/// Print the entrypoint (MEMORY.md), or memories by name
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir read
  memdir read notes/deploy
  memdir read notes/deploy --lines 42-56")]
pub(crate) struct ReadArgs {
    /// Names of the memories to print; the suffix `.md` is optional [default: the entrypoint, MEMORY.md]
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Lines to print, such as 42-56, 42- or 42
    #[arg(long, value_name = "RANGE", requires = "names")]
    pub(crate) lines: Option<String>,
    /// Maximum number of characters to print per memory
    #[arg(long, value_name = "N", default_value_t = memdir_core::internal::base::limits::READ_CHARS)]
    pub(crate) max_chars: usize,
}

/// List memories
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The age of a memory is counted from the date in its frontmatter (`last_verified`, `modified` or
`created`), or else from the modification time of its file.

Examples:
  memdir list
  memdir list notes --long
  memdir list --type feedback --newer 30
  memdir list --tree")]
pub(crate) struct ListArgs {
    /// List only memories under this topic
    #[arg(value_name = "TOPIC", default_value = "", hide_default_value = true)]
    pub(crate) topic: String,
    /// List only memories of this type: user, feedback, project or reference
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<String>,
    /// List only memories that are at most DAYS days old
    #[arg(long, value_name = "DAYS")]
    pub(crate) newer: Option<i64>,
    /// List only memories that are at least DAYS days old
    #[arg(long, value_name = "DAYS")]
    pub(crate) older: Option<i64>,
    /// List only memories of at least N bytes
    #[arg(long, value_name = "N")]
    pub(crate) min_bytes: Option<u64>,
    /// Print the memories as a tree of topics
    #[arg(long, conflicts_with = "long")]
    pub(crate) tree: bool,
    /// Print the type, size, age and description of each memory
    #[arg(long, short)]
    pub(crate) long: bool,
}

/// Edit a memory in your editor, or replace text in it
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "\
Without OLD and NEW, the memory is opened in the editor set in VISUAL or EDITOR. An editor that
returns at once needs its option to wait, such as `code --wait`. If the memory is changed in the
meantime, or your text cannot be saved, the text is kept in a file, and the error message shows
the command to continue with.

Examples:
  memdir edit notes/deploy
  memdir edit notes/deploy Tuesdays Wednesdays
  memdir edit notes/deploy --regex 'v(\\d+)\\.0' 'v$!1.1' --all
  memdir edit notes/deploy --old-file before.txt --new-file after.txt")]
pub(crate) struct EditArgs {
    /// Name of the memory
    pub(crate) name: String,
    /// Text to replace (`-` for standard input); must occur exactly once unless --all is given
    #[arg(allow_hyphen_values = true, group = "original", requires = "replacement")]
    pub(crate) old: Option<String>,
    /// Replacement text (`-` for standard input)
    #[arg(allow_hyphen_values = true, group = "replacement")]
    pub(crate) new: Option<String>,
    /// Read OLD from a file (`-` for standard input)
    #[arg(long, value_name = "FILE", group = "original", requires = "new_file")]
    pub(crate) old_file: Option<PathBuf>,
    /// Read NEW from a file (`-` for standard input)
    #[arg(long, value_name = "FILE", group = "replacement", requires = "original")]
    pub(crate) new_file: Option<PathBuf>,
    /// Treat OLD as a regular expression with look-around; `$!1` in NEW is the first capture group
    #[arg(long, requires = "replacement")]
    pub(crate) regex: bool,
    /// Replace all occurrences
    #[arg(long, requires = "replacement")]
    pub(crate) all: bool,
    /// Start from the text in this file, such as a draft that could not be saved, instead of the memory's text
    #[arg(long, value_name = "FILE", conflicts_with_all = ["original", "replacement"])]
    pub(crate) draft: Option<PathBuf>,
    /// Fail unless the memory's version equals VERSION or begins with it
    #[arg(long, value_name = "VERSION")]
    pub(crate) if_version: Option<String>,
    /// Skip this secret detection rule (for people, not agents); may be repeated
    #[arg(long, value_name = "RULE", hide_short_help = true)]
    pub(crate) allow_secret: Vec<String>,
}

/// Rename memories and update the references to them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A name that ends with `/` is a topic. Either all memories are renamed, in one change, or none are.

Examples:
  memdir rename notes/deploy howto/deploy
  memdir rename deploy release rollback howto/
  memdir rename notes/ archive/notes/")]
pub(crate) struct RenameArgs {
    /// Current names of the memories, or one topic
    #[arg(value_name = "NAME", required = true)]
    pub(crate) from: Vec<String>,
    /// New name, or the topic to move the memories to
    #[arg(value_name = "NEW")]
    pub(crate) to: String,
}

/// Delete memories; `memdir undo` restores them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A name that ends with `/` is a topic. Either all the named memories are
deleted, in one change, or none are. Deleting a topic asks for confirmation.

Examples:
  memdir delete notes/deploy
  memdir delete notes/deploy notes/release
  memdir delete notes/ --yes
  memdir undo")]
pub(crate) struct DeleteArgs {
    /// Memories and topics to delete
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,
    /// Do not ask for confirmation before deleting topics
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// With one memory: fail unless its version equals VERSION or begins with it
    #[arg(long, value_name = "VERSION")]
    pub(crate) if_version: Option<String>,
}

/// Create a memory directory with an entrypoint (MEMORY.md)
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir init
  memdir --dir notes init
  memdir init --team             create .memdir/ in the git repository, to commit and share")]
pub(crate) struct InitArgs {
    /// Create a team memory: .memdir/ in this git repository or, with --dir, team/ in that directory
    #[arg(long)]
    pub(crate) team: bool,
}

/// Print lines from a memory
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir get notes/deploy.md --lines 42-56
  memdir get notes/deploy.md:42-56")]
pub(crate) struct GetArgs {
    /// Path of the memory, with or without a line range, as printed by `memdir search`
    #[arg(value_name = "PATH")]
    pub(crate) path: String,
    /// Lines to print, such as 42-56, 42- or 42 [default: those in PATH, otherwise all]
    #[arg(long, value_name = "RANGE")]
    pub(crate) lines: Option<String>,
}

/// Print the path of a memory's file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir path notes/deploy
  grep -n Friday \"$(memdir path notes/deploy)\"")]
pub(crate) struct PathArgs {
    /// Name of the memory
    pub(crate) name: String,
}

/// Append an entry to today's log
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir log 'Ada prefers tabs'
  memdir log --status
  memdir log --in team 'freeze until 2026-03-09'")]
pub(crate) struct LogArgs {
    /// Text of the entry (`-` for standard input); the time of day is added
    #[arg(required_unless_present = "status")]
    pub(crate) text: Vec<String>,
    /// Show which logs have been distilled into memories, and when the next distillation is due
    #[arg(long, conflicts_with = "text")]
    pub(crate) status: bool,
    /// Prefix of the mount to log to, such as `team` [default: the mount without a prefix]
    #[arg(long = "in", value_name = "PREFIX", default_value = "", hide_default_value = true)]
    pub(crate) prefix: String,
}

/// Import memories from files and other programs
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Formats: files from `memdir export`, directories of Markdown, the JSONL graph of
server-memory, exports of mem0 and OpenMemory, and unpacked data exports of
ChatGPT and Claude (conversations become logs).

For two programs, put the name before the path: `claude-mem` and its database,
or `basic-memory` and the directory of its notes. To import a file that is
called claude-mem, write ./claude-mem.

Examples:
  memdir import memories.md --dry-run
  memdir import ~/old-notes --under old
  memdir import claude-mem ~/.claude-mem/claude-mem.db --from-project shop
  memdir import basic-memory ~/basic-memory")]
pub(crate) struct ImportArgs {
    /// Files and directories to import (`-` for standard input), or a program name and its files
    #[arg(value_name = "FROM", required = true)]
    pub(crate) from: Vec<PathBuf>,
    /// Import only this claude-mem project; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) from_project: Vec<String>,
    /// Topic to import into, such as `old` or `user/old`
    #[arg(long, value_name = "TOPIC", default_value = "", hide_default_value = true)]
    pub(crate) under: String,
    /// What to do if a different memory has the same name
    #[arg(long = "on-conflict", alias = "clash", value_enum, value_name = "ACTION", default_value_t = ConflictArg::Number)]
    pub(crate) on_conflict: ConflictArg,
    /// Print what would be imported without importing it
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// What `memdir import` does if a name is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConflictArg {
    /// Append a number to the imported name
    Number,
    /// Skip the imported memory
    Skip,
    /// Replace the existing memory
    Replace,
}

/// Export memories to a file, or copy them between this machine and a team server
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir export > memories.md
  memdir export notes --format json --out notes.json
  memdir export user --to-server https://memory.example.org --token-file token
  memdir export --from-server https://memory.example.org --dry-run")]
pub(crate) struct ExportArgs {
    /// Export only memories under this topic
    #[arg(value_name = "TOPIC", default_value = "", hide_default_value = true)]
    pub(crate) topic: String,
    /// File format; `memdir import` reads both
    #[arg(long, value_enum, default_value_t = BundleFormat::Markdown)]
    pub(crate) format: BundleFormat,
    /// File to write (`-` for standard output) [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Copy memories to this team server; memories that differ there are not overwritten
    #[arg(long, value_name = "URL", group = "server", conflicts_with_all = ["format", "out", "from_server"])]
    pub(crate) to_server: Option<String>,
    /// Copy memories from this team server to this machine; memories that differ here are not overwritten
    #[arg(long, value_name = "URL", group = "server", conflicts_with_all = ["format", "out"])]
    pub(crate) from_server: Option<String>,
    /// File with the team server token (`-` for standard input) [default: the token in MEMDIR_TEAM_TOKEN]
    #[arg(long, value_name = "FILE", requires = "server")]
    pub(crate) token_file: Option<PathBuf>,
    /// Project on the team server, if the token gives access to several
    #[arg(long, value_name = "ID", requires = "server")]
    pub(crate) server_project: Option<String>,
    /// With --to-server or --from-server: print what would be copied without copying it
    #[arg(long, requires = "server")]
    pub(crate) dry_run: bool,
}

/// The format of an exported file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BundleFormat {
    /// One Markdown file
    Markdown,
    /// One JSON file
    Json,
}

/// Open a web page to view, search and correct memories
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The page is served on 127.0.0.1 only. The printed URL works once, within a minute; the browser
then has a session.

Examples:
  memdir ui
  memdir ui --no-open --port 7338
  memdir ui --no-open --json")]
pub(crate) struct UiArgs {
    /// Port on 127.0.0.1 [default: a free port]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
    /// Do not open the browser
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Stop after MINUTES minutes without a request; 0 to never stop
    #[arg(long, value_name = "MINUTES", default_value_t = 60)]
    pub(crate) idle: u32,
}

/// Export memories as one self-contained HTML file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The file needs no server and no network. Secrets are redacted. Only the
memories of the project and the team are in it; other memories, such as user/,
are left out unless --include names them.

Examples:
  memdir view -o memory.html
  memdir view -o memory.html --include user")]
pub(crate) struct ViewArgs {
    /// File to write (`-` for standard output)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Prefixes of other memories to include, separated by commas, such as `user`
    #[arg(long, value_name = "PREFIX", value_delimiter = ',')]
    pub(crate) include: Vec<String>,
    /// Overwrite an existing file
    #[arg(long)]
    pub(crate) force: bool,
}
