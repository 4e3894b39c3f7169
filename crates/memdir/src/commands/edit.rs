//! `memdir edit`: replaces text in a memory, or opens it in the user's editor.

use super::{OpenSpace, counted, expected, input_text, name, with_allow_list};
use crate::{
    args::EditArgs,
    editor::EditorFile,
    exit::Failure,
    output::{CommandOutput, Printer},
};
use memdir_core::{
    Edit, EditedMemory, Error, Expect, Needle, Saved, Write, WriteMode,
    internal::{base::shell, operations::read},
};
use std::io;

pub(crate) fn run(args: &EditArgs, space: &OpenSpace<'_>) -> Result<CommandOutput, Failure> {
    let memdir = &with_allow_list(space.memdir, &args.allow_secret)?;
    if args.old.is_none() && args.old_file.is_none() {
        return Ok(CommandOutput::new(in_editor(args, space)?, show_saved));
    }
    let path = name(&args.name)?;
    let old = argument(args.old.as_ref(), args.old_file.as_deref())?;
    let with = argument(args.new.as_ref(), args.new_file.as_deref())?;
    let needle = if args.regex { Needle::Regex(old) } else { Needle::Literal(old) };
    let expect = expected(memdir, &path, args.if_version.as_deref())?;
    let edited = memdir.edit(&Edit { path, needle, with, all: args.all, expect, final_newline: true })?;
    Ok(CommandOutput::new(edited, show))
}

/// Opens the memory in the editor, and saves the text if the memory is unchanged since.
pub(crate) fn in_editor(args: &EditArgs, space: &OpenSpace<'_>) -> Result<Saved, Failure> {
    let memdir = &with_allow_list(space.memdir, &args.allow_secret)?;
    let (settings, _) = space.origin.ok_or_else(|| Failure::Usage {
        message: "an editor is not available in the demo".into(),
        hint: "pass the old and the new text: memdir edit NAME OLD NEW".into(),
    })?;
    let path = memdir.name(&name(&args.name)?);
    let stored = memdir.store().get(&path)?.ok_or_else(|| read::not_found(memdir.store(), &path))?;
    let expect = expected(memdir, &path, args.if_version.as_deref())?;
    expect.map_or(Expect::Any, Expect::Is).check(&stored.path, Some(stored.version))?;
    memdir.store().check_writable(&stored.path)?;
    let home = &settings.home.value;
    let draft = match &args.draft {
        Some(file) => EditorFile::resume(home, file)?,
        None => EditorFile::create(home, stored.path.as_str(), &stored.bytes)?,
    };
    let resume = |file: &std::path::Path| {
        let draft = format!("--draft {}", shell::quote_posix(&file.to_string_lossy()));
        shell::name_command(&format!("memdir {}edit", settings.typed_options()), stored.path.name(), &draft)
    };
    let saved = draft.edit(&stored.bytes, resume, |text| {
        if text == stored.bytes {
            let (name, bytes) = (stored.path.name().to_owned(), text.len() as u64);
            let (path, version) = (stored.path.clone(), stored.version);
            return Ok(Saved { name, path, version, change: None, created: false, bytes, notes: Vec::new() });
        }
        if text.trim_ascii().is_empty() {
            return Err(Failure::Negative {
                code: "cancelled",
                message: "the text is empty; nothing was saved".into(),
                hint: format!(
                    "to delete the memory instead, run: {}",
                    shell::name_command(&format!("memdir {}delete", settings.typed_options()), stored.path.name(), "")
                ),
            });
        }
        let write = Write::create(stored.path.clone(), text).mode(WriteMode::Exact);
        Ok(memdir.write(&Write { expect: Some(stored.version), ..write })?)
    });
    saved.map_err(|failure| match failure {
        // The text was written on another one: the user has to see what else was changed before it is saved.
        Failure::Unsaved { cause, kept, resume } if matches!(&*cause, Failure::Core { error: Error::Changed { .. }, .. }) => {
            let options = settings.typed_options();
            let diff = shell::name_command(&format!("memdir {options}diff"), stored.path.name(), "");
            let see = format!("{diff} {}", stored.version.short());
            Failure::Unsaved { cause, kept, resume: format!("{resume} (see what changed with: {see})") }
        }
        failure => failure,
    })
}

fn show_saved(saved: &Saved, printer: &mut Printer<'_>) -> io::Result<()> {
    super::write::show_saved(saved, "edited", None, printer)
}

/// The value of an argument that is given as text or as a file.
fn argument(text: Option<&String>, file: Option<&std::path::Path>) -> Result<String, Failure> {
    match (text, file) {
        (Some(text), _) => Ok(text.clone()),
        (None, Some(file)) => input_text(file),
        (None, None) => Ok(String::new()),
    }
}

fn show(edited: &EditedMemory, printer: &mut Printer<'_>) -> io::Result<()> {
    let replacements = counted(edited.replaced as u64, "replacement", "replacements");
    super::write::show_saved(&edited.saved, "edited", Some(&replacements), printer)
}
