//! The arguments of the commands for search and recall, with the rules and the inbox. Past conversations are in `chats.rs`.

use clap::{Subcommand, ValueEnum};
use std::path::PathBuf;

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
pub(crate) struct SearchArgs {
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
    #[arg(long, value_enum, default_value_t = SearchSourceArg::All)]
    pub(crate) source: SearchSourceArg,
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
    /// File with the queries to run: one JSON object with `id` and `query` per line (`-` for standard input)
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
pub(crate) enum SearchSourceArg {
    /// All sources except the inbox
    All,
    /// Memories
    Memory,
    /// Past conversations
    Chat,
    /// Other documents: mounts with `source = "custom"`, and extra paths
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
pub(crate) struct RecallArgs {
    /// Text of the message, or of the action (`-` for standard input)
    #[arg(required_unless_present = "action")]
    pub(crate) text: Vec<String>,
    /// Maximum total number of tokens of the recalled memories
    #[arg(long, value_name = "TOKENS", default_value_t = memdir_core::internal::base::limits::RECALL_TOKENS)]
    pub(crate) budget: usize,
    /// Maximum number of memories to recall
    #[arg(long = "limit", alias = "most", value_name = "N", default_value_t = memdir_core::internal::base::limits::RECALL_MEMORIES)]
    pub(crate) limit: usize,
    /// Memories to exclude, separated by commas, because the conversation already contains them
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) shown: Vec<String>,
    /// Tools in use, separated by commas; their documentation is not recalled
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
pub(crate) struct ReplayArgs {
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
pub(crate) struct InboxArgs {
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
    Show(InboxShowArgs),
    /// Save proposed memories, or apply proposed changes to existing ones
    #[command(after_help = "\
Examples:
  memdir inbox accept feedback/no-force-push
  memdir inbox accept feedback/no-force-push --as rules/push --edit")]
    Accept(InboxAcceptArgs),
    /// Add the text of a proposed memory to an existing one
    #[command(after_help = "\
Examples:
  memdir inbox merge feedback/no-force-push rules/git")]
    Merge(InboxMergeArgs),
    /// Reject proposed memories; they are never proposed again
    #[command(after_help = "\
Examples:
  memdir inbox reject feedback/no-force-push
  memdir inbox reject --all")]
    Reject(InboxRejectArgs),
    /// Review the proposed memories one by one with single-key commands
    #[command(after_help = "\
Examples:
  memdir inbox review")]
    Review,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InboxShowArgs {
    /// Name of the proposed memory, with or without `inbox/`
    pub(crate) candidate: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InboxAcceptArgs {
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
pub(crate) struct InboxMergeArgs {
    /// Name of the proposed memory, with or without `inbox/`
    pub(crate) candidate: String,
    /// Name of the memory to add the text to
    #[arg(value_name = "INTO")]
    pub(crate) name: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InboxRejectArgs {
    /// Names of the proposed memories, with or without `inbox/`
    #[arg(value_name = "CANDIDATE", required_unless_present = "all")]
    pub(crate) candidates: Vec<String>,
    /// Reject everything in the inbox
    #[arg(long, conflicts_with = "candidates")]
    pub(crate) all: bool,
}

/// List the rules (`when:`) in memories, and accept or reject them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The strength of a rule (`strength:`) says what happens to a matching action:
  tell  it runs, and the agent reads the rule with the result
  hold  the first one in a conversation does not run; the agent reads the rule instead
  ask   you decide whether it runs
  deny  it does not run

`ask` and `deny` act like `hold` until you accept the rule's text. A rule that
you reject has no effect. If the text changes, the decision no longer applies.

Examples:
  memdir rules
  memdir rules accept rules/push
  memdir rules reject team/deploy --yes")]
pub(crate) struct RulesArgs {
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
    /// Accept the current text of a rule, so that it applies at full strength
    #[command(after_help = "\
Examples:
  memdir rules accept rules/push")]
    Accept(RuleDecisionArgs),
    /// Reject the current text of a rule, so that it has no effect
    #[command(after_help = "\
Examples:
  memdir rules reject team/deploy --yes")]
    Reject(RuleDecisionArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct RuleDecisionArgs {
    /// Name of the memory
    pub(crate) name: String,
    /// Do not ask for confirmation
    #[arg(long)]
    pub(crate) yes: bool,
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
pub(crate) struct CuesArgs {
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

/// Print the memory section of a system prompt
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Creates the memory directories that the section names.

Examples:
  memdir prompt
  memdir prompt team --no-entrypoint
  memdir prompt agent --agent reviewer --agent-scope project")]
pub(crate) struct PromptArgs {
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
