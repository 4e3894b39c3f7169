//! `memdir write`: creates, replaces or appends to a memory.

use super::{expected, input, name, with_allow_list};
use crate::{
    args::{WriteArgs, stdin},
    exit::Failure,
    output::{CommandOutput, Printer},
};
use memdir_core::{
    Kind, Memdir, Saved, Write, WriteMode,
    internal::base::{limits, text},
};
use serde_json::{Map, Value, json};
use std::io::{self, IsTerminal as _};

pub(crate) fn run(args: &WriteArgs, memdir: &Memdir) -> Result<CommandOutput, Failure> {
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
    let mode = match mode {
        _ if content.is_none() => WriteMode::Fields,
        WriteMode::Create if expect.is_some() => WriteMode::Replace,
        mode => mode,
    };
    let saved = memdir.write(&Write {
        content: content.unwrap_or_default(),
        mode,
        name: args.title.clone(),
        description: args.description.clone(),
        kind,
        cues: (!args.cues.is_empty()).then(|| args.cues.clone()),
        when: when(args),
        pinned: args.pinned.then_some(true),
        expect,
        ..Write::fields(path)
    })?;
    let show = match mode {
        WriteMode::Append => show_appended,
        WriteMode::Fields => show_updated,
        _ => show,
    };
    Ok(CommandOutput::new(saved, show))
}

/// The tripwires of the options, with the keys of the field `when`.
fn when(args: &WriteArgs) -> Option<Map<String, Value>> {
    let mut when = Map::new();
    for (key, globs) in [("command", &args.when_command), ("path", &args.when_path)] {
        if !globs.is_empty() {
            when.insert(key.into(), json!(globs));
        }
    }
    when.extend(args.strength.as_ref().map(|strength| ("strength".to_owned(), json!(strength))));
    (!when.is_empty()).then_some(when)
}

/// Whether an option sets a field of the frontmatter.
fn sets_fields(args: &WriteArgs) -> bool {
    let texts = [&args.title, &args.description, &args.kind].into_iter().any(Option::is_some);
    texts || !args.cues.is_empty() || when(args).is_some() || args.pinned
}

/// The text: an argument; a file; or standard input, from a terminal only on request. A blank text is an error, unless only fields of
/// the frontmatter are set: then it is `None`.
fn content(args: &WriteArgs) -> Result<Option<Vec<u8>>, Failure> {
    let is_asked = args.text.as_deref() == Some("-");
    let is_given = args.text.is_some() || args.file.is_some();
    let bytes = match (args.text.as_ref().filter(|_| !is_asked), &args.file) {
        (Some(text), _) => text.clone().into_bytes(),
        (None, Some(file)) => input(file, limits::READ_FILE_BYTES)?,
        (None, None) if !is_asked && io::stdin().is_terminal() => Vec::new(),
        (None, None) => stdin::read(limits::READ_FILE_BYTES)?,
    };
    let is_blank = String::from_utf8_lossy(&bytes).trim().is_empty();
    if is_blank && !is_given && sets_fields(args) {
        return Ok(None);
    }
    if is_blank {
        let (message, hint) = match is_given {
            true => (format!("the text for {:?} is blank", args.name), "pass a text with at least one visible character"),
            false => (format!("missing text for {:?}", args.name), "pass the text as an argument, with --file FILE or on standard input"),
        };
        return Err(Failure::Usage { message, hint: hint.into() });
    }
    Ok(Some(bytes))
}

fn show(saved: &Saved, printer: &mut Printer<'_>) -> io::Result<()> {
    show_saved(saved, if saved.created { "created" } else { "replaced" }, None, printer)
}

fn show_appended(saved: &Saved, printer: &mut Printer<'_>) -> io::Result<()> {
    show_saved(saved, if saved.created { "created" } else { "appended to" }, None, printer)
}

fn show_updated(saved: &Saved, printer: &mut Printer<'_>) -> io::Result<()> {
    show_saved(saved, "updated", None, printer)
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
