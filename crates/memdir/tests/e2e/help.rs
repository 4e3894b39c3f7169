//! `--help`, `--version`, `completions`, and the errors of mistyped commands.

use crate::home::Home;
use insta::assert_snapshot;

#[test]
fn help_names_every_command_and_exit_code() {
    assert_snapshot!(Home::new().run(&["--help"]), @"
    A memory for AI agents and people that lasts: plain Markdown files in a directory

    Usage: memdir [OPTIONS] [COMMAND]

    Commands:
      init         Make a memory directory with its entrypoint
      read         Show the entrypoint, or memories by name
      search       Find the lines that answer, by words and by meaning
      get          Show lines of a memory, as a search names them
      list         List memories by name
      write        Save a memory and its entrypoint line
      edit         Replace a part of a memory
      rename       Give a memory another name, in every reference to it too
      delete       Remove a memory; undo brings it back
      undo         Take a change back: your last one, or any by its id
      redo         Make a change again that was taken back
      history      Show what happened, newest first
      diff         Show what differs between two versions of a memory
      restore      Bring an earlier version of a memory back, also of a deleted one
      entrypoint   Check that every memory has its line in the entrypoint
      log          Append an entry to the log of the day
      verify       Look up what a memory names, and stamp it as true today
      check        Look over all memories for what is wrong or doubtful
      test         Run the memory tests: what a search must find, as memory.tests.md says
      recall       Bring the few memories that matter for a message, or lie on the way of an action
      prompt       Print the memory section for a system prompt
      where        Explain which memories are in force here, and why
      projects     List the projects that have a memory, and bring orphans home
      token        Say who may call over HTTP, and with which memories
      chats        List past conversations with agents, and take in new ones
      index        Bring the search index in step with the files
      watch        Keep the search index in step with the files until interrupted
      resume       Find a past conversation by what was said, and how to take it up again
      stats        Show how much there is
      mcp          Serve memories to an MCP client
      dialects     List the systems whose tools `memdir mcp --dialect` serves
      config       Show the settings in force and where they come from
      install      Plug memdir into agent programs: its tools and its hooks, in one step
      uninstall    Take memdir out of agent programs: exactly what install put in
      doctor       See that what was installed works, and say what to do where it does not
      adopt        Mount the memories other programs keep, where they are
      export       Write memories into one file, for elsewhere
      import       Take in memories from elsewhere; undo takes them back
      man          Print the manual page, or write one for every command
      completions  Print completions for a shell
      demo         A short tour in a scratch directory that is removed afterwards
      bench        Measure and torture memdir on this machine

    Options:
          --home <PATH>
              Where memdir keeps everything that is not in a project (also MEMDIR_HOME); without it
              ~/.memdir

          --project <ID>
              The project whose memory it is, by its id (also MEMDIR_PROJECT); without it the one of
              this directory

          --agent <NAME>
              The agent whose own memory is open too, as agent/NAME (also MEMDIR_AGENT)

          --agent-scope <AGENT_SCOPE>
              How far that agent's memory reaches

              Possible values:
              - user:    Into all your projects
              - project: This project, for everybody: .memdir-agents/ in its repository
              - local:   This project on this machine
              
              [default: user]

          --only <PREFIX>
              See and change only what lies under these prefixes

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Options of every command:
          --dir <PATH>
              This directory is the whole memory (also MEMDIR_DIR)

          --json
              Answer in JSON, errors too

          --actor <NAME>
              Who makes the change, in the history; without it your login name

    Exit codes:
      0  done
      1  not so: no such memory, version or change; it exists, it has changed; a check failed
      2  bad usage or input: a name that can never be one, a file that is not there
      3  a person has to act: permissions, a full disk, a read-only mount, settings, damage
      4  busy: the same command may succeed later

    Example:
      memdir write notes/deploy 'Deploy on Tuesdays, never on Fridays.'
      memdir read notes/deploy
      memdir demo
    ");
}

/// The commands of `--help`, as clap suggests and completes them.
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
    assert_eq!(names.len(), 42, "{names:?}");
    for name in &names {
        let own = home.run(&[name, "--help"]);
        let about = own.lines().next().unwrap();
        assert!(help.contains(&format!("  {name:<11}  {about}\n")), "{name}: {own}");
        assert!(own.contains(&format!("Usage: memdir {name}")), "{own}");
        assert!(own.contains("\nGlobal options: see memdir --help\n"), "{own}");
        assert!(!own.contains("--agent-scope <") && !own.contains("--json  "), "the global options are listed once: {own}");
        assert!(own.contains("\nExamples:\n  "), "{own}");
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 42, "{names:?}");
}

#[test]
fn nested_commands_have_help_too() {
    let home = Home::new();
    for words in [["chats", "sync"], ["projects", "adopt"], ["token", "add"], ["bench", "torture"]] {
        let help = home.run(&[words[0], words[1], "-h"]);
        assert!(help.contains("\nGlobal options: see memdir --help\n") && help.contains("\nExamples:\n  memdir "), "{help}");
    }
    assert!(home.run(&["chats", "-h"]).contains("--project <DIR|ID>"), "an option of its own, not the global one");
}

#[test]
fn a_command_shows_an_example() {
    assert_snapshot!(Home::new().run(&["edit", "-h"]), @r"
    Replace a part of a memory

    Usage: memdir edit [OPTIONS] <NAME> [OLD] [NEW]

    Arguments:
      <NAME>  The memory's name
      [OLD]   What is there now; it must occur exactly once unless --all
      [NEW]   What stands there afterwards

    Options:
          --old-file <FILE>       Read OLD from this file (`-` for standard input)
          --new-file <FILE>       Read NEW from this file (`-` for standard input)
          --regex                 OLD is a regular expression (look-around works; $!1 in NEW is its
                                  first group)
          --all                   Every occurrence
          --if-version <VERSION>  Only if the memory still has this version (or a version that begins
                                  so)
      -h, --help                  Print help (see more with '--help')

    Options of every command:
          --dir <PATH>  This directory is the whole memory (also MEMDIR_DIR)
          --json        Answer in JSON, errors too

    Example:
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

      tip: some similar subcommands exist: 'redo', 'read'

    Usage: memdir [OPTIONS] [COMMAND]

    For more information, try '--help'.
    -- exit 2
    ");
    assert_snapshot!(home.run(&["raed", "--json"]), @r#"
    {
      "error": {
        "code": "usage",
        "message": "unrecognized subcommand 'raed'",
        "hint": "See memdir --help."
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
fn completions_know_the_commands() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = home.ok(&["completions", shell]);
        assert!(script.contains("entrypoint") && script.contains("if-version"), "{shell}");
        assert!(!script.contains("torture-worker ("), "{shell}");
    }
}
