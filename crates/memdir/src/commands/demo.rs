//! `memdir demo`: a tour on real files in a scratch directory. Runs the same code as the commands it shows.

use crate::{
    args::Args,
    exit::Failure,
    output::{Answer, Look, Page},
    wire,
};
use clap::Parser as _;
use memdir_core::{base::shell::quote_posix, memdir::Memdir};
use memdir_embed::StaticModel;
use serde::Serialize;
use std::{io, sync::Arc};

/// What is shown, and why. The commands are run as they stand.
const STEPS: &[(&str, &[&str])] = &[
    (
        "A memory is a Markdown file. Saving it also writes its line in the entrypoint.",
        &["write", "notes/deploy", "Deploy on Tuesdays, never on Fridays.", "--type", "project", "--description", "When we deploy"],
    ),
    ("More can be added at its end; twenty processes may do so at once.", &["write", "notes/deploy", "--append", "Except in December."]),
    ("Memories may refer to each other.", &["write", "people/ada", "Ada owns [the deploys](../notes/deploy.md).", "--type", "user"]),
    ("The entrypoint is what an agent sees first.", &["read"]),
    ("A search finds the lines that answer, by words and by meaning,", &["search", "which weekday may we release?", "--max-results", "1"]),
    ("and nothing where there is nothing.", &["search", "quantum chromodynamics"]),
    ("A name that is not there is met with one that is.", &["read", "notes/depoly"]),
    ("A rename follows every reference.", &["rename", "notes/deploy", "howto/deploy"]),
    ("So Ada's memory leads to the new place.", &["read", "people/ada"]),
    ("What is deleted", &["delete", "howto/deploy"]),
    ("comes back,", &["undo"]),
    ("whole.", &["list", "--long"]),
    ("And nothing that happened is forgotten.", &["history"]),
];

#[derive(Serialize)]
struct Tour {
    steps: Vec<Step>,
}

#[derive(Serialize)]
struct Step {
    why: &'static str,
    command: String,
    output: String,
}

pub(crate) fn run(look: Look) -> Result<Answer, Failure> {
    super::survive_size_limit();
    let scratch = tempfile::Builder::new().prefix("memdir-demo-").tempdir();
    let scratch = scratch.map_err(|source| Failure::File { doing: "make a directory in", path: std::env::temp_dir(), source })?;
    let memdir = wire::open_plain(&scratch.path().join("memory"), scratch.path(), "you")?;
    let searcher = wire::searcher_in(memdir.store(), &scratch.path().join("cache"), Some(Arc::new(StaticModel::new())));
    let memdir = memdir.with_searcher(searcher);
    let steps = STEPS.iter().map(|(why, typed)| step(&memdir, why, typed, look)).collect::<Result<_, _>>()?;
    Ok(Answer::new(Tour { steps }, show))
}

fn step(memdir: &Memdir, why: &'static str, typed: &[&str], look: Look) -> Result<Step, Failure> {
    let args = Args::try_parse_from(std::iter::once(&"memdir").chain(typed)).map_err(|error| Failure::Typed { error })?;
    let command = std::iter::once("memdir".to_owned()).chain(typed.iter().map(|word| quote_posix(word))).collect::<Vec<_>>().join(" ");
    let mut output = Vec::new();
    let mut page = Page::new(&mut output, Look { json: false, ..look });
    if let Some(asked) = &args.command {
        match super::in_space(asked, memdir, page.look) {
            Ok(answer) => answer.text(&mut page),
            Err(failure) => {
                let words = failure.words();
                let error = page.red("error:");
                page.line(format!("{error} {}\nhint: {}", words.message, words.hint))
            }
        }
        .map_err(|source| Failure::Output { source })?;
    }
    let notes = page.take_notes();
    let mut output = String::from_utf8_lossy(&output).into_owned();
    notes.iter().for_each(|note| output.push_str(&format!("note: {note}\n")));
    Ok(Step { why, command, output })
}

fn show(tour: &Tour, page: &mut Page<'_>) -> io::Result<()> {
    for step in &tour.steps {
        let (why, prompt, command) = (page.dim(&format!("# {}", step.why)), page.dim("$"), page.strong(&step.command));
        page.line(format!("{why}\n{prompt} {command}\n{}", step.output))?;
    }
    page.line("That was a scratch directory, and it is gone. Begin with: memdir init")
}
