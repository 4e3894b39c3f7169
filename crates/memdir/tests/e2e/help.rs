//! `--help`, `--version`, `completions`, and the errors of mistyped commands.

use crate::home::Home;
use insta::assert_snapshot;

#[test]
fn help_lists_every_command_and_exit_status() {
    assert_snapshot!(Home::new().run(&["--help"]), @"
    Persistent memory for AI agents and people, in plain Markdown files

    Usage: memdir [OPTIONS] [COMMAND]

    Common commands:
      write        Create, replace or append to a memory [alias: add]
      read         Print the entrypoint (MEMORY.md), or memories by name [aliases: cat, show]
      list         List memories [alias: ls]
      search       Search memories by words and by meaning
      edit         Edit a memory in your editor, or replace text in it
      rename       Rename memories and update the references to them [alias: mv]
      delete       Delete memories; `memdir undo` restores them [alias: rm]
      undo         Undo the last change, or any change by its id
      history      Show the history of changes, newest first
      resume       Find a past conversation and print the command that resumes it

    Memories:
      init         Create a memory directory with an entrypoint (MEMORY.md)
      get          Print lines from a memory
      path         Print the path of a memory's file
      log          Append an entry to today's log
      import       Import memories from files and other programs
      export       Export memories to a file, or copy them between this machine and a team server
      ui           Open a web page to view, search and correct memories
      view         Export memories as one self-contained HTML file

    Search and recall:
      recall       Select the memories relevant to a message, or the rules that an action triggers
      replay       Replay past conversations against the current memory
      inbox        List proposed memories with their evidence, and accept, merge or reject them
      rules        List the rules (`when:`) in memories, and accept or reject them
      cues         List memories without cues (search phrases), or set the cues of many memories
      prompt       Print the memory section of a system prompt
      chats        List, import and export past conversations with agents

    History:
      redo         Redo an undone change
      diff         Show the differences between two versions of a memory
      restore      Restore a deleted memory, or an earlier version of a memory
      forget       Forget a fact everywhere: in memories, history, conversations, the index and caches

    Agents and hosts:
      install      Install memdir's tools and hooks in agent programs
      uninstall    Remove memdir's tools and hooks from agent programs
      doctor       Check installations, directories and journals
      adopt        Use other programs' memories without copying them

    Maintenance:
      where        Show which memory directories are in use, and why
      status       Show the memory directories, the number of memories in each, and the last change
      projects     List, merge and rename projects, or use another project's memory
      config       Show the settings with their origins, or change them
      stats        Show statistics about memories, the index and the journal
      check        Check all memories for errors and likely mistakes
      dream        Tidy the memory with a plan that you can review, edit, apply and undo as a whole
      verify       Check the references in a memory and mark it as verified today
      test         Run the memory tests in memory.tests.md
      entrypoint   Check that the entrypoint (MEMORY.md) lists every memory
      index        Update the search index
      watch        Keep the search index up to date until interrupted

    Server:
      mcp          Serve memories over the Model Context Protocol
      dialects     List the memory systems that `memdir mcp --dialect` emulates
      token        Manage bearer tokens for HTTP clients
      serve        Serve a team's memories from a PostgreSQL database
      admin        Manage a team server's database, tenants, people and tokens
      review       Review proposed changes on a team server

    Development:
      demo         Run a short tour in a temporary directory
      bench        Run benchmarks and stress tests
      man          Print the manual page, or write all manual pages to a directory
      completions  Print a shell completion script
      help         Print help for memdir or a command

    Global options:
          --dir <PATH>           Use this directory as the whole memory [env: MEMDIR_DIR]
          --json                 Print output and errors as JSON
          --actor <NAME>         Name to record in the history as the author of changes [env: USER,
                                 LOGNAME] [default: cli]
          --home <PATH>          Directory for memories, journals and settings [env: MEMDIR_HOME]
                                 [default: ~/.memdir]
          --project <ID>         Project id [env: MEMDIR_PROJECT] [default: from the current directory]
          --agent <NAME>         Also use this agent's memory, as agent/NAME (no effect with --dir)
                                 [env: MEMDIR_AGENT]
          --agent-scope <SCOPE>  Scope of the agent's memory: user (all projects), project (shared in
                                 the repository) or local (this project, on this machine) [default:
                                 user]
          --only <PREFIX>        Access only memories under these prefixes, separated by commas, such as
                                 team,notes
      -h, --help                 Print help
      -V, --version              Print version

    Standard input:
      Use `-` to read a text from standard input, or a file where the help of the command says so. It
      can be used once per command. The final newline of a text is removed, except for TEXT in
      `memdir write`; files are read unchanged.

    Exit status:
      0  success
      1  not found, conflict, or a check failed
      2  invalid usage or input
      3  action required: permissions, disk space, a read-only mount, configuration, or damaged data
      4  busy: the same command may succeed later

    Examples:
      memdir write notes/deploy 'Deploy on Tuesdays, never on Fridays.'
      memdir search when do we deploy
      memdir demo
    ");
}

/// The names of the commands in `memdir --help`.
fn commands(help: &str) -> Vec<&str> {
    let lines = help.lines().take_while(|line| *line != "Global options:").filter(|line| line.starts_with("  "));
    lines.filter_map(|line| line.split_whitespace().next()).collect()
}

#[test]
fn the_common_commands_are_on_the_first_screen() {
    let help = Home::new().run(&["--help"]);
    let first_screen: Vec<&str> = help.lines().take(24).collect();
    for name in ["write", "read", "list", "search", "edit", "rename", "delete", "undo", "history", "resume"] {
        assert!(first_screen.iter().any(|line| line.starts_with(&format!("  {name} "))), "{name} is not in\n{}", first_screen.join("\n"));
    }
    assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
}

#[test]
fn every_command_is_listed_once_and_explains_itself() {
    let home = Home::new();
    let help = home.run(&["--help"]);
    let mut names = commands(&help);
    assert_eq!(names.len(), 56, "{names:?}");
    for name in &names {
        let own = home.run(&[name, "--help"]);
        let about = own.lines().next().unwrap();
        assert!(help.contains(&format!("  {name:<11}  {about}")), "{name}: {own}");
        assert!(own.contains(&format!("Usage: memdir {name}")), "{own}");
        assert!(own.contains("\nGlobal options: see `memdir --help`\n"), "{own}");
        assert!(!own.contains("--agent-scope <") && !own.contains("--json  "), "the global options are listed once: {own}");
        assert!(own.contains("\nExamples:\n  "), "{own}");
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 56, "{names:?}");
}

#[test]
fn nested_commands_have_help_too() {
    let home = Home::new();
    for words in [["chats", "sync"], ["projects", "adopt"], ["token", "add"], ["bench", "torture"]] {
        let help = home.run(&[words[0], words[1], "-h"]);
        assert!(help.contains("\nGlobal options: see `memdir --help`\n") && help.contains("\nExamples:\n  memdir "), "{help}");
    }
    assert!(home.run(&["chats", "-h"]).contains("--project <DIR|ID>"), "an option of its own, not the global one");
}

#[test]
fn a_command_shows_an_example() {
    assert_snapshot!(Home::new().run(&["edit", "-h"]), @r"
    Edit a memory in your editor, or replace text in it

    Usage: memdir edit [OPTIONS] <NAME> [OLD] [NEW]

    Arguments:
      <NAME>  Name of the memory
      [OLD]   Text to replace (`-` for standard input); must occur exactly once unless --all is given
      [NEW]   Replacement text (`-` for standard input)

    Options:
          --old-file <FILE>       Read OLD from a file (`-` for standard input)
          --new-file <FILE>       Read NEW from a file (`-` for standard input)
          --regex                 Treat OLD as a regular expression with look-around; `$!1` in NEW is
                                  the first capture group
          --all                   Replace all occurrences
          --draft <FILE>          Start from the text in this file, such as a draft that could not be
                                  saved, instead of the memory's text
          --if-version <VERSION>  Fail unless the memory's version equals VERSION or begins with it
      -h, --help                  Print help (see more with '--help')

    Global options: see `memdir --help`

    Without OLD and NEW, the memory is opened in the editor set in VISUAL or EDITOR. An editor that
    returns at once needs its option to wait, such as `code --wait`. If the memory is changed in the
    meantime, or your text cannot be saved, the text is kept in a file, and the error message shows
    the command to continue with.

    Examples:
      memdir edit notes/deploy
      memdir edit notes/deploy Tuesdays Wednesdays
      memdir edit notes/deploy --regex 'v(\d+)\.0' 'v$!1.1' --all
      memdir edit notes/deploy --old-file before.txt --new-file after.txt
    ");
}

#[test]
fn mistyped_commands_are_usage_errors() {
    let home = Home::new();
    assert_snapshot!(home.run(&["raed"]), @"
    -- stderr
    error: unrecognized subcommand 'raed'

      tip: some similar subcommands exist: 'add', 'redo', 'read'

    Usage: memdir [OPTIONS] [COMMAND]

    For more information, try '--help'.
    -- exit 2
    ");
    assert_snapshot!(home.run(&["raed", "--json"]), @r#"
    {
      "error": {
        "code": "usage",
        "message": "unrecognized subcommand 'raed'",
        "hint": "see the usage with: memdir help COMMAND"
      }
    }
    -- exit 2
    "#);
    assert_snapshot!(home.run(&["write", "a", "x", "--append", "--replace"]), @"
    -- stderr
    error: the argument '--append' cannot be used with '--replace'

    Usage: memdir write --append <NAME> <TEXT>

    For more information, try '--help'.
    -- exit 2
    ");
    assert!(home.run(&["--version"]).starts_with("memdir "));
}

#[test]
fn help_is_a_command() {
    let home = Home::new();
    assert_eq!(home.run(&["help"]), home.run(&["--help"]));
    assert_eq!(home.run(&["help", "write"]), home.run(&["write", "--help"]));
    assert_eq!(home.run(&["help", "chats", "sync"]), home.run(&["chats", "sync", "--help"]));
    assert_eq!(home.run(&["help", "rm"]), home.run(&["delete", "--help"]));
    assert_snapshot!(home.run(&["help", "raed"]), @"
    -- stderr
    error: unrecognized subcommand 'raed'

      tip: some similar subcommands exist: 'add', 'redo', 'read'

    Usage: memdir [OPTIONS] [COMMAND]

    For more information, try '--help'.
    -- exit 2
    ");
    assert_snapshot!(home.run(&["help", "chats", "snyc"]), @"
    -- stderr
    error: unrecognized subcommand 'snyc'

      tip: a similar subcommand exists: 'sync'

    Usage: memdir chats [OPTIONS]
           memdir chats <COMMAND>

    For more information, try '--help'.
    -- exit 2
    ");
    assert_snapshot!(home.run(&["help", "write", "notes"]), @r#"
    -- stderr
    error: unknown command "memdir write notes"
    hint: see the arguments of `memdir write` with: memdir help write
    -- exit 2
    "#);
    assert_snapshot!(home.run(&["help", "projects", "adopt", "shop"]), @r#"
    -- stderr
    error: unknown command "memdir projects adopt shop"
    hint: see the arguments of `memdir projects adopt` with: memdir help projects adopt
    -- exit 2
    "#);
    assert_snapshot!(home.run(&["help", "raed", "--json"]), @r#"
    {
      "error": {
        "code": "usage",
        "message": "unrecognized subcommand 'raed'",
        "hint": "see the usage with: memdir help COMMAND"
      }
    }
    -- exit 2
    "#);
}

#[test]
fn common_commands_have_the_names_of_other_programs() {
    let home = Home::new();
    assert_snapshot!(home.run(&["add", "notes/a", "A."]), @"created notes/a (3 bytes, version c69ab1ce71d2, change [ID])");
    assert_snapshot!(home.run(&["ls"]), @"notes/a");
    assert_snapshot!(home.run(&["cat", "notes/a"]), @"A.");
    assert_snapshot!(home.run(&["show", "notes/a"]), @"A.");
    assert_snapshot!(home.run(&["mv", "notes/a", "notes/b"]), @"renamed notes/a to notes/b (change [ID])");
    assert_snapshot!(home.run(&["rm", "notes/b"]), @"deleted notes/b (undo: memdir undo [ID])");
    assert_eq!(home.run(&["status"]), home.run(&[]));
    assert_eq!(home.run(&["status", "--json"]), home.run(&["--json"]));
    assert_snapshot!(home.run(&["ls", "-h"]), @"
    List memories

    Usage: memdir list [OPTIONS] [TOPIC]
    Alias: ls

    Arguments:
      [TOPIC]  List only memories under this topic

    Options:
          --type <TYPE>    List only memories of this type: user, feedback, project or reference
          --newer <DAYS>   List only memories that are at most DAYS days old
          --older <DAYS>   List only memories that are at least DAYS days old
          --min-bytes <N>  List only memories of at least N bytes
          --tree           Print the memories as a tree of topics
      -l, --long           Print the type, size, age and description of each memory
      -h, --help           Print help

    Global options: see `memdir --help`

    The age of a memory is counted from the date in its frontmatter (`last_verified`, `modified` or
    `created`), or else from the modification time of its file.

    Examples:
      memdir list
      memdir list notes --long
      memdir list --type feedback --newer 30
      memdir list --tree
    ");
}

#[test]
fn errors_name_no_hidden_command() {
    let home = Home::new();
    assert_snapshot!(home.run(&["nope"]), @"
    -- stderr
    error: unrecognized subcommand 'nope'

    Usage: memdir [OPTIONS] [COMMAND]

    For more information, try '--help'.
    -- exit 2
    ");
    for words in [&["help", "complet"][..], &["bench"], &["bench", "--json"], &["bench", "torture-workr"]] {
        let printed = home.run(words);
        assert!(!printed.contains("'complete'") && !printed.contains("torture-worker"), "{printed}");
    }
    assert!(home.run(&["wirte"]).contains("'write'") && home.run(&["bench", "--json"]).contains("torture, search"));
}
