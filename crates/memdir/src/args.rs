//! The command line: every command with its arguments and help text. Defines no behaviour; `commands.rs` does.

pub(crate) mod help;
pub(crate) mod stdin;

use crate::{
    exit::Failure,
    hosts::{self, HookEvent as Event, Host, InstallScope as Scope, MemoryChoice},
};
use clap::{CommandFactory as _, Parser, Subcommand, ValueEnum, error::ErrorKind};
use std::{
    io::{self, IsTerminal as _},
    path::PathBuf,
};

/// Persistent memory for AI agents and people, in plain Markdown files
#[derive(Debug, Parser)]
#[command(name = "memdir", version, disable_help_subcommand = true)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// Options of every command.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Global {
    /// Use this directory as the whole memory [env: MEMDIR_DIR]
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) dir: Option<PathBuf>,
    /// Print output and errors as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Name to record in the history as the author of changes [env: USER, LOGNAME] [default: cli]
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) actor: Option<String>,
    /// Directory for memories, journals and settings [env: MEMDIR_HOME] [default: ~/.memdir]
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) home: Option<PathBuf>,
    /// Project id [env: MEMDIR_PROJECT] [default: from the current directory]
    #[arg(long, global = true, value_name = "ID", conflicts_with = "dir")]
    pub(crate) project: Option<String>,
    /// Also use this agent's memory, under agent/NAME, unless --dir is used [env: MEMDIR_AGENT]
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Scope of the memory of --agent: user (all projects), project (shared in the repository) or local (this project, on this machine)
    #[arg(long, global = true, value_enum, value_name = "SCOPE", default_value_t = AgentScope::User, hide_possible_values = true)]
    pub(crate) agent_scope: AgentScope,
    /// Access only memories under these name prefixes, such as team or notes, separated by commas
    #[arg(long, global = true, value_name = "PREFIX", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
}

/// The scope of an agent's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentScope {
    /// All of the user's projects
    #[default]
    User,
    /// This project, shared through .memdir-agents/ in its repository
    Project,
    /// This project, on this machine only
    Local,
}

/// The commands, in the order of `memdir --help`; [`help::GROUPS`] names the first command of each group.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(visible_alias = "add")]
    Write(Write),
    #[command(visible_aliases = ["cat", "show"])]
    Read(Read),
    #[command(visible_alias = "ls")]
    List(List),
    Search(Search),
    Edit(Edit),
    #[command(visible_alias = "mv")]
    Rename(Rename),
    #[command(visible_alias = "rm")]
    Delete(Delete),
    Undo(Undo),
    History(History),
    Resume(Resume),

    Init(Init),
    Get(Get),
    Path(PathOf),
    Log(Log),
    Import(Import),
    Export(Export),
    Ui(Ui),
    View(View),

    Recall(Recall),
    Replay(Replay),
    Inbox(Inbox),
    Rules(Rules),
    Cues(Cues),
    Prompt(Prompt),
    Chats(Chats),

    Redo(Redo),
    Diff(Diff),
    Restore(Restore),
    Forget(Forget),

    Install(Install),
    Uninstall(Uninstall),
    Doctor(Doctor),
    Adopt(Adopt),
    Hook(Hook),

    Where(Where),
    Status(Status),
    Projects(Projects),
    Config(Config),
    Stats(Stats),
    Check(Check),
    Dream(Dream),
    Verify(Verify),
    Test(Test),
    Entrypoint(Entrypoint),
    Index(Index),
    Watch(Watch),

    Mcp(Mcp),
    Dialects(Dialects),
    Token(Token),
    Serve(Serve),
    Admin(Admin),
    Review(Review),

    Demo(Demo),
    Bench(Bench),
    Man(Man),
    Completions(Completions),
    #[command(hide = true)]
    Complete(Complete),
    Help(Help),
}

/// Create a memory directory with an entrypoint (MEMORY.md)
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir init
  memdir --dir notes init
  memdir init --team             create .memdir/ in the git repository, to commit and share")]
pub(crate) struct Init {
    /// Create a team memory: .memdir/ in this git repository or, with --dir, team/ in that directory
    #[arg(long)]
    pub(crate) team: bool,
}

/// Print the entrypoint (MEMORY.md), or memories by name
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir read
  memdir read notes/deploy
  memdir read notes/deploy --lines 42-56")]
pub(crate) struct Read {
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

/// Search memories by words and by meaning
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Query syntax: \"exact phrase\", type:feedback, path:team/, source:chat, -excluded

Exits with 1 if nothing is found, except with --batch or --why-not.

Examples:
  memdir search how do we deploy
  memdir search '\"blue green\" -staging' --type project --since 2026-01-01
  memdir search deploy --explain
  memdir search deploy --why-not notes/release
  memdir search --batch questions.jsonl --json")]
pub(crate) struct Search {
    /// Words or question to search for (`-` for standard input)
    #[arg(required_unless_present = "batch")]
    pub(crate) query: Vec<String>,
    /// Maximum number of results, from 1 to 50
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true)]
    pub(crate) max_results: i64,
    /// Minimum score of a result, from 0 to 1
    #[arg(long, value_name = "SCORE", allow_negative_numbers = true, default_value_t = memdir_core::internal::search::ranking::MIN_SCORE, value_parser = score)]
    pub(crate) min_score: f32,
    /// Source to search
    #[arg(long, value_enum, default_value_t = SearchSource::All)]
    pub(crate) source: SearchSource,
    /// Search past conversations from all projects, not only this one
    #[arg(long)]
    pub(crate) all_projects: bool,
    /// Search only memories of this type: user, feedback, project or reference
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<String>,
    /// Search only memories and conversations dated (or, without a date, changed) on or after WHEN: a date such as 2026-01-31, or a period such as 90d or 12w
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<String>,
    /// Rank older daily logs lower: their score halves every 30 days
    #[arg(long)]
    pub(crate) decay: bool,
    /// File of queries to run, one JSON object with `id` and `query` per line (`-` for standard input)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["query", "why_not"])]
    pub(crate) batch: Option<PathBuf>,
    /// Show how each score is computed
    #[arg(long)]
    pub(crate) explain: bool,
    /// Explain why this memory is not among the results
    #[arg(long, value_name = "NAME")]
    pub(crate) why_not: Option<String>,
    /// Embedding model [default: from config]
    #[arg(long, value_enum, hide_short_help = true)]
    pub(crate) embedder: Option<SearchEmbedder>,
}

/// The source of search results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchSource {
    /// All sources except the inbox
    All,
    /// Memories
    Memory,
    /// Past conversations
    Chat,
    /// Other configured directories
    Custom,
    /// Proposed memories in the inbox
    Inbox,
}

/// The embedding model of one search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchEmbedder {
    /// No model: lexical search only
    None,
    /// The built-in model
    Builtin,
}

/// Parses a score from 0 to 1.
fn score(text: &str) -> Result<f32, String> {
    text.parse().ok().filter(|score: &f32| score.is_finite()).ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

/// Print lines from a memory
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir get notes/deploy.md --lines 42-56
  memdir get notes/deploy.md:42-56")]
pub(crate) struct Get {
    /// Path of the memory, with or without lines, as printed by `memdir search`
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
pub(crate) struct PathOf {
    /// Name of the memory
    pub(crate) name: String,
}

/// List memories
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir list
  memdir list notes --long
  memdir list --type feedback --newer 30
  memdir list --tree")]
pub(crate) struct List {
    /// List only memories under this topic
    #[arg(value_name = "TOPIC", default_value = "", hide_default_value = true)]
    pub(crate) topic: String,
    /// List only memories of this type: user, feedback, project or reference
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<String>,
    /// List only memories last verified or changed at most DAYS days ago
    #[arg(long, value_name = "DAYS")]
    pub(crate) newer: Option<i64>,
    /// List only memories last verified or changed at least DAYS days ago
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

/// Create, replace or append to a memory
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A rule with the strength ask or deny holds until you accept it with `memdir rules accept NAME`.

Examples:
  memdir write notes/deploy 'Deploy on Tuesdays, never on Fridays.' --type project
  memdir write notes/deploy --append 'Except in December.'
  memdir write notes/deploy --cue 'ship on a Friday' --cue 'kubectl rollout'
  memdir write rules/push 'Run the tests first.' --when-command 'git push*' --strength hold
  pandoc page.html -t gfm | memdir write notes/page -")]
pub(crate) struct Write {
    /// Name of the memory, such as notes/deploy
    pub(crate) name: String,
    /// Text of the memory (`-` for standard input) [default: from --file or standard input; if only
    /// frontmatter options are given, the text is kept]
    #[arg(allow_hyphen_values = true)]
    pub(crate) text: Option<String>,
    /// Read the text from a file (`-` for standard input)
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    pub(crate) file: Option<PathBuf>,
    /// Replace an existing memory; keep its frontmatter unless the new text has its own
    #[arg(long, conflicts_with = "append")]
    pub(crate) replace: bool,
    /// Append the text; create the memory if it does not exist
    #[arg(long)]
    pub(crate) append: bool,
    /// Fail unless the memory's version equals VERSION or begins with it; TEXT then replaces the memory's text unless --append is given
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
    /// Search phrase (cue) that should find the memory; replaces existing cues ('' removes them); may be repeated
    #[arg(long = "cue", value_name = "TEXT")]
    pub(crate) cues: Vec<String>,
    /// Make the memory a rule for agents' commands that match GLOB; replaces existing conditions; may be repeated
    #[arg(long, value_name = "GLOB", group = "when")]
    pub(crate) when_command: Vec<String>,
    /// Make the memory a rule for agents' actions on files that match GLOB; replaces existing conditions; may be repeated
    #[arg(long, value_name = "GLOB", group = "when")]
    pub(crate) when_path: Vec<String>,
    /// What the rule does to a matching action: tell (run it and show the rule), hold (stop the first one and show the rule), ask (let you decide) or deny [default: hold for commands, otherwise tell]
    #[arg(long, value_name = "STRENGTH", requires = "when")]
    pub(crate) strength: Option<String>,
    /// Recall the memory for every message, before others, as far as the budget allows
    #[arg(long)]
    pub(crate) pinned: bool,
    /// Skip this secret detection rule; may be repeated; for use by people, not agents
    #[arg(long, value_name = "RULE", hide_short_help = true)]
    pub(crate) allow_secret: Vec<String>,
}

/// List memories without cues (search phrases), or set the cues of many memories
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Cues are phrases that should find a memory: other wordings, the task, the command, the error. A
memory has at most 8, with 300 bytes in total. Search and recall use them, but never show them.

Examples:
  memdir cues
  memdir cues --from cues.jsonl     one {\"name\": …, \"cues\": […]} per line
  memdir cues --proposed
  memdir cues --accept notes/deploy")]
pub(crate) struct Cues {
    /// List only memories under this topic
    #[arg(conflicts_with = "action")]
    pub(crate) topic: Option<String>,
    /// Set cues from this file, in JSON or JSON Lines (`-` for standard input)
    #[arg(long, value_name = "FILE", group = "action")]
    pub(crate) from: Option<PathBuf>,
    /// List proposed cues: agents' searches that found nothing, each with the memory that the agent read next
    #[arg(long, group = "action")]
    pub(crate) proposed: bool,
    /// Accept the proposed cues of this memory (`all` for every memory)
    #[arg(long, value_name = "NAME", group = "action")]
    pub(crate) accept: Option<String>,
    /// Reject the proposed cues of this memory (`all` for every memory)
    #[arg(long, value_name = "NAME", group = "action")]
    pub(crate) reject: Option<String>,
}

/// Edit a memory in your editor, or replace text in it
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "\
Without OLD and NEW, the memory is opened in the editor set in VISUAL or EDITOR. An editor that
returns at once needs its option to wait, such as `code --wait`. If the memory is changed in the
meantime, or your text cannot be saved, the text is kept in a file, and the error message has the
command to continue with.

Examples:
  memdir edit notes/deploy
  memdir edit notes/deploy Tuesdays Wednesdays
  memdir edit notes/deploy --regex 'v(\\d+)\\.0' 'v$!1.1' --all
  memdir edit notes/deploy --old-file before.txt --new-file after.txt")]
pub(crate) struct Edit {
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
    /// Skip this secret detection rule; may be repeated; for use by people, not agents
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
pub(crate) struct Rename {
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
pub(crate) struct Delete {
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

/// Forget a fact everywhere: in memories, history, conversations, the index and caches
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The words match in upper and lower case, in every Unicode form, across line
breaks, and in names with hyphens. Everything that will be removed is listed
before you are asked to confirm. Afterwards every file is read again, to verify
that the words are gone. This cannot be undone. With --dir, only that directory
and what memdir keeps about it are covered.

Examples:
  memdir forget 'maple street 12'
  memdir forget --dry-run 'maple street 12'
  memdir forget --yes --json - < words.txt")]
pub(crate) struct Forget {
    /// Words to forget, matched as one phrase (`-` for standard input)
    #[arg(value_name = "WORDS", required = true)]
    pub(crate) words: Vec<String>,
    /// List what would be removed without removing it
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// Undo the last change, or any change by its id
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir undo
  memdir undo 7kq2m9xa")]
pub(crate) struct Undo {
    /// Change id, as printed by `memdir history` [default: the last change, which must be yours or made outside memdir]
    pub(crate) id: Option<String>,
}

/// Redo an undone change
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir redo
  memdir redo 7kq2m9xa")]
pub(crate) struct Redo {
    /// Id of the undone change, or of its undo [default: the last undo, which must be yours]
    pub(crate) id: Option<String>,
}

/// Show the history of changes, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir history
  memdir history notes/deploy --limit 5")]
pub(crate) struct History {
    /// Show only changes to this memory, with its versions
    pub(crate) name: Option<String>,
    /// Maximum number of changes to show; 0 for all
    #[arg(long = "limit", alias = "most", value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
}

/// Show the differences between two versions of a memory
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir diff notes/deploy
  memdir diff notes/deploy 3f2a91c0")]
pub(crate) struct Diff {
    /// Name of the memory
    pub(crate) name: String,
    /// Old version [default: the version before the last change]
    pub(crate) from: Option<String>,
    /// New version [default: the current version]
    pub(crate) to: Option<String>,
}

/// Restore an earlier version of a memory, even if it was deleted
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir history notes/deploy
  memdir restore notes/deploy 3f2a91c0")]
pub(crate) struct Restore {
    /// Name of the memory
    pub(crate) name: String,
    /// Version to restore, as printed by `memdir history NAME`
    pub(crate) version: String,
}

/// Check that the entrypoint (MEMORY.md) lists every memory
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir entrypoint
  memdir entrypoint --repair")]
pub(crate) struct Entrypoint {
    /// Add missing lines, and remove lines that memdir wrote for files that do not exist
    #[arg(long)]
    pub(crate) repair: bool,
}

/// Append an entry to today's log
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir log 'Ada prefers tabs'
  memdir log --status
  memdir log --in team 'freeze until 2026-03-09'")]
pub(crate) struct Log {
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

/// Tidy the memory with a plan that you can review, edit, apply and undo as a whole
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without options, looks for duplicates, contradictions, outdated facts, relative
dates, overlong and empty memories, a full entrypoint (MEMORY.md) and facts in
daily logs, and keeps the proposals as one Markdown file. Nothing is changed before that
file is applied. No language model is used.

Examples:
  memdir dream
  memdir dream --apply latest
  memdir dream --status
  memdir dream --logs                    plan only how to turn past days' logs into memories
  memdir dream --with claude             show the command that would run, and the prompt size
  memdir dream --with claude --yes       let its model propose operations, as a plan
  memdir dream --auto on                 make a plan at the end of a session when one is due")]
#[command(group(clap::ArgGroup::new("dream_action")))]
pub(crate) struct Dream {
    /// Apply this plan as one change; `latest` selects the newest plan that has not been applied
    #[arg(long, value_name = "PLAN", group = "dream_action")]
    pub(crate) apply: Option<PathBuf>,
    /// With --apply: maximum percentage of memories and bytes that a plan may change; small plans have no limit [default: 25]
    #[arg(long, value_name = "PERCENT", requires = "apply", value_parser = clap::value_parser!(u64).range(1..=100))]
    pub(crate) limit: Option<u64>,
    /// Plan only how to turn past days' logs into memories
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
    /// With --with: start the program
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
pub(crate) struct Verify {
    /// Name of the memory
    pub(crate) name: String,
    /// Mark the memory as verified even if some references are not found
    #[arg(long = "force", alias = "anyway")]
    pub(crate) force: bool,
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
pub(crate) struct Check {
    /// Add missing lines to the entrypoint (MEMORY.md), and remove lines that memdir wrote for files that do not exist
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CheckFormat {
    /// Plain text for a terminal
    Text,
    /// Markdown for a pull request comment
    Markdown,
}

/// Run the memory tests in memory.tests.md
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each line of memory.tests.md has a question and the memory that a search must find, or `nothing`:
  When do we deploy? -> must find notes/deploy (in top 3)
  What is the weather like? -> nothing

Examples:
  memdir test")]
pub(crate) struct Test {}

/// Select the memories relevant to a message, or the rules that an action triggers
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Prints nothing if no memory is relevant.

Examples:
  memdir recall 'Can you deploy the shop this afternoon?'
  memdir recall --budget 1000 --shown notes/deploy - < message.txt
  memdir recall --explain 'Can you deploy the shop this afternoon?'
  memdir recall --why-not notes/deploy 'ship it today'
  memdir recall --action --tool Bash --command 'git push --force'")]
pub(crate) struct Recall {
    /// Text of the message, or of the action (`-` for standard input)
    #[arg(required_unless_present = "action")]
    pub(crate) text: Vec<String>,
    /// Maximum total number of tokens of the recalled memories
    #[arg(long, value_name = "TOKENS", default_value_t = memdir_core::internal::base::limits::RECALL_TOKENS)]
    pub(crate) budget: usize,
    /// Maximum number of memories to recall
    #[arg(long = "limit", alias = "most", value_name = "N", default_value_t = memdir_core::internal::base::limits::RECALL_MEMORIES)]
    pub(crate) limit: usize,
    /// Memories to exclude because the conversation has already shown them, separated by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) shown: Vec<String>,
    /// Tools in use, whose documentation is not recalled, separated by commas
    #[arg(long, value_name = "TOOL", value_delimiter = ',')]
    pub(crate) in_use: Vec<String>,
    /// Show the scores of the 10 best matches instead of recalling them
    #[arg(long, conflicts_with = "action")]
    pub(crate) explain: bool,
    /// Show this memory's score and, if it is not recalled, the reason
    #[arg(long, value_name = "NAME", conflicts_with = "action")]
    pub(crate) why_not: Option<String>,
    /// Select the rules (`when:`) that an action triggers
    #[arg(long)]
    pub(crate) action: bool,
    /// Name of the tool that the action uses
    #[arg(long, value_name = "TOOL", requires = "action")]
    pub(crate) tool: Option<String>,
    /// Command line of the action
    #[arg(long, value_name = "COMMAND", requires = "action", allow_hyphen_values = true)]
    pub(crate) command: Option<String>,
    /// File that the action reads or writes; may be repeated
    #[arg(long, value_name = "PATH", requires = "action")]
    pub(crate) path: Vec<PathBuf>,
}

/// Replay past conversations against the current memory
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Counts the memories that would be recalled for your messages, and the rules that
tool calls would trigger; --explain shows each of them. Reads archived
conversations (`memdir chats on`), changes nothing, and gives the same result for
the same conversations and memories.

Examples:
  memdir replay
  memdir replay --since 2w --explain
  memdir replay --all-projects --json")]
pub(crate) struct Replay {
    /// Replay only conversations updated on or after WHEN: a date such as 2026-01-31, or a period such as 90d or 12w
    #[arg(long, value_name = "WHEN", default_value = "90d")]
    pub(crate) since: String,
    /// Include conversations from other projects
    #[arg(long)]
    pub(crate) all_projects: bool,
    /// Show each message that recalls a memory, and each tool call that triggers a rule
    #[arg(long)]
    pub(crate) explain: bool,
}

/// List the rules (`when:`) in memories, and accept or reject them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The strength of a rule (`strength:`) says what happens to a matching action:
  tell  it runs, and the agent reads the rule with the result
  hold  the first one in a conversation does not run, and the agent reads the rule instead
  ask   you decide whether it runs
  deny  it does not run

`ask` and `deny` act like `hold` until you accept the rule's text. A rule that
you reject has no effect. If the text changes, the decision no longer applies.

Examples:
  memdir rules
  memdir rules accept rules/push
  memdir rules reject team/deploy --yes")]
pub(crate) struct Rules {
    #[command(subcommand)]
    pub(crate) what: Option<RulesWhat>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RulesWhat {
    /// List the rules with their effects and conditions
    #[command(after_help = "\
Examples:
  memdir rules list --json")]
    List,
    /// Accept the current text of a rule, so that it takes effect with its full strength
    #[command(after_help = "\
Examples:
  memdir rules accept rules/push")]
    Accept(RuleDecision),
    /// Reject the current text of a rule, so that it has no effect
    #[command(after_help = "\
Examples:
  memdir rules reject team/deploy --yes")]
    Reject(RuleDecision),
}

#[derive(Debug, clap::Args)]
pub(crate) struct RuleDecision {
    /// Name of the memory
    pub(crate) name: String,
    /// Do not ask for confirmation
    #[arg(long)]
    pub(crate) yes: bool,
}

/// List proposed memories with their evidence, and accept, merge or reject them
///
/// memdir proposes memories (candidates) based on what happened in conversations: for example, you asked the agent to remember
/// something, rejected an action, or repeated an instruction. A candidate becomes a memory only when you or the agent accepts it.
/// Once accepted or rejected, a candidate is never proposed again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir inbox
  memdir inbox review
  memdir inbox accept feedback/no-force-push
  memdir inbox reject --all")]
pub(crate) struct Inbox {
    #[command(subcommand)]
    pub(crate) what: Option<InboxWhat>,
    /// Also list rejected candidates (proposed memories)
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum InboxWhat {
    /// Show a proposed memory with its evidence
    #[command(after_help = "\
Examples:
  memdir inbox show feedback/no-force-push")]
    Show(InboxShow),
    /// Save proposed memories, or apply proposed changes to existing ones
    #[command(after_help = "\
Examples:
  memdir inbox accept feedback/no-force-push
  memdir inbox accept feedback/no-force-push --as rules/push --edit")]
    Accept(InboxAccept),
    /// Add the text of a proposed memory to an existing one
    #[command(after_help = "\
Examples:
  memdir inbox merge feedback/no-force-push rules/git")]
    Merge(InboxMerge),
    /// Reject proposed memories; they are never proposed again
    #[command(after_help = "\
Examples:
  memdir inbox reject feedback/no-force-push
  memdir inbox reject --all")]
    Reject(InboxReject),
    /// Review the proposed memories one by one with single-key commands
    #[command(after_help = "\
Examples:
  memdir inbox review")]
    Review,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InboxShow {
    /// Name of the proposed memory, with or without `inbox/`
    pub(crate) candidate: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InboxAccept {
    /// Names of the proposed memories, with or without `inbox/`
    #[arg(value_name = "CANDIDATE", required_unless_present = "all")]
    pub(crate) candidates: Vec<String>,
    /// Name for the memory [default: the proposed name]
    #[arg(long = "as", value_name = "NAME", conflicts_with = "all")]
    pub(crate) new_name: Option<String>,
    /// Open the new memory in the editor
    #[arg(long, conflicts_with = "all")]
    pub(crate) edit: bool,
    /// Accept all proposed memories, but not proposed changes to existing ones
    #[arg(long, conflicts_with = "candidates")]
    pub(crate) all: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InboxMerge {
    /// Name of the proposed memory, with or without `inbox/`
    pub(crate) candidate: String,
    /// Name of the memory to add the text to
    #[arg(value_name = "INTO")]
    pub(crate) name: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InboxReject {
    /// Names of the proposed memories, with or without `inbox/`
    #[arg(value_name = "CANDIDATE", required_unless_present = "all")]
    pub(crate) candidates: Vec<String>,
    /// Reject everything in the inbox
    #[arg(long, conflicts_with = "candidates")]
    pub(crate) all: bool,
}

/// Print the memory section of a system prompt
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Creates the memory directories that the section names.

Examples:
  memdir prompt
  memdir prompt team --no-entrypoint
  memdir prompt agent --agent reviewer --agent-scope project")]
pub(crate) struct Prompt {
    /// Kind of prompt [default: log if the setting `log` is on, otherwise team if there is a team memory, otherwise individual]
    #[arg(value_enum)]
    pub(crate) mode: Option<PromptMode>,
    /// Omit the text of the entrypoint (MEMORY.md), for agent programs that load it themselves
    #[arg(long)]
    pub(crate) no_entrypoint: bool,
    /// Omit the entrypoint (MEMORY.md) and the instructions about it
    #[arg(long)]
    pub(crate) no_index: bool,
    /// Heading of the section
    #[arg(long, value_name = "TEXT", default_value = "Memory")]
    pub(crate) title: String,
    /// Describe memdir's tools instead of file operations
    #[arg(long)]
    pub(crate) tools: bool,
    /// Search tool to describe
    #[arg(long, value_enum, default_value_t = SearchWith::Memdir)]
    pub(crate) search: SearchWith,
    /// Directory of the agent program's transcripts, for `--search grep` and `--search shell`
    #[arg(long, value_name = "PATH")]
    pub(crate) transcripts: Option<PathBuf>,
}

/// A kind of prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PromptMode {
    /// The memory of one person
    Individual,
    /// Private and team memory
    Team,
    /// A daily log
    Log,
    /// The memory of the agent that --agent selects
    Agent,
}

/// The search tool of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchWith {
    /// memdir search
    Memdir,
    /// The agent program's Grep tool
    Grep,
    /// grep in a shell
    Shell,
}

/// Show which memory directories are used here, and why
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir where
  memdir where --json")]
pub(crate) struct Where {}

/// Show the memory directories, the number of memories in each, and the last change
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The same as `memdir` without a command.

Examples:
  memdir status
  memdir status --json")]
pub(crate) struct Status {}

/// List, merge and rename projects, or use another project's memory
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir projects
  memdir projects adopt shop-1a2b3c4d5e
  memdir projects merge shop-1a2b3c4d5e shop-6f7a8b9c0d")]
pub(crate) struct Projects {
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

/// Find a past conversation and print the command that resumes it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir resume 'the login that hashed twice'
  memdir resume 'deploy freeze' --run")]
pub(crate) struct Resume {
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
pub(crate) struct Chats {
    #[command(subcommand)]
    pub(crate) what: Option<ChatsWhat>,
    #[command(flatten)]
    pub(crate) filter: ChatFilter,
    /// Maximum number of conversations to list; 0 for all
    #[arg(long = "limit", alias = "most", value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
}

/// A filter of conversations.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct ChatFilter {
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
    Show(ChatsShow),
    Sync(ChatsSync),
    /// Enable importing conversations, overall or for one host or project
    On(ChatsSwitch),
    /// Disable importing conversations, overall or for one host or project
    Off(ChatsSwitch),
    Forget(ChatsForget),
    Export(ChatsExport),
}

/// Print a conversation
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir chats show 1af7fc5e
  memdir chats show codex/0199c5d0 --lines 40-80")]
pub(crate) struct ChatsShow {
    /// Conversation id, or a prefix of it
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
pub(crate) struct ChatsSync {
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
pub(crate) struct ChatsSwitch {
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
pub(crate) struct ChatsForget {
    /// Conversation id, or a prefix of it
    #[arg(value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Forget conversations in this directory tree, or in the project with this id
    #[arg(long, value_name = "DIR|ID", alias = "project-dir", conflicts_with = "session")]
    pub(crate) project: Option<String>,
    /// Forget messages from before WHEN: a date such as 2026-01-31, or a period such as 90d (90 days ago)
    #[arg(long, value_name = "WHEN", conflicts_with = "session")]
    pub(crate) before: Option<String>,
}

/// Print conversations as Markdown, or as JSON with --json
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir chats export 1af7fc5e > login.md
  memdir chats export --project . --json > chats.json")]
pub(crate) struct ChatsExport {
    /// Conversation ids, or prefixes of them [default: all conversations that match the filters]
    #[arg(value_name = "ID")]
    pub(crate) sessions: Vec<String>,
    #[command(flatten)]
    pub(crate) filter: ChatFilter,
}

/// Update the search index
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Every search updates the index itself; this command shows the progress.

Examples:
  memdir index
  memdir index --rebuild")]
pub(crate) struct Index {
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
pub(crate) struct Watch {}

/// Manage bearer tokens for HTTP clients
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir token add ada shop blog
  memdir token add ada shop --agent reviewer
  memdir token list
  memdir token revoke 3f2a91c0")]
pub(crate) struct Token {
    #[command(subcommand)]
    pub(crate) what: TokenWhat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenWhat {
    /// Create a token and print it; only its hash is stored
    #[command(after_help = "\
Examples:
  memdir token add ada shop blog
  memdir token add ada shop --agent reviewer")]
    Add {
        /// Owner of the token; with --agent, the person whom the agent acts for
        person: String,
        /// Ids of the projects that the token gives access to [default: none, only the person's own memory]
        #[arg(value_name = "PROJECT")]
        projects: Vec<String>,
    },
    /// List tokens
    #[command(after_help = "\
Examples:
  memdir token list")]
    List,
    /// Revoke a token
    #[command(after_help = "\
Examples:
  memdir token revoke 3f2a91c0")]
    Revoke {
        /// Token id, as printed by `memdir token list`
        id: String,
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
pub(crate) struct Stats {
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

/// Serve memories over the Model Context Protocol
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The web page, and HTTP on an address that other machines can reach, require authentication: use
--token-file, MEMDIR_TOKEN, `memdir token add` or an identity provider (`[oauth]` in
config.toml). For TLS, put a reverse proxy in front.

Examples:
  memdir mcp
  memdir mcp --read-only --without memory_stats
  memdir mcp --dialect serena
  memdir mcp --http 127.0.0.1:7337
  memdir mcp --http 127.0.0.1:7337 --host memory.example.org --page")]
pub(crate) struct Mcp {
    /// Serve HTTP on this address instead of standard input and output, with MCP at /mcp and REST under /v1
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) http: Option<std::net::SocketAddr>,
    /// Serve the tools of these memory systems, separated by commas, each with its own directory; see `memdir dialects`
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) dialect: Vec<String>,
    /// Serve only these tools, separated by commas
    #[arg(long, value_name = "TOOL", value_delimiter = ',')]
    pub(crate) tools: Vec<String>,
    /// Do not serve these tools, separated by commas
    #[arg(long, value_name = "TOOL", value_delimiter = ',')]
    pub(crate) without: Vec<String>,
    /// Serve only read-only tools
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Send short instructions, for hosts whose session hook provides the memory section (set by `memdir install`)
    #[arg(long, conflicts_with = "http")]
    pub(crate) session_hook: bool,
    /// File with the bearer token that HTTP clients must send [default: the token in MEMDIR_TOKEN]
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(crate) token_file: Option<PathBuf>,
    /// Additional host names to accept in the Host header, separated by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',', requires = "http")]
    pub(crate) host: Vec<String>,
    /// Additional origins to accept in the Origin header, such as `https://example.org`, separated by commas
    #[arg(long, value_name = "URL", value_delimiter = ',', requires = "http")]
    pub(crate) origin: Vec<String>,
    /// Also serve the web page at /ui; people sign in with a token or an identity provider
    #[arg(long, requires = "http")]
    pub(crate) page: bool,
    /// Log every HTTP request to standard error as a line of JSON, without names, texts or tokens
    #[arg(long, requires = "http")]
    pub(crate) log_requests: bool,
}

/// Serve a team's memories from a PostgreSQL database
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Any number of replicas may serve one database. For TLS, put a reverse proxy in front. People,
groups, projects and tokens are managed with `memdir admin`. The path /readyz reports whether
the database can be reached.

Examples:
  DATABASE_URL=postgres://memdir@db/memdir memdir serve
  memdir serve --database postgres:///memdir --http 0.0.0.0:7337 --host memory.example.org")]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    /// Address to serve HTTP on, with MCP at /mcp, REST under /v1 and the web page at /ui
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7337")]
    pub(crate) http: std::net::SocketAddr,
    /// Memory limit in MiB for open search indexes; the least recently used are closed first
    #[arg(long, value_name = "MIB", default_value_t = 256)]
    pub(crate) index_memory: u64,
    /// Maximum number of database connections for changes; as many again are used for reads, and a quarter as many for token checks
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub(crate) connections: usize,
    /// Serve only these tools, separated by commas
    #[arg(long, value_name = "TOOL", value_delimiter = ',')]
    pub(crate) tools: Vec<String>,
    /// Do not serve these tools, separated by commas
    #[arg(long, value_name = "TOOL", value_delimiter = ',')]
    pub(crate) without: Vec<String>,
    /// Serve only read-only tools
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Additional host names to accept in the Host header, separated by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) host: Vec<String>,
    /// Additional origins to accept in the Origin header, such as `https://example.org`, separated by commas
    #[arg(long, value_name = "URL", value_delimiter = ',')]
    pub(crate) origin: Vec<String>,
    /// Log every HTTP request to standard error as a line of JSON, without names, texts or tokens
    #[arg(long)]
    pub(crate) log_requests: bool,
    /// Seconds to keep serving after SIGTERM, while /readyz returns 503 so that proxies switch to another replica
    #[arg(long, value_name = "SECONDS", default_value_t = 3)]
    pub(crate) leave_after: u64,
}

/// The database of a team server.
#[derive(Debug, clap::Args)]
pub(crate) struct DatabaseArgs {
    /// URL of the PostgreSQL database [env: DATABASE_URL]
    #[arg(long, value_name = "URL", global = true)]
    pub(crate) database: Option<String>,
    /// PEM file with the certificate authorities to trust for `sslmode=require` [default: public authorities]
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) database_ca: Option<PathBuf>,
}

/// Manage a team server's database, tenants, people and tokens
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A tenant has people, groups and projects. A project belongs to a group. A person's role in the
group (reader, writer, reviewer, admin) applies to all its projects. All commands need the URL
of the database.

Examples:
  memdir admin migrate
  memdir admin tenant add acme
  memdir admin person add ada --tenant acme
  memdir admin group add backend ada --role writer --tenant acme
  memdir admin project add shop --group backend --tenant acme
  memdir admin token add ada --tenant acme")]
pub(crate) struct Admin {
    #[command(subcommand)]
    pub(crate) what: AdminWhat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AdminWhat {
    /// Create or upgrade the database schema
    #[command(after_help = "\
Examples:
  memdir admin migrate --database postgres:///memdir")]
    Migrate {
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// Add, list and remove tenants (organizations with separate data)
    #[command(after_help = "\
Examples:
  memdir admin tenant add acme
  memdir admin tenant list --json
  memdir admin tenant remove acme")]
    Tenant {
        #[command(subcommand)]
        what: AdminTenant,
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// Add, list and remove people in a tenant
    #[command(after_help = "\
Removing a person revokes their tokens. Their memories stay.

Examples:
  memdir admin person add ada --tenant acme
  memdir admin person list --tenant acme")]
    Person {
        #[command(subcommand)]
        what: AdminPerson,
        #[command(flatten)]
        tenant: TenantArgs,
    },
    /// Add, list and remove groups and their members
    #[command(after_help = "\
Examples:
  memdir admin group add backend ada ben --role writer --tenant acme
  memdir admin group remove backend ben --tenant acme
  memdir admin group list --tenant acme")]
    Group {
        #[command(subcommand)]
        what: AdminGroup,
        #[command(flatten)]
        tenant: TenantArgs,
    },
    /// Add, list and remove projects
    #[command(after_help = "\
Examples:
  memdir admin project add shop --group backend --tenant acme
  memdir admin project list --tenant acme")]
    Project {
        #[command(subcommand)]
        what: AdminProject,
        #[command(flatten)]
        tenant: TenantArgs,
    },
    /// Add, list and remove people's tokens
    #[command(after_help = "\
A token is printed once; only its hash is stored. Removing it revokes it at once, on all replicas.

Examples:
  memdir admin token add ada --tenant acme
  memdir admin token add ada --agent reviewer --tenant acme
  memdir admin token remove 3f2a91c0d1e2 --tenant acme")]
    Token {
        #[command(subcommand)]
        what: AdminToken,
        #[command(flatten)]
        tenant: TenantArgs,
    },
    /// Turn review of changes by writers and agents on or off
    #[command(after_help = "\
While review is on, reviewers and admins of the group still change its memories directly, except
with an agent's token. Open proposals remain after review is turned off, and can still be
accepted or rejected.

Examples:
  memdir admin review on projects/shop --tenant acme
  memdir admin review off groups/backend --tenant acme
  memdir admin review list --tenant acme")]
    Review {
        #[command(subcommand)]
        what: AdminReview,
        #[command(flatten)]
        tenant: TenantArgs,
    },
    /// Show a tenant's quotas and usage, or set the quotas
    #[command(after_help = "\
Without options, shows the quotas and the current usage. A tenant over its quota keeps what it
has, but cannot grow.

Examples:
  memdir admin quota --tenant acme
  memdir admin quota --memories 10000 --bytes 100000000 --tenant acme
  memdir admin quota --memories none --tenant acme")]
    Quota {
        /// Maximum number of memories, including `MEMORY.md` files, or `none` for no limit
        #[arg(long, value_name = "N")]
        memories: Option<String>,
        /// Maximum total size of the memories in bytes, or `none` for no limit
        #[arg(long, value_name = "N")]
        bytes: Option<String>,
        #[command(flatten)]
        tenant: TenantArgs,
    },
    /// Show the audit log: changes to people, groups, projects, tokens, quotas and review settings, and decisions on proposals
    #[command(after_help = "\
The log has names and roles, but never tokens or the texts of memories. Changes to memories are
in their history.

Examples:
  memdir admin audit --tenant acme
  memdir admin audit --limit 1000 --json --tenant acme")]
    Audit {
        /// Maximum number of entries to show, newest first
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
        #[command(flatten)]
        tenant: TenantArgs,
    },
    /// Erase a person, their memories with all versions, their tokens and their roles
    #[command(after_help = "\
In shared memories, the person's changes remain, under another actor name; their proposals are
erased unless they were accepted. Without --yes, the command only reports what would be erased.
The receipt does not contain the name. Backups are not covered. Replicas remove the person's
search indexes within ten minutes.

Examples:
  memdir admin erase-person ada --tenant acme
  memdir admin erase-person ada --yes --json --tenant acme > receipt.json")]
    ErasePerson {
        /// Name of the person
        person: String,
        /// Erase permanently; without this option, only report what would be erased
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        tenant: TenantArgs,
    },
    /// Export a tenant to a file: people, groups, projects, token hashes, memories, versions, history and proposals
    #[command(after_help = "\
Examples:
  memdir admin export acme.jsonl --tenant acme")]
    Export {
        /// File to create
        file: PathBuf,
        #[command(flatten)]
        tenant: TenantArgs,
    },
    /// Create a tenant from a file written by `memdir admin export`
    #[command(after_help = "\
The tenant must not exist. Its tokens stay valid only if it keeps its name.

Examples:
  memdir admin import acme.jsonl --tenant acme")]
    Import {
        /// File to import
        file: PathBuf,
        #[command(flatten)]
        tenant: TenantArgs,
    },
    /// Rebuild a tenant's search indexes on this machine
    #[command(after_help = "\
Each replica has its own indexes below its cache directory: run this on each
machine, as the user of the replica. Replicas can keep running. Indexes of
namespaces that no longer exist are removed, in all tenants.

Examples:
  memdir admin reindex --tenant acme
  memdir admin reindex --namespace projects/shop --tenant acme")]
    Reindex {
        /// Rebuild only the index of this project, group or person, such as `projects/shop` or `people/ada`
        #[arg(long, value_name = "NAME")]
        namespace: Option<String>,
        #[command(flatten)]
        tenant: TenantArgs,
    },
}

impl Admin {
    /// Returns whether the command uses the indexes of this machine.
    pub(crate) fn uses_indexes(&self) -> bool {
        matches!(self.what, AdminWhat::Reindex { .. })
    }
}

/// Review proposed changes on a team server
#[derive(Debug, clap::Args)]
#[command(after_help = "\
In a project or group under review, changes by writers and agents are proposals. A reviewer or
admin of the group accepts or rejects them. The author sees them too, and can withdraw them. Use
a person's token; a token with --agent cannot accept or reject.

Examples:
  memdir review list --server https://memory.example.org --token-file token
  memdir review show 8z38z4zp --server https://memory.example.org
  memdir review accept 8z38z4zp --server https://memory.example.org
  memdir review reject 8z38z4zp --reason \"already in notes/deploy\" --server https://memory.example.org")]
pub(crate) struct Review {
    #[command(subcommand)]
    pub(crate) what: ReviewWhat,
    /// URL of the team server; required
    #[arg(long, value_name = "URL", global = true)]
    pub(crate) server: Option<String>,
    /// File with the team server token (`-` for standard input) [default: the token in MEMDIR_TEAM_TOKEN]
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) token_file: Option<PathBuf>,
    /// Project on the team server [default: all projects that the token gives access to]
    #[arg(long, value_name = "ID", global = true)]
    pub(crate) server_project: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ReviewWhat {
    /// List proposals, newest first
    #[command(after_help = "\
Examples:
  memdir review list --server https://memory.example.org
  memdir review list --state rejected --server https://memory.example.org")]
    List {
        /// State of the proposals to list: open, accepted, rejected, withdrawn or all
        #[arg(long, value_name = "STATE", value_enum, default_value_t = ReviewState::Open, hide_possible_values = true)]
        state: ReviewState,
    },
    /// Show a proposal with its diff
    #[command(after_help = "\
Examples:
  memdir review show 8z38z4zp --server https://memory.example.org")]
    Show {
        /// Proposal id
        id: String,
    },
    /// Accept a proposal and apply its change on behalf of the author
    #[command(after_help = "\
Examples:
  memdir review accept 8z38z4zp --server https://memory.example.org")]
    Accept {
        /// Proposal id
        id: String,
    },
    /// Reject a proposal
    #[command(after_help = "\
Examples:
  memdir review reject 8z38z4zp --reason \"already in notes/deploy\" --server https://memory.example.org")]
    Reject {
        /// Proposal id
        id: String,
        /// Reason to show to the author
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Withdraw one of your own proposals
    #[command(after_help = "\
Examples:
  memdir review withdraw 8z38z4zp --server https://memory.example.org")]
    Withdraw {
        /// Proposal id
        id: String,
    },
}

/// Which proposals are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ReviewState {
    Open,
    Accepted,
    Rejected,
    Withdrawn,
    All,
}

/// The tenant that is managed.
#[derive(Debug, clap::Args)]
pub(crate) struct TenantArgs {
    /// Name of the tenant; required
    #[arg(long, value_name = "NAME", global = true)]
    pub(crate) tenant: Option<String>,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AdminTenant {
    /// Add a tenant
    #[command(after_help = "\
Examples:
  memdir admin tenant add acme")]
    Add {
        /// Name of the tenant
        tenant: String,
    },
    /// List tenants
    #[command(after_help = "\
Examples:
  memdir admin tenant list")]
    List,
    /// Remove a tenant
    #[command(after_help = "\
Examples:
  memdir admin tenant remove acme")]
    Remove {
        /// Name of the tenant
        tenant: String,
        /// Also permanently remove the tenant's memories and their history; required if there are any
        #[arg(long)]
        with_memories: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum AdminPerson {
    /// Add a person
    #[command(after_help = "\
Examples:
  memdir admin person add ada --tenant acme")]
    Add {
        /// Name of the person
        person: String,
    },
    /// List people with their groups
    #[command(after_help = "\
Examples:
  memdir admin person list --tenant acme")]
    List,
    /// Remove a person but keep their memories
    #[command(after_help = "\
Examples:
  memdir admin person remove ada --tenant acme")]
    Remove {
        /// Name of the person
        person: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum AdminGroup {
    /// Add a group, or give people a role in it
    #[command(after_help = "\
Examples:
  memdir admin group add backend ada ben --role writer --tenant acme")]
    Add {
        /// Name of the group
        group: String,
        /// People to add to the group
        #[arg(value_name = "PERSON")]
        people: Vec<String>,
        /// Role of these people in the group: reader, writer, reviewer or admin
        #[arg(long, value_name = "ROLE", default_value = "writer")]
        role: String,
    },
    /// List groups with their members and projects
    #[command(after_help = "\
Examples:
  memdir admin group list --tenant acme")]
    List,
    /// Remove people from a group, or the group itself
    #[command(after_help = "\
Examples:
  memdir admin group remove backend ben --tenant acme")]
    Remove {
        /// Name of the group
        group: String,
        /// People to remove from the group; without any, the group itself is removed
        #[arg(value_name = "PERSON")]
        people: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum AdminProject {
    /// Add a project to a group, or move it there
    #[command(after_help = "\
Examples:
  memdir admin project add shop --group backend --tenant acme")]
    Add {
        /// Project id
        #[arg(value_name = "PROJECT")]
        id: String,
        /// Group that the project belongs to
        #[arg(long, value_name = "NAME")]
        group: String,
    },
    /// List projects with their groups
    #[command(after_help = "\
Examples:
  memdir admin project list --tenant acme")]
    List,
    /// Remove a project but keep its memories
    #[command(after_help = "\
Examples:
  memdir admin project remove shop --tenant acme")]
    Remove {
        /// Project id
        #[arg(value_name = "PROJECT")]
        id: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum AdminReview {
    /// Turn review on
    #[command(after_help = "\
Examples:
  memdir admin review on projects/shop --tenant acme")]
    On {
        /// Project or group: `projects/PROJECT`, or `groups/GROUP` for the group's `team/` memories
        #[arg(value_name = "NAMESPACE")]
        namespace: String,
    },
    /// Turn review off
    #[command(after_help = "\
Examples:
  memdir admin review off groups/backend --tenant acme")]
    Off {
        /// Project or group: `projects/PROJECT`, or `groups/GROUP` for the group's `team/` memories
        #[arg(value_name = "NAMESPACE")]
        namespace: String,
    },
    /// List projects and groups under review
    #[command(after_help = "\
Examples:
  memdir admin review list --tenant acme")]
    List,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AdminToken {
    /// Create a token for a person, or with --agent for an agent acting on their behalf, and print it
    #[command(after_help = "\
Examples:
  memdir admin token add ada --tenant acme")]
    Add {
        /// Owner of the token
        person: String,
    },
    /// List tokens
    #[command(after_help = "\
Examples:
  memdir admin token list --tenant acme")]
    List,
    /// Revoke a token
    #[command(after_help = "\
Examples:
  memdir admin token remove 3f2a91c0d1e2 --tenant acme")]
    Remove {
        /// Token id, as printed by `memdir admin token list`
        id: String,
    },
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
pub(crate) struct Ui {
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
pub(crate) struct View {
    /// File to write (`-` for standard output)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Other memories to include, such as `user`, separated by commas
    #[arg(long, value_name = "PREFIX", value_delimiter = ',')]
    pub(crate) include: Vec<String>,
    /// Overwrite an existing file
    #[arg(long)]
    pub(crate) force: bool,
}

/// List the memory systems that `memdir mcp --dialect` emulates
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir dialects
  memdir mcp --dialect serena")]
pub(crate) struct Dialects {}

/// Show the settings with their origins, or change them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir config
  memdir config --json
  memdir config set chats.keep_days 90
  memdir config unset chats.keep_days
  memdir config edit")]
pub(crate) struct Config {
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
pub(crate) struct Install {
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
    /// Connect HOST to this team server and leave the local memdir server as it is; --project selects a project on the team server; without a token option, sign in from the host
    #[arg(long, value_name = "URL", requires = "hosts", conflicts_with_all = ["chats", "no_hooks", "auto_memory"])]
    pub(crate) server: Option<String>,
    /// File with the team server token (`-` for standard input); the token is copied into the host's settings
    #[arg(long, value_name = "FILE", requires = "server")]
    pub(crate) token_file: Option<PathBuf>,
    /// Environment variable from which the host reads the team server token
    #[arg(long, value_name = "NAME", requires = "server", conflicts_with = "token_file")]
    pub(crate) token_env: Option<String>,
}

/// Run an agent program's hook, with JSON on standard input and output
#[derive(Debug, clap::Args)]
#[command(
    hide = true,
    after_help = "\
Examples:
  echo '{\"prompt\":\"How do we deploy?\"}' | memdir hook claude-code prompt"
)]
pub(crate) struct Hook {
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

/// Remove memdir's tools and hooks from agent programs
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir uninstall claude-code
  memdir uninstall --all --dry-run")]
pub(crate) struct Uninstall {
    /// Hosts to uninstall from
    #[arg(value_name = "HOST", value_parser = hosts::parser(), required_unless_present = "all")]
    pub(crate) hosts: Vec<&'static Host>,
    /// Uninstall from all hosts
    #[arg(long, conflicts_with = "hosts")]
    pub(crate) all: bool,
    /// Print the changes without making them
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Remove only the installation for all projects, or for this project [default: both]
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
pub(crate) struct Doctor {
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
pub(crate) struct Adopt {
    /// Names of the memories, as printed by `memdir adopt`
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Allow memdir to write to these memories
    #[arg(long)]
    pub(crate) read_write: bool,
    /// Stop using these memories but keep their files
    #[arg(long, requires = "names", conflicts_with = "read_write")]
    pub(crate) undo: bool,
    /// Make Claude Code use memdir's directory as its own memory
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

/// Export memories to a file, or copy them between this machine and a team server
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir export > memories.md
  memdir export notes --format json --out notes.json
  memdir export user --to-server https://memory.example.org --token-file token
  memdir export --from-server https://memory.example.org --dry-run")]
pub(crate) struct Export {
    /// Export only memories under this topic
    #[arg(value_name = "TOPIC", default_value = "", hide_default_value = true)]
    pub(crate) topic: String,
    /// File format; `memdir import` reads both
    #[arg(long, value_enum, default_value_t = BundleFormat::Markdown)]
    pub(crate) format: BundleFormat,
    /// Write to a file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Copy memories to this team server; memories that differ there are not overwritten
    #[arg(long, value_name = "URL", conflicts_with_all = ["format", "out", "from_server"])]
    pub(crate) to_server: Option<String>,
    /// Copy memories from this team server to this machine; memories that differ here are not overwritten
    #[arg(long, value_name = "URL", conflicts_with_all = ["format", "out"])]
    pub(crate) from_server: Option<String>,
    /// File with the team server token (`-` for standard input) [default: the token in MEMDIR_TEAM_TOKEN]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Project on the team server, if the token gives access to several
    #[arg(long, value_name = "ID")]
    pub(crate) server_project: Option<String>,
    /// With --to-server or --from-server: print what would be copied without copying it
    #[arg(long)]
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
pub(crate) struct Import {
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
    #[arg(long = "on-conflict", alias = "clash", value_enum, value_name = "ACTION", default_value_t = OnConflict::Number)]
    pub(crate) on_conflict: OnConflict,
    /// Print what would be imported without importing it
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// What `memdir import` does if a name is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnConflict {
    /// Append a number to the imported name
    Number,
    /// Skip the imported memory
    Skip,
    /// Replace the existing memory
    Replace,
}

/// Print the manual page, or write all manual pages to a directory
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir man | man -l -
  memdir man ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// Write a page for every command to this directory
    #[arg(value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

/// Print a shell completion script
#[derive(Debug, clap::Args)]
#[command(after_help = "\
In bash, zsh and fish, the names of memories, topics, projects, hosts and types are completed
too.

Examples:
  memdir completions bash > ~/.local/share/bash-completion/completions/memdir
  memdir completions zsh > ~/.zfunc/_memdir
  memdir completions fish > ~/.config/fish/completions/memdir.fish")]
pub(crate) struct Completions {
    /// Shell to generate the script for
    pub(crate) shell: clap_complete::Shell,
}

/// Print the completions for a command line; used by the scripts that `memdir completions` prints
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir complete -- memdir read no")]
pub(crate) struct Complete {
    /// Words of the command line, up to the one to complete
    #[arg(value_name = "WORD", allow_hyphen_values = true, trailing_var_arg = true)]
    pub(crate) words: Vec<String>,
}

/// Print help for memdir or a command
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir help
  memdir help write
  memdir help chats sync")]
pub(crate) struct Help {
    /// Command, such as `write` or `chats sync`
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// Run a short tour in a temporary directory
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir demo")]
pub(crate) struct Demo {}

/// Run benchmarks and stress tests
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir bench search
  memdir bench torture --processes 20 --changes 100 --kill 200")]
pub(crate) struct Bench {
    #[command(subcommand)]
    pub(crate) what: BenchWhat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BenchWhat {
    Torture(Torture),
    Search(BenchSearch),
    Index(BenchIndex),
    Recall(BenchRecall),
    Dream(BenchDream),
    Replay(BenchReplay),
    Serve(BenchServe),
    #[command(hide = true)]
    TortureWorker(TortureWorker),
}

/// Stress-test memories with concurrent processes, optionally killing some, and audit every change
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With --dir, files are created in that directory and kept; it must be empty. If
the mix has moves, undos or redos, there are three mounts, and every fourth
process is a caller that sees only one of them.

Examples:
  memdir bench torture
  memdir bench torture --kill 200")]
pub(crate) struct Torture {
    /// Number of concurrent processes
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=200))]
    pub(crate) processes: u32,
    /// Number of changes per process; repeated until --kill is reached
    #[arg(long, value_name = "M", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(crate) changes: u64,
    /// Number of times to kill (SIGKILL) and restart a process at a random moment
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub(crate) kill: u64,
    /// Kinds of changes that each process makes in rotation, separated by commas
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["save", "append", "edit", "rename", "delete", "move", "undo", "redo", "editor"])]
    pub(crate) mix: Vec<ChangeKind>,
    /// Seed of the random number generator [default: a random number]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

/// Benchmark reads, writes and searches through the REST API
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Memories are generated in a temporary directory, or in --dir, which must be
empty and is kept. The same requests go to the library, to a server on these
files and, with --server, to another server, on which memories below bench/ and
topic-… are created and deleted.

Examples:
  memdir bench serve
  memdir bench serve --clients 1,16 --requests 2000
  memdir bench serve --server https://memory.example.org --token-file token")]
pub(crate) struct BenchServe {
    /// Number of memories
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    pub(crate) files: u32,
    /// Number of requests of each kind (read, write and search), divided among the clients
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(10..=1_000_000))]
    pub(crate) requests: u32,
    /// Numbers of concurrent clients to test with, separated by commas
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [1, 4, 16], value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) clients: Vec<u32>,
    /// URL of another server to benchmark as well
    #[arg(long, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// File with the bearer token for --server
    #[arg(long, value_name = "FILE", requires = "server")]
    pub(crate) token_file: Option<PathBuf>,
}

/// Benchmark searches in generated memories
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Memories are generated in a temporary directory, or in --dir, which must be
empty and is kept. Times are compared with /bin/true, with a walk of the same
files and, if it is installed, with rg.

Examples:
  memdir bench search
  memdir bench search --files 1000")]
pub(crate) struct BenchSearch {
    /// Number of memories
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    pub(crate) files: u32,
    /// Number of searches
    #[arg(long, value_name = "N", default_value_t = 800, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    pub(crate) queries: u32,
}

/// Benchmark indexing of generated memories
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Memories are generated in a temporary directory, or in --dir, which must be
empty and is kept.

Examples:
  memdir bench index
  memdir bench index --files 1000")]
pub(crate) struct BenchIndex {
    /// Number of memories
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    pub(crate) files: u32,
}

/// Benchmark recall from generated memories
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Memories are generated in a temporary directory, or in --dir, which must be
empty and is kept. The hook that runs at each message is measured in a new
process and compared with /bin/true.

Examples:
  memdir bench recall
  memdir bench recall --files 100")]
pub(crate) struct BenchRecall {
    /// Number of memories
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    pub(crate) files: u32,
    /// Number of messages of each length (20, 60 and 300 words)
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    pub(crate) messages: u32,
}

/// Benchmark `memdir dream` plans for generated memories
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Imports generated memories into a temporary directory, or into --dir, which
must be empty and is kept. A tenth of them are copies, and a tenth have
relative dates. The time of a plan is compared with that of indexing the same
memories, and with a plan for a tenth of them.

Examples:
  memdir bench dream
  memdir bench dream --files 1000 --json")]
pub(crate) struct BenchDream {
    /// Number of memories
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(100..=100_000))]
    pub(crate) files: u32,
}

/// Measure how well recall and rules find the planted facts that generated conversations need
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Plants facts and rules as memories, generates conversations that need some of
them, and imports and replays these conversations. The same seed gives the same
numbers on every machine. With --dir, files are created in that directory and
kept; it must be empty.

Examples:
  memdir bench replay
  memdir bench replay --files 5000 --seed 2 --json")]
pub(crate) struct BenchReplay {
    /// Number of planted facts
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=120))]
    pub(crate) facts: u32,
    /// Number of other memories
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub(crate) files: u32,
    /// Seed of the random number generator
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

/// Run one process of `bench torture`
#[derive(Debug, clap::Args)]
pub(crate) struct TortureWorker {
    /// Working directory of the run
    #[arg(long)]
    pub(crate) work: PathBuf,
    /// Process number
    #[arg(long)]
    pub(crate) number: u32,
    /// Number of the last change to make
    #[arg(long)]
    pub(crate) until: u64,
    /// Kinds of changes to make in rotation
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(crate) mix: Vec<ChangeKind>,
}

/// A kind of change in `bench torture`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum ChangeKind {
    /// Create a memory
    Save,
    /// Append a line to a memory shared by all processes
    Append,
    /// Edit a line of another shared memory, or of a memory that the process created
    Edit,
    /// Rename a memory that the process created
    Rename,
    /// Delete a memory that the process created
    Delete,
    /// Move a memory that the process created to another mount
    Move,
    /// Move a memory that the process created to another mount, then undo the move
    Undo,
    /// Move a memory that the process created to another mount, undo the move, then redo it
    Redo,
    /// Overwrite the file of a memory that the process created, like an external editor
    Editor,
}

/// The command line of `memdir hook` alone. A host waits for the hook at every message, and parsing all commands takes longer than many
/// hooks do. [`Args`] handles all other commands, and all errors and help texts.
#[derive(Debug, Parser)]
#[command(name = "memdir")]
struct HookArgs {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: OnlyHook,
}

#[derive(Debug, Subcommand)]
enum OnlyHook {
    Hook(Hook),
}

/// Parses the command line, and whether `--json` was given even if the rest is invalid. Help and the version are failures that
/// exit with 0.
pub(crate) fn parse() -> (bool, Result<Args, Failure>) {
    if std::env::args_os().any(|arg| arg == "hook")
        && let Ok(HookArgs { global, command: OnlyHook::Hook(hook) }) = HookArgs::try_parse()
    {
        return (global.json, Ok(Args { global, command: Some(Command::Hook(hook)) }));
    }
    match Args::try_parse() {
        Ok(args) => (args.global.json, Ok(args)),
        Err(error) if error.use_stderr() && is_hook() => {
            // The host is still writing: it must not meet a closed pipe.
            if !io::stdin().is_terminal() {
                let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
            }
            (false, Err(Failure::Hook { error, explain: explains() }))
        }
        Err(error) => {
            let error = if error.kind() == ErrorKind::DisplayHelp { formatted_help(error) } else { error };
            (std::env::args_os().any(|arg| arg == "--json"), Err(Failure::CommandLine { error }))
        }
    }
}

/// Parses the command line again with the layout of the help texts, which is not built for other commands.
fn formatted_help(error: clap::Error) -> clap::Error {
    help::command().try_get_matches().err().unwrap_or(error)
}

/// Whether the command is `hook`, even if the rest of the command line is invalid.
fn is_hook() -> bool {
    let matches = Args::command().ignore_errors(true).try_get_matches();
    matches.is_ok_and(|matches| matches.subcommand_name() == Some("hook"))
}

fn explains() -> bool {
    std::env::args_os().any(|arg| arg == "--explain")
}

#[test]
fn a_hook_is_parsed_as_by_the_parser_of_all_commands() {
    let words = |line: &'static str| ["memdir"].into_iter().chain(line.split(' '));
    for line in [
        "hook claude-code prompt",
        "--dir /tmp/hook hook codex before-tool --explain",
        "hook --json --home /tmp gemini stop --only a,b --agent-scope local",
        "--actor hook hook copilot-cli session-start --agent x",
    ] {
        let HookArgs { global, command: OnlyHook::Hook(hook) } = HookArgs::try_parse_from(words(line)).expect("a hook");
        let alone = Args { global, command: Some(Command::Hook(hook)) };
        let whole = Args::try_parse_from(words(line)).expect("a hook");
        assert_eq!(format!("{alone:?}"), format!("{whole:?}"), "{line}");
    }
    for line in [
        "search hook", "write hook --dir x", "hook claude-code", "hook claude-code nonsense", "hook --help",
        "--project x --dir y hook codex stop",
    ] {
        assert!(HookArgs::try_parse_from(words(line)).is_err(), "{line}");
    }
}
