//! What was typed, with the help beside it. Decides nothing: what it means is `wire.rs` and the commands.

use crate::{
    exit::{self, Failure},
    hosts::{self, HookEvent as Event, Host, InstallScope as Scope},
};
use clap::{CommandFactory as _, Parser, Subcommand, ValueEnum};
use std::{
    io::{self, IsTerminal as _},
    path::PathBuf,
};

/// A memory for AI agents and people that lasts: plain Markdown files in a directory.
#[derive(Debug, Parser)]
#[command(name = "memdir", version, disable_help_subcommand = true, after_help = exit::HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Global {
    /// This directory is the whole memory (also MEMDIR_DIR)
    #[arg(long, global = true, value_name = "PATH", help_heading = "Options of every command")]
    pub(crate) dir: Option<PathBuf>,
    /// Answer in JSON, errors too
    #[arg(long, global = true, help_heading = "Options of every command")]
    pub(crate) json: bool,
    /// Who makes the change, in the history; without it your login name
    #[arg(long, global = true, value_name = "NAME", hide_short_help = true, help_heading = "Options of every command")]
    pub(crate) actor: Option<String>,
    /// Where memdir keeps everything that is not in a project (also MEMDIR_HOME); without it ~/.memdir
    #[arg(long, global = true, value_name = "PATH", hide_short_help = true)]
    pub(crate) home: Option<PathBuf>,
    /// The project whose memory it is, by its id (also MEMDIR_PROJECT); without it the one of this directory
    #[arg(long, global = true, value_name = "ID", conflicts_with = "dir", hide_short_help = true)]
    pub(crate) project: Option<String>,
    /// The agent whose own memory is open too, as agent/NAME (also MEMDIR_AGENT)
    #[arg(long, global = true, value_name = "NAME", hide_short_help = true)]
    pub(crate) agent: Option<String>,
    /// How far that agent's memory reaches
    #[arg(long, global = true, value_enum, default_value_t = AgentScope::User, hide_short_help = true)]
    pub(crate) agent_scope: AgentScope,
    /// See and change only what lies under these prefixes
    #[arg(long, global = true, value_name = "PREFIX", value_delimiter = ',', hide_short_help = true)]
    pub(crate) only: Vec<String>,
}

impl Global {
    /// What holds for a command: to chats a project is which conversations are meant, not whose memory it is.
    pub(crate) fn for_command(&self, command: Option<&Command>) -> Global {
        let project = self.project.clone().filter(|_| !matches!(command, Some(Command::Chats(_))));
        Global { project, ..self.clone() }
    }
}

/// How far an agent's memory reaches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentScope {
    /// Into all your projects
    #[default]
    User,
    /// This project, for everybody: .memdir-agents/ in its repository
    Project,
    /// This project on this machine
    Local,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(Init),
    Read(Read),
    Search(Search),
    Get(Get),
    List(List),
    Write(Write),
    Edit(Edit),
    Rename(Rename),
    Delete(Delete),
    Undo(Undo),
    Redo(Redo),
    History(History),
    Diff(Diff),
    Restore(Restore),
    Entrypoint(Entrypoint),
    Log(Log),
    Verify(Verify),
    Check(Check),
    Test(Test),
    Recall(Recall),
    Prompt(Prompt),
    Where(Where),
    Projects(Projects),
    Token(Token),
    Chats(Chats),
    Index(Index),
    Watch(Watch),
    Resume(Resume),
    Stats(Stats),
    Mcp(Mcp),
    Dialects(Dialects),
    Config(Config),
    Install(Install),
    Hook(Hook),
    Uninstall(Uninstall),
    Doctor(Doctor),
    Adopt(Adopt),
    Export(Export),
    Import(Import),
    Man(Man),
    Completions(Completions),
    Demo(Demo),
    Bench(Bench),
}

/// Make a memory directory with its entrypoint
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  memdir init\n  memdir --dir notes init\n  memdir init --team      in a git repository: .memdir/, to be committed"
)]
pub(crate) struct Init {
    /// Make .memdir/ at the top of this git repository, for everybody who works on it; with --dir, team/ in that directory
    #[arg(long)]
    pub(crate) team: bool,
}

/// Show the entrypoint, or memories by name
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  memdir read\n  memdir read notes/deploy\n  memdir read notes/deploy --lines 42-56")]
pub(crate) struct Read {
    /// Names, as `memdir list` shows them; `.md` may be left off. Without one: the entrypoint
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Only these lines: 42-56, 42- or 42
    #[arg(long, value_name = "RANGE", requires = "names")]
    pub(crate) lines: Option<String>,
    /// Show at most so many characters of each
    #[arg(long, value_name = "N", default_value_t = memdir_core::base::limits::READ_CHARS)]
    pub(crate) max_chars: usize,
}

/// Find the lines that answer, by words and by meaning
#[derive(Debug, clap::Args)]
#[command(
    after_help = "\"exact phrase\", type:feedback, path:team/, source:chat and -word narrow the answer; any other text is just words.\n\nExample:\n  memdir search how do we deploy\n  memdir search '\"blue green\" -staging' --type project --since 2026-01-01\n  memdir search deploy --explain\n  memdir search deploy --why-not notes/release\n  memdir search --batch questions.jsonl --json"
)]
pub(crate) struct Search {
    /// What you want to know
    #[arg(required_unless_present = "batch")]
    pub(crate) query: Vec<String>,
    /// At most so many answers
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=50))]
    pub(crate) max_results: u32,
    /// Only answers with at least this score, 0 to 1
    #[arg(long, value_name = "SCORE", default_value_t = memdir_core::search::ranking::MIN_SCORE, value_parser = share)]
    pub(crate) min_score: f32,
    /// Only this source
    #[arg(long, value_enum, default_value_t = SearchSource::All)]
    pub(crate) source: SearchSource,
    /// Only memories of this type: user, feedback, project or reference
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<String>,
    /// Only what is not older than this date: 2026-01-31
    #[arg(long, value_name = "DATE")]
    pub(crate) since: Option<String>,
    /// Dated logs lose weight with age: half in 30 days
    #[arg(long)]
    pub(crate) decay: bool,
    /// Answer many queries, one JSON object with id and query per line of this file (`-` for standard input)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["query", "why_not"])]
    pub(crate) batch: Option<PathBuf>,
    /// Show for each answer why it ranks there
    #[arg(long)]
    pub(crate) explain: bool,
    /// Tell why this memory is not among the answers, and what would change that
    #[arg(long, value_name = "NAME")]
    pub(crate) why_not: Option<String>,
    /// Who understands meaning; without it what the settings say
    #[arg(long, value_enum, hide_short_help = true)]
    pub(crate) embedder: Option<SearchEmbedder>,
}

/// Where answers may come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchSource {
    /// Everything
    All,
    /// Curated memories
    Memory,
    /// Past conversations
    Chat,
    /// Other directories
    Custom,
}

/// Who understands meaning, for one search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchEmbedder {
    /// Nobody: words alone
    None,
    /// The model that is part of memdir
    Builtin,
}

/// A number from 0 to 1.
fn share(text: &str) -> Result<f32, String> {
    text.parse().ok().filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| "give a number from 0 to 1".to_owned())
}

/// Show lines of a memory, as a search names them
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  memdir get notes/deploy.md --lines 42-56")]
pub(crate) struct Get {
    /// The path, as a search names it
    #[arg(value_name = "PATH")]
    pub(crate) path: String,
    /// Which lines: 42-56, 42- or 42; without it from the first
    #[arg(long, value_name = "RANGE")]
    pub(crate) lines: Option<String>,
}

/// List memories by name
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  memdir list\n  memdir list notes --long\n  memdir list --type feedback --newer 30\n  memdir list --tree"
)]
pub(crate) struct List {
    /// Only names under this topic
    #[arg(value_name = "TOPIC", default_value = "", hide_default_value = true)]
    pub(crate) topic: String,
    /// Only of this type: user, feedback, project or reference
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<String>,
    /// Only those checked or changed in the last so many days
    #[arg(long, value_name = "DAYS")]
    pub(crate) newer: Option<i64>,
    /// Only those at least so many days old
    #[arg(long, value_name = "DAYS")]
    pub(crate) older: Option<i64>,
    /// Only those of at least so many bytes
    #[arg(long, value_name = "N")]
    pub(crate) min_bytes: Option<u64>,
    /// As a tree of topics
    #[arg(long, conflicts_with = "long")]
    pub(crate) tree: bool,
    /// With type, size, age and description
    #[arg(long, short)]
    pub(crate) long: bool,
}

/// Save a memory and its entrypoint line
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  memdir write notes/deploy 'Deploy on Tuesdays, never on Fridays.' --type project\n  memdir write notes/deploy --append 'Except in December.'\n  pandoc page.html -t gfm | memdir write notes/page"
)]
pub(crate) struct Write {
    /// The memory's name, such as notes/deploy
    pub(crate) name: String,
    /// The text; without it, it is read from --file or standard input
    #[arg(allow_hyphen_values = true)]
    pub(crate) text: Option<String>,
    /// Read the text from this file (`-` for standard input)
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    pub(crate) file: Option<PathBuf>,
    /// Replace the text of a memory that is there; its frontmatter stays unless the new text brings its own
    #[arg(long, conflicts_with = "append")]
    pub(crate) replace: bool,
    /// Add the text at the end; a missing memory is made
    #[arg(long)]
    pub(crate) append: bool,
    /// Only if the memory still has this version (or a version that begins so)
    #[arg(long, value_name = "VERSION")]
    pub(crate) if_version: Option<String>,
    /// The title in its frontmatter and entrypoint line
    #[arg(long, value_name = "TITLE")]
    pub(crate) title: Option<String>,
    /// One line on what it is good for; the entrypoint shows it
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// Its type: user, feedback, project or reference
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<String>,
    /// Save although this rule sees a secret in it; for people, not for agents
    #[arg(long, value_name = "RULE", hide_short_help = true)]
    pub(crate) allow_secret: Vec<String>,
}

/// Replace a part of a memory
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  memdir edit notes/deploy Tuesdays Wednesdays\n  memdir edit notes/deploy --regex 'v(\\d+)\\.0' 'v$!1.1' --all\n  memdir edit notes/deploy --old-file before.txt --new-file after.txt"
)]
pub(crate) struct Edit {
    /// The memory's name
    pub(crate) name: String,
    /// What is there now; it must occur exactly once unless --all
    #[arg(allow_hyphen_values = true, required_unless_present = "old_file")]
    pub(crate) old: Option<String>,
    /// What stands there afterwards
    #[arg(allow_hyphen_values = true, required_unless_present = "new_file")]
    pub(crate) new: Option<String>,
    /// Read OLD from this file (`-` for standard input)
    #[arg(long, value_name = "FILE", conflicts_with = "old", requires = "new_file")]
    pub(crate) old_file: Option<PathBuf>,
    /// Read NEW from this file (`-` for standard input)
    #[arg(long, value_name = "FILE", conflicts_with = "new")]
    pub(crate) new_file: Option<PathBuf>,
    /// OLD is a regular expression (look-around works; $!1 in NEW is its first group)
    #[arg(long)]
    pub(crate) regex: bool,
    /// Every occurrence
    #[arg(long)]
    pub(crate) all: bool,
    /// Only if the memory still has this version (or a version that begins so)
    #[arg(long, value_name = "VERSION")]
    pub(crate) if_version: Option<String>,
    /// Change it although this rule sees a secret in it; for people, not for agents
    #[arg(long, value_name = "RULE", hide_short_help = true)]
    pub(crate) allow_secret: Vec<String>,
}

/// Give a memory another name, in every reference to it too
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  memdir rename notes/deploy howto/deploy")]
pub(crate) struct Rename {
    /// Its name now
    pub(crate) from: String,
    /// Its new name
    pub(crate) to: String,
}

/// Remove a memory; undo brings it back
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  memdir delete notes/deploy\n  memdir undo")]
pub(crate) struct Delete {
    /// Its name
    pub(crate) name: String,
    /// Only if the memory still has this version (or a version that begins so)
    #[arg(long, value_name = "VERSION")]
    pub(crate) if_version: Option<String>,
}

/// Take a change back: your last one, or any by its id
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  memdir undo\n  memdir undo 7kq2m9xa")]
pub(crate) struct Undo {
    /// The change, as `memdir history` shows it
    pub(crate) id: Option<String>,
}

/// Make a change again that was taken back
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  memdir redo\n  memdir redo 7kq2m9xa")]
pub(crate) struct Redo {
    /// The change that was taken back, or the undo that did it
    pub(crate) id: Option<String>,
}

/// Show what happened, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  memdir history\n  memdir history notes/deploy --most 5")]
pub(crate) struct History {
    /// Only changes of this memory, with its versions
    pub(crate) name: Option<String>,
    /// At most so many; 0 for all
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) most: usize,
}

/// Show what differs between two versions of a memory
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  memdir diff notes/deploy\n  memdir diff notes/deploy 3f2a91c0")]
pub(crate) struct Diff {
    /// Its name
    pub(crate) name: String,
    /// The older version; without it the one before the last change
    pub(crate) from: Option<String>,
    /// The newer version; without it what is there now
    pub(crate) to: Option<String>,
}

/// Bring an earlier version of a memory back, also of a deleted one
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  memdir history notes/deploy\n  memdir restore notes/deploy 3f2a91c0")]
pub(crate) struct Restore {
    /// Its name
    pub(crate) name: String,
    /// The version, as `memdir history NAME` shows it
    pub(crate) version: String,
}

/// Check that every memory has its line in the entrypoint
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  memdir entrypoint\n  memdir entrypoint --repair")]
pub(crate) struct Entrypoint {
    /// Add the lines that are missing
    #[arg(long)]
    pub(crate) repair: bool,
}

/// Append an entry to the log of the day
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  memdir log 'Ada prefers tabs'\n  memdir log --in team 'freeze until 2026-03-09'")]
pub(crate) struct Log {
    /// The entry; its time of day is added
    #[arg(required = true)]
    pub(crate) text: Vec<String>,
    /// The mount whose log it is
    #[arg(long = "in", value_name = "PREFIX", default_value = "", hide_default_value = true)]
    pub(crate) prefix: String,
}

/// Look up what a memory names, and stamp it as true today
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Paths, commands, symbols and commits are looked up in this project; nothing is run.\n\nExample:\n  memdir verify notes/deploy"
)]
pub(crate) struct Verify {
    /// Its name
    pub(crate) name: String,
    /// Stamp it even though something is gone
    #[arg(long)]
    pub(crate) anyway: bool,
}

/// Look over all memories for what is wrong or doubtful
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exits with 1 if anything is wrong.\n\nExample:\n  memdir check\n  memdir check --fix\n  memdir check --strict --json"
)]
pub(crate) struct Check {
    /// Add entrypoint lines that are missing; undo takes them back
    #[arg(long)]
    pub(crate) fix: bool,
    /// Advice fails too
    #[arg(long)]
    pub(crate) strict: bool,
}

/// Run the memory tests: what a search must find, as memory.tests.md says
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A line of memory.tests.md is a question, an arrow, and a memory's name or nothing:\n  When do we deploy? -> must find notes/deploy (in top 3)\n  What is the weather like? -> nothing\n\nExample:\n  memdir test"
)]
pub(crate) struct Test {}

/// Bring the few memories that matter for a message, or lie on the way of an action
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Nothing that matters is an empty answer.\n\nExample:\n  memdir recall 'Can you deploy the shop this afternoon?'\n  memdir recall --budget 1000 --shown notes/deploy - < message.txt\n  memdir recall --action --tool Bash --command 'git push --force'"
)]
pub(crate) struct Recall {
    /// The message; `-` reads it from standard input
    #[arg(required_unless_present = "action")]
    pub(crate) text: Vec<String>,
    /// Tokens the answer may cost
    #[arg(long, value_name = "TOKENS", default_value_t = memdir_core::base::limits::RECALL_TOKENS)]
    pub(crate) budget: usize,
    /// Memories at the most
    #[arg(long, value_name = "N", default_value_t = memdir_core::base::limits::RECALL_MEMORIES)]
    pub(crate) most: usize,
    /// Memories this conversation has seen already
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) shown: Vec<String>,
    /// Tools in use, whose manuals are not needed
    #[arg(long, value_name = "TOOL", value_delimiter = ',')]
    pub(crate) in_use: Vec<String>,
    /// Only memories whose tripwire (`when:`) the coming action touches
    #[arg(long)]
    pub(crate) action: bool,
    /// The tool that will be called
    #[arg(long, value_name = "TOOL", requires = "action")]
    pub(crate) tool: Option<String>,
    /// The command that will be run
    #[arg(long, value_name = "COMMAND", requires = "action", allow_hyphen_values = true)]
    pub(crate) command: Option<String>,
    /// A file that will be touched
    #[arg(long, value_name = "PATH", requires = "action")]
    pub(crate) path: Vec<PathBuf>,
}

/// Print the memory section for a system prompt
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  memdir prompt\n  memdir prompt team --no-entrypoint\n  memdir prompt agent --agent reviewer --agent-scope project"
)]
pub(crate) struct Prompt {
    /// Which one; without it log if it is set, else team if there is one, else individual
    #[arg(value_enum)]
    pub(crate) mode: Option<PromptMode>,
    /// Leave out the entrypoint's text: the host loads it
    #[arg(long)]
    pub(crate) no_entrypoint: bool,
    /// Leave out the entrypoint altogether: saving is one step
    #[arg(long)]
    pub(crate) no_index: bool,
    /// The heading
    #[arg(long, value_name = "TEXT", default_value = "Memory")]
    pub(crate) title: String,
    /// The model has memdir's tools, so saving is a call
    #[arg(long)]
    pub(crate) tools: bool,
    /// What the model searches with
    #[arg(long, value_enum, default_value_t = SearchWith::Memdir)]
    pub(crate) search: SearchWith,
    /// Where the host keeps transcripts, for --search grep and shell
    #[arg(long, value_name = "PATH")]
    pub(crate) transcripts: Option<PathBuf>,
}

/// A mode of `memdir prompt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PromptMode {
    /// One person's memory
    Individual,
    /// Private and team memory together
    Team,
    /// A log of each day
    Log,
    /// The memory of the agent named by --agent
    Agent,
}

/// What a model searches with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchWith {
    /// memdir search
    Memdir,
    /// The host's own Grep tool
    Grep,
    /// grep in a shell
    Shell,
}

/// Explain which memories are in force here, and why
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  memdir where\n  memdir where --json")]
pub(crate) struct Where {}

/// List the projects that have a memory, and bring orphans home
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  memdir projects\n  memdir projects adopt shop-1a2b3c4d5e\n  memdir projects merge shop-1a2b3c4d5e shop-6f7a8b9c0d"
)]
pub(crate) struct Projects {
    #[command(subcommand)]
    pub(crate) what: Option<ProjectsWhat>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProjectsWhat {
    /// Use another project's memory for this one, from now on
    Adopt {
        /// Its id; without it the project's own memory is used again
        id: Option<String>,
    },
    /// Move all memories of one project into another
    Merge {
        /// From this project
        from: String,
        /// Into this one
        into: String,
    },
    /// Give a project's memory another id
    Rename {
        /// Its id now
        from: String,
        /// Its new id
        to: String,
    },
}

/// Find a past conversation by what was said, and how to take it up again
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  memdir resume 'the login that hashed twice'\n  memdir resume 'deploy freeze' --run")]
pub(crate) struct Resume {
    /// What was said
    #[arg(required = true)]
    pub(crate) words: Vec<String>,
    /// Only of this host
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Start the host with the best match instead of printing the command
    #[arg(long)]
    pub(crate) run: bool,
}

/// List past conversations with agents, and take in new ones
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Nothing is read before `memdir chats on`.\n\nExample:\n  memdir chats on\n  memdir chats --host codex --since 2026-01-01\n  memdir chats show 1af7fc5e"
)]
pub(crate) struct Chats {
    #[command(subcommand)]
    pub(crate) what: Option<ChatsWhat>,
    #[command(flatten)]
    pub(crate) filter: ChatFilter,
    /// At most so many; 0 for all
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) most: usize,
}

/// Which conversations.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct ChatFilter {
    /// Only of this host: claude-code, codex, gemini, opencode, openclaw, cursor or folder
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Only those held in this directory or below, or in the project of this id
    #[arg(long, value_name = "DIR|ID", alias = "project-dir")]
    pub(crate) project: Option<String>,
    /// Only those that went on after this date: 2026-01-15
    #[arg(long, value_name = "DATE")]
    pub(crate) since: Option<String>,
    /// Only those that ended before this date
    #[arg(long, value_name = "DATE")]
    pub(crate) before: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ChatsWhat {
    Show(ChatsShow),
    Sync(ChatsSync),
    On(ChatsSwitch),
    Off(ChatsSwitch),
    Forget(ChatsForget),
    Export(ChatsExport),
}

/// Show a conversation
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  memdir chats show 1af7fc5e\n  memdir chats show codex/0199c5d0 --lines 40-80")]
pub(crate) struct ChatsShow {
    /// Its id, or the beginning of it
    pub(crate) session: String,
    /// Only these lines: 42-56, 42- or 42
    #[arg(long, value_name = "RANGE")]
    pub(crate) lines: Option<String>,
}

/// Take in what was said since the last time
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  memdir chats sync\n  memdir chats sync --seconds 2")]
pub(crate) struct ChatsSync {
    /// Stop after so many seconds; the rest comes next time
    #[arg(long, value_name = "N")]
    pub(crate) seconds: Option<u64>,
}

/// Turn conversations on or off, all of them or those of one host or project
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  memdir chats on\n  memdir chats off --host cursor\n  memdir chats off --project ~/private")]
pub(crate) struct ChatsSwitch {
    /// Only this host
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Only conversations held in this directory or below, or in the project of this id
    #[arg(long, value_name = "DIR|ID", alias = "project-dir")]
    pub(crate) project: Option<String>,
}

/// Forget conversations for good: they are not taken in again
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  memdir chats forget 1af7fc5e\n  memdir chats forget --project ~/private\n  memdir chats forget --before 2025-12-31"
)]
pub(crate) struct ChatsForget {
    /// The conversation's id, or the beginning of it
    pub(crate) session: Option<String>,
    /// Conversations held in this directory or below, or in the project of this id
    #[arg(long, value_name = "DIR|ID", alias = "project-dir", conflicts_with = "session")]
    pub(crate) project: Option<String>,
    /// What was said before this date
    #[arg(long, value_name = "DATE", conflicts_with = "session")]
    pub(crate) before: Option<String>,
}

/// Print conversations as Markdown, or with --json as data
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  memdir chats export 1af7fc5e > login.md\n  memdir chats export --project . --json > chats.json")]
pub(crate) struct ChatsExport {
    /// Their ids, or the beginnings of them; without one, all that fit the filters
    pub(crate) sessions: Vec<String>,
    #[command(flatten)]
    pub(crate) filter: ChatFilter,
}

/// Bring the search index in step with the files
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Every search does this by itself; here it shows how far it is.\n\nExample:\n  memdir index\n  memdir index --rebuild"
)]
pub(crate) struct Index {
    /// Make it anew from the files
    #[arg(long)]
    pub(crate) rebuild: bool,
}

/// Keep the search index in step with the files until interrupted
#[derive(Debug, clap::Args)]
#[command(after_help = "No search needs this: it only makes the first search after many changes faster.\n\nExample:\n  memdir watch")]
pub(crate) struct Watch {}
/// Say who may call over HTTP, and with which memories
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  memdir token add ada shop blog\n  memdir token add ada shop --agent reviewer\n  memdir token list\n  memdir token revoke 3f2a91c0"
)]
pub(crate) struct Token {
    #[command(subcommand)]
    pub(crate) what: TokenWhat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenWhat {
    /// Make a token; it is shown once and kept nowhere
    Add {
        /// The person whose token it is; with --agent, of an agent that acts for them
        person: String,
        /// The projects they belong to
        #[arg(value_name = "PROJECT")]
        projects: Vec<String>,
    },
    /// List who may call
    List,
    /// Take a token back
    Revoke {
        /// Its id, as the list shows it
        id: String,
    },
}

/// Show how much there is
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  memdir stats --json\n  memdir stats --loads")]
pub(crate) struct Stats {
    /// How often, and how large, the prompt was loaded
    #[arg(long)]
    pub(crate) loads: bool,
}

/// Serve memories to an MCP client
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Over HTTP beyond this machine a token is required: put it into a file for --token-file, or into MEMDIR_TOKEN. Leave TLS to a proxy in front.\n\nExample:\n  memdir mcp\n  memdir mcp --read-only --without memory_stats\n  memdir mcp --dialect serena\n  memdir mcp --http 127.0.0.1:7337"
)]
pub(crate) struct Mcp {
    /// Serve many clients over HTTP at this address instead of one on standard input and output; the path is /mcp
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) http: Option<std::net::SocketAddr>,
    /// Tools of other systems instead of memdir's own, on the directory they used; `memdir dialects` lists them
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) dialect: Vec<String>,
    /// Only these tools
    #[arg(long, value_name = "TOOL", value_delimiter = ',')]
    pub(crate) tools: Vec<String>,
    /// Not these tools
    #[arg(long, value_name = "TOOL", value_delimiter = ',')]
    pub(crate) without: Vec<String>,
    /// Only tools that change nothing
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Callers over HTTP must show the token in this file (also MEMDIR_TOKEN)
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(crate) token_file: Option<PathBuf>,
    /// A host name requests may be sent to, besides this machine's own
    #[arg(long, value_name = "NAME", value_delimiter = ',', requires = "http")]
    pub(crate) host: Vec<String>,
    /// An origin whose pages may call, scheme and host
    #[arg(long, value_name = "URL", value_delimiter = ',', requires = "http")]
    pub(crate) origin: Vec<String>,
}

/// List the systems whose tools `memdir mcp --dialect` serves
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  memdir dialects\n  memdir mcp --dialect serena")]
pub(crate) struct Dialects {}

/// Show the settings in force and where they come from
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  memdir config")]
pub(crate) struct Config {}

/// Plug memdir into agent programs: its tools and its hooks, in one step
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  memdir install                       shows what is here, and asks\n  memdir install claude-code\n  memdir install codex --scope project --dry-run\n  memdir install --yes                 into all that are here, without asking\n  memdir install --yes --chats         and past conversations are searched too"
)]
pub(crate) struct Install {
    /// Hosts to install into
    #[arg(value_name = "HOST", value_parser = hosts::parser())]
    pub(crate) hosts: Vec<&'static Host>,
    /// Every one that is on this machine
    #[arg(long, conflicts_with = "hosts")]
    pub(crate) all: bool,
    /// Do not ask; without a name: every one that is on this machine
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Past conversations with agents are kept and searched from now on, as after `memdir chats on`
    #[arg(long)]
    pub(crate) chats: bool,
    /// Show what would change in which file, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// For you in every project, or for this project
    #[arg(long, value_enum, default_value_t = Scope::User)]
    pub(crate) scope: Scope,
    /// The tools only, no hooks
    #[arg(long)]
    pub(crate) no_hooks: bool,
}

/// What an agent program calls at an event: its JSON in, its JSON out
#[derive(Debug, clap::Args)]
#[command(hide = true, after_help = "Example:\n  echo '{\"prompt\":\"How do we deploy?\"}' | memdir hook claude-code prompt")]
pub(crate) struct Hook {
    /// Who calls
    #[arg(value_name = "HOST", value_parser = hosts::parser())]
    pub(crate) host: &'static Host,
    /// At what
    #[arg(value_enum)]
    pub(crate) event: Event,
    /// Say on standard error what went wrong
    #[arg(long)]
    pub(crate) explain: bool,
}

/// Take memdir out of agent programs: exactly what install put in
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  memdir uninstall claude-code\n  memdir uninstall --all --dry-run")]
pub(crate) struct Uninstall {
    /// Out of which
    #[arg(value_name = "HOST", value_parser = hosts::parser(), required_unless_present = "all")]
    pub(crate) hosts: Vec<&'static Host>,
    /// Out of everything it was put into
    #[arg(long, conflicts_with = "hosts")]
    pub(crate) all: bool,
    /// Show what would change in which file, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Only what was put in for you in every project, or for this project; without it both
    #[arg(long, value_enum)]
    pub(crate) scope: Option<Scope>,
}

/// See that what was installed works, and say what to do where it does not
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  memdir doctor\n  memdir doctor codex --fix")]
pub(crate) struct Doctor {
    /// Which hosts; without one everything that was installed
    #[arg(value_name = "HOST", value_parser = hosts::parser())]
    pub(crate) hosts: Vec<&'static Host>,
    /// Install anew what does not work
    #[arg(long)]
    pub(crate) fix: bool,
}

/// Mount the memories other programs keep, where they are
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  memdir adopt                       shows what is there\n  memdir adopt claude serena\n  memdir adopt codex --read-write\n  memdir adopt --as-auto-memory      Claude Code's memory and yours become one directory\n  memdir adopt --to-codex            feeds Codex's own memory"
)]
pub(crate) struct Adopt {
    /// Which, as `memdir adopt` shows them
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// memdir may change them too
    #[arg(long)]
    pub(crate) read_write: bool,
    /// Point Claude Code's own memory at memdir's directory
    #[arg(long, conflicts_with_all = ["names", "read_write"])]
    pub(crate) as_auto_memory: bool,
    /// Write these memories where Codex's own memory takes them in
    #[arg(long, conflicts_with_all = ["names", "read_write", "as_auto_memory"])]
    pub(crate) to_codex: bool,
    /// With --as-auto-memory: your memory in every project, or this project's
    #[arg(long, value_enum, default_value_t = Scope::User, requires = "as_auto_memory")]
    pub(crate) scope: Scope,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Write memories into one file, for elsewhere
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  memdir export > memories.md\n  memdir export notes --format json --out notes.json")]
pub(crate) struct Export {
    /// Only names under this topic
    #[arg(value_name = "TOPIC", default_value = "", hide_default_value = true)]
    pub(crate) topic: String,
    /// Markdown for people, JSON for programs; `memdir import` reads both
    #[arg(long, value_enum, default_value_t = BundleFormat::Markdown)]
    pub(crate) format: BundleFormat,
    /// Into this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Also over a file that is there
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}

/// How a bundle is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BundleFormat {
    /// One Markdown file
    Markdown,
    /// One JSON file
    Json,
}

/// Take in memories from elsewhere; undo takes them back
#[derive(Debug, clap::Args)]
#[command(
    after_help = "It reads: bundles of memdir export, directories of Markdown, server-memory's JSONL graph, exports of mem0 and\nOpenMemory, and the unpacked data exports of ChatGPT and Claude (their conversations become logs).\n\nExample:\n  memdir import memories.md --dry-run\n  memdir import ~/old-notes --under old\n  memdir import memory.jsonl"
)]
pub(crate) struct Import {
    /// Files and directories; `-` for standard input
    #[arg(value_name = "FROM", required = true)]
    pub(crate) from: Vec<PathBuf>,
    /// Under this topic or mount
    #[arg(long, value_name = "TOPIC", default_value = "", hide_default_value = true)]
    pub(crate) under: String,
    /// What becomes of a memory whose name another text has here
    #[arg(long, value_enum, default_value_t = OnClash::Number)]
    pub(crate) clash: OnClash,
    /// Show what would be taken in, and take in nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// What becomes of a memory whose name is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnClash {
    /// It gets a number behind its name
    Number,
    /// It stays out
    Skip,
    /// It replaces what is here
    Replace,
}

/// Print the manual page, or write one for every command
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  memdir man | man -l -\n  memdir man ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// Write a page for every command into this directory
    #[arg(value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

/// Print completions for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  memdir completions bash > ~/.local/share/bash-completion/completions/memdir")]
pub(crate) struct Completions {
    /// Which shell
    pub(crate) shell: clap_complete::Shell,
}

/// A short tour in a scratch directory that is removed afterwards
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  memdir demo")]
pub(crate) struct Demo {}

/// Measure and torture memdir on this machine
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  memdir bench torture --processes 20 --changes 100 --kill 200")]
pub(crate) struct Bench {
    #[command(subcommand)]
    pub(crate) what: BenchWhat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BenchWhat {
    Torture(Torture),
    Search(BenchSearch),
    Index(BenchIndex),
    #[command(hide = true)]
    TortureWorker(TortureWorker),
}

/// Many processes change one directory at once, some are killed; then every change is audited
#[derive(Debug, clap::Args)]
#[command(
    after_help = "With --dir the files are made in that directory, which must be empty, and stay.\n\nExample:\n  memdir bench torture\n  memdir bench torture --kill 200"
)]
pub(crate) struct Torture {
    /// Processes at once
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=200))]
    pub(crate) processes: u32,
    /// Changes each of them makes
    #[arg(long, value_name = "M", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(crate) changes: u64,
    /// So many times, kill one of them (SIGKILL) at a random moment and start it again
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub(crate) kill: u64,
    /// What each process does, in turn
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["save", "append", "edit", "rename", "delete"])]
    pub(crate) mix: Vec<Deed>,
    /// Repeats the random moments of an earlier run
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

/// Time searches over generated memories
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Memories are generated in a scratch directory; with --dir in that directory, which must be empty, and stay. Times are compared with /bin/true, with a bare walk of the same files and, where it is installed, with rg.\n\nExample:\n  memdir bench search\n  memdir bench search --files 1000"
)]
pub(crate) struct BenchSearch {
    /// Memories
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    pub(crate) files: u32,
    /// Searches
    #[arg(long, value_name = "N", default_value_t = 800, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    pub(crate) queries: u32,
}

/// Time the making of a search index over generated memories
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  memdir bench index\n  memdir bench index --files 1000")]
pub(crate) struct BenchIndex {
    /// Memories
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    pub(crate) files: u32,
}

/// One process of `bench torture`
#[derive(Debug, clap::Args)]
pub(crate) struct TortureWorker {
    /// Where the run keeps its files
    #[arg(long)]
    pub(crate) work: PathBuf,
    /// Which process this is
    #[arg(long)]
    pub(crate) number: u32,
    /// The change it ends with
    #[arg(long)]
    pub(crate) until: u64,
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(crate) mix: Vec<Deed>,
}

/// A kind of change in `bench torture`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Deed {
    /// A new memory
    Save,
    /// A line at the end of one memory that all processes share
    Append,
    /// A line of another memory that all processes share, and one of its own memories
    Edit,
    /// A new name for one of its own memories
    Rename,
    /// One of its own memories goes
    Delete,
}

/// Reads the command line, and whether the answer is wanted in JSON even if the rest of it cannot be read.
/// Help and the version are failures that exit with 0.
pub(crate) fn parse() -> (bool, Result<Args, Failure>) {
    match Args::try_parse() {
        Ok(args) => (args.global.json, Ok(args)),
        Err(error) if error.use_stderr() && is_hook() => {
            // The host is still writing: it must not meet a closed pipe.
            if !io::stdin().is_terminal() {
                let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
            }
            (false, Err(Failure::Hook { error, explain: explains() }))
        }
        Err(error) => (std::env::args_os().any(|arg| arg == "--json"), Err(Failure::Typed { error })),
    }
}

/// Whether a hook was meant, although the rest of the command line cannot be read.
fn is_hook() -> bool {
    let matches = Args::command().ignore_errors(true).try_get_matches();
    matches.is_ok_and(|matches| matches.subcommand_name() == Some("hook"))
}

fn explains() -> bool {
    std::env::args_os().any(|arg| arg == "--explain")
}
