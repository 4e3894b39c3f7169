//! `memdir diff`: what differs between two versions of a memory.

use super::name;
use crate::{
    args::Diff as Typed,
    exit::Failure,
    output::{Answer, Page},
};
use memdir_core::{
    memdir::Memdir,
    operations::diff::{Diff, Difference},
};
use std::io;

pub(crate) fn run(args: &Typed, memdir: &Memdir) -> Result<Answer, Failure> {
    let request = Diff { path: name(&args.name)?, from: args.from.clone(), to: args.to.clone() };
    Ok(Answer::new(memdir.diff(&request)?, show))
}

fn show(difference: &Difference, page: &mut Page<'_>) -> io::Result<()> {
    if !page.look.terminal {
        page.content(&difference.diff)?;
    } else {
        for line in difference.diff.lines() {
            let line = anstream::adapter::strip_str(line).to_string();
            let styled = match line.as_bytes().first() {
                Some(b'+') => page.green(&line),
                Some(b'-') => page.red(&line),
                Some(b'@') => page.dim(&line),
                _ => line,
            };
            page.line(styled)?;
        }
    }
    if difference.diff.is_empty() {
        page.note("no difference");
    }
    Ok(())
}
