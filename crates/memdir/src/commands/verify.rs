//! `memdir verify`: what a memory names is looked up, and a true memory is stamped.

use super::{OpenSpace, name};
use crate::{
    args::VerifyArgs,
    exit::{Exit, Failure},
    git::Git,
    output::{CommandOutput, Printer},
};
use memdir_core::{FileHistory, Mention, Verified, Verify};
use std::io;

pub(crate) fn run(args: &VerifyArgs, space: &OpenSpace<'_>) -> Result<CommandOutput, Failure> {
    let project = space.origin.map(|(_, scope)| &scope.project);
    let git = project.and_then(Git::open);
    let history = git.as_ref().map(|git| git as &dyn FileHistory);
    let verified = space.memdir.verify(&Verify { path: name(&args.name)?, project, anyway: args.force, history })?;
    let exit = if verified.stamped { Exit::Success } else { Exit::Negative };
    Ok(CommandOutput::new(verified, show).exit(exit))
}

fn show(verified: &Verified, printer: &mut Printer<'_>) -> io::Result<()> {
    for gone in &verified.gone {
        let what = printer.red("missing");
        printer.line(format!("{what}  {} (line {})", gone.text, gone.line))?;
    }
    for anchor in &verified.anchors {
        let what = if anchor.is_broken() { printer.red("changed") } else { printer.dim("source ") };
        printer.line(format!("{what}  {}", anchor.describe()))?;
    }
    for (word, named) in [("found", &verified.found), ("unknown", &verified.unknown)] {
        if !named.is_empty() {
            let word = printer.dim(&format!("{word:<7}"));
            printer.line(format!("{word}  {}", texts(named)))?;
        }
    }
    if verified.stamped {
        let name = printer.strong(&verified.name);
        return printer.line(format!("verified {name}"));
    }
    printer.note("not verified; correct the memory, or mark it as verified with --force");
    Ok(())
}

fn texts(named: &[Mention]) -> String {
    named.iter().map(|named| named.text.as_str()).collect::<Vec<_>>().join(", ")
}
