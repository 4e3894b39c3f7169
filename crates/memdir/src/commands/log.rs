//! `memdir log`: an entry in the log of the day.

use crate::{
    args::Log as Typed,
    exit::Failure,
    output::{Answer, Page},
};
use memdir_core::{memdir::Memdir, operations::write::Saved, prompt};
use std::io;

pub(crate) fn run(args: &Typed, memdir: &Memdir) -> Result<Answer, Failure> {
    let prefix = match args.prefix.trim_end_matches('/') {
        "" => prompt::log_prefix(memdir.store(), memdir.context()),
        named => named,
    };
    let saved = memdir.log(prefix, &args.text.join(" "))?;
    Ok(Answer::new(saved, show))
}

fn show(saved: &Saved, page: &mut Page<'_>) -> io::Result<()> {
    let path = page.strong(saved.path.as_str());
    page.line(format!("Logged in {path}"))?;
    saved.notes.iter().for_each(|note| page.note(note));
    Ok(())
}
