//! The layout of help texts: `memdir --help` groups the commands and lists the global options; the help of a command refers to
//! it. Built only when help is printed.

use super::Args;
use crate::exit;
use clap::{
    Arg, Command, CommandFactory as _,
    error::{ContextKind, ContextValue},
};
use std::fmt::Write as _;

/// The headings of the groups in `memdir --help`, each with its first command in the order of [`super::Command`].
pub(crate) const GROUPS: &[(&str, &str)] = &[
    ("Common commands", "write"),
    ("Memories", "init"),
    ("Search and recall", "recall"),
    ("History", "redo"),
    ("Agents and hosts", "install"),
    ("Maintenance", "where"),
    ("Server", "mcp"),
    ("Development", "demo"),
];

/// What `-` means, in every command.
pub(crate) const STDIN: &str = "\
Standard input:
  Use `-` to read a text from standard input, or a file where the help of the command says so. It
  can be used once per command. The final newline of a text is removed, except for TEXT in
  `memdir write`; files are read unchanged.";

/// The last lines of `memdir --help`.
pub(crate) const EXAMPLES: &str = "  memdir write notes/deploy 'Deploy on Tuesdays, never on Fridays.'
  memdir search when do we deploy
  memdir demo";

/// The layout of the help of every command but the first; the default one with a reference to the global options.
const SUBCOMMAND_LAYOUT: &str = "\
{before-help}{about-with-newline}
{usage-heading} {usage}

{all-args}

Global options: see `memdir --help`{after-help}";

/// The command line with the layout of its help texts.
pub(crate) fn command() -> Command {
    let mut command = Args::command();
    command.build();
    let global: Vec<Arg> = command.get_arguments().filter(|arg| arg.is_global_set()).cloned().collect();
    let layout = layout(&command);
    command.help_template(layout).mut_subcommands(|subcommand| with_layout(subcommand, &global))
}

/// An error without the hidden commands, which clap lists and suggests too.
pub(crate) fn without_hidden_commands(mut error: clap::Error) -> clap::Error {
    for kind in [ContextKind::SuggestedSubcommand, ContextKind::ValidSubcommand] {
        if let Some(ContextValue::Strings(mut names)) = error.remove(kind) {
            let all = command();
            names.retain(|name| !is_hidden(&all, name));
            if !names.is_empty() {
                error.insert(kind, ContextValue::Strings(names));
            }
        }
    }
    // Without tips, an empty list of other tips would print an empty line.
    if matches!(error.get(ContextKind::Suggested), Some(ContextValue::StyledStrs(tips)) if tips.is_empty()) {
        error.remove(ContextKind::Suggested);
    }
    error
}

fn is_hidden(command: &Command, name: &str) -> bool {
    command.get_subcommands().any(|one| (one.is_hide_set() && one.get_name() == name) || is_hidden(one, name))
}

/// The groups of commands: their headings with their visible commands.
pub(crate) fn groups(command: &Command) -> Vec<(&'static str, Vec<&Command>)> {
    let mut groups: Vec<(&'static str, Vec<&Command>)> = Vec::new();
    for subcommand in command.get_subcommands() {
        if let Some((heading, _)) = GROUPS.iter().find(|(_, first)| *first == subcommand.get_name()) {
            groups.push((heading, Vec::new()));
        }
        if let (Some((_, group)), false) = (groups.last_mut(), subcommand.is_hide_set()) {
            group.push(subcommand);
        }
    }
    groups
}

fn layout(command: &Command) -> String {
    let mut layout = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    for (heading, commands) in groups(command) {
        let _ = writeln!(layout, "\n{heading}:");
        for command in commands {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(layout, "  {:<11}  {about}{}", command.get_name(), in_brackets(command));
        }
    }
    let _ = write!(layout, "\nGlobal options:\n{{options}}\n\n{STDIN}\n\nExit status:\n{}\n\nExamples:\n{EXAMPLES}", exit::STATUSES);
    layout
}

/// The aliases of a command, such as ` [aliases: cat, show]`; empty if it has none.
fn in_brackets(command: &Command) -> String {
    match aliases(command) {
        names if names.is_empty() => String::new(),
        names if names.contains(',') => format!(" [aliases: {names}]"),
        name => format!(" [alias: {name}]"),
    }
}

/// The aliases of a command, separated by commas.
pub(crate) fn aliases(command: &Command) -> String {
    command.get_visible_aliases().collect::<Vec<_>>().join(", ")
}

/// A subcommand and those below it in their layout, without the global options. Options that `memdir admin` or `memdir review` pass down to
/// the commands below them are shown.
fn with_layout(command: Command, global: &[Arg]) -> Command {
    let layout = match aliases(&command) {
        names if names.is_empty() => SUBCOMMAND_LAYOUT.to_owned(),
        names => {
            let heading = if names.contains(',') { "Aliases" } else { "Alias" };
            SUBCOMMAND_LAYOUT.replace("{usage}\n", &format!("{{usage}}\n{heading}: {names}\n"))
        }
    };
    let is_global = |arg: &Arg| global.iter().any(|other| other.get_id() == arg.get_id() && other.get_help() == arg.get_help());
    let hide_global = |arg: Arg| if is_global(&arg) { arg.hide(true) } else { arg };
    command.help_template(layout).mut_args(hide_global).mut_subcommands(|subcommand| with_layout(subcommand, global))
}
