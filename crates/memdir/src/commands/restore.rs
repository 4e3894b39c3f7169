//! `memdir restore`: an earlier version of a memory comes back.

use super::name;
use crate::{
    args::Restore as Typed,
    exit::Failure,
    output::{Answer, Page},
};
use memdir_core::{memdir::Memdir, operations::write::Saved};
use std::io;

pub(crate) fn run(args: &Typed, memdir: &Memdir) -> Result<Answer, Failure> {
    Ok(Answer::new(memdir.restore(&name(&args.name)?, &args.version)?, show))
}

fn show(saved: &Saved, page: &mut Page<'_>) -> io::Result<()> {
    super::write::say(saved, "Restored", page)
}
