//! `memdir man`: manual pages, generated from the same definitions as the help.

use crate::{
    args::{ManArgs, help},
    config::{FILES, VARIABLES, Variable},
    exit::{self, Failure},
    output::{CommandOutput, Printer},
};
use clap::Command;
use clap_mangen::Man;
use memdir_core::internal::base::disk::{self, FileMode, Replace};
use memdir_core::internal::base::sort::SharedSort as _;
use serde::Serialize;
use std::{
    fmt::Write as _,
    io::{self, Write as _},
    path::PathBuf,
};

#[derive(Serialize)]
struct Pages {
    #[serde(skip_serializing_if = "Option::is_none")]
    dir: Option<PathBuf>,
    pages: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

pub(crate) fn run(args: &ManArgs) -> Result<CommandOutput, Failure> {
    let command = help::command();
    let pages = match &args.out {
        None => {
            let text = page("memdir", &command).map_err(|source| Failure::Output { source })?;
            Pages { dir: None, pages: Vec::new(), text: Some(text) }
        }
        Some(dir) => {
            let fail = |source| Failure::File { doing: "write manual pages to", path: dir.clone(), source };
            std::fs::create_dir_all(dir).map_err(fail)?;
            let mut all = Vec::new();
            collect("memdir", &command, &mut all).map_err(fail)?;
            let how = Replace { mode: FileMode::KeepOr(0o644), ..Replace::DERIVED };
            for (name, text) in &all {
                disk::replace(&dir.join(name), how, |file| file.write_all(text.as_bytes())).map_err(fail)?;
            }
            let mut names: Vec<String> = all.into_iter().map(|(name, _)| name).collect();
            names.shared_sort();
            Pages { dir: Some(dir.clone()), pages: names, text: None }
        }
    };
    Ok(CommandOutput::new(pages, show))
}

/// Renders the page of a command and the pages of its visible subcommands.
fn collect(name: &str, command: &Command, all: &mut Vec<(String, String)>) -> io::Result<()> {
    all.push((format!("{name}.1"), page(name, command)?));
    let mut visible = command.get_subcommands().filter(|command| !command.is_hide_set());
    visible.try_for_each(|command| collect(&format!("{name}-{}", command.get_name()), command, all))
}

/// Renders one page. The exit statuses, files and variables are on the page of `memdir`, and the others refer to it.
fn page(name: &str, command: &Command) -> io::Result<String> {
    let man = Man::new(command.clone().display_name(name.to_owned()));
    let mut out = Vec::new();
    man.render_title(&mut out)?;
    man.render_name_section(&mut out)?;
    man.render_synopsis_section(&mut out)?;
    man.render_description_section(&mut out)?;
    man.render_options_section(&mut out)?;
    if command.get_subcommands().any(|command| !command.is_hide_set()) {
        man.render_subcommands_section(&mut out)?;
    }
    let mut page = String::from_utf8_lossy(&out).into_owned();
    let aliases = help::aliases(command);
    if !aliases.is_empty() {
        section(&mut page, "ALIASES", &aliases);
    }
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (notes, examples) = after.split_once("Examples:\n").unwrap_or((&after, ""));
    if !notes.trim().is_empty() {
        section(&mut page, "NOTES", notes.trim());
    }
    if name == "memdir" {
        section(&mut page, "STANDARD INPUT", &unindented(help::STDIN.trim_start_matches("Standard input:\n")));
        section(&mut page, "EXIT STATUS", &unindented(exit::STATUSES));
        list(&mut page, "ENVIRONMENT", VARIABLES.iter().map(|variable| (variable.names, meaning(variable))));
        list(&mut page, "FILES", FILES.iter().map(|(file, text)| (*file, (*text).to_owned())));
        section(&mut page, "EXAMPLES", &unindented(help::EXAMPLES));
    } else {
        section(&mut page, "EXAMPLES", &unindented(examples));
        section(&mut page, "SEE ALSO", "memdir(1) describes the global options, exit statuses, environment variables and files.");
    }
    Ok(page)
}

fn meaning(variable: &Variable) -> String {
    match variable.default {
        "" => variable.doc.to_owned(),
        default => format!("{} (default: {default})", variable.doc),
    }
}

fn unindented(text: &str) -> String {
    text.lines().map(|line| line.strip_prefix("  ").unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

/// Adds a section of lines that are not filled.
fn section(page: &mut String, heading: &str, text: &str) {
    let _ = writeln!(page, ".SH {heading}\n.nf");
    text.lines().for_each(|line| page.push_str(&format!("{}\n", escaped(line))));
    page.push_str(".fi\n");
}

/// Adds a section of terms with their meaning.
fn list<'a>(page: &mut String, heading: &str, items: impl Iterator<Item = (&'a str, String)>) {
    let _ = writeln!(page, ".SH {heading}");
    for (term, text) in items {
        let _ = writeln!(page, ".TP\n\\fB{}\\fR\n{}", escaped(term), escaped(&text.replace('`', "")));
    }
}

/// A line that contains no request and no escape sequence of roff.
fn escaped(line: &str) -> String {
    let line = line.replace('\\', "\\e").replace('-', "\\-");
    if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line }
}

fn show(pages: &Pages, printer: &mut Printer<'_>) -> io::Result<()> {
    match (&pages.text, &pages.dir) {
        (Some(text), _) => printer.content(text),
        (None, dir) => printer.line(format!("wrote {} manual pages to {}", pages.pages.len(), dir.clone().unwrap_or_default().display())),
    }
}
