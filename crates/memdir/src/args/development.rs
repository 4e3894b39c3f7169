//! The arguments of the tour, benchmarks, manual pages, completions and help.

use clap::{Subcommand, ValueEnum};
use std::path::PathBuf;

/// Run a short tour in a temporary directory
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir demo")]
pub(crate) struct DemoArgs {}

/// Run benchmarks and stress tests
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir bench search
  memdir bench torture --processes 20 --changes 100 --kill 200")]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    pub(crate) what: BenchWhat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BenchWhat {
    Torture(TortureArgs),
    Search(BenchSearchArgs),
    Index(BenchIndexArgs),
    Recall(BenchRecallArgs),
    Dream(BenchDreamArgs),
    Replay(BenchReplayArgs),
    Serve(BenchServeArgs),
    #[command(hide = true)]
    TortureWorker(TortureWorkerArgs),
}

/// Stress-test memories with concurrent processes, optionally killing some, and audit every change
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With --dir, files are created in that directory and kept; it must be empty. If
the mix has moves, undos or redos, the run uses three mounts, and every fourth
process is a caller with access to only one of them.

Examples:
  memdir bench torture
  memdir bench torture --kill 200")]
pub(crate) struct TortureArgs {
    /// Number of concurrent processes
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=200))]
    pub(crate) processes: u32,
    /// Minimum number of changes per process; more are made until --kill is reached
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

/// Benchmark searches in generated memories
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Memories are generated in a temporary directory, or in --dir, which must be
empty and is kept. Times are compared with /bin/true, with a walk of the same
files and, if it is installed, with rg.

Examples:
  memdir bench search
  memdir bench search --files 1000")]
pub(crate) struct BenchSearchArgs {
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
pub(crate) struct BenchIndexArgs {
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
pub(crate) struct BenchRecallArgs {
    /// Number of memories
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    pub(crate) files: u32,
    /// Number of messages of each length (20, 60 and 300 words)
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    pub(crate) messages: u32,
}

/// Benchmark `memdir dream` planning on generated memories
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Imports generated memories into a temporary directory, or into --dir, which
must be empty and is kept. A tenth of them are copies, and a tenth have
relative dates. The time of a plan is compared with that of indexing the same
memories, and with a plan for a tenth of them.

Examples:
  memdir bench dream
  memdir bench dream --files 1000 --json")]
pub(crate) struct BenchDreamArgs {
    /// Number of memories
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(100..=100_000))]
    pub(crate) files: u32,
}

/// Measure how well recall and rules find the facts needed in generated conversations
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Plants facts and rules as memories, generates conversations that need some of
them, and imports and replays these conversations. The same seed gives the same
numbers on every machine. With --dir, files are created in that directory and
kept; it must be empty.

Examples:
  memdir bench replay
  memdir bench replay --files 5000 --seed 2 --json")]
pub(crate) struct BenchReplayArgs {
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
pub(crate) struct BenchServeArgs {
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

/// Run one process of `bench torture`
#[derive(Debug, clap::Args)]
pub(crate) struct TortureWorkerArgs {
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
    /// Edit a line in a second memory shared by all processes, or in a memory that the process created
    Edit,
    /// Rename a memory that the process created
    Rename,
    /// Delete a memory that the process created
    Delete,
    /// Move one of the process's memories to another mount
    Move,
    /// Move one of the process's memories to another mount, then undo the move
    Undo,
    /// Move one of the process's memories to another mount, undo the move, then redo it
    Redo,
    /// Overwrite the file of a memory that the process created, as an external editor would
    Editor,
}

/// Print the manual page, or write all manual pages to a directory
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir man | man -l -
  memdir man ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Write a page for every command to this directory
    #[arg(value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
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
pub(crate) struct CompletionsArgs {
    /// Shell to generate the script for
    pub(crate) shell: clap_complete::Shell,
}

/// Print the completions for a command line; used by the scripts that `memdir completions` prints
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir complete -- memdir read no")]
pub(crate) struct CompleteArgs {
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
pub(crate) struct HelpArgs {
    /// Command, such as `write` or `chats sync`
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}
