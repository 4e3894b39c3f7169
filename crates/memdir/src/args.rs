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

/// The commands, in the order of `memdir --help`; [`help::GROUPS`] names the first command of each group. Common commands are in the
/// file of the group that they would otherwise be in.
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
