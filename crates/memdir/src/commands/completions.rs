//! `memdir completions`: what a shell needs to complete commands.

use crate::{
    args::{Args, Completions as Typed},
    output::{Answer, Page},
};
use clap::CommandFactory as _;
use serde::Serialize;
use std::io;

#[derive(Serialize)]
struct Script {
    shell: String,
    script: String,
}

pub(crate) fn run(args: &Typed) -> Answer {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "memdir", &mut script);
    Answer::new(Script { shell: args.shell.to_string(), script: String::from_utf8_lossy(&script).into_owned() }, show)
}

fn show(script: &Script, page: &mut Page<'_>) -> io::Result<()> {
    page.content(&script.script)
}
