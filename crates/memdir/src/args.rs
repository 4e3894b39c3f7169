//! The command line: the global options, and the list of commands. The arguments and help texts of a command are in the file of its group.
//! Defines no behaviour; `commands.rs` does.

mod admin;
mod chats;
mod development;
pub(crate) mod help;
mod history;
mod hosts;
mod maintenance;
mod memories;
mod search;
mod server;
pub(crate) mod stdin;

pub(crate) use self::{admin::*, chats::*, development::*, history::*, hosts::*, maintenance::*, memories::*, search::*, server::*};
use crate::exit::Failure;
use clap::{Args as _, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum, error::ErrorKind};
use std::{
    convert::identity,
    ffi::OsString,
    io::{self, IsTerminal as _},
    path::PathBuf,
};

/// Persistent memory for AI agents and people, in plain Markdown files
#[derive(Debug, Parser)]
#[command(name = "memdir", version, disable_help_subcommand = true, mut_subcommands = with_own_arguments)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// Options of every command.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct GlobalArgs {
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
    /// Also use this agent's memory, as agent/NAME (no effect with --dir) [env: MEMDIR_AGENT]
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Scope of the agent's memory: user (all projects), project (shared in the repository) or local (this project, on this machine)
    #[arg(long, global = true, value_enum, value_name = "SCOPE", default_value_t = AgentScopeArg::User, hide_possible_values = true)]
    pub(crate) agent_scope: AgentScopeArg,
    /// Access only memories under these prefixes, separated by commas, such as team,notes
    #[arg(long, global = true, value_name = "PREFIX", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
}

/// The scope of an agent's memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentScopeArg {
    /// All of the user's projects
    #[default]
    User,
    /// This project, shared through .memdir-agents/ in its repository
    Project,
    /// This project, on this machine only
    Local,
}

/// The commands, in the order of `memdir --help`; [`help::GROUPS`] names the first command of each group. Common commands are in the
/// file of the group that they would otherwise be in. The arguments of a command are built only if it is the one that runs, because
/// building all of them takes longer than most commands do.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    #[command(visible_alias = "add")]
    Write(WriteArgs),
    #[command(visible_aliases = ["cat", "show"])]
    Read(ReadArgs),
    #[command(visible_alias = "ls")]
    List(ListArgs),
    Search(SearchArgs),
    Edit(EditArgs),
    #[command(visible_alias = "mv")]
    Rename(RenameArgs),
    #[command(visible_alias = "rm")]
    Delete(DeleteArgs),
    Undo(UndoArgs),
    History(HistoryArgs),
    Resume(ResumeArgs),

    Init(InitArgs),
    Get(GetArgs),
    Path(PathArgs),
    Log(LogArgs),
    Import(ImportArgs),
    Export(ExportArgs),
    Ui(UiArgs),
    View(ViewArgs),

    Recall(RecallArgs),
    Replay(ReplayArgs),
    Inbox(InboxArgs),
    Rules(RulesArgs),
    Cues(CuesArgs),
    Prompt(PromptArgs),
    Chats(ChatsArgs),

    Redo(RedoArgs),
    Diff(DiffArgs),
    Restore(RestoreArgs),
    Forget(ForgetArgs),

    Install(InstallArgs),
    Uninstall(UninstallArgs),
    Doctor(DoctorArgs),
    Adopt(AdoptArgs),
    Hook(HookArgs),

    Where(WhereArgs),
    Status(StatusArgs),
    Projects(ProjectsArgs),
    Config(ConfigArgs),
    Stats(StatsArgs),
    Check(CheckArgs),
    Dream(DreamArgs),
    Verify(VerifyArgs),
    Test(TestArgs),
    Entrypoint(EntrypointArgs),
    Index(IndexArgs),
    Watch(WatchArgs),

    Mcp(McpArgs),
    Dialects(DialectsArgs),
    Token(TokenArgs),
    Serve(ServeArgs),
    Admin(AdminArgs),
    Review(ReviewArgs),

    Demo(DemoArgs),
    Bench(BenchArgs),
    Man(ManArgs),
    Completions(CompletionsArgs),
    #[command(hide = true)]
    Complete(CompleteArgs),
    Help(HelpArgs),
}

/// Parses the command line, and whether `--json` was given even if the rest is invalid. Help and the version are failures that
/// exit with 0.
pub(crate) fn parse() -> (bool, Result<Args, Failure>) {
    let line: Vec<OsString> = std::env::args_os().collect();
    let parsed = parse_named(&line).map_or_else(|| Args::try_parse_from(&line), Ok);
    match parsed {
        Ok(args) => (args.global.json, Ok(args)),
        Err(error) if error.use_stderr() && is_hook() => {
            // The host is still writing: it must not meet a closed pipe.
            if !io::stdin().is_terminal() {
                let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
            }
            (false, Err(Failure::Hook { error, explain: explains() }))
        }
        Err(error) => {
            let error = if error.kind() == ErrorKind::DisplayHelp { formatted_help(error) } else { help::without_hidden_commands(error) };
            (line.iter().any(|arg| arg == "--json"), Err(Failure::CommandLine { error }))
        }
    }
}

/// Parses a command line with the first command that it names as the only one. Every command gets a copy of the global options, which would
/// take half of the time of `memdir --version`. Returns `None` if the line is invalid, asks for help or the version, or names a command in
/// the value of an option; [`Args`] has the answer then.
fn parse_named(line: &[OsString]) -> Option<Args> {
    let commands = Command::augment_subcommands(clap::Command::new("memdir"));
    let named = with_own_arguments(line.iter().skip(1).find_map(|word| commands.find_subcommand(word))?.clone());
    let parser =
        GlobalArgs::augment_args(clap::Command::new("memdir")).disable_help_subcommand(true).subcommand(named).subcommand_required(true);
    let matches = parser.try_get_matches_from(line).ok()?;
    let (global, command) = (GlobalArgs::from_arg_matches(&matches).ok()?, Command::from_arg_matches(&matches).ok()?);
    Some(Args { global, command: Some(command) })
}

/// `memdir chats` has its own `--project`, so it gets its arguments at once: clap gives a command a copy of each global option that it does
/// not have, and the arguments of the others are built after that.
fn with_own_arguments(command: clap::Command) -> clap::Command {
    if command.get_name() == "chats" { ChatsArgs::augment_args(command.defer(identity)) } else { command }
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
fn only_chats_has_an_argument_with_the_id_of_a_global_option() {
    fn collect(command: &clap::Command, path: &str, global: &[&clap::Id], shared: &mut Vec<String>) {
        for subcommand in command.get_subcommands() {
            let path = format!("{path} {}", subcommand.get_name());
            let ids = subcommand.get_arguments().map(clap::Arg::get_id).filter(|id| global.contains(id));
            shared.extend(ids.map(|id| format!("{path}: {id}")));
            collect(subcommand, &path, global, shared);
        }
    }
    let options = GlobalArgs::augment_args(clap::Command::new("memdir"));
    let global: Vec<&clap::Id> = options.get_arguments().map(clap::Arg::get_id).collect();
    let mut commands = Command::augment_subcommands(clap::Command::new("memdir")).disable_help_subcommand(true);
    commands.build();
    let mut shared = Vec::new();
    collect(&commands, "memdir", &global, &mut shared);
    assert!(shared.iter().all(|one| one.starts_with("memdir chats") && one.ends_with(": project")), "{shared:?}");
}

#[test]
fn a_command_is_parsed_alone_as_among_all() {
    let words = |line: &'static str| ["memdir"].into_iter().chain(line.split(' ')).map(OsString::from).collect::<Vec<_>>();
    for line in [
        "hook claude-code prompt",
        "--dir /tmp/hook hook codex before-tool --explain",
        "hook --json --home /tmp gemini stop --only a,b --agent-scope local",
        "--actor hook hook copilot-cli session-start --agent x",
        "--actor read read notes/a --json",
        "search read write",
        "ls notes --long",
        "write hook text --dir x",
        "admin group add --help-me-not x --tenant t",
        "chats --project x --json",
        "chats forget --project x --yes",
        "--json man dir",
        "--dir x man dir",
        "help read",
        "config set mounts.read read",
    ] {
        let alone = parse_named(&words(line)).map(|args| format!("{args:?}"));
        let among_all = Args::try_parse_from(words(line)).ok().map(|args| format!("{args:?}"));
        assert_eq!(alone, among_all, "{line}");
    }
    for line in
        ["--version", "--actor read", "--actor read list", "hook claude-code", "hook --help", "--project x --dir y hook codex stop", "nope"]
    {
        assert!(parse_named(&words(line)).is_none(), "{line}");
    }
}
