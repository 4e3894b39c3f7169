//! `memdir edit`: replaces text in a memory.

use super::{counted, expected, input_text, name, with_allow_list};
use crate::{
    args::Edit as Typed,
    exit::Failure,
    output::{CommandOutput, Printer},
};
use memdir_core::{Edit, EditedMemory, Memdir, Needle};
use std::io;

pub(crate) fn run(args: &Typed, memdir: &Memdir) -> Result<CommandOutput, Failure> {
    let memdir = &with_allow_list(memdir, &args.allow_secret)?;
    let path = name(&args.name)?;
    let old = argument(args.old.as_ref(), args.old_file.as_deref())?;
    let with = argument(args.new.as_ref(), args.new_file.as_deref())?;
    let needle = if args.regex { Needle::Regex(old) } else { Needle::Literal(old) };
    let expect = expected(memdir, &path, args.if_version.as_deref())?;
    let edited = memdir.edit(&Edit { path, needle, with, all: args.all, expect })?;
    Ok(CommandOutput::new(edited, show))
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
