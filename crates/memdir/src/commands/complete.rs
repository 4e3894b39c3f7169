//! `memdir complete`: the completions of a command line, one per line with a tab and a description where there is one. `:files` means
//! that the shell completes paths. Never fails, writes nothing and creates nothing.

use crate::{
    args::{Args, GlobalArgs},
    config::{KEYS, Settings, TABLE},
    mounts::{INBOX, OTHER_INBOX},
    output::CommandOutput,
    project_records,
    scope::Scope,
};
use clap::{Arg, Command, CommandFactory as _};
use memdir_chats::READERS;
use memdir_core::internal::{
    base::{sort::SharedSort as _, text::one_line},
    operations::inbox::REJECTED,
};
use memdir_core::{Access, Actor, FileStore, Kind, List, Memdir, Mount, Source};
use serde::Serialize;
use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

/// What the shell prints for one completion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Completion {
    value: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

/// The line by which a shell is asked to complete paths.
const PATHS: &str = ":files";

pub(crate) fn run(words: &[String]) -> CommandOutput {
    let mut found = completions(words);
    found.dedup();
    CommandOutput::new(found, |found, printer| {
        found.iter().try_for_each(|one| match &one.help {
            Some(help) => printer.line(format!("{}\t{help}", one.value)),
            None => printer.line(&one.value),
        })
    })
}

fn completions(words: &[String]) -> Vec<Completion> {
    let words = joined(words);
    let Some((current, before)) = words.split_last().filter(|(_, before)| !before.is_empty()) else { return Vec::new() };
    let mut command = Args::command();
    command.build();
    let line = PartialCommandLine::parse(&command, &before[1..]);
    let matching = |found: Vec<Completion>, start: &str| {
        found.into_iter().filter(|one| one.value == PATHS || one.value.starts_with(start)).collect::<Vec<_>>()
    };
    if let Some(arg) = line.expects {
        return matching(line.values(arg, current), current);
    }
    // In bash, `=` is a word of its own, and only what follows it is replaced.
    if let Some((option, start)) = current.split_once('=').filter(|_| current.starts_with("--")) {
        let arg = line.option(option);
        return arg.map_or_else(Vec::new, |arg| matching(line.values(arg, start), start));
    }
    if current.starts_with('-') && !line.only_values {
        return matching(line.options(), current);
    }
    let mut found = line.subcommands();
    if let Some(arg) = line.positional() {
        found.extend(line.values(arg, current));
    }
    matching(found, current)
}

/// The words without the backslashes of a shell, and with `--option`, `=` and a value as one word, which bash splits.
fn joined(words: &[String]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut joins = false;
    for word in words {
        let word = word.replace('\\', "");
        match out.last_mut() {
            Some(last) if word == "=" && last.starts_with("--") => {
                last.push('=');
                joins = true;
            }
            Some(last) if joins => {
                last.push_str(&word);
                joins = false;
            }
            _ => out.push(word),
        }
    }
    out
}

/// A command line up to the word to complete.
struct PartialCommandLine<'a> {
    command: &'a Command,
    /// The command that the words after `memdir help` name so far.
    helped: &'a Command,
    /// Whether a subcommand was given, or the command has arguments already.
    names: Vec<String>,
    /// Number of positional arguments of the command so far.
    positionals: usize,
    /// The option whose value is the word to complete.
    expects: Option<&'a Arg>,
    /// Whether `--` was given.
    only_values: bool,
    /// The values of the options that select the memory.
    options: BTreeMap<String, String>,
}

impl<'a> PartialCommandLine<'a> {
    fn parse(root: &'a Command, words: &[String]) -> PartialCommandLine<'a> {
        let mut line = PartialCommandLine {
            command: root,
            helped: root,
            names: Vec::new(),
            positionals: 0,
            expects: None,
            only_values: false,
            options: BTreeMap::new(),
        };
        for word in words {
            if let Some(arg) = line.expects.take() {
                line.options.insert(arg.get_id().to_string(), word.clone());
            } else if line.only_values || !word.starts_with('-') || word == "-" {
                match line.command.find_subcommand(word).filter(|_| line.positionals == 0 && !line.only_values) {
                    Some(next) => {
                        line.names.push(next.get_name().to_owned());
                        line.command = next;
                    }
                    None => {
                        line.positionals += 1;
                        line.helped = line.helped.find_subcommand(word).unwrap_or(line.helped);
                    }
                }
            } else if word == "--" {
                line.only_values = true;
            } else if let Some((option, value)) = word.split_once('=') {
                if let Some(arg) = line.option(option) {
                    line.options.insert(arg.get_id().to_string(), value.to_owned());
                }
            } else {
                line.expects = line.option(word).filter(|arg| arg.get_action().takes_values());
            }
        }
        line
    }

    fn option(&self, word: &str) -> Option<&'a Arg> {
        let is_named = |arg: &&Arg| match word.strip_prefix("--") {
            Some(long) => arg.get_long() == Some(long),
            None => arg.get_short().is_some_and(|short| word == format!("-{short}")),
        };
        self.command.get_arguments().find(is_named)
    }

    fn positional(&self) -> Option<&'a Arg> {
        let positionals: Vec<&Arg> = self.command.get_positionals().collect();
        let last = *positionals.last()?;
        let takes_more = |arg: &&&Arg| arg.get_num_args().is_some_and(|range| range.max_values() > 1);
        positionals.get(self.positionals).copied().or_else(|| positionals.iter().find(takes_more).map(|_| last))
    }

    fn options(&self) -> Vec<Completion> {
        let shown = self.command.get_arguments().filter(|arg| !arg.is_hide_set());
        let option = |arg: &Arg| {
            Some(Completion { value: format!("--{}", arg.get_long()?), help: arg.get_help().map(|help| one_line(&help.to_string())) })
        };
        shown.filter_map(option).collect()
    }

    fn subcommands(&self) -> Vec<Completion> {
        if self.positionals > 0 || self.only_values {
            return Vec::new();
        }
        let about = |command: &Command| command.get_about().map(|about| one_line(&about.to_string()));
        visible_subcommands(self.command).map(|command| Completion { value: command.get_name().to_owned(), help: about(command) }).collect()
    }

    /// The values of an argument that begin with `start`, and perhaps others.
    fn values(&self, arg: &Arg, start: &str) -> Vec<Completion> {
        let possible = arg.get_possible_values();
        if !possible.is_empty() {
            let shown = possible.iter().filter(|value| !value.is_hide_set());
            let help = |value: &clap::builder::PossibleValue| value.get_help().map(|help| one_line(&help.to_string()));
            return shown.map(|value| Completion { value: value.get_name().to_owned(), help: help(value) }).collect();
        }
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        match (names.as_slice(), arg.get_id().as_str()) {
            (["help"], _) => without_help(visible_subcommands(self.helped).map(|command| command.get_name().to_owned()).collect()),
            (["config", "set" | "unset"], "key") => without_help(settings_keys()),
            (["projects", ..], "id" | "from" | "into" | "to") | (["token", "add"], "projects") => without_help(self.projects()),
            (["chats" | "resume", ..], "host") => without_help(READERS.iter().map(|reader| reader.name.to_owned()).collect()),
            (["mcp"], "dialect") => without_help(memdir_core::internal::dialects::DIALECTS.iter().map(|one| one.name.to_owned()).collect()),
            (["chats", ..], "project") => paths(),
            (_, "project") => without_help(self.projects()),
            (_, "kind") => without_help(Kind::ALL.iter().map(|kind| kind.as_str().to_owned()).collect()),
            (["write"] | ["inbox", "merge"], "name") | (["inbox", "accept"], "new_name") => self.memories(start),
            (["inbox", _], "candidate" | "candidates") => without_help(self.candidates()),
            (["log"], "prefix") => without_help(self.log_prefixes()),
            (_, "only" | "under" | "topic") => self.memories(start).into_iter().filter(|one| one.value.ends_with('/')).collect(),
            (["rename" | "delete" | "read" | "edit" | "get" | "path" | "history" | "diff" | "restore" | "verify"], id)
                if matches!(id, "name" | "names" | "path" | "to") || (id == "from" && names != ["diff"]) =>
            {
                self.memories(start)
            }
            (_, "why_not" | "shown") => self.memories(start),
            (_, "dir" | "home" | "file" | "batch" | "old_file" | "new_file" | "draft" | "out" | "token_file" | "transcripts" | "path") => {
                paths()
            }
            (["import"], "from") => paths(),
            _ => Vec::new(),
        }
    }

    /// The options of the command line that select the memory.
    fn global(&self) -> GlobalArgs {
        let text = |name: &str| self.options.get(name).cloned();
        let path = |name: &str| text(name).map(PathBuf::from);
        GlobalArgs { dir: path("dir"), home: path("home"), project: text("project"), agent: text("agent"), ..GlobalArgs::default() }
    }

    fn projects(&self) -> Vec<String> {
        Settings::load(&self.global()).map_or_else(|_| Vec::new(), |settings| project_records::ids(&settings.home.value))
    }

    /// The memories and topics one level below the topic in `start`.
    fn memories(&self, start: &str) -> Vec<Completion> {
        let topic = start.rsplit_once('/').map_or("", |(topic, _)| topic);
        let mut found: Vec<String> = self.names_below(topic).unwrap_or_default();
        let below = topic.len() + usize::from(!topic.is_empty());
        for name in &mut found {
            if let Some(end) = name.get(below..).and_then(|rest| rest.find('/')) {
                name.truncate(below + end + 1);
            }
        }
        found.shared_sort();
        found.dedup();
        without_help(found)
    }

    /// The names of the open candidates.
    fn candidates(&self) -> Vec<String> {
        let all = [INBOX, OTHER_INBOX].into_iter().filter_map(|prefix| self.names_below(prefix)).flatten();
        all.filter(|name| name.split('/').nth(1) != Some(REJECTED)).collect()
    }

    /// The prefixes of the mounts that a log can be in.
    fn log_prefixes(&self) -> Vec<String> {
        let mounts = self.settings().map_or_else(Vec::new, |(_, mounts)| mounts);
        let has_log = |mount: &&Mount| mount.access == Access::ReadWrite && mount.source == Source::Memory && !mount.prefix.is_empty();
        mounts.iter().filter(has_log).map(|mount| format!("{}/", mount.prefix)).collect()
    }

    /// The settings and the mounts of the space, without recording the project.
    fn settings(&self) -> Option<(Settings, Vec<Mount>)> {
        let settings = Settings::load(&self.global()).ok()?;
        let scope = Scope::resolve(&settings).ok().filter(|scope| scope.off.is_none())?;
        // Nothing is created for a completion.
        let mounts = scope.mounts_only().into_iter().map(|mount| Mount { late: true, ..mount }).collect();
        Some((settings, mounts))
    }

    /// The names of the memories of a topic, and without one the prefixes of the mounts.
    fn names_below(&self, topic: &str) -> Option<Vec<String>> {
        let (settings, mounts) = self.settings()?;
        let store = FileStore::open(&mounts).ok()?;
        let memdir = Memdir::new(Arc::new(store), Actor { name: settings.actor.value.clone(), session: None });
        let listing = memdir.list(&List { topic: topic.to_owned(), ..List::default() }).ok()?;
        let is_offered = |mount: &&Mount| topic.is_empty() && !mount.prefix.is_empty() && mount.source != Source::Inbox;
        let prefixes = mounts.iter().filter(is_offered).map(|mount| format!("{}/", mount.prefix));
        Some(listing.memories.into_iter().map(|memory| memory.name).chain(prefixes).collect())
    }
}

fn settings_keys() -> Vec<String> {
    KEYS.iter().filter(|key| key.kind != TABLE && !key.is_in_list()).map(|key| key.name.to_owned()).collect()
}

fn visible_subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set())
}

fn paths() -> Vec<Completion> {
    without_help(vec![PATHS.to_owned()])
}

fn without_help(values: Vec<String>) -> Vec<Completion> {
    values.into_iter().map(|value| Completion { value, help: None }).collect()
}
