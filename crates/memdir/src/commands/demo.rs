//! `memdir demo`: a tour with real files in a temporary directory. Runs the same code as the commands it shows.

use crate::{
    args::Args,
    exit::Failure,
    output::{CommandOutput, OutputOptions, Printer},
    spaces,
};
use clap::Parser as _;
use memdir_core::{Memdir, internal::base::shell::quote_posix};
use memdir_embed::StaticModel;
use serde::Serialize;
use std::{io, sync::Arc};

/// The steps: an explanation, and the arguments of the command that is run.
const STEPS: &[(&str, &[&str])] = &[
    (
        "A memory is a Markdown file. Writing it also adds a line to MEMORY.md, the entrypoint.",
        &["write", "notes/deploy", "Deploy on Tuesdays, never on Fridays.", "--type", "project", "--description", "When we deploy"],
    ),
    ("Append to a memory; concurrent writes are safe.", &["write", "notes/deploy", "--append", "Except in December."]),
    ("Memories can link to each other.", &["write", "people/ada", "Ada owns [the deploys](../notes/deploy.md).", "--type", "user"]),
    ("An agent reads the entrypoint first.", &["read"]),
    ("Search by words and by meaning.", &["search", "which weekday may we release?", "--max-results", "1"]),
    ("If no memory is relevant, a search returns no results.", &["search", "quantum chromodynamics"]),
    ("A mistyped name gets a suggestion.", &["read", "notes/depoly"]),
    ("A rename updates the references.", &["rename", "notes/deploy", "howto/deploy"]),
    ("The link now points to the new name.", &["read", "people/ada"]),
    ("Delete a memory.", &["delete", "howto/deploy"]),
    ("Undo the deletion.", &["undo"]),
    ("The memory is back.", &["list", "--long"]),
    ("The history lists every change.", &["history"]),
];

#[derive(Serialize)]
struct DemoReport {
    steps: Vec<DemoStep>,
}

#[derive(Serialize)]
struct DemoStep {
    why: &'static str,
    command: String,
    output: String,
}

pub(crate) fn run(options: OutputOptions) -> Result<CommandOutput, Failure> {
    let scratch = tempfile::Builder::new().prefix("memdir-demo-").tempdir();
    let scratch = scratch.map_err(|source| Failure::File { doing: "create a directory in", path: std::env::temp_dir(), source })?;
    let memdir = spaces::open_plain(&scratch.path().join("memory"), scratch.path(), "you")?;
    let searcher = spaces::searcher_in(memdir.store(), &scratch.path().join("cache"), Some(Arc::new(StaticModel::new())));
    let memdir = memdir.with_searcher(searcher);
    let steps = STEPS.iter().map(|(why, arguments)| step(&memdir, why, arguments, options)).collect::<Result<_, _>>()?;
    Ok(CommandOutput::new(DemoReport { steps }, show))
}

fn step(memdir: &Memdir, why: &'static str, arguments: &[&str], options: OutputOptions) -> Result<DemoStep, Failure> {
    let args = Args::try_parse_from(std::iter::once(&"memdir").chain(arguments)).map_err(|error| Failure::CommandLine { error })?;
    let command = std::iter::once("memdir".to_owned()).chain(arguments.iter().map(|word| quote_posix(word))).collect::<Vec<_>>().join(" ");
    let mut output = Vec::new();
    let mut printer = Printer::new(&mut output, OutputOptions { json: false, ..options });
    {
        match super::run_in(memdir, &args, printer.options) {
            Ok(answer) => answer.text(&mut printer),
            Err(failure) => {
                let text = failure.text();
                let error = printer.red("error:");
                printer.line(format!("{error} {}\nhint: {}", text.message, text.hint))
            }
        }
        .map_err(|source| Failure::Output { source })?;
    }
    let notes = printer.take_notes();
    let mut output = String::from_utf8_lossy(&output).into_owned();
    notes.iter().for_each(|note| output.push_str(&format!("note: {note}\n")));
    Ok(DemoStep { why, command, output })
}

fn show(tour: &DemoReport, printer: &mut Printer<'_>) -> io::Result<()> {
    for step in &tour.steps {
        let (why, prompt, command) = (printer.dim(&format!("# {}", step.why)), printer.dim("$"), printer.strong(&step.command));
        printer.line(format!("{why}\n{prompt} {command}"))?;
        printer.printed(&step.output)?;
        printer.line("")?;
    }
    printer.line("The demo's temporary directory has been deleted. Start with: memdir init")
}
