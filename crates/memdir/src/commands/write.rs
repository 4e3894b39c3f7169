//! `memdir write`: creates, replaces or appends to a memory.

use super::{expected, input, name, with_allow_list};
use crate::{
    args::{Write as Typed, stdin},
    exit::Failure,
    output::{CommandOutput, Printer},
};
use memdir_core::{Kind, Memdir, Saved, Write, WriteMode, internal::base::text};
use std::io::{self, IsTerminal as _};

pub(crate) fn run(args: &Typed, memdir: &Memdir) -> Result<CommandOutput, Failure> {
    let memdir = &with_allow_list(memdir, &args.allow_secret)?;
    let path = name(&args.name)?;
    let kind = args.kind.as_deref().map(str::parse::<Kind>).transpose()?;
    let mode = match (args.replace, args.append) {
        (true, _) => WriteMode::Replace,
        (_, true) => WriteMode::Append,
        _ => WriteMode::Create,
    };
    let content = content(args)?;
    let expect = expected(memdir, &path, args.if_version.as_deref())?;
    let mode = if expect.is_some() && mode == WriteMode::Create { WriteMode::Replace } else { mode };
    let (title, description) = (args.title.clone(), args.description.clone());
    let saved = memdir.write(&Write { path, content, mode, name: title, description, kind, expect })?;
    Ok(CommandOutput::new(saved, if mode == WriteMode::Append { show_appended } else { show }))
}

/// The text: an argument, to which a final line feed is added; a file; or standard input, from a terminal only on request.
fn content(args: &Typed) -> Result<Vec<u8>, Failure> {
    let is_asked = args.text.as_deref() == Some("-");
    if let Some(text) = args.text.as_ref().filter(|_| !is_asked) {
        // The library ends appended text with the line ending of the memory.
        let end = if args.append || text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        return Ok(format!("{text}{end}").into_bytes());
    }
    if let Some(file) = &args.file {
        return input(file);
    }
    let bytes = if !is_asked && io::stdin().is_terminal() { Vec::new() } else { stdin::read()? };
    if bytes.is_empty() {
        return Err(Failure::Usage {
            message: format!("no text for {}", args.name),
            hint: format!("pass it with: memdir write {} TEXT; or use --file or standard input", args.name),
        });
    }
    Ok(bytes)
}

fn show(saved: &Saved, printer: &mut Printer<'_>) -> io::Result<()> {
    show_saved(saved, if saved.created { "created" } else { "replaced" }, None, printer)
}

fn show_appended(saved: &Saved, printer: &mut Printer<'_>) -> io::Result<()> {
    show_saved(saved, if saved.created { "created" } else { "appended to" }, None, printer)
}

/// Prints one line about a saved memory, and adds its notes.
pub(super) fn show_saved(saved: &Saved, verb: &str, detail: Option<&str>, printer: &mut Printer<'_>) -> io::Result<()> {
    let name = printer.strong(&saved.name);
    match &saved.change {
        None => printer.line(format!("unchanged: {name}"))?,
        Some(change) => {
            let detail = detail.map_or(String::new(), |detail| format!("{detail}, "));
            let (size, version) = (text::human_bytes(saved.bytes), saved.version.short());
            let rest = printer.dim(&format!("({detail}{size}, version {version}, change {change})"));
            printer.line(format!("{verb} {name} {rest}"))?;
        }
    }
    saved.notes.iter().for_each(|note| printer.note(note));
    Ok(())
}
