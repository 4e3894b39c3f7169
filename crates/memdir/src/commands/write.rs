//! `memdir write`: a new memory, another text for one, or more at its end.

use super::{allowing, expected, input, name, stdin};
use crate::{
    args::Write as Typed,
    exit::Failure,
    output::{Answer, Page},
};
use memdir_core::{
    base::text,
    memdir::Memdir,
    memory::Kind,
    operations::write::{Mode, Saved, Write},
};
use std::io::{self, IsTerminal as _};

pub(crate) fn run(args: &Typed, memdir: &Memdir) -> Result<Answer, Failure> {
    let memdir = &allowing(memdir, &args.allow_secret)?;
    let path = name(&args.name)?;
    let kind = args.kind.as_deref().map(str::parse::<Kind>).transpose()?;
    let mode = match (args.replace, args.append) {
        (true, _) => Mode::Replace,
        (_, true) => Mode::Append,
        _ => Mode::Create,
    };
    let content = content(args)?;
    let expect = expected(memdir, &path, args.if_version.as_deref())?;
    let mode = if expect.is_some() && mode == Mode::Create { Mode::Replace } else { mode };
    let (title, description) = (args.title.clone(), args.description.clone());
    let saved = memdir.write(&Write { path, content, mode, name: title, description, kind, expect })?;
    Ok(Answer::new(saved, if mode == Mode::Append { show_appended } else { show }))
}

/// The text: an argument, as whole lines; a file; or standard input, if something comes from it.
fn content(args: &Typed) -> Result<Vec<u8>, Failure> {
    if let Some(text) = &args.text {
        // What is appended gets the line end of the file it is appended to.
        let end = if args.append || text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        return Ok(format!("{text}{end}").into_bytes());
    }
    if let Some(file) = &args.file {
        return input(file);
    }
    let bytes = if io::stdin().is_terminal() { Vec::new() } else { stdin()? };
    if bytes.is_empty() {
        return Err(Failure::Usage {
            message: "there is no text to save".into(),
            hint: format!("Give it as an argument (memdir write {} TEXT), with --file, or on standard input.", args.name),
        });
    }
    Ok(bytes)
}

/// What is said about a memory that was saved.
pub(super) fn show(saved: &Saved, page: &mut Page<'_>) -> io::Result<()> {
    say(saved, if saved.created { "Created" } else { "Replaced" }, page)
}

fn show_appended(saved: &Saved, page: &mut Page<'_>) -> io::Result<()> {
    say(saved, if saved.created { "Created" } else { "Appended to" }, page)
}

/// One line on a saved memory, and its notes.
pub(super) fn say(saved: &Saved, did: &str, page: &mut Page<'_>) -> io::Result<()> {
    let name = page.strong(&saved.name);
    match &saved.change {
        None => page.line(format!("{name} is so already"))?,
        Some(change) => {
            let rest = page.dim(&format!("{}, version {}, change {change}", text::human_bytes(saved.bytes), saved.version.short()));
            page.line(format!("{did} {name} · {rest}"))?;
        }
    }
    saved.notes.iter().for_each(|note| page.note(note));
    Ok(())
}
