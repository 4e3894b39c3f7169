//! Writes the reference pages from the command line and the table of settings, and fails if the committed ones differ.
//! `UPDATE_DOCS=1 cargo test -p memdir docs` writes them anew. Compiled for tests only.

use crate::{args::Args, config::KEYS};
use clap::{Arg, Command, CommandFactory as _};
use std::{fmt::Write as _, path::Path};

#[test]
fn the_page_on_commands_is_current() {
    check("cli.md", &commands());
}

#[test]
fn the_page_on_settings_is_current() {
    check("config.md", &settings());
}

/// Every command shows an example of itself.
#[test]
fn every_command_has_an_example() {
    for command in visible(&built()) {
        let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(after.contains("Example:\n  memdir"), "{} has no example", command.get_name());
    }
}

#[expect(clippy::disallowed_methods, reason = "a page is written on demand, by whoever changes what it describes")]
fn check(name: &str, wanted: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(name);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, wanted).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(there == wanted, "docs/reference/{name} is not current; UPDATE_DOCS=1 cargo test -p memdir docs writes it");
}

fn built() -> Command {
    let mut command = Args::command();
    command.build();
    command
}

fn visible(command: &Command) -> Vec<&Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set()).collect()
}

fn commands() -> String {
    let command = built();
    let mut page = String::from("# Commands\n\nWritten by a test from the command line itself.\n\n");
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let _ = writeln!(page, "{about}\n\nPlain `memdir` shows where the memory is, how much there is, and what happened last.\n");
    let _ = writeln!(page, "| command | what it does |\n|---|---|");
    for command in visible(&command) {
        let _ = writeln!(page, "| [`{0}`](#memdir-{0}) | {1} |", command.get_name(), about_of(command));
    }
    let _ = writeln!(page, "\n## Options of every command\n");
    command.get_arguments().filter(|arg| arg.is_global_set()).for_each(|arg| option(&mut page, arg));
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let codes = after.split("\n\n").next().unwrap_or_default().trim_start_matches("Exit codes:\n");
    let _ = writeln!(page, "\n## Exit codes\n\n```text\n{codes}\n```");
    visible(&command).iter().for_each(|command| one(&mut page, "memdir", command));
    page
}

fn one(page: &mut String, above: &str, command: &Command) {
    let name = format!("{above} {}", command.get_name());
    let _ = writeln!(page, "\n## {name}\n\n{}.\n", about_of(command));
    let usage = command.clone().render_usage().to_string();
    let _ = writeln!(page, "```text\n{}\n```\n", usage.trim_start_matches("Usage: ").trim());
    let own = |arg: &&Arg| !arg.is_global_set() && !arg.is_hide_set() && arg.get_id() != "help" && arg.get_id() != "version";
    command.get_arguments().filter(own).for_each(|arg| option(page, arg));
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (words, example) = after.split_once("Example:\n").unwrap_or((&after, ""));
    if !words.trim().is_empty() {
        let _ = writeln!(page, "\n{}", words.trim());
    }
    if !example.is_empty() {
        let lines: Vec<&str> = example.lines().map(|line| line.strip_prefix("  ").unwrap_or(line)).collect();
        let _ = writeln!(page, "\n```sh\n{}\n```", lines.join("\n"));
    }
    visible(command).iter().for_each(|command| one(page, &name, command));
}

fn option(page: &mut String, arg: &Arg) {
    let value = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    let value = value.filter(|_| arg.get_action().takes_values());
    let shown = match (arg.get_long(), value) {
        (Some(long), Some(value)) => format!("--{long} {value}"),
        (Some(long), None) => format!("--{long}"),
        (None, value) => value.unwrap_or_default(),
    };
    let short = arg.get_short().map_or(String::new(), |short| format!("`-{short}`, "));
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let defaults: Vec<String> = arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    let shows = !defaults.is_empty() && !arg.is_hide_default_value_set() && arg.get_action().takes_values();
    let default = if shows { format!(" (default: {})", defaults.join(",")) } else { String::new() };
    let _ = writeln!(page, "- {short}`{shown}`: {help}{default}");
}

fn about_of(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

fn settings() -> String {
    let mut page = String::from(SETTINGS);
    for key in KEYS.iter().filter(|key| !key.default.is_empty()) {
        let kind = key.kind.replace('|', "\\|");
        let _ = writeln!(page, "| `{}` | {kind} | {} | {} |", key.name, key.default, key.doc);
    }
    page.push_str(EXAMPLE);
    page
}

const SETTINGS: &str = "\
# Settings

Written by a test from the table of settings.

memdir needs no settings. `memdir config` shows those in force and where each comes from.

In every path that a person gives (here, in the environment, on the command line) `~` is the home directory and `${VAR}` a
variable; a relative path in the file is relative to the file, any other to the current directory. Nothing that comes from a
model is ever expanded. A directory of memories is refused where it is `/` or your home, lies above your home, has fewer than
three characters, or is a drive or a network path of another system: every file in it would be a memory.

## Environment

| variable | meaning | default |
|---|---|---|
| `MEMDIR_HOME` | where memdir keeps everything that is not in a project: memories, journals, `config.toml` | `~/.memdir` |
| `MEMDIR_DIR` | this directory is the whole memory; `--dir` wins over it | none |
| `MEMDIR_PROJECT` | the id of the project whose memory is open; `--project` wins over it | the directory's |
| `MEMDIR_AGENT` | the agent whose own memory is open too; `--agent` wins over it | none |
| `MEMDIR_DISABLE` | `1` turns memory off, `0` on; comes before every other switch | none |
| `MEMDIR_TOKEN` | the token callers over HTTP must show; `--token-file` wins over it | none |
| `MEMDIR_EXTRA_GUIDELINES`, `CLAUDE_COWORK_MEMORY_EXTRA_GUIDELINES` | what every prompt says besides; blank is ignored | none |
| `USER`, `LOGNAME` | who makes changes, in the history; `--actor` wins over them | `cli` |
| `NO_COLOR`, `CLICOLOR_FORCE`, `TERM` | whether colours are used on a terminal | |
| `CLAUDE_CONFIG_DIR`, `CODEX_HOME`, `GEMINI_CLI_HOME`, `OPENCODE_DB`, `OPENCLAW_STATE_DIR`, `XDG_DATA_HOME`, `XDG_CONFIG_HOME` | where hosts keep their conversations, by their own rules; read by `memdir chats` | the hosts' own |

## `MEMDIR_HOME/config.toml`

A key that is not in this table is reported with the nearest that is, and otherwise ignored. A file that cannot be read is an
error with its line and column.

| key | value | without it | meaning |
|---|---|---|---|
";

const EXAMPLE: &str = "
```toml
[memory]
extraPaths = [\"~/docs/adr\", \"${WORK}/handbook/**/*.md\"]

[[mounts]]
name = \"notes\"
path = \"~/notes\"

[[mounts]]
name = \"serena\"
path = \"~/src/app/.serena/memories\"
entrypoint = false
read_only = [\"core\", \"conventions/.*\"]
```

Without `--dir`, a space is made of the mounts in this file and of three that need no setting: the project's own memories
(unprefixed, one directory per git repository or directory, under `MEMDIR_HOME/projects`), the person's (`user/…`, in
`MEMDIR_HOME/user`), and, where the repository has a directory `.memdir` of its own, the team's (`team/…`).

A `--dir` that is a configured mount keeps that mount's rules and journal; one that lies inside a mount is guarded by that
mount's lock, so that both views of the files are safe at once.
";
