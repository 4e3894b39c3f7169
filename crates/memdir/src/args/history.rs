//! The arguments of the commands that show and reverse changes, and of `memdir forget`.

/// Undo the last change, or any change by its id
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir undo
  memdir undo 7kq2m9xa")]
pub(crate) struct UndoArgs {
    /// Change id, as printed by `memdir history` [default: the last change, which must be yours or made outside memdir]
    pub(crate) id: Option<String>,
}

/// Show the history of changes, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir history
  memdir history notes/deploy --limit 5")]
pub(crate) struct HistoryArgs {
    /// Show only changes to this memory, with its versions
    pub(crate) name: Option<String>,
    /// Maximum number of changes to show; 0 for all
    #[arg(long = "limit", alias = "most", value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
}

/// Redo an undone change
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir redo
  memdir redo 7kq2m9xa")]
pub(crate) struct RedoArgs {
    /// Id of the undone change, or of its undo [default: the last undo, which must be yours]
    pub(crate) id: Option<String>,
}

/// Show the differences between two versions of a memory
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir diff notes/deploy
  memdir diff notes/deploy 3f2a91c0")]
pub(crate) struct DiffArgs {
    /// Name of the memory
    pub(crate) name: String,
    /// Old version [default: the version before the last change]
    pub(crate) from: Option<String>,
    /// New version [default: the current version]
    pub(crate) to: Option<String>,
}

/// Restore a deleted memory, or an earlier version of a memory
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  memdir history notes/deploy
  memdir restore notes/deploy 3f2a91c0")]
pub(crate) struct RestoreArgs {
    /// Name of the memory
    pub(crate) name: String,
    /// Version to restore, as printed by `memdir history NAME`
    pub(crate) version: String,
}

/// Forget a fact everywhere: in memories, history, conversations, the index and caches
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The words match in upper and lower case, in every Unicode form, across line
breaks, and in names with hyphens. Everything that will be removed is listed
before you are asked to confirm. Afterwards every file is read again, to verify
that the words are gone. This cannot be undone. With --dir, only that directory
and memdir's records of it are covered.

Examples:
  memdir forget 'maple street 12'
  memdir forget --dry-run 'maple street 12'
  memdir forget --yes --json - < words.txt")]
pub(crate) struct ForgetArgs {
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
