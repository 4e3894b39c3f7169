//! Generates the reference pages from the command line and the table of settings; the tests fail if the committed pages differ.
//! `UPDATE_DOCS=1 cargo test -p memdir docs` rewrites them. Compiled only for tests.

mod rest;

use crate::{
    args::help,
    config::{KEYS, VARIABLES},
    exit,
    hosts::HOSTS,
};
use clap::{Arg, ArgAction, Command, Id};
use memdir_chats::READERS;
use memdir_core::internal::{
    base::text::one_line,
    operations::ledger::{RULE_MIN_SESSIONS, UNUSED_DAYS},
};
use std::{fmt::Write as _, path::Path};

#[test]
fn the_page_on_commands_is_current() {
    check("cli.md", &commands());
}

#[test]
fn the_page_on_settings_is_current() {
    check("config.md", &settings());
}

#[test]
fn every_command_has_an_example() {
    fn check(command: &Command) {
        for command in visible(command) {
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let example = format!("memdir {}", command.get_bin_name().unwrap_or_default().trim_start_matches("memdir "));
            assert!(after.contains("Examples:\n  "), "`{example}` has no example");
            assert!(after.contains(&example) || after.contains("memdir --dir"), "the examples of `{example}` do not run it");
            check(command);
        }
    }
    check(&help::command());
}

/// Help texts are phrases: they start with a capital letter and have no full stop.
#[test]
fn help_texts_have_one_form() {
    fn check(command: &Command) {
        for command in command.get_subcommands() {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let helps = command.get_arguments().map(|arg| arg.get_help().map(ToString::to_string).unwrap_or_default());
            for text in std::iter::once(about).chain(helps) {
                assert!(text.starts_with(|c: char| c.is_uppercase()) || text.starts_with("memdir"), "{}: {text:?}", command.get_name());
                assert!(!text.ends_with('.'), "{}: {text:?}", command.get_name());
            }
            check(command);
        }
    }
    check(&help::command());
}

#[test]
fn every_group_of_commands_has_a_first_command() {
    let command = help::command();
    let headings: Vec<&str> = help::groups(&command).into_iter().map(|(heading, _)| heading).collect();
    assert_eq!(headings, help::GROUPS.iter().map(|(heading, _)| *heading).collect::<Vec<_>>());
    assert_eq!(help::groups(&command)[0].1.len(), 10, "the common commands fit on the first screen");
}

/// The lists of hosts that are written by hand have every host of the tables, in their order.
#[test]
fn lists_of_hosts_are_current() {
    let read = |path: &str| {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).unwrap();
        one_line(&text)
    };
    let list = |names: &[String], last: &str| format!("{} {last} {}", names[..names.len() - 1].join(", "), names[names.len() - 1]);
    let code = |name: &str| format!("`{name}`");

    let installable = list(&HOSTS.iter().map(|host| code(host.name)).collect::<Vec<_>>(), "or");
    let readme = read("README.md");
    assert!(readme.contains(&format!("connects one agent: {installable}.")), "README.md does not list {installable}");

    let readers = list(&READERS.iter().map(|reader| code(reader.name)).collect::<Vec<_>>(), "or");
    let setting = KEYS.iter().find(|key| key.name == "chats.hosts_off").unwrap();
    assert!(setting.doc.contains(&format!(": {readers} (")), "chats.hosts_off does not list {readers}");

    // A program that has transcripts, but is not a host, has no title; the guide spells its name in its own case.
    let title = |reader: &&memdir_chats::Reader| {
        let host = HOSTS.iter().find(|host| host.transcripts.is_some_and(|own| own.name == reader.name));
        host.map_or(reader.name, |host| host.title).to_lowercase()
    };
    let titles: Vec<String> = READERS.iter().filter(|reader| reader.name != "folder").map(title).collect();
    let titles = list(&titles, "and");
    let guide = read("docs/guides/search-past-conversations.md").to_lowercase();
    assert!(guide.contains(&format!("## which conversations {titles}.")), "search-past-conversations.md does not list {titles}");
}

#[test]
fn the_numbers_in_descriptions_of_settings_are_those_of_the_code() {
    let words = format!("has not fired in {UNUSED_DAYS} days, after at least {RULE_MIN_SESSIONS} conversations");
    let unused = KEYS.iter().find(|key| key.name == "inbox.unused").unwrap();
    assert!(unused.doc.contains(&words), "inbox.unused does not say: {words}");
}

#[expect(clippy::disallowed_methods, reason = "a page is written only on request")]
fn check(name: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(name);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, expected).unwrap();
    }
    let actual = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(actual == expected, "docs/reference/{name} is not current; run UPDATE_DOCS=1 cargo test -p memdir docs");
}

fn visible(command: &Command) -> Vec<&Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set()).collect()
}

fn commands() -> String {
    let command = help::command();
    let mut page = String::from("# Commands\n\nGenerated from the definition of the command line.\n\n");
    let without = "`memdir` without a command shows the mounts, the number of memories and the last change.";
    let _ = writeln!(page, "{}.\n\n{without}\n", about(&command));
    for (heading, commands) in help::groups(&command) {
        let _ = writeln!(page, "## {heading}\n\n| command | description |\n|---|---|");
        for command in commands {
            let names = std::iter::once(format!("[`{0}`](#memdir-{0})", command.get_name()));
            let names: Vec<String> = names.chain(command.get_visible_aliases().map(|alias| format!("`{alias}`"))).collect();
            let _ = writeln!(page, "| {} | {} |", names.join(", "), about(command));
        }
        page.push('\n');
    }
    let _ = writeln!(page, "## Global options\n\nEvery command accepts these options.\n");
    command.get_arguments().filter(|arg| arg.is_global_set()).for_each(|arg| option(&mut page, arg));
    let _ = writeln!(page, "\n## Exit status\n\n```text\n{}\n```", exit::STATUSES);
    let global: Vec<&Id> = command.get_arguments().filter(|arg| arg.is_global_set()).map(Arg::get_id).collect();
    visible(&command).iter().for_each(|command| section(&mut page, "memdir", command, &global));
    page
}

/// Writes the section of one command, without the options of the commands above it.
fn section(page: &mut String, parent: &str, command: &Command, global: &[&Id]) {
    let name = format!("{parent} {}", command.get_name());
    let _ = writeln!(page, "\n## {name}\n\n{}.\n", about(command));
    let usage = command.clone().render_usage().to_string();
    let _ = writeln!(page, "```text\n{}\n```\n", usage.trim_start_matches("Usage: ").trim());
    let is_own = |arg: &&Arg| {
        let is_inherited = arg.is_global_set() && global.contains(&arg.get_id());
        !is_inherited
            && !arg.is_hide_set()
            && !matches!(arg.get_action(), ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version)
    };
    command.get_arguments().filter(is_own).for_each(|arg| option(page, arg));
    let aliases: Vec<String> = command.get_visible_aliases().map(|alias| format!("`{parent} {alias}`")).collect();
    if !aliases.is_empty() {
        let heading = if aliases.len() == 1 { "Alias" } else { "Aliases" };
        let _ = writeln!(page, "\n{heading}: {}.", aliases.join(", "));
    }
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (text, examples) = after.split_once("Examples:\n").unwrap_or((&after, ""));
    if !text.trim().is_empty() {
        let _ = writeln!(page, "\n{}", text.trim());
    }
    if !examples.is_empty() {
        let lines: Vec<&str> = examples.lines().map(|line| line.strip_prefix("  ").unwrap_or(line)).collect();
        let _ = writeln!(page, "\n```sh\n{}\n```", lines.join("\n"));
    }
    let own_global = command.get_arguments().filter(|arg| arg.is_global_set()).map(Arg::get_id);
    let global: Vec<&Id> = global.iter().copied().chain(own_global).collect();
    visible(command).iter().for_each(|command| section(page, &name, command, &global));
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
    let has_default = !defaults.is_empty() && !arg.is_hide_default_value_set() && arg.get_action().takes_values();
    let default = if has_default { format!(" (default: {})", defaults.join(",")) } else { String::new() };
    let _ = writeln!(page, "- {short}`{shown}`: {help}{default}");
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

fn settings() -> String {
    let mut page = String::from(SETTINGS);
    for variable in VARIABLES {
        let names: Vec<String> = variable.names.split(", ").map(|name| format!("`{name}`")).collect();
        let _ = writeln!(page, "| {} | {} | {} |", names.join(", "), variable.doc, variable.default);
    }
    page.push_str(SETTINGS_FILE);
    for key in KEYS.iter().filter(|key| !key.default.is_empty()) {
        let kind = key.kind.replace('|', "\\|");
        let _ = writeln!(page, "| `{}` | {kind} | {} | {} |", key.name, key.default, key.doc);
    }
    page.push_str(EXAMPLE);
    page
}

const SETTINGS: &str = "\
# Settings

Generated from the table of settings.

memdir works without settings. `memdir config` shows every setting with its value and where it comes from. `memdir config set KEY VALUE`,
`memdir config unset KEY` and `memdir config edit` change the file; comments stay, and an invalid value is refused.

In paths that you set here, in the environment or on the command line, `~` is the home directory and `${VAR}` is an environment
variable. A relative path in this file is relative to the file; any other relative path is relative to the current directory. Input from a model is never expanded.

A directory cannot be a memory if it is `/` or your home directory, contains your home directory, has a path of fewer than three
characters, or is a drive or a network path: every file in it would become a memory.

## Environment

| variable | meaning | default |
|---|---|---|
";

const SETTINGS_FILE: &str = "
## `MEMDIR_HOME/config.toml`

An unknown key is reported with the most similar known key, and otherwise ignored. A syntax error is reported with its line
and column.

| key | value | default | meaning |
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

Without `--dir`, a space consists of the mounts in this file and three built-in mounts:

- the memory of the project, without a prefix: one directory per git repository or directory, under `MEMDIR_HOME/projects`
- the memory of the user, `user/…`, in `MEMDIR_HOME/user`
- the memory of the team, `team/…`, in `.memdir` of the repository, if it exists

If `--dir` is a configured mount, it keeps the rules and the journal of that mount. If it is inside a mount, it uses the lock of that
mount, so that both views of the files can be used at the same time.
";
