//! `memdir verify`: what a memory names is looked up, and a true memory is stamped.

use super::name;
use crate::{
    args::Verify as Typed,
    exit::{Exit, Failure},
    output::{Answer, Page},
    scope::Scope,
};
use memdir_core::{
    memdir::Memdir,
    operations::verify::{Named, Verified, Verify},
};
use std::io;

pub(crate) fn run(args: &Typed, memdir: &Memdir, scope: &Scope) -> Result<Answer, Failure> {
    let verified = memdir.verify(&Verify { path: name(&args.name)?, project: Some(&scope.project), anyway: args.anyway })?;
    let exit = if verified.stamped { Exit::Done } else { Exit::NotSo };
    Ok(Answer::new(verified, show).exit(exit))
}

fn show(verified: &Verified, page: &mut Page<'_>) -> io::Result<()> {
    for gone in &verified.gone {
        let what = page.red("gone");
        page.line(format!("{what}   {} (line {})", gone.text, gone.line))?;
    }
    for (word, named) in [("found", &verified.found), ("unknown", &verified.unknown)] {
        if !named.is_empty() {
            let word = page.dim(&format!("{word:<6}"));
            page.line(format!("{word} {}", texts(named)))?;
        }
    }
    if verified.stamped {
        let name = page.strong(&verified.name);
        return page.line(format!("{name} is verified as of today"));
    }
    page.note("not stamped: correct the memory, or stamp it with --anyway");
    Ok(())
}

fn texts(named: &[Named]) -> String {
    named.iter().map(|named| named.text.as_str()).collect::<Vec<_>>().join(", ")
}
