//! `memdir completions`: shell completion scripts.

use crate::{
    args::{Completions as Typed, help},
    output::{CommandOutput, Printer},
};
use serde::Serialize;
use std::io;

#[derive(Serialize)]
struct Script {
    shell: String,
    script: String,
}

pub(crate) fn run(args: &Typed) -> CommandOutput {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut help::command(), "memdir", &mut script);
    CommandOutput::new(Script { shell: args.shell.to_string(), script: String::from_utf8_lossy(&script).into_owned() }, show)
}

fn show(script: &Script, printer: &mut Printer<'_>) -> io::Result<()> {
    printer.content(&script.script)
}
