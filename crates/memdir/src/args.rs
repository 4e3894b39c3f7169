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
    /// Print JSON, also for errors
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Name recorded in the history [env: USER, LOGNAME] [default: cli]
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) actor: Option<String>,
    /// Directory of memories, journals and settings [env: MEMDIR_HOME] [default: ~/.memdir]
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) home: Option<PathBuf>,
    /// Id of the project [env: MEMDIR_PROJECT] [default: from the current directory]
    #[arg(long, global = true, value_name = "ID", conflicts_with = "dir")]
    pub(crate) project: Option<String>,
    /// Also mount the memory of this agent as agent/NAME [env: MEMDIR_AGENT]
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Scope of the agent's memory: user, project or local
    #[arg(long, global = true, value_enum, value_name = "SCOPE", default_value_t = AgentScope::User, hide_possible_values = true)]
    pub(crate) agent_scope: AgentScope,
    /// Restrict access to these prefixes
    #[arg(long, global = true, value_name = "PREFIX", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
}

/// The scope of an agent's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentScope {
    /// All projects of the user
    #[default]
    User,
    /// This project, shared: .memdir-agents/ in its repository
    Project,
    /// This project on this machine
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

/// Create a memory directory with an entrypoint
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir init
  memdir --dir notes init
  memdir init --team             create .memdir/ in the git repository, to commit and share")]
pub(crate) struct Init {
    /// Create a team memory: .memdir/ in this git repository; with --dir, team/ in that directory
    #[arg(long)]
    pub(crate) team: bool,
}

/// Print the entrypoint, or memories by name
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir read
  memdir read notes/deploy
  memdir read notes/deploy --lines 42-56")]
pub(crate) struct Read {
    /// Names of memories; `.md` is optional [default: the entrypoint]
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Print only these lines: 42-56, 42- or 42
    #[arg(long, value_name = "RANGE", requires = "names")]
    pub(crate) lines: Option<String>,
    /// Maximum number of characters per memory
    #[arg(long, value_name = "N", default_value_t = memdir_core::internal::base::limits::READ_CHARS)]
    pub(crate) max_chars: usize,
}

/// Search memories by words and by meaning
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Query syntax: \"exact phrase\", type:feedback, path:team/, source:chat, -excluded

Exits with 1 if nothing is found; with --batch, always with 0.

Examples:
  memdir search how do we deploy
  memdir search '\"blue green\" -staging' --type project --since 2026-01-01
  memdir search deploy --explain
  memdir search deploy --why-not notes/release
  memdir search --batch questions.jsonl --json")]
pub(crate) struct Search {
    /// Words or a question (`-` for standard input)
    #[arg(required_unless_present = "batch")]
    pub(crate) query: Vec<String>,
    /// Maximum number of results, 1 to 50
    #[arg(long, value_name = "N", default_value_t = 10, allow_negative_numbers = true)]
    pub(crate) max_results: i64,
    /// Minimum score of a result, 0 to 1
    #[arg(long, value_name = "SCORE", allow_negative_numbers = true, default_value_t = memdir_core::internal::search::ranking::MIN_SCORE, value_parser = score)]
    pub(crate) min_score: f32,
    /// Search only this source
    #[arg(long, value_enum, default_value_t = SearchSource::All)]
    pub(crate) source: SearchSource,
    /// Search past conversations of all projects, not only of this one
    #[arg(long)]
    pub(crate) all_projects: bool,
    /// Search only memories of this type: user, feedback, project or reference
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<String>,
    /// Search only memories changed on or after this date, such as 2026-01-31
    #[arg(long, value_name = "DATE")]
    pub(crate) since: Option<String>,
    /// Rank dated logs lower with age: half the score after 30 days
    #[arg(long)]
    pub(crate) decay: bool,
    /// Run many queries: one JSON object with id and query per line of this file (`-` for standard input)
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
    /// All sources
    All,
    /// Memories
    Memory,
    /// Past conversations
    Chat,
    /// Other configured directories
    Custom,
    /// Candidates in the inbox
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

/// Print lines of a memory
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir get notes/deploy.md --lines 42-56
  memdir get notes/deploy.md:42-56")]
pub(crate) struct Get {
    /// Path of the memory, as printed by `memdir search`
    #[arg(value_name = "PATH")]
    pub(crate) path: String,
    /// Lines to print: 42-56, 42- or 42 [default: from the first line]
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
    /// List only names under this topic
    #[arg(value_name = "TOPIC", default_value = "", hide_default_value = true)]
    pub(crate) topic: String,
    /// List only memories of this type: user, feedback, project or reference
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<String>,
    /// List only memories verified or changed in the last DAYS days
    #[arg(long, value_name = "DAYS")]
    pub(crate) newer: Option<i64>,
    /// List only memories at least DAYS days old
    #[arg(long, value_name = "DAYS")]
    pub(crate) older: Option<i64>,
    /// List only memories of at least N bytes
    #[arg(long, value_name = "N")]
    pub(crate) min_bytes: Option<u64>,
    /// Print a tree of topics
    #[arg(long, conflicts_with = "long")]
    pub(crate) tree: bool,
    /// Print type, size, age and description
    #[arg(long, short)]
    pub(crate) long: bool,
}

/// Create, replace or append to a memory
#[derive(Debug, clap::Args)]
#[command(after_help = "\
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
    /// Fail unless the memory has this version, or a version with this prefix
    #[arg(long, value_name = "VERSION")]
    pub(crate) if_version: Option<String>,
    /// Title in the frontmatter and the entrypoint
    #[arg(long, value_name = "TITLE")]
    pub(crate) title: Option<String>,
    /// One-line description in the frontmatter and the entrypoint
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// Type of the memory: user, feedback, project or reference
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<String>,
    /// Search phrase that should find the memory; may be repeated, replaces existing cues; '' removes them
    #[arg(long = "cue", value_name = "TEXT")]
    pub(crate) cues: Vec<String>,
    /// Show the memory before a matching command; may be repeated, replaces existing tripwires
    #[arg(long, value_name = "GLOB", group = "when")]
    pub(crate) when_command: Vec<String>,
    /// Show the memory before a matching file is changed; may be repeated
    #[arg(long, value_name = "GLOB", group = "when")]
    pub(crate) when_path: Vec<String>,
    /// What the tripwire does: tell, hold, ask or deny [default: hold for commands, else tell]
    #[arg(long, value_name = "STRENGTH", requires = "when")]
    pub(crate) strength: Option<String>,
    /// Recall the memory before others
    #[arg(long)]
    pub(crate) pinned: bool,
    /// Skip this secret detection rule; for people, not for agents
    #[arg(long, value_name = "RULE", hide_short_help = true)]
    pub(crate) allow_secret: Vec<String>,
}

/// List memories without cues, and set the cues of many in one change
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
    /// Set the cues of the memories in this file: JSON, or JSON Lines (`-` for standard input)
    #[arg(long, value_name = "FILE", group = "action")]
    pub(crate) from: Option<PathBuf>,
    /// List proposed cues: searches of agents without results, made just before the memory was read
    #[arg(long, group = "action")]
    pub(crate) proposed: bool,
    /// Accept the proposed cues of this memory, or of all memories with `all`
    #[arg(long, value_name = "NAME", group = "action")]
    pub(crate) accept: Option<String>,
    /// Reject the proposed cues of this memory, or of all memories with `all`
    #[arg(long, value_name = "NAME", group = "action")]
    pub(crate) reject: Option<String>,
}

/// Edit a memory in your editor, or replace text in it
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "\
Without OLD and NEW, the memory is opened in the editor set in VISUAL or EDITOR. An editor that
returns at once needs its option to wait, such as `code --wait`. If the memory has changed when the
editor exits, or its text cannot be saved, the text is kept in a file, and the error message has
the command to continue with.

Examples:
  memdir edit notes/deploy
  memdir edit notes/deploy Tuesdays Wednesdays
  memdir edit notes/deploy --regex 'v(\\d+)\\.0' 'v$!1.1' --all
  memdir edit notes/deploy --old-file before.txt --new-file after.txt")]
pub(crate) struct Edit {
    /// Name of the memory
    pub(crate) name: String,
    /// Text to replace (`-` for standard input); must occur exactly once unless --all
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
    /// Treat OLD as a regular expression with look-around; $!1 in NEW is the first group
    #[arg(long, requires = "replacement")]
    pub(crate) regex: bool,
    /// Replace all occurrences
    #[arg(long, requires = "replacement")]
    pub(crate) all: bool,
    /// Edit this text in the editor, such as one that could not be saved, instead of the memory's text
    #[arg(long, value_name = "FILE", conflicts_with_all = ["original", "replacement"])]
    pub(crate) draft: Option<PathBuf>,
    /// Fail unless the memory has this version, or a version with this prefix
    #[arg(long, value_name = "VERSION")]
    pub(crate) if_version: Option<String>,
    /// Skip this secret detection rule; for people, not for agents
    #[arg(long, value_name = "RULE", hide_short_help = true)]
    pub(crate) allow_secret: Vec<String>,
}

/// Rename memories and update the references to them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A name that ends with `/` is a topic. All memories are renamed in one change, or none.

Examples:
  memdir rename notes/deploy howto/deploy
  memdir rename deploy release rollback howto/
  memdir rename notes/ archive/notes/")]
pub(crate) struct Rename {
    /// Current names, or one topic
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
deleted, in one change, or none are. Deleting a topic asks first.

Examples:
  memdir delete notes/deploy
  memdir delete notes/deploy notes/release
  memdir delete notes/ --yes
  memdir undo")]
pub(crate) struct Delete {
    /// Names of memories and topics
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,
    /// Delete topics without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Fail unless the memory has this version, or a version with this prefix
    #[arg(long, value_name = "VERSION")]
    pub(crate) if_version: Option<String>,
}

/// Forget a fact everywhere: memories, history, conversations, index, caches
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The words match in upper and lower case, in every Unicode form, across line
breaks, and in names with hyphens. Everything that will be removed is listed
first. Afterwards every file is read again. This is the only change that cannot
be undone.

Examples:
  memdir forget 'maple street 12'
  memdir forget --dry-run 'maple street 12'
  memdir forget --yes --json - < words.txt")]
pub(crate) struct Forget {
    /// Words of the fact (`-` for standard input)
    #[arg(value_name = "WORDS", required = true)]
    pub(crate) words: Vec<String>,
    /// List what would be removed, and remove nothing
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
    /// Forget without asking
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
    /// Id of the change, as printed by `memdir history` [default: the last change made by you or outside memdir]
    pub(crate) id: Option<String>,
}

/// Redo an undone change
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir redo
  memdir redo 7kq2m9xa")]
pub(crate) struct Redo {
    /// Id of the undone change, or of its undo [default: your last undo]
    pub(crate) id: Option<String>,
}

/// Show the history of changes, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir history
  memdir history notes/deploy --limit 5")]
pub(crate) struct History {
    /// Show only changes of this memory, with its versions
    pub(crate) name: Option<String>,
    /// Maximum number of changes; 0 for all
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
    /// Version, as printed by `memdir history NAME`
    pub(crate) version: String,
}

/// Check that the entrypoint lists every memory
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir entrypoint
  memdir entrypoint --repair")]
pub(crate) struct Entrypoint {
    /// Add missing lines, and remove those of missing files
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
    /// Show how far the logs were distilled into memories, and when the next distillation is due
    #[arg(long, conflicts_with = "text")]
    pub(crate) status: bool,
    /// Prefix of the mount to log to
    #[arg(long = "in", value_name = "PREFIX", default_value = "", hide_default_value = true)]
    pub(crate) prefix: String,
}

/// Tidy the memory: make a plan, read and edit it, apply it, undo it as a whole
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without options, looks for duplicates, contradictions, outdated facts, relative
dates, overlong and empty memories, a full entrypoint and facts in daily logs,
and keeps the proposals as one Markdown file. Nothing is changed before that
file is applied. No model is used.

Examples:
  memdir dream
  memdir dream --apply latest
  memdir dream --status
  memdir dream --logs                    plan only how finished days of the log become memories
  memdir dream --with claude             show what would be sent to Claude Code, and its size
  memdir dream --with claude --yes       let its model propose operations, as a plan
  memdir dream --auto on                 make a plan at the end of a session when one is due")]
#[command(group(clap::ArgGroup::new("dream_action")))]
pub(crate) struct Dream {
    /// Apply this plan as one change; `latest` is the newest plan that was not applied
    #[arg(long, value_name = "PLAN", group = "dream_action")]
    pub(crate) apply: Option<PathBuf>,
    /// With --apply: the share of memories and bytes that the plan may change, in percent [default: 25]
    #[arg(long, value_name = "PERCENT", requires = "apply", value_parser = clap::value_parser!(u64).range(1..=100))]
    pub(crate) limit: Option<u64>,
    /// Plan only how finished days of the daily logs become memories
    #[arg(long, conflicts_with = "dream_action")]
    pub(crate) logs: bool,
    /// Show the kept plans, what was applied, and when the next automatic plan is due
    #[arg(long, group = "dream_action")]
    pub(crate) status: bool,
    /// Print the instructions and the memories for a model, in pieces
    #[arg(long, group = "dream_action")]
    pub(crate) prompt: bool,
    /// With --prompt: the piece to print
    #[arg(long, value_name = "N", requires = "prompt")]
    pub(crate) piece: Option<usize>,
    /// Make a plan from the operations that a model returned as JSON (`-` for standard input)
    #[arg(long, value_name = "FILE", group = "dream_action")]
    pub(crate) operations: Option<PathBuf>,
    /// Let the model of this agent program propose operations; without --yes, only show the command and the size
    #[arg(long, value_name = "HOST", group = "dream_action")]
    pub(crate) with: Option<DreamHost>,
    /// With --with: start the program
    #[arg(long, requires = "with")]
    pub(crate) yes: bool,
    /// Turn automatic plans at the end of sessions on or off
    #[arg(long, value_name = "on|off", group = "dream_action", value_parser = ["on", "off"])]
    pub(crate) auto: Option<String>,
    /// Write the plan to this file instead of keeping it below MEMDIR_HOME
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

/// Check the references of a memory and mark it as verified today
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Looks up paths, commands, symbols and commits in this project, and follows
sources through its git history. Commands in the memory are not run.

Examples:
  memdir verify notes/deploy")]
pub(crate) struct Verify {
    /// Name of the memory
    pub(crate) name: String,
    /// Mark the memory as verified even if references are missing
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
    /// Add missing entrypoint lines, and remove those of missing files
    #[arg(long)]
    pub(crate) fix: bool,
    /// Treat suggestions as errors; with --diff, fail if a memory may be outdated
    #[arg(long)]
    pub(crate) strict: bool,
    /// Check a range of commits instead: which memories may be outdated, and which rules concern the changed files
    #[arg(long, value_name = "BASE..HEAD", conflicts_with = "fix")]
    pub(crate) diff: Option<String>,
    /// Output format of --diff
    #[arg(long, value_enum, default_value_t = CheckFormat::Text, requires = "diff")]
    pub(crate) format: CheckFormat,
}

/// The output formats of `memdir check --diff`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CheckFormat {
    /// Lines for a terminal
    Text,
    /// A comment for a pull request
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

/// Select the memories relevant to a message, or the tripwires of an action
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
    /// Text of the message (`-` for standard input)
    #[arg(required_unless_present = "action")]
    pub(crate) text: Vec<String>,
    /// Maximum number of tokens
    #[arg(long, value_name = "TOKENS", default_value_t = memdir_core::internal::base::limits::RECALL_TOKENS)]
    pub(crate) budget: usize,
    /// Maximum number of memories
    #[arg(long = "limit", alias = "most", value_name = "N", default_value_t = memdir_core::internal::base::limits::RECALL_MEMORIES)]
    pub(crate) limit: usize,
    /// Exclude these memories, which the conversation has already seen
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) shown: Vec<String>,
    /// Exclude documentation of these tools, which are already in use
    #[arg(long, value_name = "TOOL", value_delimiter = ',')]
    pub(crate) in_use: Vec<String>,
    /// Show how each memory scores instead of recalling it
    #[arg(long, conflicts_with = "action")]
    pub(crate) explain: bool,
    /// Show how one memory scores, and why it is not recalled
    #[arg(long, value_name = "NAME", conflicts_with = "action")]
    pub(crate) why_not: Option<String>,
    /// Select memories whose tripwire (`when:`) matches an action
    #[arg(long)]
    pub(crate) action: bool,
    /// Name of the tool the action uses
    #[arg(long, value_name = "TOOL", requires = "action")]
    pub(crate) tool: Option<String>,
    /// Command line of the action
    #[arg(long, value_name = "COMMAND", requires = "action", allow_hyphen_values = true)]
    pub(crate) command: Option<String>,
    /// File that the action reads or writes
    #[arg(long, value_name = "PATH", requires = "action")]
    pub(crate) path: Vec<PathBuf>,
}

/// Run past conversations against today's memory
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Shows what would be recalled for each of your messages, and which rules would
fire at each tool call. Reads archived conversations (`memdir chats on`),
changes nothing, and gives the same result for the same conversations and
memories.

Examples:
  memdir replay
  memdir replay --since 2w --explain
  memdir replay --all-projects --json")]
pub(crate) struct Replay {
    /// Replay only conversations updated since then: a period such as 90d or 12w, or a date
    #[arg(long, value_name = "WHEN", default_value = "90d")]
    pub(crate) since: String,
    /// Include the conversations of other projects
    #[arg(long)]
    pub(crate) all_projects: bool,
    /// Show each message that recalls something, and each tool call at which a rule fires
    #[arg(long)]
    pub(crate) explain: bool,
}

/// List the rules (`when:`) of memories; accept or reject them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A rule tells, holds, asks or denies (`strength:`). Rules that ask or deny hold
until you accept their text. A rule that you reject has no effect. If the text
changes, the decision no longer applies.

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
    /// List the rules, what they do, and where they apply
    #[command(after_help = "\
Examples:
  memdir rules list --json")]
    List,
    /// Accept the current text of a rule, so that it can ask or deny
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
/// memdir proposes memories (candidates) from what happened in conversations: you asked the agent to remember something,
/// rejected an action, or said the same thing again. Nothing is a memory before you or the agent accepts it. A candidate that was accepted or
/// rejected is never proposed again.
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
    /// Include rejected candidates
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum InboxWhat {
    /// Show a candidate with its evidence
    #[command(after_help = "\
Examples:
  memdir inbox show feedback/no-force-push")]
    Show(InboxShow),
    /// Save a candidate as a memory
    #[command(after_help = "\
Examples:
  memdir inbox accept feedback/no-force-push
  memdir inbox accept feedback/no-force-push --as rules/push --edit")]
    Accept(InboxAccept),
    /// Add the text of a candidate to an existing memory
    #[command(after_help = "\
Examples:
  memdir inbox merge feedback/no-force-push rules/git")]
    Merge(InboxMerge),
    /// Reject candidates; they are never proposed again
    #[command(after_help = "\
Examples:
  memdir inbox reject feedback/no-force-push
  memdir inbox reject --all")]
    Reject(InboxReject),
    /// Go through the candidates one by one and decide with single keys
    #[command(after_help = "\
Examples:
  memdir inbox review")]
    Review,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InboxShow {
    /// Name of the candidate, with or without `inbox/`
    pub(crate) candidate: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InboxAccept {
    /// Names of the candidates, with or without `inbox/`
    #[arg(value_name = "CANDIDATE", required_unless_present = "all")]
    pub(crate) candidates: Vec<String>,
    /// Name of the memory [default: the proposed one]
    #[arg(long = "as", value_name = "NAME", conflicts_with = "all")]
    pub(crate) new_name: Option<String>,
    /// Open the memory in the editor afterwards
    #[arg(long, conflicts_with = "all")]
    pub(crate) edit: bool,
    /// Accept every candidate that proposes a new memory
    #[arg(long, conflicts_with = "candidates")]
    pub(crate) all: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InboxMerge {
    /// Name of the candidate, with or without `inbox/`
    pub(crate) candidate: String,
    /// Name of the memory to add the text to
    #[arg(value_name = "INTO")]
    pub(crate) name: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InboxReject {
    /// Names of the candidates, with or without `inbox/`
    #[arg(value_name = "CANDIDATE", required_unless_present = "all")]
    pub(crate) candidates: Vec<String>,
    /// Reject every candidate
    #[arg(long, conflicts_with = "candidates")]
    pub(crate) all: bool,
}

/// Print the memory section of a system prompt
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir prompt
  memdir prompt team --no-entrypoint
  memdir prompt agent --agent reviewer --agent-scope project")]
pub(crate) struct Prompt {
    /// Kind of prompt [default: log if enabled, else team if there is one, else individual]
    #[arg(value_enum)]
    pub(crate) mode: Option<PromptMode>,
    /// Omit the text of the entrypoint, for hosts that load it themselves
    #[arg(long)]
    pub(crate) no_entrypoint: bool,
    /// Omit the entrypoint and its instructions
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
    /// Transcript directory of the host, for --search grep and shell
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
    /// The memory of the agent in --agent
    Agent,
}

/// The search tool of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchWith {
    /// memdir search
    Memdir,
    /// The host's Grep tool
    Grep,
    /// grep in a shell
    Shell,
}

/// Show which memories are in effect here, and why
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir where
  memdir where --json")]
pub(crate) struct Where {}

/// Show the mounts, the number of memories and the last change
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The same as `memdir` without a command.

Examples:
  memdir status
  memdir status --json")]
pub(crate) struct Status {}

/// List projects; adopt, merge or rename their memories
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
    /// Use the memory of another project in this one
    #[command(after_help = "\
Examples:
  memdir projects adopt shop-1a2b3c4d5e
  memdir projects adopt                    use the project's own memory again")]
    Adopt {
        /// Id of the project whose memory to use [default: this project]
        id: Option<String>,
    },
    /// Move all memories of one project to another
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
        /// Current id
        from: String,
        /// New id
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
    /// Search only conversations of this host
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Run the command of the best match instead of printing it
    #[arg(long)]
    pub(crate) run: bool,
}

/// List, import and export past conversations with agents
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
No conversations are read until `memdir chats on`.

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
    /// Maximum number of conversations; 0 for all
    #[arg(long = "limit", alias = "most", value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
}

/// A filter of conversations.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct ChatFilter {
    /// Only conversations from this host, such as claude-code
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Only conversations in this directory tree, or in the project with this id
    #[arg(long, value_name = "DIR|ID", alias = "project-dir")]
    pub(crate) project: Option<String>,
    /// Only conversations updated on or after this date, such as 2026-01-15
    #[arg(long, value_name = "DATE")]
    pub(crate) since: Option<String>,
    /// Only conversations last updated before this date
    #[arg(long, value_name = "DATE")]
    pub(crate) before: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ChatsWhat {
    Show(ChatsShow),
    Sync(ChatsSync),
    /// Enable the import of conversations, for all hosts and projects or for one
    On(ChatsSwitch),
    /// Disable the import of conversations, for all hosts and projects or for one
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
    /// Id of the conversation, or a prefix of it
    pub(crate) session: String,
    /// Print only these lines: 42-56, 42- or 42
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

/// Enable or disable the import of conversations
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir chats on
  memdir chats off --host cursor
  memdir chats off --project ~/private")]
pub(crate) struct ChatsSwitch {
    /// Only conversations of this host
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Only conversations in this directory tree, or in the project with this id
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
    /// Id of the conversation, or a prefix of it
    pub(crate) session: Option<String>,
    /// Forget conversations in this directory tree, or in the project with this id
    #[arg(long, value_name = "DIR|ID", alias = "project-dir", conflicts_with = "session")]
    pub(crate) project: Option<String>,
    /// Forget messages before this date
    #[arg(long, value_name = "DATE", conflicts_with = "session")]
    pub(crate) before: Option<String>,
}

/// Print conversations as Markdown, or as JSON with --json
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir chats export 1af7fc5e > login.md
  memdir chats export --project . --json > chats.json")]
pub(crate) struct ChatsExport {
    /// Ids of conversations, or prefixes of them [default: all that match the filters]
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
        /// Owner of the token; with --agent, the person that the agent acts for
        person: String,
        /// Ids of the projects that the token gives access to
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
        /// Id of the token, as printed by `memdir token list`
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
    /// Show how many tokens a session costs in each host, before the first message
    #[arg(long, conflicts_with = "loads")]
    pub(crate) cost: bool,
    /// Show how often the prompt was loaded, and its size
    #[arg(long)]
    pub(crate) loads: bool,
    /// Show how often each memory is used, and what its line in the entrypoint costs
    #[arg(long = "use", conflicts_with_all = ["cost", "loads"])]
    pub(crate) uses: bool,
}

/// Serve memories over the Model Context Protocol
#[derive(Debug, clap::Args)]
#[command(after_help = "\
HTTP on a public address requires a token: use --token-file or MEMDIR_TOKEN. For TLS, put a reverse proxy in front.

Examples:
  memdir mcp
  memdir mcp --read-only --without memory_stats
  memdir mcp --dialect serena
  memdir mcp --http 127.0.0.1:7337
  memdir mcp --http 127.0.0.1:7337 --host memory.example.org --page")]
pub(crate) struct Mcp {
    /// Serve HTTP on this address instead of standard input and output: MCP at the path /mcp, REST below /v1
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) http: Option<std::net::SocketAddr>,
    /// Serve the tools of another memory system on its directory; see `memdir dialects`
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) dialect: Vec<String>,
    /// Serve only these tools
    #[arg(long, value_name = "TOOL", value_delimiter = ',')]
    pub(crate) tools: Vec<String>,
    /// Do not serve these tools
    #[arg(long, value_name = "TOOL", value_delimiter = ',')]
    pub(crate) without: Vec<String>,
    /// Serve only tools that do not write
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Send brief instructions, for hosts whose session hook provides the memory section (set by `memdir install`)
    #[arg(long, conflicts_with = "http")]
    pub(crate) session_hook: bool,
    /// File with the bearer token of HTTP clients [env: MEMDIR_TOKEN]
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(crate) token_file: Option<PathBuf>,
    /// Additional host name to accept in the Host header
    #[arg(long, value_name = "NAME", value_delimiter = ',', requires = "http")]
    pub(crate) host: Vec<String>,
    /// Origin of browser pages to accept, such as `https://example.org`
    #[arg(long, value_name = "URL", value_delimiter = ',', requires = "http")]
    pub(crate) origin: Vec<String>,
    /// Also serve the page for people, at the path /ui; they sign in with a token or an identity provider
    #[arg(long, requires = "http")]
    pub(crate) page: bool,
    /// Log every HTTP request to standard error, as a line of JSON without names, texts and tokens
    #[arg(long, requires = "http")]
    pub(crate) log_requests: bool,
}

/// Serve the memories of a team from a PostgreSQL database
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Any number of replicas may serve one database. For TLS, put a reverse proxy in front. People, groups, projects and
tokens are managed with `memdir admin`. The path /readyz reports whether the database can be reached.

Examples:
  DATABASE_URL=postgres://memdir@db/memdir memdir serve
  memdir serve --database postgres:///memdir --http 0.0.0.0:7337 --host memory.example.org")]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    /// Address to serve HTTP on: MCP at the path /mcp, REST below /v1, the page for people at /ui
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7337")]
    pub(crate) http: std::net::SocketAddr,
    /// Memory in MiB for open search indexes; above it, the least recently used are closed
    #[arg(long, value_name = "MIB", default_value_t = 256)]
    pub(crate) index_memory: u64,
    /// Maximum number of database connections for changes; reads have as many of their own, token checks a quarter
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub(crate) connections: usize,
    /// Serve only these tools
    #[arg(long, value_name = "TOOL", value_delimiter = ',')]
    pub(crate) tools: Vec<String>,
    /// Do not serve these tools
    #[arg(long, value_name = "TOOL", value_delimiter = ',')]
    pub(crate) without: Vec<String>,
    /// Serve only tools that do not write
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Additional host name to accept in the Host header
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) host: Vec<String>,
    /// Origin of browser pages to accept, such as `https://example.org`
    #[arg(long, value_name = "URL", value_delimiter = ',')]
    pub(crate) origin: Vec<String>,
    /// Log every HTTP request to standard error, as a line of JSON without names, texts and tokens
    #[arg(long)]
    pub(crate) log_requests: bool,
    /// Seconds to keep answering after SIGTERM, while /readyz reports 503 so that a proxy uses another replica
    #[arg(long, value_name = "SECONDS", default_value_t = 3)]
    pub(crate) leave_after: u64,
}

/// The database of a team server.
#[derive(Debug, clap::Args)]
pub(crate) struct DatabaseArgs {
    /// URL of the PostgreSQL database [env: DATABASE_URL]
    #[arg(long, value_name = "URL", global = true)]
    pub(crate) database: Option<String>,
    /// PEM file of certificate authorities for sslmode=require [default: public authorities]
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) database_ca: Option<PathBuf>,
}

/// Manage the database, tenants, people and tokens of a team server
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A tenant has people, groups and projects. A project belongs to a group. A person's role in the group (reader,
writer, reviewer, admin) applies to all its projects. All commands need the URL of the database.

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
    /// Create or upgrade the schema of the database
    #[command(after_help = "\
Examples:
  memdir admin migrate --database postgres:///memdir")]
    Migrate {
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// Add, list and remove tenants: organizations with separate data
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
    /// Add, list and remove the people of a tenant
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
    /// Add, list and remove the tokens of people
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
    /// Require review of changes by writers and agents, or stop requiring it
    #[command(after_help = "\
Reviewers and admins of the group change its memories at once; a token with --agent never does. Open proposals remain
after review is turned off, and can still be accepted or rejected.

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
    /// Show what a tenant uses, or set its quotas
    #[command(after_help = "\
Without options, shows the quotas and the current use. A tenant over its quota keeps what it has, but cannot grow.

Examples:
  memdir admin quota --tenant acme
  memdir admin quota --memories 10000 --bytes 100000000 --tenant acme
  memdir admin quota --memories none --tenant acme")]
    Quota {
        /// Maximum number of files, or `none`
        #[arg(long, value_name = "N")]
        memories: Option<String>,
        /// Maximum size of all files in bytes, or `none`
        #[arg(long, value_name = "N")]
        bytes: Option<String>,
        #[command(flatten)]
        tenant: TenantArgs,
    },
    /// Show who changed people, groups, projects, tokens and quotas
    #[command(after_help = "\
The log has names and roles, never texts of memories or tokens. Changes of memories are in their history.

Examples:
  memdir admin audit --tenant acme
  memdir admin audit --limit 1000 --json --tenant acme")]
    Audit {
        /// Maximum number of entries, newest first
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
        #[command(flatten)]
        tenant: TenantArgs,
    },
    /// Erase a person: their memories, versions, tokens and roles
    #[command(after_help = "\
In shared memories, the changes of the person stay, under another actor name. Without --yes, the command only
reports what would be erased. The receipt does not contain the name. Backups are not covered. Replicas remove
their search indexes of the person within ten minutes.

Examples:
  memdir admin erase-person ada --tenant acme
  memdir admin erase-person ada --yes --json --tenant acme > receipt.json")]
    ErasePerson {
        /// Name of the person
        person: String,
        /// Erase permanently; without it, only report what would be erased
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        tenant: TenantArgs,
    },
    /// Export a tenant to a file: people, hashes of tokens, memories, versions and history
    #[command(after_help = "\
Examples:
  memdir admin export acme.jsonl --tenant acme")]
    Export {
        /// New file to write
        file: PathBuf,
        #[command(flatten)]
        tenant: TenantArgs,
    },
    /// Create a tenant from a file of `memdir admin export`
    #[command(after_help = "\
The tenant must not exist. Its tokens stay valid only if it keeps its name.

Examples:
  memdir admin import acme.jsonl --tenant acme")]
    Import {
        /// File to read
        file: PathBuf,
        #[command(flatten)]
        tenant: TenantArgs,
    },
    /// Rebuild the search indexes of a tenant on this machine
    #[command(after_help = "\
Each replica has indexes of its own below its cache directory: run this on each
machine, as the user of the replica. Replicas can keep running. Indexes of
namespaces that no longer exist are removed, in all tenants.

Examples:
  memdir admin reindex --tenant acme
  memdir admin reindex --namespace projects/shop --tenant acme")]
    Reindex {
        /// Rebuild only this namespace, such as `projects/shop` or `people/ada`
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
In a project or group under review, changes by writers and agents are proposals. A reviewer or admin of the group
accepts or rejects them. The author sees them too, and can withdraw them. Use a person's token; a token with --agent
cannot accept or reject.

Examples:
  memdir review list --server https://memory.example.org --token-file token
  memdir review show 8z38z4zp --server https://memory.example.org
  memdir review accept 8z38z4zp --server https://memory.example.org
  memdir review reject 8z38z4zp --reason \"already in notes/deploy\" --server https://memory.example.org")]
pub(crate) struct Review {
    #[command(subcommand)]
    pub(crate) what: ReviewWhat,
    /// URL of the team server
    #[arg(long, value_name = "URL", global = true)]
    pub(crate) server: Option<String>,
    /// File with the token of the team server; `-` to type it [env: MEMDIR_TEAM_TOKEN]
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) token_file: Option<PathBuf>,
    /// Only this project on the team server [default: all projects of the token]
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
        /// Only proposals in this state: open, accepted, rejected, withdrawn or all
        #[arg(long, value_name = "STATE", value_enum, default_value_t = ReviewState::Open)]
        state: ReviewState,
    },
    /// Show a proposal with its diff
    #[command(after_help = "\
Examples:
  memdir review show 8z38z4zp --server https://memory.example.org")]
    Show {
        /// Id of the proposal
        id: String,
    },
    /// Accept a proposal and apply its change on behalf of the author
    #[command(after_help = "\
Examples:
  memdir review accept 8z38z4zp --server https://memory.example.org")]
    Accept {
        /// Id of the proposal
        id: String,
    },
    /// Reject a proposal
    #[command(after_help = "\
Examples:
  memdir review reject 8z38z4zp --reason \"already in notes/deploy\" --server https://memory.example.org")]
    Reject {
        /// Id of the proposal
        id: String,
        /// Reason, shown to the author
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Withdraw one of your own proposals
    #[command(after_help = "\
Examples:
  memdir review withdraw 8z38z4zp --server https://memory.example.org")]
    Withdraw {
        /// Id of the proposal
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
    /// Name of the tenant
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
        /// Also remove its memories and their history, permanently
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
    /// Remove a person
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
        /// Role of the people: reader, writer, reviewer or admin
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
        /// People to remove from the group [default: the group is removed]
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
        /// Id of the project
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
    /// Remove a project; its memories stay
    #[command(after_help = "\
Examples:
  memdir admin project remove shop --tenant acme")]
    Remove {
        /// Id of the project
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
        /// Project or group: projects/PROJECT, or groups/GROUP for the group's `team/`
        #[arg(value_name = "NAMESPACE")]
        namespace: String,
    },
    /// Turn review off
    #[command(after_help = "\
Examples:
  memdir admin review off groups/backend --tenant acme")]
    Off {
        /// Project or group: projects/PROJECT, or groups/GROUP for the group's `team/`
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
    /// Create a token and print it; with --agent, for an agent that acts for the person
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
        /// Id of the token, as printed by `memdir admin token list`
        id: String,
    },
}

/// Open a page in the browser to see, search and correct memories
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The page is served on 127.0.0.1 only. The printed URL works once, for a minute; the browser then has a session.

Examples:
  memdir ui
  memdir ui --no-open --port 7338
  memdir ui --no-open --json")]
pub(crate) struct Ui {
    /// Port on 127.0.0.1 [default: a free port]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
    /// Do not start a browser
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Stop after this time without a request; 0 for never
    #[arg(long, value_name = "MINUTES", default_value_t = 60)]
    pub(crate) idle: u32,
}

/// Export memories as one self-contained HTML file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The file needs no server and loads nothing. Secrets are redacted. Only the
memories of the project and the team are in it; other mounts, such as user/,
are left out unless they are named.

Examples:
  memdir view -o memory.html
  memdir view -o memory.html --include user")]
pub(crate) struct View {
    /// File to write (`-` for standard output)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Prefixes of other mounts to include
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

/// Show the settings and where they come from, or change them
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
        /// Key, such as chats.keep_days; `memdir config` lists them
        key: String,
        /// Value; several for a list
        #[arg(value_name = "VALUE", required = true, allow_negative_numbers = true)]
        values: Vec<String>,
    },
    /// Remove a key from config.toml, so that its default applies
    #[command(after_help = "\
Examples:
  memdir config unset chats.keep_days")]
    Unset {
        /// Key, such as chats.keep_days
        key: String,
    },
    /// Edit config.toml in your editor
    #[command(after_help = "\
Opens the file in the editor set in VISUAL or EDITOR. The file is not changed if the result would be invalid.

Examples:
  memdir config edit")]
    Edit {
        /// Edit this text, such as one that could not be saved, instead of the file's text
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
    /// Do not ask; without HOST, install in all hosts on this machine
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Import past conversations from now on, like `memdir chats on`
    #[arg(long)]
    pub(crate) chats: bool,
    /// Print the changes without making them
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Install for all projects of the user, or for this project
    #[arg(long, value_enum, default_value_t = Scope::User)]
    pub(crate) scope: Scope,
    /// Install only the tools
    #[arg(long)]
    pub(crate) no_hooks: bool,
    /// What to do about the host's own memory [default: ask; without a terminal, nothing]
    #[arg(long, value_enum, value_name = "CHOICE")]
    pub(crate) auto_memory: Option<MemoryChoice>,
    /// Connect HOST to this team server, beside memdir's own server; without a token option, you sign in from the host
    #[arg(long, value_name = "URL", requires = "hosts", conflicts_with_all = ["chats", "no_hooks", "auto_memory"])]
    pub(crate) server: Option<String>,
    /// File with the token of the team server, which is copied into the host's settings; `-` to type it
    #[arg(long, value_name = "FILE", requires = "server")]
    pub(crate) token_file: Option<PathBuf>,
    /// Environment variable from which the host reads the token of the team server
    #[arg(long, value_name = "NAME", requires = "server", conflicts_with = "token_file")]
    pub(crate) token_env: Option<String>,
}

/// Run the hook of an agent program: JSON on standard input and output
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
    /// Event of the hook
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
    /// Hosts to check [default: all installed]
    #[arg(value_name = "HOST", value_parser = hosts::parser())]
    pub(crate) hosts: Vec<&'static Host>,
    /// Reinstall what does not work, and repair journals
    #[arg(long)]
    pub(crate) fix: bool,
}

/// Mount the memories of other programs in place
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir adopt                       list the memories on this machine
  memdir adopt claude serena
  memdir adopt codex --read-write
  memdir adopt codex --undo          remove the mount again
  memdir adopt --as-auto-memory      use one directory for memdir and Claude Code
  memdir adopt --to-codex            copy memories to Codex's own memory")]
pub(crate) struct Adopt {
    /// Names of the memories, as printed by `memdir adopt`
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Allow memdir to write to them
    #[arg(long)]
    pub(crate) read_write: bool,
    /// Remove their mounts; their files stay
    #[arg(long, requires = "names", conflicts_with = "read_write")]
    pub(crate) undo: bool,
    /// Make Claude Code use memdir's directory as its own memory
    #[arg(long, conflicts_with_all = ["names", "read_write"])]
    pub(crate) as_auto_memory: bool,
    /// Write memories to the directory that Codex imports memories from
    #[arg(long, conflicts_with_all = ["names", "read_write", "as_auto_memory"])]
    pub(crate) to_codex: bool,
    /// With --as-auto-memory: the user's memory, or the memory of this project
    #[arg(long, value_enum, default_value_t = Scope::User, requires = "as_auto_memory")]
    pub(crate) scope: Scope,
    /// Print the changes without making them
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Export memories as one file, or copy them to or from a team server
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir export > memories.md
  memdir export notes --format json --out notes.json
  memdir export user --to-server https://memory.example.org --token-file token
  memdir export --from-server https://memory.example.org --dry-run")]
pub(crate) struct Export {
    /// Export only names under this topic
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
    /// Copy the memories to this team server; a memory that differs there is kept
    #[arg(long, value_name = "URL", conflicts_with_all = ["format", "out", "from_server"])]
    pub(crate) to_server: Option<String>,
    /// Copy the memories of this team server to this machine; a memory that differs here is kept
    #[arg(long, value_name = "URL", conflicts_with_all = ["format", "out"])]
    pub(crate) from_server: Option<String>,
    /// File with the token of the team server; `-` to type it [env: MEMDIR_TEAM_TOKEN]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Project on the team server, if the token gives access to several
    #[arg(long, value_name = "ID")]
    pub(crate) server_project: Option<String>,
    /// Print what would be copied without copying it
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
Formats: files of `memdir export`, directories of Markdown, the JSONL graph of
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
    /// Files and directories (`-` for standard input), or a program and its files
    #[arg(value_name = "FROM", required = true)]
    pub(crate) from: Vec<PathBuf>,
    /// Import only this project of claude-mem; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) from_project: Vec<String>,
    /// Topic or mount to import into
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

/// Print the completions of a command line, for the scripts of `memdir completions`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir complete -- memdir read no")]
pub(crate) struct Complete {
    /// Words of the command line, up to the one to complete
    #[arg(value_name = "WORD", allow_hyphen_values = true, trailing_var_arg = true)]
    pub(crate) words: Vec<String>,
}

/// Print the help of memdir or of a command
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir help
  memdir help write
  memdir help chats sync")]
pub(crate) struct Help {
    /// Command, such as write or chats sync
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

/// Stress-test several mounts with concurrent and killed processes, then audit every change
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
    /// Number of changes per process
    #[arg(long, value_name = "M", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(crate) changes: u64,
    /// Number of times to kill (SIGKILL) and restart a process at a random moment
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub(crate) kill: u64,
    /// Kinds of changes that each process makes in rotation
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["save", "append", "edit", "rename", "delete", "move", "undo", "redo", "editor"])]
    pub(crate) mix: Vec<ChangeKind>,
    /// Seed of the random number generator
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

/// Benchmark reads, writes and searches through the REST API
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Memories are generated in a temporary directory, or in --dir, which must be
empty and is kept. The same requests go to the library, to a server on these
files and, with --server, to another server: its memories below bench/ and
topic-… are created and deleted.

Examples:
  memdir bench serve
  memdir bench serve --clients 1,16 --requests 2000
  memdir bench serve --server https://memory.example.org --token-file token")]
pub(crate) struct BenchServe {
    /// Number of memories
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    pub(crate) files: u32,
    /// Number of requests of each kind
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(10..=1_000_000))]
    pub(crate) requests: u32,
    /// Numbers of concurrent clients
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [1, 4, 16], value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) clients: Vec<u32>,
    /// URL of another server to measure too
    #[arg(long, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// File with the bearer token of that server
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

/// Benchmark the indexing of generated memories
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir bench index
  memdir bench index --files 1000")]
pub(crate) struct BenchIndex {
    /// Number of memories
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    pub(crate) files: u32,
}

/// Benchmark recalls from generated memories
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Memories are generated in a temporary directory, or in --dir, which must be
empty and is kept. The hook of a message is measured in a new process and
compared with /bin/true.

Examples:
  memdir bench recall
  memdir bench recall --files 100")]
pub(crate) struct BenchRecall {
    /// Number of memories
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    pub(crate) files: u32,
    /// Number of messages of each length
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    pub(crate) messages: u32,
}

/// Benchmark plans of `memdir dream` for generated memories
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

/// Measure how well recall and rules find planted facts in generated conversations
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Plants facts and rules as memories, generates conversations that need some of
them, imports these and replays them. The same seed gives the same numbers on
every machine. With --dir, files are created in that directory and kept; it
must be empty.

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
    /// Seed of the generator
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

/// Run one process of `bench torture`
#[derive(Debug, clap::Args)]
pub(crate) struct TortureWorker {
    /// Directory of the run
    #[arg(long)]
    pub(crate) work: PathBuf,
    /// Number of the process
    #[arg(long)]
    pub(crate) number: u32,
    /// Number of the last change
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
    /// Append a line to a memory that all processes share
    Append,
    /// Edit a line of another shared memory, or one of its own memories
    Edit,
    /// Rename one of its own memories
    Rename,
    /// Delete one of its own memories
    Delete,
    /// Move one of its own memories to another mount
    Move,
    /// Move one of its own memories to another mount and undo that
    Undo,
    /// Move one of its own memories to another mount, undo that and redo it
    Redo,
    /// Overwrite the file of one of its own memories, like an external editor
    Editor,
}

/// The command line of `memdir hook` alone. A host waits for it at every message, and the parser of all commands takes longer than many
/// a hook. Everything else, and every error and help text, is left to [`Args`].
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
