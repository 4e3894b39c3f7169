//! The layout of help texts: `memdir --help` groups the commands and lists the global options; the help of a command refers to
//! it. Built only when help is printed.

use crate::{args::Args, exit};
use clap::{Command, CommandFactory as _};
use std::fmt::Write as _;

/// The headings of the groups in `memdir --help`, each with its first command in the order of the enum `args::Command`.
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

/// The last lines of `memdir --help`.
const EXAMPLES: &str = "\
  memdir write notes/deploy 'Deploy on Tuesdays, never on Fridays.'
  memdir search when do we deploy
  memdir demo";

/// The layout of the help of every command but the first; the default one with a reference to the global options.
const SUBCOMMAND_LAYOUT: &str = "\
{before-help}{about-with-newline}
{usage-heading} {usage}

{all-args}

Global options: see memdir --help{after-help}";

/// The command line with the layout of its help texts.
pub(crate) fn command() -> Command {
    let mut command = Args::command();
    let layout = layout(&command);
    command = command.help_template(layout);
    // Building copies the global options into the other commands, where they are hidden afterwards.
    command.build();
    command.mut_subcommands(refer_to_global_options)
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
            let _ = writeln!(layout, "  {:<11}  {about}", command.get_name());
        }
    }
    let _ = write!(layout, "\nGlobal options:\n{{options}}\n\nExit status:\n{}\n\nExamples:\n{EXAMPLES}", exit::STATUSES);
    layout
}

fn refer_to_global_options(mut command: Command) -> Command {
    let global: Vec<String> = command.get_arguments().filter(|arg| arg.is_global_set()).map(|arg| arg.get_id().to_string()).collect();
    for id in global {
        command = command.mut_arg(id, |arg| arg.hide(true));
    }
    command.help_template(SUBCOMMAND_LAYOUT).mut_subcommands(refer_to_global_options)
}
